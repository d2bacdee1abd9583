//! From a file to a scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_plugin_api::Registry;
use weir_sim_core::OnFailure;

use crate::arbiter::{self, ArbiterSpec};
use crate::context::{Context, Fields, Read};
use crate::diagnostic::{Diagnostic, quoted};
use crate::events;
use crate::files::Files;
use crate::format::{KeyTable, Shape, optional, required};
use crate::input::{Input, Parsed};
use crate::optimize;
use crate::packets::{self, Fidelity};
use crate::reach;
use crate::scenario::{Parts, Scenario};
use crate::topology::{self, Topology};
use crate::unroll::unrolled;
use crate::version::{self, VERSION};
use crate::workload::{self, Setting, Situation, Workload, WorkloadKeys};
use crate::yaml::{self, Data, Edit, Value};

/// What the command line adds to a file.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Root of the library, instead of the nearest ancestor of the scenario with a file `weir-library`.
    pub library: Option<PathBuf>,
    /// Edits of the file's values: path and YAML text, as in `workload[0].transfer.size` and `4MB`.
    pub set: Vec<(String, String)>,
    /// Arbiters in place of the file's: names, or maps such as `{name: NAME, PARAMETER: VALUE}`.
    pub arbiters: Vec<String>,
    /// Fidelities in place of the file's: `fluid`, `packet`, or maps such as `{packet: {buffer: 64KiB}}`.
    pub fidelity: Vec<String>,
    /// Whether the transfers of traces are to be read while they are simulated ([`Scenario::stream`]): the workload must
    /// be nothing but traces without `after`, sorted by start.
    pub stream: bool,
    /// Ends the simulations that choose what the scenario leaves open soon after it becomes true, from another thread or a
    /// signal handler. The scenario is not read then, and a finding says so ([`Diagnostic::cancelled`]).
    pub cancel: Option<Arc<AtomicBool>>,
}

/// Reads a scenario.
///
/// # Errors
/// Everything that is wrong with it, at most some twenty findings.
pub fn load<'a>(
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<Scenario, Vec<Diagnostic>> {
    read(input.into(), options, registry, options.cancel.as_deref())
}

/// As [`load`], with another flag than that of the options: searches end candidates by a budget, too.
///
/// # Errors
/// As [`load`].
pub fn load_unless<'a>(
    cancel: &AtomicBool,
    input: impl Into<Input<'a>>,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<Scenario, Vec<Diagnostic>> {
    read(input.into(), options, registry, Some(cancel))
}

fn read(
    input: Input<'_>,
    options: &LoadOptions,
    registry: &Registry,
    cancel: Option<&AtomicBool>,
) -> Result<Scenario, Vec<Diagnostic>> {
    let mut context = Context::of(registry);
    let _load = tracing::debug_span!("load", file = %input.name()).entered();
    let opened = open(&mut context, input, options);
    let parts = opened.and_then(|opened| parts(&mut context, opened, options, registry, cancel));
    match parts {
        Ok(parts) if !context.failed() => Ok(Scenario::new(context, parts)),
        _ => Err(context.finish()),
    }
}

/// A scenario as YAML, with the groups of its workload written out, and with the edits of the command line.
///
/// # Errors
/// What is wrong with the groups; the rest is not looked at.
pub fn expanded<'a>(input: impl Into<Input<'a>>, options: &LoadOptions) -> Result<String, Vec<Diagnostic>> {
    let mut context = Context::default();
    let text = open(&mut context, input.into(), options).and_then(|Opened { mut files, mut root, .. }| {
        looks_like_a_scenario(&mut context, &root)?;
        if let Some(workload) = root.get_mut("workload") {
            *workload = unrolled(&mut context, &mut files, workload)?.workload.into_owned();
        }
        let mut out = String::new();
        if let Data::Mapping(entries) = &mut root.data {
            // Its parameters are places in the groups.
            entries.retain(|entry| &*entry.key != "optimize");
            entries.iter().for_each(|entry| yaml::write_block(entry, &mut out));
        }
        Ok(out)
    });
    text.map_err(|_| context.finish())
}

pub(crate) static SCENARIO: KeyTable = KeyTable::new(
    "scenario",
    "What runs where.",
    &[
        VERSION,
        optional("name", Shape::Text, "Shown in results; by default the file's name."),
        optional(
            "topology",
            Shape::Either(&[Shape::Path, Shape::Map(&topology::TOPOLOGY)]),
            "The topology, or the file with it; needed unless every item is an operation of a model.",
        ),
        optional(
            "arbiter",
            Shape::OneOrMore(1, &Shape::Registered("arbiter")),
            "The policy that divides bandwidth; of a list each runs in turn.",
        ),
        optional("fidelity", Shape::Named(&packets::FIDELITY), ""),
        required("workload", Shape::List(0, &Shape::Map(&workload::OPERATION)), "What is transferred and computed."),
        workload::ROUTING,
        workload::NIC,
        optional("events", Shape::List(1, &Shape::Map(&events::EVENT)), "How links change meanwhile."),
        optional("on_failure", Shape::Named(&events::ON_FAILURE), ""),
        optional("ranks", Shape::Named(&workload::RANKS), ""),
        optional("order", Shape::Named(&workload::ORDER), ""),
        optional("optimize", Shape::Map(&optimize::OPTIMIZE), ""),
    ],
);

/// A file that was read and edited.
pub(crate) struct Opened {
    /// The file as given.
    pub(crate) name: String,
    pub(crate) files: Files,
    pub(crate) root: Value,
}

pub(crate) fn open(context: &mut Context, input: Input<'_>, options: &LoadOptions) -> Read<Opened> {
    let name = input.name().into_owned();
    let Parsed { mut files, mut root, .. } = input.parse(context, options.library.as_deref())?;
    edit(context, &mut files, &mut root, options)?;
    Ok(Opened { name, files, root })
}

/// The parts of a scenario. What is independent is read although another part is wrong, so that all findings are told.
pub(crate) fn parts(
    context: &mut Context,
    opened: Opened,
    options: &LoadOptions,
    registry: &Registry,
    cancel: Option<&AtomicBool>,
) -> Read<Parts> {
    let Opened { name, mut files, root } = opened;
    looks_like_a_scenario(context, &root)?;
    let fields = context.fields(&root, "the scenario", &SCENARIO)?;
    version::check(context, &fields)?;
    let title = title(context, &fields, &name);
    let arbiters = arbiter::read(context, fields.get("arbiter"), &options.arbiters, registry);
    let fidelities = packets::read(context, fields.get("fidelity"), &options.fidelity);
    let operations = fields.require(context, "workload").and_then(|list| unrolled(context, &mut files, list));
    let only_models = operations.as_ref().is_ok_and(|list| only_models(&list.workload, registry));
    let has_topology = fields.get("topology").is_some() || !only_models;
    let (topology, topology_file) = match has_topology {
        true => fields.require(context, "topology").and_then(|v| topology(context, &mut files, v))?,
        false => (Topology::empty(), None),
    };
    let mut arbiters = arbiters.and_then(|written| arbiter::place(context, written, &topology));
    let first = arbiters.as_ref().ok().and_then(|specs| specs.first()).cloned();
    let (arbiter, stream) = (first.as_ref(), options.stream);
    let setting = Setting { topology: &topology, has_topology, registry, arbiter, stream, decided: &[], cancel };
    let operations = &operations?;
    let keys = WorkloadKeys { operations, ranks: fields.get("ranks"), order: fields.get("order"), fields: &fields };
    let workload = tracing::debug_span!("workload").in_scope(|| workload::read(context, &mut files, setting, keys));
    let changes = events::read(context, &mut files, (fields.get("events"), fields.get("on_failure")), &topology);
    if let (Ok(workload), Ok(specs)) = (&workload, &mut arbiters) {
        compose_for_branches(specs, workload, &topology);
    }
    let workload = match (workload, &changes, arbiters.as_ref().map(|specs| specs.first())) {
        (Ok(workload), Ok(changes), Ok(Some(arbiter))) => {
            workload::under_load(context, &files, (setting, keys), Situation { arbiter, changes }, workload)
        }
        (workload, ..) => workload,
    };
    let scenario_parts = optimize::ScenarioParts {
        root: &root,
        topology_file: topology_file.as_ref(),
        topology: &topology,
        workload: workload.as_ref().ok().filter(|_| !options.stream),
    };
    let optimize =
        fields.entry("optimize").map(|entry| optimize::read(context, &mut files, entry, scenario_parts)).transpose();
    let (workload, arbiters, changes) = (workload?, arbiters?, changes?);
    let fidelities = fidelities?;
    check_fidelities(context, &fields, options, (&fidelities, changes.on_failure))?;
    let arbiters = with_packets(context, fidelities, arbiters, (&topology, &workload))?;
    Ok(Parts {
        name: title?,
        file: name,
        optimize: optimize?,
        named_files: files.named(&root),
        read_files: files.read_files(),
        input_sha256: files.sha256(),
        topology,
        workload,
        changes,
        arbiters,
        default_arbiter: registry.default_arbiter().unwrap_or_default().to_owned(),
    })
}

/// Transfers that take several routes at once need arbiters that share among their parts.
fn compose_for_branches(specs: &mut [ArbiterSpec], workload: &Workload, topology: &Topology) {
    // With shared bandwidths they are composed already.
    if workload.routes.has_branches() && topology.fabric.shared().is_empty() {
        specs.iter_mut().for_each(|spec| spec.compose(&topology.fabric));
    }
}

/// Warns of an arbiter that packets do not ask, and refuses what packets cannot do when a link is down.
fn check_fidelities(
    context: &mut Context,
    fields: &Fields<'_>,
    options: &LoadOptions,
    (fidelities, on_failure): (&[Fidelity], OnFailure),
) -> Read<()> {
    // A file may have both, for whoever chooses on the command line.
    if let Some(Fidelity::Packet(run)) = fidelities.first()
        && fidelities.iter().all(|fidelity| matches!(fidelity, Fidelity::Packet(_)))
    {
        let asked_for = match options.arbiters.is_empty() {
            false => Some((run.span(), "leave `--arbiter` out, or run both: `--fidelity fluid,packet`")),
            true => fields
                .entry("arbiter")
                .filter(|_| options.fidelity.is_empty())
                .map(|entry| (entry.key_span, "leave it out, or run both: `fidelity: [fluid, packet]`")),
        };
        if let Some((place, help)) = asked_for {
            context.warn(place, "the arbiter has no effect: transfers go packet by packet", help);
        }
    }
    let has_packets = fidelities.iter().any(|fidelity| matches!(fidelity, Fidelity::Packet(_)));
    match fields.get("on_failure").filter(|_| has_packets && on_failure != OnFailure::Wait) {
        Some(value) => {
            let help = "leave `on_failure` out, or use `fidelity: fluid`";
            Err(context.error(value.span, "packets wait for a link that is down, and nothing else", help))
        }
        None => Ok(()),
    }
}

/// What is run: each arbiter where a fidelity is fluid, and each way to send packets, in the order of the fidelities.
fn with_packets(
    context: &mut Context,
    fidelities: Vec<Fidelity>,
    arbiters: Vec<ArbiterSpec>,
    (topology, workload): (&Topology, &Workload),
) -> Read<Vec<ArbiterSpec>> {
    let specs = fidelities.iter().map(|fidelity| match fidelity {
        Fidelity::Fluid => Ok(arbiters.clone()),
        Fidelity::Packet(run) => packets::spec(context, run, topology, workload).map(|spec| vec![spec]),
    });
    let specs: Vec<_> = specs.collect::<Read<_>>()?;
    Ok(specs.into_iter().flatten().collect())
}

/// The name, or the file's when it has none.
fn title(context: &mut Context, fields: &Fields<'_>, name: &str) -> Read<String> {
    match fields.get("name") {
        Some(value) => context.text(value, "`name`").map(str::to_owned),
        None => Ok(Path::new(name).file_stem().map_or(name.to_owned(), |stem| stem.to_string_lossy().into_owned())),
    }
}

/// Applies the edits of the command line.
pub(crate) fn edit(context: &mut Context, files: &mut Files, root: &mut Value, options: &LoadOptions) -> Read<()> {
    for (path, value) in &options.set {
        let edit = Edit::read(context, path, value)?;
        if let (Some(span), false) = (edit.path().starts_with("arbiter"), options.arbiters.is_empty()) {
            let message = format!("{} has no effect: `--arbiter` replaces the file's arbiters", quoted(path));
            let help = "give the parameters with it, as in `--arbiter '{name: NAME, PARAMETER: VALUE}'`";
            return Err(context.error(span, message, help));
        }
        reach::apply(context, files, root, &edit)?;
    }
    Ok(())
}

/// A topology file, or anything that is no scenario, gets one clear message.
pub(crate) fn looks_like_a_scenario(context: &mut Context, root: &Value) -> Read<()> {
    let Data::Mapping(entries) = &root.data else {
        let help = "a scenario is a map with the keys weir, name, topology, arbiter, workload";
        return Err(context.error(root.span, format!("a scenario must be a map, not {}", root.describe()), help));
    };
    let has = |key: &str| entries.iter().find(|e| &*e.key == key);
    match (has("tree"), has("workload")) {
        (Some(tree), None) => {
            let help = "name this file by `topology:` in a scenario that has a `workload`";
            Err(context.error(tree.key_span, "this is a topology, not a scenario", help))
        }
        _ => Ok(()),
    }
}

/// Whether every item of the workload is an operation of a model, which needs no links.
fn only_models(workload: &Value, registry: &Registry) -> bool {
    let Data::Sequence(items) = &workload.data else { return false };
    let only = |item: &Value, fits: &dyn Fn(&str) -> bool| match &item.data {
        Data::Mapping(entries) => !entries.is_empty() && entries.iter().all(|entry| fits(&entry.key)),
        _ => false,
    };
    let is_model = |key: &str| registry.model_of(key).is_some();
    let needs_none = |key: &str| key == "barrier" || is_model(key);
    items.iter().any(|item| only(item, &is_model)) && items.iter().all(|item| only(item, &needs_none))
}

/// The topology in place, or in the file that is named, whose tree is returned too.
pub(crate) fn topology(context: &mut Context, files: &mut Files, value: &Value) -> Read<(Topology, Option<Value>)> {
    let _topology = tracing::debug_span!("topology").entered();
    if matches!(value.data, Data::Mapping(_)) {
        let file = files.is_named(value.span.source);
        return topology::read(context, files, value, file).map(|topology| (topology, None));
    }
    let tree = topology_file(context, files, value)?;
    Ok((topology::read(context, files, &tree, true)?, Some(tree)))
}

/// The tree of the topology file that a value names.
pub(crate) fn topology_file(context: &mut Context, files: &mut Files, value: &Value) -> Read<Value> {
    let named = context.text(value, "`topology`")?;
    let source = files.read_named(context, value.span, named)?;
    yaml::parse(context, source)
}
