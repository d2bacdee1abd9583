//! `weir merge`: the parts of a split search as the result of the whole.

use std::path::{Path, PathBuf};

use weir::Error;
use weir::optimize::merge;

use super::optimize::{Form, write, write_csv};
use crate::args::MergeArgs;
use crate::export::Export;
use crate::failure::Exit;
use crate::optimize::read_parts;
use crate::output::{self, Output};

pub(crate) fn run(args: &MergeArgs) -> Result<Exit, Error> {
    let inputs: Vec<&Path> = args.parts.iter().map(PathBuf::as_path).collect();
    args.csv.as_deref().map_or(Ok(()), |path| output::check_target("--csv", path, &inputs))?;
    output::apart(&[("--csv", args.csv.as_deref()), ("--output", args.output.as_deref())])?;
    let mut tables = Export::new(&args.export)?;
    tables.spare(&inputs)?;
    let mut out = Output::open_apart(args.output.as_deref(), &inputs)?;
    let searches = read_parts(&args.parts)?;
    if args.csv.is_some() && searches.len() > 1 {
        return Err(Error::input("--csv takes a search under one arbiter: run one search per arbiter, with --arbiter"));
    }
    for (i, parts) in searches.into_iter().enumerate() {
        let report = merge(parts)?;
        if args.csv.is_some() && report.grid.is_none() {
            return Err(Error::input("--csv is for a grid of parameters: use --json for orders"));
        }
        write_csv(args.csv.as_deref(), &report)?;
        match args.full {
            true => out.result(|writer| report.write_full(None, writer))?,
            false => write(&report, Form { json: args.json, later: i > 0 }, &mut out)?,
        }
        tables.add(|tables| tables.add_search(&report));
    }
    tables.write()?;
    out.finish()?;
    Ok(Exit::Ok)
}
