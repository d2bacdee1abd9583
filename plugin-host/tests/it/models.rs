//! Instances of loaded models: what they emit arrives as it is, and what goes wrong inside stays inside, and is told.

use crate::common::{Small, SmallRoutes, misbehaving, model_of, model_variant, program};
use tempfile::TempDir;
use weir_plugin_api::{
    Alternative, CallError, EngineScope, Estimates, Model, ModelEntry, NodeId, Plan, PlannedEngine, PlannedTask,
    PlannedWork, Queue, Registry, Relation, Surroundings, Wait,
};
use weir_plugin_host::{Library, Place, load_file};

/// What a model answers to each call about an operation, beside the small fabric.
struct Asked<'a>(&'a mut dyn Model);

impl Asked<'_> {
    fn plan(&mut self, operation: &str) -> Result<Plan, CallError> {
        let small = Small::new();
        let mut plan = Plan::new();
        let fabric = small.fabric();
        self.0.plan(operation, &Surroundings { fabric: &fabric, routes: &SmallRoutes }, &mut plan).map(|()| plan)
    }

    fn estimate(&mut self, operation: &str) -> Result<Estimates, CallError> {
        let small = Small::new();
        let mut out = Estimates::default();
        let fabric = small.fabric();
        self.0.estimate(operation, &Surroundings { fabric: &fabric, routes: &SmallRoutes }, &mut out).map(|()| out)
    }

    fn alternatives(&mut self, operation: &str) -> Result<Vec<Alternative>, CallError> {
        let small = Small::new();
        let mut out = Vec::new();
        let fabric = small.fabric();
        self.0.alternatives(operation, &Surroundings { fabric: &fabric, routes: &SmallRoutes }, &mut out).map(|()| out)
    }
}

fn create(plugin: &ModelEntry) -> Box<dyn Model> {
    (plugin.make)().expect("created")
}

fn variant() -> (TempDir, Box<dyn Model>) {
    let folder = TempDir::new().expect("a folder");
    let library = Library::open(&model_variant(folder.path(), "variant", &[])).expect("right");
    let model = create(&model_of(&library, "variant"));
    (folder, model)
}

/// By text, since a number that is not one is not equal to itself.
#[test]
fn a_model_answers_the_same_built_in_and_loaded() {
    let mut loaded = create(&model_of(&misbehaving(), "faithful"));
    let (mut built_in, mut loaded) = (Asked(&mut crate::faithful::Faithful), Asked(&mut *loaded));
    for id in ["first", "größer", ""] {
        let operation = &format!(r#"{{"operation":"faithful","id":"{id}"}}"#);
        let (ours, theirs) = (built_in.plan(operation).expect("planned"), loaded.plan(operation).expect("planned"));
        assert_eq!((ours.engines().len(), ours.len()), (2, 3));
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(built_in.estimate(operation), loaded.estimate(operation));
        assert_eq!(built_in.alternatives(operation), loaded.alternatives(operation));
    }
}

#[test]
fn a_model_in_c_is_heard() {
    let (_folder, mut model) = variant();
    let mut model = Asked(&mut *model);
    let plan = model.plan("right").expect("planned");
    let engine = |name: &str, slots, scope| PlannedEngine { name: name.to_owned(), slots, scope };
    assert_eq!(
        plan.engines(),
        [engine("copy", 2, EngineScope::Device(NodeId(3))), engine("", 1, EngineScope::Operation)]
    );
    let waits = [Wait::end(0), Wait::start(2)];
    let carries = PlannedWork::Carries { from: NodeId(1), to: NodeId(2), bytes: 100, limit: f64::INFINITY };
    let expected = [
        PlannedTask::new("first", &[], PlannedWork::Nothing).on(1, Queue::Ready),
        PlannedTask::new("second", &waits, PlannedWork::Lasts(3.5)).on(0, Queue::Issued).paced(5, 1.5, 2.5),
        PlannedTask::new("third", &[], carries),
    ];
    assert_eq!(plan.iter().collect::<Vec<_>>(), expected);

    let estimates = model.estimate("").expect("estimated");
    assert_eq!((estimates.list.len(), estimates.details.as_str()), (1, "{}"));
    let first = &estimates.list[0];
    assert_eq!((first.formula.as_str(), first.seconds, first.relation), ("eq1", 0.5, Relation::AtLeast));
    let expected = Alternative { label: "none".to_owned(), operation: "{}".to_owned() };
    assert_eq!(model.alternatives(""), Ok(vec![expected]));
}

/// Each of them is the operation as given, but for what is chosen: an object, of the same kind and id.
#[test]
fn an_alternative_that_is_another_operation_is_the_plugins_error() {
    let folder = TempDir::new().expect("a folder");
    let asked = r#"{"operation":"variant","id":"v","params":{"packet":"auto"}}"#;
    for (name, emitted, wrong) in [
        ("same", r#"{"params":{"packet":3},"id":"v","operation":"variant"}"#, None),
        ("no-json", "{nope", Some("which is not a JSON object")),
        ("list", "[]", Some("which is not a JSON object")),
        ("id", r#"{"operation":"variant","id":"w"}"#, Some("with another `id` than")),
        ("no-id", r#"{"operation":"variant"}"#, Some("with another `id` than")),
        ("kind", r#"{"operation":"other","id":"v"}"#, Some("with another `operation` than")),
    ] {
        let file = model_variant(folder.path(), name, &[&format!("ALTERNATIVE={emitted:?}")]);
        let mut registries = [Registry::new(), Registry::new()];
        load_file(&file, program(), Place::Process, &mut registries[0]).expect("right");
        load_file(&file, program(), Place::Child, &mut registries[1]).expect("right");
        for registry in &registries {
            let entry = registry.models().find(|entry| entry.name == "variant").expect("listed");
            let answer = Asked(&mut *create(entry)).alternatives(asked);
            let Some(wrong) = wrong else {
                assert_eq!(answer.expect("right").len(), 1);
                continue;
            };
            let Err(CallError::Failed(text)) = answer else { panic!("{name}: {answer:?}") };
            let start = format!("alternatives of {} emits alternative 0 (`none`)", file.display());
            assert!(text.starts_with(&start) && text.contains(wrong), "{name}: {text}");
        }
    }
}

#[test]
fn functions_that_are_null_answer_nothing() {
    let folder = TempDir::new().expect("a folder");
    let file = model_variant(folder.path(), "variant", &["ESTIMATE=NULL", "ALTERNATIVES=NULL"]);
    let mut model = create(&model_of(&Library::open(&file).expect("right"), "variant"));
    let mut model = Asked(&mut *model);
    assert_eq!(model.estimate("formula"), Ok(Estimates::default()));
    assert_eq!(model.alternatives("label"), Ok(Vec::new()));
}

/// Between GPU 1 (8 B/s) and GPU 3; to itself; to a device beyond the fabric; from no device; without room for the answer.
#[test]
fn a_model_in_c_asks_for_routes() {
    let (_folder, mut model) = variant();
    let plan = Asked(&mut *model).plan("routes").expect("planned");
    let answers: Vec<_> = plan.iter().map(|task| (task.class, task.lead_ps, task.gap_ps)).collect();
    let none = (0, -1.0, -1.0);
    assert_eq!(answers, [(1, 8.0, 3.0), none, none, none, none, (1, 0.0, 0.0)]);
}

#[test]
fn a_wrong_record_is_refused_and_the_first_one_is_told() {
    let (_folder, mut model) = variant();
    let mut model = Asked(&mut *model);
    let wrong = |result: Result<(), CallError>, words: &[&str]| {
        let Err(CallError::Failed(text)) = result else { panic!("{result:?}") };
        for word in ["variant.so emits "].iter().chain(words) {
            assert!(text.contains(word), "`{word}` is missing in: {text}");
        }
    };
    for (operation, words) in [
        ("queue", ["task 0 (`odd`) with queue 9", "0 (issued) or 1 (ready)"]),
        ("moment", ["task 0 (`odd`) with moment 9", "0 (end) or 1 (start)"]),
        ("work", ["task 0 (`odd`) with work 9", "0 (nothing), 1 (lasts) or 2 (carries)"]),
        ("scope", ["engine 0 (`odd`) with scope 9", "0 (device) or 1 (operation)"]),
        ("name", ["a name of task 0", "not UTF-8"]),
        ("engine-name", ["a name of engine 0", "not UTF-8"]),
        ("null-task", ["plan of /", "a null task"]),
        ("null-engine", ["plan of /", "a null engine"]),
    ] {
        wrong(model.plan(operation).map(|_| ()), &words);
    }
    for (operation, words) in [
        ("relation", ["estimate 0 (`eq1`) with relation 9", "3 (at least)"]),
        ("formula", ["a formula of estimate 0", "not UTF-8"]),
        ("because", ["a `because` of estimate 0", "not UTF-8"]),
        ("details", ["a text of details", "not UTF-8"]),
        ("twice", ["estimate of /", "details twice"]),
        ("null", ["estimate of /", "a null estimate"]),
    ] {
        wrong(model.estimate(operation).map(|_| ()), &words);
    }
    for (operation, words) in [
        ("label", ["a label of alternative 0", "not UTF-8"]),
        ("operation", ["an operation of alternative 0", "not UTF-8"]),
        ("null", ["alternatives of /", "a null alternative"]),
    ] {
        wrong(model.alternatives(operation).map(|_| ()), &words);
    }
    assert!(model.plan("right").is_ok(), "the instance goes on");
}

#[test]
fn refusals_keep_their_words_and_an_unknown_code_stops_the_instance() {
    let (_folder, mut model) = variant();
    let mut model = Asked(&mut *model);
    assert_eq!(model.plan("refuse"), Err(CallError::Refused("packet: must not be 0".to_owned())));
    let error = model.plan("code").expect_err("an unknown code");
    assert!(error.to_string().contains("returned 7, which is none of 0, 1 and 2"), "{error}");
    assert_eq!(model.plan("right"), Err(error.clone()));
    assert_eq!(model.alternatives(""), Err(error));

    let mut model = create(&model_of(&misbehaving(), "panics"));
    let mut model = Asked(&mut *model);
    assert_eq!(model.plan("refuse"), Err(CallError::Refused("packet: must not be 0".to_owned())));
    assert_eq!(model.plan("fail"), Err(CallError::Refused("lost".to_owned())), "the boundary knows one kind of error");
    let silent = model.plan("silent").expect_err("an error").to_string();
    assert!(silent.contains("plan of /") && silent.contains("failed without giving a reason"), "{silent}");
    assert_eq!(model.plan("right").expect("planned").get(0).work, PlannedWork::Lasts(4.0));
}

#[test]
fn a_panic_says_more_than_a_wrong_record() {
    let (_folder, mut model) = variant();
    let mut model = Asked(&mut *model);
    let Err(CallError::Panicked(text)) = model.plan("panic") else { panic!("not stopped") };
    assert!(text.starts_with("given up (in plan of /"), "{text}");
    assert_eq!(model.plan("right"), Err(CallError::Panicked(text)));
}

#[test]
fn a_model_that_cannot_be_created_says_why() {
    let library = misbehaving();
    match (model_of(&library, "no-model").make)().err().expect("panicked") {
        CallError::Panicked(text) => {
            assert!(text.starts_with("no instance at all, at ") && text.contains("misbehaving_models.rs:"), "{text}");
            assert!(text.contains(" (in create of /"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let refused = (model_of(&library, "unwilling").make)().err().expect("refused");
    assert_eq!(refused, CallError::Refused("not here".to_owned()));
}

/// The plugin counts its dropped instances.
#[test]
fn after_a_panic_an_instance_is_only_destroyed_and_once() {
    let plugin = model_of(&misbehaving(), "panics");
    type Panicking = fn(&mut Asked<'_>) -> CallError;
    let calls: [(&str, Panicking); 3] = [
        ("plan 1 of all, at ", |model| model.plan("plan").expect_err("panicked")),
        ("no guess, at ", |model| model.estimate("estimate").expect_err("panicked")),
        ("a panic without text, at ", |model| model.alternatives("").expect_err("panicked")),
    ];
    let dropped = || Asked(&mut *create(&plugin)).estimate("dropped").expect_err("a number").to_string();
    let before: u32 = number(&dropped());
    for (text, call) in calls {
        let mut model = create(&plugin);
        let mut asked = Asked(&mut *model);
        let error = call(&mut asked);
        let CallError::Panicked(told) = &error else { panic!("{error:?}") };
        assert!(told.starts_with(text) && told.contains("misbehaving_models.rs:"), "{told}");
        assert_eq!(asked.plan("right"), Err(error.clone()), "the same error, without a call");
        assert_eq!(asked.estimate(""), Err(error.clone()));
        assert_eq!(asked.alternatives(""), Err(error));
    }
    assert_eq!(number(&dropped()), before + 3);
}

fn number(text: &str) -> u32 {
    text.split(' ').next().expect("a word").parse().expect("a number")
}
