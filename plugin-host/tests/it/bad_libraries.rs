//! Every library that breaks a rule ends in a refusal of one line that names the file, the rule and the remedy; the process
//! goes on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{program, variant};
use tempfile::TempDir;
use weir_plugin_api::{Flags, LegendEntry};
use weir_plugin_host::{Library, OPEN_LIMIT, PluginError, probe, probe_within};

fn check_line(error: &PluginError, file: &Path, words: &[&str]) {
    let line = error.to_string();
    assert!(!line.contains('\n'), "one line: {line}");
    assert!(line.len() < 600, "short: {line}");
    for word in [file.to_str().expect("UTF-8")].iter().chain(words) {
        assert!(line.contains(word), "`{word}` is missing in: {line}");
    }
}

/// Refused by the probe, and in the same words by the loading process.
fn refused(file: &Path, words: &[&str]) {
    let probed = probe(file, program()).expect_err("the probe refuses");
    check_line(&probed, file, words);
    let opened = Library::open(file).expect_err("opening refuses");
    assert_eq!(opened.to_string(), probed.to_string());
}

fn refused_variant(name: &str, defines: &[&str], words: &[&str]) {
    let folder = TempDir::new().expect("a folder");
    refused(&variant(folder.path(), name, defines), words);
}

#[test]
fn the_variant_without_a_fault_is_accepted() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "right", &["FLAGS=9"]);
    let probed = probe(&file, program()).expect("accepted").arbiters;
    assert_eq!((probed.len(), probed[0].name.as_str()), (1, "variant"));
    let library = Library::open(&file).expect("accepted");
    assert_eq!((library.arbiters[0].version.as_str(), library.arbiters[0].flags.0), ("1.0.0", 9));
    assert_eq!(library.sha256.len(), 64);
}

#[test]
fn a_wrong_header_is_refused() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("magic", "MAGIC=UINT64_C(0x1122334455667788)", &["weir_arbiter(0)", "0x1122334455667788", "WEIR_MAGIC"]),
        ("major", "MAJOR=2", &["ABI 2", "loads ABI 1", "rebuild"]),
        ("minor", "MINOR=7", &["ABI 1.7", "newer", "update weir"]),
        ("short", "TABLE_SIZE=96", &["96 bytes", "104", "sizeof(weir_arbiter_table)"]),
        ("no-table", "TABLE_SIZE=32", &["32 bytes"]),
        ("view", "VIEW_SIZE=144", &["144 bytes", "152", "sizeof(weir_phase)"]),
        ("model", "KIND=2", &["kind 2", "kind 1"]),
        ("flags", "FLAGS=0x11", &["unknown flags 0x10", "0xf"]),
        ("unaligned", "TABLES=(const weir_arbiter_table*)((const char*)&table+4)", &["aligned"]),
    ];
    for (name, define, words) in cases {
        refused_variant(name, &[define], words);
    }
}

#[test]
fn a_longer_table_of_a_known_minor_version_is_accepted() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "long", &["TABLE_SIZE=sizeof(weir_arbiter_table)+8"]);
    assert!(probe(&file, program()).is_ok());
}

/// Those of before there were models, and those that name the whole header's version.
#[test]
fn an_arbiter_of_any_minor_version_so_far_is_accepted() {
    let folder = TempDir::new().expect("a folder");
    for minor in ["MINOR=0", "MINOR=WEIR_ABI_MINOR"] {
        assert!(probe(&variant(folder.path(), "minor", &[minor]), program()).is_ok(), "{minor}");
    }
}

/// A table of the first size says nothing of itself, whatever minor version it names; flags of old versions stay refused.
#[test]
fn an_arbiter_describes_itself_from_minor_version_3_on() {
    let folder = TempDir::new().expect("a folder");
    let open = |name: &str, defines: &[&str]| {
        let library = Library::open(&variant(folder.path(), name, defines)).expect("accepted");
        library.arbiters.into_iter().next().expect("one")
    };
    let described = open("described", &["CAPACITY=*most = 5.0", "FLAGS=0x11"]);
    assert!(!described.ignores(Flags::READS_WEIGHT) && described.ignores(Flags::READS_PRIORITY));
    assert_eq!(described.legend, [LegendEntry::new("first", "the first", "It is the first.")]);
    let silent = [
        open("old", &[]),
        open("named", &["MINOR=WEIR_ABI_MINOR"]),
        open("short", &["CAPACITY=*most = 5.0", "TABLE_SIZE=sizeof(weir_arbiter_table)"]),
        open("early", &["CAPACITY=*most = 5.0", "MINOR=2"]),
    ];
    for entry in silent {
        assert!(
            !entry.ignores(Flags::READS_WEIGHT) && !entry.ignores(Flags::READS_PRIORITY) && entry.legend.is_empty()
        );
    }
    let for_pcie = open("for-pcie", &["CAPACITY=*most = 5.0", "FLAGS=0x41", "MINOR=WEIR_ABI_MINOR_PCIE_ARBITER"]);
    assert!(for_pcie.flags.contains(Flags::FOR_PCIE));
    refused_variant("short-flag", &["FLAGS=0x11", "MINOR=WEIR_ABI_MINOR"], &["unknown flags 0x10"]);
    let minor = "MINOR=WEIR_ABI_MINOR_CUT_ANYWHERE_ARBITER";
    let cut_anywhere = open("cut-anywhere", &["CAPACITY=*most = 5.0", "FLAGS=0x81", minor]);
    assert!(cut_anywhere.flags.contains(Flags::CUT_ANYWHERE));
    let early = ["CAPACITY=*most = 5.0", "FLAGS=0x81", "MINOR=WEIR_ABI_MINOR_PCIE_ARBITER"];
    refused_variant("early-cut", &early, &["unknown flags 0x80"]);
    refused_variant("early-flag", &["CAPACITY=*most = 5.0", "FLAGS=0x41"], &["flag"]);
    refused_variant("no-meaning", &["CAPACITY=", "MEANING=NULL"], &["`legend`", "is null"]);
}

#[test]
fn a_null_function_is_refused_unless_it_is_explain() {
    for name in ["create", "destroy", "reset", "admit", "allocate"] {
        let define = format!("{}=NULL", name.to_uppercase());
        refused_variant(name, &[&define], &["null function", &format!("`{name}`"), "only `explain`"]);
    }
    let folder = TempDir::new().expect("a folder");
    assert!(probe(&variant(folder.path(), "explain", &["EXPLAIN=NULL"]), program()).is_ok());
}

#[test]
fn wrong_texts_are_refused() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("null-name", "NAME=NULL", &["`name`", "is null"]),
        ("upper-case", "NAME=\"Variant\"", &["`Variant`", "lower-case"]),
        ("empty-name", "NAME=\"\"", &["lower-case"]),
        ("dashes", "NAME=\"a--b\"", &["`a--b`"]),
        ("latin-1", "NAME=\"a\\xe9\"", &["`name`", "UTF-8"]),
        ("no-version", "VERSION=\" \"", &["`version`", "empty"]),
        ("null-schema", "SCHEMA=NULL", &["`params_schema`", "is null"]),
        ("schema-text", "SCHEMA=\"{\"", &["`params_schema`", "not JSON"]),
        ("schema-list", "SCHEMA=\"[]\"", &["`params_schema`", "JSON object"]),
    ];
    for (name, define, words) in cases {
        refused_variant(name, &[define], words);
    }
}

#[test]
fn a_wrong_list_is_refused() {
    refused_variant("nothing", &["TABLES=NULL"], &["lists no arbiter"]);
    refused_variant("twice", &["TABLES=(index<2?&table:NULL)"], &["weir_arbiter(1)", "second arbiter `variant`"]);
    refused_variant(
        "missing",
        &["ENTRY=weir_arbitre"],
        &["no function `weir_arbiter`, `weir_port_arbiter` or `weir_model`", "undefined symbol", "export_arbiters!"],
    );
    refused_variant("undefined", &["UNDEFINED=frobnicate"], &["cannot be loaded", "undefined symbol: frobnicate"]);
}

#[test]
fn what_is_no_library_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let text = folder.path().join("text.so");
    std::fs::write(&text, "a text, and long enough to hold a header of an object file, which it is not: ".repeat(9))
        .expect("written");
    refused(&text, &["cannot be loaded", "invalid ELF header"]);
    let empty = folder.path().join("empty.so");
    std::fs::write(&empty, "").expect("written");
    refused(&empty, &["cannot be loaded", "file too short"]);
    refused(folder.path(), &["is a folder", "name the library's file"]);
    refused(&folder.path().join("absent.so"), &["cannot be read", "No such file"]);
}

/// A library cut in the middle of what its own header promises kills the process that opens it.
#[test]
fn a_truncated_library_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let whole = std::fs::read(variant(folder.path(), "whole", &[])).expect("read");
    let cut = |percent: usize| -> (PathBuf, PluginError) {
        let file = folder.path().join(format!("cut-{percent}.so"));
        std::fs::write(&file, &whole[..whole.len() * percent / 100]).expect("written");
        let error = probe(&file, program()).expect_err("refused");
        (file, error)
    };
    let mut crashed = 0;
    for percent in [2, 10, 25, 40, 50] {
        match cut(percent) {
            (file, error @ PluginError::Crashed { .. }) => {
                crashed += 1;
                check_line(&error, &file, &["crashed while opened (signal SIGBUS): truncated"]);
            }
            (file, error) => check_line(&error, &file, &["cannot be loaded"]),
        }
    }
    assert!(crashed > 0, "none of the cuts crashed the probe, so this test shows nothing");
}

#[test]
fn start_up_code_cannot_harm_the_prober() {
    let folder = TempDir::new().expect("a folder");
    let library = |name: &str, code: &str| variant(folder.path(), name, &[&format!("START_UP={code}")]);
    let abort = library("abort", "abort()");
    check_line(&probe(&abort, program()).expect_err("refused"), &abort, &["crashed while opened (signal SIGABRT)"]);
    let exit = library("exit", "_exit(0)");
    check_line(&probe(&exit, program()).expect_err("refused"), &exit, &["no answer"]);
    let hang = library("hang", "for(;;)usleep(1000)");
    let error = probe_within(&hang, program(), Duration::from_millis(300)).expect_err("refused");
    check_line(&error, &hang, &["still being opened after 0.3 s", "does not return"]);
    let chat = library("chat", "puts(\"hello\")");
    assert!(probe(&chat, program()).is_ok(), "what a library prints is no answer");
}

#[test]
fn a_program_that_is_no_prober_is_named() {
    let folder = TempDir::new().expect("a folder");
    let file = variant(folder.path(), "right", &[]);
    let absent = folder.path().join("no-such-program");
    check_line(&probe(&file, &absent).expect_err("no program"), &file, &["could not be probed", "no-such-program"]);
    let silent = probe_within(&file, Path::new("true"), OPEN_LIMIT).expect_err("no answer");
    check_line(&silent, &file, &["it gave no answer"]);
}
