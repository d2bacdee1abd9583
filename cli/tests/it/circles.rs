//! Regions whose policies serve one transfer before the other: some that hold each other in a circle let one of them go.

use weir::Scenario;

/// Twelve of which none moves if it alone gets a rate anew: `fcfs` and `strict-priority` let each wait for another one.
const TWELVE: &str = r#"weir: 1
topology:
  link_types:
    fA: { up: 3GB/s, down: 2GB/s, kind: foo }
    fB: { bandwidth: 3GB/s, kind: foo }
    fC: { up: 8GB/s, down: 2GB/s, kind: foo }
    pA: { up: 8GB/s, down: 2GB/s, kind: pcie }
    pB: { up: 2GB/s, down: 8GB/s, kind: pcie }
    pC: { bandwidth: 4GB/s, kind: pcie }
  tree:
    rc0:
      kind: root-complex
      children:
        s0: { kind: switch, link: fA, children: { g1: { kind: host, link: pA }, g3: { kind: host, link: pA }, g4: { kind: host, link: fB } } }
        g2: { kind: host, link: pB }
        h00: { kind: host, link: fC }
        h01: { kind: host, link: pC }
arbiter: { foo: strict-priority, pcie: fcfs }
workload:
  - transfer: { id: x23, from: g3, to: g2, size: 100MB }
  - transfer: { id: x28, from: g3, to: h01, size: 100MB }
  - transfer: { id: x33, from: g2, to: g1, size: 100MB }
  - transfer: { id: x39, from: g3, to: h00, size: 100MB }
  - transfer: { id: x41, from: g3, to: g1, size: 100MB }
  - transfer: { id: x47, from: g2, to: g4, size: 100MB }
  - transfer: { id: x50, from: g4, to: g1, size: 100MB, priority: 3 }
  - transfer: { id: x54, from: g2, to: h00, size: 100MB }
  - transfer: { id: x55, from: h01, to: g1, size: 100MB, priority: 1 }
  - transfer: { id: x56, from: g2, to: h01, size: 100MB }
  - transfer: { id: x63, from: g4, to: h01, size: 100MB, priority: 2 }
  - transfer: { id: x74, from: h01, to: g1, size: 100MB, priority: 3 }
"#;

#[test]
fn nobody_stands_for_ever_between_two_regions() {
    let run = Scenario::opener().read(TWELVE, ".").expect("it reads").run().unwrap_or_else(|error| panic!("{error}"));
    assert!(run.complete());
    // Five of 100 MB go down to g1 at 2 GB/s; one after another, at the 2 GB/s that each has at least, all twelve take 600 ms.
    let took = run.makespan().seconds();
    assert!((0.25..=0.6).contains(&took), "{took}");
}
