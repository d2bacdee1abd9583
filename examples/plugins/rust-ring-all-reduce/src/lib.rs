//! Example of a weir plugin in Rust: the model `ring-all-reduce`, by which devices add up arrays of one size and all of them
//! get the sum.
//!
//! ```yaml
//! workload:
//!   - ring-all-reduce: { id: gradients, devices: "gpu[0-3]", size: 64MiB, latency: 5us }
//! ```
//!
//! # Definition
//! The `n` devices form a ring in the order of `devices`, and the `size` bytes of each are cut into `n` chunks of whole
//! bytes, chunk `c` from `⌊c · size / n⌋` to `⌊(c + 1) · size / n⌋`. There are `2(n − 1)` steps. In step `s` the device at
//! position `d` sends chunk `(d − s) mod n` to the next one. In the first `n − 1` steps the receiver adds what it gets to its
//! own chunk; in the others it keeps what it gets, which is a finished sum.
//!
//! A device sends what it has received in the step before, so each step waits for that. It sends one chunk at a time (its
//! engine `ring`, which all such operations of the device share), and begins `latency` after it is ready: the time of a
//! step that does not depend on its bytes, 0 by default. Adding takes no time.
//!
//! # Estimate
//! `ring`: `2(n − 1) · (latency + ⌈size / n⌉ / B + l)`, with `B` the bandwidth of the narrowest link on the ring's routes and
//! `l` the largest latency of a route. It sends 2(n − 1)/n of the size through each device, the least that an all-reduce can do
//! (P. Patarasu, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of Parallel and
//! Distributed Computing 69(2), 2009).
//!
//! Where all routes of the ring are alike, the simulated time is at least that: the largest chunk passes `2(n − 1)` devices
//! one after the other. It is more when routes share links, or others use them. Where the routes differ nothing is claimed:
//! a slow one keeps its device busy, so that latencies pass meanwhile.
//!
//! # Refused
//! Fewer than two devices, one named twice, neighbours without a route, no bytes, and more tasks than a plan may have.

use serde::Deserialize;
use weir_plugin_api::{
    CallError, EngineScope, Estimate, Estimates, Model, ModelPlugin, NodeId, Plan, PlannedTask, PlannedWork, Queue,
    Relation, RouteInfo, Surroundings, Wait,
};

/// Tasks that a plan may have at most (the ABI's limit).
const MOST_TASKS: u64 = 10_000_000;
/// Picoseconds of a second.
const PS_PER_S: f64 = 1e12;

#[derive(Deserialize)]
struct Operation {
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Node ids, in the order of the ring.
    devices: Vec<u32>,
    /// Bytes on each device.
    size: u64,
    /// Time of a step beside that of its bytes, ps.
    #[serde(default)]
    latency: u64,
}

/// The model; see the crate's documentation.
pub struct RingAllReduce;

/// An operation that can be done.
struct Ring {
    devices: Vec<NodeId>,
    /// From each device to the next.
    routes: Vec<RouteInfo>,
    size: u64,
    latency_ps: f64,
}

fn refused(text: impl Into<String>) -> CallError {
    CallError::Refused(text.into())
}

impl Ring {
    fn read(operation: &str, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        let Operation { params } = serde_json::from_str(operation)
            .map_err(|e| CallError::Failed(format!("the operation is not as the schema says: {e}")))?;
        let devices: Vec<NodeId> = params.devices.into_iter().map(NodeId).collect();
        let n = devices.len() as u64;
        if n < 2 {
            return Err(refused(format!("devices: a ring has at least 2, not {n}; name more")));
        }
        if 2 * n * (n - 1) > MOST_TASKS {
            let tasks = 2 * n * (n - 1);
            return Err(refused(format!("devices: {n} make {tasks} tasks, and {MOST_TASKS} are the most; name fewer")));
        }
        if params.size == 0 {
            return Err(refused("size: there is nothing to add up; give at least one byte"));
        }
        let mut sorted = devices.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(refused(format!(
                "devices: {} is there twice; name each device once",
                place(&devices, pair[0])
            )));
        }
        let routes = (0..devices.len()).map(|at| route(surroundings, &devices, at)).collect::<Result<_, _>>()?;
        Ok(Self { devices, routes, size: params.size, latency_ps: params.latency as f64 })
    }

    fn steps(&self) -> usize {
        2 * (self.devices.len() - 1)
    }

    /// Bytes of the chunk that the device at a position sends in a step.
    fn bytes(&self, position: usize, step: usize) -> u64 {
        let n = self.devices.len();
        let chunk = chunk(n, position, step) as u128;
        let bound = |chunk: u128| chunk * u128::from(self.size) / n as u128;
        // Not more than the size, so it fits.
        (bound(chunk + 1) - bound(chunk)) as u64
    }

    fn largest_chunk(&self) -> u64 {
        self.size.div_ceil(self.devices.len() as u64)
    }

    /// The closed form, in seconds.
    fn seconds(&self) -> f64 {
        let bandwidth = self.routes.iter().map(|route| route.bandwidth).fold(f64::INFINITY, f64::min);
        let latency_ps = self.routes.iter().map(|route| route.latency_ps).fold(0.0, f64::max);
        let step = (self.latency_ps + latency_ps) / PS_PER_S + self.largest_chunk() as f64 / bandwidth;
        self.steps() as f64 * step
    }

    fn is_uniform(&self) -> bool {
        let alike = |a: &RouteInfo, b: &RouteInfo| a.bandwidth == b.bandwidth && a.latency_ps == b.latency_ps;
        self.routes.iter().all(|route| alike(route, &self.routes[0]))
    }
}

/// The chunk that the device at a position of a ring of `n` sends in a step: `(position − step) mod n`.
fn chunk(n: usize, position: usize, step: usize) -> usize {
    (position + n - step % n) % n
}

/// A device for a person, who knows names and not ids: its place in the list.
fn place(devices: &[NodeId], device: NodeId) -> String {
    let at = devices.iter().position(|&d| d == device).map_or(0, |at| at + 1);
    format!("device {at} of the list")
}

fn route(surroundings: &Surroundings<'_>, devices: &[NodeId], at: usize) -> Result<RouteInfo, CallError> {
    let (from, to) = (devices[at], devices[(at + 1) % devices.len()]);
    surroundings.routes.route(from, to).ok_or_else(|| {
        let (from, to) = (place(devices, from), place(devices, to));
        refused(format!("devices: there is no route from {from} to {to}; name devices that links connect"))
    })
}

impl Model for RingAllReduce {
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let ring = Ring::read(operation, surroundings)?;
        let n = ring.devices.len();
        let engines: Vec<u32> =
            ring.devices.iter().map(|&device| plan.engine("ring", 1, EngineScope::Device(device))).collect();
        for step in 0..ring.steps() {
            for (position, &engine) in engines.iter().enumerate() {
                // Tasks stand in the order of steps, then of positions.
                let received =
                    step.checked_sub(1).map(|before| Wait::end((before * n + (position + n - 1) % n) as u32));
                let work = PlannedWork::Carries {
                    from: ring.devices[position],
                    to: ring.devices[(position + 1) % n],
                    bytes: ring.bytes(position, step),
                    limit: f64::INFINITY,
                };
                let name = format!("send[{position}][{step}]");
                let task = PlannedTask::new(&name, received.as_slice(), work).on(engine, Queue::Issued);
                plan.task(&task.paced(0, ring.latency_ps, 0.0));
            }
        }
        Ok(())
    }

    fn estimate(
        &mut self,
        operation: &str,
        surroundings: &Surroundings<'_>,
        estimates: &mut Estimates,
    ) -> Result<(), CallError> {
        let ring = Ring::read(operation, surroundings)?;
        let (relation, because) = if ring.is_uniform() {
            (
                Relation::AtLeast,
                "every chunk passes at full rate (Patarasu and Yuan, JPDC 2009); on shared links it may not",
            )
        } else {
            (Relation::Unstated, "every step is as slow as on the slowest route; latencies may pass behind a slow one")
        };
        estimates.list.push(Estimate {
            formula: "ring".to_owned(),
            seconds: ring.seconds(),
            relation,
            because: because.to_owned(),
        });
        estimates.details =
            format!(r#"{{"steps": {}, "largest_chunk_bytes": {}}}"#, ring.steps(), ring.largest_chunk());
        Ok(())
    }
}

impl ModelPlugin for RingAllReduce {
    const NAME: &'static str = "ring-all-reduce";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const OPERATIONS: &'static [&'static str] = &["ring-all-reduce"];

    fn schema() -> String {
        r#"{
            "type": "object",
            "properties": {
                "ring-all-reduce": {
                    "type": "object",
                    "properties": {
                        "devices": {
                            "type": "array",
                            "items": { "type": "integer" },
                            "x-weir-nodes": true,
                            "description": "The devices, in the order of the ring."
                        },
                        "size": {
                            "type": "integer",
                            "x-weir-quantity": "bytes",
                            "description": "Bytes on each device."
                        },
                        "latency": {
                            "type": "integer",
                            "x-weir-quantity": "time",
                            "default": 0,
                            "description": "Time of a step beside that of its bytes."
                        }
                    },
                    "required": ["devices", "size"],
                    "additionalProperties": false
                }
            },
            "additionalProperties": false
        }"#
        .to_owned()
    }

    fn create() -> Result<Self, CallError> {
        Ok(Self)
    }
}

weir_plugin_api::export_models!(RingAllReduce);

#[cfg(test)]
mod tests;
