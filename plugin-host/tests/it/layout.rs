//! The structures of `weir_plugin.h` and of `weir_plugin_api::abi` have the same layout, and the constants the same values.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

use tempfile::TempDir;
use weir_plugin_api::abi::{
    self, AlternativeRecord, ArbiterTable, Chooser, DescribedArbiterTable, EngineRecord, ErrorBuffer, EstimateRecord,
    Estimator, Header, Host, LegendRecord, ModelTable, Planner, PortArbiterTable, StepRecord, SurroundingsRecord,
    TaskRecord, WaitRecord,
};
use weir_plugin_api::{
    Binding, Cause, ClassTable, Direction, FabricView, Flags, GrantView, Head, LinkKind, Moment, NodeKind, PhaseView,
    PortGrant, Queue, Relation, RouteInfo, RouteTable, Slice, Wait,
};

/// A C expression and the value it must have.
type Expected = BTreeMap<String, u64>;

macro_rules! structure {
    ($into:ident, $c:ident, $rust:ty, $($c_field:ident: $($rust_field:ident).+),+ $(,)?) => {
        $into.insert(concat!("sizeof(", stringify!($c), ")").to_owned(), size_of::<$rust>() as u64);
        $($into.insert(
            concat!("offsetof(", stringify!($c), ", ", stringify!($c_field), ")").to_owned(),
            offset_of!($rust, $($rust_field).+) as u64,
        );)+
    };
}

fn views(into: &mut Expected) {
    structure!(into, weir_fabric, FabricView<'_>, bandwidth: bandwidth, from: from, to: to, direction: direction,
        depth: depth, kind: kind, node_kind: node_kind);
    structure!(into, weir_classes, ClassTable<'_>, route: route, limit: limit, weight: weight, priority: priority);
    structure!(into, weir_routes, RouteTable<'_>, offsets: offsets, links: links);
    structure!(into, weir_phase, PhaseView<'_>, now_ps: now, id: id, class_id: class, arrival_ps: arrival,
        classes: classes, routes: routes);
    structure!(into, weir_binding, Binding, link: link, cause: cause, by: by);
    structure!(into, weir_step, StepRecord<'_>, transfer: transfer, link: link, rate: rate, step: step,
        because: because);
    structure!(into, weir_host, Host, context: context, log: log, cancelled: cancelled);
    for (c, size) in [
        ("weir_slice_wait", size_of::<Slice<'_, WaitRecord>>()),
        ("weir_slice_u8", size_of::<Slice<'_, u8>>()),
        ("weir_slice_u32", size_of::<Slice<'_, u32>>()),
        ("weir_slice_u64", size_of::<Slice<'_, u64>>()),
        ("weir_slice_i64", size_of::<Slice<'_, i64>>()),
        ("weir_slice_f64", size_of::<Slice<'_, f64>>()),
        ("weir_err", size_of::<ErrorBuffer<'_>>()),
    ] {
        into.insert(format!("sizeof({c})"), size as u64);
    }
    // Fields that are private in Rust: pointer, then length (and capacity before it).
    for (c, offset) in [("weir_slice_u8, data", 0), ("weir_slice_u8, len", 8), ("weir_err, data", 0)] {
        into.insert(format!("offsetof({c})"), offset);
    }
    for (c, offset) in [("weir_err, capacity", 8), ("weir_err, len", 16)] {
        into.insert(format!("offsetof({c})"), offset);
    }
}

fn records(into: &mut Expected) {
    structure!(into, weir_route_info, RouteInfo, bandwidth: bandwidth, latency_ps: latency_ps, links: links);
    structure!(into, weir_surroundings, SurroundingsRecord<'_>, context: context, fabric: fabric, route: route);
    structure!(into, weir_engine, EngineRecord<'_>, name: name, slots: slots, scope: scope, device: device);
    structure!(into, weir_wait, WaitRecord, task: task, moment: moment);
    // What authors in Rust write is handed over as it stands.
    structure!(into, weir_wait, Wait, task: task, moment: moment);
    structure!(into, weir_task, TaskRecord<'_>, name: name, waits: waits, engine: engine, queue: queue, class_id: class,
        work: work, lead_ps: lead_ps, gap_ps: gap_ps, lasts_ps: lasts_ps, from: from, to: to, bytes: bytes,
        limit: limit);
    structure!(into, weir_planner, Planner, context: context, emit_engine: emit_engine, emit_task: emit_task);
    structure!(into, weir_estimate, EstimateRecord<'_>, formula: formula, because: because, seconds: seconds,
        relation: relation);
    structure!(into, weir_estimator, Estimator, context: context, emit_estimate: emit_estimate,
        emit_details: emit_details);
    structure!(into, weir_alternative, AlternativeRecord<'_>, label: label, operation: operation);
    structure!(into, weir_chooser, Chooser, context: context, emit_alternative: emit_alternative);
}

fn ports(into: &mut Expected) {
    structure!(into, weir_head, Head, slot: slot, channel: channel, bytes: bytes, payload: payload, ready_ps: ready,
        visible_ps: visible, transfer: transfer, priority: priority, weight: weight);
    structure!(into, weir_grant_view, GrantView<'_>, out: out, now_ps: now, heads: heads, requesters: requesters);
    structure!(into, weir_grant, PortGrant<'_>, out: out, slot: slot, bytes: bytes, requesters: requesters,
        heads: heads);
    // Private in Rust, or the length of the slice.
    for (c, offset) in [
        ("weir_grant_view, struct_size", 0),
        ("weir_grant_view, n_heads", 24),
        ("weir_grant_view, reserved", 36),
        ("weir_grant, n_heads", 24),
    ] {
        into.insert(format!("offsetof({c})"), offset);
    }
    structure!(into, weir_port_arbiter_table, PortArbiterTable, header: header, name: name, version: version,
        params_schema: params_schema, create: create, destroy: destroy, reset: reset, choose: choose, commit: commit,
        state: state, description: description);
}

fn tables(into: &mut Expected) {
    structure!(into, weir_header, Header, magic: magic, abi_major: abi_major, abi_minor: abi_minor,
        table_size: table_size, view_size: view_size, kind: kind, flags: flags);
    structure!(into, weir_arbiter_table, ArbiterTable, header: header, name: name, version: version,
        params_schema: params_schema, create: create, destroy: destroy, reset: reset, admit: admit,
        allocate: allocate, explain: explain);
    structure!(into, weir_legend_entry, LegendRecord, step: step, short_text: short, meaning: meaning);
    structure!(into, weir_described_arbiter_table, DescribedArbiterTable, arbiter: arbiter, legend: legend,
        capacity: capacity);
    structure!(into, weir_model_table, ModelTable, header: header, name: name, version: version,
        operations: operations, schema: schema, create: create, destroy: destroy, plan: plan, estimate: estimate,
        alternatives: alternatives);
    assert_eq!(size_of::<Header>(), 32, "never changes");
}

fn constants(into: &mut Expected) {
    let mut add = |c: &str, value: u64| {
        into.insert(c.to_owned(), value);
    };
    add("WEIR_MAGIC", abi::MAGIC);
    add("WEIR_ABI_MAJOR", abi::ABI_MAJOR.into());
    add("WEIR_ABI_MINOR", abi::ABI_MINOR.into());
    add("WEIR_ABI_MINOR_ARBITER", abi::ARBITER_MINOR.into());
    add("WEIR_ABI_MINOR_MODEL", abi::MODEL_MINOR.into());
    add("WEIR_ABI_MINOR_PORT_ARBITER", abi::PORT_ARBITER_MINOR.into());
    add("WEIR_KIND_PORT_ARBITER", abi::KIND_PORT_ARBITER.into());
    add("WEIR_NO_STATE", abi::NO_STATE as u64);
    add("WEIR_SCOPE_DEVICE", abi::scope::DEVICE.into());
    add("WEIR_SCOPE_OPERATION", abi::scope::OPERATION.into());
    add("WEIR_WORK_NOTHING", abi::work::NOTHING.into());
    add("WEIR_WORK_LASTS", abi::work::LASTS.into());
    add("WEIR_WORK_CARRIES", abi::work::CARRIES.into());
    add("WEIR_KIND_ARBITER", abi::KIND_ARBITER.into());
    add("WEIR_KIND_MODEL", abi::KIND_MODEL.into());
    add("WEIR_ABI_MINOR_DESCRIBED_ARBITER", abi::DESCRIBED_ARBITER_MINOR.into());
    add("WEIR_ABI_MINOR_PCIE_ARBITER", abi::PCIE_ARBITER_MINOR.into());
    add("WEIR_ABI_MINOR_CUT_ANYWHERE_ARBITER", abi::CUT_ANYWHERE_ARBITER_MINOR.into());
    add("WEIR_NEVER", weir_plugin_api::SimTime::NEVER.0);
    for (c, value) in [
        ("WEIR_NONE", weir_plugin_api::LinkId::NONE.0),
        ("WEIR_PURE", Flags::PURE.0),
        ("WEIR_WORK_CONSERVING", Flags::WORK_CONSERVING.0),
        ("WEIR_WHOLE_SET", Flags::WHOLE_SET.0),
        ("WEIR_READS_ARRIVAL", Flags::READS_ARRIVAL.0),
        ("WEIR_READS_WEIGHT", Flags::READS_WEIGHT.0),
        ("WEIR_READS_PRIORITY", Flags::READS_PRIORITY.0),
        ("WEIR_FOR_PCIE", Flags::FOR_PCIE.0),
        ("WEIR_CUT_ANYWHERE", Flags::CUT_ANYWHERE.0),
        ("WEIR_LINK_PCIE", LinkKind::PCIE.0),
        ("WEIR_LINK_QPI", LinkKind::QPI.0),
        ("WEIR_LINK_NVLINK", LinkKind::NVLINK.0),
        ("WEIR_LINK_NETWORK", LinkKind::NETWORK.0),
        ("WEIR_LINK_OTHER", LinkKind::OTHER.0),
    ] {
        add(c, value.into());
    }
    for (c, value) in [("WEIR_OK", abi::code::OK), ("WEIR_ERROR", abi::code::ERROR), ("WEIR_PANIC", abi::code::PANIC)] {
        add(c, u64::try_from(value).expect("codes are not negative"));
    }
}

/// A number of an enum, by the name of its variant: `HeadOfLine` is `WEIR_CAUSE_HEAD_OF_LINE`.
fn numbers(into: &mut Expected) {
    let upper = |variant: &dyn std::fmt::Debug| {
        let mut name = String::new();
        for letter in format!("{variant:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.extend(letter.to_uppercase());
        }
        name
    };
    for cause in Cause::ALL {
        into.insert(format!("WEIR_CAUSE_{}", upper(&cause)), cause as u64);
    }
    for kind in NodeKind::ALL {
        // `weir_host` is the structure; the node is told apart from it.
        let name = if kind == NodeKind::Host { "HOST_NODE".to_owned() } else { upper(&kind) };
        into.insert(format!("WEIR_{name}"), kind as u64);
    }
    for moment in [Moment::End, Moment::Start] {
        into.insert(format!("WEIR_MOMENT_{}", upper(&moment)), moment as u64);
    }
    for queue in [Queue::Issued, Queue::Ready] {
        into.insert(format!("WEIR_QUEUE_{}", upper(&queue)), queue as u64);
    }
    for relation in [Relation::Unstated, Relation::Equal, Relation::AtMost, Relation::AtLeast] {
        into.insert(format!("WEIR_RELATION_{}", upper(&relation)), relation as u64);
    }
    for direction in [Direction::Up, Direction::Down, Direction::Lateral] {
        into.insert(format!("WEIR_{}", upper(&direction)), direction as u64);
    }
}

#[test]
fn the_header_and_the_crate_agree() {
    let mut expected = Expected::new();
    views(&mut expected);
    records(&mut expected);
    ports(&mut expected);
    tables(&mut expected);
    constants(&mut expected);
    numbers(&mut expected);

    let mut source = String::from("#include \"weir_plugin.h\"\n#include <stdio.h>\nint main(void)\n{\n");
    for expression in expected.keys() {
        writeln!(source, "    printf(\"%s=%llu\\n\", \"{expression}\", (unsigned long long)({expression}));")
            .expect("text");
    }
    source.push_str("    return 0;\n}\n");
    let folder = TempDir::new().expect("a folder");
    let (file, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
    std::fs::write(&file, source).expect("written");
    crate::common::compile(crate::common::cc().args(["-Werror", "-pedantic", "-o"]).arg(&program).arg(&file));
    let output = Command::new(&program).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found: Expected = text
        .lines()
        .filter_map(|line| line.rsplit_once('='))
        .map(|(expression, value)| (expression.to_owned(), value.parse().expect("a number")))
        .collect();
    assert_eq!(found, expected);
}

/// Authors in C++ include the same file.
#[test]
fn the_header_is_cpp_too() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("header.cc");
    std::fs::write(&file, "#include \"weir_plugin.h\"\nint size() { return sizeof(weir_phase); }\n").expect("written");
    let include = crate::common::root().join("plugin-api/include");
    let mut command = Command::new("c++");
    command.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"]);
    crate::common::compile(command.arg(include).arg(&file));
}
