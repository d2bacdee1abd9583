//! What the wire of a link carries each way at most: the raw figure of its generation and width.
//!
//! | known | the bound is that of |
//! |---|---|
//! | `generation` and `width`, or a name that has both (`pcie4-x16`, `nvlink4-x18`) | these |
//! | NVLink with its number of links, without a generation (`nvlink-x18`) | the slowest generation with so many links a GPU that carries what the topology gives |
//! | a name marked `chip-assumed` (`pcie4-x16-chip-assumed`), whose generation is the newest that a GPU's chip can | these, too |
//! | any other name marked `assumed`, or `doubtful` | the fastest generation that there is, at that width |
//! | PCIe or NVLink, and no width (`pcie`, `nvlink-300GB`) | the fastest generation, x16 or as many links as a GPU has; none where the topology itself gives more |
//! | anything else (`uplink`) | none |

use weir_plugin_api::{LinkId, LinkKind};
use weir_scenario::{BandwidthForm, Machine, pcie_raw_figure};

/// The fastest generation of PCI Express (PCI Express Base Specification 6.0).
const PCIE_NEWEST: u64 = 6;
/// Lanes of a slot at most; wider links of the specification are not built for GPUs.
const PCIE_WIDEST: u64 = 16;
/// Lanes that a link of PCI Express may have.
const LANES: [u64; 5] = [16, 8, 4, 2, 1];
/// A generation of NVLink.
struct NvLink {
    /// Bytes per second of one link each way.
    each: f64,
    /// Links of a GPU at most.
    links: u64,
}

/// NVLink by generation (NVIDIA's data sheets: P100 160 GB/s both ways with 4 links, V100 300 with 6, A100 600 with 12, H100
/// 900 with 18, B200 1800 with 18).
const NVLINK: [NvLink; 5] = [
    NvLink { each: 20e9, links: 4 },
    NvLink { each: 25e9, links: 6 },
    NvLink { each: 25e9, links: 12 },
    NvLink { each: 25e9, links: 18 },
    NvLink { each: 50e9, links: 18 },
];
/// One xGMI link each way, B/s, of the fastest GPUs that have one (AMD's data sheet of the MI350X: 153.6 GB/s both ways).
const XGMI: f64 = 76.8e9;
/// How far above a figure a topology may give a bandwidth, for rounding.
const ROUNDED: f64 = 1.001;

/// The most that a link carries each way.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct WireBound {
    /// Bytes per second.
    pub(super) most: f64,
    /// Of what it is the raw figure.
    pub(super) what: String,
}

/// The bound of a link, where its type says what it is.
pub(super) fn of_link(machine: &Machine, link: LinkId) -> Option<WireBound> {
    let link_type = machine.type_text(link)?;
    let name = link_type.name.to_ascii_lowercase();
    let doubted = is_doubted(&name);
    let given = machine.fabric.link(link).bandwidth;
    if link_type.form != BandwidthForm::Generation {
        return by_name(&name, doubted, given);
    }
    let efficiency = link_type.efficiency.as_ref().map_or(Some(1.0), |text| text.trim().parse::<f64>().ok())?;
    let raw = given / efficiency;
    if doubted {
        return fastest_pcie(width_of(raw));
    }
    Some(WireBound { most: raw, what: "PCIe of its generation and width".to_owned() })
}

/// Whether a name says that the wire may be faster than its generation.
fn is_doubted(name: &str) -> bool {
    name.contains("doubtful") || (name.contains("assumed") && !name.contains("chip-assumed"))
}

/// Whether a link may lead to a switch that reduces (NVLS): the NVSwitch of NVLink 4, H100, is the first that can (NVIDIA's white paper of
/// H100).
pub(crate) fn may_reduce(machine: &Machine, link: LinkId) -> bool {
    let generation = machine.type_text(link).and_then(|text| named(&text.name.to_ascii_lowercase()).generation);
    machine.fabric.link(link).kind == LinkKind::NVLINK && generation.is_none_or(|generation| generation >= 4)
}

/// The most lanes that carry a raw figure, by some generation.
fn width_of(raw: f64) -> u64 {
    let is = |lanes: u64| {
        let figures = (1..=PCIE_NEWEST).filter_map(|generation| pcie_raw_figure(generation, lanes));
        figures.into_iter().any(|figure| (figure / raw - 1.0).abs() < ROUNDED - 1.0)
    };
    LANES.into_iter().find(|&lanes| is(lanes)).unwrap_or(PCIE_WIDEST)
}

fn fastest_pcie(width: u64) -> Option<WireBound> {
    let most = pcie_raw_figure(PCIE_NEWEST, width)?;
    Some(WireBound { most, what: format!("PCIe {PCIE_NEWEST}.0 x{width}, the fastest that there is,") })
}

/// What a name says of a wire.
struct Named<'a> {
    word: &'a str,
    generation: Option<u64>,
    width: Option<u64>,
}

/// A word, a generation, and `x` before a number of lanes or links.
fn named(name: &str) -> Named<'_> {
    let separators = ['-', '_', '.'];
    let word_end = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let (word, rest) = name.split_at(word_end);
    let rest = rest.trim_start_matches(separators);
    let (generation, rest) = number(rest.trim_start_matches("gen"))
        // `nvlink-300GB` is no generation 300, nor `pcie-16GB` a generation 16.
        .filter(|(_, rest)| rest.is_empty() || rest.starts_with(separators) || rest.starts_with('x'))
        .map_or((None, rest), |(generation, rest)| (Some(generation), rest));
    let width = rest.trim_start_matches(separators).strip_prefix('x').and_then(number).map(|(width, _)| width);
    Named { word, generation, width }
}

/// The bound that a name tells of a link to which the topology gives a bandwidth.
fn by_name(name: &str, doubted: bool, given: f64) -> Option<WireBound> {
    let Named { word, generation, width } = named(name);
    let generation = generation.filter(|_| !doubted);
    // A bandwidth above the fastest is of something else.
    let fits = |bound: &WireBound| doubted || given <= bound.most * ROUNDED;
    match (word, width) {
        ("pcie" | "pci" | "gen", Some(width)) => match generation {
            Some(generation) => {
                let most = pcie_raw_figure(generation, width)?;
                Some(WireBound { most, what: format!("PCIe {generation}.0 x{width}") })
            }
            None => fastest_pcie(width).filter(fits),
        },
        ("pcie" | "pci", None) if generation.is_none() => fastest_pcie(PCIE_WIDEST).filter(fits),
        ("nvlink", width) => nvlink(generation, width, if doubted { f64::INFINITY } else { given }),
        ("xgmi", Some(width)) => Some(WireBound { most: XGMI * width as f64, what: format!("xGMI x{width}") }),
        _ => None,
    }
}

/// The bound of NVLinks to which the topology gives a bandwidth.
fn nvlink(generation: Option<u64>, width: Option<u64>, given: f64) -> Option<WireBound> {
    let newest = NVLINK.len() - 1;
    let links = width.unwrap_or(NVLINK[newest].links);
    let carries = |of: &NvLink| of.links >= links && of.each * links as f64 * ROUNDED >= given;
    // What generation 1 carries may be an effective figure of generation 2: the bound is that of the faster of the two.
    let slowest = (1..=newest).find(|&at| carries(&NVLINK[at])).filter(|_| width.is_some());
    let at = match (generation, slowest) {
        (Some(generation), _) => (generation.saturating_sub(1) as usize).min(newest),
        (None, slowest) => slowest.unwrap_or(newest),
    };
    let most = NVLINK[at].each * links as f64;
    let fits = generation.is_some() || given.is_infinite() || given <= most * ROUNDED;
    fits.then(|| WireBound { most, what: format!("NVLink {} x{links}", at + 1) })
}

/// The number at the beginning of a text, 1 to 99, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let value = text[..end].parse().ok().filter(|value| (1..100).contains(value))?;
    Some((value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(name: &str, given: f64) -> Option<f64> {
        by_name(name, is_doubted(name), given * 1e9).map(|bound| (bound.most / 1e8).round() / 10.0)
    }

    /// One or more: a message says that it carries its figure.
    #[test]
    fn a_bound_of_xgmi_is_one_thing() {
        for name in ["xgmi-x1", "xgmi-x4"] {
            let what = by_name(name, false, 1e9).map(|bound| bound.what).unwrap();
            assert_eq!(what, name.replace("xgmi-", "xGMI "));
        }
    }

    #[test]
    fn names_of_types_say_what_the_wire_carries() {
        let known = [
            ("pcie4-x16", 31.5),
            ("pcie5-x16-gpu1", 63.0),
            ("pcie3x8", 7.9),
            ("pcie-gen4-x16", 31.5),
            ("gen5x16", 63.0),
            ("pcie2_x16", 8.0),
            ("nvlink4-x18", 450.0),
            ("nvlink3-x12", 300.0),
            ("xgmi-x1", 76.8),
            ("xgmi-x4", 307.2),
            // The fastest that there is.
            ("pcie", 118.0),
            ("pcie-x8", 59.0),
            ("pcie3-x8-assumed", 59.0),
            ("pcie-doubtful", 118.0),
            // What the chip can.
            ("pcie3-x8-chip-assumed", 7.9),
            ("pcie6-x16-chip-assumed", 118.0),
            ("nvlink3-x12-doubtful", 600.0),
            ("nvlink-x18-assumed", 900.0),
            ("nvlink-100GB", 900.0),
        ];
        for (name, expected) in known {
            assert_eq!(most(name, 10.0), Some(expected), "{name}");
        }
        for name in ["pcie9-x16", "pcie4-x17", "memory", "socket", "x16", "", "xgmi", "4-x16", "uplink", "slot-assumed"]
        {
            assert_eq!(most(name, 10.0), None, "{name}");
        }
    }

    /// The generation that carries what the topology gives, among those whose GPUs have so many links.
    #[test]
    fn the_bandwidth_of_a_topology_tells_the_generation_of_nvlink() {
        let cases = [
            ("nvlink-x18", 383.4, Some(450.0)),
            ("nvlink-x18", 450.0, Some(450.0)),
            ("nvlink-x18", 800.0, Some(900.0)),
            ("nvlink-x12", 279.0, Some(300.0)),
            ("nvlink-x6", 150.0, Some(150.0)),
            ("nvlink-x4", 80.0, Some(100.0)),
            ("nvlink-x18", 1000.0, None),
            ("nvlink", 1200.0, None),
            ("pcie", 400.0, None),
        ];
        for (name, given, expected) in cases {
            assert_eq!(most(name, given), expected, "{name} {given}");
        }
    }
}
