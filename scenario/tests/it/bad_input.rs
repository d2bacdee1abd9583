//! Every kind of bad input ends in a message with file, line, column and remedy.

use crate::common::{bad, first_bad, good, on_t2};

/// A scenario on T2 whose workload is one operation, on line 6.
fn one(operation: &str) -> String {
    on_t2(&format!("workload:\n  - {operation}\n"))
}

/// Checks place, message and remedy of the first finding.
#[track_caller]
fn refused(text: impl Into<Vec<u8>>, place: (u32, u32), message: &str, help: &str) {
    let (line, column, said, remedy) = first_bad(text);
    assert!(said.contains(message), "message: {said}");
    assert!(remedy.contains(help), "remedy: {remedy} ({said})");
    assert_eq!((line, column), place, "{said}");
}

#[test]
fn unknown_keys() {
    refused(
        one("transfer: { id: a, from: gpu0, to: gpu1, sise: 3MB }"),
        (6, 46),
        "unknown key `sise` in a transfer",
        "did you mean `size`?",
    );
    refused(on_t2("wrkload: []\n"), (5, 1), "unknown key `wrkload` in the scenario", "did you mean `workload`?");
    let below = "it is a key of `topology`: move it into that map";
    refused(on_t2("tree: {}\nworkload: []\n"), (5, 1), "unknown key `tree` in the scenario", below);
    refused(on_t2("workload:\n  - trasnfer: {}\n"), (6, 5), "unknown operation `trasnfer`", "did you mean `transfer`?");
    refused(one("pattern: { kind: ring, size: 1MB, grid: [2] }"), (6, 39), "unknown key `grid` in a pattern", "size");
    refused(
        "weir: 1\ntopology:\n  tree: { r: { kind: switch, knd: 1 } }\nworkload: []\n",
        (3, 30),
        "`knd` in node `r`",
        "`kind`",
    );
}

#[test]
fn repeated_keys_name_both_places() {
    let text = one("transfer: { from: gpu0, to: gpu1, size: 3MB, from: gpu2 }");
    refused(text.as_str(), (6, 50), "the key `from` is given twice", "keep one");
    let found = bad(text);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].notes[0].1.line, found[0].notes[0].1.column), (6, 17));
    refused("weir: 1\nname: x\nweir: 1\n", (3, 1), "the key `weir` is given twice", "keep one");
}

#[test]
fn missing_or_wrong_units() {
    let size = |size: &str| one(&format!("transfer: {{ from: gpu0, to: gpu1, size: {size} }}"));
    refused(size("300"), (6, 45), "`size` of a transfer: `300` has no unit", "300MB");
    refused(size("0"), (6, 45), "`0` has no unit", "B kB MB GB");
    refused(size("300mb"), (6, 45), "unknown unit `mb`", "did you mean `MB`?");
    refused(size("300MB/s"), (6, 45), "unknown unit `MB/s`", "units of size: B kB");
    refused(size("0.5B"), (6, 45), "not a whole number of bytes", "whole number");
    refused(size("9007199254740993B"), (6, 45), "too large", "2^53");
    refused(size("1e999999999MB"), (6, 45), "too large", "2^53");
    refused(size("1e-999999999MB"), (6, 45), "not a whole number of bytes", "whole");
    refused(size("MB"), (6, 45), "`MB` is not a size", "300MB");
    refused(size("[1MB]"), (6, 45), "must be one value, not a list", "single");
    refused(size("1_000B"), (6, 45), "unknown unit `_000B`", "units of size");
    refused(one("transfer: { from: gpu0, to: gpu1, size: 1MB, start: 5 }"), (6, 57), "`5` has no unit", "ps ns us µs");
    refused(one("transfer: { from: gpu0, to: gpu1, size: 1MB, start: 0 }"), (6, 57), "`0` has no unit", "ms");
    refused(one("transfer: { from: gpu0, to: gpu1, size: 1MB, start: 5 S }"), (6, 57), "unit `S`", "did you mean `s`?");
    refused(one("transfer: { from: gpu0, to: gpu1, size: 1MB, start: 101d }"), (6, 57), "horizon", "100d");
    refused(one("transfer: { from: gpu0, to: gpu1, size: 1MB, limit: 5GB }"), (6, 57), "unit `GB`", "followed by /s");
}

#[test]
fn numbers_that_are_none() {
    let size = |size: &str| one(&format!("transfer: {{ from: gpu0, to: gpu1, size: {size} }}"));
    for text in ["NaN", ".nan", "inf", "-.inf", "+Infinity", "infMB"] {
        refused(size(text), (6, 45), "is not a finite number", "finite");
    }
    refused(size("-3MB"), (6, 45), "`-3MB` is negative", "not negative");
    refused(size("0MB"), (6, 45), "`0MB` is zero bytes", "at least 1B");
    let weight = |w: &str| one(&format!("transfer: {{ from: gpu0, to: gpu1, size: 1B, weight: {w} }}"));
    refused(weight("nan"), (6, 57), "not a finite number", "finite");
    refused(weight("-1"), (6, 57), "negative", "not negative");
    refused(weight("0"), (6, 57), "zero", "from 1e-9 to 1e9");
    refused(weight("1e-300"), (6, 57), "too small", "from 1e-9 to 1e9");
    refused(weight("1e308"), (6, 57), "too large", "from 1e-9 to 1e9");
    refused(weight("heavy"), (6, 57), "not a number", "plain number");
    let bandwidth = |b: &str| {
        format!(
            "weir: 1\ntopology:\n  link_types: {{ l: {{ bandwidth: {b} }} }}\n  tree: {{ a: {{ kind: gpu }} }}\nworkload: []\n"
        )
    };
    refused(bandwidth("0GB/s"), (3, 33), "is zero", "from 0.001 B/s");
    refused(bandwidth("1e400GB/s"), (3, 33), "too large", "from 0.001 B/s to 1e18 B/s");
    refused(bandwidth("1e299GB/s"), (3, 33), "too large", "from 0.001 B/s to 1e18 B/s");
    for wrong in ["16Gbps", "16Gbit/s"] {
        refused(bandwidth(wrong), (3, 33), "unknown unit", "Gb/s`?");
    }
    refused(bandwidth("16GT/s x+16"), (3, 33), "names no lanes", "16GT/s x16");
    let limit = |l: &str| one(&format!("transfer: {{ from: gpu0, to: gpu1, size: 1B, limit: {l} }}"));
    refused(limit("1e299GB/s"), (6, 56), "too large", "from 0.001 B/s to 1e18 B/s");
    refused(limit("1e-4B/s"), (6, 56), "too small", "from 0.001 B/s to 1e18 B/s");
    let lanes = bandwidth("x").replace("bandwidth: x", "generation: 4, width: 16, efficiency: 1e-300");
    refused(lanes, (3, 44), "`16` times `efficiency` is too small", "from 0.001 B/s");
    refused(bandwidth("17GT/s x16"), (3, 33), "no generation of PCI Express", "2.5, 5, 8");
    refused(bandwidth("16GT/s"), (3, 33), "names no lanes", "16GT/s x16");
    refused(bandwidth("16GT/s x3"), (3, 33), "a width of 3 lanes", "1, 2, 4");
}

#[test]
fn unknown_names() {
    refused(
        one("transfer: { from: gpu0, to: gpv1, size: 1MB }"),
        (6, 33),
        "no node is named `gpv1`",
        "did you mean `gpu1`?",
    );
    refused(one("transfer: { from: plx0, to: gpu1, size: 1MB }"), (6, 23), "`plx0` is a switch", "gpu, fpga");
    refused(
        one("transfer: { from: gpu0, to: gpu1, size: 1MB, after: [b] }"),
        (6, 58),
        "`after` names `b`, but nothing has this id",
        "known ids: workload[0]",
    );
    refused(
        on_t2("arbiter: max-mn\nworkload: []\n"),
        (5, 10),
        "no arbiter is named `max-mn`",
        "did you mean `max-min`?",
    );
    refused(
        "weir: 1\ntopology:\n  tree: { r: { kind: gpux } }\nworkload: []\n",
        (3, 22),
        "no node has the kind `gpux`",
        "did you mean `gpu`?",
    );
    let link = "weir: 1\ntopology:\n  link_types: { pcie: { bandwidth: 1GB/s } }\n  tree: { r: { kind: switch, children: { a: { kind: gpu, link: LINK } } } }\nworkload: []\n";
    refused(link.replace("LINK", "pci"), (4, 64), "no link type is named `pci`", "did you mean `pcie`?");
    refused(link.replace("LINK", "1GB/s"), (4, 64), "no link type is named `1GB/s`", "{ bandwidth: 1GB/s }");
}

#[test]
fn ends_and_routes() {
    refused(one("transfer: { from: gpu0, to: gpu0, size: 1MB }"), (6, 33), "the same node, `gpu0`", "two different");
    let two = "weir: 1\ntopology:\n  tree: { a: { kind: host }, b: { kind: host } }\nworkload:\n  - transfer: { from: a, to: b, size: 1MB }\n";
    refused(two, (5, 30), "`b` cannot be reached from `a`", "`links`");
}

#[test]
fn links_named_twice() {
    let links = |links: &str| {
        format!(
            "weir: 1\ntopology:\n  link_types: {{ q: {{ bandwidth: 1GB/s }} }}\n  tree: {{ \"r[0-3]\": {{ kind: host }} }}\n  links:\n{links}\nworkload: []\n"
        )
    };
    let twice = "    - { between: [r0, r1], type: q }\n    - { between: [r1, r0], type: q }";
    refused(links(twice), (7, 18), "`r1` and `r0` are joined twice", "keep one");
    refused(links("    - { between: [r0, r0], type: q }"), (6, 18), "from `r0` to itself", "two different");
    refused(
        links("    - { between: [\"r[0-2]\", \"r[2-3]\"], type: q }"),
        (6, 18),
        "3 nodes on one side and 2",
        "as many",
    );
    refused(links("    - { between: [r0, r9], type: q }"), (6, 23), "no node is named `r9`", "did you mean `r0`?");
    refused(links("    - { between: [r0], type: q }"), (6, 18), "joins two nodes", "between: [rc0, rc1]");
    let two = "weir: 1\ntopology:\n  link_types: { q: { bandwidth: 1GB/s } }\n  tree: { r: { kind: switch, children: { a: { kind: gpu, link: q, link: q } } } }\n";
    refused(two, (4, 67), "the key `link` is given twice", "keep one");
}

#[test]
fn cycles_in_after() {
    let text = on_t2(
        "workload:\n  - transfer: { id: a, from: gpu0, to: gpu1, size: 1MB, after: [c] }\n  - transfer: { id: b, from: gpu0, to: gpu1, size: 1MB, after: [a] }\n  - transfer: { id: c, from: gpu0, to: gpu1, size: 1MB, after: [b] }\n",
    );
    refused(text.as_str(), (6, 21), "a cycle in `after`: `a` before `b` before `c` before `a`", "remove one");
    let notes = &bad(text)[0].notes;
    assert_eq!(notes.iter().map(|(n, p)| (n.as_str(), p.line)).collect::<Vec<_>>(), [("`b`", 7), ("`c`", 8)]);
    refused(one("barrier: { id: b, after: b }"), (6, 20), "`b` before `b`", "remove one");
    refused(
        on_t2(
            "workload:\n  - pattern: { id: p, kind: ring, size: 1kB, after: q }\n  - pattern: { id: q, kind: ring, size: 1kB, after: p }\n",
        ),
        (6, 20),
        "a cycle in `after`: `p.",
        "remove one",
    );
}

#[test]
fn aliases() {
    refused(
        "weir: 1\ntopology:\n  tree: { r: &a { kind: switch, children: { b: *a } } }\nworkload: []\n",
        (3, 48),
        "an alias inside the value that it names: a cycle",
        "no cycles",
    );
    refused("weir: *nothing\n", (1, 7), "not defined before it", "in full");
    refused("weir: 1\n<<: { name: x }\n", (2, 1), "merge keys", "in full");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..40 {
        let items = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{items}]\n"));
    }
    refused(bomb, (4, 45), "aliases repeat more than 10000 values", "brackets");
}

#[test]
fn repetition_without_bound() {
    let repeat = "transfer: { from: gpu0, to: gpu1, size: 1MB, repeat: 1000000000 }";
    refused(one(repeat), (6, 58), "more than 10000000 transfers", "fewer");
    refused(one(&repeat.replace("1000000000", "1e9")), (6, 58), "not a whole number", "whole number");
    refused(one(&repeat.replace("1000000000", &"9".repeat(50))), (6, 58), "too large", "whole number");
    let tree = |inside: &str| format!("weir: 1\ntopology:\n  tree: {{ {inside} }}\nworkload: []\n");
    refused(tree("r: { kind: host, repeat: 1000000000 }"), (3, 36), "more than 10000000 nodes", "fewer");
    refused(tree("\"r[0-999999999]\": { kind: host }"), (3, 11), "more than 10000000 nodes", "fewer");
    let nested = "link: { bandwidth: 1GB/s }";
    refused(
        tree(&format!(
            "r: {{ kind: switch, repeat: 10000, children: {{ s: {{ kind: gpu, {nested}, repeat: 10000 }} }} }}"
        )),
        (3, 38),
        "more than 10000000 nodes",
        "fewer",
    );
    refused(
        one("pattern: { kind: random, count: 20000000, seed: 1, size: 1kB }"),
        (6, 14),
        "more than 10000000 transfers",
        "fewer",
    );
    refused(tree("\"r[0-3]\": { kind: host, repeat: 2 }"), (3, 35), "brackets and `repeat`", "one of the two");
}

#[test]
fn files_that_are_no_scenarios() {
    refused("", (1, 1), "the file is empty", "weir init");
    refused("# only a comment\n", (1, 1), "the file is empty", "weir init");
    refused(b"\x7fELF\x02\x01\x01\x00\x00".to_vec(), (1, 1), "not a text file", "UTF-8");
    refused(b"weir: 1\nname: \xff\xfe\n".to_vec(), (2, 7), "not UTF-8", "UTF-8");
    refused("weir: 1\nname: a\u{1b}[31mb\n", (2, 8), "a control character", "UTF-8");
    refused("just words", (1, 1), "a scenario must be a map", "workload");
    refused("- weir: 1\n", (1, 1), "must be a map, not a list", "workload");
    refused("weir: 1\n---\nweir: 1\n", (2, 1), "a second YAML document", "one scenario per file");
    refused("weir: 1\nname: !!str x\n", (2, 13), "tags", "remove");
    refused("weir: 1\n\tname: x\n", (2, 1), "not valid YAML", "spaces");
    refused("weir: 1\nname: [a\n", (2, 7), "not valid YAML", "brackets");
    refused("weir: 2\n", (1, 7), "version `2`", "weir: 1");
    refused("name: x\nworkload: []\n", (1, 1), "needs the key `weir`", "add the line `weir: 1`");
    refused("weir: 1\nlink_types: {}\ntree: {}\n", (3, 1), "a topology, not a scenario", "topology:");
    // Nobody serves them in this registry.
    for model in ["offload", "put", "gather"] {
        refused(one(&format!("{model}: {{ id: x }}")), (6, 5), &format!("unknown operation `{model}`"), "transfer");
    }
    refused(
        one("transfer: { from: gpu0, to: gpu1, size: 1B, model: { name: loggp } }"),
        (6, 64),
        "no model is named `loggp`",
        "no models of transfers here",
    );
}

/// Priorities are whole numbers of 64 bits, the lowest among them.
#[test]
fn the_ends_of_priorities() {
    let with =
        |priority: &str| one(&format!("transfer: {{ id: a, from: gpu0, to: gpu1, size: 3MB, priority: {priority} }}"));
    for (text, number) in [("-9223372036854775808", i64::MIN), ("9223372036854775807", i64::MAX)] {
        assert_eq!(good(&with(text)).tasks.classes().table().priority[0], number);
    }
    for text in ["-9223372036854775809", "9223372036854775808"] {
        refused(with(text), (6, 67), &format!("`{text}` needs more than 64 bits"), "a whole number");
    }
    for text in ["'-'", "1.5", "--1", "+1"] {
        refused(with(text), (6, 67), "is not a whole number", "a whole number");
    }
}

#[test]
fn deep_nesting() {
    refused("[".repeat(200_000), (1, 65), "nested deeper than 64 levels", "at most 64");
    refused("{a: ".repeat(200_000), (1, 257), "nested deeper than 64 levels", "at most 64");
    refused("- ".repeat(200_000), (1, 129), "nested deeper than 64 levels", "at most 64");
    let mut blocks = String::new();
    for i in 0..300 {
        blocks.push_str(&format!("{}a:\n", " ".repeat(i)));
    }
    refused(blocks, (65, 65), "nested deeper than 64 levels", "at most 64");
    let deep = format!("a: &a {}1{}\nb: {}*a{}\n", "[".repeat(40), "]".repeat(40), "[".repeat(40), "]".repeat(40));
    refused(deep, (2, 44), "nested deeper than 64 levels", "at most 64");
}

#[test]
fn several_errors_at_once() {
    let text = on_t2(
        "arbiter: { name: pcie-congestion, tua: 1 }\nworkload:\n  - transfer: { from: gpu9, to: gpu8, size: 1mb }\n  - barrier: { ids: 1 }\n",
    );
    let found: Vec<(u32, u32)> =
        bad(text).iter().map(|d| d.position.as_ref().map(|p| (p.line, p.column)).unwrap()).collect();
    assert_eq!(found, [(5, 35), (7, 23), (7, 33), (7, 45), (8, 16)]);
    let many = on_t2(&format!("workload:\n{}", "  - transfer: {}\n".repeat(1000)));
    assert_eq!(bad(many).len(), 21);
}
