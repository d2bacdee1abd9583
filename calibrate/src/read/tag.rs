//! What `mpirun` puts before the lines of a log.

/// A line without what `mpirun --tag-output` puts before it (`[1,0]<stdout>:`), and the bytes of that.
pub(crate) fn untagged(line: &str) -> (&str, usize) {
    let trimmed = line.trim_start();
    let tag = trimmed.starts_with('[').then(|| trimmed.split_once("<stdout>:")).flatten();
    let rest = tag.map_or(line, |(_, rest)| rest);
    (rest, line.len() - rest.len())
}
