//! Accepted results of the scenario library. A scenario has a snapshot for each arbiter that it names, exact picoseconds
//! beside rounded units, and one table of what all built-in arbiters make of it: makespan, events and the fingerprint of
//! all of these, so that whatever moves under any arbiter is noticed. Accept a change with
//! `INSTA_UPDATE=always cargo test -p weir-cli --test it snapshots`, and say why in the commit.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::common::{json_lines, library, run, scenarios};
use serde_json::Value;
use weir_plugin_api::SimDuration;
use weir_report::duration;

/// Transfers listed in full; of more, only the first and the last.
const ALL: usize = 64;
/// How many of the first, and of the last.
const SOME: usize = 8;

#[test]
fn the_library_gives_the_accepted_results() {
    let builtin = builtin();
    let (mut names, mut wrong) = (BTreeSet::new(), Vec::new());
    // Each difference is printed when it is found; its panic, caught so that all are found, would only repeat it.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for file in scenarios() {
        let own = own(&file);
        let mut snapshots: Vec<(String, String)> = Vec::new();
        for result in &own {
            let taken = |name: &String| snapshots.iter().any(|(other, _)| other == name);
            snapshots.push((name(&file, result, taken), text(result)));
        }
        snapshots.push((base(&file), table(&file, &own, &builtin)));
        for (name, text) in snapshots {
            let check = || insta::assert_snapshot!(name.as_str(), text);
            let checked = catch_unwind(AssertUnwindSafe(|| settings().bind(check)));
            if checked.is_err() {
                wrong.push(name.clone());
            }
            names.insert(name);
        }
    }
    std::panic::set_hook(hook);
    assert!(wrong.is_empty(), "{} snapshots differ: {wrong:#?}", wrong.len());
    let stale: Vec<_> = accepted().into_iter().filter(|name| !names.contains(name)).collect();
    assert!(stale.is_empty(), "no scenario and arbiter give these any more, remove them: {stale:?}");
}

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(snapshots());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots")
}

fn accepted() -> Vec<String> {
    let files = std::fs::read_dir(snapshots()).expect("the folder of snapshots is there");
    let names = files.map(|file| file.expect("an entry").file_name().into_string().expect("a UTF-8 name"));
    names.filter_map(|name| name.strip_suffix(".snap").map(str::to_owned)).collect()
}

fn builtin() -> Vec<String> {
    let list = &json_lines(&run(&["plugin", "list", "--json"]).stdout)[0];
    let arbiters = list["arbiters"].as_array().expect("a list");
    arbiters.iter().map(|arbiter| arbiter["name"].as_str().expect("a name").to_owned()).collect()
}

/// The results under the scenario's own arbiters.
fn own(file: &Path) -> Vec<Value> {
    let path = file.to_str().expect("a UTF-8 path");
    let own = run(&["run", path, "--json"]);
    assert_eq!(own.code, 0, "{path}: {}", own.stderr);
    json_lines(&own.stdout)
}

/// A line for each result, and for every other built-in arbiter with its default parameters.
fn table(file: &Path, own: &[Value], builtin: &[String]) -> String {
    let path = file.to_str().expect("a UTF-8 path");
    let named = |arbiter: &&String| own.iter().any(|result| result["arbiter"]["name"] == arbiter.as_str());
    let mut lines: Vec<String> = own.iter().map(line).collect();
    for arbiter in builtin.iter().filter(|arbiter| !named(arbiter)) {
        let ended = run(&["run", path, "--json", "--fidelity", "fluid", "--arbiter", arbiter]);
        if ended.code == 0 {
            lines.extend(json_lines(&ended.stdout).iter().map(line));
        } else {
            assert!(ended.stderr.contains("refuses"), "{path} under {arbiter}: {}", ended.stderr);
            lines.push(format!("{arbiter}: refuses"));
        }
    }
    lines.sort();
    lines.join("\n")
}

fn line(result: &Value) -> String {
    let (arbiter, params) = (text_of(&result["arbiter"]["name"]), &result["arbiter"]["params"]);
    let (makespan, events) = (exact(&result["makespan_ps"]), &result["events"]);
    format!("{arbiter} {params}: {makespan}, {events} events, fingerprint {}", text_of(&result["fingerprint"]))
}

/// The path below the library.
fn base(file: &Path) -> String {
    let below = file.strip_prefix(library()).expect("is in the library").with_extension("");
    let words: Vec<_> = below.iter().map(|word| word.to_str().expect("a UTF-8 name")).collect();
    words.join("__")
}

/// The path and the arbiter; a second run under one arbiter, with other parameters, has a number.
fn name(file: &Path, result: &Value, taken: impl Fn(&String) -> bool) -> String {
    // A policy per link kind is named as it is written: here in the characters that every file system takes.
    let arbiter = text_of(&result["arbiter"]["name"]);
    let words: Vec<&str> =
        arbiter.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|w| !w.is_empty()).collect();
    let base = format!("{}__{}", base(file), words.join("_"));
    let numbered = (2..).map(|n| format!("{base}-{n}"));
    std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).expect("numbers do not end")
}

fn text(result: &Value) -> String {
    let transfers = result["transfers"].as_array().expect("a list");
    let mut out = format!("{}\n", result["scenario"].as_str().expect("a name"));
    let _ = writeln!(out, "arbiter {} {}", result["arbiter"]["name"], result["arbiter"]["params"]);
    let _ = writeln!(out, "makespan {}", exact(&result["makespan_ps"]));
    let _ = writeln!(out, "events {}, fingerprint {}", result["events"], result["fingerprint"]);
    let bytes: u64 = transfers.iter().filter_map(|t| t["bytes"].as_u64()).sum();
    let _ = writeln!(
        out,
        "transfers {}, {bytes} B, links used {}\n",
        transfers.len(),
        result["links"].as_array().map_or(0, Vec::len)
    );
    some(&mut out, transfers, row);
    some(&mut out, result["operations"].as_array().expect("a list"), operation);
    if !result["percentiles"].is_null() {
        let _ = writeln!(out, "\npercentiles {}", result["percentiles"]);
    }
    out
}

/// All items, or of many the first and the last: the fingerprint tells about the others.
fn some(out: &mut String, items: &[Value], write: impl Fn(&mut String, &Value)) {
    for (i, item) in items.iter().enumerate() {
        if items.len() <= ALL || i < SOME || i >= items.len() - SOME {
            write(out, item);
        } else if i == SOME {
            out.push_str("…\n");
        }
    }
}

fn operation(out: &mut String, operation: &Value) {
    let (kind, id) = (text_of(&operation["kind"]), text_of(&operation["id"]));
    let _ = writeln!(out, "{kind} {id}: {}", exact(&operation["end_ps"]));
    planned(out, operation);
}

fn row(out: &mut String, t: &Value) {
    let start = t["start_s"].as_f64().map(|s| (s * 1e12).round() as u64);
    let place = match (&t["cause_detail"]["engine"], &t["bottleneck"]) {
        (Value::String(engine), _) => engine.clone(),
        (_, link) => format!("{} → {}", text_of(&link["from"]), text_of(&link["to"])),
    };
    let _ = writeln!(
        out,
        "{}: {} → {}, {} B, {} to {}; {place}: {}",
        text_of(&t["id"]),
        text_of(&t["from"]),
        text_of(&t["to"]),
        t["bytes"],
        exact(&start.into()),
        exact(&t["end_ps"]),
        text_of(&t["cause"])
    );
}

/// Of an operation that a model planned: its time, its closed forms, how far it is from the last one and why, and what was
/// chosen.
fn planned(out: &mut String, operation: &Value) {
    let details = &operation["details"];
    let Some(simulated) = details["simulated_s"].as_f64() else { return };
    let _ = writeln!(out, "  model {}, simulated {simulated} s", text_of(&details["model"]["name"]));
    for estimate in operation["estimates"].as_array().expect("a list") {
        let _ = writeln!(out, "  {} {} s", text_of(&estimate["formula"]), estimate["seconds"]);
    }
    let difference = &details["difference"];
    if let Some(relative) = difference["relative"].as_f64() {
        // Adding 0 makes a 0 of -0.
        let percent = (relative * 1e8).round() / 1e6 + 0.0;
        let _ = writeln!(out, "  difference {percent:.6} %");
    }
    for reason in difference["because"].as_array().map_or(&[][..], Vec::as_slice) {
        let _ = writeln!(out, "    {}", text_of(reason));
    }
    if let Some(alternatives) = details["choice"]["alternatives"].as_array() {
        let _ = writeln!(out, "  chosen {}", text_of(&details["choice"]["chosen"]));
        for way in alternatives {
            let _ = writeln!(out, "    {} {} s", text_of(&way["label"]), way["seconds"]);
        }
    }
}

/// Rounded units with exact picoseconds.
fn exact(ps: &Value) -> String {
    let ps = ps.as_u64().expect("every transfer of the library ends");
    format!("{} ({ps} ps)", duration(SimDuration(ps)))
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("a text")
}
