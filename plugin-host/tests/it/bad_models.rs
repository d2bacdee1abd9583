//! Every library of models that breaks a rule ends in a refusal of one line that names the file, the rule and the remedy.

use crate::common::{misbehaving, model_variant, program};
use tempfile::TempDir;
use weir_plugin_host::{Library, PluginError, probe};

/// Refused by the probe, and in the same words by the loading process.
fn refused(name: &str, defines: &[&str], words: &[&str]) {
    let folder = TempDir::new().expect("a folder");
    let file = model_variant(folder.path(), name, defines);
    let probed = probe(&file, program()).expect_err("the probe refuses");
    let line = probed.to_string();
    assert!(!line.contains('\n') && line.len() < 600, "one short line: {line}");
    for word in [file.to_str().expect("UTF-8")].iter().chain(words) {
        assert!(line.contains(word), "`{word}` is missing in: {line}");
    }
    assert!(matches!(probed, PluginError::Probed(_)));
    assert_eq!(Library::open(&file).expect_err("opening refuses").to_string(), line);
}

#[test]
fn the_variant_without_a_fault_is_accepted() {
    let folder = TempDir::new().expect("a folder");
    for (operations, expected) in [
        ("OPERATIONS=\"variant\"", vec!["variant"]),
        ("OPERATIONS=\"put, variant,transfer  other\"", vec!["put", "variant", "transfer", "other"]),
    ] {
        let file = model_variant(folder.path(), "right", &[operations]);
        let probed = probe(&file, program()).expect("accepted");
        assert!(probed.arbiters.is_empty());
        assert_eq!((probed.models.len(), probed.models[0].name.as_str()), (1, "variant"));
        assert_eq!(probed.models[0].operations, expected);
        let library = Library::open(&file).expect("accepted");
        assert_eq!((library.models[0].version.as_str(), library.sha256.len()), ("1.0.0", 64));
    }
    for null in ["ESTIMATE=NULL", "ALTERNATIVES=NULL", "TABLE_SIZE=sizeof(weir_model_table)+8"] {
        assert!(probe(&model_variant(folder.path(), "right", &[null]), program()).is_ok(), "{null}");
    }
}

#[test]
fn one_library_may_list_arbiters_and_models() {
    let library = misbehaving();
    assert_eq!((library.arbiters.len(), library.models.len()), (5, 5));
    assert_eq!(library.models[0].operations, ["faithful", "transfer"]);
}

#[test]
fn a_wrong_header_is_refused() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("magic", "MAGIC=UINT64_C(0x1122334455667788)", &["weir_model(0)", "0x1122334455667788", "WEIR_MAGIC"]),
        ("major", "MAJOR=2", &["ABI 2", "loads ABI 1", "rebuild"]),
        ("minor", "MINOR=7", &["ABI 1.7", "newer", "update weir"]),
        ("old", "MINOR=0", &["ABI 1.0", "models begin with 1.1", "WEIR_ABI_MINOR_MODEL"]),
        ("short", "TABLE_SIZE=96", &["96 bytes", "104", "sizeof(weir_model_table)"]),
        ("view", "VIEW_SIZE=88", &["weir_task of 88 bytes", "96", "sizeof(weir_task)"]),
        ("arbiter", "KIND=1", &["kind 1", "lists models (kind 2)"]),
        ("flags", "FLAGS=1", &["unknown flags 0x1", "0x0"]),
        ("unaligned", "TABLES=(const weir_model_table*)((const char*)&table+4)", &["aligned", "weir_model_table"]),
    ];
    for (name, define, words) in cases {
        refused(name, &[define], words);
    }
}

#[test]
fn a_null_function_is_refused_unless_it_may_be_null() {
    for name in ["create", "destroy", "plan"] {
        let define = format!("{}=NULL", name.to_uppercase());
        let optional = "only `estimate` and `alternatives` may be null";
        refused(name, &[&define], &[&format!("null function `{name}`"), optional]);
    }
}

#[test]
fn wrong_texts_are_refused() {
    let cases: [(&str, &str, &[&str]); 14] = [
        ("null-name", "NAME=NULL", &["`name`", "is null"]),
        ("upper-case", "NAME=\"Variant\"", &["`name` that is `Variant`", "lower-case"]),
        ("latin-1", "NAME=\"a\\xe9\"", &["`name`", "UTF-8"]),
        ("no-version", "VERSION=\" \"", &["`version`", "empty"]),
        ("null-operations", "OPERATIONS=NULL", &["`operations`", "is null"]),
        ("no-operations", "OPERATIONS=\" , \"", &["`operations`", "is empty"]),
        ("upper-key", "OPERATIONS=\"variant Put\"", &["`operations` that has `Put`", "lower-case"]),
        ("underscore", "OPERATIONS=\"all_reduce\"", &["`all_reduce`", "joined by `-`"]),
        ("tab", "OPERATIONS=\"put\\tget\"", &["`put\\tget`"]),
        ("twice", "OPERATIONS=\"put put\"", &["`put` twice"]),
        ("reserved", "OPERATIONS=\"put,compute\"", &["`compute`", "scenario format", "another key"]),
        ("null-schema", "SCHEMA=NULL", &["`schema`", "is null"]),
        ("schema-list", "SCHEMA=\"[]\"", &["`schema`", "JSON object"]),
        ("no-property", "OPERATIONS=\"get\"", &["`schema`", "properties.get", "`get:`"]),
    ];
    for (name, define, words) in cases {
        refused(name, &[define], words);
    }
    for key in ["pattern", "trace", "barrier"] {
        refused(key, &[&format!("OPERATIONS=\"{key}\"")], &[&format!("`{key}`"), "scenario format"]);
    }
}

#[test]
fn a_wrong_list_is_refused() {
    refused("nothing", &["TABLES=NULL"], &["weir_model(0)", "lists no model"]);
    refused("endless", &["TABLES=&table"], &["weir_model(1)", "second model `variant`"]);
    refused("clash", &["SECOND=\"other,variant\""], &["weir_model(1)", "`variant`, as model `variant`"]);
    refused("no-arbiters", &["NO_ARBITERS"], &["weir_arbiter(0)", "lists no arbiter"]);
    let folder = TempDir::new().expect("a folder");
    let file = model_variant(folder.path(), "two", &["OPERATIONS=\"put transfer\"", "SECOND=\"other transfer\""]);
    let probed = probe(&file, program()).expect("any number of models may serve `transfer`");
    assert_eq!(probed.models.len(), 2);
}
