//! Tasks of operations, named by rank, line (or node of a binary file) and kind: `r3.12.send`, `r3.12.2.send` for the third
//! operation of that line, and `r3.12.send.flight` for a part of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir_plugin_api::{Plan, PlannedTask, PlannedWork, Queue, Wait};

use super::operations::{Program, Work};

/// Adds tasks to a plan.
pub(super) struct Tasks<'p> {
    program: &'p Program,
    /// Per operation: how many of its line come before it.
    earlier: Vec<u32>,
    pub(super) plan: &'p mut Plan,
    name: String,
}

impl<'p> Tasks<'p> {
    pub(super) fn new(program: &'p Program, plan: &'p mut Plan) -> Self {
        let (mut earlier, mut before) = (Vec::with_capacity(program.operations.len()), None);
        let (own, of_plans) = program.operations.split_at(program.first_planned() as usize);
        for operation in own {
            let own = (operation.rank, operation.line);
            let count = earlier.last().filter(|_| before == Some(own)).map_or(0, |count| count + 1);
            earlier.push(count);
            before = Some(own);
        }
        // Ranks take turns in these; what a rank itself does on the line comes before.
        let mut counts = BTreeMap::new();
        for (operation, &count) in own.iter().zip(&earlier).filter(|_| !of_plans.is_empty()) {
            counts.insert((operation.rank, operation.line), count + 1);
        }
        for operation in of_plans {
            let count: &mut u32 = counts.entry((operation.rank, operation.line)).or_default();
            earlier.push(*count);
            *count += 1;
        }
        Self { program, earlier, plan, name: String::new() }
    }

    /// Adds a part of an operation; returns its number.
    pub(super) fn add_on(&mut self, operation: u32, part: &str, waits: &[Wait], work: PlannedWork, at: Service) -> u32 {
        let of = self.program.operations[operation as usize];
        self.name.clear();
        let dot = if part.is_empty() { "" } else { "." };
        let kind = match of.work {
            Work::Send { .. } => "send",
            Work::Receive { .. } => "recv",
            Work::Carry { .. } => "message",
            Work::Compute { .. } => "calc",
            Work::Join => "nop",
        };
        // Writing to a String cannot fail.
        let number = self.program.nodes.get(operation as usize).copied().unwrap_or(of.line.into());
        let _ = write!(self.name, "r{}.{number}", of.rank);
        let _ = match self.earlier[operation as usize] {
            0 => write!(self.name, ".{kind}{dot}{part}"),
            earlier => write!(self.name, ".{earlier}.{kind}{dot}{part}"),
        };
        let task = PlannedTask::new(&self.name, waits, work).paced(0, at.lead, at.gap);
        self.plan.task(&at.engine.map_or(task, |engine| task.on(engine, at.queue)))
    }

    /// Adds a part that no engine serves.
    pub(super) fn add(&mut self, operation: u32, part: &str, waits: &[Wait], work: PlannedWork) -> u32 {
        self.add_on(operation, part, waits, work, Service::default())
    }
}

/// Which engine serves a task, in what queue, and with what lead and gap, ps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) engine: Option<u32>,
    pub(super) queue: Queue,
    pub(super) lead: f64,
    pub(super) gap: f64,
}

impl Default for Service {
    fn default() -> Self {
        Self { engine: None, queue: Queue::Ready, lead: 0.0, gap: 0.0 }
    }
}
