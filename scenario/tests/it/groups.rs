//! `sequence`, `parallel`, `for`, `repeat` and `sizes`: what they become, and what is wrong with them.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::common::{bad, first_bad, good, on_t2, transfers, write};
use weir_scenario::{Input, LoadOptions, Scenario, expanded, load};
use weir_sim_core::TaskId;

/// The operations that a workload on T2 becomes, a line each.
#[track_caller]
fn written_out(workload: &str) -> Vec<String> {
    let text = on_t2(&format!("workload:\n{workload}"));
    // What it becomes is a scenario, too, of the same tasks.
    let flat = expanded(Input::text(text.clone(), "-", None), &LoadOptions::default()).unwrap();
    let (scenario, again) = (good(&text), good(&flat));
    assert_eq!(waits(&scenario), waits(&again));
    assert_eq!(transfers(&scenario), transfers(&again));
    let items = flat.lines().skip_while(|line| *line != "workload:").skip(1);
    items.map(|line| line.trim_start_matches("  - ").to_owned()).collect()
}

/// Names of all tasks with those of the tasks that wait for each.
fn waits(scenario: &Scenario) -> Vec<(String, Vec<String>)> {
    let name = |task: TaskId| scenario.task_name(task).into_owned();
    let tasks = (0..scenario.tasks.tasks().len() as u32).map(TaskId);
    tasks.map(|task| (name(task), scenario.tasks.successors(task).iter().map(|&later| name(later)).collect())).collect()
}

#[test]
fn loops_fill_names_and_arithmetic() {
    let lines = written_out(
        "  - { for: { i: [0..2, 7] }, transfer: { id: 'c{i}', from: 'gpu{i}', to: 'gpu{(i + 1) mod 8}', size: '{2 * i + 1}MB' } }\n",
    );
    assert_eq!(
        lines,
        [
            "transfer: { id: c0, from: gpu0, to: gpu1, size: 1MB }",
            "transfer: { id: c1, from: gpu1, to: gpu2, size: 3MB }",
            "transfer: { id: c2, from: gpu2, to: gpu3, size: 5MB }",
            "transfer: { id: c7, from: gpu7, to: gpu0, size: 15MB }",
        ]
    );
}

#[test]
fn the_first_variable_is_the_outermost_and_a_range_may_end_before_it_begins_by_one() {
    let lines = written_out(
        "  - for: { side: [a, b], i: 0..1 }\n    parallel:\n      - { for: { j: '{i + 1}..1' }, compute: { id: '{side}{i}{j}', device: gpu0, time: 1us } }\n      - compute: { id: '{{{side}}}{i}', device: gpu1, time: 1us }\n",
    );
    assert_eq!(
        lines,
        [
            "compute: { id: a01, device: gpu0, time: 1us }",
            "compute: { id: \"{a}0\", device: gpu1, time: 1us }",
            "compute: { id: \"{a}1\", device: gpu1, time: 1us }",
            "compute: { id: b01, device: gpu0, time: 1us }",
            "compute: { id: \"{b}0\", device: gpu1, time: 1us }",
            "compute: { id: \"{b}1\", device: gpu1, time: 1us }",
        ]
    );
}

#[test]
fn a_sequence_waits() {
    let lines = written_out(
        "  - sequence:\n      - parallel:\n          - compute: { id: a, device: gpu0, time: 1us }\n          - compute: { id: b, device: gpu1, time: 1us }\n      - compute: { id: c, device: gpu0, time: 1us }\n      - parallel: [ { compute: { id: d, device: gpu0, time: 1us, after: x } }, { compute: { id: e, device: gpu1, time: 1us } } ]\n      - parallel: [ { barrier: { id: f } }, { barrier: { id: g } } ]\n    id: whole\n    after: x\n  - compute: { id: x, device: gpu2, time: 1us }\n  - barrier: { after: whole }\n",
    );
    assert_eq!(
        lines,
        [
            "compute: { id: a, device: gpu0, time: 1us, after: x }",
            "compute: { id: b, device: gpu1, time: 1us, after: x }",
            "compute: { id: c, device: gpu0, time: 1us, after: [a, b] }",
            "compute: { id: d, device: gpu0, time: 1us, after: [x, c] }",
            "compute: { id: e, device: gpu1, time: 1us, after: c }",
            "barrier: { id: f, after: [d, e] }",
            "barrier: { id: g, after: [d, e] }",
            "barrier: { id: whole, after: [f, g] }",
            "compute: { id: x, device: gpu2, time: 1us }",
            "barrier: { id: \"workload[2]\", after: whole }",
        ]
    );
}

#[test]
fn names_in_a_repetition_mean_that_repetition_and_behind_it_the_last() {
    let lines = written_out(
        "  - sequence:\n      - pattern: { kind: ring, ranks: 'gpu[0-1]', size: 1MB }\n      - { repeat: 2, transfer: { id: t, from: gpu0, to: gpu1, size: 1MB, after: [ring.0-1, o] } }\n      - compute: { id: c, device: gpu0, time: 1us, after: t }\n    repeat: 2\n    id: step\n  - compute: { id: o, device: gpu0, time: 1us }\n  - barrier: { id: last, after: [t, step, ring.1-0, 't#1', 't#1#1', 'ring#1.0-1', 'step#1'] }\n",
    );
    assert_eq!(
        lines,
        [
            "pattern: { id: ring#1, kind: ring, ranks: \"gpu[0-1]\", size: 1MB }",
            "transfer: { id: t#1#1, from: gpu0, to: gpu1, size: 1MB, after: [ring#1.0-1, o, ring#1] }",
            "transfer: { id: t#1#2, from: gpu0, to: gpu1, size: 1MB, after: [ring#1.0-1, o, t#1#1] }",
            "compute: { id: c#1, device: gpu0, time: 1us, after: t#1#2 }",
            "barrier: { id: step#1, after: c#1 }",
            "pattern: { id: ring#2, kind: ring, ranks: \"gpu[0-1]\", size: 1MB, after: step#1 }",
            "transfer: { id: t#2#1, from: gpu0, to: gpu1, size: 1MB, after: [ring#2.0-1, o, ring#2] }",
            "transfer: { id: t#2#2, from: gpu0, to: gpu1, size: 1MB, after: [ring#2.0-1, o, t#2#1] }",
            "compute: { id: c#2, device: gpu0, time: 1us, after: t#2#2 }",
            "barrier: { id: step#2, after: c#2 }",
            "compute: { id: o, device: gpu0, time: 1us }",
            "barrier: { id: last, after: [t#2#2, step#2, ring#2.1-0, \"t#1#2\", \"t#1#1\", \"ring#1.0-1\", \"step#1\"] }",
        ]
    );
}

#[test]
fn numbers_behind_a_name_count_within_the_same_repetition() {
    let lines = written_out(
        "  - repeat: 2\n    sequence:\n      - { repeat: 3, barrier: { id: t } }\n      - barrier: { id: s, after: ['t#2', a.b.0-1] }\n      - pattern: { id: a, kind: ring, ranks: 'gpu[0-1]', size: 1B }\n  - pattern: { id: a.b, kind: ring, ranks: 'gpu[0-1]', size: 1B }\n  - barrier: { after: ['t#1', 't#1#1', 's#1', 'a#1.0-1'] }\n",
    );
    assert_eq!(lines[3], "barrier: { id: s#1, after: [\"t#1#2\", a.b.0-1, t#1#3] }");
    assert_eq!(lines[8], "barrier: { id: s#2, after: [\"t#2#2\", a.b.0-1, t#2#3] }");
    assert_eq!(lines[11], "barrier: { id: \"workload[2]\", after: [\"t#1#3\", \"t#1#1\", \"s#1\", \"a#1.0-1\"] }");
}

/// Repetitions of another group are not the same one, whatever their numbers.
#[test]
fn repetitions_of_two_groups_are_not_paired_by_number() {
    let lines = written_out(
        "  - { repeat: 2, barrier: { id: a } }\n  - { repeat: 3, barrier: { id: b, after: a } }\n  - { repeat: 1, barrier: { id: c, after: ['a#1', b] } }\n",
    );
    let expected = ["id: b#1, after: a#2", "id: b#2, after: [a#2, b#1]", "id: b#3, after: [a#2, b#2]"];
    for (line, expected) in lines[2..].iter().zip(expected) {
        assert_eq!(*line, format!("barrier: {{ {expected} }}"));
    }
    assert_eq!(lines[5], "barrier: { id: c#1, after: [\"a#1\", b#3] }");
    // The repetition around both is the same one, those within it are not.
    let lines = written_out(
        "  - repeat: 2\n    parallel: [ { repeat: 2, barrier: { id: a } }, { repeat: 2, barrier: { id: b, after: a } } ]\n",
    );
    assert_eq!(lines[2], "barrier: { id: b#1#1, after: a#1#2 }");
    assert_eq!(lines[6], "barrier: { id: b#2#1, after: [a#2#2, a#1#2, b#1#2] }");
}

#[test]
fn many_wait_for_many_through_one_barrier() {
    let group = |name: &str, count: u32| {
        format!("{{ for: {{ i: [1..{count}] }}, parallel: [ {{ barrier: {{ id: '{name}{{i}}' }} }} ] }}")
    };
    let direct = written_out(&format!("  - sequence: [ {}, {} ]\n", group("a", 8), group("b", 8)));
    assert_eq!(direct.len(), 16);
    assert_eq!(direct[15], "barrier: { id: b8, after: [a1, a2, a3, a4, a5, a6, a7, a8] }");
    let joined = written_out(&format!("  - sequence: [ {}, {} ]\n", group("a", 8), group("b", 9)));
    assert_eq!(joined.len(), 18);
    assert_eq!(joined[16], "barrier: { id: b9, after: \"join[0]\" }");
    assert_eq!(joined[17], "barrier: { id: \"join[0]\", after: [a1, a2, a3, a4, a5, a6, a7, a8] }");
    let names: Vec<String> = (1..=9).map(|i| format!("b{i}")).collect();
    let after = group("a", 8).replace("parallel", &format!("after: [{}], parallel", names.join(", ")));
    let joined = written_out(&format!("  - {after}\n  - {}\n", group("b", 9)));
    assert_eq!(joined[0], "barrier: { id: a1, after: \"join[0]\" }");
    assert_eq!(joined[8], format!("barrier: {{ id: \"join[0]\", after: [{}] }}", names.join(", ")));
}

#[test]
fn operations_without_ids_are_called_by_their_place_and_the_values_of_loops() {
    let lines = written_out(
        "  - compute: { device: gpu0, time: 1us }\n  - { for: { i: [0, 1] }, sequence: [ { compute: { device: 'gpu{i}', time: 1us } } ], repeat: 2 }\n",
    );
    assert_eq!(lines[0], "compute: { id: \"workload[0]\", device: gpu0, time: 1us }");
    assert_eq!(lines[1], "compute: { id: \"workload[1].sequence[0] i=0#1\", device: gpu0, time: 1us }");
    assert_eq!(
        lines[4],
        "compute: { id: \"workload[1].sequence[0] i=1#2\", device: gpu1, time: 1us, after: \"workload[1].sequence[0] i=0#2\" }"
    );
}

/// A workload on T2 beside a table.
fn with_table(table: &str, workload: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("s.csv", table), ("a.yaml", &on_t2(&format!("workload:\n{workload}")))]);
    load(&folder.path().join("a.yaml"), &LoadOptions::default(), &crate::common::registry()).map_err(|found| {
        let found = &found[0];
        let place = found.position.as_ref().map(|p| format!("{}:{}", p.line, p.column)).unwrap_or_default();
        format!("{place} {}; {}", found.message, found.help.as_deref().unwrap_or_default())
    })
}

#[test]
fn each_row_of_a_table_is_a_repetition() {
    let group = "  - { sizes: { from: s.csv }, transfer: { id: t, from: gpu0, to: 'gpu{to}', size: '{size}' } }\n";
    let scenario = with_table("size,to\n1MB,1\n 2MB , 2\n", group).unwrap();
    assert_eq!(transfers(&scenario), ["t#1 gpu0->gpu1 1000000", "t#2 gpu0->gpu2 2000000"]);
    assert_eq!(waits(&scenario)[0], ("t#1".to_owned(), vec!["t#2".to_owned()]));
    let wrong = |table: &str| with_table(table, group).map(|_| ()).unwrap_err();
    assert_eq!(wrong(""), "1:1 the table is empty; name the columns in the first line");
    assert_eq!(wrong("size,to\n"), "6:22 the table has no rows; give a row for each repetition");
    assert!(wrong("size,to\n1MB\n").starts_with("2:1 a row of 1 fields under 2 columns"));
    assert!(wrong("size,to\n1MB,\n").starts_with("2:5 an empty field"));
    assert!(wrong("size,size\n1MB,1\n").starts_with("1:6 a column: `size` is given twice"));
    assert!(wrong("size,1\n1MB,1\n").starts_with("1:6 a column: `1` cannot name a variable"));
    let twice = group.replace("{ sizes", "{ repeat: 3, sizes");
    let said = with_table("size,to\n1MB,1\n", &twice).map(|_| ()).unwrap_err();
    assert!(said.contains("`sizes` has 1 rows for 3 repetitions; write `repeat: 1`"), "{said}");
}

/// What is wrong with a value that a row gave names the row, too; what no row gave is said once.
#[test]
fn a_wrong_value_names_the_row_that_it_is_from() {
    let folder = tempfile::tempdir().unwrap();
    let group = "  - { sizes: { from: s.csv }, transfer: { id: t, from: gpu0, to: gpu1, size: '{bytes}B' } }\n";
    let found = |group: &str| {
        let text = on_t2(&format!("workload:\n{group}"));
        write(folder.path(), &[("s.csv", "bytes\n1000000\n0\n0\n"), ("a.yaml", &text)]);
        let loaded = load(&folder.path().join("a.yaml"), &LoadOptions::default(), &crate::common::registry());
        loaded.map(|scenario| scenario.name).unwrap_err()
    };
    let zero = found(group);
    let rows: Vec<(u32, u32)> = zero.iter().map(|one| (one.notes[0].1.line, one.notes[0].1.column)).collect();
    assert_eq!(rows, [(3, 1), (4, 1)]);
    assert!(zero[0].to_string().contains("= the value is from: ") && zero[0].message.contains("`0B` is zero bytes"));
    let device = found(&group.replace("gpu1", "gpu9").replace("'{bytes}B'", "1MB"));
    assert_eq!((device.len(), device[0].notes.len()), (1, 0), "{device:?}");
}

/// Ids have at most 256 bytes. The path of an operation without an id is one up to there, and its number beyond.
#[test]
fn deep_groups_need_no_ids() {
    let nested = |levels: usize| {
        let operation = "transfer: { from: gpu0, to: gpu1, size: 1MB }";
        let workload = format!("  - {}{{ {operation} }}{}\n", "{ sequence: [".repeat(levels), "] }".repeat(levels));
        written_out(&workload).concat()
    };
    let path = format!("workload[0]{}", ".sequence[0]".repeat(20));
    assert!(nested(20).contains(&format!("id: \"{path}\"")), "{}", nested(20));
    assert!(nested(28).contains("id: \"operation[0]\""), "{}", nested(28));
}

#[test]
fn what_is_wrong_with_a_group_is_said_once_at_its_place() {
    let all = [
        ("{ sequence: [] }", (6, 17), "the group is empty"),
        ("{ sequence: [ { barrier: {} } ], parallel: [] }", (6, 38), "a group is either a `sequence` or `parallel`"),
        ("{ repeat: 2 }", (6, 5), "a group without operations"),
        ("{ repeat: 0, barrier: { id: a } }", (6, 15), "`repeat`: `0` is too few"),
        ("{ repeat: 2, barrier: {}, compute: {} }", (6, 31), "beside `for`, `repeat` and `sizes` stands one operation"),
        ("{ sequence: [ { barrier: {} } ], barier: {} }", (6, 38), "unknown key `barier` in a group"),
        ("{ for: { 1i: [0..1] }, barrier: {} }", (6, 14), "`for`: `1i` cannot name a variable"),
        ("{ for: { i: [3..1] }, barrier: {} }", (6, 18), "`i` in `for`: the range `3..1` ends before it begins"),
        (
            "{ for: { i: [0..x] }, barrier: {} }",
            (6, 18),
            "`i` in `for`: the range `0..x` has an end that is no whole number",
        ),
        ("{ for: { i: [000000000000000000000..1] }, barrier: {} }", (6, 18), "has an end of more than 20 digits"),
        (
            "{ repeat: 18446744073709551615, for: { i: [] }, barrier: {} }",
            (6, 5),
            "the groups of the workload become more",
        ),
        (
            "{ for: { a: xxxxxxxx }, parallel: [ { for: { b: '{a}{a}{a}{a}{a}{a}{a}{a}' }, parallel: [ { for: { c: '{b}{b}{b}{b}{b}{b}{b}{b}' }, parallel: [ { for: { d: '{c}{c}{c}{c}{c}{c}{c}{c}{c}' }, barrier: {} } ] } ] } ] }",
            (6, 161),
            "a text of 4608 bytes",
        ),
        ("{ for: { i: [0..1] }, barrier: { id: 'a{j}' } }", (6, 42), "no variable has the name `j`"),
        ("{ for: { i: [0..1] }, barrier: { id: 'a{i' } }", (6, 42), "`a{i` has an unmatched brace"),
        ("{ for: { i: [0, 1] }, barrier: { id: a } }", (6, 42), "the id `a` is given twice"),
        (
            "{ for: { i: [0] }, parallel: [ { for: { i: [0] }, barrier: {} } ] }",
            (6, 45),
            "`for`: `i` is a variable already",
        ),
        (
            "{ for: { i: [0..999999999] }, barrier: { id: 'a{i}' } }",
            (6, 5),
            "the groups of the workload become more than 5000000 values",
        ),
        (
            "{ repeat: 1000000000, sequence: [ { barrier: {} } ] }",
            (6, 5),
            "the groups of the workload become more than",
        ),
        (
            "{ for: { i: [0..999], j: [0..999], k: [0..999] }, barrier: {} }",
            (6, 5),
            "the groups of the workload become more",
        ),
        (
            "{ for: { i: [1..3000] }, parallel: [ { for: { j: ['1..{i * 1000}'] }, barrier: {} } ] }",
            (6, 42),
            "the groups of the workload become more",
        ),
        ("{ repeat: 3, transfer: { from: gpu0, to: gpu9, size: 1MB } }", (6, 46), "no node is named `gpu9`"),
        (
            "{ sequence: [ { barrier: {} }, { barrier: { after: { x: y } } } ] }",
            (6, 56),
            "an id in `after` must be one value, not a map",
        ),
        (
            "{ sequence: [ { barrier: {} }, { barrier: { after: [a, ] } } ] }",
            (6, 57),
            "`after` names `a`, but nothing has this id",
        ),
        (
            "{ repeat: 2, sequence: [ { barrier: {} } ], after: }",
            (6, 54),
            "an id in `after` must be one value, not empty",
        ),
        ("{ sequenz: [ { barrier: {} } ] }", (6, 7), "unknown operation `sequenz`"),
    ];
    for (item, place, message) in all {
        let text = on_t2(&format!("workload:\n  - {item}\n"));
        let (line, column, said, _) = first_bad(&*text);
        assert!(said.contains(message), "{item}: {said}");
        assert_eq!((line, column), place, "{item}: {said}");
        assert_eq!(bad(&*text).len(), 1, "{item}");
    }
}

/// Operations in groups, as a tree.
#[derive(Clone, Debug)]
enum Tree {
    Leaf,
    Group { is_sequence: bool, repeat: u32, items: Vec<Tree> },
}

fn tree() -> impl Strategy<Value = Tree> {
    Just(Tree::Leaf).prop_recursive(3, 12, 3, |inner| {
        (any::<bool>(), 1..3_u32, prop::collection::vec(inner, 1..4))
            .prop_map(|(is_sequence, repeat, items)| Tree::Group { is_sequence, repeat, items })
    })
}

/// Where an operation stands among its siblings, from the outside in: repetition and place, and whether the place orders.
type Way = Vec<(u32, usize, bool)>;

/// Writes a tree as YAML; adds the name and the way of each operation that it becomes.
fn write_tree(tree: &Tree, leaf: &mut usize, all: &mut Vec<(String, Way)>, around: &[(String, Way)]) -> String {
    match tree {
        Tree::Leaf => {
            let id = format!("o{leaf}");
            *leaf += 1;
            all.extend(around.iter().map(|(suffix, way)| (format!("{id}{suffix}"), way.clone())));
            format!("{{ barrier: {{ id: {id} }} }}")
        }
        Tree::Group { is_sequence, repeat, items } => {
            let mut text = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let one = |(suffix, way): &(String, Way), repetition: u32| {
                    let mut way = way.clone();
                    way.push((repetition, place, *is_sequence));
                    (format!("{suffix}#{repetition}"), way)
                };
                let inner: Vec<_> =
                    around.iter().flat_map(|around| (1..=*repeat).map(move |number| one(around, number))).collect();
                text.push(write_tree(item, leaf, all, &inner));
            }
            let kind = if *is_sequence { "sequence" } else { "parallel" };
            format!("{{ repeat: {repeat}, {kind}: [ {} ] }}", text.join(", "))
        }
    }
}

/// Whether the groups put one operation before another.
fn is_before(a: &Way, b: &Way) -> bool {
    let differ = a.iter().zip(b).find(|(a, b)| (a.0, a.1) != (b.0, b.1));
    differ.is_some_and(|(a, b)| a.0 < b.0 || (a.0 == b.0 && a.2 && a.1 < b.1))
}

/// The names of all that waits for a task, at once or later.
fn later(scenario: &Scenario, task: TaskId, seen: &mut BTreeSet<u32>) {
    for &next in scenario.tasks.successors(task) {
        if seen.insert(next.0) {
            later(scenario, next, seen);
        }
    }
}

proptest! {
    /// One operation waits for another exactly where the nesting of groups puts it behind: read off the tree, pair by pair.
    #[test]
    fn waits_are_those_of_the_nesting(items in prop::collection::vec(tree(), 1..3)) {
        let (mut leaf, mut all, mut text) = (0, Vec::new(), String::from("workload:\n"));
        for item in &items {
            // Items of the workload are not ordered.
            let mut own = Vec::new();
            text += &format!("  - {}\n", write_tree(item, &mut leaf, &mut own, &[(String::new(), Vec::new())]));
            let top = all.len();
            all.extend(own.into_iter().map(|(name, way)| (name, top, way)));
        }
        let scenario = good(&on_t2(&text));
        let mut found = BTreeSet::new();
        for task in (0..scenario.tasks.tasks().len() as u32).map(TaskId) {
            let mut seen = BTreeSet::new();
            later(&scenario, task, &mut seen);
            let name = scenario.task_name(task).into_owned();
            let pairs = seen.into_iter().map(|later| (name.clone(), scenario.task_name(TaskId(later)).into_owned()));
            found.extend(pairs.filter(|(a, b)| a.starts_with('o') && b.starts_with('o')));
        }
        let mut expected = BTreeSet::new();
        for (a, item_a, way_a) in &all {
            for (b, item_b, way_b) in &all {
                if item_a == item_b && is_before(way_a, way_b) {
                    expected.insert((a.clone(), b.clone()));
                }
            }
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_pattern_may_say_in_which_order_its_devices_send() {
    let pattern = |order: &str| {
        on_t2(&format!("workload:\n  - pattern: {{ id: h, kind: halo, grid: [3], size: 1MB, order: {order} }}\n"))
    };
    let scenario = |order: &str| -> Vec<String> {
        let short = |line: String| line.split(' ').next().unwrap().to_owned();
        transfers(&good(&pattern(order))).into_iter().map(short).collect()
    };
    assert_eq!(scenario("{ gpu1: [1-2, 1-0] }"), ["h.0-1", "h.1-2", "h.1-0", "h.2-1"]);
    assert_eq!(scenario("{}"), ["h.0-1", "h.1-0", "h.1-2", "h.2-1"]);
    let wrong = [
        ("[1-2]", "`order` must be a map, not a list"),
        ("{ gpu9: [] }", "no node is named `gpu9`"),
        ("{ gpu7: [] }", "`gpu7` sends no message of this pattern"),
        ("{ gpu1: [1-2] }", "the order of `gpu1` lacks `1-0`"),
        ("{ gpu1: [1-2, 1-2] }", "`1-2` is listed twice"),
        ("{ gpu1: [1-2, 2-1] }", "`2-1` is none that it sends"),
        ("{ gpu1: [1-2, 1-0], plx0/k80a/gpu1: [1-0, 1-2] }", "or has an order already"),
    ];
    for (order, message) in wrong {
        let (_, _, said, _) = first_bad(pattern(order));
        assert!(said.contains(message), "{order}: {said}");
    }
}
