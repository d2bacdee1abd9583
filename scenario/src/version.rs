//! The version of the format.

use crate::context::{Context, Fields, Read};
use crate::diagnostic::quoted;

/// Checks `weir: 1`.
pub(crate) fn check(context: &mut Context, fields: &Fields<'_>) -> Read<()> {
    let value = fields.require(context, "weir")?;
    let text = context.text(value, "`weir`")?;
    if text == "1" {
        return Ok(());
    }
    let message = format!("version {} of the format is not known", quoted(text));
    Err(context.error(value.span, message, "write `weir: 1`"))
}
