//! Edits that lead into the files that a scenario names.

use crate::context::{Context, Read};
use crate::files::Files;
use crate::yaml::{self, Edit, Path, Value};

/// Applies an edit, which may leave out `topology` where it leads into it. Files that it leads into are put in place of their
/// names first.
pub(crate) fn apply(context: &mut Context, files: &mut Files, root: &mut Value, edit: &Edit) -> Read<()> {
    let edit = &edit.clone().in_scenario(root);
    let (mut path, mut at) = (edit.path().clone(), &mut *root);
    while let Some((named, rest)) = path.through_file_mut(at) {
        *named = named_file(context, files, named)?;
        (path, at) = (rest, named);
    }
    edit.apply(context, root)
}

/// Checks that a value can be put at a path, as [`apply`] does it.
pub(crate) fn check(context: &mut Context, files: &mut Files, root: &Value, path: &Path) -> Read<()> {
    match path.through_file(root) {
        Some((named, rest)) => {
            let tree = named_file(context, files, named)?;
            check(context, files, &tree, &rest)
        }
        None => path.check(context, root),
    }
}

/// The value at a path that [`check`] allows, in whatever file it stands; `None` where there is none yet.
pub(crate) fn find(context: &mut Context, files: &mut Files, root: &Value, path: &Path) -> Read<Option<Value>> {
    match path.through_file(root) {
        Some((named, rest)) => {
            let tree = named_file(context, files, named)?;
            find(context, files, &tree, &rest)
        }
        None => Ok(path.find(root).cloned()),
    }
}

/// The tree of the file that a value names: a word for the topology's, a map with `file` for a machine's.
pub(crate) fn named_file(context: &mut Context, files: &mut Files, value: &Value) -> Read<Value> {
    let file = value.get("file").unwrap_or(value);
    let named = context.text(file, "the name of a file")?;
    let source = files.read_named(context, file.span, named)?;
    yaml::parse(context, source)
}
