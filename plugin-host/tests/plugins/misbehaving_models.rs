//! Models that each break one promise; part of the plugin `misbehaving`.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use weir_plugin_api::{
    Alternative, CallError, Estimates, Model, ModelPlugin, Plan, PlannedTask, PlannedWork, Surroundings,
};

macro_rules! plugin {
    ($type:ident, $name:literal, $create:expr) => {
        impl ModelPlugin for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "0.1.0";
            const OPERATIONS: &'static [&'static str] = &[$name];

            fn schema() -> String {
                concat!(r#"{"properties": {""#, $name, r#"": {}}}"#).to_owned()
            }

            fn create() -> Result<Self, CallError> {
                let create: fn() -> Result<Self, CallError> = $create;
                create()
            }
        }
    };
}

/// Panics in `create`.
pub struct NoModel;

impl Model for NoModel {
    fn plan(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Plan) -> Result<(), CallError> {
        Ok(())
    }
}

plugin!(NoModel, "no-model", || panic!("no instance at all"));

/// Refuses in `create`.
pub struct Unwilling;

impl Model for Unwilling {
    fn plan(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Plan) -> Result<(), CallError> {
        Ok(())
    }
}

plugin!(Unwilling, "unwilling", || Err(CallError::Refused("not\nhere".to_owned())));

/// How many instances of `Panics` were dropped after a panic: an estimate of `dropped` refuses with it.
static DROPPED: AtomicU32 = AtomicU32::new(0);

/// Panics in the call that the operation names; refuses or fails with a text where the operation says so.
pub struct Panics {
    plans: u32,
    panicked: bool,
}

impl Model for Panics {
    fn plan(&mut self, operation: &str, _: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        self.plans += 1;
        plan.task(&PlannedTask::new("planned", &[], PlannedWork::Lasts(f64::from(self.plans))));
        match operation {
            "refuse" => Err(CallError::Refused("packet: must not be 0".to_owned())),
            "fail" => Err(CallError::Failed("lost".to_owned())),
            "silent" => Err(CallError::Failed(String::new())),
            "plan" => {
                self.panicked = true;
                panic!("plan {} of all", self.plans);
            }
            _ => Ok(()),
        }
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, _: &mut Estimates) -> Result<(), CallError> {
        match operation {
            "estimate" => {
                self.panicked = true;
                panic!("no guess");
            }
            "dropped" => Err(CallError::Refused(format!("{} dropped", DROPPED.load(SeqCst)))),
            _ => Ok(()),
        }
    }

    fn alternatives(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Vec<Alternative>) -> Result<(), CallError> {
        self.panicked = true;
        std::panic::panic_any(7_u8)
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        DROPPED.fetch_add(u32::from(self.panicked), SeqCst);
        assert!(!self.panicked, "also when dropped");
    }
}

plugin!(Panics, "panics", || Ok(Panics { plans: 0, panicked: false }));

/// `plan` does not return unless the operation is empty.
pub struct Forever;

impl Model for Forever {
    fn plan(&mut self, operation: &str, _: &Surroundings<'_>, _: &mut Plan) -> Result<(), CallError> {
        while !operation.is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(())
    }
}

plugin!(Forever, "forever", || Ok(Forever));
