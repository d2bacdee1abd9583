//! The C table of a Rust arbiter, called as a host does: small enough for Miri, which sees every wrong pointer.
#![allow(unsafe_code, reason = "the functions of a table are called through their C types")]

use std::ffi::{CStr, c_char, c_void};

use weir_plugin_api::abi::{DescribedArbiterTable, ErrorBuffer, Host, StepRecord, code};
use weir_plugin_api::{
    ArbiterPlugin, Binding, CallError, Cause, ClassId, ClassTable, Direction, FabricView, Flags, Grant, LinkId,
    LinkKind, NodeKind, PhaseView, RateArbiter, RouteId, RouteTable, SimTime, Step, TransferId,
};

/// Gives each transfer its part of the first link of its route.
struct Parts {
    bandwidth: Vec<f64>,
}

impl RateArbiter for Parts {
    fn admit(&mut self, route: &[LinkId]) -> Result<(), CallError> {
        if route.len() > 1 { Err(CallError::Refused(format!("{} links", route.len()))) } else { Ok(()) }
    }

    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        assert!(phase.now > SimTime::ZERO, "nothing happens at 0");
        for at in 0..phase.len() {
            let link = phase.route(at)[0];
            grant.rates[at] = self.bandwidth[link.index()] / phase.len() as f64;
            grant.bindings[at] = Binding::new(link, Cause::SharedLink, 0);
        }
        grant.recheck = SimTime(phase.now.0 + 1);
        Ok(())
    }

    fn explain(&mut self, phase: &PhaseView<'_>, steps: &mut Vec<Step>) -> Result<bool, CallError> {
        let step = |at: usize| Step {
            transfer: at as u32,
            region: 0,
            step: "part".to_owned(),
            link: phase.route(at)[0],
            rate: 1.0,
            because: (0..phase.len() as u32).collect(),
        };
        steps.extend((0..phase.len()).map(step));
        Ok(true)
    }

    fn capacity(&mut self, link: LinkId, _: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(self.bandwidth.get(link.index()).copied())
    }
}

impl ArbiterPlugin for Parts {
    const NAME: &'static str = "parts";
    const VERSION: &'static str = "1.0.0";
    const FLAGS: Flags = Flags::PURE;

    fn params_schema() -> String {
        r#"{"type": "object"}"#.to_owned()
    }

    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError> {
        if params != "{}" {
            return Err(CallError::Refused(format!("no parameters are known, not {params}")));
        }
        Ok(Self { bandwidth: fabric.bandwidth.to_vec() })
    }
}

unsafe extern "C" fn log(_: *const Host, _: u32, _: *const c_char, _: usize) {}

unsafe extern "C" fn cancelled(_: *const Host) -> i32 {
    0
}

unsafe extern "C" fn emit(sink: *mut c_void, step: *const StepRecord<'_>) {
    // SAFETY: the sink is the list below, and the record is valid for this call.
    let (list, step) = unsafe { (&mut *sink.cast::<Vec<(u32, String, Vec<u32>)>>(), &*step) };
    list.push((step.transfer, String::from_utf8_lossy(&step.step).into_owned(), step.because.to_vec()));
}

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: the texts of a table are static.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("UTF-8")
}

#[test]
fn every_function_of_a_table_keeps_its_side() {
    let described = DescribedArbiterTable::of::<Parts>();
    let table = described.arbiter;
    assert_eq!((text(table.name), text(table.version)), ("parts", "1.0.0"));
    let (create, destroy) = (table.create.expect("there"), table.destroy.expect("there"));
    let fabric = FabricView {
        bandwidth: (&[10.0, 20.0][..]).into(),
        from: (&[0, 1][..]).into(),
        to: (&[1, 0][..]).into(),
        direction: (&[Direction::Up, Direction::Down][..]).into(),
        depth: (&[1, 1][..]).into(),
        kind: (&[LinkKind::PCIE, LinkKind::PCIE][..]).into(),
        node_kind: (&[NodeKind::Gpu, NodeKind::Switch][..]).into(),
    };
    let host = Host { context: std::ptr::null_mut(), log, cancelled };
    let mut memory = [0; 64];
    let mut state = std::ptr::null_mut();
    let mut make = |params: &str, state: &mut *mut c_void| {
        let mut err = ErrorBuffer::new(&mut memory);
        // SAFETY: all pointers are valid for the call.
        let code = unsafe { create(&host, &fabric, params.as_ptr().cast(), params.len(), state, &mut err) };
        (code, err.text())
    };
    assert_eq!(make("{\"tau\":1}", &mut state), (code::ERROR, "no parameters are known, not {\"tau\":1}".to_owned()));
    assert_eq!(make("{}", &mut state), (code::OK, String::new()));

    let routes =
        RouteTable { offsets: (&[0, 1, 3][..]).into(), links: (&[LinkId(0), LinkId(0), LinkId(1)][..]).into() };
    let classes = ClassTable {
        route: (&[RouteId(0), RouteId(1)][..]).into(),
        limit: (&[f64::INFINITY, 5.0][..]).into(),
        weight: (&[1.0, 1.0][..]).into(),
        priority: (&[0, 0][..]).into(),
    };
    let phase = |now: u64| PhaseView {
        now: SimTime(now),
        id: (&[TransferId(3), TransferId(9)][..]).into(),
        class: (&[ClassId(1), ClassId(0)][..]).into(),
        arrival: (&[0, 0][..]).into(),
        classes,
        routes,
    };
    let mut err = ErrorBuffer::new(&mut memory);
    let (mut rates, mut bindings, mut recheck) = ([f64::NAN; 2], [Binding::NONE; 2], u64::MAX);
    let mut steps: Vec<(u32, String, Vec<u32>)> = Vec::new();
    let mut most = f64::INFINITY;
    // SAFETY: the state is alive, and each slice and slot is valid for its call.
    unsafe {
        let admit = table.admit.expect("there");
        assert_eq!(admit(state, [0].as_ptr(), 1, &mut err), code::OK);
        assert_eq!((admit(state, [0, 1].as_ptr(), 2, &mut err), err.text().as_str()), (code::ERROR, "2 links"));
        let allocate = table.allocate.expect("there");
        let (into_rates, into_bindings) = (rates.as_mut_ptr(), bindings.as_mut_ptr());
        assert_eq!(allocate(state, &phase(7), into_rates, into_bindings, &mut recheck, &mut err), code::OK);
        let explain = table.explain.expect("there");
        assert_eq!(explain(state, &phase(7), emit, (&raw mut steps).cast(), &mut err), code::OK);
        let capacity = described.capacity.expect("there");
        assert_eq!(capacity(state, 1, &routes, &mut most, &mut err), code::OK);
        assert_eq!(table.reset.expect("there")(state, &mut err), code::OK);
        assert_eq!(allocate(state, &phase(0), into_rates, into_bindings, &mut recheck, &mut err), code::PANIC);
        assert!(err.text().contains("nothing happens at 0"), "{}", err.text());
        destroy(state);
    }
    assert_eq!((rates, recheck, most), ([5.0, 5.0], 8, 20.0));
    assert_eq!(bindings[1], Binding::new(LinkId(0), Cause::SharedLink, 0));
    assert_eq!(steps, [(0, "part".to_owned(), vec![0, 1]), (1, "part".to_owned(), vec![0, 1])]);
}
