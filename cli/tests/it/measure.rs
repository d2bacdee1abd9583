//! tools/measure without a GPU: its own tests, against a stand-in for PyTorch. Skipped without Python 3.

use std::path::Path;
use std::process::Command;

#[test]
fn what_needs_no_gpu_is_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/measure");
    let ran = Command::new("python3").args(["-B", "-m", "unittest", "test_measure"]).current_dir(folder).output();
    let Ok(ran) = ran else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
