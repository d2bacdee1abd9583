//! Saved results: what a line is, by its key `kind`, and its value, which has the type that weir writes.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::PageError;
use crate::ResultKind;
use crate::json::{LinkRow, NodeRow, TransferRow};

/// Keys of what weir writes that is no result by itself.
const PARTS: [(&str, &str); 2] = [
    ("weir_part", "this is a part of a search: join all parts with `weir merge` first"),
    (
        "alone_s",
        "this is a transfer that `weir run --stream` wrote: give the scenario itself, or the result of a run without \
         --stream",
    ),
];

/// What a line of JSON is, or why it is no result.
pub(super) fn kind(text: &str) -> Result<ResultKind, PageError> {
    let keys: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    if let Some((_, what)) = PARTS.iter().find(|(key, _)| keys.contains_key(*key)) {
        return Err(PageError::damaged(*what));
    }
    if !keys.contains_key("weir") {
        return Err(PageError::damaged(
            "this is not a result of weir: a page shows scenarios, and what `weir run`, `optimize`, `tune` and \
             `validate` print with --json",
        ));
    }
    let kind = keys.get("kind").and_then(|kind| serde_json::from_str(kind.get()).ok());
    kind.ok_or_else(|| {
        PageError::damaged(
            "this is not a result of weir as this version writes it: it has no known `kind`; save it again",
        )
    })
}

/// Why a page does not show a result, and what to give instead.
pub(super) fn unshown(kind: ResultKind) -> PageError {
    PageError::damaged(match kind {
        ResultKind::Explanation => {
            "this is a result of `weir explain`: give the scenario itself, its page has the explanation"
        }
        ResultKind::Calibration => "this is a result of `weir calibrate`: give that of `weir validate`",
        _ => "this is a list of plugins: give the result of a run",
    })
}

pub(super) fn read<'a, T: Deserialize<'a>>(kind: ResultKind, text: &'a str) -> Result<T, PageError> {
    crate::saved::read(kind, text).map_err(PageError::Damaged)
}

pub(super) fn faulty(kind: ResultKind, fault: &str) -> PageError {
    PageError::Damaged(crate::saved::faulty(kind, fault))
}

/// What types do not say of the lists of a run: something listed twice, or a node that does not come after its parent, so
/// that there is no way up from it.
pub(super) fn fault_of_lists(
    transfers: &[TransferRow<'_>],
    links: &[LinkRow<'_>],
    nodes: &[NodeRow<'_>],
) -> Option<String> {
    let mut seen = HashSet::new();
    let orphan = nodes.iter().enumerate().find_map(|(i, node)| {
        let parent = node.parent.filter(|parent| !seen.contains(parent));
        seen.insert(node.id);
        Some(format!("nodes[{i}].parent: {} is not an earlier node", parent?))
    });
    twice("transfers", transfers.iter().map(|transfer| Some(&transfer.id)))
        .or_else(|| twice("links", links.iter().map(|link| link.id)))
        .or_else(|| twice("nodes", nodes.iter().map(|node| Some(node.id))))
        .or(orphan)
}

fn twice<I: Hash + Eq + Clone + Display>(list: &str, ids: impl Iterator<Item = Option<I>>) -> Option<String> {
    let mut seen = HashSet::new();
    let mut known = ids.enumerate().filter_map(|(i, id)| Some((i, id?)));
    let (i, id) = known.find(|(_, id)| !seen.insert(id.clone()))?;
    Some(format!("{list}[{i}].id: {id} occurs twice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_types_do_not_say_is_found() {
        let node = |id, parent| NodeRow { id, name: "n".into(), kind: "gpu".into(), parent };
        let fault = |nodes: &[NodeRow<'_>]| fault_of_lists(&[], &[], nodes);
        assert_eq!(fault(&[node(0, None), node(1, Some(0))]), None);
        assert_eq!(
            fault(&[node(0, None), node(1, Some(1))]).as_deref(),
            Some("nodes[1].parent: 1 is not an earlier node")
        );
        assert_eq!(fault(&[node(0, None), node(0, None)]).as_deref(), Some("nodes[1].id: 0 occurs twice"));
    }
}
