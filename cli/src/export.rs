//! Tables that commands write into folders.

use std::path::{Path, PathBuf};

use weir::Error;
use weir_report::{ExportTable, Run, TABLES, Tables, write_csv};

use crate::args::ExportArgs;
use crate::failure::message;
use crate::{interrupt, output};

/// Transfers, and rates of transfers in phases, that are put together in much less than a second (*assumed*: a microsecond
/// each).
const HASTY: usize = 200_000;

/// Whether whoever pressed Ctrl-C would wait too long for what is made of the phases of a run.
pub(crate) fn is_too_large(run: &Run<'_>) -> bool {
    let phases = run.outcome.phases.as_deref().unwrap_or_default();
    interrupt::requested() && phases.iter().map(|phase| phase.rates.len()).sum::<usize>() > HASTY || is_too_long(run)
}

/// As [`is_too_large`], of what is made of the transfers.
fn is_too_long(run: &Run<'_>) -> bool {
    interrupt::is_overdue() || interrupt::requested() && run.transfers().count() > HASTY
}

/// The tables that were asked for, while they are collected.
pub(crate) struct Export<'a> {
    args: &'a ExportArgs,
    tables: Tables,
}

impl<'a> Export<'a> {
    /// Refuses folders that would not do, before anything is run.
    pub(crate) fn new(args: &'a ExportArgs) -> Result<Self, Error> {
        if !args.any() && !args.export_only.is_empty() {
            return Err(Error::input("--export-only chooses among tables: name their folder with --export-csv"));
        }
        let mut export = Self { args, tables: Tables::default() };
        export.tables.leave_out(TABLES.into_iter().filter(|table| !args.wants(table)));
        export.folders().try_for_each(|(option, folder, _)| check_folder(option, folder))?;
        if args.any() {
            output::has_files();
        }
        Ok(export)
    }

    /// Refuses folders in which a table would take the place of a file that is read.
    pub(crate) fn spare(&self, inputs: &[&Path]) -> Result<(), Error> {
        self.folders().try_for_each(|(option, folder, format)| {
            let mut tables = TABLES.iter().map(|name| format.file(name, folder));
            tables.try_for_each(|table| output::spare(option, &table, inputs))
        })
    }

    /// Takes a result in, if tables were asked for.
    pub(crate) fn add(&mut self, add: impl FnOnce(&mut Tables)) {
        if self.args.any() {
            add(&mut self.tables);
        }
    }

    /// As [`Self::add`], of a run.
    pub(crate) fn add_run(&mut self, run: &Run<'_>) {
        for (table, is_left_out) in [("transfers", is_too_long(run)), ("phases", is_too_large(run))] {
            if self.args.wants(table) && is_left_out {
                output::left_out(&format!("the table of {table}"));
                self.tables.leave_out([table]);
            }
        }
        self.add(|tables| tables.add(run));
    }

    /// Writes the tables of all results; without any, none. Says which of those that were chosen no result has.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let names = self.tables.names();
        let missing = self.args.export_only.iter().filter(|name| !names.contains(&name.as_str()));
        for name in missing.filter(|_| !names.is_empty()) {
            let all = names.join(", ");
            message(&format!(
                "warning: --export-only {name}: there is no such table of these results; they have {all}"
            ));
        }
        for (_, folder, format) in self.folders() {
            for table in self.tables.all() {
                format.write(table, folder)?;
            }
        }
        Ok(())
    }

    /// Option, folder and format of the tables.
    fn folders(&self) -> impl Iterator<Item = (&'static str, &'a Path, TableFormat)> + use<'a> {
        let csv = self.args.export_csv.as_deref().map(|folder| ("--export-csv", folder, TableFormat::Csv));
        #[cfg(feature = "parquet")]
        let parquet =
            self.args.export_parquet.as_deref().map(|folder| ("--export-parquet", folder, TableFormat::Parquet));
        #[cfg(not(feature = "parquet"))]
        let parquet = None;
        csv.into_iter().chain(parquet)
    }
}

/// What tables are written as.
#[derive(Clone, Copy)]
enum TableFormat {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl TableFormat {
    fn file(self, table: &str, folder: &Path) -> PathBuf {
        let ending = match self {
            Self::Csv => "csv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        };
        folder.join(format!("{table}.{ending}"))
    }

    fn write(self, table: &ExportTable, folder: &Path) -> Result<(), Error> {
        output::replace_with(&self.file(table.name, folder), |file| match self {
            Self::Csv => write_csv(table, file),
            #[cfg(feature = "parquet")]
            Self::Parquet => weir_report::write_parquet(table, file),
        })
    }
}

/// Makes a folder for files, if there is none; refuses what is no folder.
pub(crate) fn check_folder(option: &str, folder: &Path) -> Result<(), Error> {
    let name = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Error::input(format!("{option} {name} is not a folder: name a folder, or a new one")));
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::input(format!("{option} {name} cannot be made: {error}")))
}
