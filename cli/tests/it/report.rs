//! The page of `weir report`: its data are those of `--json`, whole or in less space.

use std::collections::BTreeMap;

use crate::common::search::Folder;
use crate::common::{SHARED, json_lines, run, run_with_input, scenario};
use serde_json::Value;

/// Writes a page of these files and reads its data.
fn page(folder: &Folder, arguments: &[&str]) -> Value {
    let target = folder.path("page.html");
    let ended = run(&[&["report", "--output", &target], arguments].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
    assert!(ended.stderr.starts_with(&format!("wrote {target}: ")), "{}", ended.stderr);
    data(&folder.read("page.html"))
}

/// Of runs without `given`, which says where they come from.
fn data(html: &str) -> Value {
    let mut data = as_written(html);
    for run in data["runs"].as_array_mut().expect("a list") {
        run.as_object_mut().expect("an object").remove("given");
    }
    data
}

fn as_written(html: &str) -> Value {
    serde_json::from_str(embedded(html)).expect("the data are JSON")
}

/// The text of the data's element, as a browser takes it: up to the first end of a script.
fn embedded(html: &str) -> &str {
    let (_, from) = html.split_once("id=\"weir-data\">").expect("the data's element");
    from.split_once("</script").expect("its end").0
}

fn full(arguments: &[&str]) -> Vec<Value> {
    json_lines(&run(&[&["run", "--full", "--json"], arguments].concat()).stdout)
}

#[test]
fn a_page_has_what_the_json_has() {
    let folder = Folder::new();
    let hol = scenario("pcie/hol-blocking.yaml");
    for arguments in [
        &[&*scenario("pcie/four-transfers.yaml")][..],
        &[&scenario("pcie/halo-3d-file-order.yaml"), &scenario("pcie/halo-3d-fastest.yaml")],
        &[&hol, "--arbiter", "max-min", "--arbiter", "fcfs", "--until", "10ms", "--no-plugins"],
        &[&scenario("pcie/four-transfers.yaml"), "--set", "arbiter.tau=0.1"],
    ] {
        let page = page(&folder, arguments);
        assert_eq!(page["runs"].as_array(), Some(&full(arguments)), "{arguments:?}");
        assert_eq!((&page["weir"], &page["aggregated"]), (&1.into(), &Value::Null));
    }
}

#[test]
fn operations_come_with_their_plans() {
    let file = scenario("offload/four-streams.yaml");
    let mut page = page(&Folder::new(), &[&file]);
    let run = page["runs"][0].as_object_mut().expect("an object");
    let plans = run.remove("plans").expect("plans");
    let explained = json_lines(&crate::common::run(&["explain", "--json", &file]).stdout).remove(0);
    assert_eq!((plans, Value::Object(run.clone())), (explained["operations"].clone(), full(&[&file]).remove(0)));
}

/// Of a result: per transfer what each phase says, as (begin, end, rate, deciding link, step, those responsible).
type Said = BTreeMap<String, Vec<(f64, f64, f64, Value, Value, Vec<String>)>>;

/// From `phases` and `explain`.
fn said(result: &Value) -> Said {
    let mut said = Said::new();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    for (phase, explained) in list(&result["phases"]).iter().zip(list(&result["explain"])) {
        let (start, end) = (phase["start_s"].as_f64().expect("s"), phase["end_s"].as_f64().expect("s"));
        for transfer in list(&explained["transfers"]) {
            let id = transfer["id"].as_str().expect("an id");
            let steps = list(&transfer["steps"]);
            let step = steps.iter().rfind(|step| !step["link"].is_null()).or(steps.last());
            let (link, name) = step.map_or((Value::Null, Value::Null), |s| (s["link"].clone(), s["step"].clone()));
            let mut because: Vec<String> =
                step.map_or(Vec::new(), |s| serde_json::from_value(s["because"].clone()).expect("ids"));
            because.retain(|other| other != id);
            because.sort_unstable();
            let rate = phase["rates_Bps"][id].as_f64().expect("a rate");
            said.entry(id.to_owned()).or_default().push((start, end, rate, link, name, because));
        }
    }
    said
}

/// From `packed`, cut where the phases begin.
fn unpacked(run: &Value, phases: &Value) -> Said {
    let packed = &run["packed"];
    let number = |key: &str, i: i64| packed[key][i as usize].as_f64().expect("a number");
    let transfers = run["transfers"].as_array().expect("a list");
    let id = |i: usize| transfers[i]["id"].as_str().expect("an id").to_owned();
    let mut said = Said::new();
    for (i, spans) in packed["spans"].as_array().expect("a list").iter().enumerate() {
        let spans: Vec<i64> = serde_json::from_value(spans.clone()).expect("numbers");
        for span in spans.chunks(5) {
            let link = run["links"].as_array().expect("a list").iter().find(|link| link["id"] == span[3]);
            let link = link.map_or(Value::Null, |l| serde_json::json!({"from": l["from"], "to": l["to"]}));
            let reason = if span[4] < 0 { &Value::Null } else { &packed["reasons"][span[4] as usize] };
            let because: Vec<usize> = serde_json::from_value(reason[1].clone()).unwrap_or_default();
            let mut because: Vec<String> = because.into_iter().filter(|&other| other != i).map(id).collect();
            because.sort_unstable();
            let (start, end) = (number("times_s", span[0]), number("times_s", span[1]));
            for phase in phases.as_array().expect("a list") {
                let (from, to) = (phase["start_s"].as_f64().expect("s"), phase["end_s"].as_f64().expect("s"));
                if from >= start && to <= end {
                    let rate = number("rates_Bps", span[2]);
                    said.entry(id(i)).or_default().push((
                        from,
                        to,
                        rate,
                        link.clone(),
                        reason[0].clone(),
                        because.clone(),
                    ));
                }
            }
        }
    }
    said
}

#[test]
fn packed_runs_say_what_their_phases_say_and_saved_results_pack_to_the_same() {
    let folder = Folder::new();
    for file in ["mapping/helios-stencil.yaml", "offload/eight-gpus-t2.yaml"] {
        let file = scenario(file);
        let mut page = page(&folder, &[&file]);
        let packed = page["runs"][0].take();
        let result = full(&[&file]).remove(0);
        assert_eq!(unpacked(&packed, &result["phases"]), said(&result), "{file}");
        for (key, value) in result.as_object().expect("an object") {
            let absent = matches!(&**key, "phases" | "explain");
            assert_eq!(packed.get(key), Some(value).filter(|_| !absent), "{file}: {key}");
        }
        folder.write("saved.json", &result.to_string());
        let mut saved = page_of(&folder, "saved.json")["runs"][0].take();
        let run = saved.as_object_mut().expect("an object");
        if let Some(plans) = packed.get("plans") {
            run.insert("plans".into(), plans.clone());
        }
        assert_eq!(saved, packed, "{file}");
    }
}

fn page_of(folder: &Folder, name: &str) -> Value {
    page(folder, &[&folder.path(name)])
}

/// 2,100 transfers on a board, some at once.
const MANY: &str = "\
weir: 1
name: many
topology:
  link_types: { x: { bandwidth: 10GB/s }, y: { bandwidth: 20GB/s } }
  tree:
    root:
      kind: switch
      children: { \"s[0-3]\": { kind: switch, link: y, children: { \"h[0-3]\": { kind: host, link: x } } } }
ranks: [\"s[0-3]/h[0-3]\"]
arbiter: max-min
workload:
  - pattern: { kind: random, id: load, count: 2100, seed: 7, size: [100kB, 10MB], within: 250ms }
";

#[test]
fn many_transfers_are_aggregated_and_their_bytes_are_all_there() {
    let folder = Folder::new();
    let file = folder.write("many.yaml", MANY);
    let ended = run(&["run", &file, "--full", "--json", "--output", &folder.path("full.json")]);
    assert_eq!(ended.code, 0);
    let result: Value = serde_json::from_str(&folder.read("full.json")).expect("JSON");
    let page_of_run = page(&folder, &[&file]);
    assert!(folder.read("page.html").len() < 1_000_000);
    let aggregated = &page_of_run["runs"][0]["aggregated"];
    assert_eq!((&aggregated["transfers"], &aggregated["rates"]), (&2100.into(), &"phases".into()));
    sums_are_right(aggregated, &result);
    let kept = page_of_run["runs"][0]["transfers"].as_array().expect("a list");
    let transfers = result["transfers"].as_array().expect("a list");
    assert!(!kept.is_empty() && kept.iter().all(|row| transfers.contains(row)));
    assert_eq!(page_of(&folder, "full.json"), page_of_run);
    // Without phases and routes: means, and no loads of links.
    run(&["run", &file, "--json", "--output", &folder.path("plain.json")]);
    let plain = page_of(&folder, "plain.json");
    let means = &plain["runs"][0]["aggregated"];
    assert_eq!((&means["rates"], &means["links"]), (&"means".into(), &Value::Array(Vec::new())));
}

fn sums_are_right(aggregated: &Value, result: &Value) {
    let float = |value: &Value| value.as_f64().expect("a number");
    let width = (float(&aggregated["to_s"]) - float(&aggregated["from_s"])) / float(&aggregated["bins"]);
    let total = |list: &Value| list.as_array().expect("a list").iter().map(float).sum::<f64>() * width;
    let links = result["links"].as_array().expect("a list");
    let used = aggregated["links"].as_array().expect("a list");
    assert_eq!(used.len(), links.iter().filter(|link| link["bytes"] != 0).count());
    for load in used {
        let link = links.iter().find(|link| link["id"] == load["id"]).expect("is a link");
        let bandwidth = float(&link["bandwidth_Bps"]);
        let (bytes, error) = (total(&load["permille"]) / 1000.0 * bandwidth, 250.0 * 0.0005 * bandwidth * width);
        assert!((bytes - float(&link["bytes"])).abs() <= error, "{link}: {bytes}");
    }
    for group in aggregated["groups"].as_array().expect("a list") {
        let own = result["transfers"].as_array().expect("a list").iter().filter(|row| row["from"] == group["name"]);
        let bytes: f64 = own.clone().map(|row| float(&row["bytes"])).sum();
        assert_eq!((float(&group["count"]), float(&group["bytes"])), (own.count() as f64, bytes));
        // Four digits of each bin are written.
        assert!((total(&group["rate_Bps"]) - bytes).abs() <= 6e-4 * bytes, "{}", group["name"]);
    }
}

#[test]
fn hostile_names_are_text() {
    let folder = Folder::new();
    let names = [
        "</script><script>alert(1)</script>",
        "\\\"><img src=x onerror=alert(1)>",
        "a\\nb",
        "\\u202Eevil\\u2028",
        "{{script}} & <!--",
    ];
    let transfer = |id: &&str| format!("  - transfer: {{ id: \"{id}\", from: h0, to: h1, size: 1MB }}\n");
    let transfers: String = names.iter().map(transfer).collect();
    let (head, _) = SHARED.split_once("workload:\n").expect("a workload");
    let file =
        folder.write("hostile.yaml", &format!("{}workload:\n{transfers}", head.replace("shared", "\"</script>&\"")));
    let result = full(&[&file]);
    assert_eq!(page(&folder, &[&file])["runs"].as_array(), Some(&result));
    let html = folder.read("page.html");
    assert!(!embedded(&html).contains(['<', '>', '&', '\u{2028}']));
    assert_eq!(html.matches("</script>").count(), 2, "of the data and of the page's own script");
}

#[test]
fn scenarios_and_saved_results_are_mixed() {
    let folder = Folder::new();
    let save = |name: &str, arguments: &[&str]| {
        let ended = run(&[arguments, &["--json"]].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        folder.write(name, &ended.stdout)
    };
    let t2 = scenario("pcie/four-transfers.yaml");
    let orders =
        save("orders.json", &["optimize", &folder.write("o.yaml", crate::common::search::ORDER), "--no-timing"]);
    let tuned = save("tuned.json", &["tune", &scenario("multilevel/tuning-made-up.yaml"), "--sizes", "1KiB..4KiB"]);
    let (measured, times) = (scenario("measured/h2d-eight-gpus.yaml"), scenario("measured/h2d-eight-gpus.csv"));
    let validated = save("validated.json", &["validate", &measured, "--measured", &times]);
    let compared = save("compared.json", &["compare", &t2, "--arbiter", "pcie-congestion", "--arbiter", "max-min"]);
    let page = page(&folder, &[&t2, &compared, &orders, &tuned, &validated]);
    let arbiters: Vec<&Value> =
        page["runs"].as_array().expect("a list").iter().map(|r| &r["arbiter"]["name"]).collect();
    assert_eq!(arbiters, ["pcie-congestion", "pcie-congestion", "max-min"]);
    for (key, name) in [("searches", "orders.json"), ("tuned", "tuned.json"), ("validated", "validated.json")] {
        assert_eq!(page[key].as_array(), Some(&json_lines(&folder.read(name))), "{key}");
    }
    // Several lines of one file, from standard input.
    let lines = run(&["run", &t2, "--json", "--arbiter", "fcfs", "--arbiter", "max-min"]).stdout;
    let target = folder.path("page.html");
    let ended = run_with_input(&["report", "-", "-o", &target], lines.as_bytes());
    assert_eq!(ended.stderr, format!("wrote {target}: 2 runs; open it in a browser\n"));
    assert_eq!(data(&folder.read("page.html"))["runs"].as_array(), Some(&json_lines(&lines)));
    // A scenario from there.
    assert_eq!(run_with_input(&["report", "-", "-o", &target], SHARED.as_bytes()).code, 0);
    assert_eq!(data(&folder.read("page.html"))["runs"][0]["file"], "-");
}

#[test]
fn sweeps_are_in_the_page_without_their_orders() {
    let folder = Folder::new();
    let saved = run(&["optimize", &scenario("optimize/weather-step.yaml"), "--no-timing", "--json"]).stdout;
    let page = page(&folder, &[&folder.write("sweep.json", &saved)]);
    let (shown, whole) = (&page["sweeps"][0], &json_lines(&saved)[0]);
    for key in ["scenario", "arbiter", "axes", "totals", "searches", "complete", "proved_optimal"] {
        assert_eq!(shown[key], whole[key], "{key}");
    }
    let (points, all) = (shown["points"].as_array().expect("points"), whole["points"].as_array().expect("points"));
    assert_eq!(points.len(), all.len());
    for (point, whole) in points.iter().zip(all) {
        let keys = point.as_object().expect("a point");
        assert!(keys.len() == 4 && keys.iter().all(|(key, value)| whole[key] == *value), "{point}");
    }
}

/// Runs of one scenario are told apart by where they come from and by what was changed.
#[test]
fn pages_say_what_was_changed_and_where_results_were_saved() {
    let folder = Folder::new();
    let (file, target) = (folder.write("s.yaml", SHARED), folder.path("page.html"));
    let given = |arguments: &[&str]| {
        let ended = run(&[&["report", "-o", &target], arguments].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        (as_written(&folder.read("page.html"))["runs"][0]["given"].clone(), ended.stderr)
    };
    assert_eq!(given(&[&file]).0, Value::Null);
    let changed = given(&[&file, "--set", "name=x", "--until", "100us"]).0;
    assert_eq!(changed, "--set name=x --until 100.000 µs");
    let saved = folder.write("saved.json", &format!("\u{feff}{}", run(&["run", &file, "--json"]).stdout));
    let (name, said) = given(&[&saved, "--until", "1us", "--set", "a=b"]);
    assert_eq!(name, saved);
    assert!(said.contains("stays unchanged; only scenarios take --set, --until"), "{said}");
}

/// `-` is stdout.
#[test]
fn a_page_goes_to_stdout_as_well() {
    let folder = Folder::new();
    let (file, target) = (folder.write("s.yaml", SHARED), folder.path("page.html"));
    let ended = run(&["report", &file, "-o", "-"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, "wrote to stdout: 1 run; open it in a browser\n"));
    assert_eq!(run(&["report", &file, "-o", &target]).code, 0);
    assert!(ended.stdout == folder.read("page.html"), "the same page");
}

/// What somebody has edited is refused by the place of the fault.
#[test]
fn edited_results_are_refused_with_the_place() {
    let folder = Folder::new();
    let result = full(&[&folder.write("s.yaml", SHARED)]).remove(0);
    let refused = |pointer: &str, value: Value, words: &str| {
        let mut edited = result.clone();
        *edited.pointer_mut(pointer).expect("it is there") = value;
        let ended = run(&["report", &folder.write("edited.json", &edited.to_string()), "-o", &folder.path("p.html")]);
        assert!(ended.code == 2 && ended.stderr.contains(words), "{words}: {}", ended.stderr);
    };
    refused("/transfers/1/to", Value::Null, "edited.json:1: transfers[1].to: ");
    refused("/transfers/1/route/0", "x".into(), "transfers[1].route[0]: ");
    refused("/input_sha256", (-1).into(), "input_sha256: ");
    refused("/phases/0/end_s", "soon".into(), "phases[0].end_s: ");
    refused("/nodes/1/parent", 1.into(), "nodes[1].parent: 1 is not an earlier node");
    refused("/links/1/id", 0.into(), "links[1].id: 0 occurs twice");
    let same = result["transfers"][0]["id"].clone();
    refused("/transfers/1/id", same, "occurs twice: this is not what `weir run --json` writes");
}

#[test]
fn a_wrong_file_does_not_keep_the_others_from_the_page() {
    let folder = Folder::new();
    let (good, bad) = (folder.write("good.yaml", SHARED), folder.write("bad.json", "{\"weir\":1}\n"));
    let target = folder.path("page.html");
    let ended = run(&["report", &bad, &good, "-o", &target]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("bad.json:1: this is not a result of weir"), "{}", ended.stderr);
    assert_eq!(data(&folder.read("page.html"))["runs"].as_array().map(Vec::len), Some(1));
    // Where nothing is left, nothing is written.
    let ended = run(&["report", &bad, "-o", &folder.path("none.html")]);
    assert_eq!(ended.code, 2);
    assert!(!std::fs::exists(folder.path("none.html")).expect("is known"));
}

#[test]
fn without_a_target_report_html_is_written_but_nothing_else_is_replaced() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", SHARED);
    let here = || {
        let ended =
            crate::common::weir().args(["report", &file]).current_dir(folder.path("")).output().expect("starts");
        (crate::common::ended(ended).code, folder.read("report.html"))
    };
    folder.write("report.html", "<html>mine</html>");
    assert_eq!(here(), (2, "<html>mine</html>".to_owned()));
    std::fs::remove_file(folder.path("report.html")).expect("is removed");
    let (code, first) = here();
    assert_eq!((code, data(&first)["runs"][0]["scenario"].as_str()), (0, Some("shared")));
    assert_eq!(here(), (0, first), "a page is replaced by its like");
}

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
    let of_run = &self::full(&[&helios])[0];
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
