//! Machines of a topology that came in place of its file's name: their files are named relative to that file.

use crate::context::{Context, Read};
use crate::files::{Files, YAML_BYTES};
use crate::topology::NESTED;
use crate::yaml::{self, Data, Value};

/// Puts the topologies of machines in place of the names of their files, where another file than the scenario's names
/// them.
pub(super) fn put_in_place(context: &mut Context, files: &mut Files, topology: &mut Value) -> Read<()> {
    InPlace { files, left: YAML_BYTES }.topology(context, topology, 0)
}

struct InPlace<'f> {
    files: &'f mut Files,
    /// Bytes that may still be read: what is written must be read again, and a file that is named often is written often.
    left: u64,
}

impl InPlace<'_> {
    fn topology(&mut self, context: &mut Context, topology: &mut Value, level: usize) -> Read<()> {
        if self.files.is_named(topology.span.source) {
            super::remove(topology, "weir");
        }
        let Data::Mapping(sections) = &mut topology.data else { return Ok(()) };
        for section in sections {
            let Data::Mapping(entries) = &mut section.value.data else { continue };
            for entry in entries {
                match &*section.key {
                    "machines" => self.machine(context, &mut entry.value, level)?,
                    "tree" => {
                        let Data::Mapping(fields) = &mut entry.value.data else { continue };
                        if let Some(field) = fields.iter_mut().find(|field| &*field.key == "machine") {
                            self.machine(context, &mut field.value, level)?;
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn machine(&mut self, context: &mut Context, value: &mut Value, level: usize) -> Read<()> {
        if level == NESTED {
            let message = format!("machines in machines, more than {NESTED} levels of them");
            return Err(context.error(value.span, message, "put the nodes of some into the machine around them"));
        }
        if let Some(file) = value.get("file").filter(|file| self.files.is_named(file.span.source)) {
            let named = context.text(file, "the file of a machine")?;
            let source = self.files.read_named(context, file.span, named)?;
            let bytes = context.sources.text(source).len() as u64;
            self.left = self.left.checked_sub(bytes).ok_or_else(|| {
                let message = format!("the machines in place have more than {} MiB", YAML_BYTES >> 20);
                context.error(file.span, message, "name a file once, under `machines`, and the machine by its name")
            })?;
            *value = yaml::parse(context, source)?;
        }
        self.topology(context, value, level + 1)
    }
}
