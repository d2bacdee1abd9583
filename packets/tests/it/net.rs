//! Trees of equal links, and runs over them.

use weir_packets::arbiter::RoundRobin;
use weir_packets::{
    Engine, Inputs, LinkSettings, Network, NodeSettings, Notice, Queues, Switching, TransferSpec, WireRate,
};
use weir_plugin_api::{FabricView, Flags, PortArbiter, PortEntry};

/// A tree by the parent of each node; links are numbered by lower node, up before down.
#[derive(Clone)]
pub struct Tree {
    pub parents: Vec<Option<u32>>,
    pub link: LinkSettings,
    pub nodes: Vec<NodeSettings>,
}

/// 256 B of payload with 24 B of header, 16 KiB buffers, 100 ns.
pub fn link(rate: WireRate) -> LinkSettings {
    LinkSettings {
        from: 0,
        to: 0,
        downwards: false,
        rate,
        latency: 100_000,
        credit_return: 100_000,
        buffer: Some(16 << 10),
        headers: None,
        payload: 256,
        header: 24,
        dllp: 0,
        switching: Switching::CutThrough,
        queues: Queues::Fifo,
        inputs: Inputs::Serial,
    }
}

pub fn node() -> NodeSettings {
    NodeSettings { split: None, engines: 64 }
}

impl Tree {
    pub fn new(parents: Vec<Option<u32>>, link: LinkSettings) -> Self {
        let nodes = vec![node(); parents.len()];
        Self { parents, link, nodes }
    }

    /// The paper's T2: a root complex (0), two switches (1, 2), four boards (3 to 6), eight GPUs (7 to 14).
    pub fn t2(link: LinkSettings) -> Self {
        let mut parents = vec![None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
        parents.extend((0..8).map(|gpu| Some(3 + gpu / 2)));
        Self::new(parents, link)
    }

    fn pair(&self, lower: u32) -> u32 {
        self.parents[..lower as usize].iter().filter(|parent| parent.is_some()).count() as u32
    }

    pub fn links(&self) -> Vec<LinkSettings> {
        let mut links = Vec::new();
        for (lower, parent) in (0..).zip(&self.parents) {
            if let &Some(parent) = parent {
                links.push(LinkSettings { from: lower, to: parent, downwards: false, ..self.link });
                links.push(LinkSettings { from: parent, to: lower, downwards: true, ..self.link });
            }
        }
        links
    }

    fn ancestors(&self, node: u32) -> Vec<u32> {
        std::iter::successors(Some(node), |&node| self.parents[node as usize]).collect()
    }

    pub fn route(&self, from: u32, to: u32) -> Vec<u32> {
        let (up, down) = (self.ancestors(from), self.ancestors(to));
        let common = *up.iter().find(|node| down.contains(node)).unwrap();
        let mut route: Vec<u32> =
            up.iter().take_while(|&&node| node != common).map(|&node| 2 * self.pair(node)).collect();
        let below: Vec<u32> =
            down.iter().take_while(|&&node| node != common).map(|&node| 2 * self.pair(node) + 1).collect();
        route.extend(below.iter().rev());
        route
    }

    pub fn engine(&self, arbiters: Vec<Box<dyn PortArbiter>>, arbiter_of: Vec<u32>) -> Engine {
        self.engine_with(self.links(), arbiters, arbiter_of)
    }

    fn engine_with(&self, links: Vec<LinkSettings>, arbiters: Vec<Box<dyn PortArbiter>>, of: Vec<u32>) -> Engine {
        Engine::new(Network::new(links, self.nodes.clone(), 1).unwrap(), arbiters, of.into())
    }

    pub fn round_robin(&self) -> Engine {
        self.engine_of(&PortEntry::builtin::<RoundRobin>())
    }

    /// All ports have this arbiter, without parameters.
    pub fn engine_of(&self, entry: &PortEntry) -> Engine {
        self.engine_on(self.links(), entry)
    }

    /// The same on links in place of the tree's own.
    pub fn engine_on(&self, links: Vec<LinkSettings>, entry: &PortEntry) -> Engine {
        let arbiter = (entry.make)(&FabricView::default(), "{}").expect("it needs no parameters");
        let ports = vec![0; links.len()];
        let engine = self.engine_with(links, vec![arbiter], ports);
        if entry.flags.contains(Flags::READS_ARRIVAL) { engine } else { engine.without_ages() }
    }
}

pub fn spec(bytes: u64, route: &[u32]) -> TransferSpec<'_> {
    TransferSpec { bytes, route, channel: 0, priority: 0, weight: 1.0, interval: 0, window: None, read: None }
}

/// Runs until all has ended. Per transfer: when it was sent, and when it ended.
pub fn finish(engine: &mut Engine) -> Vec<(u64, u64)> {
    let mut times: Vec<(u64, u64)> = Vec::new();
    loop {
        let next = engine.advance(u64::MAX, &|| false).unwrap();
        if next == u64::MAX {
            assert!(engine.is_drained(u64::MAX), "a credit is lost");
            return times;
        }
        while let Some((time, notice)) = engine.take_notice(next) {
            let (Notice::Sent(id) | Notice::Ended(id)) = notice;
            times.resize(times.len().max(id as usize + 1), (0, 0));
            match notice {
                Notice::Sent(_) => times[id as usize].0 = time,
                Notice::Ended(_) => times[id as usize].1 = time,
            }
        }
        engine.step(next).unwrap();
    }
}

/// Transfers of (source, destination, bytes) that all begin at 0.
pub fn at_once(tree: &Tree, engine: &mut Engine, transfers: &[(u32, u32, u64)]) -> Vec<(u64, u64)> {
    for (id, &(from, to, bytes)) in (0..).zip(transfers) {
        engine.admit(0, id, &spec(bytes, &tree.route(from, to))).unwrap();
    }
    engine.step(0).unwrap();
    finish(engine)
}
