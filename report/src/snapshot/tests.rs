use proptest::prelude::*;

use super::*;

fn rows(rows: &[(&str, u64, u64, &str)]) -> SnapshotRows {
    SnapshotRows::new(rows.iter().map(|&(id, start, end, reason)| SnapshotRow::new(id, (start, end), reason)).collect())
}

fn snapshot(transfers: SnapshotRows, operations: SnapshotRows) -> Snapshot {
    let ends = transfers.rows.iter().chain(&operations.rows).map(|row| row.end);
    let makespan = ends.max().unwrap_or(0);
    let run = RunSnapshot {
        arbiter: "max-min".to_owned(),
        fingerprint: format!("{makespan:016x}"),
        makespan,
        transfers,
        operations,
    };
    Snapshot::new(&format!("{makespan:064x}"), vec![run])
}

fn of(transfers: &[(&str, u64, u64, &str)]) -> Snapshot {
    snapshot(rows(transfers), rows(&[]))
}

/// What differs, and the notes.
fn lines(was: &Snapshot, now: &Snapshot, percent: f64) -> (Vec<String>, Vec<String>) {
    let difference = was.difference(now, Tolerance(percent));
    (difference.runs.into_iter().flat_map(|run| run.lines).collect(), difference.notes)
}

#[test]
fn a_snapshot_is_a_table_that_a_person_can_read() {
    let transfers =
        rows(&[("p", 0, 20_000_000_000, "s → h2, link shared with q"), ("long name", 5, 30_000_000_000, "–")]);
    let text = snapshot(transfers, rows(&[("c", 0, 7_000, "compute")])).to_text();
    let expected = "\
weir snapshot 1: accepted results, written by `weir test --accept`; times in ps
input 00000000000000000000000000000000000000000000000000000006fc23ac00

arbiter max-min
fingerprint 00000006fc23ac00
makespan 30000000000 (30.000 ms)
transfers 2
transfer    start           end   reason
──────────────────────────────────────────────────────────────
p               0   20000000000   s → h2, link shared with q
long name       5   30000000000   –
operations 1
operation   start    end   kind
────────────────────────────────────
c               0   7000   compute
";
    assert_eq!(text, expected);
    assert!(Snapshot::is_one(&text));
    let read = Snapshot::of_text(&text).expect("reads");
    assert_eq!(read.to_text(), text);
    assert_eq!(Snapshot::of_text(&text.replace('\n', "\r\n")).expect("reads"), read, "as Git writes it on Windows");
}

#[test]
fn of_many_transfers_the_slowest_are_listed() {
    let ids: Vec<String> = (0..1001).map(|i| format!("t{i}")).collect();
    let all = |slow: u64, reason| {
        let row = |(i, id): (usize, &String)| SnapshotRow::new(id, (0, if i == 700 { slow } else { i as u64 }), reason);
        snapshot(SnapshotRows::new(ids.iter().enumerate().map(row).collect()), rows(&[]))
    };
    let text = all(5000, "r").to_text();
    assert!(text.contains("\ntransfers 1001, the 20 slowest listed; digests "), "{text}");
    let listed: Vec<&str> = text.lines().skip(9).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(listed[..3], ["t700", "t982", "t983"], "in the order of the scenario");
    assert_eq!(listed.len(), 20);
    let was = Snapshot::of_text(&text).expect("reads");
    assert_eq!(lines(&was, &all(5000, "r"), 0.0), (vec![], vec![]));
    let mut now = all(5000, "r");
    now.runs[0].transfers.rows[3].end = 4;
    now.runs[0].transfers = SnapshotRows::new(now.runs[0].transfers.rows.clone());
    assert_eq!(lines(&was, &now, 0.0).0, ["times of transfers changed that the snapshot does not list"]);
    let unjudged =
        "times of transfers changed that the snapshot does not list, by an amount that --tolerance cannot judge";
    assert_eq!(lines(&was, &now, 0.1).0, [unjudged]);
    now.runs[0].transfers.rows[3].reason = "other".to_owned();
    now.runs[0].transfers = SnapshotRows::new(now.runs[0].transfers.rows.clone());
    let reason = "a reason changed of transfers that the snapshot does not list";
    assert_eq!(lines(&was, &now, 0.1).0, [unjudged, reason]);
    assert_eq!(
        lines(&was, &all(4000, "r"), 0.0).0,
        [
            "makespan 5.000 ns → 4.000 ns (-1.000 ns, -20.000 %)",
            "transfer t700: end 5.000 ns → 4.000 ns (-1.000 ns, -20.000 %)"
        ]
    );
}

/// 1000 rows are all listed, and what is new among them is named.
#[test]
fn as_many_as_a_person_reviews_are_all_listed() {
    let ids: Vec<String> = (0..1001).map(|i| format!("t{i}")).collect();
    let of = |count: usize| {
        let row = |(i, id): (usize, &String)| SnapshotRow::new(id, (0, i as u64), "r");
        snapshot(SnapshotRows::new(ids[..count].iter().enumerate().map(row).collect()), rows(&[]))
    };
    let text = of(1000).to_text();
    assert!(text.contains("\ntransfers 1000\n") && text.contains("\nt999 ") && text.contains("\nt5 "), "{text}");
    assert_eq!(Snapshot::of_text(&text).expect("reads"), of(1000));
    let mut now = of(1000);
    now.runs[0].transfers.rows[7].id = "new".to_owned();
    let changed = ["transfer t7: is gone", "transfer new: is new, ends at 7 ps"];
    assert_eq!(lines(&of(1000), &now, 0.0).0, changed);
    assert_eq!(
        lines(&of(1000), &of(1001), 0.0).0.last().map(String::as_str),
        Some("transfer t1000: is new, ends at 1.000 ns")
    );
}

#[test]
fn differences_name_transfer_times_and_reasons() {
    let was = of(&[("a", 0, 1_000_000, "x, own"), ("b", 0, 2_000_000, "y"), ("c", 0, 2_000_000, "z")]);
    let now = of(&[("a", 10_000, 1_000_000, "x, own"), ("b", 0, 2_100_000, "w"), ("d", 0, 2_000_000, "z")]);
    let expected = [
        "makespan 2.000 µs → 2.100 µs (+100.000 ns, +5.000 %)",
        "transfer a: start 0 s → 10.000 ns (+10.000 ns)",
        "transfer b: end 2.000 µs → 2.100 µs (+100.000 ns, +5.000 %), another reason\n  was: y\n  now: w",
        "transfer c: is gone",
        "transfer d: is new, ends at 2.000 µs",
    ];
    assert_eq!(lines(&was, &now, 0.0).0, expected);
    let difference = was.difference(&now, Tolerance(0.0));
    let text = difference.runs[0].to_text();
    assert!(text.starts_with("under max-min:\n  makespan 2.000"), "{text}");
    assert!(text.contains("another reason\n    was: y\n    now: w\n"), "{text}");
}

#[test]
fn only_the_first_differences_are_named() {
    const IDS: [&str; 15] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"];
    let of = |count: usize, end| of(&IDS[..count].iter().map(|id| (*id, 0, end, "r")).collect::<Vec<_>>());
    // The makespan differs, too.
    let text = |count| of(count, 1000).difference(&of(count, 2000), Tolerance::default()).runs[0].to_text();
    assert_eq!(text(15).lines().count(), 12, "{}", text(15));
    assert!(text(15).ends_with("  … 6 more differences\n"), "{}", text(15));
    assert!(text(10).ends_with("  … 1 more difference\n"), "{}", text(10));
    assert!(text(9).lines().count() == 11 && !text(9).contains("more differences"), "{}", text(9));
}

#[test]
fn a_tolerance_is_a_part_of_the_accepted_end() {
    let was = of(&[("a", 0, 1_000_000, "r")]);
    for (start, end, percent, is_same) in [
        (0, 1_001_000, 0.1, true),
        (0, 999_000, 0.1, true),
        (0, 1_001_001, 0.1, false),
        (1_000, 1_000_000, 0.1, true),
        (1_001, 1_000_000, 0.1, false),
        (0, 1_000_001, 0.0, false),
    ] {
        let (differences, notes) = lines(&was, &of(&[("a", start, end, "r")]), percent);
        assert_eq!(differences.is_empty(), is_same, "{differences:?}");
        assert_eq!(notes.len(), usize::from(is_same), "{notes:?}");
    }
    let (differences, _) = lines(&was, &of(&[("a", 0, 1_000_000, "other")]), 50.0);
    assert_eq!(differences, ["transfer a: another reason\n  was: r\n  now: other"], "whatever the tolerance");
}

#[test]
fn what_changed_without_a_difference_is_noted() {
    let was = of(&[("a", 0, 10, "r")]);
    let changed = |input: bool, events: bool| {
        let mut now = was.clone();
        if input {
            now.input = "1".repeat(64);
        }
        if events {
            now.runs[0].fingerprint = "1".repeat(16);
        }
        lines(&was, &now, 0.0)
    };
    assert_eq!(changed(false, false), (vec![], vec![]));
    for (input, events, note) in [
        (true, false, "the input changed, the results did not"),
        (false, true, "the events changed, times and reasons did not"),
        (true, true, "the input and the events changed, times and reasons did not"),
    ] {
        assert_eq!(changed(input, events), (vec![], vec![note.to_owned()]));
    }
    let mut other = was.clone();
    other.runs[0].arbiter = "fcfs".to_owned();
    let (differences, notes) = lines(&was, &other, 0.0);
    assert_eq!(differences, ["no accepted result yet; accept it with --accept"]);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(was.difference(&other, Tolerance(0.0)).idle, ["max-min"]);
}

#[test]
fn what_weir_would_not_write_is_refused_with_its_line() {
    let text = of(&[("p", 0, 20, "r"), ("q", 1, 30, "r")]).to_text();
    let cases = [
        ("snapshot 1:", "snapshot 2:", 1, "another version"),
        ("input 0", "input x", 2, "`input` and 64 hexadecimal digits should stand here"),
        ("arbiter max-min", "arbitre max-min", 4, "`arbiter` and a name should stand here"),
        ("fingerprint 0", "fingerprint ", 5, "16 hexadecimal digits"),
        ("makespan 30 (30 ps)", "makespan 31 (30 ps)", 6, "no time and the same time"),
        ("transfers 2", "transfers 02", 7, "how many should stand here"),
        ("transfers 2", "transfers 1001", 7, "how many should stand here"),
        ("transfers 2", "transfers 3", 12, "ends before a row"),
        ("transfers 2", "transfers 1", 11, "`arbiter` and a name"),
        ("transfer   start", "transfer   begin", 8, "the header"),
        ("───", "===", 9, "a rule"),
        ("  20 ", "  2O ", 10, "`2O` is not a time"),
        ("  20 ", "  020 ", 10, "`020` is not a time"),
        ("  30 ", "  31 ", 11, "is not between start 1 and makespan 30"),
        ("\nq", "\np", 11, "transfer `p` stands here twice"),
        ("  r\nq", "\nq", 10, "four columns"),
    ];
    for (was, now, line, what) in cases {
        assert!(text.contains(was), "{was} in {text}");
        let error = Snapshot::of_text(&text.replacen(was, now, 1)).expect_err(now);
        assert_eq!(error.line, line, "{now}: {error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    for (text, line) in [("", 1), ("\n", 1), ("weir snapshot 1", 1), (&text[..text.len() / 2], 6)] {
        assert_eq!(Snapshot::of_text(text).expect_err(text).line, line, "{text}");
    }
}

proptest! {
    #[test]
    fn texts_are_read_back(
        transfers in proptest::collection::btree_map("\\PC{0,6}|[ \\\\ -~\u{a0}\u{2028}\t]{0,6}", (0u64..1 << 50, 0u64..1 << 50, "[ -~é→\u{a0}]{0,8}"), 0..8),
    ) {
        let row = |(id, (start, time, reason)): (&String, &(u64, u64, String))| SnapshotRow::new(id, (*start, start + time), reason);
        let was = snapshot(SnapshotRows::new(transfers.iter().map(row).collect()), rows(&[("c", 0, 1, "compute")]));
        let text = was.to_text();
        prop_assert_eq!(Snapshot::of_text(&text).expect("reads"), was, "{}", text);
    }

    #[test]
    fn no_text_is_too_strange(text in "(weir snapshot 1: accepted results, written by `weir test --accept`; times in ps\n)?(input 0{64}\n)?(arbiter [a-z]{1,3}\n)?[0-9a-z ─(),;\n]{0,80}") {
        let _ = Snapshot::of_text(&text);
    }
}
