//! `weir test`: scenarios against the results that were accepted.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::commands::{folder, write};
use crate::common::{Ended, SHARED, run};

/// A folder with scenarios `a.yaml` and `sub/b.yml`, and their accepted results.
fn accepted() -> (TempDir, String) {
    let folder = folder();
    write(&folder, "a.yaml", SHARED);
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    write(&folder, "sub/b.yml", SHARED);
    let path = folder.path().to_str().expect("a UTF-8 path").to_owned();
    let ended = test(&path, &["--accept"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    (folder, path)
}

fn test(path: &str, options: &[&str]) -> Ended {
    run(&[&["test", path][..], options].concat())
}

fn edit(folder: &TempDir, name: &str, was: &str, now: &str) {
    let path = folder.path().join(name);
    let text = fs::read_to_string(&path).expect("is there");
    assert!(text.contains(was), "{was} in {text}");
    fs::write(path, text.replacen(was, now, 1)).expect("is written");
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("is there")
}

/// Whatever the terminal: files have all columns and no colours.
#[test]
fn what_is_accepted_does_not_follow_the_terminal() {
    let (folder, path) = accepted();
    let before = read(&folder, "snapshots/a.yaml.txt");
    fs::remove_dir_all(folder.path().join("snapshots")).expect("is there");
    assert_eq!(test(&path, &["--accept", "--color", "always", "--width", "40"]).code, 0);
    assert_eq!(read(&folder, "snapshots/a.yaml.txt"), before);
}

/// A link to a file is followed, and a file tested once. One to a folder is named; one that leads nowhere is no success.
#[cfg(unix)]
#[test]
fn links_are_followed() {
    use std::os::unix::fs::symlink;
    let (folder, path) = accepted();
    let (suite, outside) = (folder.path(), crate::commands::folder());
    write(&outside, "far.yaml", SHARED);
    symlink(outside.path(), suite.join("linked")).expect("a link");
    symlink("..", suite.join("sub/back")).expect("a link");
    symlink("../a.yaml", suite.join("sub/again.yaml")).expect("a link");
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    for link in ["linked", "sub/back"] {
        let line = format!("skipped  {path}/{link}: a link to a folder");
        assert!(ended.stdout.contains(&line), "{}", ended.stdout);
    }
    assert!(ended.stdout.contains("2 scenarios: 2 ok; 2 files skipped"), "{}", ended.stdout);
    // Nothing is written where links lead, unless they are named.
    assert_eq!(test(&path, &["--accept"]).code, 0);
    assert!(!outside.path().join("snapshots").exists());
    let named = format!("{path}/linked");
    assert_eq!(test(&named, &[]).code, 1);
    assert_eq!((test(&named, &["--accept"]).code, test(&named, &[]).code), (0, 0));
    symlink("nowhere.yaml", suite.join("lost.yaml")).expect("a link");
    let ended = test(&path, &[]);
    assert_ne!(ended.code, 0, "{}", ended.stdout);
    assert!((ended.stdout + &ended.stderr).contains("lost.yaml"));
}

#[test]
fn accepted_results_pass() {
    let (folder, path) = accepted();
    let ended = test(&path, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let expected = format!("ok       {path}/a.yaml\nok       {path}/sub/b.yml\n\n2 scenarios: 2 ok\n");
    assert_eq!(ended.stdout, expected);
    let snapshot = read(&folder, "snapshots/a.yaml.txt");
    assert!(snapshot.contains("\narbiter max-min\n"), "{snapshot}");
    assert!(snapshot.contains("\nmakespan 30000000000 (30.000 ms)\n"), "{snapshot}");
    assert!(snapshot.contains("\np              0   20000000000   s → h2, link shared with q\n"), "{snapshot}");
    assert!(Path::new(&path).join("sub/snapshots/b.yml.txt").is_file());
    // The same again: nothing is written.
    let ended = test(&path, &["--accept"]);
    assert_eq!(ended.stdout, expected);
    let file = format!("{path}/sub/b.yml");
    assert_eq!(
        test(&file, &[&file, &path]).stdout,
        format!("ok       {file}\nok       {path}/a.yaml\n\n2 scenarios: 2 ok\n")
    );
}

#[test]
fn slower_and_faster_differ() {
    let (folder, path) = accepted();
    for (size, makespan, q) in [
        (
            "21MB",
            "makespan 30.000 ms → 31.000 ms (+1.000 ms, +3.333 %)",
            "transfer q: end 30.000 ms → 31.000 ms (+1.000 ms, +3.333 %)",
        ),
        (
            "19MB",
            "makespan 30.000 ms → 29.000 ms (-1.000 ms, -3.333 %)",
            "transfer q: end 30.000 ms → 29.000 ms (-1.000 ms, -3.333 %)",
        ),
    ] {
        write(&folder, "a.yaml", &SHARED.replace("20MB", size));
        let ended = test(&path, &[]);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
        let expected = format!(
            "FAILED   {path}/a.yaml: differs from its snapshot\n  under max-min:\n    {makespan}\n    {q}\n\
             ok       {path}/sub/b.yml\n\n2 scenarios: 1 ok, 1 failed\n"
        );
        assert_eq!(ended.stdout, expected);
        assert_eq!(test(&path, &["--tolerance", "3.2%"]).code, 1);
        let lenient = test(&path, &["--tolerance", "3.4%"]);
        assert_eq!(lenient.code, 0, "{}", lenient.stdout);
        assert!(lenient.stdout.contains("a.yaml\n  note: times moved within the tolerance\n"), "{}", lenient.stdout);
    }
    let ended = test(&path, &["--accept"]);
    assert!(ended.stdout.contains("accepted ") && ended.stdout.contains("30.000 ms → 29.000 ms"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("2 scenarios: 1 ok, 1 accepted\n"), "{}", ended.stdout);
    assert_eq!(test(&path, &[]).code, 0);
}

#[test]
fn another_reason_is_a_difference_whatever_the_tolerance() {
    let (folder, path) = accepted();
    edit(&folder, "snapshots/a.yaml.txt", "s → h2, link shared with q", "h0 → s, its own limit");
    let ended = test(&path, &["--tolerance", "50%"]);
    assert_eq!(ended.code, 1);
    let lines =
        "    transfer p: another reason\n      was: h0 → s, its own limit\n      now: s → h2, link shared with q\n";
    assert!(ended.stdout.contains(lines), "{}", ended.stdout);
}

#[test]
fn a_changed_input_with_the_same_results_passes_with_a_note() {
    let (folder, path) = accepted();
    edit(&folder, "a.yaml", "name: shared", "name: the same");
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains("  note: the input changed, the results did not\n"), "{}", ended.stdout);
    let before = read(&folder, "snapshots/a.yaml.txt");
    assert_eq!(test(&path, &["--accept"]).code, 0);
    let after = read(&folder, "snapshots/a.yaml.txt");
    assert_eq!(before.lines().zip(after.lines()).filter(|(a, b)| a != b).count(), 1, "the input alone");
    assert!(!test(&path, &[]).stdout.contains("note"));
}

#[test]
fn a_missing_snapshot_fails_and_a_filter_chooses() {
    let (folder, path) = accepted();
    fs::remove_file(folder.path().join("snapshots/a.yaml.txt")).expect("is there");
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("a.yaml: no snapshot yet; run with --accept\n"), "{}", ended.stdout);
    assert_eq!(test(&path, &["--filter", "sub/"]).code, 0);
    let none = test(&path, &["--filter", "nothing"]);
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("no .yaml or .yml file here has `nothing` in its path"), "{}", none.stderr);
}

#[test]
fn files_of_the_same_stem_have_snapshots_of_their_own() {
    let folder = folder();
    write(&folder, "a.yaml", SHARED);
    write(&folder, "a.yml", &SHARED.replace("20MB", "40MB"));
    let path = folder.path().to_str().expect("a UTF-8 path");
    assert_eq!(test(path, &["--accept"]).code, 0);
    assert_eq!(test(path, &[]).code, 0);
    assert_ne!(read(&folder, "snapshots/a.yaml.txt"), read(&folder, "snapshots/a.yml.txt"));
}

#[test]
fn leftovers_are_named_and_removed_only_where_weir_wrote_them() {
    let (folder, path) = accepted();
    fs::rename(folder.path().join("a.yaml"), folder.path().join("c.yaml")).expect("is there");
    write(&folder, "snapshots/notes.txt", "my own\n");
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 1, "c.yaml has none");
    let line = format!("leftover {path}/snapshots/a.yaml.txt: its scenario is gone; --accept removes it\n");
    assert!(ended.stdout.contains(&line), "{}", ended.stdout);
    assert!(!ended.stdout.contains("notes.txt"), "{}", ended.stdout);
    for chosen in [&["--filter", "c.yaml"][..], &["--filter", "c.yaml", "--accept"]] {
        assert!(!test(&path, chosen).stdout.contains("a.yaml.txt"), "others are not looked for");
    }
    let ended = test(&format!("{path}/c.yaml"), &["--accept"]);
    assert!(!ended.stdout.contains("a.yaml.txt"), "{}", ended.stdout);
    let ended = test(&path, &["--accept"]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains(&format!("removed  {path}/snapshots/a.yaml.txt: ")), "{}", ended.stdout);
    let names: Vec<_> =
        fs::read_dir(folder.path().join("snapshots")).expect("lists").map(|f| f.expect("a file").file_name()).collect();
    assert_eq!(names.len(), 2, "c.yaml.txt and notes.txt: {names:?}");
}

#[test]
fn a_broken_snapshot_is_named_with_its_line() {
    let (folder, path) = accepted();
    edit(&folder, "snapshots/a.yaml.txt", "20000000000", "2000000000O");
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 1);
    for text in ["a.yaml: its snapshot cannot be read\n", "`2000000000O` is not a time", "snapshots/a.yaml.txt:10\n"] {
        assert!(ended.stdout.contains(text), "{text} in {}", ended.stdout);
    }
    let ended = test(&path, &["--accept"]);
    assert!(ended.stdout.contains("a.yaml: in the place of a broken snapshot\n"), "{}", ended.stdout);
    write(&folder, "snapshots/a.yaml.txt", "my own notes\n");
    let ended = test(&path, &["--accept"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("help: move it away"), "{}", ended.stdout);
    assert_eq!(read(&folder, "snapshots/a.yaml.txt"), "my own notes\n");
}

#[test]
fn what_does_not_run_fails_and_what_is_no_scenario_is_skipped() {
    let (folder, path) = accepted();
    write(&folder, "broken.yaml", &SHARED.replace("to: h2, size: 10MB", "to: h9, size: 10MB"));
    write(&folder, "no.yaml", "weir: 1\nname: x\ntopology: { tree: {} }\nwrkload: []\n");
    write(&folder, "topology.yaml", "link_types: { x: { bandwidth: 1GB/s } }\ntree: { s: { kind: switch } }\n");
    write(&folder, "ci.yaml", "jobs: [build]\n");
    let ended = test(&path, &["--accept"]);
    assert_eq!(ended.code, 1);
    for text in [
        "broken.yaml: there is no result\n  error: ",
        "broken.yaml:10:38\n",
        "`wrkload`",
        "skipped  ",
        "topology.yaml: a topology without a workload\n",
        "ci.yaml: no scenario: it has no key `weir`, `topology` or `workload`\n",
        "4 scenarios: 2 ok, 2 failed; 2 files skipped\n",
    ] {
        assert!(ended.stdout.contains(text), "{text} in {}", ended.stdout);
    }
    assert!(!folder.path().join("snapshots/broken.yaml.txt").exists());
    let ended = test(&format!("{path}/topology.yaml"), &[]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("nothing was tested"), "{}", ended.stderr);
    assert_eq!(test("-", &[]).code, 2);
    assert_eq!(test(&format!("{path}/nowhere"), &[]).code, 2);
    assert_eq!(test(&path, &["--tolerance", "0.1"]).code, 2);
}

#[test]
fn further_arbiters_have_results_of_their_own() {
    let (folder, path) = accepted();
    let further = ["--arbiter", "fcfs", "--arbiter", "max-min"];
    let ended = test(&path, &further);
    assert_eq!(ended.code, 1);
    let line = "  under fcfs:\n    no accepted result yet; accept it with --accept\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
    assert_eq!(test(&path, &[&further[..], &["--accept"]].concat()).code, 0);
    let snapshot = read(&folder, "snapshots/a.yaml.txt");
    assert_eq!(snapshot.matches("\narbiter ").count(), 2, "{snapshot}");
    assert_eq!(test(&path, &further).code, 0);
    let ended = test(&path, &[]);
    assert_eq!(ended.code, 0);
    assert!(
        ended.stdout.contains("  note: nothing ran under fcfs, which has an accepted result\n"),
        "{}",
        ended.stdout
    );
    let ended = test(&path, &["--accept"]);
    let note = "  note: the accepted result under fcfs is removed: nothing ran under it\n";
    assert!(ended.stdout.contains(note), "{}", ended.stdout);
    assert_eq!(read(&folder, "snapshots/a.yaml.txt").matches("\narbiter ").count(), 1);
}

#[test]
fn junit_says_what_failed() {
    let (folder, path) = accepted();
    write(&folder, "a.yaml", &SHARED.replace("20MB", "21MB"));
    write(&folder, "t.yaml", "tree: { s: { kind: switch } }\n");
    let target = folder.path().join("out.xml");
    let target = target.to_str().expect("a UTF-8 path");
    assert_eq!(test(&path, &["--junit", target]).code, 1);
    let text = fs::read_to_string(target).expect("is there");
    for part in [
        r#"<testsuite name="weir test" tests="3" failures="1" errors="0" skipped="1">"#,
        r#"name="a.yaml"><failure message="differs from its snapshot">under max-min:"#,
        "transfer q: end 30.000 ms → 31.000 ms (+1.000 ms, +3.333 %)\n</failure></testcase>",
        r#"name="t.yaml"><skipped message="a topology without a workload"/></testcase>"#,
        r#"name="b.yml"/>"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let input = format!("{path}/a.yaml");
    let ended = test(&path, &["--junit", &input]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("would overwrite the input"), "{}", ended.stderr);
    assert_eq!(test(&path, &["--junit", "/nowhere/out.xml"]).code, 2);
}

#[test]
fn threads_change_nothing() {
    let (folder, path) = accepted();
    for i in 0..20 {
        write(&folder, &format!("s{i}.yaml"), &SHARED.replace("20MB", &format!("{}MB", 20 + i)));
    }
    let ended = |threads| {
        let ended = test(&path, &["--threads", threads, "--filter", "s1"]);
        (ended.code, ended.stdout, ended.stderr)
    };
    let one = ended("1");
    assert_eq!(one.0, 1);
    assert_eq!((&one, &one), (&ended("2"), &ended("7")));
}

/// The library itself: `weir test scenarios --accept` accepts other results.
#[test]
fn the_library_gives_the_results_accepted_beside_it() {
    let library = crate::common::library();
    let ended = test(library.to_str().expect("a UTF-8 path"), &[]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(!ended.stdout.contains("leftover"), "{}", ended.stdout);
}

/// A large run: what the snapshot does not list is noticed by its digests.
#[test]
fn of_many_transfers_the_slowest_are_kept() {
    let folder = folder();
    let many: String =
        (0..1200).map(|i| format!("  - transfer: {{ id: t{i}, from: h0, to: h2, size: {}kB }}\n", 1 + i % 7)).collect();
    let text = SHARED.split("workload:\n").next().expect("a head").to_owned() + "workload:\n" + &many;
    write(&folder, "a.yaml", &text);
    let path = folder.path().to_str().expect("a UTF-8 path");
    assert_eq!(test(path, &["--accept"]).code, 0);
    let snapshot = read(&folder, "snapshots/a.yaml.txt");
    assert!(snapshot.len() < 4000, "{snapshot}");
    assert!(snapshot.contains("\ntransfers 1200, the 20 slowest listed; digests "), "{snapshot}");
    assert_eq!(test(path, &[]).code, 0);
    write(&folder, "a.yaml", &text.replacen("size: 1kB", "size: 2kB", 1));
    assert_eq!(test(path, &[]).code, 1);
}

#[test]
fn compare_fails_in_both_directions() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let saved = folder.path().join("old.json");
    let saved = saved.to_str().expect("a UTF-8 path");
    assert_eq!(run(&["run", &file, "--json", "-o", saved]).code, 0);
    for (size, condition, code, message) in [
        ("20MB", "differs:0%", 0, ""),
        ("19MB", "slower:0%", 0, ""),
        ("19MB", "faster:3%", 1, "under `max-min` is more than 3 % faster"),
        ("19MB", "faster:4%", 0, ""),
        ("19MB", "differs:3%", 1, "under `max-min` differs by more than 3 %"),
        ("21MB", "differs:3%", 1, "under `max-min` differs by more than 3 %"),
        ("21MB", "differs:4%", 0, ""),
        ("21MB", "faster:0%", 0, ""),
    ] {
        let set = format!("workload[1].transfer.size={size}");
        let ended = run(&["compare", saved, &file, "--arbiter", "max-min", "--set", &set, "--fail-if", condition]);
        assert_eq!(ended.code, code, "{size} {condition}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
}

/// A saved result of several arbiters is the baseline of each for itself.
#[test]
fn a_saved_result_is_the_baseline_of_its_own_arbiters() {
    let folder = folder();
    let file = write(&folder, "s.yaml", &format!("{SHARED}arbiter: [max-min, fcfs]\n"));
    let saved = folder.path().join("old.json");
    let saved = saved.to_str().expect("a UTF-8 path");
    assert_eq!(run(&["run", &file, "--json", "-o", saved]).code, 0);
    for other in [&file, saved] {
        let ended = run(&["compare", saved, other, "--fail-if", "differs:0%"]);
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.stdout);
    }
    let set = ["--set", "workload[1].transfer.size=19MB"];
    let ended = run(&[&["compare", saved, &file, "--fail-if", "differs:0%"], &set[..]].concat());
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!((ended.code, lines.len()), (1, 2), "{}", ended.stderr);
    for (line, arbiter) in lines.iter().zip(["max-min", "fcfs"]) {
        let under = format!("under `{arbiter}`");
        assert!(line.contains(&format!("{under} differs by more than 0 % from")) && line.ends_with(&under), "{line}");
    }
}
