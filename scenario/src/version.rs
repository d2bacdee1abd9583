//! The version of the format.

use crate::context::{Context, Fields, Read};
use crate::diagnostic::quoted;
use crate::format::{Key, Shape, required};

pub(crate) const VERSION: Key = required("weir", Shape::Whole(&[("const", 1)]), "Version of the format.");

/// Checks `weir: 1`.
pub(crate) fn check(context: &mut Context, fields: &Fields<'_>) -> Read<()> {
    let Some(value) = fields.find("weir").map(|entry| &entry.value) else {
        let message = format!("{} needs the key `weir`, the version of the format", fields.what);
        return Err(context.error(fields.span, message, "add the line `weir: 1` as the first one"));
    };
    let text = context.text(value, "`weir`")?;
    if text == "1" {
        return Ok(());
    }
    let message = format!("version {} of the format is not known", quoted(text));
    Err(context.error(value.span, message, "write `weir: 1`"))
}
