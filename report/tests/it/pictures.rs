//! Pictures of a run, and amounts in words: where the bars, the round times and the loads stand.

use weir_plugin_api::SimTime;
use weir_report::binary_bytes;
use weir_report::page::Page;
use weir_sim_core::{Outcome, Stop};

use crate::planned::at;
use crate::results::with_run;

/// The picture of a kind of a run of two transfers over 12 s. One is sent at 100 B/s until 10 s, over links of 400 B/s.
fn picture(kind: &str, change: impl FnOnce(&mut Outcome)) -> String {
    let finished = |outcome: &mut Outcome| {
        outcome.stop = Stop::Finished;
        outcome.now = SimTime(outcome.makespan.0);
        change(outcome);
    };
    let mut page = Page::default();
    page.draw();
    with_run(2, finished, |run| page.add_run(run).expect("has parameters"));
    let ending = format!("-{kind}.svg");
    page.pictures().iter().find(|picture| picture.file.ends_with(&ending)).expect(kind).svg.clone()
}

/// What stands between `begin` and `end`, of each line that has both.
fn between<'a>(svg: &'a str, begin: &'a str, end: &'a str) -> Vec<&'a str> {
    svg.lines().filter_map(|line| line.split_once(begin)?.1.split_once(end).map(|(found, _)| found)).collect()
}

/// 12 s are 460 pixels from 200 on, with lines at 0, 5 and 10 s: about five would be 2.4 s apart, and of 1, 2 and 5 the next is
/// 5. The second transfer waits until 2.125 s, 81.46 pixels.
#[test]
fn a_timeline_shows_waiting_and_sending_to_scale() {
    let svg = picture("timeline", |outcome| outcome.tasks[1].start = at(2.125));
    let names: Vec<&str> = between(&svg, "text-anchor=\"middle\" fill=\"#5f6b76\">", "</text>");
    assert_eq!(names, ["0 s", "5 s", "10 s"]);
    assert_eq!(between(&svg, "<line x1=\"", "\""), ["200.0", "391.7", "583.3"]);
    let bars = |fill: &str| -> Vec<String> {
        let of = |line: &&str| line.contains(fill);
        let bars = svg.lines().filter(of).filter_map(|line| line.split_once("<rect x=\"")).map(|(_, rest)| rest);
        bars.map(|bar| bar.split(['"', ' ']).filter(|part| part.contains('.')).collect::<Vec<_>>().join(" ")).collect()
    };
    // Row after row: from the left, from the top, wide, high.
    assert_eq!(bars("#cfd6dd"), ["200.00 88.0 81.46 13.0"]);
    let sending = bars("#d9822b");
    assert!(
        sending[0].starts_with("200.00 68.0 460.00") && sending[1].starts_with("281.46 88.0 378.54"),
        "{sending:?}"
    );
}

/// Of 40 s about five lines would be 8 s apart: the next round step is 10 s.
#[test]
fn round_times_are_1_2_or_5_times_a_power_of_ten_apart() {
    let long = |outcome: &mut Outcome| {
        (outcome.makespan, outcome.now) = (at(40.0), at(40.0));
        (outcome.tasks[1].sent, outcome.tasks[1].end) = (at(40.0), at(40.0));
    };
    let svg = picture("timeline", long);
    let names = between(&svg, "text-anchor=\"middle\" fill=\"#5f6b76\">", "</text>");
    assert_eq!(names, ["0 s", "10 s", "20 s", "30 s", "40 s"]);
}

/// A quarter of the bandwidth for 10 of 12 s: a quarter of the row's 26 pixels, and five sixths of its 560 from 200 on.
#[test]
fn the_load_of_a_link_is_drawn_as_a_share_of_its_bandwidth() {
    let svg = picture("links", |_| ());
    let outline = between(&svg, "<polygon points=\"", "\"");
    assert_eq!(outline.len(), 2, "two links carry bytes");
    let points: Vec<(f64, f64)> = outline[0]
        .split(' ')
        .map(|point| point.split_once(',').expect("x and y"))
        .map(|(x, y)| (x.parse().expect("a number"), y.parse().expect("a number")))
        .collect();
    assert!(points.iter().all(|&(x, y)| (200.0..=760.0).contains(&x) && (83.5..=90.0).contains(&y)), "{points:?}");
    // Equal neighbours are one step: no point lies on a level line between two others.
    assert!(
        points[..points.len() - 1].windows(3).all(|three| three.iter().any(|&(_, y)| y != three[0].1)),
        "{points:?}"
    );
    let last = points.iter().filter(|&&(_, y)| y < 84.0).map(|&(x, _)| x).fold(0.0, f64::max);
    assert!((last - (200.0 + 560.0 * 10.0 / 12.0)).abs() < 6.0, "{points:?}");
    assert!(svg.contains(">20.8 % of 400.000 B/s</text>"), "{svg}");
}

/// Whatever stands in a picture has room in it, the names below the axis, too.
#[test]
fn nothing_is_drawn_outside_of_a_picture() {
    for kind in ["timeline", "links"] {
        let svg = picture(kind, |_| ());
        let numbers = |key: &str| -> Vec<f64> {
            let begin = format!(" {key}=\"");
            let all = svg.split(begin.as_str()).skip(1);
            all.filter_map(|rest| rest.split_once('"')?.0.parse().ok()).collect()
        };
        let (width, height) = (numbers("width")[0], numbers("height")[0]);
        let (across, down) = (["x", "x1", "x2"].map(numbers).concat(), ["y", "y1", "y2"].map(numbers).concat());
        assert!(across.len() > 4 && across.iter().all(|x| (0.0..=width).contains(x)), "{kind}: {width}, {across:?}");
        assert!(down.len() > 4 && down.iter().all(|y| (0.0..=height).contains(y)), "{kind}: {height}, {down:?}");
    }
}

#[test]
fn amounts_are_whole_numbers_of_powers_of_1024() {
    let texts = [1, 1000, 1024, 1025, 1_024_000, 3 << 20, 1 << 50].map(binary_bytes);
    assert_eq!(texts, ["1B", "1000B", "1KiB", "1025B", "1000KiB", "3MiB", "1PiB"]);
}
