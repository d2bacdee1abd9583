//! The transfers of a phase grouped by class: one group per distinct (route, limit, weight, priority).

use weir_plugin_api::{Binding, Cause, ClassId, Grant, LinkId, PhaseView, Step, TransferView};

/// No entry in a table of positions.
pub(crate) const NONE: u32 = u32::MAX;

/// The transfers of one class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassGroup {
    pub(crate) class: ClassId,
    /// Position of its first transfer in the phase.
    pub(crate) first: u32,
    /// Position of its second transfer, or [`NONE`].
    pub(crate) second: u32,
    pub(crate) count: u32,
}

/// Groups of the current phase, in order of their first transfer.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Per class: its group; [`NONE`] for classes that are not in `list`.
    of_class: Vec<u32>,
    pub(crate) list: Vec<ClassGroup>,
    /// Per position of the phase: its group.
    of: Vec<u32>,
}

impl Groups {
    /// Groups the transfers of a phase.
    pub(crate) fn build(&mut self, phase: &PhaseView<'_>) {
        for group in self.list.drain(..) {
            self.of_class[group.class.index()] = NONE;
        }
        self.of.clear();
        if self.of_class.len() < phase.classes.route.len() {
            self.of_class.resize(phase.classes.route.len(), NONE);
        }
        let (of_class, list) = (self.of_class.as_mut_slice(), &mut self.list);
        self.of.extend(phase.class.as_slice().iter().zip(0_u32..).map(|(&class, position)| {
            let slot = &mut of_class[class.index()];
            if *slot == NONE {
                *slot = list.len() as u32;
                list.push(ClassGroup { class, first: position, second: NONE, count: 1 });
            } else {
                let group = &mut list[*slot as usize];
                if group.count == 1 {
                    group.second = position;
                }
                group.count += 1;
            }
            *slot
        }));
    }

    /// The group of each position of the phase.
    pub(crate) fn of_positions(&self) -> &[u32] {
        &self.of
    }

    /// Gives each transfer the answer of its group. A group that shares a link with itself names its first transfer;
    /// that one names the second.
    pub(crate) fn scatter(&self, answers: &[(f64, Binding)], grant: &mut Grant<'_>) {
        self.answer_each(|index| answers[index], grant);
    }

    /// As [`Self::scatter`], with answers that cost less to find than to keep.
    #[inline]
    pub(crate) fn answer_each(&self, answer: impl Fn(usize) -> (f64, Binding), grant: &mut Grant<'_>) {
        let slots = grant.rates.iter_mut().zip(grant.bindings.iter_mut()).zip(&self.of);
        for (position, ((rate, binding), &index)) in slots.enumerate() {
            (*rate, *binding) = answer(index as usize);
            if binding.by == position as u32 {
                binding.by = self.list[index as usize].second;
            }
        }
    }

    /// Appends one step for each transfer: the answer of its group, with a name. Responsible are the others on the link
    /// that decides, as far as they count.
    pub(crate) fn explain(
        &self,
        phase: &PhaseView<'_>,
        steps: &mut Vec<Step>,
        answer: impl Fn(usize) -> (f64, Binding),
        name: impl Fn(&TransferView<'_>) -> String,
        counts: impl Fn(&TransferView<'_>, &TransferView<'_>) -> bool,
    ) {
        for (position, &index) in self.of.iter().enumerate() {
            let (rate, Binding { link, .. }) = answer(index as usize);
            let own = phase.transfer(position);
            let is_responsible = |&other: &usize| {
                let transfer = phase.transfer(other);
                other != position && transfer.route.contains(&link) && counts(&own, &transfer)
            };
            steps.push(Step {
                transfer: position as u32,
                region: 0,
                step: name(&own),
                link,
                rate,
                because: (0..phase.len()).filter(is_responsible).map(|other| other as u32).collect(),
            });
        }
    }
}

/// Answers a phase of one transfer, which runs at its limit or its narrowest link; false for other phases.
#[inline]
pub(crate) fn grant_lone(phase: &PhaseView<'_>, grant: &mut Grant<'_>, bandwidth: impl Fn(LinkId) -> f64) -> bool {
    if phase.len() != 1 {
        return false;
    }
    let transfer = phase.transfer(0);
    let (link, narrowest) = narrowest(transfer.route, bandwidth);
    grant.rates[0] = narrowest.min(transfer.limit);
    grant.bindings[0] = lone_binding(grant.rates[0], transfer.limit, link);
    true
}

/// The binding of a lone transfer that runs at `min(limit, narrowest link)`.
#[inline]
pub(crate) fn lone_binding(rate: f64, limit: f64, narrowest: LinkId) -> Binding {
    if rate >= limit {
        Binding::new(LinkId::NONE, Cause::OwnLimit, NONE)
    } else {
        Binding::new(narrowest, Cause::FullRate, NONE)
    }
}

/// The narrowest link of a route (the first of equals) and its bandwidth.
#[inline]
pub(crate) fn narrowest(route: &[LinkId], bandwidth: impl Fn(LinkId) -> f64) -> (LinkId, f64) {
    let mut best = (LinkId::NONE, f64::INFINITY);
    for &link in route {
        let b = bandwidth(link);
        if b < best.1 {
            best = (link, b);
        }
    }
    best
}
