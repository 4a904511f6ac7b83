//! Files of jobs: their formats, told apart by name and by what they begin with.

use crate::chakra;
use crate::finding::{Code, Place, Report};
use crate::goal::binary::{self, Source};
use crate::goal::text;
use crate::graph::Graph;
use crate::{msccl, simai};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// GOAL text.
    Goal,
    /// GOAL binary.
    Bin,
    /// Text of SimAI and AICB.
    SimAi,
    /// Chakra execution traces, a file a rank.
    Chakra,
    /// Algorithm of a collective as XML of MSCCL.
    Msccl,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [Format::Goal, Format::Bin, Format::SimAi, Format::Chakra, Format::Msccl];

    /// Name of the format.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Goal => "goal",
            Format::Bin => "bin",
            Format::SimAi => "simai",
            Format::Chakra => "chakra",
            Format::Msccl => "msccl",
        }
    }
    /// Name for a reader.
    pub const fn title(self) -> &'static str {
        match self {
            Format::Goal => "GOAL text",
            Format::Bin => "GOAL binary",
            Format::SimAi => "text of SimAI",
            Format::Chakra => "Chakra traces",
            Format::Msccl => "an algorithm of MSCCL",
        }
    }
    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }
    /// Format of a file that begins with these bytes, if it is no execution trace.
    pub fn of(head: &[u8]) -> Format {
        // binary begins with a cookie of two bytes and six of 0; text has no byte 0
        match head {
            _ if head.contains(&0) => Format::Bin,
            _ if head.trim_ascii_start().starts_with(b"<") => Format::Msccl,
            _ if simai::POLICIES.iter().any(|policy| head.starts_with(policy.as_bytes())) => Format::SimAi,
            _ => Format::Goal,
        }
    }
}

/// Facts that a file does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Format; `None` for the one that the file looks like.
    pub format: Option<Format>,
    /// Rules of workloads of SimAI.
    pub simai: simai::Options,
    /// Rules of execution traces.
    pub traces: chakra::Options,
    /// Rules of algorithms of MSCCL.
    pub msccl: msccl::Options,
}

/// Reads the file of a job, or of execution traces all `<prefix>.<rank>.et`, by the prefix, by one of the files or by a
/// folder with one prefix. Findings go to the report; no graph where one of them is an error.
pub fn read(path: &Path, options: &Options, report: &mut Report) -> Option<Graph> {
    let prefix = prefix_of(path).filter(|_| options.format.is_none_or(|format| format == Format::Chakra));
    if prefix.is_some() || options.format == Some(Format::Chakra) {
        return traces(&prefix.unwrap_or(path.into()), options, report);
    }
    match open(path) {
        Err(error) => unreadable(path, &error, report),
        Ok(mut file) => match read_source(&mut file, options, report) {
            Ok(graph) => graph,
            Err(error) => unreadable(path, &error, report),
        },
    }
}

/// Reads a job other than execution traces from a source.
pub fn read_source(
    mut source: &mut dyn Source,
    options: &Options,
    report: &mut Report,
) -> std::io::Result<Option<Graph>> {
    let format = match options.format {
        Some(format) => format,
        None => begins(source)?,
    };
    Ok(match format {
        Format::Bin => binary::read(source, report),
        Format::SimAi => simai::read(&mut BufReader::new(&mut source), options.simai, report),
        Format::Msccl => msccl::read(&mut BufReader::new(&mut source), options.msccl, report),
        _ => text::read(&mut BufReader::with_capacity(1 << 20, &mut source), report),
    })
}

/// Format of a source by what it begins with.
fn begins(source: &mut dyn Source) -> std::io::Result<Format> {
    let mut head = Vec::new();
    Read::take(&mut *source, 64).read_to_end(&mut head)?;
    source.rewind()?;
    Ok(Format::of(&head))
}

/// Format of the file of a job, or of execution traces, as [`read`] takes it.
pub fn format_of(path: &Path) -> std::io::Result<Format> {
    if prefix_of(path).is_some() { Ok(Format::Chakra) } else { begins(&mut open(path)?) }
}

/// Files of a job: the one of this name, or execution traces and the file of their groups. Empty if there is none.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let Some(prefix) = prefix_of(path) else {
        return if path.is_file() { vec![path.to_owned()] } else { Vec::new() };
    };
    let groups = prefix.with_file_name(GROUPS);
    let traces = (0..).map(|rank| trace(&prefix, rank)).take_while(|path| path.exists());
    traces.chain(groups.is_file().then_some(groups)).collect()
}

/// File of the groups of execution traces, beside them.
const GROUPS: &str = "comm_group.json";

fn unreadable(path: &Path, error: &std::io::Error, report: &mut Report) -> Option<Graph> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let remedy = || "expected a file of a job that can be read".to_string();
    let error = error.to_string();
    // without the number of the system
    let words = error.split(" (os error").next().unwrap_or_default();
    report.add(Code::E00, Place::Job, || (format!("{name}: {words}"), remedy()));
    None
}

/// Opens a plain file: anything else may never end, or cannot be read at any place.
fn open(path: &Path) -> std::io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("no plain file"));
    }
    File::open(path)
}

/// Prefix of execution traces: the name before `.<rank>.et`, or a name that is no file and to which such files belong.
fn prefix_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    if let Some((prefix, rank)) = name.strip_suffix(".et").and_then(|name| name.rsplit_once('.')) {
        if rank.bytes().all(|c| c.is_ascii_digit()) {
            return Some(path.with_file_name(prefix));
        }
    }
    if path.is_dir() {
        return only_traces(path);
    }
    (!path.exists() && trace(path, 0).exists()).then(|| path.into())
}

/// Prefix of the execution traces in a folder, if they have one.
fn only_traces(folder: &Path) -> Option<PathBuf> {
    let names = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut prefixes = names.filter_map(|name| name.strip_suffix(".0.et").map(str::to_owned));
    let first = prefixes.next()?;
    prefixes.next().is_none().then(|| folder.join(first))
}

/// Name of the execution trace of a rank.
fn trace(prefix: &Path, rank: u32) -> PathBuf {
    let mut name = prefix.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{rank}.et"));
    prefix.with_file_name(name)
}

fn traces(prefix: &Path, options: &Options, report: &mut Report) -> Option<Graph> {
    let mut ranks = 0u32;
    while trace(prefix, ranks).exists() {
        ranks += 1;
    }
    if ranks == 0 {
        let error = std::io::Error::other("no file of rank 0");
        return unreadable(&trace(prefix, 0), &error, report);
    }
    let mut reader = match chakra::Reader::new(ranks.into(), options.traces, report) {
        Ok(reader) => reader,
        Err(refused) => {
            report.add(Code::E10, Place::Job, || (refused.to_string(), "expected fewer files".into()));
            return None;
        }
    };
    let groups = prefix.with_file_name(GROUPS);
    if groups.is_file() {
        match whole(&groups) {
            Ok(bytes) => reader.groups(&String::from_utf8_lossy(&bytes)),
            Err(error) => return unreadable(&groups, &error, report),
        }
    }
    for rank in 0..ranks {
        let path = trace(prefix, rank);
        match whole(&path) {
            Ok(bytes) => reader.rank(rank, &bytes),
            Err(error) => return unreadable(&path, &error, report),
        }
    }
    reader.finish()
}

fn whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = open(path)?.take(chakra::MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if length as u64 > chakra::MOST_BYTES {
        return Err(std::io::Error::other(format!("a file of more than {} B", chakra::MOST_BYTES)));
    }
    Ok(bytes)
}
