//! Which devices the numbers of a log were taken for: the commonest thing to be wrong about.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir_plugin_api::NodeId;

use super::source::Source;

/// Numbers that a note lists at most.
const MOST: usize = 32;

/// The numbers of a log that were used.
#[derive(Default)]
pub(super) struct Used {
    /// Devices that sent or received.
    pub(super) devices: BTreeSet<usize>,
    /// Devices whose host memory took part.
    pub(super) hosts: BTreeSet<usize>,
}

impl Used {
    /// A note that says which devices they were taken for; `None` where none was used. `number` is what the log numbers.
    pub(super) fn note(&self, source: &Source<'_>, number: &str) -> Option<String> {
        self.devices.first()?;
        let path = |node: Option<NodeId>| node.map_or_else(String::new, |node| source.machine.path(node));
        let device = |i: &usize| path(source.device(*i));
        let mut out = format!("{}: {}", source.file, pairs(number, &self.devices, device));
        let host = |i: &usize| path(source.device(*i).and_then(|device| source.host_of(device)));
        let hosts: BTreeSet<String> = self.hosts.iter().map(host).collect();
        match hosts.first() {
            Some(only) if hosts.len() == 1 => {
                let _ = write!(out, "; host memory = {only}");
            }
            Some(_) => out = format!("{out}; {}", pairs(&format!("host memory of {number}"), &self.hosts, host)),
            None => {}
        }
        let of_host = hosts.is_empty() || source.options.host.is_some();
        let given = source.options.devices.is_some() && of_host;
        let others = if hosts.is_empty() { "--devices" } else { "--devices, --host" };
        Some(match (given, source.known_by) {
            (true, _) => out,
            (_, Some(by)) if of_host => format!("{out} (by {by})"),
            (_, Some(by)) => format!("{out} (devices by {by}; name another host by --host)"),
            _ => format!("{out} (assumed; name others by {others})"),
        })
    }
}

/// `GPU 0 = a, 1 = b, …`
fn pairs(word: &str, numbers: &BTreeSet<usize>, name: impl Fn(&usize) -> String) -> String {
    let each: Vec<String> = numbers.iter().take(MOST).map(|i| format!("{i} = {}", name(i))).collect();
    let more = numbers.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word} {}{more}", each.join(", "))
}
