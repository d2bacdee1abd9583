//! What `mpirun` and `srun` put before the lines of a log.

/// A line without what `mpirun --tag-output` (`[1,0]<stdout>:`) or `srun --label` (`0: `) puts before it, and the bytes of that.
pub(crate) fn untagged(line: &str) -> (&str, usize) {
    let trimmed = line.trim_start();
    let tag = trimmed.starts_with('[').then(|| trimmed.split_once("<stdout>:")).flatten();
    let rest = tag.map(|(_, rest)| rest).or_else(|| unlabelled(trimmed)).unwrap_or(line);
    (rest, line.len() - rest.len())
}

/// What stands behind the number of a rank and a colon, with a blank or the end of the line behind it.
fn unlabelled(line: &str) -> Option<&str> {
    let (rank, rest) = line.split_once(':')?;
    let number = !rank.is_empty() && rank.bytes().all(|b| b.is_ascii_digit());
    (number && (rest.is_empty() || rest.starts_with(' '))).then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// A text of JSON whose lines have such tags without them; `None` for any other text.
pub(crate) fn untagged_json(text: &str) -> Option<String> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let tagged = untagged(first).1 > 0 && untagged(first).0.trim_start().starts_with('{');
    tagged.then(|| text.lines().flat_map(|line| [untagged(line).0, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_ranks_are_no_part_of_a_line() {
        for (line, rest) in [
            ("0: # nThread 1", "# nThread 1"),
            (" 3:     8000000 1", "    8000000 1"),
            ("12:", ""),
            ("[1,0]<stdout>:#  size", "#  size"),
            ("0000:1b:00.0 x", "0000:1b:00.0 x"),
            ("n:1:1 [0] NCCL", "n:1:1 [0] NCCL"),
            (": x", ": x"),
            ("  1.5: x", "  1.5: x"),
        ] {
            assert_eq!(untagged(line), (rest, line.len() - rest.len()), "{line}");
        }
        assert_eq!(untagged_json("0: {\n0:  1\n\n0: }\n").as_deref(), Some("{\n 1\n\n}\n"));
        assert_eq!((untagged_json("{ }"), untagged_json("0: size"), untagged_json("")), (None, None, None));
    }
}
