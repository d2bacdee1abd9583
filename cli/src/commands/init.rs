//! `weir init`: a commented scenario to start from.

use crate::args::InitArgs;
use crate::failure::{Exit, Failure};
use crate::input::is_stdin;
use crate::output::{Output, create_new};

/// The scenario; it runs as it is.
const TEMPLATE: &str = include_str!("../template.yaml");

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let mut output = Output::open(None)?;
    if is_stdin(&args.file) {
        output.result(|writer| write!(writer, "{TEMPLATE}"))?;
        return Ok(Exit::Ok);
    }
    create_new(&args.file, TEMPLATE)?;
    let file = args.file.display();
    output.result(|writer| writeln!(writer, "wrote {file}: edit it, then `weir run {file}`"))?;
    Ok(Exit::Ok)
}
