//! Tests of the packet engine.

mod arbiters;
mod cycles;
mod dllps;
mod fills;
mod golden;
mod net;
mod networks;
mod periods;
mod physics;
mod reads;
mod waits;
