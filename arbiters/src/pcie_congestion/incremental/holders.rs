//! Which link holds a class back, why, and by whom.

use weir_plugin_api::{Cause, ClassInfo, Direction, Holder, Level, LinkId, NO_LEVEL};

use super::{Factors, NONE};
use crate::common::ports::crosses_root_complex;
use crate::pcie_congestion::EPS;

impl Factors {
    /// A transfer that shares no link: as the rate arbiter has it.
    pub(super) fn lone(&self, class: &ClassInfo<'_>) -> Option<(LinkId, Level)> {
        let crosses = crosses_root_complex(&self.ports, class.links);
        let limit = if class.limit == NO_LEVEL { f64::INFINITY } else { class.limit as f64 / self.scale };
        let (mut rate, mut least, mut cut) = (limit, limit, None);
        for &link in class.links {
            let port = &self.ports[link.index()];
            (rate, least) = (rate.min(port.bandwidth), least.min(port.bandwidth));
            if crosses && port.below_root_complex && rate > port.reduced * (1.0 + EPS) {
                (rate, cut) = (port.reduced, Some(link));
            }
        }
        cut.filter(|_| rate < least).map(|link| (link, self.level(rate)))
    }

    pub(super) fn held_back(&self, class: u32) -> Holder {
        let _ = class;
        Holder { link: LinkId::NONE, cause: Cause::Unknown, by: NONE }
    }

    pub(super) fn was_full(&self, link: LinkId) -> bool {
        let number = self.links.number[link.index()] as usize;
        match self.ports[link.index()].direction {
            Direction::Up => self.links.ups[number].was_full,
            Direction::Down => self.links.downs[number].was_full,
            Direction::Lateral => false,
        }
    }
}
