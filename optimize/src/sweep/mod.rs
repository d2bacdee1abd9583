//! One search for each point of a grid of parameters, and what the searches gain in total along the first axis.
//!
//! ```text
//! Grid ─► Sweep: a search per distinct point, on all threads ─┬─► points, in order
//!                                                             └─► Total, one per combination of the axes but the first
//! ```
//!
//! Points of equal values share one search. What a search is, is asked of a closure, so that nothing here reads a
//! scenario. The result is the same on any number of threads.

mod csv;
mod points;
mod run;

pub use points::{Sweep, Total, gain};
