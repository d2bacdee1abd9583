//! `optimize`: what it may say, and that it changes nothing about a run.

use crate::common::{T2, first_bad, good, on_t2, registry, write};
use weir_optimize::search::{Method, Objective, Vary};
use weir_scenario::{AxisSpec, LoadOptions, Range, load};

/// A scenario with an arbiter on line 5, a transfer between ranks on line 7 and `optimize` from line 8.
fn with(optimize: &str) -> String {
    on_t2(&format!(
        "arbiter: pcie-congestion\nworkload:\n  - transfer: {{ id: a, from: {{ rank: 0 }}, to: {{ rank: 1 }}, size: 1MB }}\noptimize: {optimize}\n"
    ))
}

/// Checks place, message and remedy of what is wrong.
#[track_caller]
fn refused(optimize: &str, place: (u32, u32), message: &str, help: &str) {
    let (line, column, said, remedy) = first_bad(with(optimize));
    assert!(said.contains(message), "message: {said}");
    assert!(remedy.contains(help), "remedy: {remedy} ({said})");
    assert_eq!((line, column), place, "{said}");
}

#[test]
fn an_order_needs_nothing_else() {
    let scenario = good(&with("{ vary: order }"));
    let spec = scenario.optimize.as_ref().unwrap();
    assert_eq!((spec.vary, spec.objective, spec.method), (Vary::Order, Objective::Makespan, Method::Auto));
    assert_eq!((&spec.parameters[..], &spec.devices, &spec.level_costs), (&[][..], &None, &None));
    assert_eq!(spec.matrix, None);
    assert_eq!((spec.position.line, spec.position.column), (8, 1));
    let without = good(&with("x").replace("optimize: x\n", ""));
    assert!(without.optimize.is_none());
    assert_eq!(format!("{:?}", without.tasks), format!("{:?}", scenario.tasks));
    for (word, method) in
        [("exhaustive", Method::Exhaustive), ("branch-and-bound", Method::BranchAndBound), ("anneal", Method::Anneal)]
    {
        let scenario = good(&with(&format!("{{ vary: order, method: {word} }}")));
        assert_eq!(scenario.optimize.as_ref().unwrap().method, method);
    }
}

#[test]
fn an_order_may_be_searched_for_several_values() {
    let scenario = good(&with("{ vary: order, parameters: { \"workload[0].transfer.size\": [1MB, 2MB, 1MB] } }"));
    let spec = scenario.optimize.as_ref().unwrap();
    let axis = AxisSpec::List(["1MB", "2MB", "1MB"].map(str::to_owned).to_vec());
    assert_eq!((spec.vary, &spec.parameters[0].axis), (Vary::Order, &axis));
    refused("{ vary: order, parameters: {} }", (8, 38), "`parameters` is empty", "workload[0].transfer.size");
    refused("{ vary: order, parameters: { arbitre.tau: [1, 2] } }", (8, 40), "no `arbitre` here", "`arbiter`");
}

#[test]
fn a_placement_has_devices_and_an_objective() {
    let scenario = good(&with(
        "{ vary: placement, devices: [gpu7, \"gpu[0-6]\"], objective: distance, level_costs: [1, 2.5, 5, 0], method: bisection }",
    ));
    let spec = scenario.optimize.as_ref().unwrap();
    let devices = spec.devices.as_ref().unwrap();
    assert_eq!((devices.len(), scenario.node_name(devices[0])), (8, "gpu7"));
    assert_eq!(spec.level_costs.as_deref(), Some(&[1.0, 2.5, 5.0, 0.0][..]));
    assert_eq!((spec.vary, spec.objective, spec.method), (Vary::Placement, Objective::Distance, Method::Bisection));
    for (word, objective) in
        [("makespan", Objective::Makespan), ("latency", Objective::Latency), ("bandwidth", Objective::Bandwidth)]
    {
        let scenario = good(&with(&format!("{{ vary: placement, objective: {word} }}")));
        assert_eq!(scenario.optimize.as_ref().unwrap().objective, objective);
    }
}

#[test]
fn parameters_are_texts() {
    let scenario = good(&with(
        "\n  vary: parameters\n  parameters:\n    workload[0].transfer.size: [1MB, '2 MB', 4MB]\n    arbiter.tau: { from: 0, to: 0.4, step: 0.05 }\n    workload[0].transfer.weight: { from: 1, to: 64, factor: 2 }\n    arbiter: [max-min, { name: pcie-congestion, hol: false }]\n    workload[0].transfer.after: [[], [a, \"b, c\"]]",
    ));
    let spec = scenario.optimize.as_ref().unwrap();
    let list = |texts: &[&str]| AxisSpec::List(texts.iter().map(|&text| text.to_owned()).collect());
    let found: Vec<_> = spec.parameters.iter().map(|p| (p.path.as_str(), p.axis.clone(), p.position.line)).collect();
    assert_eq!(
        found,
        [
            ("workload[0].transfer.size", list(&["1MB", "\"2 MB\"", "4MB"]), 11),
            ("arbiter.tau", AxisSpec::Range(Range::by_step("0", "0.4", "0.05").unwrap()), 12),
            ("workload[0].transfer.weight", AxisSpec::Range(Range::by_factor("1", "64", "2").unwrap()), 13),
            ("arbiter", list(&["max-min", "{ name: pcie-congestion, hol: false }"]), 14),
            ("workload[0].transfer.after", list(&["[]", "[a, \"b, c\"]"]), 15),
        ]
    );
}

#[test]
fn paths_lead_into_a_topology_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = |path: &str| {
        format!(
            "weir: 1\ntopology: t2.yaml\nworkload:\n  - transfer: {{ from: gpu0, to: gpu1, size: 1B }}\noptimize: {{ vary: parameters, parameters: {{ {path}: [1GB/s] }} }}\n"
        )
    };
    let (fine, bad) = (text("topology.link_types.pcie.bandwidth"), text("topology.link_types.pci.bandwidth"));
    write(folder.path(), &[("t2.yaml", T2), ("fine.yaml", &fine), ("bad.yaml", &bad)]);
    let load = |file: &str| load(&folder.path().join(file), &LoadOptions::default(), &registry());
    assert!(load("fine.yaml").is_ok());
    let found = load("bad.yaml").map(|s| s.name).unwrap_err();
    let position = found[0].position.as_ref().unwrap();
    assert!(position.file.ends_with("bad.yaml"), "{}", found[0]);
    assert_eq!((position.line, position.column), (5, 45));
    assert!(found[0].help.as_ref().unwrap().contains("did you mean `pcie`?"), "{}", found[0]);
}

#[test]
fn refuses_unknown_keys_and_words() {
    refused("order", (8, 11), "`optimize` must be a map, not the text `order`", "vary, parameters");
    refused("{}", (8, 11), "`optimize` needs the key `vary`", "add `vary: …`");
    refused("{ vary: order, methd: auto }", (8, 26), "unknown key `methd` in `optimize`", "did you mean `method`?");
    refused("{ vary: ordr }", (8, 19), "`vary` of `optimize`: `ordr` is not one", "did you mean `order`?");
    refused("{ vary: order, method: aneal }", (8, 34), "`aneal` is not one", "did you mean `anneal`?");
    refused("{ vary: placement, objective: latncy }", (8, 41), "`latncy` is not one", "did you mean `latency`?");
}

#[test]
fn refuses_what_does_not_go_together() {
    let message = "`parameters` goes with `vary: parameters` or `vary: order` only";
    refused("{ vary: placement, parameters: { arbiter.tau: [0.1] } }", (8, 30), message, "remove it");
    refused("{ vary: order, devices: \"gpu[0-1]\" }", (8, 26), "`vary: placement` only", "remove it");
    refused("{ vary: order, level_costs: [1] }", (8, 26), "`vary: placement` only", "remove it");
    refused("{ vary: order, objective: distance }", (8, 37), "only a placement alone has", "makespan");
    refused("{ vary: placement, level_costs: [1] }", (8, 30), "`objective: distance` only", "remove it");
    let parameters = "parameters: { arbiter.tau: [0.1] }";
    refused(&format!("{{ vary: parameters, {parameters}, objective: latency }}"), (8, 78), "only a placement", "");
    refused(
        &format!("{{ vary: parameters, {parameters}, method: anneal }}"),
        (8, 75),
        "for parameters",
        "write auto or exhaustive or local-search",
    );
    refused(
        "{ vary: order, method: bisection }",
        (8, 34),
        "for an order",
        "auto or exhaustive or branch-and-bound or anneal or local-search",
    );
    refused("{ vary: placement, method: anneal }", (8, 38), "for a placement", "auto or exhaustive or bisection");
    let simulated = "does not simulate, which the objective `throughput` needs";
    refused("{ vary: order, objective: throughput, method: anneal }", (8, 57), simulated, "exhaustive or local-search");
    let simulated = "does not simulate, which the objective `makespan` needs";
    refused("{ vary: placement, method: bisection }", (8, 38), simulated, "a cost as the objective");
}

#[test]
fn refuses_parameters_that_the_search_decides() {
    let with = |vary: &str, path: &str| format!("{{ vary: {vary}, parameters: {{ {path}: [1] }} }}");
    let message = "`ranks` cannot be a parameter beside `vary: placement`";
    refused(&with("[placement, parameters]", "ranks"), (8, 58), message, "leave out the parameter");
    let message = "`order` cannot be a parameter beside `vary: order`";
    refused(&with("[order, parameters]", "order"), (8, 54), message, "leave out the parameter");
}

#[test]
fn several_kinds_vary_together() {
    let of = |optimize: &str| good(&with(optimize)).optimize.expect("it says so");
    let size = "parameters: { \"workload[0].transfer.size\": [2MB, 1MB] }";
    let spec = of(&format!("{{ vary: [parameters, order, placement], {size} }}"));
    assert_eq!(Some(spec.vary), Vary::of(&Vary::ALL));
    assert_eq!(spec.parameters[0].own.as_deref(), Some("1MB"));
    assert_eq!(of("{ vary: [order] }").vary, Vary::Order);
    refused("{ vary: [] }", (8, 19), "`vary` is empty", "[order, placement]");
    refused("{ vary: [order, order] }", (8, 19), "names something twice", "once");
    refused("{ vary: [order, ordr] }", (8, 27), "`ordr` is not one", "did you mean `order`?");
    refused("{ vary: [order, parameters] }", (8, 11), "needs the key `parameters`", "");
    refused(&format!("{{ vary: [order, placement], {size} }}"), (8, 39), "`parameters` goes with", "remove it");
    refused("{ vary: [order, placement], method: anneal }", (8, 47), "for several kinds together", "local-search");
    refused("{ vary: [order, placement], objective: latency }", (8, 50), "only a placement alone has", "");
}

#[test]
fn an_objective_is_about_items() {
    let of = |objective: &str| good(&with(&format!("{{ vary: order, objective: {objective} }}"))).optimize.unwrap();
    let spec = of("{ end: a }");
    assert_eq!((spec.objective, spec.items.len(), spec.items[0].count), (Objective::End, 1, 1));
    assert_eq!((of("throughput").objective, of("throughput").items.len()), (Objective::Throughput, 0));
    let spec = of("{ sum: { a: 2.5 } }");
    assert_eq!((spec.objective, spec.items[0].weight), (Objective::Sum, 2.5));
    let refused = |objective: &str, column: u32, message: &str| {
        refused(&format!("{{ vary: order, objective: {objective} }}"), (8, column), message, "");
    };
    refused("{ end: b }", 44, "`objective` names `b`, but nothing has this id");
    refused("{ max: [a, b] }", 48, "`objective` names `b`, but nothing has this id");
    refused("{ sum: { b: 1 } }", 46, "`objective` names `b`, but nothing has this id");
    refused("{ sum: { a: 0 } }", 49, "`0` is zero");
    refused("{ end: [] }", 44, "names nothing");
    refused("{ end: a, max: a }", 37, "`objective` has 2 keys");
    refused("{ start: a }", 39, "unknown key `start` in `objective`");
    refused("sum", 37, "`sum` of which items is not said");
}

#[test]
fn refuses_devices_that_are_no_places() {
    refused("{ vary: placement, devices: [] }", (8, 39), "`devices` is empty", "at least one");
    refused("{ vary: placement, devices: [gpu0, gpu9] }", (8, 46), "`devices`: no node is named `gpu9`", "gpu0");
    refused("{ vary: placement, devices: [plx0] }", (8, 40), "`plx0` is a switch", "device");
    refused("{ vary: placement, devices: \"gpu[0-6]\" }", (8, 39), "7 devices for 8 ranks", "at least as many");
    refused(
        "{ vary: placement, devices: [\"gpu[0-7]\", gpu3] }",
        (8, 39),
        "`gpu3` is listed twice",
        "different devices",
    );
    let text = with("{ vary: placement }").replace("workload:", "ranks: [gpu0, gpu1, gpu0]\nworkload:");
    let (line, column, said, _) = first_bad(text);
    assert_eq!((line, column), (9, 1));
    assert!(said.contains("`gpu0` is listed twice"), "{said}");
    refused(
        "{ vary: placement, objective: distance, level_costs: [] }",
        (8, 64),
        "`level_costs` is empty",
        "each level",
    );
    refused("{ vary: placement, objective: distance, level_costs: 3 }", (8, 64), "must be a list", "[…]");
    for cost in ["-1", "x", "1e999", "nan"] {
        let costs = format!("{{ vary: placement, objective: distance, level_costs: [1, {cost}] }}");
        refused(&costs, (8, 68), "a cost of `level_costs`", "");
    }
}

#[test]
fn refuses_parameters_that_are_none() {
    let one = |parameter: &str| format!("{{ vary: parameters, parameters: {{ {parameter} }} }}");
    refused("{ vary: parameters }", (8, 11), "needs the key `parameters`", "add `parameters: …`");
    refused("{ vary: parameters, parameters: {} }", (8, 43), "`parameters` is empty", "workload[0].transfer.size");
    refused("{ vary: parameters, parameters: [a] }", (8, 43), "must be a map, not a list", "workload[0].transfer.size");
    let many: String = (0..65).map(|i| format!("arbiter.a{i}: [1], ")).collect();
    refused(&one(&many), (8, 43), "more than 64 parameters", "");
    // Where a value stands, or one may be put.
    refused(&one("arbitr.tau: [1]"), (8, 45), "the scenario has no `arbitr` here", "did you mean `arbiter`?");
    refused(&one("\"workload[1].transfer.size\": [1B]"), (8, 45), "there is no item 1", "1 items");
    refused(&one("workload.transfer: [1B]"), (8, 45), "`transfer` is not a key here: there is a list", "[0]");
    refused(&one("arbiter.tau.x: [1]"), (8, 45), "`tau` is not a key here", "index");
    refused(&one("\"name[0]\": [1]"), (8, 45), "no item 0 here: there is the text `test`", "dot");
    refused(&one("\"a..b\": [1]"), (8, 45), "`a..b` is not a path", "workload[0].transfer.size");
    refused(&one("optimize.vary: [order]"), (8, 45), "`optimize` cannot vary itself", "another value");
    good(&with(&one("arbiter.tau: [0.1]")));
    good(&with(&one("topology.name: [x]")));
    // Values.
    refused(&one("arbiter.tau: []"), (8, 58), "parameter `arbiter.tau` has no values", "at least one");
    refused(&one("arbiter.tau: 0.1"), (8, 58), "needs several values, not the text `0.1`", "step: 0.1");
    refused(&one("arbiter.tau: [0.1, null]"), (8, 64), "an empty value of parameter `arbiter.tau`", "give a value");
    refused(&one("arbiter.tau: { from: 0, to: 1 }"), (8, 58), "either `step` or `factor`", "step: 0.05");
    refused(&one("arbiter.tau: { from: 0, to: 1, step: 1, factor: 2 }"), (8, 58), "either `step` or", "one of the two");
    refused(&one("arbiter.tau: { from: 0, step: 1 }"), (8, 58), "needs the key `to`", "add `to: …`");
    refused(&one("arbiter.tau: { from: [0], to: 1, step: 1 }"), (8, 66), "`from` of the range of parameter", "single");
    let nowhere = "the range of parameter `arbiter.tau`: `factor: 0` does not lead from one value to the next";
    refused(&one("arbiter.tau: { from: 0, to: 1, factor: 0 }"), (8, 58), nowhere, "above 1");
    refused(&one("arbiter.tau: { from: nan, to: 1, step: 1 }"), (8, 58), "neither a number nor", "write it as in");
    refused(&one("arbiter.tau: { from: 0, to: 1, step: 1e-300 }"), (8, 58), "more than 38 digits", "as a list");
    refused(&one("arbiter.tau: { from: 0, to: 1, step: 1e-30 }"), (8, 58), "more than 1000000 values", "larger step");
    refused(&one("arbiter.tau: { from: 0B, to: 1, step: 1B }"), (8, 58), "have different units", "the same unit");
    refused(
        &one("arbiter.tau: { from: 0, till: 1, step: 1 }"),
        (8, 69),
        "unknown key `till`",
        "known keys: from, to, step, factor",
    );
}

/// Reads a scenario with a placement by a measured matrix, in a folder of its own.
fn measured(case: &str, objective: &str, table: &str) -> Result<weir_scenario::Scenario, (u32, u32, String)> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("matrix-{case}"));
    let text = with(&format!("{{ vary: placement, {objective} matrix: m.csv }}"));
    let ranked = text.replace("workload:", "ranks: [gpu0, gpu1]\nworkload:");
    write(&folder, &[("m.csv", table), ("s.yaml", &ranked)]);
    load(&folder.join("s.yaml"), &LoadOptions::default(), &registry()).map_err(|found| {
        let place = found[0].position.as_ref().map_or((0, 0), |p| (p.line, p.column));
        (place.0, place.1, found[0].message.clone())
    })
}

#[test]
fn a_matrix_is_read_by_names() {
    let table = "device, gpu1,gpu0,gpu7\ngpu0,9.5,,1e-3\ngpu7,2,3,-\ngpu1,,10,4\n";
    let scenario = measured("good", "objective: bandwidth,", table).expect("good");
    let matrix = scenario.optimize.as_ref().unwrap().matrix.as_ref().unwrap();
    let names: Vec<&str> = matrix.devices.iter().map(|&device| scenario.node_name(device)).collect();
    assert_eq!(names, ["gpu1", "gpu0", "gpu7"]);
    assert_eq!(matrix.rows, [[0.0, 10.0, 4.0], [9.5, 0.0, 1e-3], [2.0, 3.0, 0.0]]);
}

#[test]
fn wrong_matrices() {
    let wrong = |case: &str, objective: &str, table: &str, place: (u32, u32), message: &str| {
        let (line, column, said) = measured(case, objective, table).expect_err("refused");
        assert!(said.contains(message), "{said}");
        assert_eq!((line, column), place, "{said}");
    };
    let two = "device,gpu0,gpu1\ngpu0,,1\ngpu1,1,\n";
    assert!(measured("two", "objective: latency,", two).is_ok());
    wrong("objective", "objective: distance,", two, (9, 51), "`objective: latency` or `bandwidth` only");
    wrong("makespan", "", two, (9, 31), "`objective: latency` or `bandwidth` only");
    wrong("empty", "objective: latency,", "", (1, 1), "does not begin with `device`");
    wrong("name", "objective: latency,", "device,gpu0,gpx1\n", (1, 13), "gpx1");
    wrong("twice", "objective: latency,", "device,gpu0,gpu0\n", (1, 13), "`gpu0` has two columns");
    wrong("again", "objective: latency,", "device,gpu0,gpu1\ngpu0,,1\ngpu0,,1\n", (3, 1), "two rows");
    wrong("row", "objective: latency,", "device,gpu0,gpu1\ngpu0,,1\n", (9, 58), "no row for `gpu1`");
    wrong("column", "objective: latency,", "device,gpu0,gpu1\ngpu2,1,1\n", (2, 1), "`gpu2` has a row and no column");
    wrong("short", "objective: latency,", "device,gpu0,gpu1\ngpu0,1\n", (2, 1), "the row has 2 fields");
    let table = |cell: &str| format!("device,gpu0,gpu1\ngpu0,,{cell}\ngpu1,1,\n");
    wrong("huge", "objective: latency,", &table("1e400"), (2, 7), "`1e400` is too large");
    wrong("tiny", "objective: latency,", &table("1e-400"), (2, 7), "`1e-400` is too small");
    wrong("zero", "objective: latency,", &table("0e9"), (2, 7), "`0e9` is not a number above 0");
    for cell in ["0", "-1", "nan", "", "1GB/s"] {
        let table = format!("device,gpu0,gpu1\ngpu0,,{cell}\ngpu1,1,\n");
        let (line, ..) = measured("cell", "objective: latency,", &table).expect_err(cell);
        assert_eq!(line, 2, "{cell}");
    }
    wrong(
        "chosen",
        "objective: latency,",
        "device,gpu0,gpu2\ngpu0,,1\ngpu2,1,\n",
        (9, 58),
        "`gpu1` is not in the matrix",
    );
}
