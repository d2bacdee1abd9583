//! Hostile and large inputs: refused quickly and without much memory, or read quickly.

mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::{on_t2, read};

/// Bytes of each hostile text.
const SIZE: usize = 1 << 20;

/// Texts that are cheap to write and costly to read carelessly.
fn hostile() -> Vec<(&'static str, String)> {
    let times = |piece: &str| piece.repeat(SIZE / piece.len());
    let mut anchors = String::new();
    for i in 0..SIZE / 12 {
        let _ = write!(anchors, "&a{i} x, ");
    }
    let mut keys = String::from("weir: 1\n");
    for i in 0..SIZE / 12 {
        let _ = writeln!(keys, "key{i}: {i}");
    }
    let nested = format!("{}{}", "[".repeat(60), times("&a [b, "));
    vec![
        ("brackets", times("[")),
        ("braces", times("{")),
        ("closing", times("]")),
        ("dashes", times("- ")),
        ("questions", times("? ")),
        ("colons", times(": ")),
        ("commas", format!("[{}]", times("a,"))),
        ("pairs", format!("[{}]", times("a: b,"))),
        ("keys in braces", format!("{{{}}}", times("a,"))),
        ("numbered keys", keys),
        ("quotes", times("\"")),
        ("open quote", format!("\"{}", times("\\n"))),
        ("escapes", format!("\"{}\"", times("\\x"))),
        ("anchors", format!("[{anchors}]")),
        ("nested anchors", nested),
        ("aliases", format!("[&a x, {}]", times("*a, "))),
        ("tags", times("!a ")),
        ("comments", times("#\n")),
        ("documents", times("---\n")),
        ("directives", times("%YAML 1.2\n")),
        ("blank", times("\n")),
        ("spaces", times(" ")),
        ("tabs", times("\t")),
        ("block scalar", format!("a: |\n{}", times(" x\n"))),
        ("deep blocks", (0..1400).map(|i| format!("{}a:\n", " ".repeat(i))).collect()),
        ("one long word", times("a")),
        ("one long key", format!("{}: 1", times("a"))),
        (
            "one long number",
            format!("weir: 1\ntopology: {{ tree: {{ a: {{ kind: gpu, engines: {} }} }} }}\n", times("9")),
        ),
        (
            "one long size",
            on_t2(&format!("workload:\n  - transfer: {{ from: gpu0, to: gpu1, size: {}B }}\n", times("7"))),
        ),
        (
            "one long path",
            on_t2(&format!("workload:\n  - transfer: {{ from: {}, to: gpu1, size: 1B }}\n", times("a/"))),
        ),
        ("brackets in a name", on_t2(&format!("ranks: \"{}\"\nworkload: []\n", times("[0-9]")))),
        ("ranges in a name", on_t2(&format!("ranks: \"gpu[{}0]\"\nworkload: []\n", times("0,")))),
        ("transfers", on_t2(&format!("workload:\n{}", times("  - transfer: {}\n")))),
        ("many errors", on_t2(&format!("workload:\n{}", times("  - x: {}\n")))),
        ("barriers", on_t2(&format!("workload:\n{}", times("  - barrier: { after: x }\n")))),
        ("waits", on_t2(&format!("workload:\n  - barrier: {{ id: b, after: [{}] }}\n", times("b,")))),
        (
            "patterns",
            on_t2(&format!(
                "workload:\n{}",
                times("  - pattern: { kind: random, count: 20000000, seed: 1, size: 1B }\n")
            )),
        ),
        (
            "weights",
            on_t2(&format!(
                "workload:\n  - pattern: {{ kind: halo, grid: [8], size: 1B, weights: [{}1] }}\n",
                times("1,")
            )),
        ),
        ("grid", on_t2(&format!("workload:\n  - pattern: {{ kind: halo, grid: [{}1], size: 1B }}\n", times("1,")))),
        (
            "edges",
            on_t2(&format!(
                "workload:\n  - pattern: {{ kind: graph, unit: 1B, edges: [{}[0, 1, 0]] }}\n",
                times("[0,1],")
            )),
        ),
        ("arbiters", on_t2(&format!("workload: []\narbiter: [{}x]\n", times("max-min,")))),
        ("topology types", format!("weir: 1\ntopology: {{ link_types: {{ {} }} }}\n", times("a: {}, "))),
    ]
}

/// Most memory that this process has held, in bytes, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
fn hostile_texts_end_quickly() {
    // The promise of a second is that of a release build; tests without optimisation may share a busy machine.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
    for (name, text) in hostile() {
        let begin = Instant::now();
        let found = read(text).map(|s| s.tasks.tasks().len());
        let took = begin.elapsed();
        if let Err(found) = &found {
            let shown: usize = found.iter().map(|d| d.to_string().len()).sum();
            assert!(found.iter().all(|d| d.help.is_some() || d.message.contains("more errors")), "{name}");
            assert!(shown < 20_000, "{name}: {shown} bytes of messages");
        }
        assert!(took < most, "{name} took {took:?}");
        let peak = peak_memory().unwrap_or(0);
        eprintln!("{name}: {took:?}, peak {} MiB, {}", peak >> 20, found.is_ok());
        assert!(peak < 256 << 20, "{name}: {} MiB", peak >> 20);
    }
}
