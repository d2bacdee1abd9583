//! `events`: links that fail, are mended, slow down, or carry other traffic while the workload runs.
//!
//! ```text
//! { at, link, bandwidth } ─┐ by link ┌─► a list of states ─┐
//! { file: table.csv }     ─┘         └─►                   ├──► LinkChanges
//! { at, every, for, … }, { failures }, { load } ─► sources ┘
//! ```

mod places;
mod table;

use std::collections::BTreeMap;

use weir_plugin_api::{LinkId, SimDuration, SimTime};
use weir_sim_core::{ChangeSource, LinkChanges, LinkState, OnFailure, Steps};

use crate::context::{Context, Fields, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::format::{Definition, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::topology::Topology;
use crate::units::{self, Decimal};
use crate::yaml::{Data, Value};
use places::Places;

/// Changes that are listed, and sources of further ones, at most; *assumed*: about 100 MB.
const MOST: usize = 1_000_000;

/// Shape of the state of a link.
static STATE: Definition = Definition {
    name: "link_state",
    about: "`down`, `up`, a part of its own bandwidth such as `50%`, or another bandwidth.",
    shape: Shape::Text,
};

static LINKS: Definition = Definition {
    name: "links_that_change",
    about: "`all`, a kind of link, or pairs of nodes; names with brackets stand for several.",
    shape: Shape::Either(&[Shape::Text, Shape::List(1, &Shape::Tuple(2, 2, &Shape::Text))]),
};

/// An item of `events`.
pub(crate) static EVENT: KeyTable = KeyTable::new(
    "event",
    "A change of links.",
    &[
        optional("at", Shape::Named(&units::TIME), "When."),
        optional("every", Shape::Named(&units::TIME), "It comes again after so long; needs `for`."),
        optional("for", Shape::Named(&units::TIME), "How long it lasts; by default for good."),
        optional("link", Shape::Tuple(2, 2, &Shape::Text), "Both its nodes; both directions change."),
        optional("links", Shape::Named(&LINKS), ""),
        optional("bandwidth", Shape::Named(&STATE), ""),
        optional("file", Shape::Path, "CSV with the columns at,from,to,bandwidth: a change in each row."),
        optional("failures", Shape::Map(&FAILURES), "Links that fail at random."),
        optional("load", Shape::Map(&LOAD), "Other traffic that takes a part of links now and then."),
    ],
)
.in_one_of(&[&["at", "bandwidth"], &["file"], &["failures"], &["load"]]);

static FAILURES: KeyTable = KeyTable::new(
    "failures",
    "Each link fails at random, apart from the others; times are distributed exponentially.",
    &[
        optional("links", Shape::Named(&LINKS), "By default all."),
        required("mtbf", Shape::Named(&units::TIME), "The mean time from when it is up until it fails."),
        required("mttr", Shape::Named(&units::TIME), "The mean time until it is up again."),
        optional("bandwidth", Shape::Named(&STATE), "What is left of it meanwhile; by default `down`."),
        optional("seed", Shape::Whole(&[("minimum", 0)]), "By default 0."),
    ],
);

static LOAD: KeyTable = KeyTable::new(
    "background_load",
    "Other traffic takes a part of links now and then, of each apart from the others.",
    &[
        optional("links", Shape::Named(&LINKS), "By default all."),
        required("share", Shape::Text, "The part that it takes, such as `30%`."),
        required("on", Shape::Named(&units::TIME), "For how long; with `seed` the mean."),
        required("off", Shape::Named(&units::TIME), "The time between; with `seed` the mean."),
        optional(
            "seed",
            Shape::Whole(&[("minimum", 0)]),
            "With it times are distributed exponentially, without they are all the same.",
        ),
    ],
);

/// What becomes of transfers when a link goes down.
pub(crate) static ON_FAILURE: Definition = Definition {
    name: "on_failure",
    about: "What becomes of a transfer when a link of its route goes down: it waits and goes on (`wait`), waits and begins \
            again from its first byte (`restart`), sends the rest over another route (`reroute`), or ends the run with an error \
            (`fail`). `[reroute, restart]`: it sends all of it over another route.",
    shape: Shape::Either(&[
        Shape::Choice(|| ["wait", "restart", "reroute", "fail"].map(Into::into).to_vec()),
        Shape::Tuple(2, 2, &Shape::Choice(|| ["reroute", "restart"].map(Into::into).to_vec())),
    ]),
};

/// Reads `events` and `on_failure`.
pub(crate) fn read(
    context: &mut Context,
    files: &mut Files,
    (events, on_failure): (Option<&Value>, Option<&Value>),
    topology: &Topology,
) -> Read<LinkChanges> {
    let on_failure = match on_failure {
        Some(value) => on_failure_of(context, value)?,
        None => OnFailure::Wait,
    };
    let Some(list) = events else { return Ok(LinkChanges { sources: Vec::new(), on_failure }) };
    let mut reader = Reader {
        places: Places::new(topology),
        listed: BTreeMap::new(),
        sources: Vec::new(),
        count: 0,
        seeds: BTreeMap::new(),
    };
    let items = context.list(list, "`events`")?;
    context.each(items, |context, item| reader.item(context, files, item))?;
    let listed = reader.listed.into_iter().map(|(link, mut steps)| {
        // Of two at one time the last one stands.
        steps.sort_by_key(|&(time, _)| time);
        ChangeSource { links: vec![link], steps: Steps::Listed(steps) }
    });
    let sources = listed.chain(reader.sources).collect();
    Ok(LinkChanges { sources, on_failure })
}

/// A word, or what goes together.
fn on_failure_of(context: &mut Context, value: &Value) -> Read<OnFailure> {
    let Data::Sequence(items) = &value.data else { return context.parse(value, "`on_failure`", choice) };
    let mut both = context.each(items, |context, item| context.parse(item, "`on_failure`", choice))?;
    both.sort_unstable_by_key(|choice| choice.restarts());
    match both[..] {
        [OnFailure::Reroute, OnFailure::Restart] => Ok(OnFailure::RerouteRestart),
        _ => {
            let message = "`on_failure` takes one word, or two that go together";
            Err(context.error(value.span, message, "write one of the words, or `[reroute, restart]`"))
        }
    }
}

fn choice(text: &str) -> Result<OnFailure, Problem> {
    match text {
        "wait" => Ok(OnFailure::Wait),
        "restart" => Ok(OnFailure::Restart),
        "reroute" => Ok(OnFailure::Reroute),
        "fail" => Ok(OnFailure::Fail),
        _ => Err(Problem::new(format!("{} is none", quoted(text)), "write `wait`, `restart`, `reroute` or `fail`")),
    }
}

/// What has been read.
struct Reader<'a> {
    places: Places<'a>,
    /// Per directed link, its states in the order of the file.
    listed: BTreeMap<LinkId, Vec<(SimTime, LinkState)>>,
    sources: Vec<ChangeSource>,
    count: usize,
    /// Per seed, how many items have had it so far.
    seeds: BTreeMap<u64, u64>,
}

impl Reader<'_> {
    fn item(&mut self, context: &mut Context, files: &mut Files, item: &Value) -> Read<()> {
        let fields = context.fields(item, "an event", &EVENT)?;
        let whole =
            ["file", "failures", "load"].into_iter().find_map(|key| fields.entry(key).map(|entry| (key, entry)));
        let Some((key, entry)) = whole else { return self.timed(context, &fields) };
        if let Some(other) = EVENT.names().filter(|&name| name != key).find_map(|name| fields.entry(name)) {
            let message = format!("an event has `{key}` and {}", quoted(&other.key));
            return Err(context.error(other.key_span, message, "make two events of it"));
        }
        match key {
            "file" => self.table(context, files, &entry.value),
            "failures" => self.failures(context, &entry.value),
            _ => self.load(context, &entry.value),
        }
    }

    /// `{ at, link, bandwidth }`, perhaps with `for` and `every`.
    fn timed(&mut self, context: &mut Context, fields: &Fields<'_>) -> Read<()> {
        if let Some((at, value)) = ["at", "bandwidth"].into_iter().find_map(|key| match fields.get(key) {
            None => Some((key, fields.span)),
            Some(_) => None,
        }) {
            let help = "write `{ at: 2ms, link: [a, b], bandwidth: down }`";
            return Err(context.error(value, format!("an event needs `{at}`"), help));
        }
        let first = SimTime(fields.parse(context, "at", units::duration)?.0);
        let state = fields.parse(context, "bandwidth", state)?;
        let lasts = optional_time(context, fields, "for")?;
        let every = optional_time(context, fields, "every")?;
        let pairs = self.places.of_event(context, fields)?;
        match (lasts, every) {
            (None, None) => {
                pairs.into_iter().try_for_each(|pair| self.list(context, fields.span, pair, &[(first, state)]))
            }
            (Some(lasts), None) => {
                // Its end is no end of others.
                let steps = Steps::Listed(vec![(first, state), (first.after(lasts), LinkState::Up)]);
                pairs.into_iter().try_for_each(|pair| self.push(context, fields.span, pair, steps.clone()))
            }
            (Some(lasts), Some(every)) if lasts < every => {
                let steps = Steps::Periodic { first, every, lasts, state };
                pairs.into_iter().try_for_each(|pair| self.push(context, fields.span, pair, steps.clone()))
            }
            (Some(_), Some(_)) => {
                let message = "`for` is not below `every`: it would never end";
                Err(context.error(fields.span_of("for"), message, "give a longer `every`, or leave it out"))
            }
            (None, Some(_)) => {
                let message = "an event that comes `every` so often must end";
                Err(context.error(fields.span_of("every"), message, "give `for`, how long it lasts"))
            }
        }
    }

    fn failures(&mut self, context: &mut Context, value: &Value) -> Read<()> {
        let fields = context.fields(value, "`failures`", &FAILURES)?;
        let up = required_time(context, &fields, "mtbf")?;
        let lasts = required_time(context, &fields, "mttr")?;
        let state = fields.parse_or(context, "bandwidth", LinkState::Down, state)?;
        let seed = fields.parse_or(context, "seed", 0, |text| units::whole_number(text, u64::MAX))?;
        let item = self.seeded(seed);
        for pair in self.places.of(context, fields.get("links"))? {
            let stream = stream(item, pair);
            self.push(context, fields.span, pair, Steps::Random { seed, stream, begins_up: true, up, lasts, state })?;
        }
        Ok(())
    }

    fn load(&mut self, context: &mut Context, value: &Value) -> Read<()> {
        let fields = context.fields(value, "`load`", &LOAD)?;
        let taken = fields.parse(context, "share", |text| share(text, ""))?;
        if !(taken > 0.0 && taken < 1.0) {
            let help = "write a part above 0 and below 100 %, such as `30%`; a link that is down has `bandwidth: down`";
            return Err(context.error(fields.span_of("share"), "other traffic takes none or all of a link", help));
        }
        let state = LinkState::Share(1.0 - taken);
        let (on, off) = (required_time(context, &fields, "on")?, required_time(context, &fields, "off")?);
        let seed = fields
            .get("seed")
            .map(|value| context.parse(value, "`seed` of `load`", |text| units::whole_number(text, u64::MAX)));
        let seed = seed.transpose()?.map(|seed| (seed, self.seeded(seed)));
        for pair in self.places.of(context, fields.get("links"))? {
            let steps = match seed {
                Some((seed, item)) => {
                    let stream = stream(item, pair);
                    Steps::Random { seed, stream, begins_up: false, up: off, lasts: on, state }
                }
                None => Steps::Periodic { first: SimTime::ZERO, every: SimDuration(on.0 + off.0), lasts: on, state },
            };
            self.push(context, fields.span, pair, steps)?;
        }
        Ok(())
    }

    /// The number of an item among those with its seed: other items, and those with other seeds, do not change it.
    fn seeded(&mut self, seed: u64) -> u64 {
        let items = self.seeds.entry(seed).or_default();
        *items += 1;
        *items - 1
    }

    /// States of both directions of a link.
    fn list(
        &mut self,
        context: &mut Context,
        span: Span,
        pair: [LinkId; 2],
        steps: &[(SimTime, LinkState)],
    ) -> Read<()> {
        self.counted(context, span)?;
        for link in pair {
            self.listed.entry(link).or_default().extend_from_slice(steps);
        }
        Ok(())
    }

    fn push(&mut self, context: &mut Context, span: Span, links: [LinkId; 2], steps: Steps) -> Read<()> {
        self.counted(context, span)?;
        self.sources.push(ChangeSource { links: links.to_vec(), steps });
        Ok(())
    }

    fn counted(&mut self, context: &mut Context, span: Span) -> Read<()> {
        self.count += 1;
        if self.count > MOST {
            return Err(context.error(span, format!("more than {MOST} changes of links"), "name fewer links"));
        }
        Ok(())
    }
}

/// The stream of random numbers of a link: no two items with one seed have the same.
fn stream(item: u64, pair: [LinkId; 2]) -> u64 {
    item << 32 | u64::from(pair[0].0)
}

fn optional_time(context: &mut Context, fields: &Fields<'_>, key: &str) -> Read<Option<SimDuration>> {
    fields.get(key).map(|_| required_time(context, fields, key)).transpose()
}

fn required_time(context: &mut Context, fields: &Fields<'_>, key: &str) -> Read<SimDuration> {
    let time = fields.parse(context, key, units::duration)?;
    match time {
        SimDuration::ZERO => {
            Err(context.error(fields.span_of(key), format!("`{key}` is 0"), "give a time above 0, such as `1ms`"))
        }
        time => Ok(time),
    }
}

/// `down`, `up`, `50%` or `10GB/s`.
fn state(text: &str) -> Result<LinkState, Problem> {
    match text {
        "down" => Ok(LinkState::Down),
        "up" => Ok(LinkState::Up),
        _ if text.ends_with('%') => Ok(match share(text, MORE)? {
            0.0 => LinkState::Down,
            1.0 => LinkState::Up,
            part => LinkState::Share(part),
        }),
        _ => {
            let other = |problem: Problem| Problem::new(problem.message, "write `down`, `up`, `50%`, or `10GB/s`");
            let bandwidth = units::bandwidth(text).map_err(other)?;
            // As `0%`: nothing is left.
            if bandwidth.is_zero() {
                return Ok(LinkState::Down);
            }
            Ok(LinkState::Bandwidth(bandwidth.bytes_per_second(&Decimal::whole(1), text)?))
        }
    }
}

/// What is added to the help for a bandwidth above 100 %.
const MORE: &str = "; more than it was built for is a bandwidth, such as `20GB/s`";

/// `50%` as a part of 1; `more` is what the help says of more than all of it.
fn share(text: &str, more: &str) -> Result<f64, Problem> {
    let help = "write a part such as `50%`";
    let number = text.strip_suffix('%').map(str::trim_end);
    let number = number.ok_or_else(|| Problem::new(format!("{} is no part", quoted(text)), help))?;
    let part = units::decimal(number).map_err(|problem| Problem::new(problem.message, help))?.to_f64() / 100.0;
    if part > 1.0 {
        let help = format!("give a part, such as `50%`{more}");
        return Err(Problem::new(format!("{} is above 100 %", quoted(text)), help));
    }
    if part == 0.0 || part >= 1e-9 {
        return Ok(part);
    }
    Err(Problem::new(format!("{} is out of range", quoted(text)), "give 0 %, or from 1e-7 % to 100 %"))
}
