//! Columns of a table as they are made: of all rows at once, or of some rows at a time.

use std::borrow::Cow;

use super::{ColumnValues, Dictionary, ExportTable, TableColumn, Texts, Values};

/// The columns of some rows.
pub(super) struct Columns<'t, 'r, T> {
    table: &'t mut ExportTable,
    rows: &'r [T],
    /// The column that comes next.
    at: usize,
    /// Rows that its memory is made for.
    most: usize,
}

/// A table of rows.
pub(super) fn table<'r, T>(
    name: &'static str,
    rows: &'r [T],
    columns: impl FnOnce(&mut Columns<'_, 'r, T>),
) -> ExportTable {
    let mut table = ExportTable { name, columns: Vec::new() };
    columns(&mut Columns::new(&mut table, rows, rows.len()));
    table
}

impl<'t, 'r, T> Columns<'t, 'r, T> {
    /// Adds rows to a table that will have so many.
    pub(super) fn new(table: &'t mut ExportTable, rows: &'r [T], most: usize) -> Self {
        Self { table, rows, at: 0, most }
    }

    pub(super) fn text<S: AsRef<str>>(&mut self, name: impl Into<Cow<'static, str>>, of: impl Fn(&'r T) -> Option<S>) {
        let rows = self.rows;
        let texts = self.texts(name);
        rows.iter().for_each(|row| texts.push(of(row).as_ref().map(AsRef::as_ref)));
    }

    /// Names of what has a number, from 0 without large gaps.
    pub(super) fn names<S: AsRef<str>>(
        &mut self,
        column: &'static str,
        of: impl Fn(&T) -> Option<usize>,
        name: impl Fn(usize) -> S,
    ) {
        let rows = self.rows;
        if let ColumnValues::Name(names) = self.next(column, ColumnValues::Name(Dictionary::default())) {
            names.extend(rows.iter().map(of), name);
        }
    }

    /// Texts that are written in place, where `of` has one.
    pub(super) fn written(&mut self, name: &'static str, of: impl Fn(&'r T, &mut String) -> Option<std::fmt::Result>) {
        let rows = self.rows;
        let texts = self.texts(name);
        rows.iter().for_each(|row| texts.write(|text| of(row, text)));
    }

    pub(super) fn whole(&mut self, name: &'static str, of: impl Fn(&T) -> Option<u64>) {
        let rows = self.rows;
        if let ColumnValues::Whole(values) = self.next(name, ColumnValues::Whole(Values::default())) {
            values.extend(rows.iter().map(of));
        }
    }

    pub(super) fn real(&mut self, name: &'static str, of: impl Fn(&T) -> Option<f64>) {
        let rows = self.rows;
        if let ColumnValues::Real(values) = self.next(name, ColumnValues::Real(Values::default())) {
            values.extend(rows.iter().map(of));
        }
    }

    pub(super) fn flag(&mut self, name: &'static str, of: impl Fn(&T) -> bool) {
        let rows = self.rows;
        if let ColumnValues::Flag(values) = self.next(name, ColumnValues::Flag(Values::default())) {
            values.extend(rows.iter().map(|row| Some(of(row))));
        }
    }

    /// Whose the rows are.
    pub(super) fn owner(&mut self, scenario: &str, arbiter: &str) {
        self.scenario(scenario);
        self.names("arbiter", |_| Some(0), |_| arbiter);
    }

    /// Of which scenario the rows are.
    pub(super) fn scenario(&mut self, name: &str) {
        self.names("scenario", |_| Some(0), |_| name);
    }

    fn texts(&mut self, name: impl Into<Cow<'static, str>>) -> &mut Texts {
        match self.next(name, ColumnValues::Text(Texts::default())) {
            ColumnValues::Text(texts) => texts,
            _ => unreachable!("columns are made in the same order for all rows"),
        }
    }

    /// The next column, which is made for the first rows.
    fn next(&mut self, name: impl Into<Cow<'static, str>>, values: ColumnValues) -> &mut ColumnValues {
        if self.at == self.table.columns.len() {
            let mut values = values;
            values.reserve(self.most);
            self.table.columns.push(TableColumn { name: name.into(), values });
        }
        self.at += 1;
        &mut self.table.columns[self.at - 1].values
    }
}
