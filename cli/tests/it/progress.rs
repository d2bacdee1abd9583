//! Progress of a large run: one line on a terminal, nothing elsewhere.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::weir;

/// Eight hosts, each of which sends all that it has at once.
const LARGE: &str = "\
weir: 1
name: large
topology:
  tree: { sw: { kind: switch, children: { \"h[0-7]\": { kind: host, link: { bandwidth: 11.6GB/s } } } } }
workload:
  - trace: { file: large.csv }
arbiter: input-fifo
";

/// 100,000 transfers between all pairs that begin at once, and end one by one: the policy is asked for minutes.
fn rows() -> String {
    let row = |i: u32| format!("h{},h{},{}\n", i % 8, (i + 1 + i / 8 % 7) % 8, 1_000_000 + 7 * i);
    std::iter::once("from,to,bytes\n".to_owned()).chain((0..100_000).map(row)).collect()
}

/// Ends the program when the test does.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the command writes to a terminal on stderr until `wanted` stands there, or until its end.
fn on_terminal_until(arguments: &[&str], wanted: &str) -> String {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let other_end = File::options().read(true).write(true).open(name).unwrap();
    let mut command = weir();
    command.args(arguments).env("TERM", "xterm").stdout(Stdio::null()).stderr(other_end);
    let _program = Ended(command.spawn().unwrap());
    // Only the program has the other end from here on, so that reading ends with it.
    drop(command);
    let (mut text, mut piece) = (String::new(), [0; 1024]);
    while let Ok(read @ 1..) = terminal.read(&mut piece) {
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
        if text.contains(wanted) {
            break;
        }
    }
    text
}

#[test]
fn a_large_run_says_on_a_terminal_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yaml");
    std::fs::write(&file, LARGE).unwrap();
    std::fs::write(folder.path().join("large.csv"), rows()).unwrap();
    let text = on_terminal_until(&["run", file.to_str().unwrap()], " left");
    assert!(text.contains(" of 100000 transfers ("), "{text:?}");
}
