//! Algorithms of MSCCL: what is well-formed, and that what costs no time is left out without a change.

use std::fmt::Write as _;

use crate::common::*;
use crate::program_files::SMALL;
use proptest::prelude::*;
use serde_json::json;

/// Where a text is no XML, or holds something else, is said by line and column; entities stand for their characters.
#[test]
fn algorithms_are_well_formed() {
    let (world, small) = (World::star(2, 1e9, 0), SMALL.replace("DEP", "-1"));
    let params =
        |text: &str| json!({ "file": named(json!([text])), "format": "msccl", "ranks": [1, 2], "size": 2_000_000 });
    let steps = r#"hasdep="0"/></tb>"#;
    for same in [
        small.replace("chan=\"0\"", "chan='&#48;'"),
        format!("<?xml version=\"1.0\"?>\n<!DOCTYPE algo>\n<!-- <algo> -->{small}<!-- the end -->\n"),
    ] {
        assert_eq!(time_of(&world, "program", &params(&same)), 2 * 1_000_000_000, "{same}");
    }
    let nop = |s: u32| format!(r#"<step s="{s}" type="nop" cnt="0" depid="-1" deps="-1" hasdep="0"/>"#);
    for (text, words) in [
        (small.replace("</algo>", ""), "it is no XML: line 10, column 1: it ends within an element"),
        (format!("{small}<algo/>"), "it is no XML: line 10, column 8: it has a second outermost element"),
        (format!("{small} more"), "it is no XML: line 10, column 8: it has text where only elements belong"),
        (small.replacen(steps, r#"hasdep="0"/>step s="1"</tb>"#, 1), "it has text where only elements belong"),
        (small.replacen(steps, r#"hasdep="0"/><![CDATA[<step/>]]></tb>"#, 1), "it has text where only elements belong"),
        (small.replacen(steps, r#"hasdep="0"/>&one;</tb>"#, 1), "it has text where only elements belong"),
        (
            small.replacen(steps, r#"hasdep="0"><step s="1" type="nop"/></step></tb>"#, 1),
            "`step` in `step` is not known",
        ),
        (small.replacen(steps, "hasdep=\"0\"/>\0\0</tb>", 1), "line 3, column 100: no XML has the character U+0000"),
        (small.replacen("cnt=\"1\"", "cnt=\"1<\"", 1), "the attribute `cnt` has a `<`"),
        (format!("{small}<!DOCTYPE algo>"), "line 10, column 8: `<!DOCTYPE` belongs before"),
        (
            small.replacen("type=\"s\"", &format!("type=\"{}\"", "s".repeat(1000)), 1),
            "has the type `ssssssssssssssssssssssssssssssss…`",
        ),
        ("<!-- nothing -->".to_owned(), "it is no XML: line 1, column 17: it has no element"),
        (small.replacen("</tb>", "</gpu>", 1), "it is no XML: line 3, column"),
        (small.replacen("cnt=", "s=", 1), "it is no XML: line 3, column 40: "),
        (small.replacen("cnt=\"1\"", "cnt=\"&one;\"", 1), "it is no XML: line 3, column 40: "),
        (
            small.replacen("ngpus=\"2\"", "ngpus=\"4000000000\"", 1),
            "line 1, column 1: `ngpus` is 4000000000, and 2 are described",
        ),
        (small.replacen("gpu id=\"1\"", "gpu id=\"0\"", 1), "line 6, column 1: the gpu 0 is given twice"),
        (small.replacen("ngpus=\"2\"", "ngpus=\"1\"", 1), "line 6, column 1: gpu 1, and `ngpus` is 1"),
        (
            small.replacen(steps, &format!("hasdep=\"0\"/>{}{}</tb>", nop(5), nop(4)), 1),
            "step 4 stands behind step 5; write them in order",
        ),
        (small.replacen("tb id=\"1\"", "tb id=\"0\"", 1), "line 4, column 1: thread block 0 of gpu 0 is given twice"),
        ("<gpu/>".to_owned(), "line 1, column 1: the root is `gpu`, not `algo`"),
    ] {
        let said = refusal(&world, "program", &params(&text));
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// What is told of a file that is no operation's: with a byte order mark, and broken off in its first tag.
#[test]
fn files_are_known_by_their_first_tag() {
    let told = |text: &str| weir_models::program_file(&[("a.xml", text.as_bytes())]);
    let small = SMALL.replace("DEP", "-1");
    assert!(matches!(told(&format!("\u{feff}{small}")), Some(Ok(weir_models::ProgramFile::Program(_)))));
    for text in ["<algo name=\"x", "<graphs version=\"1"] {
        let said = told(text).expect("is known").expect_err("is cut");
        assert!(said.contains("it is no XML"), "{said}");
    }
    assert!(told("<system version=\"1").is_none() && told("<algorithm/>").is_none());
}

/// A step of a thread block, and for which step of another it waits.
type Step = (&'static str, Option<(usize, usize)>);

/// Three GPUs, each with a thread block that sends to the next and one that receives from the one before; messages are in the
/// order in which they are drawn, so that nothing waits in a circle.
fn algorithm(drawn: &[(usize, u8, bool)]) -> String {
    let mut blocks: [[Vec<Step>; 2]; 3] = Default::default();
    for &(from, kind, waits) in drawn {
        let to = (from + 1) % 3;
        // Behind what the other thread block has so far.
        let behind = |blocks: &[[Vec<Step>; 2]; 3], gpu: usize, block: usize| {
            let last = blocks[gpu][block].len().checked_sub(1)?;
            waits.then_some((block, last))
        };
        let (on_sender, on_receiver) = (behind(&blocks, from, 1), behind(&blocks, to, 0));
        blocks[from][0].push((["s", "cpy", "s", "nop"][usize::from(kind % 4)], on_sender));
        if kind % 2 == 0 {
            blocks[to][1].push((["r", "rrc"][usize::from(kind / 4 % 2)], on_receiver));
        }
    }
    let mut text = "<algo nchunksperloop=\"4\" ngpus=\"3\">".to_owned();
    for (gpu, blocks) in blocks.iter().enumerate() {
        let (next, before) = ((gpu + 1) % 3, (gpu + 2) % 3);
        let _ = write!(text, "<gpu id=\"{gpu}\">");
        for (block, (steps, peers)) in blocks
            .iter()
            .zip([format!("send=\"{next}\" recv=\"-1\""), format!("send=\"-1\" recv=\"{before}\"")])
            .enumerate()
        {
            let _ = write!(text, "<tb id=\"{block}\" {peers} chan=\"0\">");
            for (number, (kind, on)) in steps.iter().enumerate() {
                let (block, step) = on.map_or(("-1".to_owned(), 0), |(block, step)| (block.to_string(), step));
                let _ =
                    write!(text, "<step s=\"{number}\" type=\"{kind}\" cnt=\"1\" depid=\"{block}\" deps=\"{step}\"/>");
            }
            text += "</tb>";
        }
        text += "</gpu>";
    }
    text + "</algo>"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Processors that take no time for messages are left out of the plan. With an overhead per byte that rounds to nothing they
    /// are not, and the time is the same.
    #[test]
    fn processors_without_overhead_change_nothing(
        drawn in prop::collection::vec((0_usize..3, any::<u8>(), any::<bool>()), 1..40), latency in 0_u32..3,
    ) {
        let world = World::star(3, 1e9, 700);
        let time = |per_byte: &str| {
            let message = json!({ "latency": f64::from(latency) * 5e3, "overhead_per_byte": per_byte.parse::<f64>().unwrap() });
            let params = json!({ "file": named(json!([algorithm(&drawn)])), "format": "msccl", "ranks": [1, 2, 3],
                "size": 4000, "reduce": 3e9, "copy": 5e9, "message": message });
            time_of(&world, "program", &params)
        };
        prop_assert_eq!(time("0"), time("1e-9"));
    }
}
