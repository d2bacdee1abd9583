//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod collective;
mod collective_details;
mod collective_graph;
mod collective_order;
mod collective_shared;
mod contract;
mod gather;
mod loggp;
mod offload;
mod offload_details;
mod program;
mod program_any;
mod program_chakra;
mod program_collectives;
mod program_collectives_refused;
mod program_cpus;
mod program_fabric;
mod program_files;
mod program_msccl;
mod program_order;
mod program_ties;
mod protobuf;
mod put;
