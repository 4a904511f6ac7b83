//! Places of a scenario's files: a folder, or memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Place of a scenario's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Beside {
    /// In a folder, from which relative names start.
    Folder(PathBuf),
    /// In memory, by their names in the scenario: nothing is read from a disk.
    Texts(BTreeMap<String, String>),
}

impl Beside {
    /// True if there is a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Beside::Folder(dir) => dir.join(name).is_file(),
            Beside::Texts(texts) => texts.contains_key(name),
        }
    }

    /// Path of a name; of a text its name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match self {
            Beside::Folder(dir) => dir.join(name),
            Beside::Texts(_) => name.into(),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Beside {
    fn from(dir: &P) -> Beside {
        Beside::Folder(dir.as_ref().into())
    }
}

impl From<PathBuf> for Beside {
    fn from(dir: PathBuf) -> Beside {
        Beside::Folder(dir)
    }
}
