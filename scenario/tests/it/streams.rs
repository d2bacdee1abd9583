//! Traces that are read while they are simulated: the same transfers under the same names, in the order of their starts.

use std::fmt::Write as _;
use std::path::Path;

use tempfile::TempDir;
use weir_scenario::{LoadOptions, Scenario, load};
use weir_sim_core::api::Registry;
use weir_sim_core::{Arrivals, Halt, TaskId, Work};

const TREE: &str = "\
weir: 1
topology:
  tree: { s: { kind: switch, children: { \"h[0-3]\": { kind: host, link: { bandwidth: 1GB/s } }, g: { kind: gpu, link: { bandwidth: 1GB/s } } } } }
workload: [trace: { file: a.csv }, trace: { file: b.csv }]
";

fn folder(a: &str, b: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in [("s.yaml", TREE), ("a.csv", a), ("b.csv", b)] {
        std::fs::write(folder.path().join(name), text).expect("is written");
    }
    folder
}

fn try_read(folder: &Path, stream: bool) -> Option<Scenario> {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("distinct names");
    let options = LoadOptions { stream, ..LoadOptions::default() };
    load(&folder.join("s.yaml"), &options, &registry).ok()
}

fn read(folder: &Path, stream: bool) -> Scenario {
    try_read(folder, stream).expect("is right")
}

/// Rows of which some are quoted over two lines, some come after empty lines, and some give no id.
fn with_ids(rows: usize) -> String {
    let mut out = "id,from,to,bytes,start_s\n".to_owned();
    for i in 0..rows {
        let id = match i % 7 {
            0 => String::new(),
            1 => format!("\"two\nlines {i}\""),
            2 => format!("\"a \"\"b\"\", {i}\""),
            _ => format!("row {i}"),
        };
        let gap = if i % 500 == 3 { "\n\n" } else { "" };
        let _ = writeln!(out, "{gap}{id},h{},h{},{},{}e-6", i % 4, (i + 1) % 4, i + 1, i / 3);
    }
    out
}

fn without_ids(rows: usize) -> String {
    let row = |i: usize| format!("5,{}e-6,g,h{}\r\n", i / 5 * 2, i % 4);
    (0..rows).fold("bytes,start_s,from,to\r\n".to_owned(), |all, i| all + &row(i))
}

/// The format gives an id 256 bytes.
#[test]
fn an_id_of_a_row_has_at_most_256_bytes() {
    let is_read = |bytes: usize, stream: bool| {
        let row = format!("id,from,to,bytes,start_s\n{},h0,h1,1,0\n", "n".repeat(bytes));
        try_read(folder(&row, &without_ids(1)).path(), stream).is_some()
    };
    for stream in [false, true] {
        assert_eq!([is_read(256, stream), is_read(257, stream)], [true, false]);
    }
}

#[test]
fn arrivals_are_the_tasks_of_the_whole_scenario_by_start_and_row() {
    let folder = folder(&with_ids(2500), &without_ids(1300));
    let (whole, streamed) = (read(folder.path(), false), read(folder.path(), true));
    assert!(streamed.tasks.tasks().is_empty());
    assert_eq!(streamed.input_sha256, whole.input_sha256);
    assert_eq!(streamed.tasks.engines(), whole.tasks.engines());
    let stream = streamed.stream.as_ref().expect("is streamed");
    assert_eq!(stream.census().transfers(), 3800);
    let mut arrivals = streamed.arrivals().expect("is streamed");
    let mut expected: Vec<TaskId> = (0..3800).map(TaskId).collect();
    expected.sort_by_key(|task| whole.tasks.tasks()[task.index()].start);
    for task in expected {
        let next = arrivals.next().expect("can be read").expect("there are more");
        let known = whole.tasks.tasks()[task.index()];
        assert_eq!((next.task, next.start, next.engine), (task, known.start, known.engine));
        assert_eq!(Work::Carries { bytes: next.bytes, class: next.class }, known.work);
        assert_eq!(streamed.task_name(task), whole.task_name(task));
        if task.0 % 3 > 0 {
            stream.left(task);
        }
    }
    assert_eq!(arrivals.next(), Ok(None));
    assert!(arrivals.failure().is_none());
    let classes = whole.tasks.classes();
    let first = |class| {
        (0..3800).find(|&i| matches!(whole.tasks.tasks()[i].work, Work::Carries { class: c, .. } if c.index() == class))
    };
    for class in 0..classes.len() {
        assert_eq!(Some(stream.firsts()[class].index()), first(class));
    }
}

#[test]
fn names_and_places_of_rows_are_read_again() {
    let folder = folder(&with_ids(2500), &without_ids(1300));
    let (whole, streamed) = (read(folder.path(), false), read(folder.path(), true));
    for task in (0..3800).step_by(61).chain([1023, 1024, 2047, 2048, 2499, 2500, 3523, 3524, 3799]).map(TaskId) {
        assert_eq!(streamed.task_name(task), whole.task_name(task));
        assert_eq!(streamed.position(task), whole.position(task), "{}", whole.task_name(task));
    }
}

#[test]
fn a_table_that_changes_in_between_is_refused_with_its_place() {
    // As long as before, and as old: the rows themselves tell.
    let changes = [
        ("h0,h1,1,", "h9,h1,1,", "a.csv:2:2"),
        ("h2,h3,11,3", "h2,h3,11,2", "a.csv:16:1"),
        ("\nrow 5", ",row 5", "a.csv:9:1"),
    ];
    for (old, new, place) in changes {
        let a = with_ids(20);
        let folder = folder(&a, &without_ids(3));
        let streamed = read(folder.path(), true);
        let path = folder.path().join("a.csv");
        let before = path.metadata().and_then(|m| m.modified()).expect("has a time");
        std::fs::write(&path, a.replacen(old, new, 1)).expect("is written");
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(before)).expect("is set");
        let mut arrivals = streamed.arrivals().expect("is streamed");
        let failed = std::iter::repeat_with(|| arrivals.next()).take(30).find(|next| !matches!(next, Ok(Some(_))));
        assert_eq!(failed, Some(Err(Halt)), "{old}");
        let text = arrivals.failure().expect("says why").to_string();
        assert!(text.contains(place), "{place}: {text}");
    }
}

#[test]
fn a_table_that_was_replaced_is_not_read() {
    let folder = folder(&with_ids(20), &without_ids(3));
    let streamed = read(folder.path(), true);
    std::fs::write(folder.path().join("a.csv"), with_ids(21)).expect("is written");
    let mut arrivals = streamed.arrivals().expect("is streamed");
    assert_eq!(arrivals.next(), Err(Halt));
    assert!(arrivals.failure().expect("says why").to_string().contains("was changed"));
}
