//! `weir-plugin-probe __probe FILE`: opens one library and prints what it lists.

use std::process::ExitCode;

use weir_plugin_host::{PROBE_COMMAND, probe_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(command), Some(file)) if command == PROBE_COMMAND => probe_main(file.as_ref()),
        _ => {
            eprintln!("usage: weir-plugin-probe {PROBE_COMMAND} FILE");
            ExitCode::from(2)
        }
    }
}
