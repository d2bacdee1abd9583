//! Regions: what equal totals decide, and who waits for whom.

use weir::{Input, Scenario};

/// Ends by id, ps.
fn ends(text: &str) -> Vec<(String, u64)> {
    let scenario = Scenario::opener().load(Input::text(text.to_owned(), "regions.yaml", None)).expect("is right");
    let run = scenario.run().expect("ends");
    let mut ends: Vec<_> =
        run.transfers().expect("are named").into_iter().map(|t| (t.id, t.end.expect("it ended").0)).collect();
    ends.sort();
    ends
}

/// Both answers fill the memory, so the first one counts, in which nobody of a lower priority is served beside others:
/// whatever the last bits of n shares add up to.
#[test]
fn a_low_priority_waits_whatever_sums_round_to() {
    for n in 1..12 {
        let pair =
            |of: usize| format!("  - transfer: {{ id: a{of}, from: g{}, to: g{}, size: 12MB }}\n", 2 * of, 2 * of + 1);
        let text = format!(
            "weir: 1
topology:
  tree:
    sw:
      kind: switch
      memory: {{ bandwidth: 12GB/s }}
      children: {{ \"g[0-24]\": {{ kind: gpu, engines: 2, link: {{ bandwidth: 12GB/s }} }} }}
arbiter: strict-priority
workload:
{}  - transfer: {{ id: low, from: g0, to: g24, size: 12MB, priority: -1 }}
",
            (0..n).map(pair).collect::<String>()
        );
        let ends = ends(&text);
        let (low, others) = ends.split_last().expect("is there");
        for (id, end) in others {
            assert!(end.abs_diff(n as u64 * 1_000_000_000) <= 10, "{n}: {id} ends at {end}");
        }
        assert!(low.1.abs_diff((n as u64 + 1) * 1_000_000_000) <= 10, "{n}: {low:?}");
    }
}

/// Transfers of different sources may change places in the file.
#[test]
fn places_in_the_file_do_not_decide_between_equal_totals() {
    let head = "weir: 1
topology:
  tree:
    rc:
      kind: root-complex
      children:
        g3: { kind: gpu, link: { bandwidth: 28GB/s } }
        x:
          kind: switch
          link: { bandwidth: 19GB/s }
          children:
            g0: { kind: gpu, link: { bandwidth: 14GB/s, shared: 11GB/s } }
            g1: { kind: gpu, link: { bandwidth: 25GB/s } }
            g2: { kind: gpu, link: { bandwidth: 10GB/s } }
arbiter: pcie-congestion
workload:
";
    let items = [
        "  - transfer: { id: t1, from: g2, to: g0, size: 60MB, weight: 5 }\n",
        "  - transfer: { id: t3, from: g1, to: g0, size: 60MB }\n",
        "  - transfer: { id: t5, from: g0, to: g2, size: 60MB }\n",
        "  - transfer: { id: t9, from: g3, to: g2, size: 60MB, weight: 2 }\n",
    ];
    let of = |order: [usize; 4]| ends(&format!("{head}{}", order.map(|item| items[item]).concat()));
    let first = of([0, 1, 2, 3]);
    for order in [[0, 1, 3, 2], [3, 2, 1, 0], [1, 0, 2, 3], [2, 3, 0, 1]] {
        for ((id, end), (_, other)) in first.iter().zip(of(order)) {
            assert!(end.abs_diff(other) <= 10, "{order:?}: {id} ends at {end} and {other}");
        }
    }
}

/// `low` has come first at the link that serves in that order, `high` has the higher priority elsewhere: one of them moves,
/// whatever a third one does beside them.
#[test]
fn two_that_hold_each_other_in_two_regions_do_not_wait_for_a_third() {
    for third in ["a2", "b0"] {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ t: {{ bandwidth: 1GB/s }}, qpi: {{ bandwidth: 1GB/s, kind: qpi }} }}
  tree:
    rc0: {{ kind: root-complex, children: {{ \"a[0-3]\": {{ kind: host, link: t }} }} }}
    rc1: {{ kind: root-complex, children: {{ sw: {{ kind: switch, link: t, children: {{ \"b[0-1]\": {{ kind: host, link: t }} }} }} }} }}
  links: [ {{ between: [rc0, rc1], type: qpi }} ]
arbiter: {{ default: strict-priority, qpi: fcfs }}
workload:
  - transfer: {{ id: high, from: a1, to: b1, size: 1MB, start: 1ps }}
  - transfer: {{ id: low, from: a0, to: b0, size: 1MB, priority: -1 }}
  - transfer: {{ id: third, from: a1, to: {third}, size: 1GB, priority: -2, start: 2ps }}
"
        );
        let ends = ends(&text);
        let mut both = [ends[0].1, ends[1].1];
        both.sort_unstable();
        assert!(both[0].abs_diff(1_000_000_000) <= 10 && both[1].abs_diff(2_000_000_000) <= 10, "{ends:?}");
    }
}
