//! Which rows of tables the values come from that are read.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::Span;

/// Where rows stand, for errors at what they became.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// Per value that names a table the places of its rows.
    tables: FxHashMap<Span, Rc<[Span]>>,
    /// Texts whose variables rows gave values.
    filled: FxHashSet<Span>,
    /// The row that gives variables their values in what is read now.
    current: Option<Span>,
}

impl Origins {
    /// Notes the rows of the table that a value names.
    pub(crate) fn of_table(&mut self, value: Span, rows: Rc<[Span]>) {
        self.tables.insert(value, rows);
    }

    /// The place of a row, from 0, of the table that a value names.
    pub(crate) fn row(&self, value: Span, row: usize) -> Option<Span> {
        self.tables.get(&value)?.get(row).copied()
    }

    /// Takes a row as the one that gives values.
    pub(crate) fn enter(&mut self, row: Option<Span>) {
        self.current = row;
    }

    /// The row that gives values now.
    pub(crate) fn current(&self) -> Option<Span> {
        self.current
    }

    /// Notes a text whose variables have their values from the current row, if there is one.
    pub(crate) fn filled(&mut self, text: Span) {
        if self.current.is_some() {
            self.filled.insert(text);
        }
    }

    /// The row that gave a text its values.
    pub(crate) fn row_of(&self, text: Span) -> Option<Span> {
        self.current.filter(|_| self.filled.contains(&text))
    }
}
