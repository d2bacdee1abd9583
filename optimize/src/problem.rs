//! The problem of a search: what is varied, by which method, and what is best.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::PS_PER_S;

/// What a search varies: one kind of decision, or several together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vary {
    /// The order in which each source sends.
    Order,
    /// Which rank runs on which device.
    Placement,
    /// Values of the scenario.
    Parameters,
    /// Several of these: each candidate is one of each.
    Joint(Kinds),
}

/// The kinds of decisions that candidates differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds {
    /// The order in which each source sends.
    pub order: bool,
    /// Which rank runs on which device.
    pub placement: bool,
    /// Values of the scenario.
    pub parameters: bool,
}

impl Vary {
    /// The single kinds, in the order in which help and errors list them.
    pub const ALL: [Self; 3] = [Self::Order, Self::Placement, Self::Parameters];

    /// What these kinds are together; none where there is none, or one twice.
    #[must_use]
    pub fn of(kinds: &[Self]) -> Option<Self> {
        let mut all = Kinds::default();
        for kind in kinds {
            let new = match kind {
                Self::Order => &mut all.order,
                Self::Placement => &mut all.placement,
                Self::Parameters => &mut all.parameters,
                Self::Joint(_) => return None,
            };
            if std::mem::replace(new, true) {
                return None;
            }
        }
        match kinds {
            [] => None,
            [kind] => Some(*kind),
            _ => Some(Self::Joint(all)),
        }
    }

    /// The kinds of decisions.
    #[must_use]
    pub fn kinds(self) -> Kinds {
        match self {
            Self::Order => Kinds { order: true, ..Kinds::default() },
            Self::Placement => Kinds { placement: true, ..Kinds::default() },
            Self::Parameters => Kinds { parameters: true, ..Kinds::default() },
            Self::Joint(kinds) => kinds,
        }
    }

    /// Whether this kind varies.
    #[must_use]
    pub fn has(self, kind: Self) -> bool {
        self.singles().any(|own| own == kind)
    }

    /// Its kinds, each alone, in the order of [`Self::ALL`].
    pub fn singles(self) -> impl Iterator<Item = Self> {
        let Kinds { order, placement, parameters } = self.kinds();
        let varies = [order, placement, parameters];
        Self::ALL.into_iter().zip(varies).filter(|(_, varies)| *varies).map(|(kind, _)| kind)
    }

    /// The words used in scenario files and results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Placement => "placement",
            Self::Parameters => "parameters",
            Self::Joint(Kinds { order, placement, parameters }) => match (order, placement, parameters) {
                (true, true, true) => "[order, placement, parameters]",
                (true, true, false) => "[order, placement]",
                (true, false, _) => "[order, parameters]",
                (false, ..) => "[placement, parameters]",
            },
        }
    }

    /// The methods that search for it.
    #[must_use]
    pub fn methods(self) -> &'static [Method] {
        match self {
            Self::Order => {
                &[Method::Auto, Method::Exhaustive, Method::BranchAndBound, Method::Anneal, Method::LocalSearch]
            }
            Self::Placement => &[Method::Auto, Method::Exhaustive, Method::Bisection, Method::LocalSearch],
            Self::Parameters | Self::Joint(_) => &[Method::Auto, Method::Exhaustive, Method::LocalSearch],
        }
    }
}

/// One word, or a list of several.
impl Serialize for Vary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Joint(_) => to.collect_seq(self.singles().map(Self::word)),
            _ => to.serialize_str(self.word()),
        }
    }
}

impl<'de> Deserialize<'de> for Vary {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Words {
            One(String),
            Several(Vec<String>),
        }
        let words = match Words::deserialize(from)? {
            Words::One(word) => vec![word],
            Words::Several(words) => words,
        };
        let kinds: Result<Vec<Self>, String> = words.iter().map(|word| word.parse()).collect();
        let kinds = kinds.map_err(D::Error::custom)?;
        Self::of(&kinds).ok_or_else(|| D::Error::custom("each of what varies is named once"))
    }
}

impl FromStr for Vary {
    type Err = String;

    /// One word.
    fn from_str(text: &str) -> Result<Self, String> {
        by_word(text, Self::ALL, Self::word)
    }
}

fn by_word<T: Copy, const N: usize>(text: &str, all: [T; N], word: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.into_iter().find(|&one| word(one) == text);
    found.ok_or_else(|| format!("`{text}` is not one of {}", all.map(word).join(", ")))
}

/// How a search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// What fits the size.
    #[default]
    Auto,
    /// All candidates.
    Exhaustive,
    /// A proven best one by bounds.
    BranchAndBound,
    /// A good one by simulated annealing.
    Anneal,
    /// A good placement by recursive bisection.
    Bisection,
    /// A good candidate by moves from one to the next, each simulated.
    LocalSearch,
}

impl Method {
    /// All of them, in the order in which help and errors list them.
    pub const ALL: [Self; 6] =
        [Self::Auto, Self::Exhaustive, Self::BranchAndBound, Self::Anneal, Self::Bisection, Self::LocalSearch];

    /// The word used in scenario files and results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exhaustive => "exhaustive",
            Self::BranchAndBound => "branch-and-bound",
            Self::Anneal => "anneal",
            Self::Bisection => "bisection",
            Self::LocalSearch => "local-search",
        }
    }

    /// Whether it never simulates: the arithmetic of orders by the makespan, or of costs of pairs of devices, is all it has.
    #[must_use]
    pub fn is_fast(self) -> bool {
        matches!(self, Self::BranchAndBound | Self::Anneal | Self::Bisection)
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        by_word(text, Self::ALL, Self::word)
    }
}

/// The value of a candidate: the search minimises it, a throughput alone it maximises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The simulated time of everything, ps.
    #[default]
    Makespan,
    /// Of a placement: weights times costs per level.
    Distance,
    /// Of a placement: weights times latencies, relative to the longest.
    Latency,
    /// Of a placement: weights over bandwidths, relative to the narrowest.
    Bandwidth,
    /// The latest end of some items, ps.
    End,
    /// The sum of weights times the ends of some items, ps.
    Sum,
    /// The largest weight times end of some items, ps.
    Max,
    /// Bytes that some items carry over the time from their first start to their last end, bytes per second.
    Throughput,
}

impl Objective {
    /// All of them, in the order in which help and errors list them.
    pub const ALL: [Self; 8] = [
        Self::Makespan,
        Self::Distance,
        Self::Latency,
        Self::Bandwidth,
        Self::End,
        Self::Sum,
        Self::Max,
        Self::Throughput,
    ];

    /// Whether it is a cost of pairs of devices, which only a placement changes.
    #[must_use]
    pub fn is_cost(self) -> bool {
        matches!(self, Self::Distance | Self::Latency | Self::Bandwidth)
    }

    /// Whether its values are times, in ps.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self, Self::Makespan | Self::End | Self::Sum | Self::Max)
    }

    /// A value that is the smaller the better as people know it: of a throughput, in ps per byte, bytes per second.
    #[must_use]
    pub fn natural(self, value: f64) -> f64 {
        if self == Self::Throughput { PS_PER_S / value } else { value }
    }

    /// Whether the scenario must name the items that it is about.
    #[must_use]
    pub fn needs_items(self) -> bool {
        matches!(self, Self::End | Self::Sum | Self::Max)
    }

    /// The word used in scenario files and results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Distance => "distance",
            Self::Latency => "latency",
            Self::Bandwidth => "bandwidth",
            Self::End => "end",
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Throughput => "throughput",
        }
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        by_word(text, Self::ALL, Self::word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        assert!(Vary::ALL.into_iter().all(|v| v.word().parse() == Ok(v)));
        assert!(Method::ALL.into_iter().all(|m| m.word().parse() == Ok(m)));
        assert!(Objective::ALL.into_iter().all(|o| o.word().parse() == Ok(o)));
        assert_eq!("Order".parse::<Vary>(), Err("`Order` is not one of order, placement, parameters".to_owned()));
    }
}
