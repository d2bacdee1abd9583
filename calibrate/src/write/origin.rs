//! Where the values of changed types come from, in a comment at each: comments that stood above are about the old values.

/// A text with a comment above each changed type of `link_types`, by its name.
pub(super) fn with_origins(text: &str, changed: &[(String, String)]) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut out = String::with_capacity(text.len());
    // The indents of `link_types` and of the names below it.
    let (mut block, mut names): (Option<usize>, Option<usize>) = (None, None);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let at = indent(line);
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            if block.is_some_and(|block| at <= block) {
                (block, names) = (None, None);
            }
            if block.is_some() && *names.get_or_insert(at) == at {
                let key = trimmed.split_once(':').map_or("", |(key, _)| key.trim().trim_matches(['"', '\'']));
                if let Some((_, comment)) = changed.iter().find(|(name, _)| name == key) {
                    out.push_str(&format!("{}# {comment}\n", " ".repeat(at)));
                }
            }
            if block.is_none() && trimmed.starts_with("link_types:") {
                block = Some(at);
            }
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_type_says_what_it_was() {
        let text = "weir: 1\ntopology:\n  link_types:\n    # assumed\n    pcie: { bandwidth: 1GB/s }\n    \"m.e\":\n      \
                    bandwidth: 2GB/s\n  tree:\n    pcie: { kind: gpu }\n";
        let changed = [("pcie".to_owned(), "new".to_owned()), ("m.e".to_owned(), "too".to_owned())];
        let expected = "weir: 1\ntopology:\n  link_types:\n    # assumed\n    # new\n    pcie: { bandwidth: 1GB/s }\n    # too\n    \
                        \"m.e\":\n      bandwidth: 2GB/s\n  tree:\n    pcie: { kind: gpu }\n";
        assert_eq!(with_origins(text, &changed), expected);
        // A comment ends nothing, wherever it stands.
        let aside = |text: &str| text.replace("    \"m.e\":", "# aside\n    \"m.e\":");
        assert_eq!(
            with_origins(&aside(text), &changed),
            aside(expected).replace("    # too\n# aside\n", "# aside\n    # too\n")
        );
    }
}
