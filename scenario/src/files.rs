//! Reads the scenario file and the files it names, which must lie under its folder or its library.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::context::{Context, Read, Reported};
use crate::diagnostic::{Diagnostic, quoted};
use crate::encoding::{HEAD, wide_encoding};
use crate::roots::{Library, Missing, Roots};
use crate::source::Span;
use crate::yaml::{Value, path_of};

/// Size of a YAML file at most (format, "Tree, links, names").
pub(crate) const YAML_BYTES: u64 = 16 << 20;
/// The file that marks the root of a library.
const MARK: &str = "weir-library";

/// A file that a scenario names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFile {
    /// Where it is named, as `--set` takes it: `topology`, `workload[2].trace.file`.
    pub key: String,
    /// As the scenario names it.
    pub named: String,
    /// Where it is, symbolic links resolved.
    pub path: PathBuf,
}

/// Where files may be read, and the digest of what was read.
#[derive(Clone)]
pub(crate) struct Files {
    /// The folder as the user named it, for messages.
    display_path: PathBuf,
    /// The folder of the scenario, symlinks resolved; `None` for text without a folder.
    folder: Option<PathBuf>,
    library: Option<Library>,
    digest: Sha256,
    /// What was found, and where it is named.
    found: Vec<(Span, PathBuf)>,
    /// The folders of YAML files that were named, by source: as shown, and with symlinks resolved.
    folders: FxHashMap<u32, (PathBuf, PathBuf)>,
}

impl Files {
    /// Files named by a scenario in `folder`; `library` replaces the nearest ancestor with the library's mark.
    pub(crate) fn new(context: &mut Context, folder: Option<&Path>, library: Option<&Path>) -> Read<Self> {
        let display_path = folder.map(Path::to_path_buf).unwrap_or_default();
        let here = if display_path.as_os_str().is_empty() { Path::new(".") } else { &display_path };
        let folder = folder.and_then(|_| here.canonicalize().ok());
        let library = match library {
            Some(root) => match root.canonicalize() {
                Ok(real) => Some(Library::new(root, real)),
                Err(error) => {
                    let message = format!("the library `{}` cannot be read: {error}", root.display());
                    return Err(context.push(Diagnostic::error(message).with_help("name an existing folder")));
                }
            },
            None => {
                let root = folder.as_deref().and_then(|f| f.ancestors().find(|a| a.join(MARK).is_file()));
                root.map(|root| Library::new(root, root.to_path_buf()))
            }
        };
        Ok(Self {
            display_path,
            folder,
            library,
            digest: Sha256::new(),
            found: Vec::new(),
            folders: FxHashMap::default(),
        })
    }

    /// Reads the scenario file itself.
    pub(crate) fn read_scenario(context: &mut Context, path: &Path) -> Read<Vec<u8>> {
        read_limited(path).map_err(|message| {
            let message = format!("`{}` cannot be read: {message}", path.display());
            context.push(Diagnostic::error(message).with_help("name a scenario file"))
        })
    }

    /// Finds a file that a scenario names at `span`; returns its name for messages too.
    pub(crate) fn find(&mut self, context: &mut Context, span: Span, named: &str) -> Read<(PathBuf, String)> {
        let (display_path, folder) = match self.folders.get(&span.source) {
            Some((display_path, folder)) => (display_path, Some(folder)),
            None => (&self.display_path, self.folder.as_ref()),
        };
        let Some(folder) = folder else {
            let help = "save the scenario in a folder and run it from there";
            return Err(context.error(span, format!("no folder to look for the file {} in", quoted(named)), help));
        };
        let outside = |context: &mut Context| {
            let help =
                format!("move the file under `{}`, or name a common library with `--library DIR`", folder.display());
            let message = format!("the file {} lies outside the scenario's folder and library", quoted(named));
            context.error(span, message, help)
        };
        let path = Roots::new(folder, self.library.as_ref()).find(&folder.join(named)).map_err(|missing| {
            let Missing::Unreadable(error) = missing else { return outside(context) };
            let whose = if self.folder.as_ref() == Some(folder) { "scenario's own" } else { "naming file's" };
            let help = format!("paths are relative to the {whose} folder, `{}`", folder.display());
            context.error(span, format!("the file {} cannot be read: {error}", quoted(named)), help)
        })?;
        if !path.is_file() {
            return Err(context.error(span, format!("{} is not a file", quoted(named)), "name a file"));
        }
        let display_path = display_path.join(named).display().to_string();
        self.found.push((span, path.clone()));
        Ok((path, display_path))
    }

    /// The files that a tree names, in its order, as far as they were found.
    pub(crate) fn named(&self, root: &Value) -> Vec<NamedFile> {
        let mut all = Vec::new();
        if !self.found.is_empty() {
            let place = |span: &Span| (span.source, span.line, span.column);
            let found: FxHashMap<_, _> = self.found.iter().map(|(span, path)| (place(span), path)).collect();
            root.each_text(&mut |steps, text, span| {
                if let Some(path) = found.get(&place(&span)) {
                    all.push(NamedFile { key: path_of(steps), named: text.to_owned(), path: (*path).clone() });
                }
            });
        }
        all
    }

    /// The files that were found.
    pub(crate) fn read_files(&self) -> Vec<PathBuf> {
        self.found.iter().map(|(_, path)| path.clone()).collect()
    }

    /// Whether a source is a YAML file that was named.
    pub(crate) fn is_named(&self, source: u32) -> bool {
        self.folders.contains_key(&source)
    }

    /// Reads a YAML file that the scenario names at `span` and registers its text.
    pub(crate) fn read_named(&mut self, context: &mut Context, span: Span, named: &str) -> Read<u32> {
        let found = self.find(context, span, named)?;
        self.read_found(context, span, found)
    }

    /// Reads a YAML file that was found for `span`, given with its name for messages.
    pub(crate) fn read_found(&mut self, context: &mut Context, span: Span, found: (PathBuf, String)) -> Read<u32> {
        let (path, display_path) = found;
        let bytes = read_limited(&path).map_err(|message| {
            context.error(
                span,
                format!("the file {} cannot be read: {message}", quoted(&display_path)),
                "check the file",
            )
        })?;
        let source = self.decode(context, &display_path, bytes)?;
        let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
        self.folders.insert(source, (folder(Path::new(&display_path)), folder(&path)));
        Ok(source)
    }

    /// Opens a table in UTF-8 that the scenario names at `span` and registers it; it has `most` bytes at most.
    pub(crate) fn open_table(
        &mut self,
        context: &mut Context,
        span: Span,
        named: &str,
        most: u64,
        help: &str,
    ) -> Read<(File, u32)> {
        let (mut table, source) = self.open(context, span, named, most, help)?;
        let mut head = Vec::new();
        let read = (&mut table).take(HEAD as u64).read_to_end(&mut head).and_then(|_| table.rewind());
        read.map_err(|error| {
            context.error(span, format!("the file {} cannot be read: {error}", quoted(named)), "check the file")
        })?;
        let display_path = context.sources.position(Span { source, line: 1, column: 1, width: 1 }).file;
        refuse_wide(context, &display_path, &head)?;
        Ok((table, source))
    }

    /// Opens a file that the scenario names at `span` and registers it; it has `most` bytes at most.
    pub(crate) fn open(
        &mut self,
        context: &mut Context,
        span: Span,
        named: &str,
        most: u64,
        help: &str,
    ) -> Read<(File, u32)> {
        let (path, display_path) = self.find(context, span, named)?;
        let table = File::open(&path).map_err(|error| {
            context.error(span, format!("the file {} cannot be read: {error}", quoted(named)), "check the file")
        })?;
        if table.metadata().is_ok_and(|m| m.len() > most) {
            let message = format!("the file {} is larger than {} MiB", quoted(named), most >> 20);
            return Err(context.error(span, message, help));
        }
        tracing::debug!(file = display_path, bytes = table.metadata().map_or(0, |m| m.len()), "opened a file");
        Ok((table, context.sources.add_file(&display_path, &path)))
    }

    /// Registers the text of a file that was read.
    pub(crate) fn decode(&mut self, context: &mut Context, display_path: &str, bytes: Vec<u8>) -> Read<u32> {
        self.add_to_digest(&bytes);
        tracing::debug!(file = display_path, bytes = bytes.len(), "read a file");
        if bytes.len() as u64 > YAML_BYTES {
            let message = format!("`{display_path}` is larger than {} MiB", YAML_BYTES >> 20);
            return Err(context.push(Diagnostic::error(message).with_help("put large loads into a CSV trace")));
        }
        refuse_wide(context, display_path, &bytes)?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let text = String::from_utf8_lossy(&bytes[..valid]);
                return Err(not_text(context, display_path, &text, "a byte that is not UTF-8"));
            }
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if let Some(at) = text.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
            return Err(not_text(context, display_path, &text[..at], "a control character"));
        }
        Ok(context.sources.add(display_path, text))
    }

    /// Adds bytes that were read to the digest.
    pub(crate) fn add_to_digest(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// SHA-256 of everything read so far, in hexadecimal.
    pub(crate) fn sha256(self) -> String {
        self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Refuses a text in UTF-16 or UTF-32, by its first bytes.
fn refuse_wide(context: &mut Context, display_path: &str, head: &[u8]) -> Read<()> {
    let Some((name, help)) = wide_encoding(head) else { return Ok(()) };
    let source = context.sources.add(display_path, "");
    let span = Span { source, line: 1, column: 1, width: 1 };
    Err(context.error(span, format!("`{display_path}` is encoded as {name}, not as UTF-8"), help))
}

/// Refuses what is no text, at the end of the valid part.
fn not_text(context: &mut Context, display_path: &str, valid: &str, what: &str) -> Reported {
    let line_start = valid.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line = valid.replace("\r\n", "\n").matches(['\n', '\r']).count() as u32 + 1;
    let column = valid[line_start..].chars().count() as u32 + 1;
    // Only the valid part of the line is shown.
    let source = context.sources.add(display_path, valid);
    let span = Span { source, line, column, width: 1 };
    context.error(
        span,
        format!("{what}: this is not a text file"),
        "give a scenario in YAML, or a result that weir saved, encoded as UTF-8",
    )
}

/// The bytes of a regular file, refused in words when it is none or too large to be YAML.
fn read_limited(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = path.metadata().map_err(|e| e.to_string())?;
    if metadata.is_dir() {
        return Err("it is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that `decode` can tell.
    File::open(path).and_then(|f| f.take(YAML_BYTES + 1).read_to_end(&mut bytes)).map_err(|e| e.to_string())?;
    Ok(bytes)
}
