//! Loaded port arbiters seen from the command line: runs, the list, and what is said when they fail.
#![cfg(target_os = "linux")]

use crate::common::{SHARED, json_lines, scenario};
use crate::plugins::Place;

const LIBRARY: &str = "port.so";
/// Two transfers for one link, under the port arbiter of the library.
const RUN: [&str; 6] =
    ["run", "s.yaml", "--plugin", LIBRARY, "--fidelity", "{packet: {port_arbiter: {down: variant}}}"];

/// A library whose port arbiter does what these macros say.
fn sick(defines: &[&str]) -> Place {
    let place = Place::new();
    let defines: Vec<String> = defines.iter().map(|define| format!("-D{define}")).collect();
    let defines: Vec<&str> =
        [&["-D_DEFAULT_SOURCE"][..], &defines.iter().map(String::as_str).collect::<Vec<_>>()].concat();
    place.compile("plugin-host/tests/plugins/port-variant.c", &defines, LIBRARY);
    std::fs::write(place.path("s.yaml"), SHARED).expect("the file is written");
    place
}

fn fewest_bytes() -> Place {
    let place = Place::new();
    place.compile("examples/plugins/c-fewest-bytes/fewest-bytes.c", &[], LIBRARY);
    place
}

/// Grants of equal packets are those of round robin, isolated or not; the result says which library it was.
#[test]
fn a_loaded_port_arbiter_serves_as_it_says() {
    let place = fewest_bytes();
    std::fs::write(place.path("s.yaml"), SHARED).expect("the file is written");
    let run = |ports: &str, more: &[&str]| {
        let fidelity = format!("{{packet: {{port_arbiter: {ports}}}}}");
        let ended = place.run(&[&["run", "s.yaml", "--json", "--fidelity", &fidelity], more].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ports}");
        json_lines(&ended.stdout).remove(0)
    };
    let plugin = ["--plugin", LIBRARY];
    let (built_in, loaded) = (run("{down: round-robin}", &plugin), run("{down: fewest-bytes}", &plugin));
    assert_eq!(built_in["fingerprint"], loaded["fingerprint"]);
    assert!(loaded["skipped_hops"].as_u64() > Some(0), "it tells its state: {}", loaded["skipped_hops"]);
    let isolated = run("{down: fewest-bytes}", &[&plugin[..], &["--isolate"]].concat());
    assert_eq!(
        (&isolated["fingerprint"], &isolated["skipped_hops"]),
        (&loaded["fingerprint"], &loaded["skipped_hops"])
    );
    assert_eq!(built_in["arbiter"].get("port_arbiters"), None);
    let listed = &loaded["arbiter"]["port_arbiters"];
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["name"]), (Some(1), &"fewest-bytes".into()));
    assert_eq!(listed[0]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn an_added_port_arbiter_is_listed_and_trusted_until_it_changes() {
    let place = fewest_bytes();
    let file = scenario("packets/table-1.yaml");
    let run = ["run", &file, "--fidelity", "{packet: {port_arbiter: fewest-bytes}}"];
    let unknown = place.run(&run);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("no port arbiter is named `fewest-bytes`"),
        "{}",
        unknown.stderr
    );
    let near = place.run(&["run", &file, "--fidelity", "{packet: {port_arbiter: fewest-byte}}", "--plugin", LIBRARY]);
    assert!(near.code == 2 && near.stderr.contains("did you mean `fewest-bytes`"), "{}", near.stderr);
    let keyed = "{packet: {port_arbiter: {name: fewest-bytes, quantum: 1B}}}";
    let keyed = place.run(&["run", &file, "--fidelity", keyed, "--plugin", LIBRARY]);
    let words = "port arbiter `fewest-bytes` has no parameter `quantum`";
    assert!(keyed.code == 2 && keyed.stderr.contains(words), "{}", keyed.stderr);

    let added = place.run(&["plugin", "add", LIBRARY]);
    let words = "added fewest-bytes 1.0.0 (port arbiter: who has been served the fewest bytes)\n";
    assert!(added.code == 0 && added.stdout.starts_with(words), "{}{}", added.stdout, added.stderr);
    assert_eq!(place.run(&run).code, 0);
    let listed = place.run(&["plugin", "list"]).stdout;
    let words = "port arbiter: who has been served the fewest bytes; /";
    assert!(listed.lines().any(|line| line.starts_with("fewest-bytes ") && line.contains(words)), "{listed}");
    let list = &json_lines(&place.run(&["plugin", "list", "--json"]).stdout)[0]["port_arbiters"];
    let list = list.as_array().expect("a list");
    assert_eq!((list.len(), &list[8]["name"], list[0].get("path")), (9, &"fewest-bytes".into(), None));

    place.compile("examples/plugins/c-fewest-bytes/fewest-bytes.c", &["-O0"], LIBRARY);
    let changed = place.run(&run);
    assert!(changed.code == 4 && changed.stderr.contains("has changed since it was added"), "{}", changed.stderr);
    assert_eq!(place.run(&["plugin", "remove", "fewest-bytes"]).code, 0);
    assert_eq!(place.run(&run).code, 2);
}

/// What a plugin does, what the command says, and whether the words are the same where it has a process of its own.
#[test]
fn a_sick_port_arbiter_is_named_with_what_it_did() {
    let runs = [
        ("IN_CHOOSE=*slot += 1000", "chose requester 1000, which does not ask", true),
        ("IN_CHOOSE=*slot = UINT32_MAX - 1", "chose requester 4294967294, which does not ask", true),
        ("IN_CHOOSE=*slot = view->heads[calls % view->n_heads].slot", "for the same question again requester", true),
        ("IN_CHOOSE=return weir_fail(err, \"no idea\")", "failed: no idea", true),
        ("IN_CHOOSE=return 2", "failed: the plugin panicked: in choose of /", true),
        ("IN_CHOOSE=abort()", "crashed in choose (SIGABRT)", false),
        ("IN_CHOOSE=*(volatile int *volatile)NULL = 1", "crashed in choose (SIGSEGV)", false),
        ("IN_CHOOSE=exit(0)", "ended the program in choose (exit)", false),
        ("IN_CHOOSE=forever()", "choose has not returned for 0.3 s", false),
        ("IN_COMMIT=return weir_fail(err, \"not him\")", "failed: not him", true),
        ("IN_COMMIT=forever()", "commit has not returned for 0.3 s", false),
        ("IN_COMMIT=abort()", "crashed in commit (SIGABRT)", false),
        ("IN_STATE=return weir_fail(err, \"secret\")", "failed: secret", true),
        (
            // By the time as such: Thue and Morse's sequence, of which no part stands three times in a row.
            "IN_CHOOSE=*slot = view->heads[__builtin_popcountll(view->now_ps / 1000000) % view->n_heads].slot",
            "though its `state` was the same: it leaves out what choices depend on",
            true,
        ),
        ("IN_STATE=*n = cap + 1", "writes more than the 16384 words of a state", true),
        ("IN_CREATE=return 2", "port arbiter `variant` failed: the plugin panicked", true),
        ("IN_DESTROY=abort()", "crashed in destroy (SIGABRT)", false),
    ];
    for (define, words, everywhere) in runs {
        let place = sick(&[define]);
        let ended = place.run_within("300ms", &RUN);
        assert_eq!(ended.code, 4, "{define}: {}", ended.stderr);
        assert!(ended.stderr.contains(words) && ended.stderr.contains("`variant`"), "{define}: {}", ended.stderr);
        let isolated = place.run_within("300ms", &[&RUN[..], &["--isolate"]].concat());
        assert_eq!(isolated.code, 4, "{define} isolated: {}", isolated.stderr);
        assert!(!everywhere || isolated.stderr.contains(words), "{define} isolated: {}", isolated.stderr);
        assert!(isolated.stderr.contains("variant") || isolated.stderr.contains(LIBRARY), "{}", isolated.stderr);
    }
}

/// As packets wait that nobody will ever serve.
#[test]
fn a_port_arbiter_that_serves_nobody_is_a_deadlock_that_names_it() {
    let place = sick(&["IN_CHOOSE=*slot = WEIR_NONE"]);
    for isolate in [None, Some("--isolate")] {
        let ended = place.run(&RUN.into_iter().chain(isolate).collect::<Vec<_>>());
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        let words =
            ["deadlock at ", "port arbiter `variant` of link ", "serves nobody, though packets ask for the link"];
        assert!(words.iter().all(|words| ended.stderr.contains(words)), "{}", ended.stderr);
    }
}

#[test]
fn a_port_arbiter_may_refuse_a_scenario() {
    let place = sick(&["IN_CREATE=return weir_fail(err, \"only rings\")"]);
    for isolate in [None, Some("--isolate")] {
        let ended = place.run(&RUN.into_iter().chain(isolate).collect::<Vec<_>>());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains("port arbiter `variant` refuses this scenario: only rings"), "{}", ended.stderr);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_port_arbiter_that_changes_how_numbers_are_rounded_is_refused() {
    for define in ["IN_CHOOSE=__builtin_ia32_ldmxcsr(0x5f80)", "IN_COMMIT=__builtin_ia32_ldmxcsr(0x5f80)"] {
        let ended = sick(&[define]).run(&RUN);
        assert_eq!(ended.code, 4, "{}", ended.stderr);
        assert!(ended.stderr.contains("left the floating-point environment changed"), "{}", ended.stderr);
    }
}

/// Its weights are those that a plugin reads or does not.
#[test]
fn attributes_that_no_port_reads_are_warned_of() {
    let weighted = SHARED.replace("size: 10MB }", "size: 10MB, weight: 2, priority: 1 }");
    for (flags, warned) in [("0", true), ("WEIR_READS_WEIGHT|WEIR_READS_PRIORITY", false)] {
        let place = sick(&[&format!("FLAGS={flags}")]);
        std::fs::write(place.path("s.yaml"), &weighted).expect("the file is written");
        let ended = place.run(&RUN);
        assert_eq!((ended.code, ended.stderr.contains("weight")), (0, warned), "{flags}: {}", ended.stderr);
    }
    let place = sick(&[]);
    std::fs::write(place.path("s.yaml"), SHARED.replace("size: 10MB }", "size: 10MB, priority: 3000000000 }"))
        .expect("the file is written");
    let ended = place.run(&RUN);
    assert!(ended.code == 2 && ended.stderr.contains("packets have priorities from -2^31"), "{}", ended.stderr);
}
