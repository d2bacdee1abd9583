//! The topology as a tree: a row for each node, with the use of its link in both directions; then the lateral links.

use std::collections::BTreeMap;

use super::WIDTH;
use crate::draw::svg::{Anchor, Svg, fitting};
use crate::json::{LinkRow, NodeRow};
use crate::rate;

/// Rows of a picture (*assumed*: no reader looks at more).
const MOST: usize = 400;
/// Pixels.
const ROW: f64 = 22.0;
const TOP: f64 = 86.0;
const STEP: f64 = 18.0;
const BAR: f64 = 90.0;
/// Where the bars of the two directions begin.
const COLUMNS: [f64; 2] = [400.0, 680.0];

const GROUND: &str = "#eef1f4";
const BRANCH: &str = "#9aa5b1";
/// From which use on a bar has which colour.
const COLOURS: [(f64, &str); 4] = [(0.85, "#b3261e"), (0.6, "#d9822b"), (0.3, "#2a6fb0"), (0.0, "#8fb7dc")];

/// The picture; `None` where the nodes are not known.
pub(super) fn of(title: &str, nodes: &[NodeRow<'_>], links: &[LinkRow<'_>], end_s: f64) -> Option<String> {
    if nodes.is_empty() {
        return None;
    }
    // A lateral link may lie beside one of the tree.
    let of_tree = links.iter().filter(|link| !is_lateral(link));
    let by_ends = of_tree.map(|link| ((&*link.from, &*link.to), link)).collect();
    let mut tree = Tree { svg: Svg::new(&format!("Topology: {title}")), links: by_ends, end_s, rows: 0, left: 0 };
    tree.svg.head(0.0, title, "Topology: the share of its bandwidth that each link carried over the whole run");
    for (x, words) in COLUMNS.into_iter().zip(["to the parent", "from the parent"]) {
        tree.svg.text((x, TOP - 14.0), Anchor::Start, true, words);
    }
    tree.nodes(nodes);
    tree.laterals(links);
    if tree.left > 0 {
        let (foot, left) = (tree.top() + 15.0, tree.left);
        tree.svg.text((16.0, foot), Anchor::Start, true, &format!("and {left} more"));
        tree.rows += 1;
    }
    let height = tree.top() + 12.0;
    Some(tree.svg.finish(WIDTH, height))
}

struct Tree<'a> {
    svg: Svg,
    /// Those of the tree.
    links: BTreeMap<(&'a str, &'a str), &'a LinkRow<'a>>,
    end_s: f64,
    rows: usize,
    /// Rows beyond [`MOST`].
    left: usize,
}

impl<'a> Tree<'a> {
    fn top(&self) -> f64 {
        TOP + ROW * self.rows as f64
    }

    /// Each node below its parent; children come after their parent, so one pass knows how deep they are.
    fn nodes(&mut self, nodes: &'a [NodeRow<'a>]) {
        // Per node of the tree: its name, how deep it is, and the place of its row.
        let mut known: BTreeMap<u32, (&str, usize, f64)> = BTreeMap::new();
        for node in nodes {
            let parent = node.parent.and_then(|parent| known.get(&parent).copied());
            let depth = parent.map_or(0, |(_, depth, _)| depth + 1);
            if self.rows >= MOST {
                self.left += 1;
                continue;
            }
            let (x, top) = (16.0 + STEP * depth as f64, self.top());
            known.insert(node.id, (&node.name, depth, top));
            if let Some((parent, _, above)) = parent {
                let (from, middle) = (x - STEP + 6.0, top + 11.0);
                self.svg.line((from, above + 19.0), (from, middle), BRANCH);
                self.svg.line((from, middle), (x - 3.0, middle), BRANCH);
                for (x, ends) in COLUMNS.into_iter().zip([(&*node.name, parent), (parent, &*node.name)]) {
                    if let Some(link) = self.links.get(&ends) {
                        self.bar(x, link);
                    }
                }
            }
            let label = format!("{} ({})", node.name, node.kind);
            self.svg.text((x, top + 15.0), Anchor::Start, false, &fitting(&label, COLUMNS[0] - x - 8.0));
            self.rows += 1;
        }
    }

    /// A row for each lateral link that carried bytes.
    fn laterals(&mut self, links: &'a [LinkRow<'a>]) {
        for link in links.iter().filter(|link| is_lateral(link) && link.bytes > 0) {
            if self.rows >= MOST {
                self.left += 1;
                continue;
            }
            let label = fitting(&format!("{} → {}", link.from, link.to), COLUMNS[0] - 24.0);
            let foot = self.top() + 15.0;
            self.svg.text((16.0, foot), Anchor::Start, false, &label);
            self.bar(COLUMNS[0], link);
            self.rows += 1;
        }
    }

    /// The use of a link, as a bar and in words.
    fn bar(&mut self, x: f64, link: &LinkRow<'_>) {
        let Some(bandwidth) = link.bandwidth_bps.filter(|&bandwidth| bandwidth > 0.0) else { return };
        let used = if self.end_s > 0.0 { (link.bytes as f64 / (bandwidth * self.end_s)).min(1.0) } else { 0.0 };
        let fill = COLOURS.into_iter().find(|&(from, _)| used >= from).map_or(GROUND, |(_, colour)| colour);
        let top = self.top() + 5.0;
        self.svg.rect((x, top), (BAR, 12.0), GROUND, &format!("{} → {}", link.from, link.to));
        if used > 0.0 {
            self.svg.rect((x, top), (BAR * used, 12.0), fill, "");
        }
        let words = format!("{:.1} % of {}", 100.0 * used, rate(bandwidth));
        self.svg.text((x + BAR + 8.0, top + 10.0), Anchor::Start, true, &words);
    }
}

fn is_lateral(link: &LinkRow<'_>) -> bool {
    link.direction.as_deref() == Some("lateral")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of nodes and of lateral links that carried bytes, 400 rows are shown in all; names of lateral links end 8 pixels before
    /// the bars, at 6.6 pixels a letter: 400 − 16 − 8 are 56 letters.
    #[test]
    fn rows_beyond_the_last_are_counted() {
        let left = |nodes: u32, laterals: u32| {
            let node = |id: u32| format!(r#"{{"id":{id},"name":"n{id}","kind":"host","parent":null}}"#);
            let link = |id: u32| {
                let name = "x".repeat(60);
                format!(
                    r#"{{"id":{id},"from":"{name}","to":"b","bytes":{id},"busy_s":1.0,"peak_Bps":null,"bandwidth_Bps":1e3,"direction":"lateral"}}"#
                )
            };
            let list = |rows: Vec<String>| format!("[{}]", rows.join(","));
            // The first carried nothing.
            let (nodes, links) = (list((0..nodes).map(node).collect()), list((0..=laterals).map(link).collect()));
            let nodes: Vec<NodeRow<'_>> = serde_json::from_str(&nodes).expect("nodes");
            let links: Vec<LinkRow<'_>> = serde_json::from_str(&links).expect("links");
            let svg = of("x", &nodes, &links, 1.0).expect("a picture");
            let names: Vec<&str> =
                svg.lines().filter(|line| line.starts_with("<text") && line.contains(">xxx")).collect();
            assert!(names.iter().all(|line| line.contains(&format!(">{}…<", "x".repeat(55)))), "{names:?}");
            let left = svg
                .lines()
                .find_map(|line| line.split_once(">and ")?.1.split_once(" more<").map(|(n, _)| n.to_owned()));
            (names.len(), left)
        };
        assert_eq!((left(399, 1), left(400, 0)), ((1, None), (0, None)));
        assert_eq!((left(399, 2), left(400, 1)), ((1, Some("1".to_owned())), (0, Some("1".to_owned()))));
        assert_eq!(left(401, 3), (0, Some("4".to_owned())));
    }

    /// Half of the link of the tree is used, and a quarter of the lateral one between the same nodes.
    #[test]
    fn a_lateral_link_beside_one_of_the_tree_has_a_row_of_its_own() {
        let nodes = r#"[{"id":0,"name":"rc","kind":"cpu","parent":null},{"id":1,"name":"a","kind":"host","parent":0}]"#;
        let link = |id: u32, direction: &str, bytes: u64, bandwidth: f64| {
            format!(
                r#"{{"id":{id},"from":"a","to":"rc","bytes":{bytes},"busy_s":1.0,"peak_Bps":null,"bandwidth_Bps":{bandwidth},"latency_s":0.0,"direction":"{direction}"}}"#
            )
        };
        let links = format!("[{},{}]", link(0, "up", 500, 1e3), link(2, "lateral", 1000, 4e3));
        let nodes: Vec<NodeRow<'_>> = serde_json::from_str(nodes).expect("nodes");
        let links: Vec<LinkRow<'_>> = serde_json::from_str(&links).expect("links");
        let svg = of("x", &nodes, &links, 1.0).expect("a picture");
        let used: Vec<&str> = svg.lines().filter(|line| line.contains(" % of ")).collect();
        assert_eq!(used.len(), 2, "{used:?}");
        assert!(used[0].contains("50.0 % of 1.000 kB/s") && used[1].contains("25.0 % of 4.000 kB/s"), "{used:?}");
    }
}
