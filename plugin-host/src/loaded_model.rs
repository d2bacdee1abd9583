//! A model of a shared library, behind the same trait as a built-in one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::{Map, Value};
use weir_plugin_api::abi::{
    AlternativesFn, Chooser, CreateModelFn, DestroyFn, EstimateFn, Estimator, PlanFn, Planner, SurroundingsRecord,
};
use weir_plugin_api::{Alternative, CallError, Estimates, MakeModel, Model, NodeId, Plan, RouteInfo, Surroundings};

use crate::call::Call;
use crate::instance::Instance;
use crate::sinks::{AlternativeSink, EstimateSink, PlanSink};

/// The functions of a checked table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelFunctions {
    pub(crate) create: CreateModelFn,
    pub(crate) destroy: DestroyFn,
    pub(crate) plan: PlanFn,
    pub(crate) estimate: Option<EstimateFn>,
    pub(crate) alternatives: Option<AlternativesFn>,
}

/// Makes instances of the model `name` of the library at `path`.
pub(crate) fn maker(name: &str, path: &Path, functions: ModelFunctions) -> MakeModel {
    let (name, path) = (name.to_owned(), path.to_owned());
    Box::new(move || Ok(Box::new(LoadedModel::create(&name, &path, functions)?)))
}

/// An instance of a plugin's model. After a panic it is never called again, but for `destroy` when it is dropped.
///
/// What it emits is checked here as far as the boundary is concerned: texts are UTF-8, numbers of enums are known, and no
/// answer fills the memory. What a plan means is checked by those who run it, for built-in and loaded models alike.
struct LoadedModel {
    functions: ModelFunctions,
    instance: Instance,
}

impl LoadedModel {
    fn create(name: &str, path: &Path, functions: ModelFunctions) -> Result<Self, CallError> {
        let instance = Instance::create(name, path, functions.destroy, |host, state, err| {
            // SAFETY: all pointers are valid for the call.
            unsafe { (functions.create)(host, state, err) }
        })?;
        Ok(Self { functions, instance })
    }

    /// The result of a call, or what was wrong with a record that it emitted: that comes first, since a plugin that was
    /// asked to stop may well call it an error of its own. A panic comes before both.
    fn finish(&self, call: Call, result: Result<(), CallError>, wrong: Option<String>) -> Result<(), CallError> {
        match wrong {
            Some(wrong) if !self.instance.is_stopped() => Err(self.instance.failed(call, &wrong)),
            _ => result,
        }
    }
}

/// What a plugin sees of the surroundings.
fn show<'a>(surroundings: &'a Surroundings<'a>) -> SurroundingsRecord<'a> {
    SurroundingsRecord { context: std::ptr::from_ref(surroundings).cast(), fabric: surroundings.fabric, route }
}

unsafe extern "C" fn route(record: *const SurroundingsRecord<'_>, from: u32, to: u32, info: *mut RouteInfo) -> i32 {
    // SAFETY: the record is the one that `show` made, and the surroundings outlive the call that shows it.
    let surroundings = unsafe { &*(*record).context.cast::<Surroundings<'_>>() };
    let nodes = surroundings.fabric.node_kind.len();
    // Devices beyond the fabric have no links, so the host need not be asked about any number that a plugin makes up.
    if from as usize >= nodes || to as usize >= nodes {
        return 0;
    }
    // A panic of the host must not unwind into C.
    let found = catch_unwind(AssertUnwindSafe(|| surroundings.routes.route(NodeId(from), NodeId(to))));
    match found {
        Ok(Some(found)) => {
            if !info.is_null() {
                // SAFETY: not null; the plugin promises room for one.
                unsafe { info.write(found) };
            }
            1
        }
        Ok(None) => 0,
        Err(payload) => {
            std::mem::forget(payload);
            0
        }
    }
}

impl Model for LoadedModel {
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let (f, record) = (self.functions.plan, show(surroundings));
        let mut sink = PlanSink::new(plan);
        let planner = Planner { context: (&raw mut sink).cast(), ..PlanSink::PLANNER };
        // SAFETY: the state is alive; the text has the length given; the sink outlives the call.
        let result = self.instance.call(Call::Plan, |state, err| unsafe {
            f(state, operation.as_ptr().cast(), operation.len(), &raw const record, &raw const planner, err)
        });
        let wrong = sink.wrong.take();
        self.finish(Call::Plan, result, wrong)
    }

    fn estimate(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        estimates: &mut Estimates,
    ) -> Result<(), CallError> {
        let Some(f) = self.functions.estimate else { return Ok(()) };
        let record = show(surroundings);
        let mut sink = EstimateSink::new(estimates);
        let estimator = Estimator { context: (&raw mut sink).cast(), ..EstimateSink::ESTIMATOR };
        // SAFETY: as in `plan`.
        let result = self.instance.call(Call::Estimate, |state, err| unsafe {
            f(state, operation.as_ptr().cast(), operation.len(), &raw const record, &raw const estimator, err)
        });
        let wrong = sink.wrong.take();
        self.finish(Call::Estimate, result, wrong)
    }

    fn alternatives(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        alternatives: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let Some(f) = self.functions.alternatives else { return Ok(()) };
        let record = show(surroundings);
        let before = alternatives.len();
        let mut sink = AlternativeSink::new(alternatives);
        let chooser = Chooser { context: (&raw mut sink).cast(), ..AlternativeSink::CHOOSER };
        // SAFETY: as in `plan`.
        let result = self.instance.call(Call::Alternatives, |state, err| unsafe {
            f(state, operation.as_ptr().cast(), operation.len(), &raw const record, &raw const chooser, err)
        });
        let wrong = sink.wrong.take().or_else(|| wrong_alternative(operation, &alternatives[before..]));
        self.finish(Call::Alternatives, result, wrong)
    }
}

/// What is wrong with the first alternative that is not the operation with something chosen.
pub(crate) fn wrong_alternative(operation: &str, alternatives: &[Alternative]) -> Option<String> {
    let asked = serde_json::from_str::<Map<String, Value>>(operation).unwrap_or_default();
    alternatives.iter().enumerate().find_map(|(at, alternative)| {
        let label = alternative.label.escape_debug();
        let Ok(emitted) = serde_json::from_str::<Map<String, Value>>(&alternative.operation) else {
            return Some(format!("emits alternative {at} (`{label}`), which is not a JSON object"));
        };
        let key = ["operation", "id"].into_iter().find(|&key| emitted.get(key) != asked.get(key))?;
        Some(format!("emits alternative {at} (`{label}`) with another `{key}` than it was asked about"))
    })
}
