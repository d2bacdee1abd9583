//! SimGrid's side: the program of `benches/peers/simgrid_flows.cpp`, compiled where SimGrid is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compiled program.
pub struct SimGrid {
    program: PathBuf,
}

impl SimGrid {
    /// Compiles it into the folder; `None` where there is no compiler or no SimGrid.
    pub fn build(folder: &Path) -> Option<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/peers/simgrid_flows.cpp");
        let program = folder.join("simgrid_flows");
        let mut compiler = Command::new("g++");
        compiler.args(["-O2", "-std=c++17"]).arg(source).args(["-lsimgrid", "-o"]).arg(&program);
        let status = compiler.stderr(Stdio::null()).status().ok()?;
        status.success().then_some(Self { program })
    }

    /// CPU seconds of its event loop, as the program reports them, and the end of every transfer in ps.
    pub fn run(&self, load: &Path, mode: &str) -> (f64, Vec<f64>) {
        let ends = load.with_extension("ends");
        let mode = format!("--cfg=network/optim:{mode}");
        let output = Command::new(&self.program).arg(load).arg(mode).arg("-o").arg(&ends).output().expect("it starts");
        assert!(output.status.success(), "SimGrid failed: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let time = text.split_once(" cpu=").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
        let written = std::fs::read_to_string(&ends).expect("it writes its ends");
        let ends = written.lines().map(|line| line.parse::<f64>().expect("seconds") * 1e12).collect();
        (time.expect("it reports its CPU time"), ends)
    }
}

/// Holds the ends of all transfers against each other.
pub fn compare(name: &str, starts: &[u64], ours: &[u64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{name}");
    let mut instants: Vec<u64> = starts.iter().chain(ours).copied().collect();
    instants.sort_unstable();
    for (transfer, (&own, &other)) in ours.iter().zip(theirs).enumerate() {
        let events = instants.partition_point(|&t| t <= own) as f64;
        let difference = (own as f64 - other).abs();
        let most = (1e-9 * other).max(20.0 + events);
        assert!(difference <= most, "{name}: transfer {transfer} ends at {own} ps here, at {other} ps on SimGrid");
    }
}
