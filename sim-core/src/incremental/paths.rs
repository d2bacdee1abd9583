//! Paths, and the classes of those whose transfers share links: the arbiter gets a class when that gets weight.

use weir_plugin_api::{ClassInfo, IncrementalArbiter};

use super::NONE;
use super::clocks::{Class, Clocks, Path, Terms};
use super::numbers::Level;

impl Clocks {
    /// Adds a path over these links, all different, for transfers of this limit and priority.
    pub(crate) fn add_path(
        &mut self,
        links: impl Iterator<Item = u32>,
        limit: Level,
        priority: i64,
        arbiter: &dyn IncrementalArbiter,
    ) -> u32 {
        let first = self.path_links.len() as u32;
        self.path_links.extend(links);
        let count = self.path_links.len() as u32 - first;
        let alone = self.alone_on(first as usize, limit, priority, arbiter);
        let terms = Terms { limit, priority, alone };
        if self.terms.last() != Some(&terms) {
            self.terms.push(terms);
        }
        let terms = (self.terms.len() - 1) as u32;
        self.paths.push(Path { first, count, class: NONE, terms });
        (self.paths.len() - 1) as u32
    }

    /// What the arbiter says of a transfer alone on the links from `first` on in `path_links`.
    fn alone_on(
        &mut self,
        first: usize,
        limit: Level,
        priority: i64,
        arbiter: &dyn IncrementalArbiter,
    ) -> Option<(u32, Level)> {
        self.ids.clear();
        self.ids.extend(self.path_links[first..].iter().map(|&l| self.links[l as usize].id));
        let (link, level) = arbiter.alone(&ClassInfo { links: &self.ids, limit, priority })?;
        let at = self.ids.iter().position(|&id| id == link)?;
        Some((self.path_links[first + at], level))
    }

    /// The class of the transfers of a path that share links; the arbiter gets a new one at once.
    pub(super) fn class_on(&mut self, path: u32, arbiter: &mut dyn IncrementalArbiter) -> u32 {
        let Path { class, terms, .. } = self.paths[path as usize];
        if class != NONE {
            return class;
        }
        let mut links = std::mem::take(&mut self.ids);
        links.clear();
        links.extend(self.path_links[self.links_of(path)].iter().map(|&l| self.links[l as usize].id));
        let class = if let Some(class) = self.free_classes.pop() {
            let record = &mut self.classes[class as usize];
            record.path = path;
            class
        } else {
            debug_assert!(self.classes.len() < self.nodes.first_own as usize, "ids of nodes begin here");
            self.classes.push(Class { path, weight: 0 });
            self.nodes.add_class();
            (self.classes.len() - 1) as u32
        };
        let Terms { limit, priority, .. } = self.terms[terms as usize];
        arbiter.add_class(class, &ClassInfo { links: &links, limit, priority });
        self.ids = links;
        self.paths[path as usize].class = class;
        class
    }

    /// The most that the level of transfers of a path may be.
    #[inline]
    pub(super) fn limit_of(&self, path: u32) -> Level {
        self.terms[self.paths[path as usize].terms as usize].limit
    }

    /// Where the links of a path are in `path_links`.
    #[inline]
    pub(super) fn links_of(&self, path: u32) -> std::ops::Range<usize> {
        let path = &self.paths[path as usize];
        path.first as usize..(path.first + path.count) as usize
    }
}
