//! `weir report --svg`: pictures without a browser.

use roxmltree::Document;

use crate::common::search::Folder;
use crate::common::{run, scenario};

/// The texts of an SVG document, and its size in pixels.
fn read(svg: &str) -> (Vec<String>, (f64, f64)) {
    let document = Document::parse(svg).expect("it is XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    assert!(document.descendants().all(|node| node.tag_name().name() != "script"), "nothing runs");
    let size = |key| root.attribute(key).and_then(|value| value.parse::<f64>().ok()).expect("a size");
    let texts = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    (texts.filter_map(|node| node.text().map(str::to_owned)).collect(), (size("width"), size("height")))
}

fn files(folder: &Folder, name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path(name)).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Draws files into the folder `name`.
fn drawn(folder: &Folder, name: &str, arguments: &[&str]) {
    let target = folder.path(name);
    let ended = run(&[&["report", "--svg", &target], arguments].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
}

const FOUR: &str = "1-four-transfers-on-t2-pcie-congestion";

#[test]
fn a_run_has_three_pictures_whose_texts_are_texts() {
    let folder = Folder::new();
    drawn(&folder, "p", &[&scenario("pcie/four-transfers.yaml")]);
    let names = ["links", "timeline", "topology"].map(|kind| format!("{FOUR}-{kind}.svg"));
    assert_eq!(files(&folder, "p"), names);
    let [links, timeline, topology] = names.map(|name| read(&folder.read(&format!("p/{name}"))));
    for (texts, (width, height)) in [&links, &timeline, &topology] {
        assert_eq!(texts[0], "four transfers on T2, pcie-congestion (tau 0.2)");
        assert!(*width == 960.0 && (100.0..3000.0).contains(height), "{width} × {height}");
    }
    for transfer in ["a  gpu0 → gpu2", "b  gpu1 → gpu4", "c  gpu3 → gpu2", "d  gpu6 → gpu4"] {
        assert!(timeline.0.iter().any(|text| text == transfer), "{:?}", timeline.0);
    }
    // The axis ends at 66.5 ms.
    for text in ["head-of-line blocked behind b", "0 ms", "60 ms"] {
        assert!(timeline.0.iter().any(|other| other == text), "{text}: {:?}", timeline.0);
    }
    // As `weir run` says of the busiest link: 600 MB in 66.502 ms at 11.6 GB/s.
    for texts in [&links.0, &topology.0] {
        assert!(texts.iter().any(|text| text == "77.8 % of 11.600 GB/s"), "{texts:?}");
    }
    assert!(links.0.iter().any(|text| text == "k80a → plx0") && topology.0.iter().any(|text| text == "gpu0 (gpu)"));
}

#[test]
fn bars_are_as_long_as_their_times() {
    let folder = Folder::new();
    drawn(&folder, "p", &[&scenario("pcie/four-transfers.yaml")]);
    let svg = folder.read(&format!("p/{FOUR}-timeline.svg"));
    let document = Document::parse(&svg).expect("it is XML");
    let width = |transfer: &str| {
        let bar = document.descendants().find(|node| {
            node.has_tag_name(("http://www.w3.org/2000/svg", "rect"))
                && node.descendants().any(|part| part.text().is_some_and(|text| text.starts_with(transfer)))
        });
        bar.and_then(|bar| bar.attribute("width")?.parse::<f64>().ok()).expect("a bar")
    };
    // 66.502 ms and 36.946 ms, as in the README, of 460 pixels.
    assert!(
        (width("a  gpu0") - 460.0).abs() < 0.01
            && (width("c  gpu3") - 460.0 * 36.945_812_808 / 66.502_463_055).abs() < 0.01
    );
}

#[test]
fn saved_results_have_the_same_pictures() {
    let folder = Folder::new();
    let (four, saved) = (scenario("pcie/four-transfers.yaml"), folder.path("saved.json"));
    drawn(&folder, "live", &[&four, "--arbiter", "pcie-congestion", "--arbiter", "max-min"]);
    let arguments =
        ["run", &four, "--arbiter", "pcie-congestion", "--arbiter", "max-min", "--full", "--json", "-o", &saved];
    assert_eq!(run(&arguments).code, 0);
    drawn(&folder, "saved", &[&saved]);
    let names = files(&folder, "live");
    assert_eq!((files(&folder, "saved"), names.len()), (names.clone(), 6));
    for name in names {
        assert_eq!(folder.read(&format!("saved/{name}")), folder.read(&format!("live/{name}")), "{name}");
    }
    // Without the topology there is the timeline; a file's numbers go on where the last one's ended.
    assert_eq!(run(&["run", &four, "--json", "-o", &saved]).code, 0);
    drawn(&folder, "short", &[&saved, &saved]);
    let timelines = [1, 2].map(|at| format!("{at}-four-transfers-on-t2-pcie-congestion-timeline.svg"));
    assert_eq!(files(&folder, "short"), timelines);
}

/// 15 candidates in columns: each says how many it stands for, and is as high as that.
#[test]
fn the_makespans_of_a_search_are_drawn() {
    let folder = Folder::new();
    let (grid, saved) = (folder.write("grid.yaml", crate::common::search::GRID), folder.path("saved.json"));
    assert_eq!(run(&["optimize", &grid, "--json", "-o", &saved]).code, 0);
    drawn(&folder, "p", &[&scenario("pcie/four-transfers.yaml"), &saved]);
    let name = "2-shared-port-pcie-congestion-makespans.svg";
    assert!(files(&folder, "p").iter().any(|file| file == name), "{:?}", files(&folder, "p"));
    let svg = folder.read(&format!("p/{name}"));
    let document = Document::parse(&svg).expect("it is XML");
    let columns = document.descendants().filter_map(|node| {
        let (count, _) = node.descendants().find_map(|part| part.text()?.split_once(" from "))?;
        let number = |key: &str| node.attribute(key)?.parse::<f64>().ok();
        Some((count.parse::<u32>().ok()?, number("height")?, number("x")?, number("width")?))
    });
    let columns: Vec<(u32, f64, f64, f64)> = columns.collect();
    let most = columns.iter().map(|column| column.0).max().expect("columns");
    assert_eq!(columns.iter().map(|column| column.0).sum::<u32>(), 15);
    let is_high =
        |&(count, high, ..): &(u32, f64, f64, f64)| (high - 240.0 * f64::from(count) / f64::from(most)).abs() < 0.06;
    assert!(columns.iter().all(is_high), "{columns:?}");
    // Each at the place of its bin, a pixel narrower than that; the first and the last bin have some.
    let (width, first) = (columns[0].3 + 1.0, columns[0].2);
    let bins = columns.iter().map(|column| (column.2 - first) / width);
    assert!(bins.clone().all(|bin| (bin - bin.round()).abs() < 0.02), "{columns:?}");
    assert!(bins.clone().zip(bins.clone().skip(1)).all(|(one, next)| next - one > 0.9), "{columns:?}");
    let all = document.descendants().filter_map(|node| node.attribute("x2")?.parse::<f64>().ok()).fold(0.0, f64::max);
    let end = columns.last().expect("columns").2 + width;
    assert!((end - all).abs() < 0.1, "the last one ends with the scale, at {all}: {columns:?}");
    let (texts, _) = read(&svg);
    assert!(
        texts[1].starts_with("Makespans of all 15 candidates, from ") && texts[1].contains("orange: the baseline, "),
        "{texts:?}"
    );
}

/// A bar for each value, in the order of the file, as long as its makespan.
#[test]
fn a_search_over_one_parameter_is_drawn_over_its_values() {
    let folder = Folder::new();
    let saved = folder.path("saved.json");
    let text = crate::common::SHARED.to_owned()
        + "optimize: { vary: parameters, parameters: { link_types.x.bandwidth: [1GB/s, 2GB/s, 4GB/s] } }\n";
    let file = folder.write("one.yaml", &text.replace("link_types.x.bandwidth", "topology.link_types.x.bandwidth"));
    let ended = run(&["optimize", &file, "--json", "-o", &saved]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let result: serde_json::Value = serde_json::from_str(&folder.read("saved.json")).expect("is JSON");
    drawn(&folder, "p", &[&scenario("pcie/four-transfers.yaml"), &saved]);
    let name = files(&folder, "p").into_iter().find(|file| file.ends_with("-values.svg")).expect("is drawn");
    let svg = folder.read(&format!("p/{name}"));
    let (texts, _) = read(&svg);
    assert!(texts[1].starts_with("Makespan over topology.link_types.x.bandwidth, green: the best"), "{texts:?}");
    let document = Document::parse(&svg).expect("it is XML");
    let bars = document.descendants().filter_map(|node| {
        let (value, _) = node.descendants().find_map(|part| part.text()?.split_once(": "))?;
        Some((value.to_owned(), node.attribute("width")?.parse::<f64>().ok()?))
    });
    let bars: Vec<(String, f64)> = bars.filter(|(value, _)| value.ends_with("GB/s")).collect();
    assert_eq!(bars.iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>(), ["1GB/s", "2GB/s", "4GB/s"]);
    let rows = result["rows"].as_array().expect("a list");
    let longest = rows.iter().map(|row| row["makespan_s"].as_f64().expect("a time")).fold(0.0, f64::max);
    for ((value, width), row) in bars.iter().zip(rows) {
        let part = row["makespan_s"].as_f64().expect("a time") / longest;
        assert!((width - 640.0 * part).abs() < 0.1, "{value}: {width} of {part}");
    }
}

#[test]
fn the_page_is_written_where_it_is_named() {
    let folder = Folder::new();
    let (four, page) = (scenario("pcie/four-transfers.yaml"), folder.path("page.html"));
    drawn(&folder, "p", &[&four]);
    assert_eq!(files(&folder, ""), ["p"]);
    drawn(&folder, "p", &[&four, "--output", &page]);
    assert!(folder.read("page.html").contains("<title>weir report</title>"));
    let refused = run(&["report", &four, "--svg", &folder.path("p"), "--open"]);
    assert!(refused.code == 2 && refused.stderr.contains("name it with --output"), "{}", refused.stderr);
    let refused = run(&["report", &four, "--svg", &page]);
    assert!(refused.code == 2 && refused.stderr.contains("is not a folder"), "{}", refused.stderr);
}

#[test]
fn many_transfers_and_strange_names_stay_pictures() {
    let folder = Folder::new();
    let text = "\
weir: 1
name: 'a <b> & \"c\" ../x'
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-499]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - pattern: { kind: random, id: '<t>', count: 3000, seed: 1, size: 1MB, within: 1s }
";
    let file = folder.write("many.yaml", text);
    drawn(&folder, "p", &[&file]);
    let names = files(&folder, "p");
    assert_eq!(names.len(), 3, "{names:?}");
    for name in &names {
        assert!(name.starts_with("1-a-b-c-x-max-min-"), "{name}");
        let svg = folder.read(&format!("p/{name}"));
        let (texts, (_, height)) = read(&svg);
        assert!(svg.len() < 400_000 && height < 10_000.0, "{name}: {} bytes, {height} high", svg.len());
        assert_eq!(texts[0], "a <b> & \"c\" ../x, max-min");
    }
    let timeline = folder.read(&format!("p/{}", names[1]));
    assert!(timeline.contains("the 80 longest of 3000"), "{}", &timeline[..600]);
    let topology = folder.read(&format!("p/{}", names[2]));
    // 501 nodes, 400 rows.
    assert!(topology.contains(">and 101 more<"), "{}", &topology[topology.len() - 600..]);
}
