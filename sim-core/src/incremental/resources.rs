//! What a transfer takes part of: the links of its route, and the bandwidths that links share, as links after the fabric's.

use std::borrow::Cow;

use ordered_float::OrderedFloat;
use weir_plugin_api::LinkId;

use crate::fabric::Fabric;

/// The resources of a fabric.
#[derive(Clone, Copy)]
pub(super) struct Resources<'a>(pub(super) &'a Fabric);

impl<'a> Resources<'a> {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        self.0.links().len() + self.0.shared().len()
    }

    /// The bandwidths of all, bytes per second.
    pub(super) fn bandwidths(self) -> impl Iterator<Item = f64> + use<'a> {
        let shared = self.0.shared().iter().map(|shared| shared.bandwidth);
        self.0.bandwidths().iter().copied().chain(shared)
    }

    pub(super) fn bandwidth(self, resource: LinkId) -> f64 {
        match self.shared(resource) {
            Some(number) => self.0.shared()[number as usize].bandwidth,
            None => self.0.bandwidths()[resource.index()],
        }
    }

    /// The number of a bandwidth that links share; `None` for a link.
    pub(super) fn shared(self, resource: LinkId) -> Option<u32> {
        resource.0.checked_sub(self.0.links().len() as u32)
    }

    /// What a route takes, in order of travel, then what its links share.
    pub(super) fn of(self, route: &'a [LinkId]) -> Cow<'a, [LinkId]> {
        if self.0.shared().is_empty() {
            return Cow::Borrowed(route);
        }
        let first = self.0.links().len() as u32;
        let crossed = self.0.shared_crossed(route).into_iter().map(|(number, _)| LinkId(first + number));
        Cow::Owned(route.iter().copied().chain(crossed).collect())
    }

    /// Whether a route takes nothing twice.
    pub(super) fn each_once(self, route: &[LinkId]) -> bool {
        self.0.shared().is_empty() || self.0.shared_crossed(route).iter().all(|&(_, times)| times == 1)
    }

    /// Whether some resource of a route carries more than a limit. Under a policy that clamps transfers on the way, a limit
    /// above the narrowest one matters before that.
    pub(super) fn exceed(self, limit: f64, route: &'a [LinkId]) -> bool {
        self.of(route).iter().any(|&resource| limit < self.bandwidth(resource))
    }

    /// The narrowest resource of a route, the first of equals.
    pub(super) fn narrowest(self, route: &'a [LinkId]) -> LinkId {
        let width = |resource: &LinkId| OrderedFloat(self.bandwidth(*resource));
        self.of(route).iter().copied().min_by_key(width).unwrap_or(LinkId::NONE)
    }
}
