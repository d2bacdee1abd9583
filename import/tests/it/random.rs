//! Cut and changed dumps never panic; what is read all the same is a topology.

use crate::common::{check, samples};
use proptest::prelude::*;
use weir_import::{Format, Options, import};

/// Pieces that mean something in one of the formats.
const PIECES: [&str; 16] = [
    "<",
    ">",
    "/>",
    "\"",
    "=\"\"",
    "0",
    "-1",
    "4294967296",
    "NV12",
    "X",
    "SYS",
    "-[01]--+-",
    "\n",
    "é",
    "&a;",
    "link_width=\"0\" ",
];

fn tried(bytes: &[u8], format: Option<Format>) {
    if let Ok(import) = import(bytes, "x", &Options { format, ..Options::default() }) {
        check(&import);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn cuts(which in 0..9_usize, from in 0.0..1.0, to in 0.0..1.0) {
        let samples = samples();
        let bytes = &samples[which % samples.len()].1;
        let at = |share: f64| (bytes.len() as f64 * share) as usize;
        tried(&bytes[..at(to)], None);
        tried(&[&bytes[..at(from)], &bytes[at(to)..]].concat(), None);
    }

    #[test]
    fn mutations(which in 0..9_usize, changes in prop::collection::vec((0.0..1.0, 0..PIECES.len(), 0..24_usize), 1..12), kind in 0..6_usize) {
        let samples = samples();
        let mut bytes = samples[which % samples.len()].1.clone();
        for (share, piece, length) in changes {
            let at = (bytes.len() as f64 * share) as usize;
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, PIECES[piece].bytes());
        }
        tried(&bytes, Format::ALL.get(kind).copied());
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[ +\\\\|\\[\\]0-9a-f:.X<>A-Z-]{0,200}", kind in 0..6_usize) {
        let format = Format::ALL.get(kind).copied();
        tried(&bytes, format);
        tried(text.as_bytes(), format);
        tried(format!("-[0000:00]-+-{text}").as_bytes(), None);
        tried(format!("GPU0 GPU1\nGPU0 X {text}\nGPU1 {text} X").as_bytes(), None);
        tried(format!("00:00.0 PCI bridge: {text}\n\tBus: primary=00, secondary=01\n\tLnkCap: Speed {text}").as_bytes(), None);
    }
}
