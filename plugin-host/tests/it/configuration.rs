//! The user's list of plugins: adding, listing, removing, and what is refused.

use std::fs;
use std::path::Path;

use crate::common::{Small, model_variant, program, variant};
use tempfile::TempDir;
use weir_plugin_api::{
    ArbiterEntry, ArbiterPlugin, CallError, FabricView, Flags, Grant, Model, ModelPlugin, Origin, PhaseView, Plan,
    RateArbiter, Registry, Surroundings,
};
use weir_plugin_host::{Place, PluginConfig, PluginError, load_configured, load_file};

/// A built-in arbiter with the name of the variant.
struct BuiltIn;

impl RateArbiter for BuiltIn {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates.fill(0.0);
        Ok(())
    }
}

impl ArbiterPlugin for BuiltIn {
    const NAME: &'static str = "built-in";
    const VERSION: &'static str = "1.0.0";
    const FLAGS: Flags = Flags::PURE;

    fn params_schema() -> String {
        "{}".to_owned()
    }

    fn create(_: &FabricView<'_>, _: &str) -> Result<Self, CallError> {
        Ok(Self)
    }
}

fn builtin() -> Registry {
    let mut registry = Registry::new();
    registry.add(ArbiterEntry::builtin::<BuiltIn>()).expect("free");
    registry
}

fn names(registry: &Registry) -> Vec<&str> {
    registry.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn an_added_plugin_is_found_by_the_next_run_and_a_removed_one_is_not() {
    let folder = TempDir::new().expect("a folder");
    let home = folder.path().join("not/yet/there");
    let file = variant(folder.path(), "mine", &["NAME=\"mine\"", "FLAGS=1"]);
    let mut config = PluginConfig::in_folder(&home).expect("empty");
    assert!(config.records().is_empty());
    // By way of another path to the same file.
    let detour = folder.path().join("not/../mine.so");
    fs::create_dir(folder.path().join("not")).expect("made");
    let record = config.add(&detour, program(), &builtin()).expect("added").clone();
    assert_eq!(record.path, file.canonicalize().expect("there"));
    assert_eq!((record.sha256.len(), record.arbiters[0].name.as_str()), (64, "mine"));

    let mut config = PluginConfig::in_folder(&home).expect("read back");
    assert_eq!(config.records(), std::slice::from_ref(&record));
    let mut registry = builtin();
    assert!(load_configured(&config, None, &mut registry).is_empty());
    let entry = registry.get("mine").expect("loaded");
    assert_eq!(entry.origin, Origin::Library { path: record.path.clone(), sha256: record.sha256.clone() });
    assert_eq!((entry.flags, entry.version.as_str()), (Flags::PURE, "1.0.0"));
    assert!((entry.make)(&Small::new().fabric(), "{}").is_ok());

    assert_eq!(config.remove("mine").expect("removed"), record);
    assert!(PluginConfig::in_folder(&home).expect("read back").records().is_empty());
    let files = fs::read_dir(&home).expect("there").map(|f| f.expect("readable").file_name());
    let files: std::collections::BTreeSet<_> = files.collect();
    let expected = ["plugins.json", "plugins.lock"].map(std::ffi::OsString::from);
    assert_eq!(files, expected.into(), "nothing else is left beside the list");
}

#[test]
fn removing_takes_a_path_too_and_says_what_there_is() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "mine", &["NAME=\"mine\""]);
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    let error = config.remove("mine").expect_err("not there").to_string();
    assert!(error.contains("no plugin `mine`") && error.contains("weir plugin add"), "{error}");
    config.add(&file, program(), &builtin()).expect("added");
    let error = config.remove("mien").expect_err("not there").to_string();
    assert!(error.contains("there are: mine"), "{error}");
    let path = config.records()[0].path.clone();
    fs::remove_file(&path).expect("removed");
    config.remove(path.to_str().expect("UTF-8")).expect("removed though the file is gone");
}

#[test]
fn a_changed_or_vanished_file_is_refused_with_the_remedy() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "mine", &["NAME=\"mine\""]);
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    config.add(&file, program(), &builtin()).expect("added");
    let other = variant(folder.path(), "other", &["NAME=\"mine\"", "VERSION=\"2.0.0\""]);
    fs::rename(&other, &file).expect("replaced");

    let mut registry = builtin();
    let refusals = load_configured(&config, None, &mut registry);
    assert_eq!(refusals[0].names, ["mine"]);
    let line = refusals[0].error.to_string();
    assert!(matches!(refusals[0].error, PluginError::Changed { .. }), "{line}");
    assert!(line.contains(&format!("run `weir plugin add {}`", config.records()[0].path.display())), "{line}");
    assert_eq!(names(&registry), ["built-in"]);

    config.add(&file, program(), &builtin()).expect("added again");
    assert_eq!((config.records().len(), config.records()[0].arbiters[0].version.as_str()), (1, "2.0.0"));
    assert!(load_configured(&config, None, &mut registry).is_empty());
    assert_eq!(names(&registry), ["built-in", "mine"]);

    fs::remove_file(&file).expect("removed");
    let refusals = load_configured(&config, None, &mut builtin());
    assert!(refusals[0].error.to_string().contains("cannot be read"), "{}", refusals[0].error);
}

#[test]
fn plugins_added_at_the_same_time_are_all_kept() {
    let folder = TempDir::new().expect("a folder");
    let home = folder.path().join("config");
    let all: Vec<String> = (0..8).map(|i| format!("mine{i}")).collect();
    let files: Vec<_> =
        all.iter().map(|name| variant(folder.path(), name, &[format!("NAME=\"{name}\"").as_str()])).collect();
    // Each has read the empty list before any has changed it.
    let mut configs: Vec<_> = files.iter().map(|_| PluginConfig::in_folder(&home).expect("empty")).collect();
    std::thread::scope(|scope| {
        for (config, file) in configs.iter_mut().zip(&files) {
            scope.spawn(|| config.add(file, program(), &builtin()).map(|_| ()).expect("added"));
        }
    });
    let config = PluginConfig::in_folder(&home).expect("read back");
    let mut kept: Vec<_> = config.records().iter().map(|r| r.arbiters[0].name.clone()).collect();
    kept.sort();
    assert_eq!(kept, all);
    // By a list that is out of date: what the others have added stays.
    configs[0].remove("mine0").expect("removed");
    assert_eq!(configs[0].records().len(), 7);
}

#[test]
fn a_list_that_cannot_be_written_is_named_with_the_reason() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "mine", &["NAME=\"mine\""]);
    let home = folder.path().join("config");
    fs::write(&home, "").expect("written");
    let error = PluginConfig::in_folder(&home).and_then(|mut c| c.add(&file, program(), &builtin()).cloned());
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("config/plugins.json: cannot be") && error.contains("its folder is a file"), "{error}");
    fs::remove_file(&home).expect("removed");
    fs::create_dir_all(home.join("plugins.json")).expect("made");
    let error = PluginConfig::in_folder(&home).expect_err("refused").to_string();
    assert!(error.contains("it is a folder") && !error.contains("permissions"), "{error}");
}

#[test]
fn a_taken_name_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    let clash = variant(folder.path(), "clash", &["NAME=\"built-in\""]);
    let error = config.add(&clash, program(), &builtin()).expect_err("taken").to_string();
    assert!(error.contains("`built-in`, which is built into weir"), "{error}");

    let first = variant(folder.path(), "first", &["NAME=\"mine\""]);
    let second = variant(folder.path(), "second", &["NAME=\"mine\"", "VERSION=\"2\""]);
    config.add(&first, program(), &builtin()).expect("added");
    let error = config.add(&second, program(), &builtin()).expect_err("taken").to_string();
    assert!(error.contains("first.so") && error.contains("weir plugin remove mine"), "{error}");
    assert_eq!(config.records().len(), 1);

    let mut registry = builtin();
    load_file(&second, program(), Place::Process, &mut registry).expect("free in this run");
    let refusals = load_configured(&config, None, &mut registry);
    assert!(refusals[0].error.to_string().contains("second.so"), "{}", refusals[0].error);
    let error = load_file(&clash, program(), Place::Process, &mut registry).expect_err("taken").to_string();
    assert!(error.contains("built into weir"), "{error}");
    assert_eq!(names(&registry), ["built-in", "mine"]);
}

#[test]
fn a_plugin_given_for_one_run_may_be_an_added_one() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "mine", &["NAME=\"mine\""]);
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    config.add(&file, program(), &builtin()).expect("added");
    let mut registry = builtin();
    load_file(&file, program(), Place::Process, &mut registry).expect("loaded");
    load_file(&file, program(), Place::Process, &mut registry).expect("the same again");
    assert!(load_configured(&config, None, &mut registry).is_empty());
    assert_eq!(names(&registry), ["built-in", "mine"]);
    let entry: &ArbiterEntry = registry.get("mine").expect("loaded");
    assert!(matches!(entry.origin, Origin::Library { .. }));
}

#[test]
fn what_is_refused_is_not_added_and_a_damaged_list_is_told() {
    let folder = TempDir::new().expect("a folder");
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    let wrong = variant(folder.path(), "wrong", &["MAJOR=2"]);
    assert!(config.add(&wrong, program(), &builtin()).is_err());
    assert!(config.add(Path::new("absent.so"), program(), &builtin()).is_err());
    assert!(!config.file().exists());

    for (text, word) in [
        ("{", "is not a plugin list of weir (line 1, column 1); delete it"),
        ("1", "is not a plugin list of weir"),
        (r#"{"format": 1, "plugin": []}"#, "is not a plugin list of weir"),
        (r#"{"format": 9, "plugins": []}"#, "format 9"),
        (r#"{"format": 2, "plugins": []}"#, "was changed or is damaged; delete it"),
        (&" ".repeat((16 << 20) + 1), "has more than 16 MiB; delete it"),
    ] {
        fs::write(config.file(), text).expect("written");
        let error = PluginConfig::in_folder(folder.path()).expect_err("refused").to_string();
        assert!(error.contains("plugins.json") && error.contains(word) && !error.contains('\n'), "{error}");
    }
}

/// A built-in model with the name and key of a variant.
struct BuiltInModel;

impl Model for BuiltInModel {
    fn plan(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Plan) -> Result<(), CallError> {
        Ok(())
    }
}

impl ModelPlugin for BuiltInModel {
    const NAME: &'static str = "put-model";
    const VERSION: &'static str = "1.0.0";
    const OPERATIONS: &'static [&'static str] = &["put", "transfer"];

    fn schema() -> String {
        r#"{"properties": {"put": {}, "transfer": {}}}"#.to_owned()
    }

    fn create() -> Result<Self, CallError> {
        Ok(Self)
    }
}

fn with_model() -> Registry {
    let mut registry = builtin();
    registry.add_builtin_model::<BuiltInModel>().expect("free");
    registry
}

fn models(registry: &Registry) -> Vec<&str> {
    registry.models().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn an_added_model_is_found_by_the_next_run_and_a_removed_one_is_not() {
    let folder = TempDir::new().expect("a folder");
    let home = folder.path().join("config");
    let file = model_variant(folder.path(), "mine", &["NAME=\"mine\"", "OPERATIONS=\"variant transfer\""]);
    let mut config = PluginConfig::in_folder(&home).expect("empty");
    let record = config.add(&file, program(), &with_model()).expect("added").clone();
    assert!(record.arbiters.is_empty());
    assert_eq!((record.models[0].name.as_str(), record.models[0].version.as_str()), ("mine", "1.0.0"));
    assert_eq!(record.models[0].operations, ["variant", "transfer"]);

    let config = PluginConfig::in_folder(&home).expect("read back");
    assert_eq!(config.records(), std::slice::from_ref(&record));
    let mut registry = with_model();
    assert!(load_configured(&config, None, &mut registry).is_empty());
    assert!(load_configured(&config, None, &mut registry).is_empty(), "the same again");
    let entry = registry.model_of("variant").expect("loaded");
    let origin = Origin::Library { path: record.path.clone(), sha256: record.sha256.clone() };
    assert_eq!((entry.name.as_str(), &entry.origin), ("mine", &origin));
    assert!((entry.make)().is_ok());

    // What a run says that names the model, or writes its key, when the file has changed.
    fs::rename(model_variant(folder.path(), "other", &["VERSION=\"2\""]), &file).expect("replaced");
    let refusals = load_configured(&config, None, &mut with_model());
    assert_eq!(refusals[0].names, ["mine", "variant", "transfer"]);
    assert!(matches!(refusals[0].error, PluginError::Changed { .. }));

    let mut config = config;
    assert_eq!(config.remove("mine").expect("removed"), record);
}

/// A list of one arbiter and one model; what is left of its file.
fn saved_list(folder: &Path) -> (PluginConfig, Vec<u8>) {
    let mut config = PluginConfig::in_folder(folder).expect("empty");
    config.add(&variant(folder, "mine", &["NAME=\"mine\""]), program(), &builtin()).expect("added");
    config.add(&model_variant(folder, "model", &[]), program(), &builtin()).expect("added");
    let bytes = fs::read(config.file()).expect("there");
    (config, bytes)
}

#[test]
fn no_bit_of_a_list_can_change() {
    let folder = TempDir::new().expect("a folder");
    let (config, bytes) = saved_list(folder.path());
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(config.file(), &changed).expect("written");
        let read = PluginConfig::in_folder(folder.path());
        let text = String::from_utf8_lossy(&changed);
        assert!(matches!(read, Err(PluginError::Config { .. })), "{text}");
    }
    fs::write(config.file(), &bytes).expect("written");
    assert_eq!(PluginConfig::in_folder(folder.path()).expect("whole").records(), config.records());
}

#[cfg(unix)]
#[test]
fn a_list_that_is_no_regular_file_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let (config, _) = saved_list(folder.path());
    let refused = || {
        let error = PluginConfig::in_folder(folder.path()).expect_err("refused").to_string();
        assert!(error.contains("plugins.json: cannot be read: it is a device, pipe or socket"), "{error}");
        fs::remove_file(config.file()).expect("removed");
    };
    fs::remove_file(config.file()).expect("removed");
    std::os::unix::fs::symlink("/dev/zero", config.file()).expect("linked");
    refused();
    let made = std::process::Command::new("mkfifo").arg(config.file()).status().expect("mkfifo starts");
    assert!(made.success());
    refused();
}

/// As written before there were models, and digests.
#[test]
fn a_list_without_models_is_read_and_kept_as_it_was() {
    let folder = TempDir::new().expect("a folder");
    let config = PluginConfig::in_folder(folder.path()).expect("empty");
    let old = r#"{"format": 1, "plugins": [
        {"path": "/a.so", "sha256": "00", "arbiters": [{"name": "a", "version": "1"}]},
        {"path": "/b.so", "sha256": "11", "arbiters": [{"name": "b", "version": "2"}]}]}"#;
    fs::write(config.file(), old).expect("written");
    let mut config = PluginConfig::in_folder(folder.path()).expect("read");
    config.remove("a").expect("removed");
    assert!(config.records()[0].models.is_empty());
    let text = fs::read_to_string(config.file()).expect("there");
    assert!(text.contains("\"b\"") && !text.contains("models"), "{text}");
    assert!(text.starts_with(r#"{"format":2,"#) && text.contains(r#","digest":""#), "{text}");
}

#[test]
fn a_taken_name_or_operation_of_a_model_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let library = |file: &str, name: &str, operations: &str| {
        let (name, operations) = (format!("NAME=\"{name}\""), format!("OPERATIONS=\"{operations}\""));
        model_variant(folder.path(), file, &[&name, &operations])
    };
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    let mut refused = |file: &Path, words: &[&str]| {
        let error = config.add(file, program(), &with_model()).expect_err("taken").to_string();
        for word in words {
            assert!(error.contains(word) && !error.contains('\n'), "`{word}` is missing in: {error}");
        }
        let loaded = load_file(file, program(), Place::Process, &mut with_model());
        assert_eq!(loaded.expect_err("taken in a run, too").to_string(), error);
    };
    refused(&library("name", "put-model", "other"), &["lists a model `put-model`, which is built into weir: rename"]);
    let words = ["its model `mine` serves `put`, which the built-in model `put-model` serves: choose another key"];
    refused(&library("key", "mine", "other put"), &words);

    let first = library("first", "first", "variant transfer");
    config.add(&first, program(), &with_model()).expect("added");
    let same_name = library("same-name", "first", "other");
    let error = config.add(&same_name, program(), &with_model()).expect_err("taken").to_string();
    assert!(error.contains("first.so too") && error.contains("weir plugin remove first"), "{error}");
    let same_key = library("same-key", "second", "variant");
    let error = config.add(&same_key, program(), &with_model()).expect_err("taken").to_string();
    assert!(error.contains("serves `variant`, which model `first` of ") && error.contains("remove first"), "{error}");
    config.add(&library("free", "second", "other transfer"), program(), &with_model()).expect("`transfer` is free");

    let mut registry = with_model();
    load_file(&same_key, program(), Place::Process, &mut registry).expect("free in this run");
    let error = load_configured(&config, None, &mut registry)[0].error.to_string();
    assert!(error.contains("which model `second` of ") && error.contains("same-key.so serves too"), "{error}");
    assert_eq!(models(&registry), ["put-model", "second"]);
}

/// Arbiters and models have names of their own kinds, so one name may stand for two libraries.
#[test]
fn a_name_of_two_libraries_is_not_removed_by_name() {
    let folder = TempDir::new().expect("a folder");
    let mut config = PluginConfig::in_folder(folder.path()).expect("empty");
    let arbiter = variant(folder.path(), "arbiter", &[]);
    let model = model_variant(folder.path(), "model", &[]);
    config.add(&arbiter, program(), &builtin()).expect("added");
    config.add(&model, program(), &builtin()).expect("added");
    let error = config.remove("variant").expect_err("which one?").to_string();
    assert!(error.contains("arbiter.so") && error.contains("model.so") && error.contains("by its path"), "{error}");
    config.remove(model.to_str().expect("UTF-8")).expect("removed");
    config.remove("variant").expect("removed");
    // By a link to the library, and by its path once the file is gone.
    #[cfg(unix)]
    {
        let link = folder.path().join("link.so");
        std::os::unix::fs::symlink(&arbiter, &link).expect("a link");
        config.add(&arbiter, program(), &builtin()).expect("added");
        config.remove(link.to_str().expect("UTF-8")).expect("removed");
    }
    config.add(&arbiter, program(), &builtin()).expect("added");
    let listed = config.records()[0].path.clone();
    fs::remove_file(&arbiter).expect("there");
    config.remove(listed.to_str().expect("UTF-8")).expect("removed");
}
