//! `weir report --svg`: the pictures of runs and searches, a file each.

use std::path::Path;

use weir::Error;
use weir_report::page::Picture;
use weir_report::text;

use crate::failure::message;
use crate::output::replace;

/// Writes the pictures into a folder, and says so.
pub(super) fn write(folder: &Path, pictures: &[Picture]) -> Result<(), Error> {
    for picture in pictures {
        replace(&folder.join(&picture.file), picture.svg.as_bytes())?;
    }
    let (count, name) = (pictures.len(), text::clean(&folder.display().to_string()));
    message(&match count {
        0 => format!(
            "{name}: no picture: none of these results has transfers, links, or makespans of all candidates that differ (of orders with `optimize --full`)"
        ),
        1 => format!("wrote {name}: 1 picture"),
        _ => format!("wrote {name}: {count} pictures"),
    });
    Ok(())
}
