//! `--full` of searches and tuning.

use crate::common::search::Folder;
use crate::common::{json_lines, run, scenario};
use serde_json::Value;

#[test]
fn full_results_of_searches_and_tuning_have_what_pictures_need() {
    let folder = Folder::new();
    let whole = |arguments: &[&str]| {
        let plain = json_lines(&run(&[arguments, &["--json"]].concat()).stdout).remove(0);
        let mut full = json_lines(&run(&[arguments, &["--json", "--full"]].concat()).stdout).remove(0);
        let object = full.as_object_mut().expect("an object");
        let keys = ["curve_s", "histogram", "nodes", "links", "baseline_placement"];
        let added = keys.map(|key| object.remove(key).unwrap_or_default());
        (plain, full, added)
    };
    let orders = folder.write("orders.yaml", crate::common::search::ORDER);
    let (plain, full, [curve, histogram, nodes, ..]) = whole(&["optimize", &orders, "--no-timing"]);
    assert_eq!((&full, nodes), (&plain, Value::Null));
    // 3! orders: 30 ms where a is last, else 40 ms.
    assert_eq!(curve, serde_json::json!([0.03, 0.03, 0.04, 0.04, 0.04, 0.04]));
    assert_eq!((&histogram["counts"][0], &histogram["counts"][59]), (&2.into(), &4.into()));
    let grid = folder.write("grid.yaml", crate::common::search::GRID);
    let (plain, full, [curve, ..]) = whole(&["optimize", &grid, "--no-timing"]);
    assert_eq!((&full, curve.as_array().map(Vec::len)), (&plain, Some(15)));
    assert_eq!((&curve[0], &curve[14]), (&full["best_s"], &full["worst_s"]));
    let helios = scenario("mapping/helios-stencil.yaml");
    let (plain, full, [.., nodes, links, before]) = whole(&["optimize", &helios, "--no-timing"]);
    let of_run = &super::full(&[&helios])[0];
    assert_eq!((&full, &nodes), (&plain, &of_run["nodes"]));
    let bare = |links: &Value| {
        let links = links.as_array().expect("a list").iter();
        links.map(|l| (l["id"].clone(), l["from"].clone(), l["bandwidth_Bps"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(bare(&links), bare(&of_run["links"]));
    assert_eq!(before.as_array().map(Vec::len), full["solution"]["placement"].as_array().map(Vec::len));

    let tuning = scenario("multilevel/tuning-made-up.yaml");
    let (plain, mut full, _) = whole(&["tune", &tuning, "--sizes", "1MiB..8MiB"]);
    for size in full["operations"][0]["sizes"].as_array_mut().expect("a list") {
        let tried = size.as_object_mut().expect("an object").remove("tried").expect("all packets");
        let best = serde_json::json!({"packet": size["packet"], "seconds": size["seconds"]});
        let fastest = tried
            .as_array()
            .expect("a list")
            .iter()
            .map(|way| way["seconds"].as_f64())
            .reduce(|a, b| if b < a { b } else { a });
        assert_eq!(
            (tried.as_array().expect("a list").contains(&best), fastest),
            (true, Some(size["seconds"].as_f64()))
        );
        assert!(tried.as_array().expect("a list").iter().any(|way| way["packet"].is_null()));
    }
    assert_eq!(full, plain);
}
