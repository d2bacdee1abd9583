//! Bandwidths that several directed links share: both directions of a link, or all links of a node. Each is a region with one
//! link, whatever the policies of the real ones are.
//!
//! **Definition.** Weighted fair shares of one link: with limits d and weights w, rate_c = min(d_c, s · w_c), s the largest
//! level whose rates add up to the bandwidth at most. **Ties.** None. **Fairness.** No rate can rise without lowering one that
//! is smaller for its weight. **Source.** Bertsekas, Gallager, *Data Networks*, section 6.5.2, for one link.

use weir_plugin_api::{Binding, CallError, Cause, Grant, LinkId, PhaseView, RateArbiter, SimTime, Step};

/// The step of a transfer in what directed links share.
pub(super) const SHARED: &str = "shared";

/// The policy of one shared bandwidth.
pub(super) struct SharedLink {
    bandwidth: f64,
    /// Positions by limit over weight; kept for its memory.
    order: Vec<usize>,
}

impl SharedLink {
    pub(super) fn new(bandwidth: f64) -> Self {
        Self { bandwidth, order: Vec::new() }
    }
}

impl RateArbiter for SharedLink {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        let all = |position| phase.transfer(position);
        let level = |position: &usize| all(*position).limit / all(*position).weight;
        self.order.clear();
        self.order.extend(0..phase.len());
        self.order.sort_by(|a, b| level(a).total_cmp(&level(b)));
        let (mut room, mut weights) = (self.bandwidth, (0..phase.len()).map(|p| all(p).weight).sum::<f64>());
        for &position in &self.order {
            let transfer = all(position);
            // The last one gets what is left, not that over its own weight.
            let part = if transfer.weight < weights { room * (transfer.weight / weights) } else { room };
            let rate = part.min(transfer.limit);
            grant.rates[position] = rate;
            grant.bindings[position] = match phase.len() {
                _ if rate >= transfer.limit => Binding::new(LinkId::NONE, Cause::OwnLimit, u32::MAX),
                1 => Binding::new(LinkId(0), Cause::FullRate, u32::MAX),
                _ => Binding::new(LinkId(0), Cause::SharedLink, u32::from(position == 0)),
            };
            (room, weights) = ((room - rate).max(0.0), weights - transfer.weight);
        }
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        let (mut rates, mut bindings) = (vec![0.0; phase.len()], vec![Binding::NONE; phase.len()]);
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        self.allocate(phase, &mut grant)?;
        for (transfer, (rate, Binding { link, by, .. })) in (0..).zip(rates.into_iter().zip(bindings)) {
            let because = (by != u32::MAX).then_some(by).into_iter().collect();
            steps.push(Step { transfer, region: 0, step: SHARED.to_owned(), link, rate, because });
        }
        Ok(true)
    }
}
