//! Full buffers that wait for each other.

use super::Engine;

impl Engine {
    /// The links whose full buffers wait for each other in a circle, from the lowest on; empty where there is no circle.
    pub(super) fn cycle(&self) -> Vec<u32> {
        let channels = self.network.channels;
        let links = self.ports.len() as u32;
        let next = |(link, channel): (u32, u32)| self.head_behind(link, channel).map(|(_, out)| (out, channel));
        for start in (0..links).flat_map(|link| (0..channels).map(move |channel| (link, channel))) {
            let (mut path, mut at) = (vec![start.0], start);
            while let Some(found) = next(at).filter(|_| path.len() <= links as usize) {
                if found == start {
                    return path;
                }
                path.push(found.0);
                at = found;
            }
        }
        Vec::new()
    }
}
