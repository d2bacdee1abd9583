//! Machines: topologies that stand in others, under a name, in a file, or in place. Each is read once.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::kinds::Kinds;
use super::link_type::{LinkTypes, NamedTypes};
use super::template::TopologyTemplate;
use super::tree::{self, FILE};
use super::{TOPOLOGY, lateral, networks};
use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::source::Span;
use crate::yaml::{self, Data, Entry, Value};

/// Machines in one another at most; *assumed*, above boards in nodes in racks in rows in halls.
pub(crate) const NESTED: usize = 16;

/// What is known of a machine.
#[derive(Clone, Debug)]
enum State {
    Unread,
    /// It is being read: whoever names it now is a part of it.
    Open,
    Known(Rc<TopologyTemplate>),
    /// It has errors, which were written down.
    Wrong,
}

/// What the machines of a whole topology share.
pub(super) struct MachineReader<'f> {
    files: &'f mut Files,
    by_file: FxHashMap<PathBuf, State>,
    /// The machines being read, from the outermost: what they are called, and where.
    open: Vec<(String, Span)>,
    /// Link types that no link uses.
    pub(super) unused_types: Vec<(String, Span)>,
}

/// The machines under `machines` of a topology; one in place may name those of the topology around it, and its link types,
/// too.
pub(super) struct NamedMachines<'n> {
    entries: &'n [Entry],
    by_name: FxHashMap<&'n str, usize>,
    states: RefCell<Vec<State>>,
    /// The file of the topology, by its source.
    source: u32,
    types: Rc<NamedTypes>,
    outer: Option<&'n NamedMachines<'n>>,
}

impl<'n> NamedMachines<'n> {
    /// The map `machines` of a topology.
    pub(super) fn read(
        context: &mut Context,
        topology: &'n Value,
        types: Rc<NamedTypes>,
        outer: Option<&'n Self>,
    ) -> Read<Self> {
        let entries = match topology.get("machines").map(|value| (value, &value.data)) {
            None => &[][..],
            Some((_, Data::Mapping(entries))) => entries,
            Some((value, _)) => {
                let message = format!("`machines` must be a map, not {}", value.describe());
                return Err(context.error(value.span, message, "write `machines: { dgx: { file: dgx.yaml } }`"));
            }
        };
        let by_name = entries.iter().zip(0..).map(|(entry, at)| (&*entry.key, at)).collect();
        let states = RefCell::new(vec![State::Unread; entries.len()]);
        Ok(Self { entries, by_name, states, source: topology.span.source, types, outer })
    }

    /// The machine of a name: under which of the maps, and where there.
    fn find(&self, name: &str) -> Option<(&Self, usize)> {
        self.by_name.get(name).map(|&at| (self, at)).or_else(|| self.outer?.find(name))
    }

    fn names(&self) -> Vec<&str> {
        let own = self.entries.iter().map(|entry| &*entry.key);
        own.chain(self.outer.map(Self::names).unwrap_or_default()).collect()
    }
}

impl<'f> MachineReader<'f> {
    pub(super) fn new(files: &'f mut Files) -> Self {
        Self { files, by_file: FxHashMap::default(), open: Vec::new(), unused_types: Vec::new() }
    }

    /// Reads a topology, of a scenario or of a machine. `file` says whether it is a file of its own, which must name its
    /// version; `outer` has the machines and link types of the topology that it stands in. Returns `kinds` with those that it adds.
    pub(super) fn read(
        &mut self,
        context: &mut Context,
        outer: Option<&NamedMachines<'_>>,
        value: &Value,
        kinds: Kinds,
        file: bool,
    ) -> Read<(TopologyTemplate, Kinds)> {
        let fields = context.fields(value, "the topology", &TOPOLOGY)?;
        if file || fields.get("weir").is_some() {
            crate::version::check(context, &fields)?;
        }
        if let Some(name) = fields.get("name") {
            context.text(name, "the name of the topology")?;
        }
        let around = outer.map(|outer| Rc::clone(&outer.types));
        let types = LinkTypes::read(context, fields.get("link_types"), kinds, !self.open.is_empty(), around);
        let tree = fields.require(context, "tree")?;
        let mut types = types?;
        let named = NamedMachines::read(context, value, types.named(), outer)?;
        let machine = &mut |context: &mut _, types: &mut _, value: &_| self.machine(context, types, &named, value);
        let templates = tree::roots(context, &mut types, tree, machine)?;
        self.read_unused(context, &mut types, &named)?;
        let laterals = lateral::read(context, &mut types, fields.get("links"))?;
        let networks = networks::read(context, &mut types, fields.get("networks"))?;
        self.unused_types.extend(types.unused());
        let topology = TopologyTemplate::new(context, value.span, templates, laterals, networks)?;
        Ok((topology, types.kinds))
    }

    /// The machine that a value names, or is.
    fn machine(
        &mut self,
        context: &mut Context,
        types: &mut LinkTypes,
        named: &NamedMachines<'_>,
        value: &Value,
    ) -> Read<Rc<TopologyTemplate>> {
        match &value.data {
            Data::Mapping(_) if value.get("file").is_some() => self.file(context, types, value),
            Data::Mapping(_) => {
                let called = ("a machine in place".to_owned(), value.span);
                self.inside(context, called, |reader, context| reader.in_place(context, types, named, value))
            }
            _ => self.named(context, types, named, value),
        }
    }

    /// Reads the machines that no root is, so that what is wrong with them is known.
    fn read_unused(&mut self, context: &mut Context, types: &mut LinkTypes, named: &NamedMachines<'_>) -> Read<()> {
        for (at, entry) in named.entries.iter().enumerate() {
            if matches!(named.states.borrow()[at], State::Unread) {
                let help = "remove it, or use it";
                context.warn(entry.key_span, format!("no node is a machine {}", quoted(&entry.key)), help);
                self.entry(context, types, (named, at), entry.key_span)?;
            }
        }
        Ok(())
    }

    fn named(
        &mut self,
        context: &mut Context,
        types: &mut LinkTypes,
        named: &NamedMachines<'_>,
        value: &Value,
    ) -> Read<Rc<TopologyTemplate>> {
        let name = context.text(value, "a machine")?;
        let Some(found) = named.find(name) else {
            let help = match name.ends_with(".yaml") {
                true => format!("write `{{ file: {name} }}`"),
                false => context.suggestion(name, named.names(), "machines"),
            };
            return Err(context.error(value.span, format!("no machine is named {}", quoted(name)), help));
        };
        self.entry(context, types, found, value.span)
    }

    /// The machine of an entry of `machines`, which is named at `span`.
    fn entry(
        &mut self,
        context: &mut Context,
        types: &mut LinkTypes,
        (named, at): (&NamedMachines<'_>, usize),
        span: Span,
    ) -> Read<Rc<TopologyTemplate>> {
        let Entry { key, value, .. } = &named.entries[at];
        let called = (quoted(key), span);
        let state = named.states.borrow()[at].clone();
        if let Some(known) = self.known(context, state, &called) {
            return known;
        }
        named.states.borrow_mut()[at] = State::Open;
        let read = match &value.data {
            // The file is the machine: its name is no level of its own.
            Data::Mapping(_) if value.get("file").is_some() => self.file(context, types, value),
            Data::Mapping(_) => {
                self.inside(context, called, |reader, context| reader.in_place(context, types, named, value))
            }
            _ => self.inside(context, called, |reader, context| reader.named(context, types, named, value)),
        };
        named.states.borrow_mut()[at] = State::after(&read);
        read
    }

    fn file(&mut self, context: &mut Context, types: &mut LinkTypes, value: &Value) -> Read<Rc<TopologyTemplate>> {
        let fields = context.fields(value, "a machine", &FILE)?;
        let file = fields.require(context, "file")?;
        let text = context.text(file, "the file of a machine")?;
        let found = self.files.find(context, file.span, text)?;
        let (path, called) = (found.0.clone(), (quoted(text), file.span));
        let state = self.by_file.get(&path).cloned().unwrap_or(State::Unread);
        if let Some(known) = self.known(context, state, &called) {
            return known;
        }
        self.by_file.insert(path.clone(), State::Open);
        let read = self.inside(context, called, |reader, context| {
            let source = reader.files.read_found(context, file.span, found)?;
            let tree = yaml::parse(context, source)?;
            reader.topology(context, types, None, &tree)
        });
        self.by_file.insert(path, State::after(&read));
        read
    }

    /// Reads a machine that stands in the topology of `named`; an edit may have put a file there.
    fn in_place(
        &mut self,
        context: &mut Context,
        types: &mut LinkTypes,
        named: &NamedMachines<'_>,
        value: &Value,
    ) -> Read<Rc<TopologyTemplate>> {
        let source = value.span.source;
        let is_file = source != named.source && self.files.is_named(source);
        self.topology(context, types, (!is_file).then_some(named), value)
    }

    /// Reads the topology of a machine; `outer` has the machines of the one that it stands in, unless it is a file.
    fn topology(
        &mut self,
        context: &mut Context,
        types: &mut LinkTypes,
        outer: Option<&NamedMachines<'_>>,
        value: &Value,
    ) -> Read<Rc<TopologyTemplate>> {
        // Kinds of links are common to all.
        let kinds = std::mem::take(&mut types.kinds);
        let (topology, kinds) = self.read(context, outer, value, kinds, outer.is_none())?;
        types.kinds = kinds;
        Ok(Rc::new(topology))
    }

    /// What is known of a machine that need not be read, or must not be.
    fn known(
        &self,
        context: &mut Context,
        state: State,
        called: &(String, Span),
    ) -> Option<Read<Rc<TopologyTemplate>>> {
        match state {
            State::Unread => None,
            State::Known(topology) => Some(Ok(topology)),
            State::Wrong => Some(Err(Reported)),
            State::Open => {
                let mut chain: Vec<&str> = self.open.iter().map(|(name, _)| &**name).collect();
                chain.push(&called.0);
                let message = format!("a machine contains itself: {}", chain.join(" → "));
                let problem = Problem::new(message, "remove it from one of them");
                let notes = self.open.iter().map(|(name, span)| (format!("{name} is named here"), *span)).collect();
                Some(Err(context.error_with_notes(called.1, problem, notes)))
            }
        }
    }

    /// Reads what stands in a machine.
    fn inside<T>(
        &mut self,
        context: &mut Context,
        called: (String, Span),
        read: impl FnOnce(&mut Self, &mut Context) -> Read<T>,
    ) -> Read<T> {
        if self.open.len() == NESTED {
            let message = format!("machines in machines, more than {NESTED} levels of them");
            return Err(context.error(called.1, message, "put the nodes of some into the machine around them"));
        }
        self.open.push(called);
        let read = read(self, context);
        self.open.pop();
        read
    }
}

impl State {
    fn after(read: &Read<Rc<TopologyTemplate>>) -> Self {
        read.as_ref().map_or(Self::Wrong, |topology| Self::Known(Rc::clone(topology)))
    }
}
