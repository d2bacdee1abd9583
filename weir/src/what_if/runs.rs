//! Runs of a scenario with changes: read again with edits, or on another fabric.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_plugin_api::SimTime;
use weir_scenario::ArbiterSpec;
use weir_sim_core::{Outcome, Stop};

use super::WhatIfOptions;
use crate::opener;
use crate::optimize::Watch;
use crate::prepared::PreparedRun;
use crate::scenario::Source;
use crate::widening::Wider;
use crate::{Error, RunOptions, Scenario};

/// A scenario under one of its arbiters, which is run again and again.
pub(super) struct Runs<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) source: &'a Source,
    arbiter: usize,
    cancel: Option<&'a Arc<AtomicBool>>,
    watch: &'a dyn Watch,
    done: AtomicU64,
}

impl<'a> Runs<'a> {
    pub(super) fn new(scenario: &'a Scenario, arbiter: usize, options: &WhatIfOptions<'a>) -> Result<Self, Error> {
        if arbiter >= scenario.arbiters().len() {
            return Err(Error::input("the scenario has no such arbiter"));
        }
        Ok(Self {
            scenario,
            source: &scenario.source,
            arbiter,
            cancel: options.cancel,
            watch: options.watch,
            done: AtomicU64::new(0),
        })
    }

    pub(super) fn spec(&self) -> &'a ArbiterSpec {
        &self.scenario.arbiters()[self.arbiter]
    }

    /// Whether the caller wants no more.
    pub(super) fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Something more is done.
    pub(super) fn progress(&self, makespan: Option<SimTime>) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.watch.progress(done, makespan.map(|makespan| makespan.0));
    }

    /// The run without changes; `None` if it was cancelled, as for all others here.
    pub(super) fn base(&self) -> Result<Option<Outcome>, Error> {
        self.run(self.scenario.prepared(self.spec()))
    }

    /// The scenario with edits after those that it was read with.
    pub(super) fn read(&self, edits: &[(String, String)]) -> Result<weir_scenario::Scenario, Error> {
        let mut options = self.source.edited(edits);
        options.cancel = self.cancel.cloned().or(options.cancel);
        opener::load(self.source.input(), &options, &self.scenario.registry)
    }

    /// A run of a scenario that was read with edits, which has the same arbiters.
    pub(super) fn of(&self, scenario: &weir_scenario::Scenario) -> Result<Option<Outcome>, Error> {
        let fewer = || Error::input("the scenario has fewer arbiters with these values");
        let spec = scenario.arbiters.get(self.arbiter).ok_or_else(fewer)?;
        self.run(PreparedRun::new(scenario, spec))
    }

    /// A run with a link or memory so many times as wide.
    pub(super) fn wider(&self, wider: Wider, times: f64) -> Result<Option<Outcome>, Error> {
        let fabric = wider.on(&self.scenario.contents().fabric, times)?;
        let spec = self.spec().on(&fabric);
        self.run(self.scenario.prepared(&spec).on(&fabric))
    }

    /// As `weir run` has it, so that its makespan is the same to the picosecond.
    fn run(&self, prepared: PreparedRun<'_>) -> Result<Option<Outcome>, Error> {
        if self.cancelled() {
            return Ok(None);
        }
        let outcome = prepared.run(&RunOptions { cancel: self.cancel.cloned(), ..RunOptions::default() })?;
        Ok((outcome.stop == Stop::Finished).then_some(outcome))
    }
}
