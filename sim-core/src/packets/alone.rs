//! How long a transfer takes by packets when nothing else is sent.

use weir_packets::arbiter::RoundRobin;
use weir_packets::{Engine, LinkSettings, Network, NodeSettings, Notice, TransferSpec};
use weir_plugin_api::{LinkId, SimDuration};

use super::settings::PacketSettings;
use super::{interval, requests_over};
use crate::classes::Carriage;
use crate::fabric::Fabric;

/// From start to end of a lone transfer; `None` where it never ends, and where `halt`, asked now and then, ends it early.
#[must_use]
pub fn packet_time_alone(
    settings: &PacketSettings,
    fabric: &Fabric,
    route: &[LinkId],
    bytes: u64,
    limit: f64,
    carriage: Carriage,
    halt: &dyn Fn() -> bool,
) -> Option<SimDuration> {
    let back = requests_over(&route.iter().map(|link| link.0).collect::<Vec<_>>());
    let back = if carriage.is_read { &back[..] } else { &[] };
    let network = chain(settings, fabric, route, back)?;
    // Nobody is beside it: any arbiter does, and this one lets it skip ahead.
    let policy_of = vec![0; route.len() + back.len()].into();
    let engine = Engine::new(network, vec![Box::new(RoundRobin::default())], policy_of);
    let mut engine = engine.without_ages().with_most_hops(settings.most_hops);
    let length = route.len() as u32;
    let (own, back): (Vec<u32>, Vec<u32>) = ((0..length).collect(), (length..2 * length).collect());
    let interval =
        effective(interval(settings, route[0].0, limit), &settings.links[route[0].index()], carriage.is_read);
    let read = carriage.is_read.then(|| settings.reads.spec(&back, 1));
    let spec = TransferSpec {
        bytes,
        route: &own,
        channel: 0,
        priority: 0,
        weight: 1.0,
        interval,
        window: settings.window,
        read,
    };
    engine.admit(0, 0, &spec).ok()?;
    engine.step(0).ok()?;
    end_of_first(&mut engine, halt)
}

/// The links of a route and their nodes alone, in a chain; behind them the links `back` of requests.
fn chain(settings: &PacketSettings, fabric: &Fabric, route: &[LinkId], back: &[u32]) -> Option<Network> {
    let length = route.len() as u32;
    let there =
        (0..).zip(route).map(|(at, link)| LinkSettings { from: at, to: at + 1, ..settings.links[link.index()] });
    let and_back = (0..).zip(back).map(|(at, &link)| LinkSettings {
        from: length - at,
        to: length - at - 1,
        ..settings.links[link as usize]
    });
    let first = fabric.link(*route.first()?).from;
    let nodes = std::iter::once(first).chain(route.iter().map(|link| fabric.link(*link).to));
    let nodes = nodes.map(|node| NodeSettings { engines: 1, ..settings.nodes[node.index()] }).collect();
    Network::new(there.chain(and_back).collect(), nodes, 2).ok()
}

/// When transfer 0 ends.
fn end_of_first(engine: &mut Engine, halt: &dyn Fn() -> bool) -> Option<SimDuration> {
    loop {
        let next = engine.advance(u64::MAX, halt).ok().filter(|next| *next != u64::MAX && !halt())?;
        while let Some((time, notice)) = engine.take_notice(next) {
            if notice == Notice::Ended(0) {
                return Some(SimDuration(time));
            }
        }
        engine.step(next).ok()?;
    }
}

/// The interval of a limit, or 0 where the first link takes longer for each packet, so that the limit changes nothing: packets that
/// lag ever more behind their limit would never come into a period. Packets of a read may be smaller than the link's.
fn effective(interval: u64, first: &LinkSettings, is_read: bool) -> u64 {
    let sends = first.rate.time(u64::from(first.payload) + u64::from(first.header));
    if interval <= sends && !is_read { 0 } else { interval }
}
