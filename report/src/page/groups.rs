//! Transfers grouped by where they come from: by source while these are few, else by a node above.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::json::{NodeRow, TransferRow};

/// Which group each transfer is in.
pub(super) struct Grouping<'a> {
    /// Ends the sentence "transfers are grouped by …".
    pub(super) by: String,
    /// In the order in which they occur.
    pub(super) names: Vec<Cow<'a, str>>,
    /// Per transfer.
    pub(super) of: Vec<usize>,
}

impl<'a> Grouping<'a> {
    /// At most `most` groups. Where all nodes above are still too many, those of few bytes are put together.
    pub(super) fn new(transfers: &'a [TransferRow<'a>], nodes: &'a [NodeRow<'a>], most: usize) -> Self {
        let mut sources = Self::by_source(transfers);
        let above = above(nodes);
        let mut levels = 0;
        while sources.names.len() > most && sources.rise(&above) {
            levels += 1;
        }
        sources.by = match levels {
            0 => "source".to_owned(),
            1 => "the node above their source".to_owned(),
            _ => format!("the node {levels} levels above their source"),
        };
        if sources.names.len() > most {
            sources.join(transfers, most);
        }
        sources
    }

    fn by_source(transfers: &'a [TransferRow<'a>]) -> Self {
        let (mut names, mut places) = (Vec::new(), HashMap::new());
        let of = transfers.iter().map(|transfer| {
            let name = &*transfer.from;
            *places.entry(name).or_insert_with(|| {
                names.push(Cow::Borrowed(name));
                names.len() - 1
            })
        });
        let of = of.collect();
        Self { by: String::new(), names, of }
    }

    /// Goes one level up, where there is one.
    fn rise(&mut self, above: &HashMap<&'a str, &'a str>) -> bool {
        let (mut names, mut places) = (Vec::new(), HashMap::new());
        let risen = self.names.iter().map(|name| {
            let name = above.get(&**name).map_or_else(|| name.clone(), |above| Cow::Borrowed(*above));
            *places.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            })
        });
        let risen: Vec<usize> = risen.collect();
        let any = names != self.names;
        self.of.iter_mut().for_each(|group| *group = risen[*group]);
        self.names = names;
        any
    }

    /// Keeps the groups with most bytes, and puts the others together as the last one.
    fn join(&mut self, transfers: &[TransferRow<'_>], most: usize) {
        let mut bytes = vec![0_u128; self.names.len()];
        for (transfer, &group) in transfers.iter().zip(&self.of) {
            bytes[group] += u128::from(transfer.bytes);
        }
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by_key(|&group| (std::cmp::Reverse(bytes[group]), group));
        let others = order.split_off(most.saturating_sub(1));
        order.sort_unstable();
        let places: BTreeMap<usize, usize> = order.iter().enumerate().map(|(to, &from)| (from, to)).collect();
        self.of.iter_mut().for_each(|group| *group = places.get(group).copied().unwrap_or(places.len()));
        self.names = order.iter().map(|&group| self.names[group].clone()).collect();
        self.names.push(Cow::Owned(format!("{} others", others.len())));
    }
}

/// The name of each node's parent, by its own name.
fn above<'a>(nodes: &'a [NodeRow<'a>]) -> HashMap<&'a str, &'a str> {
    let names: HashMap<u32, &str> = nodes.iter().map(|node| (node.id, &*node.name)).collect();
    nodes.iter().filter_map(|node| Some((&*node.name, *names.get(&node.parent?)?))).collect()
}
