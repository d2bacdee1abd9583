//! What the tests of searches share: two small scenarios, a folder, the commands.

use serde_json::Value;
use tempfile::TempDir;

use super::{Ended, json_lines, run};

/// A grid: two transfers share a port of a root complex, whose capacity is (1 − tau) · 1 GB/s.
pub const GRID: &str = "\
weir: 1
name: shared port
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    rc: { kind: root-complex, children: { \"g[0-2]\": { kind: gpu, link: x } } }
arbiter: { name: pcie-congestion, tau: 0.1 }
workload:
  - transfer: { id: p, from: g0, to: g2, size: 10MB }
  - transfer: { id: q, from: g1, to: g2, size: 20MB }
optimize:
  vary: parameters
  parameters:
    arbiter.tau: { from: 0, to: 0.4, step: 0.1 }
    \"workload[0].transfer.size\": [10MB, 7MB, 5MB]
";

/// 3! orders of one source. With `a` last, `b` and `c` go out in 20 ms beside `d`, and `a` in 10 ms more. Else `a` and `d`
/// share the way to g2 while something else waits behind `a`: 40 ms.
pub const ORDER: &str = "\
weir: 1
name: orders
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g2, size: 10MB }
  - transfer: { id: b, from: g0, to: g3, size: 10MB }
  - transfer: { id: c, from: g0, to: g1, size: 10MB }
  - transfer: { id: d, from: g1, to: g2, size: 20MB }
optimize: { vary: order }
";

/// 5! orders of each of four sources, whose sizes differ: 207 million, nearly as many makespans.
pub fn many_orders() -> String {
    let transfer = |s: usize, d: usize| {
        let size = 1000 + (s * 7919 + d * 104_729) % 96_001;
        format!("  - transfer: {{ from: g{s}, to: g{}, size: {size}kB }}\n", (s + d) % 6)
    };
    let transfers: String = (0..4).flat_map(|s| (1..6).map(move |d| transfer(s, d))).collect();
    let begin = &ORDER[..ORDER.find("  - transfer").expect("items")];
    let begin = begin.replace("g[0-3]", "g[0-5]");
    format!("{begin}{transfers}optimize: {{ vary: order, method: exhaustive }}\n")
}

pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a UTF-8 path").to_owned()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the file is written");
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }
}

/// Runs `weir optimize` to a good end.
pub fn optimize(arguments: &[&str]) -> Ended {
    let ended = run(&[&["optimize"], arguments].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{arguments:?}");
    ended
}

/// Its only result.
pub fn result(arguments: &[&str]) -> Value {
    json_lines(&optimize(&[arguments, &["--json"]].concat()).stdout).remove(0)
}

pub fn makespan(file: &str) -> Value {
    let ended = run(&["run", file, "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{file}");
    json_lines(&ended.stdout)[0]["makespan_ps"].clone()
}

pub fn refused(arguments: &[&str], message: &str) {
    let ended = run(arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}");
    assert!(ended.stderr.contains(message), "{arguments:?}: {}", ended.stderr);
}

/// A part or the head of a checkpoint in which a text was replaced, with the digest of what it says now: 32 bits of FNV-1a
/// over all that stands before it.
pub fn altered(line: &str, from: &str, to: &str) -> String {
    let (object, _) = line.rsplit_once(",\"digest\":\"").expect("a digest");
    let object = object.replacen(from, to, 1);
    let digest = object.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{object},\"digest\":\"{digest:08x}\"}}\n")
}
