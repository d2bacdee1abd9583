//! Plugins in processes of their own: a crash, an `exit` or a loop ends the child, never the run.
//!
//! ```text
//! LoadedArbiter, LoadedPort, LoadedModel        the traits of built-in ones
//!        ▲
//!      child   `weir __plugin FILE`: opens the library, tells what it lists, answers what it is asked
//!        │ pipes, frames of `wire`; of tables that grow, only what is new (`mirror`)
//!     process  one child for each instance in use; kept for the next instance, killed when a call does not return,
//!              with what its plugin has started (`group`, `pipe`)
//!        ▲
//!     remote   the same traits, in the process of the run
//! ```
//!
//! A probe is the same child, asked for its list alone.

mod child;
mod group;
mod mirror;
mod pipe;
mod plans;
mod ports;
mod process;
mod remote;
mod remote_port;
mod views;
mod wire;

pub use child::{CHILD_COMMAND, child_main};
pub use process::OPEN_LIMIT;
pub(crate) use process::{Listener, Process};
pub(crate) use remote::open;
pub(crate) use wire::PortListing;
