//! Where a scenario is read from, and its tree.

use std::borrow::Cow;
use std::path::Path;

use crate::context::{Context, Read};
use crate::files::Files;
use crate::yaml::{self, Value};

/// Where a scenario is read from. A path is one by itself: `load(path, …)`.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A file.
    File(&'a Path),
    /// A text, for example from standard input.
    Text {
        /// The YAML.
        text: Vec<u8>,
        /// What stands for the file in messages and results; `-` for standard input.
        name: &'a str,
        /// From where files that it names are looked for.
        folder: Option<&'a Path>,
    },
}

impl<'a> Input<'a> {
    /// A text with its name and folder, as in [`Self::Text`].
    pub fn text(text: impl Into<Vec<u8>>, name: &'a str, folder: Option<&'a Path>) -> Self {
        Self::Text { text: text.into(), name, folder }
    }

    /// The file as given, or the name of a text.
    pub(crate) fn name(&self) -> Cow<'a, str> {
        match *self {
            Self::File(path) => path.to_string_lossy(),
            Self::Text { name, .. } => name.into(),
        }
    }

    /// Reads the YAML. `library` is the root of the library, where that is given.
    pub(crate) fn parse(self, context: &mut Context, library: Option<&Path>) -> Read<Parsed> {
        let name = self.name();
        let (text, folder) = match self {
            Self::File(path) => (Files::read_scenario(context, path)?, Some(path.parent().unwrap_or(Path::new("")))),
            Self::Text { text, folder, .. } => (text, folder),
        };
        let mut files = Files::new(context, folder, library)?;
        let source = files.decode(context, if name == "-" { "<stdin>" } else { &name }, text)?;
        let root = tracing::debug_span!("yaml").in_scope(|| yaml::parse(context, source))?;
        Ok(Parsed { files, source, root })
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Input<'a> {
    fn from(path: &'a P) -> Self {
        Self::File(path.as_ref())
    }
}

/// The tree of an input.
pub(crate) struct Parsed {
    /// For the files that it names.
    pub(crate) files: Files,
    /// Which of the sources it is.
    pub(crate) source: u32,
    pub(crate) root: Value,
}
