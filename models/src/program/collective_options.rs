//! `collectives`: how the collectives of a trace are done, in the words of the operation `collective`.
//!
//! **Definition.** A key of a kind's own map is taken from there, else from the map of all; what neither has is as in the
//! operation. `auto` of kinds that the trace has leaves all their algorithms open; the host takes those with which the program
//! alone is fastest.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use weir_plugin_api::{Alternative, CallError};

use crate::collective::params::{Algorithm, CollectiveOptions, Kind};
use crate::operation::{choose, refused};

/// Ways to do a program with `auto` at most; *assumed*, each is a run.
const MOST_WAYS: usize = 64;
/// Bytes of all of them at most; *assumed*, each holds the files of the program.
const MOST_TEXT: usize = 1 << 30;

/// The map under `collectives`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Collectives {
    #[serde(flatten)]
    all: CollectiveOptions,
    /// What differs for some kinds.
    #[serde(default)]
    kinds: Kinds,
}

/// The map under `kinds`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[schemars(inline)]
struct Kinds {
    /// What differs for all-reduces.
    all_reduce: CollectiveOptions,
    /// What differs for all-gathers.
    all_gather: CollectiveOptions,
    /// What differs for reduce-scatters.
    reduce_scatter: CollectiveOptions,
    /// What differs for broadcasts.
    broadcast: CollectiveOptions,
    /// What differs for reductions to a root.
    reduce: CollectiveOptions,
    /// What differs for all-to-all exchanges.
    all_to_all: CollectiveOptions,
    /// What differs for scatters.
    scatter: CollectiveOptions,
    /// What differs for gathers.
    gather: CollectiveOptions,
}

impl Collectives {
    /// What is said of a kind alone; of chains nothing, which no trace has.
    fn own(&self, kind: Kind) -> Option<&CollectiveOptions> {
        let kinds = &self.kinds;
        Some(match kind {
            Kind::AllReduce => &kinds.all_reduce,
            Kind::AllGather => &kinds.all_gather,
            Kind::ReduceScatter => &kinds.reduce_scatter,
            Kind::Broadcast => &kinds.broadcast,
            Kind::Reduce => &kinds.reduce,
            Kind::AllToAll => &kinds.all_to_all,
            Kind::Scatter => &kinds.scatter,
            Kind::Gather => &kinds.gather,
            Kind::SendRecvChain => return None,
        })
    }

    /// How a kind is done.
    pub(super) fn of(&self, kind: Kind) -> CollectiveOptions {
        let (own, all) = (self.own(kind).cloned().unwrap_or_default(), self.all.clone());
        CollectiveOptions {
            algorithm: own.algorithm.or(all.algorithm),
            channels: own.channels.or(all.channels),
            chunk: own.chunk.or(all.chunk),
            reduce: own.reduce.or(all.reduce),
            protocol: own.protocol.or(all.protocol),
            order: own.order.or(all.order),
            levels: own.levels.or(all.levels),
        }
    }

    /// Where a key of a kind, such as `protocol.efficiency`, stands below `program`; `None` where it is no option.
    pub(super) fn place(&self, kind: Kind, key: &str) -> Option<String> {
        let own = self.own(kind);
        let is_own = match key.split('.').next()? {
            "algorithm" => own.is_some_and(|own| own.algorithm.is_some()),
            "channels" => own.is_some_and(|own| own.channels.is_some()),
            "chunk" => own.is_some_and(|own| own.chunk.is_some()),
            "reduce" => own.is_some_and(|own| own.reduce.is_some()),
            "protocol" => own.is_some_and(|own| own.protocol.is_some()),
            "order" => own.is_some_and(|own| own.order.is_some()),
            "levels" => own.is_some_and(|own| own.levels.is_some()),
            _ => return None,
        };
        Some(if is_own { format!("collectives.kinds.{}.{key}", kind.word()) } else { format!("collectives.{key}") })
    }

    /// Whether some kind may be open.
    pub(super) fn says_auto(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| self.is_open(kind))
    }

    fn is_open(&self, kind: Kind) -> bool {
        self.of(kind).algorithm == Some(Algorithm::Auto)
    }

    /// The ways to do a program that has collectives of these kinds.
    pub(super) fn alternatives(
        &self,
        operation: &str,
        kinds: &BTreeSet<Kind>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let open: Vec<Kind> = kinds.iter().copied().filter(|&kind| self.is_open(kind)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let count = open.iter().map(|&kind| Algorithm::choices(kind).count()).fold(1, usize::saturating_mul);
        let most = MOST_WAYS.min(MOST_TEXT / operation.len().max(1));
        if count > most {
            let words: Vec<_> = open.iter().map(|kind| kind.word()).collect();
            let most = if most == MOST_WAYS { most.to_string() } else { format!("{most} for a file of its size") };
            let text = format!("`auto` of {} makes {count} ways to do the program", words.join(", "));
            let help = "name the algorithm of some, as in `kinds: { all-reduce: { algorithm: ring } }`";
            return Err(refused(format!("collectives: {text}, more than {most}; {help}")));
        }
        let mut ways = vec![Vec::new()];
        for kind in open {
            let with = |way: Vec<(Kind, Algorithm)>| {
                Algorithm::choices(kind).map(move |algorithm| [&way[..], &[(kind, algorithm)]].concat())
            };
            ways = ways.into_iter().flat_map(with).collect();
        }
        let given: Json = serde_json::from_str(operation).unwrap_or_default();
        let given = &given["params"]["collectives"];
        choose(operation, "collectives", None, ways.iter().map(|way| chosen(given, way)), out)
    }
}

/// What is chosen for a person, and the map with it.
fn chosen(given: &Json, way: &[(Kind, Algorithm)]) -> (String, Json) {
    let mut map = given.clone();
    let word = |&(kind, algorithm): &(Kind, Algorithm)| format!("{} {}", kind.word(), algorithm.word());
    for (kind, algorithm) in way {
        map["kinds"][kind.word()]["algorithm"] = json!(algorithm.word());
    }
    (way.iter().map(word).collect::<Vec<_>>().join(", "), map)
}
