//! `weir report --open` and `--watch`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::search::Folder;
use crate::common::{SHARED, ended, run, run_with_input, weir};

#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_by_the_desktop() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;
    let folder = Folder::new();
    let (file, target) = (folder.write("s.yaml", SHARED), folder.path("page.html"));
    let opener = folder.write("xdg-open", "#!/bin/sh\necho \"$1\" > \"$(dirname \"$0\")/opened.part\"\nmv \"$(dirname \"$0\")/opened.part\" \"$(dirname \"$0\")/opened\"\n");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = format!("{}:{}", folder.path(""), std::env::var("PATH").expect("a path"));
    let ran = weir().args(["report", &file, "-o", &target, "--open"]).env("PATH", path).output();
    let ran = ended(ran.expect("the command starts"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (since, opened) = (Instant::now(), folder.path("opened"));
    while !std::path::Path::new(&opened).exists() && since.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(folder.read("opened").trim(), target);
}

#[test]
fn what_can_be_neither_opened_nor_watched_is_refused() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", SHARED);
    let ended = run(&["report", &file, "-o", "-", "--open"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "error: --open needs a file: name one with --output\n"));
    let ended = run_with_input(&["report", "-", "--watch"], SHARED.as_bytes());
    let refused = "error: --watch needs files: standard input cannot be read again\n";
    assert_eq!((ended.code, &*ended.stderr), (2, refused));
}

/// A scenario whose topology is a file of its own.
const OF_TWO_FILES: &str = "\
weir: 1
name: two files
topology: tree.yaml
arbiter: max-min
workload:
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1MB }
";
const TREE: &str = "\
weir: 1
link_types: { x: { bandwidth: 1GB/s } }
tree:
  rc: { kind: root-complex, children: { \"gpu[0-1]\": { kind: gpu, link: x } } }
";

#[test]
fn a_watched_page_follows_its_files() {
    let folder = Folder::new();
    let (file, target) = (folder.write("s.yaml", OF_TWO_FILES), folder.path("page.html"));
    let tree = folder.write("tree.yaml", TREE);
    let mut command = weir();
    command.args(["report", &file, "-o", &target, "--watch"]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut lines = BufReader::new(child.stderr.take().expect("is piped")).lines().map(|l| l.expect("UTF-8"));
    let child = Watchdog::of(child);
    let wrote = format!("wrote {target}: 1 run; open it in a browser");
    // What was written just before it was read may be taken for changed once more.
    let mut until = |line: &str, makespan: &str| {
        let shows = || folder.read("page.html").contains(&format!("\"makespan_s\":{makespan},"));
        while !(lines.next().expect("a line before the watchdog").starts_with(line) && shows()) {}
    };
    until(&wrote, "0.001");
    folder.write("tree.yaml", &TREE.replace("1GB/s", "100MB/s"));
    until(&format!("{tree} has changed"), "0.001");
    until(&wrote, "0.01");
    folder.write("s.yaml", "weir: 1\nwhat is this\n");
    until(&format!("{file} has changed"), "0.01");
    until("error: not valid YAML", "0.01");
    folder.write("s.yaml", &OF_TWO_FILES.replace("1MB", "2MB"));
    until(&wrote, "0.02");
    drop(child);
}

/// A process that ends with the test, or after two minutes, so that nothing waits for its lines for ever.
struct Watchdog(Arc<Mutex<Child>>);

impl Watchdog {
    fn of(child: Child) -> Self {
        let child = Arc::new(Mutex::new(child));
        let late = Arc::clone(&child);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(120));
            let _ = late.lock().expect("is whole").kill();
        });
        Self(child)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let mut child = self.0.lock().expect("is whole");
        let _ = child.kill();
        let _ = child.wait();
    }
}
