//! Which files a scenario may name: those below its folder and its library, wherever symbolic links lead.
//!
//! A path is followed name by name. A name that leads out of the roots ends it before anything outside is looked at, so that a
//! message about another file does not say whether it exists.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The root of a library.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    /// As it was given, absolute.
    given: PathBuf,
    /// Symbolic links resolved.
    real: PathBuf,
}

impl Library {
    pub(crate) fn new(given: &Path, real: PathBuf) -> Self {
        Self { given: std::path::absolute(given).unwrap_or_else(|_| real.clone()), real }
    }
}

/// Why there is no such file to read.
#[derive(Debug)]
pub(crate) enum Missing {
    /// It is not below a root.
    Outside,
    /// The system does not let it be read, or there is none.
    Unreadable(io::Error),
}

/// The folders below which files may lie: as paths name them, and with symbolic links resolved.
pub(crate) struct Roots<'a>(Vec<(&'a Path, &'a Path)>);

impl<'a> Roots<'a> {
    pub(crate) fn new(folder: &'a Path, library: Option<&'a Library>) -> Self {
        let library = library.into_iter().flat_map(|Library { given, real }| [(&**real, &**real), (&**given, &**real)]);
        Self(std::iter::once((folder, folder)).chain(library).collect())
    }

    /// Where an absolute path leads, symbolic links resolved.
    pub(crate) fn find(&self, path: &Path) -> Result<PathBuf, Missing> {
        let place = self.without_dots(path).ok_or(Missing::Outside)?;
        let below = self.0.iter().find_map(|(root, real)| Some((*real, place.strip_prefix(root).ok()?)));
        let (root, rest) = below.ok_or(Missing::Outside)?;
        rest.components().try_fold(root.to_path_buf(), |folder, name| self.step(&folder, name.as_ref()))
    }

    /// A path without `.` and `..`, as its text says; none if it leaves the roots and the folders above them on its way.
    fn without_dots(&self, path: &Path) -> Option<PathBuf> {
        let mut place = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => drop(place.pop()),
                other => place.push(other),
            }
            if !self.0.iter().any(|(root, _)| place.starts_with(root) || root.starts_with(&place)) {
                return None;
            }
        }
        Some(place)
    }

    /// What a name in a folder below a root leads to.
    fn step(&self, folder: &Path, name: &Path) -> Result<PathBuf, Missing> {
        let next = folder.join(name);
        if !next.symlink_metadata().map_err(Missing::Unreadable)?.is_symlink() {
            return Ok(next);
        }
        match next.canonicalize() {
            Ok(real) if self.is_below(&real) => Ok(real),
            Ok(_) => Err(Missing::Outside),
            Err(error) => {
                let target = folder.join(next.read_link().map_err(Missing::Unreadable)?);
                let is_below = self.without_dots(&target).is_some_and(|target| self.is_below(&target));
                Err(if is_below { Missing::Unreadable(error) } else { Missing::Outside })
            }
        }
    }

    fn is_below(&self, real: &Path) -> bool {
        self.0.iter().any(|(_, root)| real.starts_with(root))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Another file is refused alike whether it exists or not, whatever the path goes through.
    #[test]
    fn nobody_learns_what_lies_outside() {
        let all = tempfile::tempdir().expect("a folder");
        let all = all.path().canonicalize().expect("it exists");
        let (folder, library, other) = (all.join("lib/s"), all.join("lib"), all.join("out"));
        for folder in [&folder, &other, &library.join("t")] {
            std::fs::create_dir_all(folder).expect("made");
        }
        for file in [folder.join("a.yaml"), library.join("t/b.yaml"), other.join("c.yaml")] {
            std::fs::write(file, "").expect("written");
        }
        std::os::unix::fs::symlink(&other, folder.join("away")).expect("linked");
        std::os::unix::fs::symlink(library.join("t"), folder.join("near")).expect("linked");
        std::os::unix::fs::symlink(other.join("nope.yaml"), folder.join("gone.yaml")).expect("linked");
        let with = Library::new(&library, library.clone());
        let outside = |roots: &Roots<'_>, named: &str| matches!(roots.find(&folder.join(named)), Err(Missing::Outside));
        let roots = Roots::new(&folder, None);
        assert_eq!(roots.find(&folder.join("../s/./a.yaml")).expect("found"), folder.join("a.yaml"));
        for there in
            ["../../out/c.yaml", "away/c.yaml", "../t/b.yaml", "near/b.yaml", "../../out/c.yaml/../../lib/s/a.yaml"]
        {
            assert!(outside(&roots, there), "{there}");
        }
        for not in
            ["../../out/n.yaml", "away/n.yaml", "../t/n.yaml", "gone.yaml", "/n/../n.yaml", "../../n/../lib/s/a.yaml"]
        {
            assert!(outside(&roots, not), "{not}");
        }
        let missing = |named: &str| matches!(roots.find(&folder.join(named)), Err(Missing::Unreadable(_)));
        assert!(missing("n.yaml") && missing("a.yaml/n.yaml"));
        let roots = Roots::new(&folder, Some(&with));
        for found in ["../t/b.yaml", "near/b.yaml"] {
            assert_eq!(roots.find(&folder.join(found)).expect("found"), library.join("t/b.yaml"));
        }
        assert!(outside(&roots, "away/c.yaml") && outside(&roots, "../../out/c.yaml"));
    }
}
