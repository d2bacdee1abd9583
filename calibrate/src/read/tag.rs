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

/// The JSON of `nvbandwidth -j` without such tags, and without what stands before and behind it, such as a prompt, whose lines
/// are empty then; `None` where it stands alone, and for any other text.
pub(crate) fn json_alone(text: &str) -> Option<String> {
    text.contains("\"nvbandwidth\"").then_some(())?;
    let json = |line: &str| untagged(line).0.trim().to_owned();
    let first = text.lines().position(|line| json(line).starts_with('{'))?;
    let ends = text.lines().enumerate().skip(first).filter(|(_, line)| json(line).ends_with('}'));
    // One that was cut off has no end.
    let last = ends.last().map_or(usize::MAX, |(at, _)| at);
    let is_tagged = untagged(text.lines().nth(first)?).1 > 0;
    let is_json = |at: usize| (first..=last).contains(&at);
    let is_alone = text.lines().enumerate().all(|(at, line)| is_json(at) || line.trim().is_empty());
    let kept = |(at, line)| match is_json(at) {
        true if is_tagged => untagged(line).0,
        true => line,
        false => "",
    };
    (is_tagged || !is_alone).then(|| text.lines().enumerate().flat_map(|line| [kept(line), "\n"]).collect())
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
        let tagged = "0: {\n0: \"nvbandwidth\": 1\n\n0: }\n";
        assert_eq!(json_alone(tagged).as_deref(), Some("{\n\"nvbandwidth\": 1\n\n}\n"));
    }

    #[test]
    fn a_prompt_is_no_part_of_json() {
        let json = "{\n  \"nvbandwidth\": 1\n}\n";
        assert_eq!(json_alone(&format!("$ nvbandwidth -j\n{json}$ \n")), Some(format!("\n{json}\n")));
        let line = "{ \"nvbandwidth\": 1 }";
        assert_eq!(json_alone(&format!("$ nvbandwidth -j\n{line}\n$ ")), Some(format!("\n{line}\n\n")));
        assert_eq!((json_alone(json), json_alone(line), json_alone("{ }")), (None, None, None));
        assert_eq!((json_alone("0: size"), json_alone("\"nvbandwidth\""), json_alone("")), (None, None, None));
    }
}
