//! `order: { graph: … }`: rings of an NCCL graph file.

use crate::collective::machines;
use crate::common::{World, holds, named, plan, refusal, time_of};
use serde_json::{Value, json};
use weir_plugin_api::PlannedWork;

/// Two rings over three GPUs, the second one backwards, and a tree that is left out.
const GRAPH: &str = r#"<graphs version="1">
  <graph id="0" pattern="3" nchannels="1"><channel><gpu dev="0"/></channel></graph>
  <graph id="1" pattern="4" nchannels="2">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><gpu dev="2"/></channel>
    <channel><gpu dev="2"/><gpu dev="1"/><gpu dev="0"/></channel>
  </graph>
</graphs>"#;

fn with_graph(text: &str, ranks: u32) -> Value {
    json!({ "kind": "all-gather", "size": 3000, "ranks": (1..=ranks).collect::<Vec<_>>(),
        "order": { "graph": named(json!([text])) } })
}

/// Who sends to whom in the first round of each channel.
fn rings(world: &World, params: &Value) -> Vec<Vec<(u32, u32)>> {
    let mut rings = vec![Vec::new(); 2];
    for task in plan(world, "collective", params).iter() {
        if let (PlannedWork::Carries { from, to, .. }, Some(name)) = (task.work, task.name.strip_prefix("0.")) {
            rings[usize::from(name.ends_with(".c1"))].push((from.0, to.0));
        }
    }
    rings
}

#[test]
fn channels_follow_the_rings_of_a_graph() {
    let world = World::star(6, 1e12, 0);
    let params = with_graph(GRAPH, 3);
    assert_eq!(rings(&world, &params), [[(1, 2), (2, 3), (3, 1)], [(3, 2), (2, 1), (1, 3)]]);
    // Two rounds, in which each link carries 500 B of either ring each way, at 1 B/ps.
    assert_eq!(time_of(&world, "collective", &params), 2000);
    holds(&world, "collective", &params);
    // Two machines, nodes 2 to 4 and 6 to 8 below their switches: rank 3 is GPU 0 of the second one.
    let (cluster, ranks) = machines(2, 3, 1e12, 1e12, 0);
    let mut of_cluster = with_graph(GRAPH, 6);
    of_cluster["ranks"] = json!(ranks);
    assert_eq!(rings(&cluster, &of_cluster)[1], [(4, 3), (3, 2), (2, 8), (8, 7), (7, 6), (6, 4)]);
    // From a root on both rings begin with it: nobody sends to it.
    let mut rooted = with_graph(GRAPH, 3);
    (rooted["kind"], rooted["root"]) = (json!("broadcast"), json!(2));
    let all: Vec<_> = plan(&world, "collective", &rooted)
        .iter()
        .filter_map(|task| match task.work {
            PlannedWork::Carries { from, to, .. } => Some((from.0, to.0)),
            _ => None,
        })
        .collect();
    assert_eq!(all, [(2, 3), (3, 1), (2, 1), (1, 3)]);
}

#[test]
fn a_graph_that_does_not_fit_is_refused() {
    let world = World::star(6, 1e12, 0);
    let says = |text: &str, ranks: u32, said: &str| {
        let refused = refusal(&world, "collective", &with_graph(text, ranks));
        assert!(refused.starts_with("order: ") && refused.contains(said), "{refused}");
    };
    says(GRAPH, 4, "3 GPUs a machine, and 4 ranks are given");
    says(GRAPH, 6, "not every 3 ranks are a machine of their own");
    says("<graphs", 3, "file0: it is no XML");
    says("<system/>", 3, "line 1, column 1: its root is `system`, not `graphs`");
    says("<graphs/>", 3, "it has no graph, and no ring");
    let trees = r#"<graphs><graph id="1" pattern="1"/><graph id="2" pattern="5"/><graph pattern="9"/></graphs>"#;
    says(trees, 3, "it has graph 1 (balanced tree), graph 2 (NVLS), graph without id (pattern 9), and no ring");
    says(
        &GRAPH.replace("nchannels=\"2\"", "nchannels=\"3\""),
        3,
        "line 3, column 3: `nchannels` is `3`, and 2 are described",
    );
    says(
        &GRAPH.replacen("<gpu dev=\"1\"/><gpu dev=\"2\"/>", "<gpu dev=\"1\"/><gpu dev=\"1\"/>", 1),
        3,
        "line 4, column 5: channel 0 does not go once",
    );
    says(&GRAPH.replace("dev=\"2\"", "dev=\"x\""), 3, "line 4, column 56: `dev=\"x\"` is no number of a GPU");
    let mut tree = with_graph(GRAPH, 3);
    (tree["kind"], tree["algorithm"]) = (json!("all-reduce"), json!("tree"));
    assert!(refusal(&world, "collective", &tree).contains("use `algorithm: ring`"));
}

/// Beside the project: a graph of Azure's machines, two rings of four GPUs.
#[test]
fn the_graph_of_a_machine_is_read() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces/nccl/azure-ncv4-graph.xml");
    let Ok(text) = std::fs::read_to_string(file) else {
        return eprintln!("left out: the samples are not there");
    };
    let world = World::star(4, 1e12, 0);
    let rings = rings(&world, &with_graph(&text, 4));
    assert_eq!(rings, [[(1, 2), (2, 3), (3, 4), (4, 1)], [(1, 4), (4, 3), (3, 2), (2, 1)]]);
}
