//! `weir init`: a commented scenario to start from.

use weir::{Error, Registry};

use crate::args::InitArgs;
use crate::failure::Exit;
use crate::input::is_stdin;
use crate::output::{Output, create_new};

/// The scenario; it runs as it is, once the built-in arbiters stand for `ARBITERS` in a comment.
const TEMPLATE: &str = include_str!("../template.yaml");

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Error> {
    let template = template()?;
    let mut output = Output::open(None)?;
    if is_stdin(&args.file) {
        output.result(|writer| write!(writer, "{template}"))?;
        return Ok(Exit::Ok);
    }
    create_new(&args.file, &template)?;
    let file = args.file.display();
    output.result(|writer| writeln!(writer, "wrote {file}: edit it, then `weir run {file}`"))?;
    Ok(Exit::Ok)
}

fn template() -> Result<String, Error> {
    let registry = Registry::built_in()?;
    let names: Vec<&str> = registry.iter().map(|entry| entry.name.as_str()).collect();
    Ok(TEMPLATE.replace("ARBITERS", &names.join(", ")))
}
