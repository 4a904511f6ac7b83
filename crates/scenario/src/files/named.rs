//! Text files named by a scenario, from its folder or from the program.

use crate::files::{Beside, builtin};
use crate::text::problem::Problem;
use incast_workload::files;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Largest text file, in bytes: a list of some tens of millions of flows.
const MAX_BYTES: u64 = 1 << 30;
/// Bytes read at the beginning to detect a file that is not text.
const BEGINNING: u64 = 1 << 16;

/// Folder of relative file names, for messages.
const BESIDE: &str = "; file names start from the folder of the scenario file";

/// Reads a text file named at `key` by a scenario.
pub(crate) fn read_named(key: &str, beside: &Beside, file: &str) -> Result<String, Problem> {
    if let Some(name) = file.strip_prefix(builtin::PREFIX) {
        return builtin::file(name).map(str::to_owned).ok_or_else(|| {
            let known: Vec<&str> = builtin::files().collect();
            let problem = Problem::quoted(key, file, "no file of this name comes with the program");
            problem.among(name, "expected builtin: and one of", &known, "")
        });
    }
    let dir = match beside {
        Beside::Folder(dir) => dir,
        Beside::Texts(texts) => {
            let reason = |reason| Problem::quoted(key, file, reason);
            return plain(text_named(key, texts, file)?.to_owned()).map_err(reason);
        }
    };
    let path = dir.join(file);
    read_file(key, &path).map_err(|mut p| {
        if path.exists() {
            return p;
        }
        p.message += BESIDE;
        among_tables(p, key, file)
    })
}

/// A text in memory as it is.
fn text_named<'a>(key: &str, texts: &'a BTreeMap<String, String>, file: &str) -> Result<&'a str, Problem> {
    texts.get(file).map(String::as_str).ok_or_else(|| {
        let problem = Problem::quoted(key, file, "no file of this name came with the scenario");
        let tables = key.ends_with(".sizes").then(builtin::sizes).into_iter().flatten().map(|name| -> &'a str { name });
        among_tables(problem, key, file).suggest(file, texts.keys().map(String::as_str).chain(tables))
    })
}

/// With the tables that come with the program, where a table is expected.
fn among_tables(problem: Problem, key: &str, file: &str) -> Problem {
    if !key.ends_with(".sizes") {
        return problem;
    }
    let sizes: Vec<&str> = builtin::sizes().collect();
    problem.among(file, "tables of the program are", &sizes, "incast list sizes")
}

/// Content of the job named at `key`, which comes with the program, or its files.
pub(crate) enum Tasks {
    /// A text in memory: from the program, or one that came with the scenario.
    Text(Cow<'static, str>),
    /// Files below the name, at least one.
    Files(PathBuf, Vec<PathBuf>),
}

/// Finds the job named at `key` by a scenario: a file, text or binary, or execution traces.
pub(crate) fn tasks_named(key: &str, beside: &Beside, file: &str) -> Result<Tasks, Problem> {
    if let Some(text) = file.strip_prefix(builtin::PREFIX).and_then(builtin::file) {
        return Ok(Tasks::Text(text.into()));
    }
    let dir = match beside {
        Beside::Folder(dir) => dir,
        Beside::Texts(_) if file.ends_with(".et") => {
            return Err(Problem::quoted(
                key,
                file,
                "execution traces are read from a folder, by the installed program",
            ));
        }
        Beside::Texts(texts) => return text_named(key, texts, file).map(|text| Tasks::Text(text.to_owned().into())),
    };
    let path = dir.join(file);
    let parts = files::parts(&path);
    if !file.starts_with(builtin::PREFIX) && !parts.is_empty() {
        return Ok(Tasks::Files(path, parts));
    }
    // a name that leads to no file has its error there
    let shown = |reason: &str| Problem::with_value(key, format!("\"{}\"", path.display()), reason);
    match std::fs::metadata(&path).ok().and_then(|found| kind_of(&found)) {
        Some("folder") => Err(shown("is a folder; expected a file of tasks, or a folder with traces PREFIX.RANK.et")),
        Some(_) => Err(shown("no plain file; expected a file of tasks")),
        None if path.exists() => Err(shown("cannot be read")),
        None => Err(read_named(key, beside, file).map_or_else(|problem| problem, |_| shown("no file of tasks"))),
    }
}

impl Tasks {
    /// Hash of the content, FNV-1a of 64 bits, part after part.
    pub(crate) fn hash(&self, key: &str) -> Result<u64, Problem> {
        let parts = match self {
            Tasks::Text(text) => return Ok(fnv(FNV, text.as_bytes())),
            Tasks::Files(_, parts) => parts,
        };
        let mut hash = FNV;
        for path in parts {
            let mut buffer = vec![0; BEGINNING as usize];
            let wrong = |e: Error| Problem::with_value(key, format!("\"{}\"", path.display()), e.to_string());
            let mut file = File::open(path).map_err(wrong)?;
            loop {
                match file.read(&mut buffer).map_err(wrong)? {
                    0 => break,
                    n => hash = fnv(hash, &buffer[..n]),
                }
            }
        }
        Ok(hash)
    }
}

/// Hash of nothing: FNV-1a, 64 bits.
pub(crate) const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// Hash that continues another by bytes: FNV-1a, 64 bits.
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, b| (h ^ *b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Kind of the object at a path, unless it is a plain file.
#[cfg(unix)]
fn kind_of(found: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    match () {
        () if kind.is_dir() => Some("folder"),
        () if kind.is_fifo() => Some("pipe"),
        () if kind.is_socket() => Some("socket"),
        () if kind.is_char_device() || kind.is_block_device() => Some("device"),
        () => None,
    }
}

#[cfg(not(unix))]
fn kind_of(found: &Metadata) -> Option<&'static str> {
    found.is_dir().then_some("folder")
}

/// Reads a plain text file of at most `most` bytes. Reading stops early for a file that does not begin with text.
fn read_at_most(path: &Path, most: u64) -> std::io::Result<String> {
    // checked before opening: opening a pipe waits for its writer, and may affect a device
    if let Some(kind) = kind_of(&std::fs::metadata(path)?) {
        return Err(Error::other(format!("is a {kind}; expected a file")));
    }
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(BEGINNING).read_to_end(&mut bytes)?;
    if !bytes.contains(&0) {
        file.take(most + 1 - BEGINNING).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > most {
        return Err(Error::from(ErrorKind::FileTooLarge));
    }
    String::from_utf8(bytes).map_err(|e| Error::new(ErrorKind::InvalidData, e))
}

/// Reads a text file, without a byte order mark; `key` is its name in messages.
pub(crate) fn read_file(key: &str, path: &Path) -> Result<String, Problem> {
    let problem = |reason: String| {
        let shown = path.display().to_string();
        if shown == key { Problem::new(key, reason) } else { Problem::with_value(key, format!("\"{shown}\""), reason) }
    };
    let text = read_at_most(path, MAX_BYTES).map_err(|e| {
        let reason = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::InvalidData => "not a text file (UTF-8)".to_owned(),
            std::io::ErrorKind::FileTooLarge => {
                format!("more than {} GiB; expected a text file that is smaller", MAX_BYTES >> 30)
            }
            _ => e.to_string(),
        };
        problem(reason)
    })?;
    plain(text).map_err(|reason| problem(reason.to_owned()))
}

/// A text without a byte order mark.
fn plain(text: String) -> Result<String, &'static str> {
    if text.contains('\0') {
        return Err("not a text file: it has bytes that are 0");
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
