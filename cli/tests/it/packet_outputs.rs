//! Runs by rates and by packets beside each other, and the tables of runs of packets.

use serde_json::Value;

use crate::common::{self, json_lines, weir};
use crate::packets::{ended, t2};

/// Two devices send to one and a third: head-of-line blocking makes the times of rates and packets part.
fn blocked() -> String {
    t2("", &[("a", "gpu0", "gpu2"), ("b", "gpu0", "gpu4"), ("c", "gpu1", "gpu2"), ("d", "gpu6", "gpu4")]).replacen(
        "kind: gpu, link",
        "kind: gpu, engines: { send: 2 }, link",
        8,
    )
}

/// The text has the table of `compare` beneath both runs.
#[test]
fn both_texts_have_a_table_beneath() {
    let arguments = |command| [command, "s.yaml", "--fidelity", "fluid,packet"];
    let [run, compared] = ["run", "compare"].map(|command| ended(&blocked(), &arguments(command)));
    assert_eq!((run.code, compared.code), (0, 0), "{}", run.stderr);
    let table = compared.stdout.strip_prefix("s.yaml\n").expect("the file comes first");
    assert!(table.contains("×") && run.stdout.ends_with(&format!("\n\n{table}")), "{}", run.stdout);
    let alone = ended(&blocked(), &["run", "s.yaml"]);
    assert!(!alone.stdout.contains("completion times"), "{}", alone.stdout);
}

/// Where times part, each side has its link, its cause, and for which share of the time it held.
#[test]
fn partings_have_shares_of_time() {
    let text = ended(&blocked(), &["compare", "s.yaml", "--fidelity", "fluid,packet"]);
    let json = ended(&blocked(), &["compare", "s.yaml", "--fidelity", "fluid,packet", "--json"]);
    let compared = json_lines(&json.stdout).remove(0);
    let partings = compared["partings"].as_array().expect("a list");
    assert!(!partings.is_empty(), "{}", text.stdout);
    for parting in partings {
        let ratio = compared["ratios"]["transfers"][parting["transfer"].as_str().expect("an id")][1].as_f64();
        assert!((ratio.expect("a number") - 1.0).abs() > 0.05, "{parting}");
        for (column, side) in parting["sides"].as_array().expect("a list").iter().enumerate() {
            let share = side["share_of_time"].as_f64().expect("a number");
            assert!(share > 0.0 && share <= 1.0 && side["column"] == column, "{parting}");
            let words = |key: &str| side[key].as_str().expect("a text").to_owned();
            let said = format!("{}, {}, {:.1} % of its time", words("place"), words("cause"), 100.0 * share);
            assert!(text.stdout.contains(&said), "{said}: {}", text.stdout);
        }
    }
    let rates = ended(&blocked(), &["compare", "s.yaml", "--json", "--fidelity", "fluid", "--arbiter", "max-min"]);
    assert!(json_lines(&rates.stdout)[0].get("partings").is_none(), "{}", rates.stdout);
}

/// The rows of a CSV table: name of the column → value.
fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

/// Tables of packets say what the JSON says; of rates they have the same columns, empty.
#[test]
fn tables_of_packets_say_what_the_json_says() {
    let folder = tempfile::TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("s.yaml"), blocked()).expect("written");
    let mut command = weir();
    command.args(["run", "s.yaml", "--json", "--fidelity", "fluid,packet", "--export-csv", "tables"]);
    let ended = common::ended(command.current_dir(folder.path()).output().expect("the command starts"));
    let results = json_lines(&ended.stdout);
    let read = |name: &str| std::fs::read_to_string(folder.path().join("tables").join(name)).expect("it was written");
    let number = |value: &Value| value.as_f64().map_or_else(String::new, |number| number.to_string());
    for (table, names) in [
        ("transfers", &["packets", "sent_s", "held_s"][..]),
        ("links", &["packets", "wire_bytes", "deepest_bytes", "no_credit_s", "mean_wait_s"]),
    ] {
        let rows = rows(&read(&format!("{table}.csv")));
        let listed: Vec<&Value> = results.iter().flat_map(|run| run[table].as_array().expect("a list")).collect();
        assert_eq!(rows.len(), listed.len());
        for (row, of) in rows.iter().zip(listed) {
            for &name in names {
                let held = |held: &Vec<Value>| held.iter().filter_map(|held| held["time_s"].as_f64()).sum::<f64>();
                let value = match name {
                    "held_s" => of["held"].as_array().map(held).into(),
                    _ => of[name].clone(),
                };
                let written = &row.iter().find(|(column, _)| column == name).expect("a column").1;
                let same = match (written.parse::<f64>(), value.as_f64()) {
                    (Ok(written), Some(value)) => (written - value).abs() <= 1e-12 * value.abs(),
                    _ => *written == number(&value),
                };
                assert!(same, "{table}.{name}: {written}, not {value}");
            }
        }
    }
}
