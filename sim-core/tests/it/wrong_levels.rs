//! An incremental policy whose answers are wrong now and then: by the sums after answers, or by what came out.

use weir_arbiters::Shares;
use weir_sim_core::api::{
    Answer, CallError, Change, ClassInfo, Holder, IncrementalArbiter, IncrementalEntry, LinkId, LinkKind, LinkUse,
    NodeKind, SimDuration, SimTime,
};
use weir_sim_core::{
    AnswerError, AuditError, EngineId, FabricBuilder, LinkSpec, Outcome, Routes, ServiceId, SimError, Simulation, Task,
    TaskGraphBuilder, Work,
};

use crate::common::{World, arbiter};
use crate::incremental::{crowd, incremental};

/// Max-min, whose levels are wrong in one answer, and whose peaks may be.
struct Spoilt {
    shares: Shares,
    answers: u32,
    /// Which answer, and what it makes of a level.
    wrong: (u32, fn(u64) -> u64),
    peak: Option<u64>,
}

impl IncrementalArbiter for Spoilt {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        self.shares.add_class(id, class);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        self.shares.settle(change, answer)?;
        self.answers += 1;
        for root in &mut answer.levels {
            if self.answers == self.wrong.0 && root.level != weir_sim_core::api::NO_LEVEL {
                root.level = (self.wrong.1)(root.level);
            }
        }
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        self.shares.holder(class)
    }

    fn link_use(&self, link: LinkId, now: SimTime) -> LinkUse {
        let known = self.shares.link_use(link, now);
        match self.peak {
            None => known,
            peak => LinkUse { peak, is_full: false, ..known },
        }
    }
}

/// A run under max-min by what changes, with wrong answers.
fn spoilt(world: &World, wrong: (u32, fn(u64) -> u64), peak: Option<u64>) -> Result<Outcome, SimError> {
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    let (mut arbiter, flags) = arbiter("max-min", &world.fabric.view());
    let entry = IncrementalEntry {
        in_turn: false,
        knows_peaks: true,
        make: std::sync::Arc::new(move |setting, params| {
            let shares = <Shares as weir_sim_core::api::IncrementalPlugin>::create(setting, params)?;
            Ok(Box::new(Spoilt { shares, answers: 0, wrong, peak }))
        }),
    };
    simulation.run(arbiter.as_mut(), flags, incremental(&entry))
}

/// One wrong level among two hundred answers, of a link that is full all the time: what came out is refused.
#[test]
fn one_wrong_level_is_noticed_in_what_came_out() {
    let mut world = crowd(false, 1);
    let mut tasks = TaskGraphBuilder::new();
    let class = tasks.classes().intern(weir_sim_core::api::RouteId(0), f64::INFINITY, 1.0, 0);
    for i in 0..200 {
        let (engine, service, bytes) = (EngineId::NONE, ServiceId::PLAIN, 400_000_000 + i * i);
        tasks.task(Task { start: SimTime(i * 900_000_000), engine, service, work: Work::Carries { bytes, class } });
    }
    world.tasks = tasks.build().expect("no cycle");
    assert!(spoilt(&world, (0, |level| level), None).is_ok());
    for answer in [40, 77, 150] {
        for wrong in [|level: u64| level + level / 2, |_| 1 << 61] {
            let error = spoilt(&world, (answer, wrong), None).expect_err("it is noticed");
            assert!(matches!(error, SimError::Audit(_) | SimError::Arbiter(AnswerError::Failed { .. })), "{error}");
        }
    }
}

/// Three senders with links of 4 GB/s share one of 10 GB/s. While two send, that has room for what one of them does too fast, and
/// while all three do, each has less than its own link; so totals tell nothing.
#[test]
fn one_wrong_level_is_noticed_while_links_have_room() {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch).expect("the first");
    let mut leaf = |up: f64| {
        let link = LinkSpec { up, down: 1e10, latency: SimDuration(0), kind: LinkKind::PCIE };
        fabric.child(root, NodeKind::Gpu, link).expect("another")
    };
    let (senders, to) = ([leaf(4e9), leaf(4e9), leaf(4e9)], leaf(1e10));
    let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
    for i in 0..300 {
        let route = routes.between(&fabric, senders[i % 3], to).expect("there is one");
        let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
        let (engine, service, bytes) = (EngineId::NONE, ServiceId::PLAIN, 500_000_000 + (i * i) as u64);
        let start = SimTime(i as u64 * 60_000_000_000);
        tasks.task(Task { start, engine, service, work: Work::Carries { bytes, class } });
    }
    let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
    assert!(spoilt(&world, (0, |level| level), None).is_ok());
    for answer in 20..200 {
        let error = spoilt(&world, (answer, |level| level + level / 2), None).expect_err("it is noticed");
        assert!(matches!(error, SimError::Arbiter(AnswerError::Failed { .. })), "answer {answer}: {error}");
    }
    let peak = spoilt(&world, (0, |level| level), Some(1 << 61)).map(|outcome| outcome.makespan);
    assert!(matches!(peak, Err(SimError::Audit(AuditError::TooHigh { .. }))), "{peak:?}");
}
