//! `weir init`: a commented scenario to start from.

use weir::{Error, Registry};
use weir_report::text::clean;

use crate::args::InitArgs;
use crate::failure::Exit;
use crate::input::is_stdin;
use crate::output::{Output, create_new};

/// The scenario; it runs as it is, once the built-in arbiters stand for `ARBITERS` in a comment.
const TEMPLATE: &str = include_str!("../template.yaml");

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Error> {
    let template = template()?;
    let text = if is_stdin(&args.file) {
        template
    } else {
        create_new(&args.file, &template)?;
        let file = clean(&args.file.display().to_string());
        format!("wrote {file}: edit it, then `weir run {file}`\n")
    };
    Output::open(None)?.result(|writer| writer.write_all(text.as_bytes()))?;
    Ok(Exit::Ok)
}

fn template() -> Result<String, Error> {
    let registry = Registry::built_in()?;
    let names: Vec<&str> = registry.iter().map(|entry| entry.name.as_str()).collect();
    Ok(TEMPLATE.replace("ARBITERS", &names.join(", ")))
}
