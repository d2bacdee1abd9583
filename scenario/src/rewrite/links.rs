//! Gives links of a topology other types: in the place where the type of a link is written. A name with brackets, or with
//! `repeat`, that stands for nodes whose links differ becomes several names, in the same order.

use std::ops::Range;

use crate::brackets::NamePattern;
use crate::source::Span;
use crate::yaml::{Data, Entry, Scalar, Value};

/// Which type each link gets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkChange {
    /// Types as YAML texts: names of types, or maps in the place of names.
    pub types: Vec<String>,
    /// Per pair of directed links, in their order, one of `types`; `None` leaves a link as it is.
    pub of: Vec<Option<u32>>,
}

impl LinkChange {
    /// Whether any link gets another type.
    pub(super) fn changes_any(&self) -> bool {
        self.of.iter().any(Option::is_some)
    }
}

/// The types of links, with the texts read.
pub(super) struct LinkEdit<'a> {
    pub(super) types: Vec<Value>,
    /// No fewer than there are pairs of links ([`pairs_of`]).
    pub(super) of: &'a [Option<u32>],
}

impl LinkEdit<'_> {
    /// Changes the types of a topology's links.
    pub(super) fn apply(&self, topology: &mut Value) {
        let Data::Mapping(sections) = &mut topology.data else { return };
        let mut at = 0;
        for section in sections.iter_mut().filter(|e| &*e.key == "tree") {
            if let Data::Mapping(roots) = &mut section.value.data {
                at = pairs(roots, true);
                *roots = self.nodes(roots, &self.of[..at], true);
            }
        }
        for section in sections.iter_mut().filter(|e| &*e.key == "links") {
            if let Data::Sequence(items) = &mut section.value.data {
                *items = items.iter().flat_map(|item| self.lateral(item, &mut at)).collect();
            }
        }
    }

    /// The nodes of a map with the types that `of` gives the links to and below them.
    fn nodes(&self, entries: &[Entry], of: &[Option<u32>], roots: bool) -> Vec<Entry> {
        let (mut out, mut rest) = (Vec::new(), of);
        for entry in entries {
            let each = pairs_of_one(entry, roots);
            let names = names(entry);
            let count = names.count() as usize;
            let (part, after) = rest.split_at(each * count);
            rest = after;
            if part.iter().all(Option::is_none) {
                out.push(entry.clone());
                continue;
            }
            let runs = runs(count, |a, b| part.chunks(each).nth(a) == part.chunks(each).nth(b));
            for run in &runs {
                let value = self.node(&entry.value, &part[run.start * each..(run.start + 1) * each], roots);
                if runs.len() == 1 {
                    out.push(Entry { value, ..entry.clone() });
                    continue;
                }
                let named = |key: String| Entry { key: key.into(), value: without_repeat(&value), ..entry.clone() };
                let all: Vec<String> = run.clone().map(|i| names.name(i as u64)).collect();
                out.extend(bracketed(&all).into_iter().map(named));
            }
        }
        out
    }

    /// One node, the link to its parent first.
    fn node(&self, value: &Value, of: &[Option<u32>], root: bool) -> Value {
        let mut value = value.clone();
        let Data::Mapping(fields) = &mut value.data else { return value };
        let (own, below) = of.split_at(usize::from(!root));
        for field in fields {
            match (&*field.key, &mut field.value.data) {
                ("link", _) => {
                    if let Some(new) = own.first().and_then(|own| self.type_of(*own)) {
                        field.value = in_place_of(&field.value, new);
                    }
                }
                ("children", Data::Mapping(children)) => *children = self.nodes(children, below, false),
                _ => {}
            }
        }
        value
    }

    fn type_of(&self, of: Option<u32>) -> Option<Value> {
        self.types.get(of? as usize).cloned()
    }

    /// An item of `links`, in several where its links differ; `at` is the first of them.
    fn lateral(&self, item: &Value, at: &mut usize) -> Vec<Value> {
        let Some([first, second]) = ends(item) else { return vec![item.clone()] };
        let of = &self.of[*at..*at + lateral_pairs(&first, &second)];
        *at += of.len();
        if of.iter().all(Option::is_none) {
            return vec![item.clone()];
        }
        let runs = runs(of.len(), |a, b| of[a] == of[b]);
        if runs.len() == 1 {
            return vec![self.between(item, None, of[0])];
        }
        let mut out = Vec::new();
        for run in runs {
            let side = |names: &NamePattern| -> Vec<String> {
                let name = |i: usize| names.name((i as u64).min(names.count() - 1));
                let all: Vec<String> = run.clone().map(name).collect();
                if names.count() == 1 { vec![all[0].clone()] } else { bracketed(&all) }
            };
            match (&side(&first)[..], &side(&second)[..]) {
                ([a], [b]) => out.push(self.between(item, Some((a, b)), of[run.start])),
                _ => out.extend(run.clone().map(|i| {
                    let name = |names: &NamePattern| names.name((i as u64).min(names.count() - 1));
                    self.between(item, Some((&name(&first), &name(&second))), of[i])
                })),
            }
        }
        out
    }

    /// An item of `links` with other ends and another type.
    fn between(&self, item: &Value, ends: Option<(&str, &str)>, of: Option<u32>) -> Value {
        let mut item = item.clone();
        let Data::Mapping(fields) = &mut item.data else { return item };
        for field in fields {
            match (&*field.key, &mut field.value.data) {
                ("type", _) => {
                    if let Some(new) = self.type_of(of) {
                        field.value = in_place_of(&field.value, new);
                    }
                }
                ("between", Data::Sequence(names)) => {
                    let Some((a, b)) = ends else { continue };
                    *names = [a, b].map(text).into();
                }
                _ => {}
            }
        }
        item
    }
}

/// The type that takes the place of another: of one that stands in place, what the new one does not say is kept, but for
/// the bandwidth, which has several forms.
fn in_place_of(old: &Value, new: Value) -> Value {
    let mut new = Value { span: old.span, ..new };
    if let (Data::Mapping(old), Data::Mapping(new)) = (&old.data, &mut new.data) {
        let kept = old.iter().filter(|e| matches!(&*e.key, "latency" | "kind" | "shared"));
        let missing: Vec<Entry> = kept.filter(|e| new.iter().all(|n| n.key != e.key)).cloned().collect();
        new.extend(missing);
    }
    new
}

fn text(text: &str) -> Value {
    Value { span: Span::default(), data: Data::Scalar(Scalar { text: text.into(), plain: true }) }
}

/// The names of an entry of the tree, which was read before.
fn names(entry: &Entry) -> NamePattern {
    let repeat = match entry.value.get("repeat").map(|value| &value.data) {
        Some(Data::Scalar(repeat)) => repeat.text.parse().ok(),
        _ => None,
    };
    match repeat {
        Some(n) => NamePattern::numbered(&entry.key, n),
        None => NamePattern::read(&entry.key).unwrap_or_else(|_| NamePattern::numbered(&entry.key, 1)),
    }
}

/// Pairs of links of a topology without machines and networks.
pub(super) fn pairs_of(topology: &Value) -> usize {
    let tree = match topology.get("tree").map(|tree| &tree.data) {
        Some(Data::Mapping(roots)) => pairs(roots, true),
        _ => 0,
    };
    let items = match topology.get("links").map(|links| &links.data) {
        Some(Data::Sequence(items)) => &items[..],
        _ => &[],
    };
    let of = |item: &Value| ends(item).map_or(0, |[first, second]| lateral_pairs(&first, &second));
    items.iter().map(of).fold(tree, usize::saturating_add)
}

/// The ends of an item of `links`.
fn ends(item: &Value) -> Option<[NamePattern; 2]> {
    let Data::Sequence(ends) = &item.get("between")?.data else { return None };
    let end = |at: usize| match &ends.get(at)?.data {
        Data::Scalar(end) => NamePattern::read(&end.text).ok(),
        _ => None,
    };
    Some([end(0)?, end(1)?])
}

/// Pairs of links that an item of `links` stands for.
fn lateral_pairs(first: &NamePattern, second: &NamePattern) -> usize {
    first.count().max(second.count()) as usize
}

/// Pairs of links of all nodes of a map.
fn pairs(entries: &[Entry], roots: bool) -> usize {
    let of = |entry: &Entry| pairs_of_one(entry, roots).saturating_mul(names(entry).count() as usize);
    entries.iter().map(of).fold(0, usize::saturating_add)
}

/// Pairs of links of one of the nodes of an entry: its own, unless it is a root, and those below.
fn pairs_of_one(entry: &Entry, root: bool) -> usize {
    let below = match entry.value.get("children").map(|children| &children.data) {
        Some(Data::Mapping(children)) => pairs(children, false),
        _ => 0,
    };
    usize::saturating_add(below, usize::from(!root))
}

/// Neighbours that are the same.
fn runs(count: usize, same: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for i in 0..count {
        match runs.last_mut() {
            Some(run) if same(run.start, i) => run.end = i + 1,
            _ => runs.push(i..i + 1),
        }
    }
    runs
}

fn without_repeat(value: &Value) -> Value {
    let mut value = value.clone();
    if let Data::Mapping(fields) = &mut value.data {
        fields.retain(|field| &*field.key != "repeat");
    }
    value
}

/// Names in brackets where brackets stand for just these, else one by one.
fn bracketed(names: &[String]) -> Vec<String> {
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return Vec::new() };
    if names.len() == 1 {
        return names.to_vec();
    }
    let equal = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let mut before = equal;
    while !first.is_char_boundary(before) || first[..before].ends_with(|c: char| c.is_ascii_digit()) {
        before -= 1;
    }
    let digits = |name: &str| name[before..].bytes().take_while(u8::is_ascii_digit).count();
    let (from, to) = (before + digits(first), before + digits(last));
    let range = format!("{}[{}-{}]{}", &first[..before], &first[before..from], &last[before..to], &first[from..]);
    let fits = NamePattern::read(&range).is_ok_and(|pattern| {
        pattern.count() == names.len() as u64 && names.iter().zip(0..).all(|(name, i)| pattern.name(i) == *name)
    });
    if fits { vec![range] } else { names.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::bracketed;

    #[test]
    fn names_stand_in_brackets_where_these_mean_the_same() {
        for (names, expected) in [
            (&["gpu9", "gpu10", "gpu11"][..], &["gpu[9-11]"][..]),
            (&["x08", "x09", "x10"], &["x[08-10]"]),
            (&["n0/gpu", "n1/gpu"], &["n[0-1]/gpu"]),
            (&["gpu10", "gpu11"], &["gpu[10-11]"]),
            (&["gpu0", "gpu2"], &["gpu0", "gpu2"]),
            (&["a0b1", "a1b0"], &["a0b1", "a1b0"]),
            (&["é1", "é2"], &["é[1-2]"]),
            (&["a", "b"], &["a", "b"]),
            (&["one"], &["one"]),
        ] {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(bracketed(&names), expected, "{names:?}");
        }
    }
}
