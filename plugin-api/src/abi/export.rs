//! The macros that turn arbiters, port arbiters and models written in Rust into a loadable library.

/// Exports the arbiters of this crate: with `crate-type = ["cdylib"]` it becomes a library that weir loads.
///
/// Each type implements [`ArbiterPlugin`](crate::ArbiterPlugin). Panics are caught at the boundary, so the crate must be
/// compiled with `panic = "unwind"`; anything else is refused at compile time. Use it once, in the crate's root; the same
/// crate may use [`export_port_arbiters!`](crate::export_port_arbiters!) and [`export_models!`](crate::export_models!) too.
///
/// ```
/// use weir_plugin_api::{ArbiterPlugin, CallError, FabricView, Flags, Grant, PhaseView, RateArbiter};
///
/// /// Holds everything back.
/// struct Standstill;
///
/// impl RateArbiter for Standstill {
///     fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
///         grant.rates.fill(0.0);
///         Ok(())
///     }
/// }
///
/// impl ArbiterPlugin for Standstill {
///     const NAME: &'static str = "standstill";
///     const VERSION: &'static str = "1.0.0";
///     const FLAGS: Flags = Flags::PURE;
///
///     fn params_schema() -> String {
///         r#"{"type": "object", "additionalProperties": false}"#.to_owned()
///     }
///
///     fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> {
///         Ok(Self)
///     }
/// }
///
/// weir_plugin_api::export_arbiters!(Standstill);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_arbiters {
    ($($arbiter:ty),+ $(,)?) => {
        $crate::export_tables!(weir_arbiter, $crate::abi::DescribedArbiterTable, $($arbiter),+);
    };
}

/// Exports the port arbiters of this crate: with `crate-type = ["cdylib"]` it becomes a library that weir loads.
///
/// Each type implements [`PortArbiterPlugin`](crate::PortArbiterPlugin). As with
/// [`export_arbiters!`](crate::export_arbiters!), panics are caught at the boundary, and the macro is used once, in the
/// crate's root.
///
/// ```
/// use weir_plugin_api::{CallError, FabricView, Flags, GrantView, LinkId, PortArbiter, PortArbiterPlugin, PortGrant};
///
/// /// Serves the largest packet.
/// struct LargestFirst;
///
/// impl PortArbiter for LargestFirst {
///     fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
///         let largest = ask.heads.iter().max_by_key(|head| (head.bytes, std::cmp::Reverse(head.slot)));
///         largest.map(|head| head.slot).ok_or_else(|| CallError::Failed("nobody asks".to_owned()))
///     }
///
///     fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
///         Ok(())
///     }
///
///     fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
///         Ok(true)
///     }
/// }
///
/// impl PortArbiterPlugin for LargestFirst {
///     const NAME: &'static str = "largest-first";
///     const VERSION: &'static str = "1.0.0";
///     const DESCRIPTION: &'static str = "the largest packet";
///     const FLAGS: Flags = Flags(0);
///
///     fn params_schema() -> String {
///         r#"{"type": "object", "additionalProperties": false}"#.to_owned()
///     }
///
///     fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> {
///         Ok(Self)
///     }
/// }
///
/// weir_plugin_api::export_port_arbiters!(LargestFirst);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_port_arbiters {
    ($($arbiter:ty),+ $(,)?) => {
        $crate::export_tables!(weir_port_arbiter, $crate::abi::PortArbiterTable, $($arbiter),+);
    };
}

/// Exports the models of this crate: with `crate-type = ["cdylib"]` it becomes a library that weir loads.
///
/// Each type implements [`ModelPlugin`](crate::ModelPlugin). As with [`export_arbiters!`](crate::export_arbiters!), panics
/// are caught at the boundary, and the macro is used once, in the crate's root.
///
/// ```
/// use weir_plugin_api::{CallError, Model, ModelPlugin, Plan, PlannedTask, PlannedWork, Surroundings};
///
/// /// Serves `pause: {}`: an operation of one microsecond.
/// struct Pause;
///
/// impl Model for Pause {
///     fn plan(&mut self, _: &str, _: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
///         plan.task(&PlannedTask::new("pause", &[], PlannedWork::Lasts(1e6)));
///         Ok(())
///     }
/// }
///
/// impl ModelPlugin for Pause {
///     const NAME: &'static str = "pause";
///     const VERSION: &'static str = "1.0.0";
///     const OPERATIONS: &'static [&'static str] = &["pause"];
///
///     fn schema() -> String {
///         r#"{"type": "object", "properties": {"pause": {"type": "object"}}}"#.to_owned()
///     }
///
///     fn create() -> Result<Self, CallError> {
///         Ok(Self)
///     }
/// }
///
/// weir_plugin_api::export_models!(Pause);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_models {
    ($($model:ty),+ $(,)?) => {
        $crate::export_tables!(weir_model, $crate::abi::ModelTable, $($model),+);
    };
}

/// What the macros above share: the function that lists the tables.
#[doc(hidden)]
#[macro_export]
macro_rules! export_tables {
    ($function:ident, $table:ty, $($plugin:ty),+) => {
        const _: () = {
            #[cfg(not(panic = "unwind"))]
            ::core::compile_error!(
                "weir plugins catch panics at their boundary: set panic = \"unwind\" in this build's profile"
            );

            /// The table at an index, null past the end.
            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            extern "C" fn $function(index: u32) -> *const $table {
                static TABLES: ::std::sync::OnceLock<::std::vec::Vec<$table>> = ::std::sync::OnceLock::new();
                let tables = TABLES.get_or_init(|| {
                    $crate::abi::keep_panics_quiet();
                    ::std::vec![$(<$table>::of::<$plugin>()),+]
                });
                tables.get(index as usize).map_or(::core::ptr::null(), ::core::ptr::from_ref)
            }
        };
    };
}
