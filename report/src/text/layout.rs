//! How wide tables may be, and whether they are coloured: what is known of the terminal that they are printed on.

use std::sync::{PoisonError, RwLock};

/// What a table is fitted to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Columns of text of the terminal; without it every table shows all it has.
    pub width: Option<usize>,
    /// Whether headers and marked rows are coloured.
    pub colour: bool,
    /// Whether tables and titles are written as Markdown (GitHub Flavored Markdown, 4.10).
    pub markdown: bool,
}

/// The layout of what this process prints. A property of its stdout, as the choice of colours of `anstream` is.
static LAYOUT: RwLock<Layout> = RwLock::new(Layout { width: None, colour: false, markdown: false });

impl Layout {
    /// Whole tables without colour, in Markdown.
    pub const MARKDOWN: Self = Self { width: None, colour: false, markdown: true };

    /// Fits the tables that are made from now on.
    pub fn set(self) {
        *LAYOUT.write().unwrap_or_else(PoisonError::into_inner) = self;
    }

    /// What [`Self::set`] has set; at first no width and no colour.
    pub(super) fn current() -> Self {
        *LAYOUT.read().unwrap_or_else(PoisonError::into_inner)
    }
}
