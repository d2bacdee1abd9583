//! Models that stand in for real ones: one says what it was given, one plans what it is told, one leaves a choice open.

use serde_json::{Value as Json, json};
use weir_plugin_api::{
    Alternative, ArbiterEntry, CallError, EngineScope, Estimate, Estimates, FabricView, Flags, Model, ModelPlugin,
    NodeId, Origin, Plan, PlannedTask, PlannedWork, Queue, RateArbiter, Registry, Relation, Surroundings, Wait,
};
use weir_scenario::{Diagnostic, Input, LoadOptions, Scenario, load};

/// Serves `echo` with a parameter of every kind; its details are the operation that it was given.
pub struct Echo;

/// Serves `script`: plans what `plan` names.
pub struct Script;

/// Serves `choose`: with `pick: auto` each of `times` is an alternative; `carries` are bytes from `from` to `to`.
pub struct Choose;

/// Serves transfers: carries their bytes from `send`, then takes `latency`.
pub struct Courier;

macro_rules! plugin {
    ($type:ident, $name:literal, $operation:literal, $schema:expr) => {
        impl ModelPlugin for $type {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.2.3";
            const OPERATIONS: &'static [&'static str] = &[$operation];

            fn schema() -> String {
                let mut schema = $schema;
                let inner = schema["inner"].take();
                json!({ "type": "object", "properties": { $operation: inner }, "$defs": schema["defs"] }).to_string()
            }

            fn create() -> Result<Self, CallError> {
                Ok(Self)
            }
        }
    };
}

plugin!(
    Echo,
    "echo",
    "echo",
    json!({
        "inner": { "type": "object", "properties": {
            "bytes": { "type": "integer", "minimum": 0, "x-weir-quantity": "bytes" },
            "some": { "x-weir-quantity": "bytes" },
            "time": { "type": "number", "x-weir-quantity": "time" },
            "per_byte": { "type": "number", "x-weir-quantity": "time-per-byte" },
            "rate": { "type": "number", "x-weir-quantity": "bandwidth" },
            "on": { "type": "boolean" },
            "device": { "type": "integer", "x-weir-node": true },
            "other": { "x-weir-node": true },
            "host": { "x-weir-node": true, "x-weir-nearest": "device" },
            "via": { "type": "array", "x-weir-nodes": true, "x-weir-nearest": ["device", "other"] },
            "nodes": { "type": "array", "items": { "type": "integer" }, "x-weir-nodes": true, "maxItems": 4 },
            "hosts": { "x-weir-nodes": true, "x-weir-nearest": "nodes" },
            "curve": { "type": "array", "x-weir-table": ["bytes", "seconds"] },
            "packet": { "anyOf": [
                { "type": "object", "properties": { "table": { "x-weir-table": ["bytes", "packet"] } }, "required": ["table"] },
                { "type": "string", "enum": ["none", "auto"] },
                { "x-weir-quantity": "bytes" }] },
            "count": { "anyOf": [{ "type": "string", "enum": ["auto"] }, { "type": "integer", "minimum": 1 }] },
            "rows": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/Row" } },
            "groups": { "type": "array", "items": { "type": "array", "items": { "enum": ["read", "write"] } } },
            "level": { "$ref": "#/$defs/Level" } } },
        "defs": {
            "Row": { "type": "array", "minItems": 2, "maxItems": 2, "prefixItems":
                [{ "x-weir-quantity": "bytes" }, { "x-weir-quantity": "time" }] },
            "Level": { "oneOf": [
                { "type": "object", "required": ["table"], "properties": {
                    "table": { "type": "array", "items": { "$ref": "#/$defs/Row" } }, "rule": { "enum": ["none", "linear"] } } },
                { "type": "object", "required": ["affine"], "properties": { "affine": { "$ref": "#/$defs/Affine" } } },
                { "type": "object", "required": ["fabric"], "properties": { "fabric": { "const": true } } }] },
            "Affine": { "type": "object", "required": ["per_byte"], "properties": {
                "latency": { "x-weir-quantity": "time" }, "per_byte": { "x-weir-quantity": "time-per-byte" } } } }
    })
);
plugin!(
    Script,
    "script",
    "script",
    json!({ "inner": { "type": "object", "required": ["plan"], "properties": {
        "plan": { "type": "string" }, "from": { "x-weir-node": true }, "to": { "x-weir-node": true },
        "deep": { "type": "object", "properties": { "list": { "type": "array", "items": { "type": "integer" } } } } } } })
);
plugin!(
    Choose,
    "choose",
    "choose",
    json!({ "inner": { "type": "object", "properties": {
        "pick": { "type": "string" }, "times": { "type": "array", "items": { "x-weir-quantity": "time" } },
        "from": { "x-weir-node": true }, "to": { "x-weir-node": true }, "carries": { "x-weir-quantity": "bytes" } } } })
);
plugin!(
    Courier,
    "courier",
    "transfer",
    json!({ "inner": { "type": "object", "properties": { "latency": { "x-weir-quantity": "time" } } } })
);

fn parsed(operation: &str) -> Json {
    serde_json::from_str(operation).expect("the host writes JSON")
}

fn node(params: &Json, key: &str) -> NodeId {
    NodeId(params[key].as_u64().expect("a node") as u32)
}

impl Model for Echo {
    fn plan(&mut self, _: &str, _: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        plan.task(&PlannedTask::new("t", &[], PlannedWork::Lasts(2.5)));
        Ok(())
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, out: &mut Estimates) -> Result<(), CallError> {
        out.list.push(Estimate {
            formula: "eq1".to_owned(),
            seconds: 2.5e-12,
            relation: Relation::Equal,
            because: String::new(),
        });
        out.details = operation.to_owned();
        Ok(())
    }
}

impl Model for Script {
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let params = parsed(operation)["params"].take();
        let script = params["plan"].as_str().unwrap_or_default();
        let ends = || (node(&params, "from"), node(&params, "to"));
        let lasts = |ps: f64| PlannedWork::Lasts(ps);
        let mut add = |name: &str, waits: &[Wait], work| plan.task(&PlannedTask::new(name, waits, work));
        match script {
            "empty" => {}
            "unnamed" => drop(add("", &[], lasts(1.0))),
            "slash" => drop(add("a/b", &[], lasts(1.0))),
            "twice" => drop([add("a", &[], lasts(1.0)), add("a", &[], lasts(1.0))]),
            "nan" => drop(add("a", &[], lasts(f64::NAN))),
            "negative" => drop(add("a", &[], lasts(-1.0))),
            "beyond" => drop(add("a", &[], lasts(1e19))),
            "lead" => {
                plan.task(&PlannedTask::new("a", &[], PlannedWork::Nothing).paced(0, f64::INFINITY, 0.0));
            }
            "wait" => drop(add("a", &[Wait::end(1)], lasts(1.0))),
            "cycle" => {
                add("a", &[], lasts(1.0));
                add("b", &[Wait::end(2)], lasts(1.0));
                add("c", &[Wait::start(1)], lasts(1.0));
            }
            "queue" => {
                let engine = plan.engine("copy", 1, EngineScope::Operation);
                for (name, waits) in [("first", &[Wait::end(1)][..]), ("second", &[])] {
                    plan.task(&PlannedTask::new(name, waits, lasts(1.0)).on(engine, Queue::Issued));
                }
            }
            "engine" => drop(plan.task(&PlannedTask::new("a", &[], lasts(1.0)).on(3, Queue::Ready))),
            "no-slot" => {
                plan.engine("copy", 0, EngineScope::Operation);
                plan.task(&PlannedTask::new("a", &[], lasts(1.0)));
            }
            "slots" | "own-twice" | "no-node" | "compute-2" => {
                let from = if script == "no-node" { NodeId(99) } else { node(&params, "from") };
                let scope = if script == "own-twice" { EngineScope::Operation } else { EngineScope::Device(from) };
                if script == "compute-2" {
                    plan.engine("compute", 2, scope);
                } else {
                    plan.engine("copy", 1, scope);
                    plan.engine("copy", 1 + u32::from(script == "slots"), scope);
                }
                plan.task(&PlannedTask::new("a", &[], lasts(1.0)));
            }
            "carry" | "nothing" | "bytes" | "limit" | "limited" => {
                let (from, to) = ends();
                let bytes = match script {
                    "nothing" => 0,
                    "bytes" => (1 << 53) + 1,
                    _ => 7,
                };
                let limit = match script {
                    "limit" => f64::NAN,
                    "limited" => 5e8,
                    _ => f64::INFINITY,
                };
                add("a", &[], PlannedWork::Carries { from, to, bytes, limit });
            }
            "pipeline" => {
                let device = EngineScope::Device(node(&params, "from"));
                let copy = plan.engine("copy", 1, device);
                let own = plan.engine("own", 2, EngineScope::Operation);
                let issued = |name, waits, ps| PlannedTask::new(name, waits, lasts(ps)).on(copy, Queue::Issued);
                plan.task(&issued("h0", &[], 10.4).paced(7, 1.5, 2.4));
                plan.task(&issued("h1", &[], 10.5).paced(7, 1.5, 2.4));
                let waits = [Wait::end(0), Wait::start(1)];
                plan.task(&PlannedTask::new("k", &waits, PlannedWork::Nothing).on(own, Queue::Ready));
            }
            "refused" => return Err(CallError::Refused("deep.list.1: it is odd; give even numbers".to_owned())),
            "refused-absent" => return Err(CallError::Refused("from.x: missing; give it".to_owned())),
            "refused-plain" => return Err(CallError::Refused("note: not today".to_owned())),
            "failed" => return Err(CallError::Failed("out of luck".to_owned())),
            "panicked" => return Err(CallError::Panicked("at the disco".to_owned())),
            "route" => {
                let (from, to) = ends();
                let route = surroundings.routes.route(from, to);
                let text = format!("{route:?} {:?}", surroundings.routes.route(from, NodeId(1_000)));
                return Err(CallError::Refused(text));
            }
            other => drop(add(other, &[], lasts(1.0))),
        }
        Ok(())
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, out: &mut Estimates) -> Result<(), CallError> {
        let (formula, seconds) = match parsed(operation)["params"]["plan"].as_str() {
            Some("estimate-nan") => ("eq1", f64::NAN),
            Some("estimate-negative") => ("eq1", -1.0),
            Some("estimate-unnamed") => ("", 1.0),
            Some("details") => {
                out.details = "[1]".to_owned();
                return Ok(());
            }
            _ => return Ok(()),
        };
        let (formula, because) = (formula.to_owned(), String::new());
        out.list.push(Estimate { formula, seconds, relation: Relation::Unstated, because });
        Ok(())
    }
}

impl Model for Choose {
    fn plan(&mut self, operation: &str, _: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let params = parsed(operation)["params"].take();
        let ps: f64 = params["pick"].as_str().and_then(|ps| ps.parse().ok()).unwrap_or(0.0);
        let first = plan.task(&PlannedTask::new("wait", &[], PlannedWork::Lasts(ps)));
        if let Some(bytes) = params["carries"].as_u64() {
            let (from, to, limit) = (node(&params, "from"), node(&params, "to"), f64::INFINITY);
            let work = PlannedWork::Carries { from, to, bytes, limit };
            plan.task(&PlannedTask::new("carry", &[Wait::end(first)], work));
        }
        Ok(())
    }

    fn alternatives(
        &mut self,
        operation: &str,
        _: &Surroundings<'_>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let mut json = parsed(operation);
        if json["params"]["pick"] != "auto" {
            return Ok(());
        }
        for ps in json["params"]["times"].as_array().cloned().unwrap_or_default() {
            json["params"]["pick"] = ps.to_string().into();
            out.push(Alternative { label: format!("{ps} ps"), operation: json.to_string() });
        }
        Ok(())
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, out: &mut Estimates) -> Result<(), CallError> {
        out.details = json!({ "pick": parsed(operation)["params"]["pick"] }).to_string();
        Ok(())
    }
}

impl Model for Courier {
    fn plan(&mut self, operation: &str, _: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let json = parsed(operation);
        let transfer = &json["transfer"];
        let (from, to) = (node(transfer, "from"), node(transfer, "to"));
        let slots = transfer["slots"].as_u64().unwrap_or(1) as u32;
        let limit = transfer["limit"].as_f64().unwrap_or(f64::INFINITY);
        let bytes = transfer["bytes"].as_u64().unwrap_or(0);
        let send = plan.engine("send", slots, EngineScope::Device(from));
        let work = PlannedWork::Carries { from, to, bytes, limit };
        let carry = plan.task(&PlannedTask::new("carry", &[], work).on(send, Queue::Ready));
        let latency = json["params"]["latency"].as_f64().unwrap_or(0.0);
        plan.task(&PlannedTask::new("arrive", &[Wait::end(carry)], PlannedWork::Lasts(latency)));
        Ok(())
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, out: &mut Estimates) -> Result<(), CallError> {
        out.details = operation.to_owned();
        Ok(())
    }
}

/// The two arbiters and the four models.
pub fn registry() -> Registry {
    let mut registry = super::registry();
    registry.add_builtin_model::<Echo>().unwrap();
    registry.add_builtin_model::<Script>().unwrap();
    registry.add_builtin_model::<Choose>().unwrap();
    registry.add_builtin_model::<Courier>().unwrap();
    registry
}

/// Two machines with two cpus and two gpus each, joined by their NICs, and one alone; three lines.
pub const MACHINES: &str = "weir: 1
topology:
  tree: { m0: { kind: root-complex, children: { c0: &c { kind: cpu, link: &l { bandwidth: 1GB/s } }, c1: *c, g0: &g { kind: gpu, link: *l }, s0: { kind: switch, link: *l, children: { g1: *g } }, n0: { kind: nic, link: *l } } }, m1: { kind: root-complex, children: { n1: { kind: nic, link: *l }, c2: *c, g2: *g, x: *g } }, m2: { kind: switch, children: { lone: *g, x: *g } } }
  links: [{ between: [n0, n1], type: { bandwidth: 2GB/s, latency: 3ns, kind: network } }]
";

/// A scenario on [`MACHINES`] whose workload is one operation, on line 6.
pub fn one(operation: &str) -> String {
    format!("{MACHINES}workload:\n  - {operation}\n")
}

/// Reads a text without a folder.
pub fn read(text: impl Into<Vec<u8>>) -> Result<Scenario, Vec<Diagnostic>> {
    load(Input::text(text, "-", None), &LoadOptions::default(), &registry())
}

/// Reads a text that must be right.
#[track_caller]
pub fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|found| panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>()))
}

/// The findings of a text that must be wrong.
#[track_caller]
pub fn bad(text: &str) -> Vec<Diagnostic> {
    read(text).map(|s| s.name).expect_err("the scenario must be refused")
}

/// Checks place, message and remedy of the first finding, and whether it is a plugin's fault.
#[track_caller]
pub fn refused(text: &str, place: (u32, u32), message: &str, help: &str, plugin: bool) {
    let found = bad(text).remove(0);
    assert!(found.message.contains(message), "message: {found}");
    assert!(found.help.as_ref().is_some_and(|h| h.contains(help)), "remedy: {found}");
    let position = found.position.as_ref().expect("a position");
    assert_eq!((position.line, position.column), place, "{found}");
    assert_eq!(found.plugin, plugin, "{found}");
}

/// The registry with an arbiter that is never made.
pub fn with_refusing(name: &str, params_schema: &str, error: fn() -> CallError) -> Registry {
    let mut registry = registry();
    let make = std::sync::Arc::new(move |_: &FabricView<'_>, _: &str| -> Result<Box<dyn RateArbiter>, CallError> {
        Err(error())
    });
    let entry = ArbiterEntry {
        name: name.to_owned(),
        version: "1".to_owned(),
        flags: Flags::PURE,
        says_what_it_reads: true,
        legend: Vec::new(),
        params_schema: params_schema.to_owned(),
        origin: Origin::BuiltIn,
        make,
        incremental: None,
    };
    registry.add(entry).expect("the name is free");
    registry
}
