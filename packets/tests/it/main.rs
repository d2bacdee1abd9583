//! Tests of the packet engine.

mod arbiters;
mod golden;
mod net;
mod physics;
mod reads;
