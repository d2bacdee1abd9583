//! Where results go: files, links, pipes, and terminals that take nothing.

use crate::commands::{folder, write};
use crate::common::{SHARED, run, scenario, weir};

#[test]
fn output_files_are_whole_or_absent() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let target = folder.path().join("out.json");
    let target = target.to_str().expect("a UTF-8 path");
    let ended = run(&["run", &file, "--json", "--output", target]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
    let printed = run(&["run", &file, "--json"]).stdout;
    assert_eq!(std::fs::read_to_string(target).expect("is there"), printed);
    let ended = run(&["run", &file, "--output", "/nowhere/out.json"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("error: /nowhere/out.json cannot be written"), "{}", ended.stderr);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).expect("lists").map(|f| f.expect("a file").file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left beside the target: {names:?}");
}

#[test]
fn a_target_that_cannot_be_is_named_with_the_reason() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    for (target, reason) in [("no/such.json", "/no; create it"), ("s.yaml/x.json", "s.yaml is not a folder")] {
        let target = folder.path().join(target);
        let target = target.to_str().expect("a UTF-8 path");
        let ended = run(&["run", &file, "-o", target]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert!(ended.stderr.starts_with(&format!("error: {target} cannot be written: ")), "{}", ended.stderr);
        assert!(ended.stderr.contains(reason) && !ended.stderr.contains(".weir-"), "{}", ended.stderr);
    }
}

#[test]
fn a_folder_is_no_target() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let there = folder.path().to_str().expect("a UTF-8 path");
    for target in [there.to_owned(), format!("{there}/new/")] {
        let ended = run(&["run", &file, "-o", &target]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert_eq!(ended.stderr, format!("error: {target} is a folder: name a file for --output\n"));
    }
}

#[test]
fn inputs_are_not_written_over() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let again = folder.path().join(".").join("s.yaml");
    for target in [file.as_str(), again.to_str().expect("a UTF-8 path")] {
        let ended = run(&["run", &scenario("pcie/four-transfers.yaml"), &file, "-o", target]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert!(ended.stderr.contains("would overwrite the input") && ended.stderr.contains(&file), "{}", ended.stderr);
    }
    assert_eq!(std::fs::read_to_string(&file).expect("is there"), SHARED);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_keep_their_place() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let printed = run(&["run", &file, "--json"]).stdout;
    let there = write(&folder, "there.json", "old");
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o600)).expect("set");
    // One link to a file that is there, one to a file that is not yet, one by way of another.
    for (link, to) in [("a", "there.json"), ("b", "new.json"), ("c", "b")] {
        let link = folder.path().join(link);
        symlink(to, &link).expect("linked");
        let ended = run(&["run", &file, "--json", "-o", link.to_str().expect("a UTF-8 path")]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert_eq!(std::fs::read_link(&link).expect("still a link").to_str(), Some(to));
        assert_eq!(std::fs::read_to_string(&link).expect("is there"), printed);
    }
    assert_eq!(std::fs::metadata(&there).expect("is there").permissions().mode() & 0o777, 0o600);
    let to_input = folder.path().join("d");
    symlink("s.yaml", &to_input).expect("linked");
    assert_eq!(run(&["run", &file, "-o", to_input.to_str().expect("a UTF-8 path")]).code, 2);
    assert_eq!(std::fs::read_to_string(&file).expect("is there"), SHARED);
}

#[cfg(unix)]
#[test]
fn pipes_are_written_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("is read")
    });
    let ended = run(&["run", &file, "--json", "-o", pipe.to_str().expect("a UTF-8 path")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(std::fs::symlink_metadata(&pipe).expect("is there").file_type().is_fifo());
    assert_eq!(reader.join().expect("has read"), run(&["run", &file, "--json"]).stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let mut child = weir()
        .args(["run", "--json", "--full", &scenario("network/random-64-hosts.yaml")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let ended = crate::common::ended(child.wait_with_output().expect("the command ends"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// Neither a full disk behind stderr nor a reader that has gone keeps a result from being written.
#[cfg(target_os = "linux")]
#[test]
fn a_result_is_written_whatever_stderr_takes() {
    for verbose in ["-v", "-vvv"] {
        let folder = folder();
        let target = folder.path().join("out.json");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let (reader, gone) = std::io::pipe().expect("a pipe");
        drop(reader);
        for stderr in [std::process::Stdio::from(full), gone.into()] {
            let mut command = weir();
            command.args(["run", &scenario("pcie/four-transfers.yaml"), verbose, "--json", "-o"]).arg(&target);
            let status = command.stderr(stderr).stdout(std::process::Stdio::null()).status().expect("it runs");
            assert_eq!(status.code(), Some(0), "{verbose}");
            let written = std::fs::read_to_string(&target).expect("the file is there");
            assert!(written.ends_with("}\n"), "{written}");
            std::fs::remove_file(&target).expect("it is ours");
        }
    }
}

/// The standard library puts `/dev/null` in place of a closed stdout: the result would be lost without a word.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn a_closed_stdout_is_an_error() {
    let run = |options: &[&str]| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_weir"), "run"]);
        crate::common::ended(command.arg(scenario("pcie/four-transfers.yaml")).args(options).output().expect("it runs"))
    };
    let closed = run(&[]);
    assert_eq!((closed.code, closed.stderr.as_str()), (2, "error: stdout is closed: name a file with --output\n"));
    let folder = folder();
    let target = folder.path().join("out.txt");
    assert_eq!(run(&["-o", target.to_str().expect("UTF-8")]).code, 0);
    assert!(std::fs::read_to_string(&target).expect("the file is there").contains("makespan"));
}
