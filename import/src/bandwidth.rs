//! Bandwidths of links that are no PCIe links, in MB/s each way, and where they are from.

use crate::gpu::Gpu;

/// Which bandwidths are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Figures {
    /// What lone copies reach: measured medians, and NCCL's tables where nothing is measured.
    #[default]
    Effective,
    /// What the wires carry, after line encoding.
    Raw,
}

impl Figures {
    /// What they are, for a person.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Effective => {
                "effective, what lone copies reach (measured, or by NCCL's tables); `--bandwidth raw` writes what wires carry"
            }
            Self::Raw => {
                "raw, what wires carry after line encoding; `--bandwidth effective` writes what transfers reach"
            }
        }
    }
}

/// A bandwidth with its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sourced {
    /// MB/s each way.
    pub(crate) megabytes: u64,
    pub(crate) source: String,
}

/// Host memory of a NUMA node: 8 channels of DDR4-3200, peak, in MB/s; *assumed*, no dump says it.
pub(crate) const MEMORY: u64 = 204_800;

/// Processors, as far as NCCL and measurements distinguish their socket links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Processor {
    /// Intel before Skylake.
    IntelBroadwell,
    /// Intel Skylake to Ice Lake, by their model numbers.
    IntelSkylake,
    IntelSapphireRapids,
    /// Intel Granite Rapids and Sierra Forest, whose numbers lie between; NCCL counts them with Sapphire Rapids.
    IntelGraniteRapids,
    /// Intel Emerald Rapids and higher model numbers.
    IntelEmeraldRapids,
    /// AMD before Zen, or of a family that is not known.
    Amd,
    /// AMD Zen 1 and 2.
    AmdZen12,
    /// AMD Zen 3 and 4.
    AmdZen34,
    AmdZen5,
    Power,
    Arm,
    Zhaoxin,
    Yongfeng,
    /// Not named by the dump, with PCIe 4.0: Rome, Milan, Ice Lake.
    WithPcie4,
    /// Likewise with PCIe 5.0: Genoa, Turin, Sapphire Rapids and later.
    WithPcie5,
    /// The dump does not say.
    #[default]
    Unknown,
}

impl Processor {
    /// By what CPUID says (NCCL, `src/graph/topo.cc`, `ncclTopoAddCpu`; AMD's families as in its branch `dev`, commit 2f1c174c).
    /// Intel's models (Linux, `arch/x86/include/asm/intel-family.h`): 0x55 Skylake-X, 0x6a Ice Lake-X, 0x8f Sapphire Rapids,
    /// 0xad and 0xae Granite Rapids, 0xaf Sierra Forest, 0xcf Emerald Rapids.
    pub(crate) fn of_x86(vendor: &str, family: Option<u32>, model: Option<u32>) -> Self {
        let (family, model) = (family.unwrap_or(0), model.unwrap_or(0));
        match vendor {
            "GenuineIntel" => match (family, model) {
                (6, 0xcf..) => Self::IntelEmeraldRapids,
                (6, 0x90..) => Self::IntelGraniteRapids,
                (6, 0x8f) => Self::IntelSapphireRapids,
                (6, 0x55..) => Self::IntelSkylake,
                _ => Self::IntelBroadwell,
            },
            // 0x8f, 0xaf, 0xbf: NCCL's releases write 15 + 16 times the extended family (`src/graph/xml.cc`).
            "AuthenticAMD" => match family {
                26 | 0xbf => Self::AmdZen5,
                25 | 0xaf => Self::AmdZen34,
                23 | 0x8f => Self::AmdZen12,
                _ => Self::Amd,
            },
            "CentaurHauls" | "  Shanghai  " => match (family, model) {
                (7, 0x5b) => Self::Yongfeng,
                _ => Self::Zhaoxin,
            },
            _ => Self::Unknown,
        }
    }

    /// What a lone copy between two NUMA nodes of two sockets reaches, in MB/s each way, and where that is from. Measured: the median over
    /// machines of each one's median. Where the copy's slot carries no more, the sockets may carry more.
    ///
    /// - Zen 2: 23.4 of the slot's 24 GB/s (Rome). Sapphire Rapids: 56 GB/s, the slot's (one machine each, no public page).
    /// - Zen 4: 43.2 (two EPYC 9124), 39 (two EPYC 9374F). Zen 5: 38 (two EPYC 9575F, 8 pairs, 36 to 42). All voipmonitor/rtx6kpro,
    ///   `hardware/epyc9124-direct-attach.md`, `pcie-bandwidth.md`, `asus-esc8000a-e13p-broadcom-switches.md`.
    /// - Others: NCCL's (`src/graph/topo.h`).
    fn constant(self) -> (u64, &'static str) {
        match self {
            Self::IntelBroadwell => (6_000, "assumed, not measured: NCCL's BDW_QPI_BW (src/graph/topo.h)"),
            Self::IntelSkylake => (10_000, "assumed, not measured: NCCL's SKL_QPI_BW (src/graph/topo.h)"),
            Self::IntelSapphireRapids => (56_000, "measured, a lone copy on 1 machine, which its slot limits as well"),
            Self::IntelGraniteRapids | Self::IntelEmeraldRapids => {
                (56_000, "assumed to be no less than measured on Sapphire Rapids")
            }
            Self::Amd => (16_000, "assumed, not measured: NCCL's AMD_BW (src/graph/topo.h)"),
            Self::AmdZen12 => (23_400, "measured, a lone copy on 1 machine (Rome), which its slot limits as well"),
            Self::AmdZen34 => (41_000, "measured, median of lone copies on 2 machines (Genoa)"),
            Self::AmdZen5 => (38_000, "measured, median of 8 lone copies on 1 machine (Turin)"),
            Self::Power => (32_000, "assumed, not measured: NCCL's P9_BW (src/graph/topo.h)"),
            Self::Arm => (6_000, "assumed, not measured: NCCL's ARM_BW (src/graph/topo.h)"),
            Self::Zhaoxin => (6_000, "assumed, not measured: NCCL's ZPI_BW (src/graph/topo.h)"),
            Self::Yongfeng => (9_000, "assumed, not measured: NCCL's YONGFENG_ZPI_BW (src/graph/topo.h)"),
            Self::WithPcie5 => {
                (41_000, "assumed, the dump does not name the processor: the median measured on those with PCIe 5.0")
            }
            Self::WithPcie4 => {
                (23_400, "assumed, the dump does not name the processor: as measured on Rome, with PCIe 4.0")
            }
            Self::Unknown => (16_000, "assumed, the dump does not name the processor"),
        }
    }

    /// What two NUMA nodes are joined with; the same for raw figures, as no public raw one holds for all boards.
    pub(crate) fn socket_link(self) -> Sourced {
        let (megabytes, source) = self.constant();
        Sourced { megabytes, source: source.to_owned() }
    }

    /// A processor that the dump does not name, by the newest generation of PCIe that its machine has.
    pub(crate) fn or_by_generation(self, generation: Option<u8>) -> Self {
        match (self, generation) {
            (Self::Unknown, Some(5..)) => Self::WithPcie5,
            (Self::Unknown, Some(4)) => Self::WithPcie4,
            (known, _) => known,
        }
    }

    /// The `kind` of the written link type.
    pub(crate) fn link_kind(self) -> &'static str {
        match self {
            Self::Amd | Self::AmdZen12 | Self::AmdZen34 | Self::AmdZen5 => "xgmi",
            _ => "qpi",
        }
    }
}

/// One NVLink each way as (effective, its source, raw), in MB/s. Raw, per link and direction: NVIDIA's data sheets and white papers, whose
/// totals are for both directions: P100 160 GB/s with 4 links, V100 300 with 6, GA102 112.5 with 4, A100 600 with 12, H100 900 with 18,
/// B200 1800 with 18. Effective: NCCL, `src/graph/topo.h`, `ncclTopoNVLinkBw`, which counts on payloads of 128 B; measured ones are of
/// copy engines, which send 256 B (NVIDIA/nccl-tests, issue 149):
///
/// - A100: 274.4 GB/s over 12 links, 56 pairs (stas00/ml-engineering, `network/benchmarks`, p2pBandwidthLatencyTest).
/// - H100: 376 over 18 links (NVIDIA/nccl, issue 1264, p2pBandwidthLatencyTest), H800: 174 over 8 links, median of reads and writes
///   (liguodongiot/llm-action, nvbandwidth): 20.9 and 21.75 GB/s for one.
fn nvlink(gpu: Gpu) -> (u64, &'static str, u64) {
    match gpu {
        Gpu::Nvidia(100..) => (40_100, "NCCL's SM100_NVLINK_BW (src/graph/topo.h)", 50_000),
        Gpu::Nvidia(90..) => (21_300, "measured, median of lone copies on 2 machines (docs/import.md)", 25_000),
        Gpu::Nvidia(86) => (12_000, "NCCL's SM86_NVLINK_BW (src/graph/topo.h)", 14_062),
        Gpu::Nvidia(80..) => (22_860, "measured, median of lone copies of 56 pairs (docs/import.md)", 25_000),
        Gpu::Nvidia(70..) => (20_000, "NCCL's SM70_NVLINK_BW (src/graph/topo.h)", 25_000),
        _ => (18_000, "NCCL's SM60_NVLINK_BW (src/graph/topo.h)", 20_000),
    }
}

/// The slowest GPUs that can be joined by so many NVLinks, where the dump does not name them, as `weir calibrate` bounds such links: V100
/// has 6, A100 12, H100 18 (the data sheets above). That they are not P100 or GA10x, which have 4, is *assumed*.
fn slowest_with(links: u32) -> Gpu {
    match links {
        0..=6 => Gpu::Nvidia(70),
        7..=12 => Gpu::Nvidia(80),
        _ => Gpu::Nvidia(90),
    }
}

/// One xGMI link each way, likewise. Effective: RCCL, `src/graph/topo.h`, `ncclTopoXGMISpeed`. Raw: half of what AMD's data sheets give
/// for both directions of a link: MI50 and MI100 92 GB/s, MI250X 100, MI300X 128, MI350X 153.6.
fn xgmi(gpu: Gpu) -> (u64, &'static str, u64) {
    match gpu {
        Gpu::Amd(0x950..=0x95f) => (48_000, "GFX95X_XGMI_WIDTH", 76_800),
        Gpu::Amd(0x940..=0x94f) => (48_000, "GFX94X_XGMI_WIDTH", 64_000),
        Gpu::Amd(0x90a) => (36_000, "MI200_XGMI_WIDTH", 50_000),
        _ => (24_000, "VEGA_XGMI_WIDTH", 46_000),
    }
}

/// Bandwidth of a number of NVLinks between two ends.
pub(crate) fn nvlinks(gpu: Gpu, links: u32, figures: Figures) -> Sourced {
    let is_named = matches!(gpu, Gpu::Nvidia(60..));
    let (effective, source, raw) = nvlink(if is_named { gpu } else { slowest_with(links) });
    let mut sum = of_links(links, figures, effective, source, raw);
    if !is_named {
        sum.source += "; the dump does not say which GPUs these are: the slowest generation with so many links";
    }
    sum
}

/// Bandwidth of a number of xGMI links between two ends.
pub(crate) fn xgmis(gpu: Gpu, links: u32, figures: Figures) -> Sourced {
    let (effective, name, raw) = xgmi(gpu);
    of_links(links, figures, effective, &format!("RCCL's {name} (src/graph/topo.h)"), raw)
}

/// Bandwidth of a number of chip-to-chip links (NVLink-C2C) between a GPU and its processor. Effective: what NCCL's dumps and
/// `nvidia-smi c2c -s` report of one. Raw: NVIDIA's Grace Hopper white paper, 900 GB/s for both directions of the 10 links of a GH200.
pub(crate) fn c2cs(links: u32, figures: Figures) -> Sourced {
    of_links(links, figures, 44_712, "as NCCL and `nvidia-smi c2c -s` report them", 45_000)
}

/// Raw MB/s of one NVLink or xGMI link, to find how many there are in a sum.
pub(crate) fn raw_of_one(gpu: Gpu) -> Option<u64> {
    match gpu {
        Gpu::Nvidia(60..) => Some(nvlink(gpu).2),
        Gpu::Amd(_) => Some(xgmi(gpu).2),
        _ => None,
    }
}

fn of_links(links: u32, figures: Figures, effective: u64, source: &str, raw: u64) -> Sourced {
    let (one, source) = match figures {
        Figures::Effective => (effective, source.to_owned()),
        Figures::Raw => (raw, "raw, by the maker's data sheet".to_owned()),
    };
    let megabytes = one * u64::from(links);
    Sourced { megabytes, source: format!("{links} x {} GB/s each way, {source}", gigabytes(one)) }
}

/// MB/s as a decimal number of GB/s.
pub(crate) fn gigabytes(megabytes: u64) -> String {
    let text = format!("{}.{:03}", megabytes / 1000, megabytes % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_as_nccl_tells_them_apart() {
        let intel = |model| Processor::of_x86("GenuineIntel", Some(6), Some(model)).constant().0;
        assert_eq!([79, 85, 106, 143, 0xad, 207].map(intel), [6_000, 10_000, 10_000, 56_000, 56_000, 56_000]);
        let amd = |family| Processor::of_x86("AuthenticAMD", Some(family), Some(1)).constant().0;
        assert_eq!([23, 25, 26].map(amd), [23_400, 41_000, 38_000]);
        assert_eq!([143, 175, 191].map(amd), [23_400, 41_000, 38_000], "as releases write the families");
    }

    /// Totals of the makers' data sheets for both directions of all links of a GPU, in GB/s.
    #[test]
    fn raw_figures_are_those_of_the_data_sheets() {
        let nvidia =
            [(60, 4, 160.0), (70, 6, 300.0), (80, 12, 600.0), (86, 4, 112.5), (90, 18, 900.0), (100, 18, 1800.0)];
        for (model, links, both) in nvidia {
            let megabytes = nvlinks(Gpu::Nvidia(model), links, Figures::Raw).megabytes;
            // 112.5 GB/s over 8 directions are no whole number of MB/s.
            assert!((megabytes as f64 * 2e-3 - both).abs() < 0.01, "{model}: {megabytes}");
        }
        for (model, both) in [(0x908, 92.0), (0x90a, 100.0), (0x942, 128.0), (0x950, 153.6)] {
            let megabytes = xgmis(Gpu::Amd(model), 1, Figures::Raw).megabytes;
            assert_eq!(megabytes as f64 * 2e-3, both, "{model:x}");
        }
    }

    #[test]
    fn links_add_up() {
        assert_eq!(gigabytes(nvlinks(Gpu::Nvidia(90), 18, Figures::Effective).megabytes), "383.4");
        assert_eq!(gigabytes(nvlinks(Gpu::Nvidia(90), 18, Figures::Raw).megabytes), "450");
        assert_eq!(gigabytes(nvlinks(Gpu::Nvidia(60), 2, Figures::Effective).megabytes), "36");
        // A V100 has 6 links of 20 GB/s, an A100 12 of 22.86, an H100 18 of 21.3.
        let unnamed = [2, 6, 7, 12, 13, 18].map(|links| nvlinks(Gpu::Unknown, links, Figures::Effective).megabytes);
        assert_eq!(unnamed, [40_000, 120_000, 160_020, 274_320, 276_900, 383_400]);
        assert_eq!(gigabytes(xgmis(Gpu::Amd(0x942), 1, Figures::Effective).megabytes), "48");
        assert_eq!(gigabytes(xgmis(Gpu::Amd(0x950), 7, Figures::Raw).megabytes), "537.6", "1075.2 both ways");
        assert_eq!(gigabytes(c2cs(10, Figures::Effective).megabytes), "447.12", "as a dump of a GH200 says");
        assert_eq!(gigabytes(c2cs(10, Figures::Raw).megabytes), "450", "900 both ways");
        assert_eq!(gigabytes(xgmis(Gpu::Amd(0x1100), 1, Figures::Effective).megabytes), "24", "RCCL's for all others");
    }
}
