//! The PCI functions of a dump, as its reader finds them.

use crate::bus::BusId;
use crate::gpu::Gpu;
use crate::machine::DeviceKind;
use crate::module::Module;
use crate::pcie::PcieLink;
use crate::refusal::Refusal;

/// Functions at most; *assumed*, as [`crate::machine::DEVICES`].
const MOST: usize = 200_000;

/// Which port of a switch or root complex a bridge is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Port {
    /// The dump does not say: by the depth below the root complex.
    #[default]
    Unknown,
    /// A port that leads down: of a root complex or a switch.
    Down,
    /// The port of a switch that leads up.
    Up,
}

/// A PCI function of a dump.
#[derive(Debug, Default)]
pub(crate) struct Function {
    /// `None` for what is of no interest.
    pub(crate) kind: Option<DeviceKind>,
    pub(crate) bus: Option<BusId>,
    pub(crate) link: Option<PcieLink>,
    /// Lanes that it has at most, whatever the link was trained to.
    pub(crate) lanes: Option<u8>,
    pub(crate) port: Port,
    /// Vendor id, where the dump tells it.
    pub(crate) vendor: Option<u16>,
    pub(crate) gpu: Gpu,
    pub(crate) module: Option<Module>,
    /// Whether its numbers are of a card of a chip of which there are modules, too.
    pub(crate) is_card: bool,
    /// Who made it, in whatever words the dump has; the same for all functions of a card.
    pub(crate) maker: String,
    /// Whether the dump calls it a virtual function.
    pub(crate) is_virtual: bool,
    /// Whether it is graphics inside a processor, which is of no interest.
    pub(crate) is_of_processor: bool,
    pub(crate) number: Option<u32>,
    pub(crate) label: String,
    pub(crate) above: Option<usize>,
    pub(crate) root: usize,
    pub(crate) children: Vec<usize>,
}

/// All functions; those above stand before those below.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    pub(super) list: Vec<Function>,
    pub(super) tops: Vec<usize>,
}

impl Functions {
    /// Adds a function below `above`, or below the root complex.
    pub(crate) fn add(&mut self, function: Function) -> Result<usize, Refusal> {
        let index = self.list.len();
        if index == MOST {
            return Err(Refusal::new(format!("more than {MOST} PCI functions")).help("give the dump of one machine"));
        }
        match function.above {
            Some(above) => self.list[above].children.push(index),
            None => self.tops.push(index),
        }
        self.list.push(function);
        Ok(index)
    }

    /// The function of an index.
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Function {
        &mut self.list[index]
    }
}
