//! Findings of readers and of the linter: code, place, what is wrong, why it matters, remedy.
//!
//! Codes with E stop a run, codes with W go into its results.

use std::fmt;

/// Findings of one code that a report keeps; the rest is counted.
pub const KEPT: usize = 16;

macro_rules! codes {
    ($($code:ident $title:literal, $why:literal;)*) => {
        /// Code of a finding.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $(#[doc = concat!($title, ". Reason: ", $why, ".")] $code,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// Text of the code, such as `E05`.
            pub const fn text(self) -> &'static str {
                match self { $(Code::$code => stringify!($code)),* }
            }
            /// Kind of finding, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$code => $title),* }
            }
            /// Reason why the finding matters.
            pub const fn why(self) -> &'static str {
                match self { $(Code::$code => $why),* }
            }
        }
    };
}

codes! {
    E00 "the file cannot be read", "nothing of it can be trusted";
    E01 "a cycle, or a task that waits for itself", "its tasks never start";
    E02 "an unknown or doubled label", "a dependency would join other tasks than its author meant";
    E03 "a rank is missing, doubled or out of order", "tasks would run on another rank, or on none";
    E04 "a peer that is no rank", "the message has no other end";
    E05 "sends and receives, or members of a collective, do not agree", "some task waits for ever";
    E06 "sizes of a send and of its receive differ", "one of the two counts bytes that the other does not";
    E07 "a deadlock: tasks wait for each other across ranks", "the job never ends, or not with rendezvous";
    E08 "a group is empty, unknown or not of the job", "its collective has no members, or the wrong ones";
    E09 "a send or receive without peer or tag", "it cannot meet its other end";
    E10 "a number beyond its field", "other programs wrap it without a word";
    W01 "an unknown collective word", "other programs take it for an all-reduce";
    W02 "durations that are missing or doubtful", "the time of the job would not be the one that was meant";
    W03 "the time of the job does not depend on the network", "no network would change a figure";
    W04 "ranks and places do not fit", "places stay empty, or ranks have none";
    W05 "a size with two meanings", "results differ by the size of the group, or by 7 %";
    W06 "messages so small that latency decides", "bandwidth hardly matters, and runs are long";
    W07 "tasks without effect", "they cannot start, do nothing, or are given twice";
    W08 "dependencies or streams that were dropped", "tasks overlap that did not in the trace";
    W09 "repeats of one collective differ", "queues of one repeat last into the next";
    W10 "text that the reference converter refuses", "other programs cannot read this file";
}

impl Code {
    /// Returns whether the finding stops a run.
    pub const fn is_error(self) -> bool {
        (self as usize) < Code::W01 as usize
    }
    /// The code of this text.
    pub fn named(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.text() == text)
    }
}

/// Place of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The job, or the file, as a whole.
    Job,
    /// Line and column of a text, from 1.
    Line(u64, u64),
    /// Byte of a binary file, from 0.
    Byte(u64),
    /// Rank.
    Rank(u32),
    /// Task of a rank.
    Task(u32, u32),
    /// Group, by index.
    Group(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Job => f.write_str("job"),
            Place::Line(line, column) => write!(f, "line {line}, column {column}"),
            Place::Byte(at) => write!(f, "byte {at}"),
            Place::Rank(rank) => write!(f, "rank {rank}"),
            Place::Task(rank, task) => write!(f, "{rank}:{task}"),
            Place::Group(group) => write!(f, "group {group}"),
        }
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Code, with title and reason.
    pub code: Code,
    /// Severity: whether it stops a run.
    pub error: bool,
    /// Place.
    pub place: Place,
    /// Fact found, with its values.
    pub what: String,
    /// Remedy, or what was expected.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}; {}: {}", self.code.text(), self.place, self.what, self.code.why(), self.remedy)
    }
}

/// Findings in the order in which they were met, at most [`KEPT`] of a code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    found: Vec<Finding>,
    counts: Vec<[u64; 2]>,
}

impl Report {
    /// Adds a finding with the severity of its code; the texts are made only where it is kept.
    pub fn add(&mut self, code: Code, place: Place, texts: impl FnOnce() -> (String, String)) {
        self.put(code, code.is_error(), place, texts);
    }
    /// Adds a finding as a warning, whatever its code.
    pub fn warn(&mut self, code: Code, place: Place, texts: impl FnOnce() -> (String, String)) {
        self.put(code, false, place, texts);
    }
    fn put(&mut self, code: Code, error: bool, place: Place, texts: impl FnOnce() -> (String, String)) {
        self.counts.resize(Code::ALL.len(), [0; 2]);
        let counts = &mut self.counts[code as usize];
        counts[usize::from(error)] += 1;
        if counts[0] + counts[1] <= KEPT as u64 {
            let (what, remedy) = texts();
            self.found.push(Finding { code, error, place, what, remedy });
        }
    }
    /// Kept findings.
    pub fn findings(&self) -> &[Finding] {
        &self.found
    }
    /// Number of findings of a code, kept or not.
    pub fn count(&self, code: Code) -> u64 {
        self.counts.get(code as usize).map_or(0, |counts| counts[0] + counts[1])
    }
    /// Number of findings that stop a run.
    pub fn errors(&self) -> u64 {
        self.counts.iter().map(|counts| counts[1]).sum()
    }
    /// Number of findings that do not.
    pub fn warnings(&self) -> u64 {
        self.counts.iter().map(|counts| counts[0]).sum()
    }
    /// The first finding that stops a run.
    pub fn first_error(&self) -> Option<&Finding> {
        self.found.iter().find(|f| f.error)
    }
}
