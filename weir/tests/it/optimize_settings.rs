//! What settings make of options and files: which searches simulate, and what does not go together.

use weir::optimize::{
    Method, Objective, PartFile, SearchOptions, Settings, SettingsError, Shard, SplitOption, Unread, Vary,
};
use weir::{Input, Scenario};
use weir_optimize::with_digest;

const FILE: &str = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g2, size: 10MB }
  - transfer: { id: b, from: g0, to: g3, size: 10MB }
";

fn scenario(optimize: &str) -> Scenario {
    let text = format!("{FILE}optimize: {{ {optimize} }}\n");
    Scenario::opener().load(Input::text(text, "settings.yaml", None)).expect("is right")
}

fn settings(optimize: &str, options: &SearchOptions<'_>) -> Result<Settings, SettingsError> {
    Settings::new(options, &scenario(optimize))
}

/// Grids of up to ten million points have a search of their own; of larger ones points are tried one by one, unless another
/// method or a part is asked for.
#[test]
fn large_grids_are_simulated_point_by_point() {
    let grid = |first: u32, second: u32| {
        let axis = |at: u32, count: u32| {
            format!("\"workload[{at}].transfer.size\": {{ from: 1kB, to: {count}kB, step: 1kB }}")
        };
        format!("parameters: {{ {}, {} }}", axis(0, first), axis(1, second))
    };
    let (least, most) = (grid(10_000, 1_000), grid(10_001, 1_000));
    let plain = SearchOptions::default();
    let simulated =
        |optimize: String, options: &SearchOptions<'_>| settings(&optimize, options).expect("fits").simulated;
    assert!(!simulated(format!("vary: parameters, {least}"), &plain));
    assert!(simulated(format!("vary: parameters, {most}"), &plain));
    assert!(!simulated(format!("vary: parameters, method: exhaustive, {most}"), &plain));
    let part = SearchOptions { shard: Some(Shard::ALL), ..plain };
    assert!(!simulated(format!("vary: parameters, {most}"), &part));
    assert!(!simulated(format!("vary: order, {most}"), &plain), "an order at each point");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let size = "parameters: { \"workload[0].transfer.size\": [10MB, 5MB] }";
    let sweep = format!("vary: order, {size}");
    let plain = SearchOptions::default();
    let refused = |optimize: &str, options: SearchOptions<'_>| settings(optimize, &options).expect_err("does not fit");
    // At each point of a grid: orders by the makespan, by the fast search, without a count.
    let throughput = SearchOptions { objective: Some(Objective::Throughput), ..plain };
    let by_throughput = SettingsError::SweepByMakespan { objective: Objective::Throughput };
    assert_eq!(refused(&sweep, throughput), by_throughput);
    let local = SearchOptions { method: Some(Method::LocalSearch), ..plain };
    assert_eq!(refused(&sweep, local), SettingsError::NoSuchMethod { vary: Vary::Order, method: Method::LocalSearch });
    let counted = SearchOptions { candidates: Some(9), ..plain };
    assert_eq!(refused(&sweep, counted), SettingsError::NotCounted { objective: Objective::Makespan });
    assert!(settings("vary: order", &counted).is_ok());
    let placed = "vary: placement, objective: distance";
    assert_eq!(refused(placed, counted), SettingsError::NotCounted { objective: Objective::Distance });
    assert!(settings("vary: placement", &counted).is_ok());
    // Only what is not simulated is proven to the picosecond.
    let exact = SearchOptions { exact: true, ..plain };
    assert!(settings("vary: order", &exact).is_ok());
    for optimize in ["vary: order, objective: throughput", placed, "vary: placement"] {
        assert!(matches!(refused(optimize, exact), SettingsError::ExactIsForOrders { .. }), "{optimize}");
    }
    // Items belong to the objective that the file names with them.
    let end = SearchOptions { objective: Some(Objective::End), ..plain };
    let sum = "vary: order, objective: { sum: [a, b] }";
    assert_eq!(refused(sum, end), SettingsError::NoItems { objective: Objective::End });
    assert!(settings(sum, &plain).is_ok());
}

/// Orders of packets are simulated: what only the fast search has is refused.
#[test]
fn orders_of_packets_are_simulated() {
    let text = format!("{FILE}fidelity: packet\noptimize: {{ vary: order }}\n");
    let packets = Scenario::opener().load(Input::text(text, "packets.yaml", None)).expect("is right");
    let error = |options: SearchOptions<'_>| packets.optimize_with(0, &options).expect_err("does not fit").to_string();
    let plain = SearchOptions::default();
    let words = |refused: SettingsError| refused.to_string();
    let part = error(SearchOptions { shard: Some(Shard::ALL), ..plain });
    assert!(part.contains(&words(SettingsError::NotSimulated { option: SplitOption::Shard })), "{part}");
    let method = error(SearchOptions { method: Some(Method::Anneal), ..plain });
    assert!(method.contains(&words(SettingsError::MethodSimulates { method: Method::Anneal })), "{method}");
    assert!(packets.optimize_with(0, &plain).is_ok());
}

/// A line of a part is read where it is whole and of this version; else the error says what it is.
#[test]
fn lines_of_parts_say_what_they_are() {
    let options =
        SearchOptions { method: Some(Method::Exhaustive), shard: Some(Shard::ALL), ..SearchOptions::default() };
    let line = scenario("vary: order").optimize_with(0, &options).expect("a result").part.expect("a part").line();
    assert_eq!(PartFile::read(&line).expect("as written").line(), line);
    let of = |line: &str| match PartFile::read(line).expect_err("not a part") {
        Unread::Version(version) => format!("version {version}"),
        Unread::Grid => "grid".to_owned(),
        Unread::Damaged => "damaged".to_owned(),
        Unread::Other(_) => "other".to_owned(),
    };
    let checkpoint = "{\"weir_parameter_checkpoint\":1}";
    let older = line.replace("{\"weir_part\":3,", "{\"weir_part\":2,");
    let older = format!("{}}}", older.rsplit_once(",\"").expect("a digest").0);
    for (line, what) in [
        (&line[..line.len() / 2], "damaged"),
        (&line.replace("g0", "g1"), "damaged"),
        ("{\"weir_part\":3,\"version\":\"x\"}", "damaged"),
        ("{\"weir_part\":2,\"version\":\"0.1\"}", "version 0.1 (format 2)"),
        (&with_digest("{\"weir_part\":3,\"version\":\"0.1\"}"), "version 0.1 (format 3)"),
        (&with_digest(&older), &format!("version {} (format 2)", env!("CARGO_PKG_VERSION"))),
        (&with_digest(checkpoint), "grid"),
        (checkpoint, "grid"),
        (&format!("{checkpoint}\n{{}}"), "grid"),
        ("{}", "other"),
        (&with_digest("{}"), "other"),
    ] {
        assert_eq!(of(line), what, "{line}");
    }
}
