//! Pages of saved searches and sweeps.

use serde_json::Value;

use super::super::sweep::MOST_POINTS;
use super::super::{Counts, Page};

#[test]
fn sweeps_keep_what_is_drawn() {
    let point = |i: usize| {
        format!(
            r#"{{"point":{i},"parameters":{{"a":"{i}"}},"method":"exhaustive","baseline_s":2.5,"baseline_ps":2500000000000,"best_s":1.25,"best_ps":1250000000000,"gain_percent":100,"proved_optimal":true,"solution":{{"order":{{}}}}}}"#
        )
    };
    let sweep = |count: usize| {
        let points: Vec<String> = (0..count).map(point).collect();
        let values: Vec<String> = (0..count).map(|i| format!("\"{i}\"")).collect();
        let best_ps = count as u64 * 1_250_000_000_000;
        let total = format!(
            r#"{{"parameters":{{}},"points":{count},"complete":true,"proved_optimal":true,"baseline_s":{0},"baseline_ps":{1},"best_s":{2},"best_ps":{best_ps},"gain_percent":100}}"#,
            2.5 * count as f64,
            2 * best_ps,
            1.25 * count as f64,
        );
        format!(
            r#"{{"weir":1,"kind":"sweep","version":"0","scenario":"s","file":"f","input_sha256":"0","arbiter":{{"name":"a","version":"0","params":{{}}}},"vary":"order","objective":"makespan","axes":[{{"path":"a","values":[{}]}}],"searches":{count},"complete":true,"proved_optimal":true,"totals":[{total}],"points":[{}]}}"#,
            values.join(","),
            points.join(",")
        )
    };
    let written = |count: usize| {
        let mut page = Page::default();
        page.add_saved("s.json", &sweep(count)).expect("a sweep");
        assert_eq!(page.counts(), Counts { sweeps: 1, ..Counts::default() });
        let mut out = Vec::new();
        page.write(&mut out).expect("memory takes it");
        String::from_utf8(out).expect("UTF-8")
    };
    let drawn = r#""points":[{"point":0,"baseline_s":2.5,"best_s":1.25,"proved_optimal":true},{"point":1,"#;
    assert!(written(2).contains(drawn) && written(MOST_POINTS).contains(drawn));
    let many = written(MOST_POINTS + 1);
    assert!(many.contains(r#""points":[]"#) && many.contains("s under a: the page shows only the sums of 5001 points"));
    let error = Page::default()
        .add_saved(
            "s.json",
            &sweep(1).replace(
                "\"best_s\":1.25,\"best_ps\":1250000000000,\"gain_percent\":100,\"proved",
                "\"worst_s\":1.25,\"proved",
            ),
        )
        .expect_err("no best");
    assert!(
        error
            .to_string()
            .starts_with("s.json:1: points[0]: missing field `best_s`: this is not what `weir optimize --json` writes"),
        "{error}"
    );
}

#[test]
fn grids_keep_the_best_rows_and_the_curve_of_all() {
    let grid = |count: u64, all: u64| {
        let row = |i: u64| {
            format!(
                r#"{{"candidate":{i},"parameters":{{}},"makespan_s":{0},"makespan_ps":{0}000000000000,"ratio":{0},"best":{1}}}"#,
                1 + i * 7 % count,
                i == 0
            )
        };
        let whole = count == all;
        let rows: Vec<String> = (0..count).map(row).collect();
        format!(
            r#"{{"weir":1,"kind":"search","version":"0","scenario":"s","file":"f","input_sha256":"0000000000000000000000000000000000000000000000000000000000000000","arbiter":{{"name":"a","version":"0","params":{{}}}},"vary":"parameters","method":"exhaustive","evaluated":{count},"complete":{whole},"proved_optimal":{whole},"objective":"makespan","candidates":{all},"baseline_s":1.0,"baseline_ps":1000000000000,"best_s":1.0,"best_ps":1000000000000,"solution":{{"parameters":{{}}}},"rows":[{}]}}"#,
            rows.join(",")
        )
    };
    let search = |count: u64| {
        let mut page = Page::default();
        page.add_saved("s.json", &grid(count, count)).expect("a search");
        (serde_json::from_str::<serde_json::Value>(page.searches[0].get()).expect("JSON"), page.notes)
    };
    let (few, notes) = search(300);
    assert_eq!((few["rows"].as_array().map(Vec::len), few.get("curve_s"), notes.len()), (Some(300), None, 0));
    let (many, notes) = search(3001);
    let rows = many["rows"].as_array().expect("rows");
    assert!(rows.len() == 300 && rows.iter().all(|row| row["makespan_s"].as_u64() <= Some(300)));
    assert!(rows.is_sorted_by_key(|row| row["candidate"].as_u64()));
    let curve = many["curve_s"].as_array().expect("a curve");
    assert_eq!((curve.len(), &curve[0], &curve[999]), (1000, &1.0.into(), &3001.0.into()));
    // What has not seen all, or lists none, has no curve.
    for part in [grid(3001, 3002), grid(0, 0)] {
        let mut page = Page::default();
        page.add_saved("s.json", &part).expect("a search");
        let held: Value = serde_json::from_str(page.searches[0].get()).expect("JSON");
        assert_eq!((held.get("curve_s"), held.get("histogram")), (None, None));
    }
    let counts = many["histogram"]["counts"].as_array().expect("bins").iter();
    assert_eq!(counts.map(|count| count.as_u64().expect("a count")).sum::<u64>(), 3001);
    assert_eq!(notes, ["s under a: the table has the best 300 of 3001 candidates."]);
}
