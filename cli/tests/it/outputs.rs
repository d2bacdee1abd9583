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

/// Each removes what dead programs have left in the folder, but nothing that the others are about to put in its place.
#[test]
fn programs_may_write_into_one_folder_at_once() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let write_often = |writer: usize| {
        let target = folder.path().join(format!("out-{writer}.json"));
        let target = target.to_str().expect("a UTF-8 path");
        for _ in 0..12 {
            let ended = run(&["run", &file, "--json", "--output", target]);
            assert_eq!(ended.code, 0, "{}", ended.stderr);
        }
    };
    std::thread::scope(|scope| (0..6).for_each(|writer| drop(scope.spawn(move || write_often(writer)))));
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

/// What gets to nowhere when a command is started with it.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug)]
enum Stdout {
    Closed,
    Full,
    Unread,
}

/// Runs with a stdout that takes nothing, in a folder; the exit code.
#[cfg(target_os = "linux")]
fn run_into_nothing(arguments: &[&str], stdout: Stdout, folder: &std::path::Path) -> crate::common::Ended {
    let redirected = match stdout {
        Stdout::Closed => "exec \"$0\" \"$@\" >&-",
        Stdout::Full => "exec \"$0\" \"$@\" >/dev/full",
        Stdout::Unread => "exec \"$0\" \"$@\"",
    };
    let mut command = std::process::Command::new("sh");
    command.args(["-c", redirected, env!("CARGO_BIN_EXE_weir")]).args(arguments).current_dir(folder);
    command.env("WEIR_CONFIG_DIR", folder.join("config")).stderr(std::process::Stdio::piped());
    if let Stdout::Unread = stdout {
        let (reader, gone) = std::io::pipe().expect("a pipe");
        drop(reader);
        command.stdout(gone);
    }
    let child = command.spawn().expect("it starts");
    crate::common::ended(child.wait_with_output().expect("it ends"))
}

/// Every command that writes files writes all of them, whatever stdout takes.
#[cfg(target_os = "linux")]
#[test]
fn files_are_written_whatever_stdout_takes() {
    let [four, blocked, grid, tuned] = [
        "pcie/four-transfers.yaml",
        "pcie/hol-blocking.yaml",
        "optimize/weather-step.yaml",
        "multilevel/tuning-made-up.yaml",
    ]
    .map(scenario);
    let [cables, measured] = ["measured/tau-t2.yaml", "measured/tau-t2.csv"].map(scenario);
    let [eight, timed] = ["measured/h2d-eight-gpus.yaml", "measured/h2d-eight-gpus.csv"].map(scenario);
    let dump = scenario("topologies/dumps/nccl-aws-p4d-24xl-8xA100.xml");
    let flows = crate::common::library().join("../cli/tests/stream/flows.yaml");
    let flows = flows.to_str().expect("UTF-8");
    let best = ["optimize", &blocked, "--arbiter", "pcie-congestion", "--vary", "order"];
    let commands: [(&[&str], &[&str]); 9] = [
        (&["run", &four, "--timeline", "a", "--export-csv", "b"], &["a", "b/transfers.csv", "b/phases.csv"]),
        (&["run", flows, "--stream", "a.csv"], &["a.csv"]),
        (&[&best[..], &["--write", "a", "--export-csv", "b"]].concat(), &["a", "b/searches.csv"]),
        (&["optimize", &grid, "--csv", "a"], &["a"]),
        (&["tune", &tuned, "--sizes", "1KiB..4KiB", "--csv", "a"], &["a"]),
        (&["calibrate", &cables, "--from", &measured, "--write", "a"], &["a"]),
        (&["validate", &eight, "--measured", &timed, "--csv", "a", "--svg", "b"], &["a", "b"]),
        (&["import", &dump, "-o", "a"], &["a"]),
        (&["init", "a"], &["a"]),
    ];
    for (arguments, written) in commands {
        for stdout in [Stdout::Closed, Stdout::Full, Stdout::Unread] {
            let folder = folder();
            let ended = run_into_nothing(arguments, stdout, folder.path());
            let code = if let Stdout::Unread = stdout { 0 } else { 2 };
            assert_eq!(ended.code, code, "{arguments:?} {stdout:?}: {}", ended.stderr);
            for name in written {
                let length = std::fs::metadata(folder.path().join(name)).map(|found| found.len());
                assert!(length.is_ok_and(|length| length > 0), "{arguments:?} {stdout:?}: {name}: {}", ended.stderr);
            }
        }
    }
}

/// Help that nobody got is an error, as any result is.
#[cfg(target_os = "linux")]
#[test]
fn help_and_version_get_to_stdout_or_fail() {
    let folder = folder();
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["help", "plugin"]] {
        for (stdout, code) in [(Stdout::Closed, 2), (Stdout::Full, 2), (Stdout::Unread, 0)] {
            let ended = run_into_nothing(arguments, stdout, folder.path());
            assert_eq!(ended.code, code, "{arguments:?} {stdout:?}: {}", ended.stderr);
            assert_eq!(ended.stderr.starts_with("error: stdout "), code == 2, "{}", ended.stderr);
        }
    }
}

/// Only names of weir's own form are leftovers.
#[test]
fn files_of_users_that_begin_as_leftovers_do_stay() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let target = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    write(&folder, ".weir-settings", "mine");
    assert_eq!(run(&["run", &file, "--json", "-o", &target(".weir-baseline.json")]).code, 0);
    let dead = ".weir-unfinished-0123456789abcdef.tmp";
    write(&folder, dead, "of a run that was killed a moment ago");
    for name in [".weir-settings", ".weir-baseline.json"] {
        let file = std::fs::File::options().write(true).open(target(name)).expect("is there");
        file.set_modified(long_ago).expect("its time");
    }
    assert_eq!(run(&["run", &file, "--json", "-o", &target("out.json")]).code, 0);
    let exists = [".weir-settings", ".weir-baseline.json", dead].map(|name| folder.path().join(name).exists());
    assert_eq!(exists, [true, true, !cfg!(unix)]);
}

#[test]
fn errors_of_each_arbiter_are_drawn() {
    let folder = folder();
    let target = folder.path().join("errors.svg");
    let target = target.to_str().expect("UTF-8");
    let [eight, timed] = ["measured/h2d-eight-gpus.yaml", "measured/h2d-eight-gpus.csv"].map(scenario);
    let both = ["validate", &eight, "--measured", &timed, "--arbiter", "max-min", "--arbiter", "equal-share"];
    let ended = run(&[&both[..], &["--svg", target]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let drawn = std::fs::read_to_string(target).expect("is written");
    assert_eq!(drawn.matches("within ±5 %").count(), 2, "{drawn}");
    assert!(drawn.contains(", max-min") && drawn.contains(", equal-share"), "{drawn}");
    let ended = run(&[&both[..], &["--csv", target, "--svg", target]].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
}

#[test]
fn what_is_printed_and_tabulated_gives_a_terminal_no_commands() {
    let folder = folder();
    let ended = crate::common::ended(
        weir().args(["init", "\u{1b}[31mi.yaml"]).current_dir(folder.path()).output().expect("it starts"),
    );
    assert_eq!((ended.code, ended.stdout.contains('\u{1b}')), (0, false), "{}", ended.stdout);
    let missing = run(&["run", "\u{1b}[31m\u{202e}none.yaml"]);
    assert!(!missing.stderr.contains(['\u{1b}', '\u{202e}']), "{}", missing.stderr);
    let hostile = SHARED.replace("id: p", r#"id: "=1+1""#).replace("id: q", r#"id: "@\e[31m\a\u009b\u202e""#);
    let file = write(&folder, "s.yaml", &hostile);
    let measured = write(&folder, "m.csv", "from,to,bytes,seconds\nh0,h2,10000000,0.02\nh1,h2,20000000,0.03\n");
    let target = folder.path().join("v.csv");
    let table = target.to_str().expect("UTF-8");
    let ended = run(&["validate", &file, "--measured", &measured, "--csv", table]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let exported = folder.path().join("tables");
    let ended = run(&["run", &file, "--export-csv", exported.to_str().expect("UTF-8")]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for table in [target, exported.join("transfers.csv"), exported.join("phases.csv")] {
        let text = std::fs::read_to_string(&table).expect("is written");
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{text}");
        assert!(text.contains(",'=1+1,") && text.contains(r",'@\u{1b}[31m\u{7}\u{9b}\u{202e},"), "{text}");
    }
}
