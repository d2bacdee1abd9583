//! What is searched: the messages of a workload by source, read from its tasks or refused.

mod definition;
mod error;
pub(super) mod limits;
mod shapes;
pub(super) mod sources;

pub(super) use definition::factorial;
pub use definition::{MakeArbiter, OrderProblem};
pub use error::{OrderError, TaskRefusal};
pub use limits::MOST_MESSAGES;
