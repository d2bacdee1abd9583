//! Lateral links: `links: - { between: [rc0, rc1], type: qpi }`.

use super::kinds::KindId;
use super::limits::{NODES, too_many_links};
use super::link_type::{LINK, LinkType, LinkTypes};
use crate::brackets::NamePattern;
use crate::context::{Context, Read};
use crate::format::{KeyTable, Shape, required};
use crate::source::Span;
use crate::yaml::Value;

/// An item of `links`.
pub(super) static LATERAL: KeyTable = KeyTable::new(
    "lateral_link",
    "A link, or several, between nodes that are not parent and child.",
    &[
        required("type", Shape::Named(&LINK), ""),
        required(
            "between",
            Shape::Tuple(2, 2, &Shape::Text),
            "Both ends; names with brackets stand for several nodes.",
        ),
    ],
);

/// An item of `links`, not yet looked up: a machine has it once, however many there are.
#[derive(Debug)]
pub(crate) struct Lateral {
    pub(super) made_of: MadeOf,
    pub(super) first: End,
    pub(super) second: End,
    pub(super) between: Span,
}

/// The names on one side.
#[derive(Debug)]
pub(super) struct End {
    pub(super) names: NamePattern,
    pub(super) span: Span,
}

/// What links beside the tree are made of.
#[derive(Clone, Debug)]
pub(super) struct MadeOf {
    pub(super) link: LinkType,
    pub(super) kind: KindId,
    /// Where it is written, of a type in place.
    pub(super) place: Span,
}

impl Lateral {
    pub(super) fn count(&self) -> u64 {
        self.first.names.count().max(self.second.names.count())
    }
}

impl End {
    pub(super) fn read(context: &mut Context, value: &Value, what: &str) -> Read<Self> {
        Ok(Self { names: context.parse(value, what, NamePattern::read)?, span: value.span })
    }
}

/// Reads the list; what is wrong with an item is written down, and does not hide the next.
pub(super) fn read(context: &mut Context, types: &mut LinkTypes, list: Option<&Value>) -> Read<Vec<Lateral>> {
    let (mut all, mut left) = (Vec::new(), NODES);
    let Some(list) = list else { return Ok(all) };
    for item in context.list(list, "`links`")? {
        all.extend(lateral(context, types, item, &mut left));
        if context.full() {
            break;
        }
    }
    Ok(all)
}

fn lateral(context: &mut Context, types: &mut LinkTypes, item: &Value, left: &mut u64) -> Read<Lateral> {
    let fields = context.fields(item, "a lateral link", &LATERAL)?;
    let value = fields.require(context, "type")?;
    let (link, name) = types.resolve(context, value)?;
    let kind = link.kind.unwrap_or_else(|| name.map_or(KindId::OTHER, |name| types.kinds.of(name)));
    let between = fields.require(context, "between")?;
    let [first, second] = context.list(between, "`between`")? else {
        return Err(context.error(between.span, "a link joins two nodes", "write `between: [rc0, rc1]`"));
    };
    let [first, second] = [first, second].map(|end| End::read(context, end, "an end of a lateral link"));
    let lateral = Lateral {
        made_of: MadeOf { link, kind, place: item.span },
        first: first?,
        second: second?,
        between: between.span,
    };
    let (n, m) = (lateral.first.names.count(), lateral.second.names.count());
    if n != m && n != 1 && m != 1 {
        let message = format!("{n} nodes on one side and {m} on the other");
        return Err(context.error(between.span, message, "give as many on both sides, or one node on one side"));
    }
    if lateral.count() > *left {
        return Err(too_many_links(context, between.span));
    }
    *left -= lateral.count();
    Ok(lateral)
}
