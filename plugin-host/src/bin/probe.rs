//! `weir-plugin-probe __plugin FILE`: opens one library for another process.

use std::process::ExitCode;

use weir_plugin_host::{CHILD_COMMAND, child_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(command), Some(file)) if command == CHILD_COMMAND => child_main(file.as_ref()),
        _ => {
            eprintln!("usage: weir-plugin-probe {CHILD_COMMAND} FILE");
            ExitCode::from(2)
        }
    }
}
