//! One event of a trace.

use std::io::Write;

use weir_plugin_api::SimTime;

use super::json::{Args, millionths, quoted};

/// What an event is; `ph` in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventKind {
    /// `M`: the name of a process or thread.
    Metadata,
    /// `b`, `e`: begin and end of a slice that may overlap others. Its id is one of the process, not of the whole trace:
    /// Perfetto shows slices with global ids apart from all processes.
    Async { id: u64, category: &'static str, is_begin: bool },
    /// `X`: a slice of a thread, in which none overlaps.
    Complete { until: SimTime, category: &'static str },
    /// `C`: a value from now on.
    Counter,
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) at: SimTime,
    pub(super) name: String,
    pub(super) args: Option<Args>,
}

impl Event {
    pub(super) fn named(pid: u32, tid: u32, name: &str, args: Args) -> Self {
        Self { kind: EventKind::Metadata, pid, tid, at: SimTime::ZERO, name: name.to_owned(), args: Some(args) }
    }

    /// One line without its end.
    pub(super) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Self { kind, pid, tid, at, name, args } = self;
        let (name, at) = (quoted(name), millionths(at.0));
        match kind {
            EventKind::Metadata => write!(out, r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":{name}"#)?,
            EventKind::Async { id, category, is_begin } => {
                let ph = if *is_begin { 'b' } else { 'e' };
                write!(
                    out,
                    r#"{{"ph":"{ph}","cat":"{category}","id2":{{"local":"{id:#x}"}},"pid":{pid},"tid":{tid},"ts":{at},"name":{name}"#
                )?;
            }
            EventKind::Complete { until, category } => {
                let span = millionths(until.0.saturating_sub(self.at.0));
                write!(
                    out,
                    r#"{{"ph":"X","cat":"{category}","pid":{pid},"tid":{tid},"ts":{at},"dur":{span},"name":{name}"#
                )?;
            }
            EventKind::Counter => write!(out, r#"{{"ph":"C","pid":{pid},"tid":{tid},"ts":{at},"name":{name}"#)?,
        }
        match args {
            Some(args) => write!(out, r#","args":{}}}"#, args.clone().finish()),
            None => write!(out, "}}"),
        }
    }
}
