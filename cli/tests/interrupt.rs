//! Ctrl-C: the command ends within 100 ms, what was computed is written, the exit code is 130. A program of its own, so that
//! no other tests are beside these.
#![cfg(unix)]

mod common;

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::search::{Folder, many_orders, result};
use common::{LIMIT, alone, ended, interrupt, json_lines, shortest, started, weir};

/// A run that takes far longer than the test: many transfers at once through one root.
const LONG: &str = "\
weir: 1
name: long
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    core:
      kind: switch
      children:
        \"leaf[0-31]\": { kind: switch, link: x, children: { \"h[0-31]\": { kind: host, link: x } } }
arbiter: max-min
ranks: \"leaf[0-31]/h[0-31]\"
workload:
  - pattern: { kind: random, count: 20000, seed: 1, size: [1MB, 100MB], within: 1ms }
";

#[test]
fn ctrl_c_writes_what_was_computed() {
    let took = shortest(|| {
        let (took, text) = interrupt_a_run(LONG, &["--json"]);
        let result: serde_json::Value = serde_json::from_str(&text).expect("one whole result");
        assert_eq!(result["complete"], false);
        let ended = result["transfers"].as_array().expect("a list").iter().filter(|t| !t["end_ps"].is_null()).count();
        assert!(ended < 20_000, "not all have ended");
        took
    });
    assert!(took < LIMIT, "took {took:?}");
}

#[test]
fn ctrl_c_sums_up_a_large_load_in_time() {
    let large = LONG.replace("count: 20000", "count: 300000").replace("within: 1ms", "within: 30s");
    let took = shortest(|| {
        let (took, text) = interrupt_a_run(&large, &[]);
        // On a busy machine the run may not have begun yet: then there is nothing to sum up.
        if text.is_empty() {
            return Duration::MAX;
        }
        assert!(text.contains("(interrupted)") && text.contains("of 300000 transfers have ended"), "{text}");
        took
    });
    assert!(took < LIMIT, "took {took:?}");
}

#[test]
fn ctrl_c_ends_the_runs_that_measure_a_spread() {
    let short = LONG.replace("count: 20000", "count: 300");
    let took = shortest(|| {
        let (took, text) = interrupt_a_run(&short, &["--json", "--jitter", "1us", "--seeds", "1000"]);
        let result: serde_json::Value = serde_json::from_str(&text).expect("one whole result");
        assert!(result.get("spread").is_none(), "{}", result["spread"]);
        took
    });
    assert!(took < LIMIT, "took {took:?}");
}

/// Whenever it comes: while rates are asked for, while orders are visited, while they are saved.
#[test]
fn ctrl_c_among_orders_gives_the_best_so_far_in_time() {
    let folder = Folder::new();
    let (file, kept) = (folder.write("many.yaml", &many_orders()), folder.path("kept"));
    let known = std::cell::Cell::new(None);
    for wait in [20, 400, 1200] {
        let took = shortest(|| {
            let search = ["optimize", &file, "--json", "--checkpoint", &kept];
            let child = weir().args(search).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let child = child.expect("the command starts");
            while !std::fs::exists(&kept).expect("can be asked") {
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(Duration::from_millis(wait));
            let pressed = Instant::now();
            interrupt(&child);
            let ended = ended(child.wait_with_output().expect("it ends"));
            let took = pressed.elapsed();
            assert_eq!(ended.code, 130, "{}", ended.stderr);
            // On a machine that is too busy the program ends itself.
            let Some(found) = json_lines(&ended.stdout).pop() else { return Duration::MAX };
            assert_eq!((&found["complete"], &found["proved_optimal"]), (&false.into(), &false.into()));
            known.set(found["evaluated"].as_u64());
            assert!(found["best_ps"].as_u64() <= found["baseline_ps"].as_u64());
            took
        });
        assert!(took < LIMIT, "took {took:?}");
    }
    // All that was finished is there, and goes on.
    let found = result(&[&file, "--checkpoint", &kept, "--budget", "3s"]);
    assert!(found["evaluated"].as_u64() >= known.get() && known.get() > Some(1), "{found}");
}

/// How long Ctrl-C took, and what was written.
fn interrupt_a_run(scenario: &str, options: &[&str]) -> (Duration, String) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let file = folder.path().join("long.yaml");
    std::fs::write(&file, scenario).expect("the file is written");
    let (mut child, _log) = started(weir().args(["run", file.to_str().expect("a UTF-8 path")]).args(options));
    let mut stdout = child.stdout.take().expect("is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().expect("can be asked").is_none(), "the run is too short for this test");
    let pressed = Instant::now();
    interrupt(&child);
    let status = child.wait().expect("the command ends");
    let took = pressed.elapsed();
    let text = reader.join().expect("the reader ends").expect("is UTF-8");
    assert_eq!(status.code(), Some(130));
    (took, text)
}

#[test]
fn ctrl_c_before_the_run_ends_at_once() {
    let took = shortest(interrupt_reading);
    assert!(took < LIMIT, "took {took:?}");
}

fn interrupt_reading() -> Duration {
    // Standard input stays open, so the scenario is never complete.
    let mut child = weir()
        .args(["run", "-v", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    // Kept open: waiting for a child closes what it still has of it.
    let _input = child.stdin.take().expect("is piped");
    std::thread::sleep(Duration::from_millis(300));
    let pressed = Instant::now();
    interrupt(&child);
    let status = child.wait().expect("the command ends");
    let took = pressed.elapsed();
    assert_eq!(status.code(), Some(130));
    let mut text = String::new();
    child.stdout.take().expect("is piped").read_to_string(&mut text).expect("is UTF-8");
    assert_eq!(text, "");
    took
}

/// Of a large run everything that was asked for is there within two seconds, or is said to be left out.
#[test]
fn ctrl_c_leaves_out_what_would_take_long() {
    let _alone = alone();
    let large = LONG.replace("count: 20000", "count: 100000").replace("within: 1ms", "within: 30s");
    for delay in [1000, 2500, 4000].map(Duration::from_millis) {
        // A fast machine may have ended before, a busy one may be late.
        let in_time = |took: Option<Duration>| took.is_none_or(|took| took < Duration::from_secs(2));
        for full in [false, true] {
            let is_in_time = (0..3).any(|_| in_time(interrupt_a_run_with_files(&large, delay, full)));
            assert!(is_in_time, "interrupted after {delay:?}, full: {full}");
        }
    }
}

/// How long Ctrl-C took for a run with a timeline and tables; nothing where the run ended before.
fn interrupt_a_run_with_files(scenario: &str, delay: Duration, full: bool) -> Option<Duration> {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("large.yaml"), scenario).expect("the file is written");
    let arguments =
        ["run", "large.yaml", "--json", "-o", "out.json", "--timeline", "time.json", "--export-csv", "tables"];
    let full = full.then_some("--full");
    let (mut child, mut log) = started(weir().args(arguments).args(full).current_dir(folder.path()));
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).map(|_| text)
    });
    std::thread::sleep(delay);
    if child.try_wait().expect("can be asked").is_some() {
        return None;
    }
    let pressed = Instant::now();
    interrupt(&child);
    let status = child.wait().expect("the command ends");
    let took = pressed.elapsed();
    let said = reader.join().expect("the reader ends").expect("is UTF-8");
    if status.code() == Some(0) {
        return None;
    }
    assert_eq!(status.code(), Some(130), "{said}");
    for (file, name) in [
        ("out.json", "out.json"),
        ("time.json", "time.json"),
        ("tables/transfers.csv", "transfers"),
        ("tables/links.csv", "links"),
        ("tables/phases.csv", "phases"),
    ] {
        let left_out = said.lines().any(|line| line.contains(name) && line.contains("is left out"));
        assert!(folder.path().join(file).exists() != left_out, "{file}: {said}");
    }
    let text = std::fs::read(folder.path().join("out.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("one whole result");
    let left_out = said.contains("the detail of --full is left out");
    assert_eq!(result.get("phases").is_some(), full.is_some() && !left_out, "{said}");
    Some(took)
}

/// Packets under a policy that never comes into a period: the run takes far longer than the test.
#[test]
fn ctrl_c_stops_packets_with_what_has_come() {
    let _alone = alone();
    let packets = "\
weir: 1
name: packets
fidelity: { packet: { port_arbiter: { name: random, seed: 1 } } }
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { core: { kind: switch, children: { \"h[0-3]\": { kind: host, link: x } } } }
workload:
  - transfer: { id: a, from: h0, to: h2, size: 100GB }
  - transfer: { id: b, from: h1, to: h2, size: 100GB }
";
    let (_, text) = interrupt_a_run(packets, &["--json"]);
    let result: serde_json::Value = serde_json::from_str(&text).expect("one whole result");
    assert_eq!(result["complete"], false);
    let stopped = result["stopped_s"].as_f64().expect("a number");
    for transfer in result["transfers"].as_array().expect("a list") {
        let sent = transfer["sent_bytes"].as_u64().expect("it goes on") as f64;
        // The two share 1 GB/s; a buffer of 16 KiB may be full of the packets of one.
        assert!(sent > 0.0 && sent <= 1e9 * stopped + 16384.0, "{transfer} until {stopped} s");
    }
    for link in result["links"].as_array().expect("a list") {
        assert!(link["busy_s"].as_f64() <= Some(stopped), "{link} until {stopped} s");
    }
}

/// The child in which the arbiter hangs has the pipes of the command: whoever reads them waits for both.
#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_the_child_of_an_arbiter_that_hangs() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = folder.path().join("port.so");
    let compiled = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-D_DEFAULT_SOURCE", "-DIN_CHOOSE=forever()", "-I"])
        .arg(root.join("plugin-api/include"))
        .arg(root.join("plugin-host/tests/plugins/port-variant.c"))
        .arg("-o")
        .arg(&library)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()), "a C compiler builds the plugin");
    let scenario = library.with_file_name("s.yaml");
    std::fs::write(&scenario, LONG.replace("arbiter: max-min", "fidelity: { packet: { port_arbiter: variant } }"))
        .expect("the file is written");
    let took = shortest(|| {
        let mut command = weir();
        command.arg("run").arg(&scenario).arg("--plugin").arg(&library).arg("--isolate");
        let (mut child, mut log) = started(&mut command);
        std::thread::sleep(Duration::from_millis(300));
        let pressed = Instant::now();
        interrupt(&child);
        let mut said = String::new();
        log.read_to_string(&mut said).expect("is UTF-8");
        let took = pressed.elapsed();
        assert_eq!(child.wait().expect("the command ends").code(), Some(130), "{said}");
        assert!(said.contains("plugin `variant` did not return in time"), "{said}");
        took
    });
    assert!(took < LIMIT, "took {took:?}");
}
