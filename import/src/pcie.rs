//! PCIe links: generation, width, and what they carry.

use crate::bandwidth::Figures;

/// Generations by their rate per lane in tenths of GT/s (PCI Express Base Specification 6.0, table 1-1).
const RATES: [u32; 6] = [25, 50, 80, 160, 320, 640];

const NCCL: &str = "NCCL's figure (src/graph/topo.cc, kvDictPciGen)";

/// What a lone copy reaches on 16 lanes of each generation, in MB/s each way, that over the raw figure, and the source. Other widths are
/// in proportion. Measured: the median over machines of each one's median.
///
/// - 4.0: 26.34 GB/s between six A6000, 26.25 from the host to eight RTX 4090 (NVIDIA/nvbandwidth, issues 50 and 15).
/// - 5.0: 53.6, 53.9 and 56.3 (three WRX90 machines with switches), 57.2 (2 EPYC 9124), 56.6, 54.6 (each 2 Turin), 54 (2 EPYC 9374F), all
///   between GPUs (voipmonitor/rtx6kpro, `hardware/`), 55.2 (H800, host to GPU and back; liguodongiot/llm-action), 56 (host to GPU;
///   `scenarios/measured/h2d-eight-gpus.yaml`).
/// - Others: NCCL's. Its 12 GB/s of 3.0 lie within 3 % of the 11.9 of K80 boards (Martinasso et al., SC16) and the 12.36 of NVIDIA's
///   nvbandwidth (README). Of 6.0, 96 GB/s of 118 have no short decimal.
const EFFECTIVE: [(u64, Option<&str>, &str); 6] = [
    (3_000, Some("0.75"), NCCL),
    (6_000, Some("0.75"), NCCL),
    (12_000, Some("0.76171875"), NCCL),
    (26_300, Some("0.834716796875"), "measured, median of lone copies on 2 machines (docs/import.md)"),
    (55_200, Some("0.8759765625"), "measured, median of lone copies on 9 machines (docs/import.md)"),
    (96_000, None, NCCL),
];

/// Lanes that a link can have.
pub(crate) const WIDTHS: [u8; 7] = [1, 2, 4, 8, 12, 16, 32];

/// What NCCL takes where the speed is not known (`kvDictPciGen`, its last entry: that of 8 GT/s).
pub(crate) const USUAL_GENERATION: u8 = 3;

/// What NCCL takes where the width is 0 (`src/graph/topo.cc`, `ncclTopoAddPci`).
pub(crate) const USUAL_WIDTH: u8 = 16;

/// Why the numbers of a link may be wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Doubt {
    /// The dump gives neither speed nor width.
    Nothing,
    /// The dump gives no speed that is one.
    Speed,
    /// The dump gives no width that is one.
    Width,
    /// The dump gives no speed of a GPU: the newest generation that its chip can. Whether the dump gives the width.
    OfChip(bool),
    /// The dump gives no speed of a bridge: the newest generation that the chips of GPUs below it can. Likewise.
    OfChipsBelow(bool),
    /// The dump gives only the product of both.
    Product,
    /// A bridge with a quarter or less of what a device below it has. The generation and width of that.
    SlowBridge(u8, u8),
    /// A GPU at a speed to which idle ones fall back.
    IdleGpu,
    /// A GPU on fewer than eight lanes.
    NarrowGpu,
    /// A GPU made for 16 GT/s or more, at the 8 GT/s that are the most that hwloc gets from NVML.
    Capped,
    /// The two ends of the link have two bandwidths, and the dump no more of them. Generation and width of the other.
    Ends(u8, u8),
}

impl Doubt {
    /// Whether something was put in the place of what the dump does not say.
    pub(crate) fn is_assumption(self) -> bool {
        self.lacks_speed() || matches!(self, Self::Width | Self::Product)
    }

    /// Whether the dump says nothing of the speed.
    pub(crate) fn lacks_speed(self) -> bool {
        matches!(self, Self::Nothing | Self::Speed | Self::OfChip(_) | Self::OfChipsBelow(_))
    }
}

/// A PCIe link as a dump reports it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PcieLink {
    /// 1 to 6.
    pub(crate) generation: u8,
    /// Lanes, one of [`WIDTHS`].
    pub(crate) width: u8,
    /// Why this may be wrong.
    pub(crate) doubt: Option<Doubt>,
}

impl PcieLink {
    /// A link of which a dump says speed and width, or does not.
    pub(crate) fn new(generation: Option<u8>, width: Option<u8>) -> Self {
        let doubt = match (generation, width) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some(Doubt::Width),
            (None, Some(_)) => Some(Doubt::Speed),
            (None, None) => Some(Doubt::Nothing),
        };
        let generation = generation.unwrap_or(USUAL_GENERATION);
        Self { generation, width: width.unwrap_or(USUAL_WIDTH), doubt }
    }

    /// The figure that is written, in MB/s.
    pub(crate) fn megabytes(self, figures: Figures) -> u64 {
        match figures {
            Figures::Effective => self.effective().0 * u64::from(self.width) / 16,
            Figures::Raw => (self.raw() * 1000.0) as u64,
        }
    }

    fn effective(self) -> (u64, Option<&'static str>, &'static str) {
        EFFECTIVE[usize::from(self.generation - 1)]
    }

    /// Effective over raw; `None` where the quotient has no short decimal.
    pub(crate) fn efficiency(self) -> Option<&'static str> {
        self.effective().1
    }

    /// Where the effective figure is from.
    pub(crate) fn source(self) -> &'static str {
        self.effective().2
    }

    /// The raw figure in GB/s, after line encoding.
    pub(crate) fn raw(self) -> f64 {
        let lane = f64::from(RATES[usize::from(self.generation - 1)]) / 10.0 / 8.0;
        let code = match self.generation {
            1 | 2 => 8.0 / 10.0,
            3..=5 => 128.0 / 130.0,
            _ => 236.0 / 256.0,
        };
        lane * code * f64::from(self.width)
    }
}

/// The generation of `16 GT/s`, `16.0 GT/s PCIe`, `16GT/s`.
pub(crate) fn generation(text: &str) -> Option<u8> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if !unit.trim_start().starts_with("GT/s") {
        return None;
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let tenths = match fraction.trim_end_matches('0') {
        "" => 0,
        "5" => 5,
        _ => return None,
    };
    let rate = whole.parse::<u32>().ok()?.checked_mul(10)?.checked_add(tenths)?;
    RATES.iter().position(|&r| r == rate).map(|i| i as u8 + 1)
}

/// What a dump says of a link by its bandwidth alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OfBandwidth {
    pub(crate) link: PcieLink,
    /// Whether the bandwidth was cut to whole GB/s.
    pub(crate) is_cut: bool,
}

/// The link of a raw bandwidth in GB/s, of which several generations and widths may be the product: the widest of at most 16
/// lanes, as GPUs and network cards mostly have so many.
///
/// hwloc's RSMI part cuts to whole GB/s: 15 for 15.75. A whole number is rather such a one than generation 6 by other bytes of payload.
pub(crate) fn of_bandwidth(speed: f64) -> Option<OfBandwidth> {
    /// Relative difference of two figures for one link; *assumed*, room for rounded digits.
    const NEAR: f64 = 0.005;
    /// The same for generation 6, where hwloc counts 242 of 256 bytes as payload and [`PcieLink::raw`] 236: 2.5 % apart.
    const NEAR_6: f64 = 0.03;
    let near = |link: &PcieLink, tolerance: f64| (link.raw() / speed - 1.0).abs() < tolerance;
    let cut = |link: &PcieLink| speed >= 1.0 && link.raw().floor() == speed;
    let of = |link| OfBandwidth { link, is_cut: false };
    widest(|link| near(link, NEAR))
        .map(of)
        .or_else(|| widest(cut).map(|link| OfBandwidth { link, is_cut: true }))
        .or_else(|| widest(|link| link.generation == 6 && near(link, NEAR_6)).map(of))
}

/// The widest link that fits, of several the oldest.
fn widest(fits: impl Fn(&PcieLink) -> bool) -> Option<PcieLink> {
    let widths = WIDTHS.iter().rev().filter(|width| **width <= 16);
    let doubt = Some(Doubt::Product);
    let mut all = widths.flat_map(|&width| (1..=6).map(move |generation| PcieLink { generation, width, doubt }));
    all.find(fits)
}

/// The lanes of `16` or `x16`; `None` for 0 and for numbers that no link has, as virtual functions report.
pub(crate) fn width(text: &str) -> Option<u8> {
    let lanes = text.trim().trim_start_matches('x').parse().ok()?;
    WIDTHS.contains(&lanes).then_some(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_in_all_spellings() {
        let cases = [("2.5 GT/s", 1), ("5.0 GT/s PCIe", 2), ("5 GT/s", 2), ("8GT/s", 3), ("16.0 GT/s PCIe", 4)];
        for (text, expected) in cases.into_iter().chain([("16 GT/s", 4), ("32GT/s", 5), ("64.0 GT/s PCIe", 6)]) {
            assert_eq!(generation(text), Some(expected), "{text}");
        }
        for text in ["", "Unknown", "Unknown speed", "3 GT/s", "16", "16 GB/s", "99999999999999999 GT/s", ". GT/s"] {
            assert_eq!(generation(text), None, "{text}");
        }
        assert_eq!(
            (width("16"), width("x4"), width("0"), width("63"), width("-1")),
            (Some(16), Some(4), None, None, None)
        );
    }

    #[test]
    fn bandwidths_as_hwloc_writes_them() {
        let of = |speed| of_bandwidth(speed).map(|OfBandwidth { link, .. }| (link.generation, link.width));
        let cases = [(15.753846, (3, 16)), (7.876923, (3, 8)), (31.507692, (4, 16)), (63.015385, (5, 16))];
        let more =
            [(4.0, (1, 16)), (3.938462, (3, 4)), (1.0, (1, 4)), (0.25, (1, 1)), (8.0, (2, 16)), (121.0, (6, 16))];
        for (speed, expected) in cases.into_iter().chain(more) {
            assert_eq!(of(speed), Some(expected), "{speed}");
        }
        assert_eq!((of(1e-9), of(1e300), of(5.5)), (None, None, None));
        assert_eq!([0.0, 0.6, 31.2, 200.0, f64::NAN].map(of), [None; 5]);
    }

    /// 31.5 cut is 31; 15 lies within 3 % of the 14.75 of 6.0 x2, too. hwloc writes 6.0 x4 as 30.25 and 6.0 x16 as 121.
    #[test]
    fn whole_bandwidths_are_cut_ones() {
        let of = |speed| of_bandwidth(speed).map(|found| (found.link.generation, found.link.width, found.is_cut));
        let cases = [31.0, 63.0, 15.0, 7.0].map(of);
        assert_eq!(cases, [(4, 16, true), (5, 16, false), (3, 16, true), (3, 8, true)].map(Some));
        assert_eq!([30.25, 121.0].map(of), [(6, 4, false), (6, 16, false)].map(Some));
    }

    #[test]
    fn figures_are_those_of_their_sources() {
        let at = |generation, width| PcieLink { generation, width, doubt: None };
        let effective = |generation| at(generation, 16).megabytes(Figures::Effective);
        assert_eq!([1, 2, 3, 6].map(effective), [3_000, 6_000, 12_000, 96_000], "NCCL's");
        assert_eq!([4, 5].map(effective), [26_300, 55_200], "measured");
        for (generation, width) in (1..=5).flat_map(|generation| WIDTHS.map(|width| (generation, width))) {
            let link = at(generation, width);
            let factor: f64 = link.efficiency().expect("has one").parse().expect("a number");
            let expected = effective(generation) as f64 / 16e3 * f64::from(width);
            assert!((link.raw() * factor - expected).abs() < 1e-12 * expected, "{link:?}");
        }
        let raw = [3, 4, 5].map(|g| (at(g, 16).raw() * 100.0).round() / 100.0);
        assert_eq!(raw, [15.75, 31.51, 63.02]);
    }
}
