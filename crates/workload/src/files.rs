//! Files of jobs: their formats, told apart by what they begin with.

use crate::finding::{Code, Place, Report};
use crate::goal::{binary, text};
use crate::graph::Graph;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// GOAL text.
    Goal,
    /// GOAL binary.
    Bin,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 2] = [Format::Goal, Format::Bin];

    /// Name of the format, which is also the usual suffix.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Goal => "goal",
            Format::Bin => "bin",
        }
    }
    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }
    /// Format of a file that begins with these bytes.
    pub fn of(head: &[u8]) -> Format {
        // the cookie 4223, or 2342 of a file that a run has changed; text has no byte 0
        if head.contains(&0) { Format::Bin } else { Format::Goal }
    }
}

/// Reads a file, in a given format or in the one that it begins like. Findings go to the report; no graph where one of
/// them is an error.
pub fn read(path: &Path, format: Option<Format>, report: &mut Report) -> Option<Graph> {
    let mut file = match open(path) {
        Ok(file) => file,
        Err(error) => {
            let remedy = || "expected a file of a job that can be read".to_string();
            report.add(Code::E00, Place::Job, || (error.to_string(), remedy()));
            return None;
        }
    };
    let mut head = Vec::new();
    let begun = Read::by_ref(&mut file).take(16).read_to_end(&mut head).and_then(|_| file.rewind());
    if let Err(error) = begun {
        report.add(Code::E00, Place::Job, || (error.to_string(), "expected a file that can be read".into()));
        return None;
    }
    match format.unwrap_or_else(|| Format::of(&head)) {
        Format::Goal => text::read(&mut BufReader::with_capacity(1 << 20, file), report),
        Format::Bin => binary::read(&mut file, report),
    }
}

/// Opens a plain file: anything else may never end, or cannot be read at any place.
fn open(path: &Path) -> std::io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("no plain file"));
    }
    File::open(path)
}
