//! `weir report --watch`: the page again whenever one of its files has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// Between two looks at the files (*assumed*: not noticed by a person, and no load).
const PAUSE: Duration = Duration::from_millis(200);
/// By how much the times of files lag behind the clock (*assumed*: some ticks of the kernel).
const LAG: Duration = Duration::from_millis(50);

/// What tells that a file has changed: when it was written, and how long it is; nothing of one that is not there.
type Mark = Option<(SystemTime, u64)>;

/// Files and what they were when they were read.
#[derive(Default)]
pub(super) struct Watched(BTreeMap<PathBuf, Mark>);

impl Watched {
    /// Looks at these files and at those known before, which are read next.
    pub(super) fn look(&mut self, files: &[PathBuf]) {
        self.0.extend(files.iter().map(|file| (file.clone(), None)));
        self.0.iter_mut().for_each(|(file, known)| *known = mark(file));
    }

    /// Adds files that were read after `began`; one that was written since then counts as changed.
    pub(super) fn add(&mut self, files: Vec<PathBuf>, began: SystemTime) {
        let before = |mark: Mark| mark.filter(|(written, _)| written.checked_add(LAG).is_some_and(|time| time < began));
        for file in files {
            let now = before(mark(&file));
            self.0.entry(file).or_insert(now);
        }
    }

    /// Waits until one of the files has changed, or is there or gone, and names it. Ctrl-C ends the program meanwhile.
    pub(super) fn changed(&self) -> &Path {
        loop {
            sleep(PAUSE);
            if let Some((file, _)) = self.0.iter().find(|(file, known)| mark(file) != **known) {
                // Editors write in several steps.
                sleep(PAUSE);
                return file;
            }
        }
    }
}

fn mark(file: &Path) -> Mark {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}
