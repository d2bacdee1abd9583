//! The macro that turns arbiters written in Rust into a loadable library.

/// Exports the arbiters of this crate: with `crate-type = ["cdylib"]` it becomes a library that weir loads.
///
/// Each type implements [`ArbiterPlugin`](crate::ArbiterPlugin). Panics are caught at the boundary, so the crate must be
/// compiled with `panic = "unwind"`; anything else is refused at compile time. Use it once, in the crate's root.
///
/// ```
/// use weir_plugin_api::{ArbiterError, ArbiterPlugin, FabricView, Flags, Grant, PhaseView, RateArbiter};
///
/// /// Holds everything back.
/// struct Standstill;
///
/// impl RateArbiter for Standstill {
///     fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), ArbiterError> {
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
///     fn create(_: &FabricView<'_>, _: &str) -> Result<Self, ArbiterError> {
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
        const _: () = {
            #[cfg(not(panic = "unwind"))]
            ::core::compile_error!(
                "weir plugins catch panics at their boundary: set panic = \"unwind\" in this build's profile"
            );

            /// The table of the arbiter at an index, null past the end.
            #[allow(unsafe_code)]
            #[unsafe(no_mangle)]
            extern "C" fn weir_arbiter(index: u32) -> *const $crate::abi::ArbiterTable {
                static TABLES: ::std::sync::OnceLock<::std::vec::Vec<$crate::abi::ArbiterTable>> =
                    ::std::sync::OnceLock::new();
                let tables = TABLES.get_or_init(|| {
                    $crate::abi::keep_panics_quiet();
                    ::std::vec![$($crate::abi::ArbiterTable::of::<$arbiter>()),+]
                });
                tables.get(index as usize).map_or(::core::ptr::null(), ::core::ptr::from_ref)
            }
        };
    };
}
