//! As `watchdog.rs`, for models. A watchdog sees all plugins of a process, so this test has one of its own.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use common::{Small, SmallRoutes, misbehaving, model_of};
use weir_plugin_api::{Plan, Surroundings};
use weir_plugin_host::{StuckCall, Watchdog};

#[test]
fn a_plan_that_never_returns_is_reported() {
    let plugin = model_of(&misbehaving(), "forever");
    let limit = Duration::from_millis(150);
    let (send, receive) = mpsc::channel();
    let report = move |stuck: &StuckCall| send.send(stuck.clone()).expect("listened to");
    let _watchdog = Watchdog::start(limit, report).expect("a thread");
    // Never joined: nothing can end this thread but the end of the process.
    std::thread::spawn(move || {
        let mut model = (plugin.make)().expect("created");
        let small = Small::new();
        let surroundings = Surroundings { fabric: &small.fabric(), routes: &SmallRoutes };
        model.plan("", &surroundings, &mut Plan::new()).expect("returns for an empty operation");
        let _ = model.plan("{}", &surroundings, &mut Plan::new());
    });
    let stuck = receive.recv_timeout(Duration::from_secs(20)).expect("reported");
    assert_eq!((stuck.plugin.as_str(), stuck.call, stuck.limit), ("forever", "plan", limit));
    let line = stuck.to_string();
    assert!(line.contains("plan has not returned for 0.15 s") && line.contains("libmisbehaving"), "{line}");
}
