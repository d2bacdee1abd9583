//! The elements of an XML text, one after the other: as a tree, 10^6 of them take more than a gigabyte.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::operation::{shortened, shown};

/// Elements in the order of the text.
pub(super) struct Elements<'t> {
    reader: quick_xml::Reader<&'t [u8]>,
    /// How many elements are open.
    open: usize,
    has_root: bool,
}

/// What is wrong with a text, and at which byte.
pub(super) struct IllFormed {
    pub(super) at: usize,
    pub(super) problem: String,
}

/// The begin of an element.
pub(super) struct Element<'t> {
    /// Elements around it.
    pub(super) depth: usize,
    /// The byte at which it begins.
    pub(super) at: usize,
    start: BytesStart<'t>,
}

/// An element's name and attributes.
pub(super) struct Tag<'e> {
    pub(super) name: &'e str,
    pub(super) at: usize,
    attributes: Vec<(&'e str, Cow<'e, str>)>,
}

impl<'t> Elements<'t> {
    pub(super) fn of(text: &'t str) -> Result<Self, IllFormed> {
        // What no XML has, even between quotes (XML 1.0, section 2.2): as a rule what a write that failed leaves.
        let is_none = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{fffe}' | '\u{ffff}');
        if let Some((at, c)) = text.char_indices().find(|&(_, c)| is_none(c)) {
            return Err(IllFormed { at, problem: format!("no XML has the character U+{:04X}", u32::from(c)) });
        }
        let mut reader = quick_xml::Reader::from_str(text);
        reader.config_mut().enable_all_checks(true);
        Ok(Self { reader, open: 0, has_root: false })
    }

    /// The next element, whatever it is in; none at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Element<'t>>, IllFormed> {
        loop {
            let at = self.reader.buffer_position() as usize;
            let wrong = |problem: String| IllFormed { at, problem };
            let event = self.reader.read_event().map_err(|error| IllFormed {
                at: self.reader.error_position() as usize,
                problem: cut(&error.to_string()),
            })?;
            let is_outside = self.open == 0;
            match event {
                Event::Start(_) | Event::Empty(_) if is_outside && std::mem::replace(&mut self.has_root, true) => {
                    return Err(wrong("it has a second outermost element".to_owned()));
                }
                Event::Start(start) => {
                    self.open += 1;
                    return Ok(Some(Element { depth: self.open - 1, at, start }));
                }
                Event::Empty(start) => return Ok(Some(Element { depth: self.open, at, start })),
                Event::End(_) => self.open -= 1,
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    return Err(wrong("it has text where only elements belong".to_owned()));
                }
                Event::Decl(_) if at > 0 => return Err(wrong("`<?xml` belongs to the beginning".to_owned())),
                Event::DocType(_) if self.has_root => {
                    return Err(wrong("`<!DOCTYPE` belongs before all elements".to_owned()));
                }
                Event::Eof if !is_outside => return Err(wrong("it ends within an element".to_owned())),
                Event::Eof if !self.has_root => return Err(wrong("it has no element".to_owned())),
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }
}

impl Element<'_> {
    pub(super) fn name(&self) -> &str {
        self.start.name().into_inner()
    }

    pub(super) fn tag(&self) -> Result<Tag<'_>, IllFormed> {
        let wrong = |problem: String| IllFormed { at: self.at, problem };
        let mut attributes = Vec::new();
        for attribute in self.start.attributes() {
            let attribute =
                attribute.map_err(|error| wrong(format!("an attribute of `{}`: {error}", shown(self.name()))))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let name = || shown(attribute.key.into_inner());
            let value = value.map_err(|error| wrong(cut(&format!("the attribute `{}`: {error}", name()))))?;
            if attribute.value.contains('<') {
                return Err(wrong(format!("the attribute `{}` has a `<`", name())));
            }
            attributes.push((attribute.key.into_inner(), value));
        }
        Ok(Tag { name: self.name(), at: self.at, attributes })
    }
}

/// A text of the library, which may quote long names.
fn cut(text: &str) -> String {
    /// *Assumed*: all of its own texts are shorter.
    const MOST: usize = 160;
    shortened(text, MOST)
}

impl Tag<'_> {
    pub(super) fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| *name == key).map(|(_, value)| &**value)
    }
}
