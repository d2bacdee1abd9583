//! What `weir run` writes beside its results: a timeline, tables.

use std::path::Path;

use weir_report::{Run, Table, Tables, write_csv, write_trace};
use weir_scenarios::Scenario;

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output;

/// The files that were asked for.
pub(super) struct Files<'a> {
    args: &'a RunArgs,
    tables: Tables,
}

impl<'a> Files<'a> {
    /// Refuses targets that would not do before any run.
    pub(super) fn new(args: &'a RunArgs, inputs: &[&Path]) -> Result<Self, Failure> {
        if let Some(target) = &args.timeline {
            if args.scenario.files.len() > 1 {
                return Err(Failure::usage(
                    "--timeline takes one scenario: run the others each with a FILE of its own",
                ));
            }
            output::check_target("--timeline", target, inputs)?;
        }
        let files = Self { args, tables: Tables::default() };
        files.folders().try_for_each(|(option, folder, _)| check_folder(option, folder))?;
        Ok(files)
    }

    /// Refuses a scenario that cannot have what was asked for.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), Failure> {
        if self.args.timeline.is_some() && scenario.arbiters.len() > 1 {
            let names: Vec<_> = scenario.arbiters.iter().map(|spec| spec.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "--timeline takes one arbiter, and {} has {}: choose one, such as --arbiter {}",
                scenario.file,
                names.join(", "),
                names[0]
            )));
        }
        Ok(())
    }

    /// Takes a run in.
    pub(super) fn add(&mut self, run: &Run<'_>) -> Result<(), Failure> {
        if let Some(target) = &self.args.timeline {
            output::replace_with(target, |file| write_trace(run, file))?;
        }
        if self.folders().next().is_some() {
            self.tables.add(run);
        }
        Ok(())
    }

    /// Writes the tables of all runs; without any, none.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        for (_, folder, kind) in self.folders() {
            for table in self.tables.all() {
                kind.write(table, folder)?;
            }
        }
        Ok(())
    }

    /// Option, folder and kind of the tables.
    fn folders(&self) -> impl Iterator<Item = (&'static str, &'a Path, Kind)> + use<'a> {
        let csv = self.args.export_csv.as_deref().map(|folder| ("--export-csv", folder, Kind::Csv));
        #[cfg(feature = "parquet")]
        let parquet = self.args.export_parquet.as_deref().map(|folder| ("--export-parquet", folder, Kind::Parquet));
        #[cfg(not(feature = "parquet"))]
        let parquet = None;
        csv.into_iter().chain(parquet)
    }
}

/// What tables are written as.
#[derive(Clone, Copy)]
enum Kind {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Kind {
    fn write(self, table: &Table, folder: &Path) -> Result<(), Failure> {
        match self {
            Self::Csv => output::replace_with(&folder.join(format!("{}.csv", table.name)), |file| {
                write_csv(table, std::io::BufWriter::new(file))
            }),
            #[cfg(feature = "parquet")]
            Self::Parquet => output::replace_with(&folder.join(format!("{}.parquet", table.name)), |file| {
                weir_report::write_parquet(table, std::io::BufWriter::new(file))
            }),
        }
    }
}

/// Makes the folder, unless it is there.
fn check_folder(option: &str, folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::usage(format!("{option} {name} is no folder: name one, or a new one")));
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::usage(format!("{option} {name} cannot be made: {error}")))
}
