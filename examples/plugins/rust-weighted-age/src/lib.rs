//! Example of a weir plugin in Rust: the port arbiter `weighted-age`.
//!
//! **Definition.** An output serves the packet with the largest product of its transfer's weight and its age: the time since
//! it was ready at its source (`since: source`, the default), or since it became visible at this node (`since: here`).
//! **Ties.** The lowest slot. **Fairness.** None for ever: age grows until a packet is served. With equal weights and
//! `since: source` it is `oldest-first`.

use serde::Deserialize;
use weir_plugin_api::{
    CallError, FabricView, Flags, GrantView, Head, LinkId, NO_SLOT, PortArbiter, PortArbiterPlugin, PortGrant,
};

/// From when the age of a packet counts.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Since {
    /// From when it was ready at its source.
    #[default]
    Source,
    /// From when it became visible at this node.
    Here,
}

/// The parameters.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    since: Since,
}

/// The port arbiter `weighted-age`. It needs no memory: all that it looks at is in the view.
pub struct WeightedAge(Since);

impl WeightedAge {
    fn urgency(&self, now: u64, head: &Head) -> f64 {
        let begin = match self.0 {
            Since::Source => head.ready,
            Since::Here => head.visible,
        };
        head.weight * now.saturating_sub(begin.0) as f64
    }
}

impl PortArbiter for WeightedAge {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let urgency = |head: &Head| self.urgency(ask.now.0, head);
        // Of equals the first, which has the lowest slot.
        let more = |best: Option<(u32, f64)>, head: &Head| match best {
            Some((_, most)) if urgency(head) <= most => best,
            _ => Some((head.slot, urgency(head))),
        };
        Ok(ask.heads.iter().fold(None, more).map_or(NO_SLOT, |(slot, _)| slot))
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    /// Nothing but the packets.
    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(true)
    }
}

impl PortArbiterPlugin for WeightedAge {
    const NAME: &'static str = "weighted-age";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DESCRIPTION: &'static str = "the largest weight times age";
    const FLAGS: Flags = Flags::READS_ARRIVAL.union(Flags::READS_WEIGHT);

    fn params_schema() -> String {
        r#"{
            "type": "object",
            "properties": {
                "since": { "enum": ["source", "here"], "description": "From when age counts; source by default." }
            },
            "additionalProperties": false
        }"#
        .to_owned()
    }

    fn create(_: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        let params: Params =
            serde_json::from_str(params).map_err(|e| CallError::Refused(format!("parameters of weighted-age: {e}")))?;
        Ok(Self(params.since))
    }
}

weir_plugin_api::export_port_arbiters!(WeightedAge);

#[cfg(test)]
mod tests {
    use weir_plugin_api::{
        FabricView, GrantView, Head, LinkId, PortArbiter as _, PortArbiterPlugin as _, SimTime, TransferId,
    };

    use super::WeightedAge;

    fn head(slot: u32, ready: u64, visible: u64, weight: f64) -> Head {
        let (ready, visible, transfer) = (SimTime(ready), SimTime(visible), TransferId(slot));
        Head { slot, channel: 0, bytes: 280, payload: 256, ready, visible, transfer, priority: 0, weight }
    }

    /// At 100: ages 60, 40, 40 at the source and 10, 30, 5 here.
    #[test]
    fn weight_times_age_decides() {
        let chosen = |params: &str, weights: [f64; 3]| {
            let heads = [head(2, 40, 90, weights[0]), head(5, 60, 70, weights[1]), head(9, 60, 95, weights[2])];
            let arbiter = WeightedAge::create(&FabricView::default(), params).expect("right");
            arbiter.choose(&GrantView::new(LinkId(0), SimTime(100), &heads, 10)).expect("it does not fail")
        };
        assert_eq!(chosen("{}", [1.0; 3]), 2, "60");
        assert_eq!(chosen("{}", [1.0, 2.0, 2.0]), 5, "80, twice");
        assert_eq!(chosen("{}", [1.0, 2.0, 2.5]), 9, "100");
        assert_eq!(chosen(r#"{"since": "here"}"#, [1.0; 3]), 5, "30");
        assert_eq!(chosen(r#"{"since": "here"}"#, [4.0, 1.0, 1.0]), 2, "40");
        assert!(WeightedAge::create(&FabricView::default(), r#"{"since": "now"}"#).is_err());
    }
}
