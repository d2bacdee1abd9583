//! A call that never returns is named, with its plugin, and the program can end.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use common::{Slots, Small, arbiter_of, misbehaving};
use weir_plugin_host::Watchdog;

#[test]
fn a_call_that_never_returns_is_reported_once_and_others_are_not() {
    let plugin = arbiter_of(&misbehaving(), "never-returns");
    let limit = Duration::from_millis(150);
    let (send, receive) = mpsc::channel();
    let watchdog =
        Watchdog::start(limit, move |stuck| send.send(stuck.clone()).expect("listened to")).expect("a thread");

    let small = Small::new();
    let mut quick = (plugin.make)(&small.fabric(), "{}").expect("created");
    let mut slow = (plugin.make)(&small.fabric(), "{}").expect("created");
    let started = std::time::Instant::now();
    while started.elapsed() < 3 * limit {
        // Many short calls are not one long call.
        let mut slots = Slots::new();
        quick.allocate(&small.phase(0), &mut slots.grant()).expect("returns at time 0");
    }
    assert!(receive.try_recv().is_err(), "nothing was stuck");

    // Never joined: nothing can end this thread but the end of the process.
    std::thread::spawn(move || {
        let small = Small::new();
        let _ = slow.allocate(&small.phase(1), &mut Slots::new().grant());
    });
    let stuck = receive.recv_timeout(Duration::from_secs(20)).expect("reported");
    assert_eq!((stuck.plugin.as_str(), stuck.call, stuck.limit), ("never-returns", "allocate", limit));
    let line = stuck.to_string();
    assert!(line.contains("`never-returns`") && line.contains("allocate has not returned for 0.15 s"), "{line}");
    assert!(line.contains("libmisbehaving") && !line.contains('\n'), "{line}");
    assert!(receive.recv_timeout(3 * limit).is_err(), "reported once");
    drop(watchdog);
    assert_eq!(receive.try_recv(), Err(mpsc::TryRecvError::Disconnected), "the watching thread has ended");
}
