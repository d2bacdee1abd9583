//! What a run and the child of a plugin say to each other.
//!
//! Each frame is its length, four bytes, the lowest first, and a value in the format of `postcard`, which keeps every bit
//! of a number.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_plugin_api::CallError;

use super::plans::{AlternativesFrame, EstimatesFrame, PlanFrame};
use super::ports::{CommitFrame, GrantFrame};
use super::views::{FabricFrame, PhaseFrame, RoutesFrame};

/// Longest frame (*assumed*: ten times what the largest plan takes that a model may give).
const LONGEST: u32 = 1 << 30;

/// What a library lists, as the child tells it first.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Listing {
    /// SHA-256 of the file that the child opened.
    pub(crate) sha256: String,
    pub(crate) arbiters: Vec<ArbiterListing>,
    pub(crate) ports: Vec<PortListing>,
    pub(crate) models: Vec<ModelListing>,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct ArbiterListing {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) flags: u32,
    pub(crate) says_what_it_reads: bool,
    /// Step, its short words and its meaning.
    pub(crate) legend: Vec<(String, String, String)>,
    pub(crate) params_schema: String,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct PortListing {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) flags: u32,
    pub(crate) params_schema: String,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct ModelListing {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) operations: Vec<String>,
    pub(crate) schema: String,
}

/// What the run asks. The child answers each question but `Route`, which is itself an answer, and `End`.
#[derive(Serialize, Deserialize)]
pub(crate) enum Ask {
    CreateArbiter {
        name: String,
        fabric: FabricFrame,
        params: String,
    },
    CreatePort {
        name: String,
        fabric: FabricFrame,
        params: String,
    },
    CreateModel {
        name: String,
    },
    Admit(Vec<u32>),
    Allocate(PhaseFrame),
    Explain(PhaseFrame),
    Capacity {
        link: u32,
        routes: RoutesFrame,
    },
    Reset,
    /// Grants, and then who asks.
    Choose {
        grants: Vec<CommitFrame>,
        view: GrantFrame,
    },
    Commit(Vec<CommitFrame>),
    /// Of this output.
    PortState(u32),
    Plan {
        operation: String,
        fabric: FabricFrame,
    },
    Estimate {
        operation: String,
        fabric: FabricFrame,
    },
    Alternatives {
        operation: String,
        fabric: FabricFrame,
    },
    /// Bandwidth, latency and number of links of the route that the child asked for.
    Route(Option<(f64, f64, u32)>),
    /// The instance is not needed any more.
    Destroy,
    /// The child is not needed any more. It ends instead of an answer.
    End,
}

/// What the child says.
#[derive(Serialize, Deserialize)]
pub(crate) enum Tell {
    Listing(Result<Listing, String>),
    Done,
    Rates {
        rates: Vec<f64>,
        bindings: Vec<(u32, u32, u32)>,
        recheck: u64,
    },
    Steps(Option<Vec<StepFrame>>),
    Capacity(Option<f64>),
    Slot(u32),
    State(Option<Vec<u64>>),
    Plan(PlanFrame),
    Estimates(EstimatesFrame),
    Alternatives(AlternativesFrame),
    /// Which route leads from a node to another one? Asked while the child answers a question.
    Route {
        from: u32,
        to: u32,
    },
    Failed(Failure),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StepFrame {
    pub(crate) transfer: u32,
    pub(crate) step: String,
    pub(crate) link: u32,
    pub(crate) rate: f64,
    pub(crate) because: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Failure {
    Refused(String),
    Failed(String),
    Panicked(String),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(text) => Self::Refused(text),
            CallError::Failed(text) => Self::Failed(text),
            CallError::Panicked(text) => Self::Panicked(text),
        }
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(text) => Self::Refused(text),
            Failure::Failed(text) => Self::Failed(text),
            Failure::Panicked(text) => Self::Panicked(text),
        }
    }
}

/// Writes a frame at once, so that the other side wakes once. `buffer` is scratch.
pub(crate) fn send(to: &mut impl Write, buffer: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    buffer.clear();
    buffer.extend_from_slice(&[0; 4]);
    let mut frame = postcard::to_extend(value, std::mem::take(buffer)).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).ok().filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("what is said takes more than 1 GiB"))?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    let written = to.write_all(&frame).and_then(|()| to.flush());
    *buffer = frame;
    written
}

/// Reads a frame. `buffer` is scratch.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes")));
    }
    // A length that no bytes follow takes no memory.
    buffer.clear();
    if from.take(length.into()).read_to_end(buffer)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(buffer).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::{EngineScope, NodeId, Plan, PlannedTask, PlannedWork, Queue, Wait};

    use super::{Ask, LONGEST, Tell, io, receive, send};

    /// What a plugin that writes into the memory of its process can make of an answer.
    #[test]
    fn a_changed_frame_is_refused_or_read() {
        let mut plan = Plan::new();
        plan.engine("copy", 2, EngineScope::Device(NodeId(3)));
        for (name, work) in [("a", PlannedWork::Nothing), ("b", PlannedWork::Lasts(5.0))] {
            plan.task(&PlannedTask::new(name, &[Wait::end(0), Wait::start(1)], work).on(0, Queue::Issued));
        }
        let (mut pipe, mut buffer) = (Vec::new(), Vec::new());
        send(&mut pipe, &mut buffer, &Tell::Plan((&plan).into())).expect("written");
        let mut same = Plan::new();
        let Ok(Tell::Plan(frame)) = receive(&mut pipe.as_slice(), &mut buffer) else {
            panic!("other than what was sent")
        };
        frame.add_to(&mut same);
        assert_eq!(same, plan);
        for bit in 0..pipe.len() * 8 {
            let mut changed = pipe.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            if let Ok(Tell::Plan(frame)) = receive(&mut changed.as_slice(), &mut buffer) {
                frame.add_to(&mut Plan::new());
            }
        }
    }

    #[test]
    fn frames_keep_every_bit_and_wrong_ones_are_refused() {
        let rates = vec![f64::NAN, -0.0, f64::INFINITY, 5e-324, 0.1];
        let told = Tell::Rates { rates: rates.clone(), bindings: vec![(1, 2, u32::MAX)], recheck: u64::MAX };
        let (mut pipe, mut buffer) = (Vec::new(), Vec::new());
        send(&mut pipe, &mut buffer, &told).expect("written");
        let Ok(Tell::Rates { rates: read, bindings, recheck }) = receive(&mut pipe.as_slice(), &mut buffer) else {
            panic!("other than what was sent");
        };
        let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&read), bindings, recheck), (bits(&rates), vec![(1, 2, u32::MAX)], u64::MAX));
        for cut in 0..pipe.len() {
            assert!(receive::<Tell>(&mut &pipe[..cut], &mut buffer).is_err(), "{cut} of {} bytes", pipe.len());
        }
        // A frame that may be so long ends early, a longer one is none.
        for (length, kind) in [(LONGEST, io::ErrorKind::UnexpectedEof), (LONGEST + 1, io::ErrorKind::InvalidData)] {
            let error = receive::<Ask>(&mut length.to_le_bytes().as_slice(), &mut buffer).err().expect("no frame");
            assert_eq!(error.kind(), kind, "{length}");
        }
    }
}
