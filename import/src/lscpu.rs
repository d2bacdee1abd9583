//! The output of `lscpu` beside another dump in one text: it names the processor, which `lspci` and `nvidia-smi` do not.

use crate::bandwidth::Processor;

/// Whether a line begins the output: its first line in all versions, in English.
fn is_head(line: &str) -> bool {
    line.starts_with("Architecture:")
}

/// Takes the output of `lscpu` out of a text: the processor that it names, and the text with empty lines in its place, so that lines
/// keep their numbers. It goes on to the first line that `is_other` says begins another dump.
pub(crate) fn split(text: &str, is_other: impl Fn(&str) -> bool) -> (Option<Processor>, String) {
    let (mut rest, mut own, mut inside) = (String::with_capacity(text.len()), Vec::new(), false);
    for line in text.split_inclusive('\n') {
        inside = is_head(line) || (inside && !is_other(line));
        if inside {
            own.push(line.trim());
            rest.push('\n');
        } else {
            rest.push_str(line);
        }
    }
    (processor(&own), rest)
}

/// The processor of the lines, each with a key, a colon and a value.
fn processor(lines: &[&str]) -> Option<Processor> {
    let value = |key: &str| {
        let pairs = lines.iter().filter_map(|line| line.split_once(':'));
        pairs.filter(|(own, _)| own.trim() == key).map(|(_, value)| value.trim()).next()
    };
    let number = |key: &str| value(key).and_then(|text| text.parse().ok());
    let found = match value("Architecture")? {
        text if text.starts_with("ppc64") => Processor::Power,
        "aarch64" | "arm64" => Processor::Arm,
        _ => Processor::of_x86(value("Vendor ID")?, number("CPU family"), number("Model")),
    };
    (found != Processor::Unknown).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_forms() {
        let is_other = |line: &str| line.starts_with("00:");
        let old = "Architecture:        x86_64\nVendor ID:           GenuineIntel\nCPU family:          6\nModel:               143\n\
                   Model name:          Intel(R) Xeon(R)\n\n00:00.0 x\n";
        let new = "00:00.0 x\nArchitecture:             x86_64\n  CPU op-mode(s):         32-bit, 64-bit\nVendor ID:                AuthenticAMD\n  \
                   Model name:             AMD EPYC\n    CPU family:           26\n    Model:                2\n";
        assert_eq!(split(old, is_other), (Some(Processor::IntelSapphireRapids), "\n\n\n\n\n\n00:00.0 x\n".to_owned()));
        assert_eq!(split(new, is_other), (Some(Processor::AmdZen5), "00:00.0 x\n\n\n\n\n\n\n".to_owned()));
        assert_eq!(split("Architecture: aarch64\n", is_other).0, Some(Processor::Arm));
        assert_eq!(split("00:00.0 x\nVendor ID: GenuineIntel\n", is_other).0, None);
        assert_eq!(split("Architecture: x86_64\n", is_other).0, None);
    }
}
