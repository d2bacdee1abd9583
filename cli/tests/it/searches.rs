//! Accepted results of the searches of the scenario library: one snapshot for each file with an `optimize` key. Accept a
//! change with `INSTA_UPDATE=always cargo test -p weir-cli --test it searches`, and say why in the commit.

use std::path::Path;

use crate::common::{json_lines, library, run, scenarios};

#[test]
fn the_library_gives_the_accepted_searches() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/searches"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut searched = 0;
    for file in scenarios() {
        let text = std::fs::read_to_string(&file).expect("a text");
        if !text.contains("\noptimize:\n") {
            continue;
        }
        searched += 1;
        let path = file.to_str().expect("a UTF-8 path");
        let below = file.strip_prefix(library()).expect("is in the library").with_extension("");
        let words: Vec<_> = below.iter().map(|word| word.to_str().expect("a UTF-8 name")).collect();
        if text.contains("\n  vary: order\n  parameters:") {
            // All points as JSON are more than anybody reads: the table says what each distinct one gains.
            let ended = run(&["optimize", path, "--no-timing"]);
            assert_eq!(ended.code, 0, "{path}: {}", ended.stderr);
            let table: Vec<&str> = ended.stdout.lines().enumerate().filter(|(i, _)| *i != 1).map(|(_, l)| l).collect();
            settings.bind(|| insta::assert_snapshot!(words.join("__"), table.join("\n")));
            continue;
        }
        let ended = run(&["optimize", path, "--json", "--no-timing"]);
        assert_eq!(ended.code, 0, "{path}: {}", ended.stderr);
        let mut results = json_lines(&ended.stdout);
        for result in &mut results {
            let result = result.as_object_mut().expect("an object");
            // What says nothing of the search itself.
            ["weir", "version", "file", "input_sha256"].iter().for_each(|key| drop(result.shift_remove(*key)));
        }
        let text = serde_json::to_string_pretty(&results).expect("JSON");
        settings.bind(|| insta::assert_snapshot!(words.join("__"), text));
    }
    assert!(searched >= 15, "only {searched} searches");
}

/// Two copies from host memory to ranks: nothing goes from rank to rank, and where the ranks are decides all the same. 110 MB
/// leave the processor at 10 GB/s in 11 ms; over the slow link of gpu0 100 MB take 50 ms.
#[test]
fn ranks_that_others_send_to_are_placed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.yaml");
    let text = "weir: 1
topology:
  link_types: { fast: { bandwidth: 10GB/s }, slow: { bandwidth: 2GB/s } }
  tree:
    rc:
      kind: root-complex
      children:
        cpu: { kind: cpu, link: fast }
        gpu0: { kind: gpu, link: slow }
        'gpu[1-2]': { kind: gpu, link: fast }
arbiter: max-min
ranks: [gpu0, gpu1]
workload:
  - transfer: { from: cpu, to: { rank: 0 }, size: 100MB }
  - transfer: { from: cpu, to: { rank: 1 }, size: 10MB }
optimize: { vary: placement, devices: 'gpu[0-2]' }
";
    std::fs::write(&file, text).expect("is written");
    let ended = run(&["optimize", file.to_str().expect("a UTF-8 path"), "--json", "--no-timing"]);
    assert_eq!((ended.code, &*ended.stderr), (0, ""));
    let found = json_lines(&ended.stdout).remove(0);
    assert_eq!((&found["baseline_ps"], &found["best_ps"]), (&50_000_000_000_u64.into(), &11_000_000_000_u64.into()));
    assert_eq!(found["proved_optimal"], true);
}
