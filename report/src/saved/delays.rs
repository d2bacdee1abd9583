//! What a transfer says of its delay: parts of its time that are no parts of it.

use super::amounts::{above, differ};
use crate::Delay;
use crate::json::TransferRow;

/// The first contradiction.
pub(super) fn contradiction(row: &TransferRow<'_>) -> Option<String> {
    let (id, delay) = (&row.id, row.delay.as_ref()?);
    let times = row.ready_s.zip(row.start_s).zip(row.end_s.zip(row.alone_s));
    let Some(((ready, start), (end, alone))) = times else {
        return Some(format!("`{id}` has `delay` without its time alone, or its end"));
    };
    let parts = alone + delay.waiting_s + delay.blocked_s.unwrap_or(0.0) + delay.cut_s;
    let took = end - ready;
    if differ(took, parts) {
        return Some(format!("`{id}` took {took} s, but alone_s and the parts of `delay` are {parts} s"));
    }
    let (key, part) = of_parts(delay, (start - ready, end - start, alone), row.sent_s.is_some())?;
    Some(format!("`{id}` has delay.{key} {part}, which is no part of its time"))
}

/// It waits before its start, and is blocked after that; no more than its time alone is saved. Its own limit is a part of its
/// time alone, and costs time: packets alone may meet in another way without it.
fn of_parts(
    delay: &Delay,
    (queued, under_way, alone): (f64, f64, f64),
    has_packets: bool,
) -> Option<(&'static str, f64)> {
    let Delay { waiting_s, blocked_s, cut_s, own_limit_s } = *delay;
    let blocked_s = blocked_s.unwrap_or(0.0);
    let least = if has_packets { -alone } else { 0.0 };
    let parts = [
        ("waiting_s", waiting_s, above(waiting_s, queued)),
        ("blocked_s", blocked_s, above(blocked_s, under_way)),
        ("cut_s", cut_s, above(-cut_s, alone)),
        ("own_limit_s", own_limit_s, above(own_limit_s, alone) || above(least, own_limit_s)),
    ];
    parts.into_iter().find(|&(_, _, is_off)| is_off).map(|(key, part, _)| (key, part))
}
