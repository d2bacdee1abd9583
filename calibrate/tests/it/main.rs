//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod collectives;
mod cuts;
mod directions;
mod drift;
mod engines;
mod exchange;
mod few_rows;
mod held_at_zero;
mod host_memory;
mod impossible;
mod loggp;
mod logs;
mod machines;
mod many_fits;
mod matrices;
mod measure;
mod noise;
mod nvbandwidth;
mod odd_logs;
mod pasted;
mod perftest;
mod random;
mod reach;
mod readers;
mod recover;
mod shared;
mod simulated;
mod small_fits;
mod splits;
mod tools;
mod watched;
mod write;
