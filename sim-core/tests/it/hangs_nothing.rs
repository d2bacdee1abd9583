//! The smallest incremental arbiter: it hangs nothing, and tells the levels of the classes that change. `equal-share`, without
//! what makes it cheap on large fabrics: an event costs all classes on the links that it touches.

use weir_sim_core::api::{
    Answer, CallError, Cause, Change, ClassInfo, Holder, IncrementalArbiter, IncrementalEntry, IncrementalPlugin,
    Level, LinkId, NO_ID, RootLevel, Setting,
};
use weir_sim_core::{RunOptions, Sharing};

use crate::common::{arbiter, case};

struct EqualParts {
    capacities: Vec<u64>,
    /// Per link the classes on it, one entry for each transfer.
    on: Vec<Vec<u32>>,
    /// Per class its links and its limit.
    classes: Vec<(Vec<LinkId>, Level)>,
}

impl EqualParts {
    /// What a link gives each transfer on it.
    fn part(&self, link: LinkId) -> Level {
        self.capacities[link.index()] / self.on[link.index()].len() as u64
    }
}

impl IncrementalArbiter for EqualParts {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        self.classes.resize(self.classes.len().max(id as usize + 1), (Vec::new(), 0));
        self.classes[id as usize] = (class.links.to_vec(), class.limit);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        let mut touched = Vec::new();
        for (changes, is_added) in [(change.removed, false), (change.added, true)] {
            for change in changes {
                for &link in &self.classes[change.class as usize].0 {
                    let on = &mut self.on[link.index()];
                    match on.iter().position(|&class| class == change.class) {
                        Some(at) if !is_added => _ = on.swap_remove(at),
                        _ => on.push(change.class),
                    }
                    touched.push(link);
                }
            }
        }
        for &class in touched.iter().flat_map(|link| &self.on[link.index()]) {
            let (links, limit) = &self.classes[class as usize];
            let level = links.iter().map(|&link| self.part(link)).fold(*limit, Level::min);
            answer.levels.push(RootLevel { root: class, level });
        }
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        let (links, limit) = &self.classes[class as usize];
        match links.iter().copied().min_by_key(|&link| self.part(link)).filter(|&link| self.part(link) < *limit) {
            None => Holder { link: LinkId::NONE, cause: Cause::OwnLimit, by: NO_ID },
            Some(link) => Holder { link, cause: Cause::SharedLink, by: self.on[link.index()][0] },
        }
    }
}

impl IncrementalPlugin for EqualParts {
    fn create(setting: &Setting<'_>, _params: &str) -> Result<Self, CallError> {
        let (capacities, on) = (setting.capacities.to_vec(), vec![Vec::new(); setting.capacities.len()]);
        Ok(Self { capacities, on, classes: Vec::new() })
    }
}

/// Beside the built-in one: the same ends to the bit, since levels are the same integers.
#[test]
fn it_is_equal_share() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..100 {
        let drawn = proptest::strategy::Strategy::new_tree(&case(3..16, 1..60), &mut runner).expect("a case");
        let Some(world) = proptest::strategy::ValueTree::current(&drawn).world() else { continue };
        let ends =
            [IncrementalEntry::of::<EqualParts>(), IncrementalEntry::of::<weir_arbiters::Parts>()].map(|entry| {
                let (mut rates, flags) = arbiter("equal-share", &world.fabric.view());
                let sharing = Sharing::Incremental { entry: &entry, params: "{}", from: 0, peaks_below: 0 };
                let outcome = world.run(rates.as_mut(), flags, RunOptions { sharing, ..RunOptions::default() });
                assert!(outcome.incremental);
                outcome.tasks.iter().map(|task| task.end).collect::<Vec<_>>()
            });
        assert_eq!(ends[0], ends[1]);
    }
}
