use super::*;
use crate::is_saved;

/// A result whose transfers were ready at 1 µs.
fn saved(makespan: u64, ends: &[(&str, u64)]) -> String {
    let seconds = |ps: u64| ps as f64 / PS_PER_S as f64;
    let transfer = |(id, end): &(&str, u64)| {
        format!(
            r#"{{"id":"{id}","from":"g","to":"h","bytes":1,"ready_s":0.000001,"start_s":0.000001,"end_s":{},"end_ps":{end},"mean_Bps":null,"alone_s":null,"bottleneck":null,"cause":null}}"#,
            seconds(*end)
        )
    };
    let transfers: Vec<_> = ends.iter().map(transfer).collect();
    format!(
        r#"{{"weir":1,"kind":"run","version":"0","scenario":"s","file":"s.yaml","input_sha256":"{:064}","arbiter":{{"name":"max-min","version":"0","params":{{}}}},"complete":true,"fingerprint":"{:016}","makespan_s":{},"makespan_ps":{makespan},"events":{},"transfers":[{}],"links":[],"operations":[]}}"#,
        0,
        0,
        seconds(makespan),
        2 * ends.len(),
        transfers.join(",")
    )
}

#[test]
fn ratios_are_of_completion_times_matched_by_id() {
    let text = format!(
        "{}\n{}\n",
        saved(3_000_000, &[("a", 3_000_000), ("b", 2_000_000)]),
        saved(5_000_000, &[("b", 5_000_000), ("c", 2_000_000)])
    );
    assert!(is_saved(&text));
    let comparison = Comparison::new(Column::of_saved("old.json", &text).expect("reads"));
    let rows: Vec<_> = comparison.transfers().map(|(id, row)| (id, row.ratios())).collect();
    let expected = [("a", vec![Some(1.0), None]), ("b", vec![Some(1.0), Some(4.0)]), ("c", vec![None, None])];
    assert_eq!(rows, expected);
    assert_eq!(comparison.makespan().ratios(), [Some(1.0), Some(5.0 / 3.0)]);
    assert_eq!(comparison.changed(Deviation::Slower, 66.0).len(), 1);
    assert_eq!(comparison.changed(Deviation::Slower, 67.0).len(), 0);
}

#[test]
fn a_change_has_a_direction() {
    let of = |first: u64, second: u64| {
        let of = |makespan: u64| saved(makespan, &[("a", makespan)][..usize::from(makespan > 0)]);
        let text = format!("{}\n{}\n", of(first), of(second));
        Comparison::new(Column::of_saved("old.json", &text).expect("reads"))
    };
    for (first, second, percent, changes) in [
        (2_000_000, 2_100_000, 4.9, [true, false, true]),
        (2_000_000, 2_100_000, 5.1, [false, false, false]),
        (2_000_000, 1_900_000, 4.9, [false, true, true]),
        (2_000_000, 1_900_000, 5.1, [false, false, false]),
        (2_000_000, 1_999_999, 0.0, [false, true, true]),
        (2_000_000, 2_000_000, 0.0, [false, false, false]),
        (2_000_000, 1_000_001, 200.0, [false, false, false]),
        (0, 2_000_000, 5.0, [true, false, true]),
        (0, 0, 0.0, [false, false, false]),
    ] {
        let comparison = of(first, second);
        let found = Deviation::ALL.map(|change| !comparison.changed(change, percent).is_empty());
        assert_eq!(found, changes, "{first} {second} {percent}");
    }
}

#[test]
fn the_json_repeats_the_saved_results_unchanged() {
    let line = saved(1_000_007, &[("a", 1_000_007)]);
    let comparison = Comparison::new(Column::of_saved("old.json", &line).expect("reads"));
    let mut out = Vec::new();
    comparison.write(&mut out).expect("writes");
    let text = String::from_utf8(out).expect("is UTF-8");
    assert!(text.contains(&format!(r#""results":[{line}]"#)), "{text}");
    assert!(text.ends_with("\"ratios\":{\"makespan\":[1.0],\"transfers\":{\"a\":[1.0]}}}\n"), "{text}");
}

#[test]
fn operations_stand_for_their_transfers() {
    // x of the first result takes 3 µs from its release at 1 µs, of the second 6 µs; the barrier has no model.
    let with = |end: u64| {
        let x = format!(
            r#"{{"id":"x","kind":"put","start_s":0.000001,"end_s":{},"end_ps":{end},"estimates":[],"details":{{"model":{{}}}}}}"#,
            end as f64 / 1e12
        );
        let barrier = r#"{"id":"b","kind":"barrier","start_s":0.0,"end_s":0.0,"end_ps":0,"estimates":[],"details":{}}"#;
        let line = saved(end, &[("x/m0", end), ("xy/m0", end), ("t", end)]);
        line.replace(r#""operations":[]"#, &format!(r#""operations":[{x},{barrier}]"#))
    };
    let text = format!("{}\n{}\n", with(4_000_000), with(7_000_000));
    let comparison = Comparison::new(Column::of_saved("old.json", &text).expect("reads"));
    let operations: Vec<_> = comparison
        .operations()
        .map(|(id, row)| (id, row.times.iter().map(|timed| timed.time).collect::<Vec<_>>()))
        .collect();
    assert_eq!(operations, [("x", vec![Some(3_000_000), Some(6_000_000)])]);
    assert_eq!(comparison.transfers().map(|(id, _)| id).collect::<Vec<_>>(), ["xy/m0", "t"]);
    let mut out = Vec::new();
    comparison.write(&mut out).expect("writes");
    let text = String::from_utf8(out).expect("is UTF-8");
    assert!(text.contains(r#""operations":{"x":[1.0,2.0]},"transfers":{"xy/m0":"#), "{text}");
}

#[test]
fn a_scenario_written_as_json_is_not_a_saved_result() {
    assert!(!is_saved(r#"{"weir":1,"name":"x","tree":{},"workload":[]}"#));
    assert!(!is_saved("weir: 1\n"));
    let right = saved(1_000_007, &[("a", 1_000_007)]);
    Column::of_saved("x.json", &right).expect("reads");
    let wrong = |text: &str| Column::of_saved("x.json", text).expect_err(text).to_string();
    assert_eq!(
        wrong(r#"{"weir":1,"kind":"search"}"#),
        "x.json:1: `weir optimize --json` wrote it: give results of `weir run --json`"
    );
    for (from, to, part) in [
        (r#""weir":1"#, r#""weir":2"#, "weir: this version of weir reads results of format 1, not 2"),
        ("\"ready_s\":0.000001", "\"ready_s\":-0.5", "transfers[0].ready_s: -0.5 is below 0"),
        ("\"ready_s\":0.000001", "\"ready_s\":1e999", "transfers[0].ready_s: number out of range"),
        ("\"start_s\":0.000001", "\"start_s\":2.0", "transfers[0]: `a` has end_s 0.000001000007 before start_s 2"),
        ("\"start_s\":0.000001", "\"start_s\":0", "transfers[0]: `a` has start_s 0 before ready_s 0.000001"),
        ("\"end_ps\":1000007", "\"end_ps\":1000009", "transfers[0]: `a` has end_s 0.000001000007 and end_ps 1000009"),
        ("\"end_ps\":1000007", "\"end_ps\":null", "transfers[0]: `a` has end_s 0.000001000007 and end_ps null"),
        ("\"makespan_ps\":1000007", "\"makespan_ps\":1000008", "makespan_ps: 1000008, but the last end is 1000007"),
        ("\"makespan_ps\":1000007", "\"makespan_ps\":1000006", "makespan_ps: 1000006, but the last end is 1000007"),
        ("\"makespan_s\":0.000001000007", "\"makespan_s\":0.5", "makespan_s 0.5 and makespan_ps 1000007, which differ"),
        ("\"bytes\":1", "\"bytes\":1,\"bytes\":1", "transfers[0]: the key `bytes` occurs twice: save it again"),
    ] {
        let text = format!("\n{}", right.replace(from, to));
        assert!(wrong(&text).starts_with(&format!("x.json:2: {part}")), "{part}: {}", wrong(&text));
    }
    let last = r#"{"id":"b","kind":"barrier","start_s":1.0,"end_s":0.0,"end_ps":0,"estimates":[],"details":{}}"#;
    let operations = right.replace(r#""operations":[]"#, &format!(r#""operations":[{last}]"#));
    assert!(wrong(&operations).contains("operations[0]: `b` has end_s 0 before start_s 1"), "{}", wrong(&operations));
    // What is not listed contradicts nothing.
    for short in [
        "\"complete\":false,\"stopped_s\":0.000002,\"stopped_ps\":2000000",
        "\"complete\":true,\"streamed\":{\"transfers\":1,\"ended\":1}",
    ] {
        let later =
            right.replace("\"complete\":true", short).replace("\"makespan_ps\":1000007", "\"makespan_ps\":1000008");
        Column::of_saved("x.json", &later).expect("reads");
    }
}

/// A result as [`saved`], whose makespan and transfers end in further runs up to `width` ps later.
fn with_spread(makespan: u64, ends: &[(&str, u64)], width: u64) -> String {
    let range = |end: u64| {
        let seconds = |ps: u64| ps as f64 / PS_PER_S as f64;
        format!(r#"{{"min":{},"median":{1},"max":{1}}}"#, seconds(end), seconds(end + width))
    };
    let spread = format!(r#""spread":{{"jitter_s":1e-6,"seeds":4,"makespan_s":{}}},"events":"#, range(makespan));
    ends.iter().fold(saved(makespan, ends).replace(r#""events":"#, &spread), |text, (_, end)| {
        let exact = format!(r#""end_ps":{end},"#);
        let width = width as f64 / PS_PER_S as f64;
        text.replace(&exact, &format!(r#"{exact}"time_spread_s":{width},"end_spread_s":{},"#, range(*end)))
    })
}

#[test]
fn a_difference_below_the_spread_of_either_is_within_it() {
    // The makespans differ by 100 ps: less than the spread of 101 of the first. `b` differs by 101: not less.
    let text = format!(
        "{}\n{}\n",
        with_spread(3_000_000, &[("a", 3_000_000), ("b", 2_000_000)], 101),
        saved(3_000_100, &[("a", 3_000_100), ("b", 2_000_101)])
    );
    let comparison = Comparison::new(Column::of_saved("two.json", &text).expect("reads"));
    let within: Vec<_> = comparison.transfers().map(|(id, row)| (id, row.within_spread()[1])).collect();
    assert_eq!(within, [("a", Some(true)), ("b", Some(false))]);
    assert_eq!(comparison.makespan().within_spread(), [Some(true), Some(true)]);
    assert!(comparison.changed(Deviation::Slower, 0.0).is_empty(), "100 ps are within the spread");
    let text = crate::text::compare(&comparison);
    assert!(text.contains("≈ 1.000×") && text.contains("starts are up to 1.000 µs later (seeds: 4)"), "{text}");
    let mut out = Vec::new();
    comparison.write(&mut out).expect("writes");
    let json = String::from_utf8(out).expect("is UTF-8");
    let said = r#""within_spread":{"makespan":[true,true],"transfers":{"a":[true,true],"b":[true,false]}}}"#;
    assert!(json.ends_with(&format!("{said}\n")), "{json}");
}

#[test]
fn without_a_spread_nothing_is_within_it() {
    let text = format!("{}\n{}\n", saved(3_000_000, &[]), saved(3_000_001, &[]));
    let text = text.replace(r#""complete":true"#, r#""complete":true,"streamed":{"transfers":1,"ended":1}"#);
    let text = text.replace(r#""events":0"#, r#""events":2"#);
    let comparison = Comparison::new(Column::of_saved("two.json", &text).expect("reads"));
    assert_eq!(comparison.makespan().within_spread(), [None, None]);
    assert_eq!(comparison.changed(Deviation::Slower, 0.0).len(), 1);
    assert!(!crate::text::compare(&comparison).contains("spread"));
}

#[test]
fn spreads_that_contradict_each_other_are_refused() {
    let right = with_spread(2_000_000, &[("a", 2_000_000)], 1000);
    Column::of_saved("x.json", &right).expect("reads");
    let range = r#""end_spread_s":{"min":0.000002,"median":0.000002001,"max":0.000002001},"#;
    for (from, to, part) in [
        (r#""jitter_s":1e-6"#, r#""jitter_s":0.0"#, "spread: jitter_s 0 and 4 seeds"),
        (r#""seeds":4"#, r#""seeds":0"#, "spread: jitter_s 0.000001 and 0 seeds"),
        (r#""makespan_s":{"min":0.000002"#, r#""makespan_s":{"min":0.000003"#, "spread.makespan_s: min 0.000003,"),
        (range, "", "transfers[0]: `end_spread_s` is missing"),
        (r#""max":0.000002001},"mean"#, r#""max":0.000001},"mean"#, "transfers[0].end_spread_s: min 0.000002,"),
        (r#""max":0.000002001},"mean"#, r#""max":0.5},"mean"#, "transfers[0].end_spread_s.max: 0.5 is after that"),
        (
            r#""min":0.000002,"median":0.000002001,"max":0.000002001},"mean"#,
            r#""min":-1,"median":0,"max":0},"mean"#,
            "transfers[0].end_spread_s.min: -1 is below 0",
        ),
    ] {
        assert!(right.contains(from), "{from}: {right}");
        let error = Column::of_saved("x.json", &right.replace(from, to)).expect_err(part).to_string();
        assert!(error.starts_with(&format!("x.json:1: {part}")), "{part}: {error}");
    }
    let bare = saved(2_000_000, &[("a", 2_000_000)]).replace(r#""mean_Bps""#, &format!(r#"{range}"mean_Bps""#));
    let error = Column::of_saved("x.json", &bare).expect_err("no spread").to_string();
    assert!(error.contains("transfers[0].end_spread_s: the run has no `spread`"), "{error}");
}

/// Parameters stand in the head of a column where nothing else tells it from another one: file, arbiter and change are the same.
#[test]
fn heads_of_columns_have_parameters_where_only_these_differ() {
    for (file, arbiter, with, is_shown) in [
        ("a.yaml", "pcie", None, true),
        ("b.yaml", "pcie", None, false),
        ("a.yaml", "max-min", None, false),
        ("a.yaml", "pcie", Some("size=1MB"), false),
    ] {
        let text = format!("{0}\n{0}\n", saved(3_000_000, &[("a", 3_000_000)]));
        let mut columns = Column::of_saved("two.json", &text).expect("reads");
        let head = |file: &str, arbiter: &str| (file.to_owned(), arbiter.to_owned());
        (columns[0].file, columns[0].arbiter) = head("a.yaml", "pcie");
        (columns[1].file, columns[1].arbiter) = head(file, arbiter);
        columns[1].with = with.map(str::to_owned);
        (columns[0].params, columns[1].params) = ("tau 0.1".to_owned(), "tau 0.2".to_owned());
        let text = crate::text::compare(&Comparison::new(columns));
        assert_eq!(["tau 0.1", "tau 0.2"].map(|params| text.contains(params)), [is_shown; 2], "{text}");
    }
}

/// Ids that a scenario leaves to weir are the same in every scenario.
#[test]
fn rows_of_one_id_are_related_by_ends_or_size() {
    let unrelated = |change: &dyn Fn(String) -> String| {
        let first = saved(2_000_000, &[("transfer-0", 2_000_000)]);
        let other = change(first.clone()).replace("\"s.yaml\"", "\"t.yaml\"");
        Comparison::new(Column::of_saved("old.json", &format!("{first}\n{other}\n")).expect("reads")).unrelated().len()
    };
    let ends = |text: String| text.replace(r#""from":"g""#, r#""from":"x""#);
    let size = |text: String| text.replace(r#""bytes":1"#, r#""bytes":2"#);
    assert_eq!(unrelated(&|text| text), 0);
    assert_eq!(unrelated(&ends), 0, "another machine");
    assert_eq!(unrelated(&size), 0, "another size");
    assert_eq!(unrelated(&|text| size(ends(text))), 1);
}

/// One transfer that happens to be alike says nothing of the others.
#[test]
fn most_rows_of_one_id_decide_whether_results_are_related() {
    let ids = ["a", "b", "c", "d"].map(|id| (id, 2_000_000));
    for (changed, unrelated) in [(2, 0), (3, 1), (4, 1)] {
        let first = saved(2_000_000, &ids);
        let other = first.replace("\"s.yaml\"", "\"t.yaml\"").replacen(
            "\"from\":\"g\",\"to\":\"h\",\"bytes\":1",
            "\"from\":\"x\",\"to\":\"h\",\"bytes\":2",
            changed,
        );
        let columns = Column::of_saved("old.json", &format!("{first}\n{other}\n")).expect("reads");
        assert_eq!(Comparison::new(columns).unrelated().len(), unrelated, "{changed}");
    }
}

/// A time of 0 has no ratio, as the first or as another of one that is 0.
#[test]
fn nothing_is_so_many_times_nothing() {
    let timed = |ps: u64| Timed { time: Some(ps), ..Timed::default() };
    let ratios = |times: [u64; 2]| CompareRow { times: times.map(timed).into() }.ratios();
    assert_eq!((ratios([0, 0]), ratios([0, 5])), (vec![None, None], vec![None, None]));
    assert_eq!((ratios([1, 5]), ratios([4, 0])), (vec![Some(1.0), Some(5.0)], vec![Some(1.0), Some(0.0)]));
}

/// None has the id of another. Of three rows, one that has an equal under another id is too few, whichever side has it three
/// times; two are enough.
#[test]
fn each_row_is_the_same_as_one_other_at_most() {
    let row = |bytes: u64| Subject::transfer("g", "h", bytes);
    let differ = |own: [u64; 3], other: [u64; 3]| {
        let mut likeness = Likeness::default();
        own.iter().for_each(|&bytes| likeness.add(Some(row(bytes)), None));
        other.iter().for_each(|&bytes| likeness.add(None, Some(row(bytes))));
        likeness.differ()
    };
    assert!(differ([1, 2, 3], [1, 1, 1]) && differ([1, 1, 1], [3, 2, 1]) && differ([1, 2, 3], [4, 5, 6]));
    assert!(!differ([1, 2, 3], [3, 4, 2]) && !differ([1, 1, 2], [1, 1, 5]) && !differ([1, 2, 3], [1, 2, 3]));
}
