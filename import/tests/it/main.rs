//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod hwloc;
mod limits;
mod lists;
mod lspci;
mod missing;
mod mutations;
mod odd;
mod old_gpus;
mod overrides;
mod random;
mod rocm;
mod samples;
mod smi;
mod traps;
mod variants;
mod xml;
