//! Why a search over orders cannot be done.

use weir_sim_core::api::CallError;
use weir_sim_core::{AnswerError, TaskId};

use super::limits::{MOST_MESSAGES, MOST_SOURCES};

/// Why a task is outside of what the search covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TaskRefusal {
    /// It is no transfer.
    #[error(
        "the order search covers plain transfers and `loggp` over the fabric only; leave computations, barriers and \
         other operations out"
    )]
    NotATransfer,
    /// It occupies its sender, but carries no bytes over the fabric.
    #[error(
        "it carries no bytes over the fabric, as the order search requires; give its model \
         `over: fabric` instead of `per_byte` (and a size above 0), or leave it out"
    )]
    NoBytes,
    /// It has a start of its own.
    #[error("the order search needs every transfer ready at 0; remove its `start`")]
    StartsLater,
    /// It waits for others, or others are issued by it.
    #[error("the order search needs transfers that wait for no other; remove its `after`")]
    Waits,
    /// Its place in the queue of its engine is taken in advance, or it is of another class than the others there.
    #[error(
        "the order search covers transfers that queue when they are ready, all of a source of one class; remove its \
         `model`"
    )]
    Service,
    /// It does not take the route with the fewest links and smallest ids.
    #[error("the order search covers transfers on default routes; remove `routing`, `via` and `nic`")]
    Routed,
    /// Its engine sends several of its transfers at once.
    #[error(
        "its source sends {slots} of {count} transfers at once; the order search covers sources that send one at a time"
    )]
    Slots {
        /// Transfers that the engine sends at once.
        slots: u32,
        /// Transfers of the engine.
        count: usize,
    },
}

/// Why there is no search, or why it stopped.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum OrderError {
    /// The arbiter is not pure.
    #[error("the order search needs an arbiter whose answer depends only on the active transfers (a pure one)")]
    NotPure,
    /// The arbiter reads when transfers arrived.
    #[error(
        "the order search needs an arbiter whose rates depend only on which transfers are active, not on when they \
         arrived; `weir plugin list` names others"
    )]
    ReadsArrival,
    /// There is nothing to send.
    #[error("there are no transfers to order")]
    Nothing,
    /// Too many sources.
    #[error("{count} sources send; the order search covers up to {}", MOST_SOURCES)]
    Sources {
        /// How many.
        count: usize,
    },
    /// Too many transfers of one source.
    #[error("a source sends {count} transfers; the order search covers up to {} each", MOST_MESSAGES)]
    Messages {
        /// Its first.
        task: TaskId,
        /// How many.
        count: usize,
    },
    /// A task is not covered.
    #[error("{why}")]
    Task {
        /// The task.
        task: TaskId,
        /// Why.
        why: TaskRefusal,
    },
    /// The arbiter does not admit a transfer's route.
    #[error("{error}")]
    Route {
        /// The transfer.
        task: TaskId,
        /// The arbiter's words.
        error: CallError,
    },
    /// The arbiter cannot be built, or failed.
    #[error("{0}")]
    Arbiter(CallError),
    /// What it answers for a set of active transfers is wrong; the time says nothing.
    #[error("{0}")]
    Answer(AnswerError),
    /// Its rates exceed what it said that a link can carry.
    #[error("the arbiter gave a link more than the capacity that it promised; its bounds prove nothing")]
    Capacity,
    /// The arbiter asked to be called again at some instant.
    #[error(
        "the arbiter asks to be called again later: its rates depend on time, which the order search does not cover"
    )]
    Recheck,
    /// All active transfers have rate 0.
    #[error("there is an order in which no active transfer gets a rate above 0, so it never ends")]
    Stuck,
    /// A run longer than times are exact in.
    #[error("there is an order that takes more than 2^52 ps (75 minutes); make all sizes smaller by one factor")]
    TooLong,
    /// Too many orders to visit all.
    #[error("there are {} orders, more than the {most} that are visited one by one; use `{instead}`", count(*.candidates))]
    TooManyOrders {
        /// How many; none above 2^128.
        candidates: Option<u128>,
        /// The bound.
        most: u128,
        /// A method that can.
        instead: &'static str,
    },
    /// Too many alternatives at once for a tree search.
    #[error("the sources' first choices alone are more than {most}; use `anneal`")]
    TooManyFirst {
        /// The bound.
        most: u64,
    },
    /// It was asked to stop before anything was known.
    #[error("the search was ended before it began")]
    Cancelled,
    /// Results that do not belong together.
    #[error("{0}")]
    Shards(String),
}

fn count(candidates: Option<u128>) -> String {
    candidates.map_or_else(|| "more than 2^128".to_owned(), |c| c.to_string())
}
