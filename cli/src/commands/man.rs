//! `weir man`: the manual pages.

use clap::CommandFactory;

use weir::Error;

use crate::args::{Args, ManArgs};
use crate::failure::Exit;
use crate::output::replace;

/// Writes `weir.1`, and `weir-run.1` and so on for each command.
pub(crate) fn run(args: &ManArgs) -> Result<Exit, Error> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| Error::input(format!("the folder {folder} cannot be made: {error}; name another one")))?;
    let mut weir = Args::command();
    weir.build();
    for command in weir.get_subcommands().filter(|command| !command.is_hide_set()).chain([&weir]) {
        let page = clap_mangen::Man::new(command.clone());
        let mut text = Vec::new();
        let written = page.render(&mut text);
        written.map_err(|error| Error::input(format!("the manual page of {command} cannot be made: {error}")))?;
        replace(&args.folder.join(page.get_filename()), &text)?;
    }
    Ok(Exit::Ok)
}
