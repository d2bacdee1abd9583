//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod accepted;
mod accuracy;
mod calibrated;
mod commands;
mod delays;
mod engines;
mod events;
mod exports;
mod glance;
mod hostile_plugins;
mod jitter;
mod jobs;
mod library;
mod loaded;
mod measure;
mod optimize;
mod optimize_parts;
mod outputs;
mod packet_causes;
mod packet_dllps;
mod packet_figures;
mod packet_orders;
mod packet_reads;
mod packet_refusals;
mod packets;
mod plugins;
mod port_plugins;
mod progress;
mod report;
mod rerouting;
mod routing;
mod saved;
mod schemas;
mod search_tables;
mod searches;
mod snapshots;
mod streamed;
mod sweeps;
mod trycmd;
mod tune;
mod what_if;
mod widening;
