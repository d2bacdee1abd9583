//! What is kept of links, pairs and classes. Up links are numbered from the root down, children of one link side by side;
//! down links like the up links beside them, and lateral links after these.

use weir_plugin_api::{CallError, Direction, FabricView, Holder, Level, LinkId};

use super::NONE;
use super::trees::Branch;
use crate::common::ports::Port;

/// Parts of the largest bandwidth that reservations count in: what rounds up here does not matter, and sums of 2^23
/// transfers fit.
const RESERVATION_PARTS: f64 = (1_u64 << 40) as f64;

/// The classes on an up link that turn at the same pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Depth of the last up link, and the port, one more than its number (0: they end there): the order of slots.
    pub(super) key: u64,
    pub(super) pair: u32,
    /// Transfers; those that start here.
    pub(super) transfers: u32,
    pub(super) starting: u32,
    /// Must be summed anew.
    pub(super) dirty: bool,
    /// A class would bring more than the link carries.
    pub(super) clamped: bool,
    /// Σ x, the least and the largest x.
    pub(super) sum: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Slot {
    /// Depth of the last up link.
    #[inline]
    pub(super) fn turn(&self) -> u32 {
        (self.key >> 32) as u32
    }
}

/// An up link; what events look at most is in its first two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Up {
    /// By key: the highest turn first.
    pub(super) slots: Vec<Slot>,
    /// C / S where it is contended, else 1.
    pub(super) factor: f64,
    /// The next link up, or [`NONE`].
    pub(super) parent: u32,
    /// The links that lead here: `children.0..children.1`; where there are none, the place where they would be.
    pub(super) children: (u32, u32),
    pub(super) depth: u32,
    /// Transfers that go on upwards, those that start here, and all.
    pub(super) transfers_over: u32,
    pub(super) starting: u32,
    pub(super) transfers: u32,
    pub(super) contended: bool,
    pub(super) clamped: bool,
    /// A lateral link begins or ends at its lower node or below that, so routes leave the subtree there.
    pub(super) is_open: bool,
    /// Step D1.
    pub(super) branch: Branch,
    /// Events in which a link of its tree has changed, and in which unblocked classes were sought in it.
    pub(super) looked: u64,
    pub(super) sought: u64,
    pub(super) bandwidth: f64,
    /// S.
    pub(super) sum: f64,
    /// The least x of those that go on upwards.
    pub(super) least_over: f64,
    /// A bound on the factor that seldom changes.
    pub(super) promise: f64,
    /// What was told of its node.
    pub(super) told_level: Level,
    pub(super) told_below: u32,
    pub(super) id: LinkId,
    /// Classes on it, ascending; sources that start here, by key.
    pub(super) classes: Vec<u32>,
    pub(super) sources: Vec<u32>,
    /// Those of the latter that may be exceptions or hang elsewhere.
    pub(super) watched: Vec<u32>,
}

/// The classes that turn from one link into one port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The last up link, and the port, or [`NONE`] where they end between the two.
    pub(super) from: u32,
    pub(super) port: u32,
    /// Transfers that cross a root complex.
    pub(super) crossing: u32,
    /// R, and R' / R where it is cut.
    pub(super) sum: f64,
    pub(super) factor: f64,
    /// It is cut at a contended port, all of it alike.
    pub(super) cut: bool,
    /// Its classes are cut or clamped one by one.
    pub(super) listed: bool,
    pub(super) promise: f64,
    /// Factor and cut before the event.
    pub(super) before: (f64, bool),
}

/// A down link, or a lateral one: both come after a route's up links.
#[derive(Debug)]
pub(super) struct Down {
    pub(super) id: LinkId,
    /// All that it carries too much is cut in proportion.
    pub(super) is_lateral: bool,
    pub(super) bandwidth: f64,
    pub(super) reduced: f64,
    pub(super) below_root_complex: bool,
    /// Pairs that enter, by their links.
    pub(super) pairs: Vec<u32>,
    /// Classes on it, and those that start here, ascending.
    pub(super) classes: Vec<u32>,
    pub(super) starting: Vec<u32>,
    /// Transfers that start here, those that come from another link of this list; those that cross a root complex.
    pub(super) starting_transfers: u32,
    pub(super) above: u32,
    pub(super) crossing: u32,
    pub(super) crossing_starting: u32,
    /// At least what comes from above, in parts.
    pub(super) reserved: u64,
    /// At least Σ y; exact where it is overloaded.
    pub(super) flow: f64,
    pub(super) overloaded: bool,
}

impl Down {
    /// C(l).
    pub(super) fn capacity(&self) -> f64 {
        if self.below_root_complex && self.crossing > 0 { self.reduced } else { self.bandwidth }
    }
}

/// A class; what events look at most is in its first two cache lines.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Class {
    /// The event in which it was listed as an exception by itself.
    pub(super) listed: u64,
    /// Of its first link.
    pub(super) bandwidth: f64,
    /// How many of its links are up links.
    pub(super) ups: u32,
    /// Where it turns, and with whom; [`NONE`] without up links.
    pub(super) pair: u32,
    pub(super) source: u32,
    pub(super) transfers: u32,
    /// What was told: the node it hangs below.
    pub(super) told_below: u32,
    /// Where it was an exception by itself the last time: its number, the hop at which it was blocked.
    pub(super) exception: u32,
    pub(super) blocked_at: u32,
    pub(super) crosses: bool,
    /// It is listed among those of its source that are apart.
    pub(super) is_apart: bool,
    /// Its limit is less than its first link: the fast way does not serve it.
    pub(super) is_limited: bool,
    /// Numbers of its up links, then of its down links.
    pub(super) route: Vec<u32>,
    /// Its rate where it was an exception by itself the last time.
    pub(super) rate: f64,
    /// Of its narrowest link.
    pub(super) narrowest: f64,
    /// What was told, where it is a root.
    pub(super) told_level: Level,
    /// What one transfer reserves on the links after its port.
    pub(super) reserved: u64,
    /// What holds it back, where the rate arbiter was asked.
    pub(super) asked: Option<Holder>,
    /// For the fallback.
    pub(super) limit: f64,
    pub(super) links: Vec<LinkId>,
}

impl Class {
    pub(super) fn up_links(&self) -> &[u32] {
        &self.route[..self.ups as usize]
    }

    pub(super) fn down_links(&self) -> &[u32] {
        &self.route[self.ups as usize..]
    }

    /// Its links after the port.
    #[inline]
    pub(super) fn links_below_port(&self) -> &[u32] {
        &self.route[self.shared_hops() as usize..]
    }

    /// The hops up to the port, which all classes of its slot share.
    #[inline]
    pub(super) fn shared_hops(&self) -> u32 {
        (self.ups + 1).min(self.route.len() as u32)
    }
}

/// All links of a fabric.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) ups: Vec<Up>,
    /// How many of them have none above.
    pub(super) roots: u32,
    /// As many down links; then lateral ones.
    pub(super) downs: Vec<Down>,
    /// Per link of the fabric its number.
    pub(super) number: Vec<u32>,
    /// Bandwidth of a part of reservations.
    pub(super) part: f64,
}

impl Links {
    pub(super) fn new(fabric: &FabricView<'_>, ports: &[Port]) -> Result<Self, CallError> {
        let of = |direction| {
            let mut links: Vec<usize> = (0..fabric.links()).filter(|&l| fabric.direction[l] == direction).collect();
            links.sort_by_key(|&l| fabric.depth[l]);
            links
        };
        let most = fabric.bandwidth.iter().fold(0.0, |most: f64, &b| most.max(b));
        let mut links = Self {
            ups: Vec::new(),
            roots: 0,
            downs: Vec::new(),
            number: vec![NONE; fabric.links()],
            part: most / RESERVATION_PARTS,
        };
        links.add_ups(fabric, of(Direction::Up))?;
        links.add_downs(fabric, &of(Direction::Down), ports)?;
        links.add_laterals(fabric, &of(Direction::Lateral), ports);
        Ok(links)
    }

    fn add_laterals(&mut self, fabric: &FabricView<'_>, of: &[usize], ports: &[Port]) {
        let mut above: Vec<u32> = vec![NONE; fabric.node_kind.len()];
        (0..).zip(&self.ups).for_each(|(number, up)| above[fabric.from[up.id.index()] as usize] = number);
        for &l in of {
            self.number[l] = self.downs.len() as u32;
            self.downs.push(Down::new(LinkId::from_index(l), &ports[l]));
            for end in [fabric.from[l], fabric.to[l]] {
                let mut at = above[end as usize];
                while let Some(up) = self.ups.get_mut(at as usize).filter(|up| !up.is_open) {
                    up.is_open = true;
                    at = up.parent;
                }
            }
        }
    }

    /// Numbers links down like the links up beside them.
    fn add_downs(&mut self, fabric: &FabricView<'_>, of: &[usize], ports: &[Port]) -> Result<(), CallError> {
        let mut above: Vec<usize> = vec![usize::MAX; fabric.node_kind.len()];
        of.iter().for_each(|&l| above[fabric.to[l] as usize] = l);
        for (number, up) in (0..).zip(&self.ups) {
            let l = above[fabric.from[up.id.index()] as usize];
            if l == usize::MAX || fabric.from[l] != fabric.to[up.id.index()] {
                return Err(CallError::Refused("a link up without one down is served phase by phase".to_owned()));
            }
            self.number[l] = number;
            self.downs.push(Down::new(LinkId::from_index(l), &ports[l]));
        }
        if of.len() == self.ups.len() {
            return Ok(());
        }
        Err(CallError::Refused("a link down without one up is served phase by phase".to_owned()))
    }

    fn add_ups(&mut self, fabric: &FabricView<'_>, mut order: Vec<usize>) -> Result<(), CallError> {
        let mut above: Vec<u32> = vec![NONE; fabric.node_kind.len()];
        for &l in &order {
            let lower = &mut above[fabric.from[l] as usize];
            if *lower != NONE {
                return Err(CallError::Refused("a node with two links up is served phase by phase".to_owned()));
            }
            *lower = l as u32;
        }
        let parent = |l: usize| above[fabric.to[l] as usize];
        let mut place = vec![0; fabric.links()];
        let deepest = order.last().map_or(0, |&l| fabric.depth[l]);
        for depth in 0..=deepest {
            let first = order.partition_point(|&l| fabric.depth[l] < depth);
            let end = order.partition_point(|&l| fabric.depth[l] <= depth);
            order[first..end].sort_by_key(|&l| (place.get(parent(l) as usize).copied().unwrap_or(0), l));
            (first..end).for_each(|at| place[order[at]] = at);
        }
        for l in order {
            let parent = self.number.get(parent(l) as usize).copied().unwrap_or(NONE);
            let at = self.ups.len() as u32;
            self.number[l] = at;
            self.ups.push(Up::new(LinkId::from_index(l), fabric.bandwidth[l], fabric.depth[l], parent));
            if let Some(parent) = self.ups.get_mut(parent as usize) {
                let first = if parent.children.1 == 0 { at } else { parent.children.0 };
                parent.children = (first, at + 1);
            }
        }
        self.roots = self.ups.iter().filter(|up| up.parent == NONE).count() as u32;
        let mut next = self.ups.len() as u32;
        for up in self.ups.iter_mut().rev() {
            if up.children.1 == 0 {
                up.children = (next, next);
            }
            next = up.children.0;
        }
        Ok(())
    }
}

impl Up {
    fn new(id: LinkId, bandwidth: f64, depth: u32, parent: u32) -> Self {
        Self {
            id,
            bandwidth,
            depth,
            parent,
            children: (0, 0),
            is_open: false,
            slots: Vec::new(),
            sum: 0.0,
            factor: 1.0,
            contended: false,
            clamped: false,
            least_over: f64::INFINITY,
            transfers_over: 0,
            starting: 0,
            promise: 1.0,
            transfers: 0,
            classes: Vec::new(),
            sources: Vec::new(),
            watched: Vec::new(),
            branch: Branch::NEW,
            looked: 0,
            sought: 0,
            told_below: NONE,
            told_level: super::UNTOLD,
        }
    }

    /// The slot of a key.
    #[inline]
    pub(super) fn slot(&self, key: u64) -> Result<usize, usize> {
        if self.slots.len() <= 8 {
            let at = self.slots.iter().position(|slot| slot.key >= key).unwrap_or(self.slots.len());
            return if self.slots.get(at).is_some_and(|slot| slot.key == key) { Ok(at) } else { Err(at) };
        }
        self.slots.binary_search_by_key(&key, |slot| slot.key)
    }
}

impl Down {
    fn new(id: LinkId, port: &Port) -> Self {
        Self {
            id,
            is_lateral: port.direction == Direction::Lateral,
            bandwidth: port.bandwidth,
            reduced: port.reduced,
            below_root_complex: port.below_root_complex,
            pairs: Vec::new(),
            classes: Vec::new(),
            starting: Vec::new(),
            starting_transfers: 0,
            above: 0,
            crossing: 0,
            crossing_starting: 0,
            reserved: 0,
            flow: 0.0,
            overloaded: false,
        }
    }
}

/// Puts a number into an ascending list.
pub(super) fn insert(list: &mut Vec<u32>, number: u32) {
    if let Err(at) = list.binary_search(&number) {
        list.insert(at, number);
    }
}

/// Takes a number out of an ascending list.
pub(super) fn remove(list: &mut Vec<u32>, number: u32) {
    if let Ok(at) = list.binary_search(&number) {
        list.remove(at);
    }
}
