//! Refuses deep nesting and definitions of entities before a parser meets them.
//!
//! A small scanner goes over the text as a parser does: it passes over comments, CDATA sections and processing instructions, where
//! `<` and `>` are text, and over quoted values in tags. Where a text is no XML, a parser stops at the same place or before it.

use crate::refusal::Refusal;

/// Elements inside each other at most; *assumed*: hwloc's deepest have 20, and reading must not exhaust the stack.
const NESTED: usize = 200;

/// What holds text in which `<` and `>` mean nothing: how it begins and ends. `<!-->` does not end itself.
const TEXTS: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];

pub(super) fn check(text: &str) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(next) = text[at..].find('<') {
        at += next;
        let rest = &text[at..];
        let passed = if let Some((open, end)) = TEXTS.iter().find(|(open, _)| rest.starts_with(open)) {
            after(rest, open.len(), end)
        } else if rest.starts_with("<!") {
            declaration(rest).map_err(|refusal| refused(text, at, refusal))?
        } else if rest.starts_with("</") {
            depth = depth.saturating_sub(1);
            after(rest, 2, ">")
        } else {
            let tag = tag(rest);
            depth += usize::from(!tag.is_some_and(|(_, empty)| empty));
            tag.map(|(end, _)| end)
        };
        if depth > NESTED {
            let refusal = Refusal::new(format!("elements nest more than {NESTED} deep"));
            return Err(refused(text, at, refusal.help("no machine has that; make the dump again")));
        }
        // Nothing closes it: the parser says where the text is cut.
        let Some(passed) = passed else { break };
        at += passed;
    }
    Ok(())
}

fn refused(text: &str, at: usize, refusal: Refusal) -> Refusal {
    let line = text[..at].bytes().filter(|&byte| byte == b'\n').count();
    let column = text[..at].rsplit('\n').next().map_or(0, |line| line.chars().count());
    refusal.at(1 + line as u32).column(1 + column as u32)
}

/// The place after the first `end` from a place on.
fn after(text: &str, from: usize, end: &str) -> Option<usize> {
    Some(from + text[from..].find(end)? + end.len())
}

/// The bytes outside quoted values, with their places; the quotes belong to the values.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, u8)> + '_ {
    let mut quote = None;
    text.bytes().enumerate().filter(move |&(_, byte)| match quote {
        Some(open) => {
            quote = (byte != open).then_some(open);
            false
        }
        None => {
            quote = matches!(byte, b'"' | b'\'').then_some(byte);
            quote.is_none()
        }
    })
}

/// The place after `<!DOCTYPE …>`. Definitions in it could hold elements, and entities that hold each other; no dump has some.
fn declaration(text: &str) -> Result<Option<usize>, Refusal> {
    match unquoted(text).find(|(_, byte)| matches!(byte, b'>' | b'[')) {
        Some((_, b'[')) => {
            let refusal = Refusal::new("the document type has definitions of its own, which no dump has");
            Err(refusal.help("remove `[ … ]` from `<!DOCTYPE … >`, or make the dump again"))
        }
        end => Ok(end.map(|(at, _)| at + 1)),
    }
}

/// The place after a tag that opens, and whether it closes itself.
fn tag(text: &str) -> Option<(usize, bool)> {
    let (at, _) = unquoted(text).find(|&(_, byte)| byte == b'>')?;
    Some((at + 1, text[..at].ends_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether elements this deep are refused, with a piece before each of them.
    fn deep(piece: &str, depth: usize) -> bool {
        let text = format!("{}{}", format!("{piece}<a>").repeat(depth), "</a>".repeat(depth));
        check(&text).is_err()
    }

    #[test]
    fn nothing_hides_elements() {
        let pieces = [
            "",
            "<![CDATA[</a></a>]]>",
            "<![CDATA[>]]>",
            "<?p </a></a> ?>",
            "<?p?>",
            "<!-- </a></a> -->",
            "<!--><a>-->",
            "<b x='/>'/>",
            "<b x='</a>\"' y=\"/>'\"/>",
            "<b></b>",
        ];
        for piece in pieces {
            assert!(deep(piece, NESTED + 1), "{piece}");
            assert!(!deep(piece, NESTED - 1), "{piece}");
        }
        // An element of which only the quotes look closed.
        assert!(deep("<a x='/>'>", NESTED / 2 + 1));
    }

    #[test]
    fn document_types() {
        assert_eq!(check("<!DOCTYPE topology SYSTEM \"hwloc2[.dtd\"><a/>"), Ok(()));
        let refusal = check("<?xml?>\n <!DOCTYPE a [<!ENTITY b '<a><a>'>]><a>&b;</a>").expect_err("is refused");
        assert_eq!((refusal.line, refusal.column), (Some(2), Some(2)));
        assert!(check("<!DOCTYPE a PUBLIC 'x").is_ok(), "the parser says that it is cut");
    }
}
