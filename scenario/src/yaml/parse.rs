//! Builds the tree from parser events, without recursion: depth, aliases and repeated keys are bounded or refused here.

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};
use rustc_hash::FxHashMap;

use super::{DEPTH, Data, Entry, Scalar, Value};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::source::Span;

/// Values that aliases may repeat in all.
const REPLAYED: usize = 10_000;
/// Anchors at most; *assumed*, so that a file of anchors alone stays small in memory.
const ANCHORS: usize = 10_000;

/// Decodes the text of a source into one tree.
pub(crate) fn parse(context: &mut Context, source: u32) -> Read<Value> {
    let text = context.sources.text(source);
    let mut builder = Builder::new(context, source);
    for event in Parser::new_from_str_with_options(&text, options()) {
        match event {
            Ok((event, span)) => builder.event(event, span)?,
            Err(error) => {
                let (span, problem) = scan_problem(source, &text, &error);
                return Err(context.error(span, problem.message, problem.help));
            }
        }
    }
    let root = builder.root.take();
    root.filter(|value| !value.is_null()).ok_or_else(|| {
        let start = Span { source, line: 1, column: 1, width: 1 };
        let name = context.sources.position(start).file;
        if name.starts_with("--") {
            return context.error(start, format!("`{name}` is empty"), "give it a value, or leave the option out");
        }
        context.error(start, "the file is empty", "`weir init` writes a commented scenario to start from")
    })
}

/// The parser's own limits, beside those of [`Builder`]: it must not look ahead or nest without bound.
fn options() -> Options {
    granit_parser::options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH, emit_comments: false }
}

/// The first tab at or after a place; the parser itself names the beginning of the text that the tab is in.
fn tab_after(text: &str, span: Span) -> Span {
    let (mut line, mut column, mut last) = (1, 1, ' ');
    for c in text.chars() {
        if c == '\t' && (line, column) >= (span.line, span.column) {
            return Span { line, column, ..span };
        }
        column += 1;
        if matches!(c, '\n' | '\r') {
            line += u32::from(!(c == '\n' && last == '\r'));
            column = 1;
        }
        last = c;
    }
    span
}

/// A refusal of the parser itself.
fn scan_problem(source: u32, text: &str, error: &ScanError) -> (Span, Problem) {
    let marker = error.marker();
    let mut span = Span { source, line: marker.line().max(1) as u32, column: marker.col() as u32 + 1, width: 1 };
    let problem = match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(),
        ErrorKind::UnknownAnchor => {
            Problem::new("an alias names an anchor that is not defined before it", "write the value in full")
        }
        kind @ (ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart) => {
            span = tab_after(text, span);
            Problem::new(format!("not valid YAML: {kind}"), "indent with spaces")
        }
        kind => Problem::new(
            format!("not valid YAML: {kind}"),
            "check brackets, quotes and indentation here and on the line before",
        ),
    };
    (span, problem)
}

fn too_deep() -> Problem {
    Problem::new(format!("nested deeper than {DEPTH} levels"), format!("use at most {DEPTH} levels of nesting"))
}

/// A list or map whose end has not come yet.
struct Frame {
    span: Span,
    kind: Kind,
}

enum Kind {
    Sequence(Vec<Value>),
    Mapping(Vec<Entry>, Option<(Box<str>, Span)>),
}

/// What an anchor stands for. Values are named by their place, not copied: anchors may nest.
enum Anchor {
    /// Indices from the root down.
    Place(Vec<u32>),
    Key(Value),
}

struct Builder<'a> {
    context: &'a mut Context,
    source: u32,
    stack: Vec<Frame>,
    root: Option<Value>,
    documents: usize,
    anchors: FxHashMap<usize, Anchor>,
    replayed: usize,
}

impl<'a> Builder<'a> {
    fn new(context: &'a mut Context, source: u32) -> Self {
        let (stack, anchors) = (Vec::new(), FxHashMap::default());
        Self { context, source, stack, root: None, documents: 0, anchors, replayed: 0 }
    }

    fn event(&mut self, event: Event<'_>, span: granit_parser::Span) -> Read<()> {
        let span = self.span(span);
        match event {
            Event::DocumentStart(..) => self.document(span),
            Event::Scalar(text, style, anchor, tag) => {
                self.no_tag(tag.is_some(), span)?;
                let scalar = Scalar { text: text.into(), plain: style == ScalarStyle::Plain };
                let value = Value { span, data: Data::Scalar(scalar) };
                self.anchor(anchor, span, Some(&value))?;
                self.add(value)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.no_tag(tag.is_some(), span)?;
                self.open(span, anchor, Kind::Sequence(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                self.no_tag(tag.is_some(), span)?;
                self.open(span, anchor, Kind::Mapping(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, span),
            _ => Ok(()),
        }
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let (start, end) = (span.start, span.end);
        let width = if start.line() == end.line() { end.col().saturating_sub(start.col()).max(1) } else { 1 };
        Span {
            source: self.source,
            line: start.line().max(1) as u32,
            column: start.col() as u32 + 1,
            width: width as u32,
        }
    }

    fn document(&mut self, span: Span) -> Read<()> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(self.context.error(span, "a second YAML document", "write one scenario per file"));
        }
        Ok(())
    }

    fn no_tag(&mut self, tagged: bool, span: Span) -> Read<()> {
        if tagged {
            return Err(self.context.error(
                span,
                "YAML tags have no meaning here",
                "remove the tag that begins with `!`",
            ));
        }
        Ok(())
    }

    /// Remembers an anchor; `scalar` is the anchored value when it is complete already.
    fn anchor(&mut self, anchor: usize, span: Span, scalar: Option<&Value>) -> Read<()> {
        if anchor == 0 {
            return Ok(());
        }
        if self.anchors.len() >= ANCHORS {
            let message = format!("more than {ANCHORS} anchors");
            return Err(self.context.error(span, message, "write the values in full"));
        }
        let is_key = matches!(self.stack.last(), Some(Frame { kind: Kind::Mapping(_, None), .. }));
        let anchored = match scalar {
            Some(value) if is_key => Anchor::Key(value.clone()),
            _ => Anchor::Place(self.stack.iter().map(|f| f.len() as u32).collect()),
        };
        self.anchors.insert(anchor, anchored);
        Ok(())
    }

    fn open(&mut self, span: Span, anchor: usize, kind: Kind) -> Read<()> {
        let span = Span { width: 1, ..span };
        if self.stack.len() >= DEPTH {
            let problem = too_deep();
            return Err(self.context.error(span, problem.message, problem.help));
        }
        if matches!(self.stack.last(), Some(Frame { kind: Kind::Mapping(_, None), .. })) {
            return Err(self.context.error(span, "a key must be a single text", "put the list or map after a key"));
        }
        self.anchor(anchor, span, None)?;
        self.stack.push(Frame { span, kind });
        Ok(())
    }

    fn close(&mut self) -> Read<()> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let data = match frame.kind {
            Kind::Sequence(items) => Data::Sequence(items),
            Kind::Mapping(entries, _) => {
                self.distinct(&entries)?;
                Data::Mapping(entries)
            }
        };
        self.add(Value { span: frame.span, data })
    }

    /// Refuses a repeated key, with both places.
    fn distinct(&mut self, entries: &[Entry]) -> Read<()> {
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        order.sort_by_key(|&i| &*entries[i as usize].key);
        let twice = order.windows(2).filter(|w| entries[w[0] as usize].key == entries[w[1] as usize].key);
        // The sort is stable: of equal keys the first in the file comes first.
        let Some((first, second)) = twice.map(|w| (w[0] as usize, w[1] as usize)).min_by_key(|&(_, b)| b) else {
            return Ok(());
        };
        let (first, second) = (&entries[first], &entries[second]);
        let problem = Problem::new(format!("the key {} is given twice", quoted(&second.key)), "keep one of the two");
        Err(self.context.error_with_notes(
            second.key_span,
            problem,
            vec![("first given at".to_owned(), first.key_span)],
        ))
    }

    fn add(&mut self, value: Value) -> Read<()> {
        let Self { context, stack, root, .. } = self;
        match stack.last_mut().map(|f| &mut f.kind) {
            None => *root = Some(value),
            Some(Kind::Sequence(items)) => items.push(value),
            Some(Kind::Mapping(entries, waiting)) => match waiting.take() {
                Some((key, key_span)) => entries.push(Entry { key, key_span, value }),
                None => *waiting = Some(key(context, value)?),
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Read<()> {
        let found = match self.anchors.get(&anchor) {
            Some(Anchor::Key(value)) => Some(value),
            Some(Anchor::Place(place)) => self.locate(place),
            None => None,
        };
        let Some(value) = found.cloned() else {
            let message = "an alias inside the value that it names: a cycle";
            return Err(self.context.error(span, message, "write the inner value in full; a tree has no cycles"));
        };
        self.replayed += value.count(REPLAYED);
        if self.replayed > REPLAYED {
            let message = format!("aliases repeat more than {REPLAYED} values");
            return Err(self.context.error(span, message, "use brackets, `repeat` or patterns for many equal things"));
        }
        if self.stack.len() + value.depth() > DEPTH {
            let problem = too_deep();
            return Err(self.context.error(span, problem.message, problem.help));
        }
        self.add(value)
    }

    /// The value at a place, unless its end has not come yet.
    fn locate(&self, place: &[u32]) -> Option<&Value> {
        let (depth, mut value) = place.iter().enumerate().find_map(|(depth, &i)| {
            // Where the place leaves the open frames, the value below is complete.
            self.stack.get(depth)?.child(i).map(|value| (depth, value))
        })?;
        for &i in &place[depth + 1..] {
            value = match &value.data {
                Data::Sequence(items) => items.get(i as usize)?,
                Data::Mapping(entries) => &entries.get(i as usize)?.value,
                Data::Scalar(_) => return None,
            };
        }
        Some(value)
    }
}

/// The text of a key.
fn key(context: &mut Context, value: Value) -> Read<(Box<str>, Span)> {
    match value.data {
        Data::Scalar(scalar) if scalar.plain && &*scalar.text == "<<" => Err(context.error(
            value.span,
            "merge keys (`<<`) are not part of the format",
            "write the keys in full, or give the whole value by an alias",
        )),
        Data::Scalar(scalar) => Ok((scalar.text, value.span)),
        _ => Err(context.error(value.span, "a key must be a single text", "put the list or map after a key")),
    }
}

impl Frame {
    fn len(&self) -> usize {
        match &self.kind {
            Kind::Sequence(items) => items.len(),
            Kind::Mapping(entries, _) => entries.len(),
        }
    }

    fn child(&self, index: u32) -> Option<&Value> {
        match &self.kind {
            Kind::Sequence(items) => items.get(index as usize),
            Kind::Mapping(entries, _) => entries.get(index as usize).map(|e| &e.value),
        }
    }
}
