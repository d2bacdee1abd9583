//! `weir tune`: its file, and that a scenario reads it back.

use std::path::Path;

use crate::common::{json_lines, run};
use tempfile::TempDir;

/// A put whose steps take 100 µs and 1 ns/B each.
const PUT: &str = "\
weir: 1
name: one put
workload:
  - barrier: { id: first }
  - put:
      { id: p, from: a, to: b, size: 4MiB, packet: PACKET, packets: [512KiB, 1MiB, 2MiB], after: first,
        read: &level { affine: { latency: 100us, per_byte: 1ns } }, network: *level, write: *level }
topology: { tree: { a: { kind: host }, b: { kind: host } } }
";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().expect("a temporary folder"));
        folder.write("put.yaml", &PUT.replace("PACKET", "auto"));
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a UTF-8 path").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the file is written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    /// All names in it.
    fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.0.path()).expect("lists");
        let mut names: Vec<_> = files.map(|f| f.expect("a file").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

#[test]
fn the_tuned_table_is_read_back_and_gives_the_same_times() {
    let folder = Folder::new();
    let (put, table) = (folder.path("put.yaml"), folder.path("tuned.csv"));
    let ended = run(&["tune", &put, "--sizes", "256KiB..4MiB", "--csv", &table, "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    // n packets take (n · 2 + 1) steps of 100 µs + packet · 1 ns: the write of all but the last overlaps reading and
    // sending the next. 256 KiB and 512 KiB are no larger than any packet; 1 MiB in two: 5 · 624.288 µs = 3121.44 µs
    // against 3 · 1148.576 µs = 3445.728 µs in one. 2 MiB: 9 · 624.288 µs < 5 · 1148.576 µs; 4 MiB: 9 · 1148.576 µs is
    // less than 17 · 624.288 µs = 10612.896 µs.
    let tuned = "bytes,packet\n262144,\n524288,\n1048576,524288\n2097152,524288\n4194304,1048576\n";
    assert_eq!(folder.read("tuned.csv"), tuned);
    let tuning = &json_lines(&ended.stdout)[0];
    let rows = tuning["operations"][0]["sizes"].as_array().expect("a list");
    assert_eq!((&rows[2]["ps"], &rows[2]["packet"]), (&3_121_440_000_u64.into(), &524_288.into()));
    assert_eq!(rows[2]["without_packets_s"], 3.445_728e-3);
    assert_eq!((&rows[0]["packet"], &rows[0]["gain"]), (&().into(), &0.0.into()));
    folder.write("again.yaml", &PUT.replace("PACKET", "{ table: tuned.csv }"));
    for row in rows {
        let size = format!("workload[1].put.size={}B", row["bytes"]);
        let ended = run(&["run", &folder.path("again.yaml"), "--json", "--set", &size]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert_eq!(json_lines(&ended.stdout)[0]["operations"][1]["end_ps"], row["ps"], "{size}");
    }
}

#[test]
fn a_tuned_table_is_replaced_and_nothing_else_is() {
    let folder = Folder::new();
    let (put, table) = (folder.path("put.yaml"), folder.path("tuned.csv"));
    let tune = |target: &str, sizes: &str| run(&["tune", &put, "--sizes", sizes, "--csv", target]);
    assert_eq!(tune(&table, "1MiB").code, 0);
    let ended = tune(&table, "1KiB");
    assert_eq!((ended.code, folder.read("tuned.csv").as_str()), (0, "bytes,packet\n1024,\n"));
    folder.write("curve.csv", "bytes,seconds\n1,1\n");
    let ended = tune(&folder.path("curve.csv"), "1KiB");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("would overwrite a file that is not a tuned table"), "{}", ended.stderr);
    let ended = tune(&put, "1KiB");
    assert!(ended.stderr.contains("would overwrite the input"), "{}", ended.stderr);
    assert_eq!(folder.read("curve.csv"), "bytes,seconds\n1,1\n");
    // A failure leaves nothing behind, and the old table as it was.
    let ended = run(&["tune", &put, "--sizes", "1KiB", "--csv", &table, "--operation", "nobody"]);
    assert_eq!((ended.code, folder.read("tuned.csv").as_str()), (2, "bytes,packet\n1024,\n"));
    assert_eq!(folder.names(), ["curve.csv", "put.yaml", "tuned.csv"]);
}

#[test]
fn the_output_is_the_result_and_no_table() {
    let folder = Folder::new();
    let (put, target) = (folder.path("put.yaml"), folder.path("tune.json"));
    let tune = |more: &[&str]| run(&[&["tune", &put, "--sizes", "1MiB"], more].concat());
    let (plain, saved) = (tune(&["--json"]), tune(&["--json", "-o", &target]));
    assert_eq!((saved.code, saved.stdout.as_str(), folder.read("tune.json")), (0, "", plain.stdout));
    let refused = tune(&["-o", &folder.path("tuned.csv")]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("write the table of packets with --csv"), "{}", refused.stderr);
}

/// The put of the other tests, and one from the same machine at the same time: both read through one engine.
fn two_puts() -> String {
    let two = PUT.replace("PACKET", "auto").replace("after: first,", "after: first, via: [a, b],");
    let put = &two[two.find("  - put").expect("a put")..two.find("topology").expect("a topology")];
    let other = put.replace("id: p,", "id: q,").replace("&level ", "");
    let other = other.replace("*level", "{ affine: { latency: 100us, per_byte: 1ns } }");
    two.replace("topology", &format!("{other}topology"))
}

#[test]
fn other_traffic_is_warned_of_or_tuned_under() {
    let folder = Folder::new();
    folder.write("two.yaml", &two_puts());
    let tune = |more: &[&str]| run(&[&["tune", &folder.path("two.yaml"), "--sizes", "4MiB", "--json"], more].concat());
    let (alone, loaded) = (tune(&[]), tune(&["--under", "load"]));
    assert_eq!((alone.code, loaded.code, loaded.stderr.as_str()), (0, 0, ""), "{} {}", alone.stderr, loaded.stderr);
    assert!(alone.stderr.contains("under the scenario's other traffic, which tuning leaves out"), "{}", alone.stderr);
    let (alone, loaded) = (&json_lines(&alone.stdout)[0], &json_lines(&loaded.stdout)[0]);
    let time = |result: &serde_json::Value| result["operations"][1]["sizes"][0]["ps"].as_u64().expect("a time");
    assert!(time(loaded) > time(alone), "{loaded} {alone}");
    assert_eq!((loaded["under_load"].as_bool(), alone["under_load"].as_bool()), (Some(true), None));
}

/// The slow twin: the choice of `under: load` is the best of runs with each packet written down.
#[test]
fn a_choice_under_load_is_that_of_runs_by_hand() {
    let folder = Folder::new();
    let file = folder.path("two.yaml");
    folder.write("two.yaml", &two_puts());
    let simulated = |more: &[&str]| {
        let ended = run(&[&["run", &file, "--json"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let result = json_lines(&ended.stdout).remove(0);
        let put = result["operations"].as_array().expect("a list").iter().find(|row| row["id"] == "q").cloned();
        put.expect("the put")["details"].clone()
    };
    let chosen = simulated(&["--set", "workload[2].put.under=load"]);
    let choice = &chosen["choice"];
    assert_eq!(choice["under_load"], true, "{choice}");
    let mut best = (f64::INFINITY, String::new());
    for way in choice["alternatives"].as_array().expect("a list") {
        let label = way["label"].as_str().expect("a label");
        let by_hand = simulated(&["--set", &format!("workload[2].put.packet={label}")]);
        let time = by_hand["simulated_s"].as_f64().expect("a time");
        assert_eq!(way["seconds"].as_f64(), Some(time), "{label}");
        if time < best.0 {
            best = (time, label.to_owned());
        }
    }
    assert_eq!((choice["chosen"].as_str(), chosen["simulated_s"].as_f64()), (Some(&*best.1), Some(best.0)));
    // Alone it chooses otherwise, or at least knows other times.
    let alone = simulated(&[]);
    assert!(alone["choice"]["under_load"].is_null() && alone["choice"]["alternatives"] != choice["alternatives"]);
    // Alone each alternative is simulated once, however many runs decide under load.
    let ended = run(&["run", &file, "--json", "-vv", "--set", "workload[2].put.under=load"]);
    let result = json_lines(&ended.stdout).remove(0);
    let ways = result["operations"].as_array().expect("a list").iter();
    let ways: usize = ways.filter_map(|row| row["details"]["choice"]["alternatives"].as_array()).map(Vec::len).sum();
    assert_eq!(ended.stderr.matches("simulated alone").count(), ways, "{}", ended.stderr);
    // `weir tune` asks the same question.
    let tuned = run(&["tune", &file, "--sizes", "4MiB", "--operation", "q", "--under", "load", "--json"]);
    let row = &json_lines(&tuned.stdout)[0]["operations"][0]["sizes"][0];
    assert_eq!(row["ps"].as_u64(), Some((best.0 * 1e12).round() as u64), "{}", tuned.stderr);
}

#[test]
fn a_choice_under_load_needs_something_open() {
    let folder = Folder::new();
    let file = folder.path("put.yaml");
    let refused = run(&["run", &file, "--set", "workload[1].put.packet=1MiB", "--set", "workload[1].put.under=load"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("put `p` leaves nothing open that could be chosen under load"),
        "{}",
        refused.stderr
    );
    let refused = run(&["run", &file, "--set", "workload[1].put.under=loaded"]);
    assert!(refused.stderr.contains("write `alone` or `load`"), "{}", refused.stderr);
}

#[test]
fn what_is_set_on_the_command_line_holds_while_tuning() {
    let folder = Folder::new();
    let put = folder.path("put.yaml");
    let slower = "workload[1].put.write.affine.per_byte=10ns";
    let ended = run(&["tune", &put, "--sizes", "1MiB", "--set", slower, "--json"]);
    let row = &json_lines(&ended.stdout)[0]["operations"][0]["sizes"][0];
    // In two packets: read and sent in 2 · 624.288 µs, then two writes of 100 µs + 5242.88 µs.
    assert_eq!((&row["packet"], &row["ps"]), (&524_288.into(), &11_934_336_000_u64.into()), "{}", ended.stderr);
}

#[test]
fn the_example_of_the_library_is_as_its_comment_says() {
    let file = crate::common::scenario("multilevel/tuning-made-up.yaml");
    assert!(Path::new(&file).exists());
    let ended = run(&["tune", &file, "--sizes", "1KiB..32MiB"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout.lines().filter(|line| line.contains("iB ")).count(), 16, "{}", ended.stdout);
}
