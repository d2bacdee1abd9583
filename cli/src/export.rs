//! Tables that commands write into folders.

use std::path::{Path, PathBuf};

use weir::Error;
use weir_report::{ExportTable, TABLES, Tables, write_csv};

use crate::args::ExportArgs;
use crate::output;

/// The tables that were asked for, while they are collected.
pub(crate) struct Export<'a> {
    args: &'a ExportArgs,
    tables: Tables,
}

impl<'a> Export<'a> {
    /// Refuses folders that would not do, before anything is run.
    pub(crate) fn new(args: &'a ExportArgs) -> Result<Self, Error> {
        let export = Self { args, tables: Tables::default() };
        export.folders().try_for_each(|(option, folder, _)| check_folder(option, folder))?;
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

    /// Writes the tables of all results; without any, none.
    pub(crate) fn write(&self) -> Result<(), Error> {
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
        output::replace_with(&self.file(table.name, folder), |file| {
            let file = std::io::BufWriter::new(file);
            match self {
                Self::Csv => write_csv(table, file),
                #[cfg(feature = "parquet")]
                Self::Parquet => weir_report::write_parquet(table, file),
            }
        })
    }
}

/// Makes the folder, unless it is there.
fn check_folder(option: &str, folder: &Path) -> Result<(), Error> {
    let name = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Error::input(format!("{option} {name} is not a folder: name a folder, or a new one")));
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::input(format!("{option} {name} cannot be made: {error}")))
}
