//! The measuring program without a GPU: its plan, its arguments, and its CSV, with a stand-in for what drives the GPU.
//! Skipped without Python 3.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::machine;
use weir_calibrate::read::{LogKind, ReadOptions, measured_rows, read_log};

fn measure(arguments: &[&str]) -> Option<Output> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/measure/measure.py");
    Command::new("python3").arg(program).args(arguments).output().ok()
}

#[test]
fn a_dry_run_prints_the_plan_and_a_table_without_rows() {
    let Some(ran) = measure(&["--dry-run", "--gpus", "0", "3", "--smallest", "1KiB", "--largest", "1MiB"]) else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(ran.status.success());
    let table = measured_rows("-", &String::from_utf8_lossy(&ran.stdout)).expect("a table that weir reads");
    assert!(table.rows.is_empty());
    assert_eq!(table.notes, ["-: not read: the column `streams`"]);
    let plan = String::from_utf8_lossy(&ran.stderr).into_owned();
    // Sizes 1 KiB to 1 MiB by fours: 6; of copy, both and mapped each, and 7 numbers of streams; on two GPUs.
    assert_eq!(plan.lines().count(), 2 * (3 * 6 + 7), "{plan}");
    assert!(plan.contains("gpu 3, 1048576 B: copies in, a kernel and copies out in 64 parts"), "{plan}");
}

/// Copies between three GPUs: 6 alone, 3 both ways, and the graphs of two copies, 4 of which fit three GPUs, and of three.
#[test]
fn sets_of_copies_between_gpus_are_planned() {
    let arguments = ["--dry-run", "--gpus", "0", "1", "2", "--tests", "peer", "peer-both", "sets", "--flows", "2"];
    let sizes = ["--smallest", "1GiB", "--largest", "1GiB"];
    let Some(ran) = measure(&[&arguments[..], &sizes].concat()) else { return };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let plan = String::from_utf8_lossy(&ran.stderr).into_owned();
    let lines: Vec<&str> = plan.lines().collect();
    assert_eq!(lines.len(), 6 + 3 + 4, "{plan}");
    assert!(lines.iter().all(|line| line.starts_with("1073741824 B, copies between GPUs at once: ")), "{plan}");
    let again = measure(&[&arguments[..], &sizes].concat()).expect("it ran before");
    assert_eq!(again.stderr, ran.stderr, "the same seed, the same sets");
    let alone = measure(&["--dry-run", "--gpus", "0", "--tests", "sets"]).expect("it ran before");
    assert_eq!(alone.status.code(), Some(2));
}

/// Graphs up to the names of devices, as Burnside's lemma counts them.
#[test]
fn graphs_are_counted_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/measure");
    let script = "import graphs; print([len(graphs.graphs(e, 2 * e)) for e in range(1, 5)])";
    let Ok(ran) = Command::new("python3").args(["-B", "-c", script]).current_dir(folder).output() else { return };
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout).trim(),
        "[1, 5, 17, 80]",
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn wrong_arguments_are_refused() {
    for arguments in [&["--smallest", "12"][..], &["--smallest", "2GiB"], &["--factor", "1"], &["--kernel-ms", "0"]] {
        let Some(ran) = measure(&[&["--dry-run"], arguments].concat()) else { return };
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
    }
}

/// PyTorch and Triton that do nothing; a copy of n bytes takes n / 10^9 s and 1 µs.
const STAND_IN: &str = r#"
import sys, types
sys.path.insert(0, sys.argv[1])
class Anything:
    def __getattr__(self, name): return Anything()
    def __call__(self, *args, **named): return Anything()
    def __getitem__(self, index): return Anything()
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def __int__(self): return 1
    def __truediv__(self, other): return 1.0
triton, torch = types.ModuleType("triton"), types.ModuleType("torch")
triton.jit, triton.cdiv, triton.language = (lambda kernel: Anything()), (lambda a, b: 1), types.ModuleType("triton.language")
triton.language.constexpr = int
torch.cuda, torch.empty, torch.uint8 = Anything(), Anything(), 0
sys.modules.update({"triton": triton, "triton.language": triton.language, "torch": torch})
import measure
class Part:
    def __init__(self, count): self.count = count
    def chunk(self, number): return [Part(self.count // number)] * number
    def copy_(self, source, non_blocking): assert non_blocking and source.count == self.count
def buffers(self, count):
    self.count = count
    return Part(count), Part(count)
def timed(self, streams, work, parts=1):
    work()
    return [getattr(self, "count", 0) / 1e9 + 1e-6] * len(streams)
measure.Bench.buffers, measure.Bench.timed = buffers, timed
measure.Peers.timed = lambda self, flows, count: [count / 1e9 + 1e-6] * len(flows)
measure.main(sys.argv[2:])
"#;

#[test]
fn calibrate_and_validate_read_what_it_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("measured.csv");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/measure");
    let mut command = Command::new("python3");
    command.args(["-B", "-c", STAND_IN]).arg(&program).args([
        "--gpus",
        "0",
        "3",
        "--smallest",
        "1KiB",
        "--largest",
        "1MiB",
        "-o",
    ]);
    let Ok(ran) = command.arg(&path).output() else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the part is renamed");

    let peers = folder.path().join("peers.csv");
    let mut command = Command::new("python3");
    command.args(["-B", "-c", STAND_IN]).arg(&program).args(["--gpus", "0", "1", "2", "--tests", "peer", "sets"]);
    let ran =
        command.args(["--smallest", "1MiB", "--largest", "1MiB", "-o"]).arg(&peers).output().expect("it ran before");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let machine = machine("topologies/two-socket-8gpu.yaml", &[]);
    let (_, log) = read_log(&peers, &machine, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let of = |n: usize| log.experiments.iter().filter(|e| e.transfers.len() == n).count();
    // Three GPUs: 4 graphs of two copies, and those of three, which are all rows of a group each.
    assert_eq!((of(1), of(2)), (6, 4));
    assert!(of(3) > 3 && log.experiments.iter().all(|e| e.rows.len() == e.transfers.len()));

    let (kind, log) = read_log(&path, &machine, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kind, LogKind::Csv);
    // Of each GPU: 6 sizes in and out alone, and 6 both ways; `mapped` and `streams` are no copies over the links.
    let sizes = |n: usize| log.experiments.iter().filter(|e| e.transfers.len() == n).count();
    assert_eq!((sizes(1), sizes(2), log.experiments.len()), (2 * 12, 2 * 6, 2 * 18));
    for experiment in &log.experiments {
        for row in &experiment.rows {
            let expected = experiment.transfers[0].bytes as f64 / 1e9 + 1e-6;
            assert!((row.seconds - expected).abs() < 1e-9, "{}: {}", experiment.name, row.seconds);
        }
    }
    assert_eq!(log.skipped.len(), 2 * (6 + 7));
    assert!(log.skipped.iter().all(|s| s.why.contains("weir validate")), "{:?}", log.skipped[0]);

    let text = std::fs::read_to_string(&path).unwrap();
    let table = measured_rows("measured.csv", &text).expect("a table");
    let streams: Vec<&str> = table.rows.iter().filter(|r| r.what == "streams").map(|r| &*r.id).collect();
    assert_eq!(streams[..2], ["streams-gpu0-1048576-10ms-1", "streams-gpu0-1048576-10ms-2"]);
    let ids: std::collections::BTreeSet<&str> = table.rows.iter().map(|r| &*r.id).collect();
    assert_eq!(ids.len(), table.rows.len(), "ids differ");
}
