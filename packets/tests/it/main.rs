//! Tests of the packet engine.

mod arbiters;
mod cycles;
mod golden;
mod net;
mod physics;
mod reads;
