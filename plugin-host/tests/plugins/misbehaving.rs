//! A plugin whose arbiters, port arbiters and models each break one promise (but for one model), for the tests of the host.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, FabricView, Flags, Grant, GrantView, LinkId, PhaseView, PortArbiter,
    PortArbiterPlugin, PortGrant, RateArbiter, SimTime, Step,
};

#[path = "faithful.rs"]
mod faithful;
#[path = "misbehaving_models.rs"]
mod models;

const ANY: &str = r#"{"type": "object"}"#;

macro_rules! plugin {
    ($type:ident, $name:literal, $create:expr) => {
        impl ArbiterPlugin for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "0.1.0";
            const FLAGS: Flags = Flags::PURE;

            fn params_schema() -> String {
                ANY.to_owned()
            }

            fn create(_fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
                let create: fn(&str) -> Result<Self, CallError> = $create;
                create(params)
            }
        }
    };
}

/// Panics in `create`.
struct PanicsInCreate;

impl RateArbiter for PanicsInCreate {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Ok(())
    }
}

plugin!(PanicsInCreate, "panics-in-create", |params| panic!("no instance for {params}"));

/// Refuses in `create`.
struct Refuses;

impl RateArbiter for Refuses {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Ok(())
    }
}

plugin!(Refuses, "refuses", |_| Err(CallError::Refused("tau must be\nin [0, 1]".to_owned())));

/// How often a `PanicsInAllocate` was dropped, told by the admission of a route of so many links.
static DROPPED: AtomicU32 = AtomicU32::new(0);

/// Panics in `allocate` at time 0 and in `explain`; admits only while fewer instances were dropped than the route has links.
struct PanicsInAllocate {
    calls: u64,
}

impl RateArbiter for PanicsInAllocate {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        match DROPPED.load(SeqCst) {
            dropped if (dropped as usize) < route.len() => Ok(()),
            dropped => Err(CallError::Refused(format!("{dropped} dropped"))),
        }
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.calls += 1;
        assert!(phase.now > SimTime::ZERO, "call {} at the start of time", self.calls);
        grant.rates.fill(self.calls as f64);
        grant.recheck = SimTime(phase.now.0 + 5);
        Ok(())
    }

    fn explain(&mut self, _: &PhaseView<'_>, _: &mut Vec<Step>) -> Result<bool, CallError> {
        std::panic::panic_any(7_u8)
    }
}

impl Drop for PanicsInAllocate {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
        panic!("also when dropped");
    }
}

plugin!(PanicsInAllocate, "panics-in-allocate", |_| Ok(PanicsInAllocate { calls: 0 }));

/// `allocate` does not return while the time of the phase is not 0.
struct NeverReturns;

impl RateArbiter for NeverReturns {
    fn allocate(&mut self, phase: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        if phase.now == SimTime::ZERO {
            return Ok(());
        }
        loop {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

plugin!(NeverReturns, "never-returns", |_| Ok(NeverReturns));

/// Writes bindings and steps that name what does not exist; fails in `reset`.
struct Invents;

impl RateArbiter for Invents {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        let wrong = if phase.now > SimTime::ZERO { (LinkId(99), u32::MAX) } else { (LinkId(0), 99) };
        grant.rates.fill(1.0);
        grant.bindings.fill(Binding::new(wrong.0, Cause::SharedLink, wrong.1));
        Ok(())
    }

    fn explain(&mut self, _: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        steps.push(Step {
            transfer: 99,
            region: 0,
            step: "x".to_owned(),
            link: LinkId::NONE,
            rate: 0.0,
            because: Vec::new(),
        });
        Ok(true)
    }

    fn reset(&mut self) {
        panic!("cannot forget");
    }
}

plugin!(Invents, "invents", |_| Ok(Invents));

/// Panics where three ask.
struct PanicsInChoose;

impl PortArbiter for PanicsInChoose {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        assert!(ask.heads.len() < 3, "three are too many");
        Ok(ask.heads[0].slot)
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn state(&self, _: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        to.resize(1 << 20, 0);
        Ok(true)
    }
}

impl PortArbiterPlugin for PanicsInChoose {
    const NAME: &'static str = "panics-in-choose";
    const VERSION: &'static str = "1.0.0";
    const DESCRIPTION: &'static str = "";
    const FLAGS: Flags = Flags(0);

    fn params_schema() -> String {
        r#"{"type": "object"}"#.to_owned()
    }

    fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> {
        Ok(Self)
    }
}

weir_plugin_api::export_port_arbiters!(PanicsInChoose);
weir_plugin_api::export_arbiters!(PanicsInCreate, Refuses, PanicsInAllocate, NeverReturns, Invents);
weir_plugin_api::export_models!(
    faithful::Faithful,
    models::NoModel,
    models::Unwilling,
    models::Panics,
    models::Forever
);
