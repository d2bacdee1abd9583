//! Machines of a topology that comes in place: their files are named relative to a file that is no longer there.

use crate::context::{Context, Read};
use crate::files::Files;
use crate::topology::NESTED;
use crate::yaml::{self, Data, Value};

/// Puts the topologies of machines in place of the names of their files.
pub(super) fn put_in_place(context: &mut Context, files: &mut Files, topology: &mut Value, level: usize) -> Read<()> {
    let Data::Mapping(sections) = &mut topology.data else { return Ok(()) };
    for section in sections {
        let Data::Mapping(entries) = &mut section.value.data else { continue };
        for entry in entries {
            match &*section.key {
                "machines" => machine(context, files, &mut entry.value, level)?,
                "tree" => {
                    let Data::Mapping(fields) = &mut entry.value.data else { continue };
                    if let Some(field) = fields.iter_mut().find(|field| &*field.key == "machine") {
                        machine(context, files, &mut field.value, level)?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn machine(context: &mut Context, files: &mut Files, value: &mut Value, level: usize) -> Read<()> {
    if level == NESTED {
        let message = format!("machines in machines, more than {NESTED} levels of them");
        return Err(context.error(value.span, message, "put the nodes of some into the machine around them"));
    }
    if let Some(file) = value.get("file") {
        let named = context.text(file, "the file of a machine")?;
        let source = files.read_named(context, file.span, named)?;
        *value = yaml::parse(context, source)?;
        super::remove(value, "weir");
    }
    put_in_place(context, files, value, level + 1)
}
