//! Hostile and large inputs: refused quickly and without much memory, or read quickly. A program of its own, as the most
//! memory that a process has held is checked.

mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::{on_t2, read};
use weir_scenario::Diagnostic;

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
    ]
}

/// Texts of at most [`SIZE`] with very many errors or warnings, each of which would cost a walk or a search.
fn many_findings() -> Vec<(&'static str, String)> {
    // Pieces with their numbers, as many as fit below SIZE.
    let numbered = |piece: &dyn Fn(usize) -> String| {
        let (mut text, mut i) = (String::new(), 0);
        while text.len() < SIZE - 4096 {
            text.push_str(&piece(i));
            i += 1;
        }
        text
    };
    let tree = |children: &str| {
        format!("weir: 1\ntopology:\n  tree:\n    s:\n      kind: switch\n      children:{children}\nworkload: []\n")
    };
    let lines = |text: &dyn Fn(usize) -> String| numbered(&|i| format!("\n        {}", text(i)));
    let waits = numbered(&|i| format!("  - barrier: {{ id: operation{i}, after: missing{i} }}\n"));
    let clashes = numbered(&|i| format!("  - barrier: {{ id: \"p.{}-{}\" }}\n", i % 8, (i + 1 + i / 8 % 7) % 8));
    let repeated = numbered(&|i| format!("  - barrier: {{ id: p#{} }}\n", i + 1));
    let warned = numbered(&|i| format!("  - pattern: {{ id: p{i}, kind: halo, grid: [2], size: 1B }}\n"));
    let long = "n".repeat(250);
    let wrong = "m".repeat(250);
    vec![
        (
            "unknown arbiters",
            on_t2(&format!("workload: [{{ barrier: {{}} }}]\narbiter: [{}x]\n", numbered(&|_| "a,".into()))),
        ),
        (
            "unknown arbiters on lines",
            on_t2(&format!("workload: [{{ barrier: {{}} }}]\narbiter:\n{}", numbered(&|i| format!("  - a{i}\n")))),
        ),
        (
            "unknown parameters",
            on_t2(&format!(
                "workload: [{{ barrier: {{}} }}]\narbiter: {{ name: pcie-congestion, {} }}\n",
                numbered(&|i| format!("p{i}: 1,"))
            )),
        ),
        (
            "link types",
            format!("weir: 1\ntopology: {{ link_types: {{ {} }} }}\n", numbered(&|i| format!("a{i}: {{}}, "))),
        ),
        (
            "link types on lines",
            format!("weir: 1\ntopology:\n  link_types:{}\n  tree: {{}}\n", lines(&|i| format!("a{i}: {{}}"))),
        ),
        ("nodes without link", tree(&format!(" {{ {} }}", numbered(&|i| format!("g{i}: {{ kind: gpu }}, "))))),
        ("nodes without link on lines", tree(&lines(&|i| format!("g{i}: {{ kind: gpu }}")))),
        ("unknown link types", tree(&lines(&|i| format!("g{i}: {{ kind: gpu, link: type{i} }}")))),
        ("unknown waits", on_t2(&format!("workload:\n{waits}"))),
        (
            "waits in a list",
            on_t2(&format!("workload:\n  - barrier: {{ after: [{}] }}\n", numbered(&|i| format!("x{i},")))),
        ),
        (
            "ids given twice",
            on_t2(&format!("workload:\n  - pattern: {{ id: p, kind: all-to-all, size: 1B }}\n{clashes}")),
        ),
        (
            "ids of repetitions",
            on_t2(&format!(
                "workload:\n  - transfer: {{ id: p, from: gpu0, to: gpu1, size: 1B, repeat: 99999 }}\n{repeated}"
            )),
        ),
        ("warnings", on_t2(&format!("workload:\n{warned}"))),
        (
            "unknown sources",
            on_t2(&format!("workload: [{{ barrier: {{}} }}]\norder: {{ {} }}\n", numbered(&|i| format!("g{i}: [], ")))),
        ),
        (
            "unknown transfers in an order",
            on_t2(&format!(
                "workload: [{{ pattern: {{ kind: all-to-all, size: 1B }} }}]\norder: {{ gpu0: [{}] }}\n",
                numbered(&|i| format!("g{i}, "))
            )),
        ),
        (
            "values of a parameter",
            on_t2(&format!(
                "workload: [{{ barrier: {{}} }}]\noptimize: {{ vary: parameters, parameters: {{ name: [{}] }} }}\n",
                numbered(&|_| "~, ".into())
            )),
        ),
        (
            "long names",
            on_t2(&format!(
                "workload:\n{}",
                numbered(&|i| format!("  - barrier: {{ id: {long}{i}, after: {wrong}{i} }}\n"))
            )),
        ),
    ]
}

/// Most memory that this process has held, in bytes, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Reads a text within the limits of time, memory and length of messages; what was found, and whether it was refused.
fn found(name: &str, text: String) -> (Vec<Diagnostic>, bool) {
    // The promise of a second is that of a release build; tests without optimisation may share a busy machine.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
    let begin = Instant::now();
    let (found, refused) = match read(text) {
        Ok(scenario) => (scenario.warnings, false),
        Err(found) => (found, true),
    };
    let took = begin.elapsed();
    assert!(took < most, "{name} took {took:?}");
    let peak = peak_memory().unwrap_or(0);
    eprintln!("{name}: {took:?}, peak {} MiB, {}", peak >> 20, !refused);
    assert!(peak < 256 << 20, "{name}: {} MiB", peak >> 20);
    let printed: usize = found.iter().map(|d| d.to_string().len()).sum();
    assert!(printed < 20_000, "{name}: {printed} bytes of messages");
    (found, refused)
}

#[test]
fn lint_of_many_unused_types_ends_quickly() {
    let types: String = (0..20_000).map(|i| format!("type{i}: {{ bandwidth: 1GB/s }}, ")).collect();
    let tree = "tree: { a: { kind: gpu } }";
    let text = format!("weir: 1\ntopology: {{ link_types: {{ {types} }}, {tree} }}\nworkload: [{{ barrier: {{}} }}]\n");
    assert!(text.len() < SIZE);
    let scenario = read(text).unwrap();
    let begin = Instant::now();
    let found = weir_scenario::lint(&scenario);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(found.len(), 21);
    assert_eq!(found[19].message, "no link has the type `type19`");
    assert_eq!(found[20].message, "19980 more link types are not used");
}

// One test, because the peak of memory is that of the process.
#[test]
fn hostile_texts_end_quickly() {
    for (name, text) in hostile() {
        let (found, _) = found(name, text);
        assert!(found.iter().all(|d| d.help.is_some() || d.message.ends_with(" more errors")), "{name}");
    }
    for (name, text) in many_findings() {
        assert!(text.len() <= SIZE, "{name}: {} bytes", text.len());
        let (found, refused) = found(name, text);
        assert_eq!(refused, name != "warnings", "{name}");
        let more = if refused { " more errors" } else { " more warnings" };
        // Where reading stops as soon as no more errors can be shown, there is no more to count.
        assert!((20..=21).contains(&found.len()), "{name}: {} findings", found.len());
        assert!(found[..20].iter().all(|d| d.position.is_some() && d.excerpt.is_some() && d.help.is_some()), "{name}");
        assert!(found[20..].iter().all(|d| d.message.ends_with(more)), "{name}: {}", found[20]);
        assert!(refused || found.len() == 21, "{name}");
    }
}
