//! The page of `weir report`: its data are those of `--json`, whole or in less space.

mod packed;
mod pictures;
mod shown;
mod svg;

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

/// Of runs without `origin`, which says where they come from.
fn data(html: &str) -> Value {
    let mut data = as_written(html);
    for run in data["runs"].as_array_mut().expect("a list") {
        run.as_object_mut().expect("an object").remove("origin");
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

/// The runs of a page without what its writer found out by other runs.
fn without_widenings(mut page: Value) -> Vec<Value> {
    let runs = page["runs"].as_array_mut().expect("a list");
    for run in runs.iter_mut().filter_map(Value::as_object_mut) {
        let widening = run.remove("widening");
        assert!(widening.is_none() || run["complete"] == true, "{widening:?}");
    }
    std::mem::take(runs)
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
        assert_eq!((&page["weir"], &page["aggregated"]), (&1.into(), &Value::Null));
        assert_eq!(without_widenings(page), full(arguments), "{arguments:?}");
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

fn page_of(folder: &Folder, name: &str) -> Value {
    page(folder, &[&folder.path(name)])
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
    assert_eq!(without_widenings(page(&folder, &[&file])), result);
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
    let (drawn, whole) = (&page["sweeps"][0], &json_lines(&saved)[0]);
    for key in ["scenario", "arbiter", "axes", "totals", "searches", "complete", "proved_optimal"] {
        assert_eq!(drawn[key], whole[key], "{key}");
    }
    let (points, all) = (drawn["points"].as_array().expect("points"), whole["points"].as_array().expect("points"));
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
    let origin = |arguments: &[&str]| {
        let ended = run(&[&["report", "-o", &target], arguments].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        (as_written(&folder.read("page.html"))["runs"][0]["origin"].clone(), ended.stderr)
    };
    assert_eq!(origin(&[&file]).0, Value::Null);
    let changed = origin(&[&file, "--set", "name=x", "--until", "100us"]).0;
    assert_eq!(changed, "--set name=x --until 100.000 µs");
    let saved = folder.write("saved.json", &format!("\u{feff}{}", run(&["run", &file, "--json"]).stdout));
    let (name, said) = origin(&[&saved, "--until", "1us", "--set", "a=b"]);
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
    refused("/transfers/1/id", same, "occurs twice: this is not what `weir run --json` writes; save it again");
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
