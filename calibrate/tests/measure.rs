//! The measuring program without a GPU: its plan, its arguments, and the header of its CSV. Skipped without Python 3.

use std::path::Path;
use std::process::{Command, Output};

use weir_calibrate::read::measured_rows;

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
    let (rows, notes) = measured_rows("-", &String::from_utf8_lossy(&ran.stdout)).expect("a table that weir reads");
    assert!(rows.is_empty());
    assert_eq!(notes, ["-: not read: the column `streams`"]);
    let plan = String::from_utf8_lossy(&ran.stderr).into_owned();
    // Sizes 1 KiB to 1 MiB by fours: 6; of copy, both and mapped each, and 7 numbers of streams; on two GPUs.
    assert_eq!(plan.lines().count(), 2 * (3 * 6 + 7), "{plan}");
    assert!(plan.contains("gpu 3, 1048576 B: copies in, a kernel and copies out in 64 streams"), "{plan}");
}

#[test]
fn wrong_arguments_are_refused() {
    for arguments in [&["--smallest", "12"][..], &["--smallest", "2GiB"], &["--factor", "1"], &["--kernel-ms", "0"]] {
        let Some(ran) = measure(&[&["--dry-run"], arguments].concat()) else { return };
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
    }
}
