//! Operations that models planned: their rows, how far they are from their closed forms, and why.

use crate::planned::{D0, late, result, seconds, times};
use serde_json::json;
use weir_plugin_api::{Binding, Cause, LinkId, Queue, Relation, SimDuration, SimTime};
use weir_scenario::Scenario;
use weir_sim_core::{Bottleneck, EngineId, Outcome, Service, ServiceId, Task, TaskGraphBuilder, TaskTimes, Work};

/// The reasons given for x.
fn because(change: impl FnOnce(&mut Scenario, &mut Outcome)) -> Vec<String> {
    let result = result(change);
    let reasons = result["operations"][0]["details"]["difference"]["because"].as_array().expect("a list");
    reasons.iter().map(|reason| reason.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn operations_stand_in_file_order_and_their_transfers_among_the_transfers() {
    let result = result(|_, _| ());
    let expected = json!([
        {"id": "x", "kind": "offload", "start_s": 0.0, "end_s": 11.5, "end_ps": 11_500_000_000_000_u64,
         "estimates": [{"formula": "eq1", "seconds": 5.0}, {"formula": "category", "seconds": 11.5}],
         "details": {"model": {"name": "copies", "version": "1.2.3"}, "simulated_s": 11.5,
                     "difference": {"formula": "category", "seconds": 0.0, "relative": 0.0, "because": []}}},
        {"id": "b", "kind": "barrier", "start_s": 0.0, "end_s": 0.0, "end_ps": 0, "estimates": [], "details": {}},
        {"id": "y", "kind": "put", "start_s": 20.0, "end_s": 31.0, "end_ps": 31_000_000_000_000_u64, "estimates": [],
         "details": {"model": {"name": "copies", "version": "1.2.3", "sha256": "ff"}, "simulated_s": 11.0,
                     "choice": {"key": "packet", "chosen": "512KiB",
                                "alternatives": [{"label": "none", "seconds": 12.0}, {"label": "512KiB", "seconds": 11.5}]}}},
    ]);
    assert_eq!(result["operations"], expected);
    let transfers: Vec<_> = result["transfers"].as_array().expect("a list").iter().map(|t| &t["id"]).collect();
    assert_eq!(transfers, ["y/m0", "t"]);
}

#[test]
fn a_model_adds_details_but_overwrites_none_of_the_hosts() {
    let add = |world: &mut Scenario| {
        world.operations[0].details.insert("dominant".to_owned(), json!("kernel"));
        world.operations[0].details.insert("simulated_s".to_owned(), json!(99));
    };
    let details = &result(|world, _| add(world))["operations"][0]["details"];
    assert_eq!((&details["dominant"], &details["simulated_s"]), (&json!("kernel"), &json!(11.5)));
}

#[test]
fn equal_is_within_a_part_in_a_billion_or_a_picosecond_per_instant() {
    // A part in a billion of 11.5 s is 11500 ps.
    let longer = |ps| because(move |_, o| o.tasks[D0].end.0 += ps).is_empty();
    assert!(longer(11_000) && !longer(12_000));
    // Three tasks start at one instant and end at one; a part in a billion of 1 ns is less than a picosecond.
    let short = |ps: u64| {
        let end = SimTime(1000 + ps);
        because(|world, o| {
            world.operations[0].estimates[1].seconds = 1e-9;
            o.tasks[1..4].fill(TaskTimes { ready: SimTime::ZERO, start: SimTime::ZERO, sent: end, end });
        })
        .is_empty()
    };
    assert!(short(1) && !short(3));
}

#[test]
fn an_operation_alone_must_be_as_its_model_promises() {
    let promised = |relation, simulated: f64| {
        because(|world, o| {
            world.operations[0].estimates[1].relation = relation;
            o.tasks[D0] = times(4.0, simulated - 2.0, simulated);
        })
    };
    let broken = |expected| vec![format!("expected {expected}, as nothing is shared: an error of the model")];
    assert_eq!(promised(Relation::Equal, 12.5), broken("equal"));
    assert_eq!(promised(Relation::Equal, 10.5), broken("equal"));
    assert_eq!(promised(Relation::AtMost, 12.5), broken("at most as long"));
    assert_eq!(promised(Relation::AtLeast, 10.5), broken("at least as long"));
    for (relation, simulated) in [
        (Relation::AtMost, 10.5),
        (Relation::AtLeast, 12.5),
        (Relation::Unstated, 12.5),
        (Relation::Unstated, 10.5),
        (Relation::Equal, 11.5),
    ] {
        assert_eq!(promised(relation, simulated), [] as [&str; 0], "{relation:?} {simulated}");
    }
}

#[test]
fn what_the_model_says_comes_first() {
    let reasons = because(|world, o| {
        late(o);
        world.operations[0].estimates[1].because = "whole bytes".to_owned();
        world.operations[0].estimates[1].relation = Relation::Unstated;
    });
    assert_eq!(reasons, ["whole bytes"]);
}

#[test]
fn what_the_model_says_fits_the_sign_of_the_difference() {
    let marked = |simulated: f64, shared: bool| {
        because(move |world, o| {
            world.operations[0].estimates[1].because = "+longer\n-shorter\n?either".to_owned();
            world.operations[0].estimates[1].relation = Relation::Unstated;
            o.tasks[D0] = times(4.0, simulated - 2.0, simulated);
            if shared {
                (o.tasks[5], o.tasks[6]) = (times(0.0, 0.0, 0.0), times(0.0, 7.5, 8.5));
            }
        })
    };
    assert_eq!(marked(12.5, false), ["longer", "either"]);
    assert_eq!(marked(10.5, false), ["shorter", "either"]);
    // Who shared an engine explains a longer time; a shorter one is explained already.
    assert_eq!(marked(12.5, true), ["longer", "either", "gpu0/copy is shared with y"]);
    assert_eq!(marked(10.5, true), ["shorter", "either"]);
}

#[test]
fn others_on_an_engine_of_the_device_are_named() {
    let shared = |start, end| {
        because(move |_, o| {
            late(o);
            (o.tasks[5], o.tasks[6]) = (times(0.0, 0.0, 0.0), times(0.0, start, end));
        })
    };
    assert_eq!(shared(7.5, 8.5), ["gpu0/copy is shared with y"]);
    // Up to the release, and from the end on, nobody is in the way.
    assert!(shared(12.5, 13.5)[0].starts_with("expected equal"));
    assert!(shared(0.0, 0.0)[0].starts_with("expected equal"));
}

#[test]
fn the_gap_after_a_task_before_the_release_is_a_reason() {
    // x is released at 21 s, when y's k0 ends; h0 has a lead of 1 s and a gap of 0.5 s, so that k0 does not delay it.
    let undelayed = because(|_, o| {
        o.tasks[0] = times(21.0, 21.0, 21.0);
        o.tasks[1..4].fill(times(21.0, 22.0, 40.0));
    });
    assert!(undelayed[0].starts_with("expected equal"), "{undelayed:?}");
    // Here k0 ends at 20.8 s, and h0 starts at max(20 + 1, 20.8 + 0.5).
    let delayed = because(|_, o| {
        (o.tasks[5], o.tasks[6]) = (times(0.0, 0.0, 0.0), times(0.0, 0.0, 20.8));
        o.tasks[0] = times(20.0, 20.0, 20.0);
        o.tasks[1] = times(20.0, 21.3, 24.3);
        o.tasks[2] = times(20.0, 24.8, 27.8);
        o.tasks[D0] = times(24.3, 29.8, 31.8);
    });
    assert_eq!(delayed, ["gpu0/copy is shared with y"]);
}

/// k0 ends at 20 s, as x is released: it delays h0 where the gap after it is longer than the lead of h0, and they are of one class.
#[test]
fn a_gap_is_a_reason_where_it_is_longer_than_the_lead() {
    let named = |lead: f64, gap: f64, class: u32| {
        let reasons = because(|world, o| {
            let mut tasks = TaskGraphBuilder::new();
            let gpu0 = world.node("gpu0").expect("a GPU");
            let copy = tasks.engine(gpu0, "copy", 1).expect("one number of slots");
            let (lead, gap) = (seconds(lead), seconds(gap));
            let paced = tasks.service(Service { queue: Queue::Ready, class, lead, gap });
            for at in 0..9 {
                let (engine, service) = match at {
                    1..=3 => (copy, paced),
                    6 => (copy, ServiceId::PLAIN),
                    _ => (EngineId::NONE, ServiceId::PLAIN),
                };
                let work = if at == 0 { Work::Nothing { counted: false } } else { Work::Lasts(seconds(1.0)) };
                tasks.task(Task { start: SimTime::ZERO, engine, service, work });
            }
            world.tasks = tasks.build().expect("no cycle");
            (o.tasks[5], o.tasks[6], o.tasks[0]) =
                (times(0.0, 0.0, 0.0), times(0.0, 19.0, 20.0), times(20.0, 20.0, 20.0));
            o.tasks[1..4].fill(times(20.0, 21.0, 40.0));
        });
        reasons == ["gpu0/copy is shared with y"]
    };
    assert!(named(0.5, 1.0, 0) && named(0.5, 0.75, 0));
    assert!(!named(0.5, 0.5, 0) && !named(1.0, 0.5, 0) && !named(0.5, 1.0, 1));
}

#[test]
fn the_link_at_which_its_transfers_lost_most_is_named_with_the_culprits() {
    // As if the copies of x were transfers: 2 s at link 1 by t, 3 s at link 2 by y's transfer and their own.
    let reasons = because(|_, o| {
        late(o);
        let bottleneck = |link, cause, by, time| Bottleneck {
            binding: Binding::new(LinkId(link), cause, by),
            time,
            blocked: SimDuration::ZERO,
        };
        o.bottlenecks[1] = bottleneck(1, Cause::Upstream, 8, seconds(2.0));
        o.bottlenecks[2] = bottleneck(2, Cause::Downstream, 7, seconds(1.5));
        o.bottlenecks[3] = bottleneck(2, Cause::Downstream, 2, seconds(1.5));
    });
    let link = reasons[0].strip_prefix("held back ").expect("the link");
    assert_eq!(
        link,
        "at gpu1 → rc for 3.000 s (sum over 2 transfers): downstream port shared with y, its own transfers, \
         and at rc → gpu0 for 2.000 s: upstream port shared with t"
    );
    assert_eq!(reasons.len(), 1);
    // Of another direction, a tenth of the longest is told and less is not.
    let told = |time: f64| {
        let reasons = because(|_, o| {
            late(o);
            let at = |link, cause, time| Bottleneck {
                binding: Binding::new(LinkId(link), cause, u32::MAX),
                time: seconds(time),
                blocked: SimDuration::ZERO,
            };
            (o.bottlenecks[1], o.bottlenecks[2]) = (at(1, Cause::Upstream, 2.0), at(2, Cause::Downstream, time));
        });
        reasons[0].contains("gpu1 → rc")
    };
    assert!(told(0.25) && told(0.2) && !told(0.1999));
    // Who is not known, and the transfer itself, are others.
    for by in [u32::MAX, 1] {
        let reasons = because(|_, o| {
            late(o);
            let binding = Binding::new(LinkId(1), Cause::Upstream, by);
            o.bottlenecks[1] = Bottleneck { binding, time: seconds(2.0), blocked: SimDuration::ZERO };
        });
        assert_eq!(reasons, ["held back at rc → gpu0 for 2.000 s: upstream port shared with others"]);
    }
}
