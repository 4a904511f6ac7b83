//! GOAL text.
//!
//! ```text
//! file = "num_ranks" INT { rank } ;             rank = "rank" INT "{" { op NL | dep NL } "}" ;
//! op   = [ LABEL ":" ] ( calc | send | recv ) ; calc = "calc" INT [ "cpu" INT ] ;                    nanoseconds
//! send = "send" INT "b" "to" INT opts ;         recv = "recv" INT "b" "from" ( INT | "-1" ) opts ;   -1: any
//! opts = [ "tag" ( INT | "-1" ) ] [ "cpu" INT ] [ "nic" INT ] ;
//! dep  = LABEL ( "requires" | "irequires" ) LABEL ;
//! ```
//!
//! Comments are `//...` and `/*...*/`. Ranks stand in ascending order, each once. Blanks before a label, labels used
//! before they are given and comments behind an operation are read with a warning (W10): the reference converter
//! refuses them. It takes doubled labels, self-dependencies, unknown peers, missing ranks and numbers beyond their
//! fields without a word; here they are errors.

use super::labels::Labels;
use super::line::{Int, Line};
use super::written::{Failed, NS, Written, check, in_ns};
use crate::finding::{Code, Place, Report};
use crate::graph::{ANY, Graph, Kind, MOST_RANKS, Rank, RankBuilder, Ranks, Task};
use incast_cc::{Bytes, Time};
use std::io::{BufRead, Read, Write};

/// Most bytes of a line.
pub const MOST_LINE: u64 = 1 << 20;

/// Reads a file. Findings go to the report; no graph where one of them is an error.
pub fn read(source: &mut dyn BufRead, report: &mut Report) -> Option<Graph> {
    let before = report.errors();
    let mut reader = Reader::new(report);
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        match Read::take(&mut *source, MOST_LINE).read_until(b'\n', &mut buffer) {
            Err(error) => {
                let expected = "expected a file that can be read".to_string();
                reader.report.add(Code::E00, Place::Line(number, 1), || (error.to_string(), expected));
                return None;
            }
            Ok(0) => break,
            Ok(length) if length as u64 == MOST_LINE && buffer.last() != Some(&b'\n') => {
                let what = format!("a line of more than {MOST_LINE} bytes");
                reader.report.add(Code::E00, Place::Line(number, 1), || (what, "expected GOAL text".into()));
                return None;
            }
            Ok(_) => reader.line(&mut Line::new(&buffer, number)).ok()?,
        }
        reader.lines = number;
    }
    reader.end();
    let ranks = std::mem::take(&mut reader.done);
    if report.errors() > before {
        return None;
    }
    Some(ranks.finish())
}

/// Writes a graph: no indent, LF, labels `l<task>`, dependencies behind the tasks of a rank.
pub fn write(graph: &Graph, to: &mut dyn Write) -> Result<Written, Failed> {
    check(graph)?;
    let mut written = Written::default();
    writeln!(to, "num_ranks {}", graph.ranks())?;
    for (rank, tasks) in graph.iter() {
        writeln!(to, "\nrank {rank} {{")?;
        for (i, task) in tasks.iter() {
            let task = in_ns(task, &mut written);
            match task.kind {
                Kind::Send => write!(to, "l{i}: send {}b to {}", task.size, task.peer)?,
                Kind::Recv if task.peer == ANY => write!(to, "l{i}: recv {}b from -1", task.size)?,
                Kind::Recv => write!(to, "l{i}: recv {}b from {}", task.size, task.peer)?,
                _ => write!(to, "l{i}: calc {}", task.size)?,
            }
            let message = task.kind != Kind::Calc;
            match task.tag {
                ANY if message => to.write_all(b" tag -1")?,
                tag if message && tag != 0 => write!(to, " tag {tag}")?,
                _ => {}
            }
            if task.stream != 0 {
                write!(to, " cpu {}", task.stream)?;
            }
            if message && task.nic != 0 {
                write!(to, " nic {}", task.nic)?;
            }
            to.write_all(b"\n")?;
        }
        for earlier in 0..tasks.tasks() as u32 {
            let (ends, starts) = tasks.successors(earlier);
            for later in ends {
                writeln!(to, "l{later} requires l{earlier}")?;
            }
            for later in starts {
                writeln!(to, "l{later} irequires l{earlier}")?;
            }
        }
        to.write_all(b"}\n")?;
    }
    Ok(written)
}

/// A dependency whose labels were not both known at its line.
struct Pending {
    later: Box<[u8]>,
    earlier: Box<[u8]>,
    at_start: bool,
    places: [Place; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Head,
    Between,
    Inside(u32),
}

/// A syntax error, which is in the report.
struct Stop;

struct Reader<'r> {
    report: &'r mut Report,
    before: u64,
    state: State,
    in_comment: bool,
    lines: u64,
    ranks: u64,
    next: u64,
    done: Ranks,
    tasks: RankBuilder,
    labels: Labels,
    pending: Vec<Pending>,
}

impl<'r> Reader<'r> {
    fn new(report: &'r mut Report) -> Reader<'r> {
        Reader {
            before: report.errors(),
            report,
            state: State::Head,
            in_comment: false,
            lines: 0,
            ranks: 0,
            next: 0,
            done: Ranks::default(),
            tasks: RankBuilder::default(),
            labels: Labels::default(),
            pending: Vec::new(),
        }
    }

    /// Reads the statements of a line.
    fn line(&mut self, line: &mut Line) -> Result<(), Stop> {
        let mut first = true;
        while !self.at_end(line) {
            match self.state {
                State::Head => self.head(line)?,
                State::Between => self.rank(line)?,
                State::Inside(_) if line.take(b'}') => self.close(),
                State::Inside(_) => {
                    if first && line.at > 0 {
                        let what = || "blanks before a statement".to_string();
                        self.report
                            .add(Code::W10, line.place(0), || (what(), "write statements without indent".into()));
                    }
                    self.statement(line)?;
                    self.end_of_statement(line)?;
                }
            }
            first = false;
        }
        Ok(())
    }

    /// Skips blanks and comments; whether nothing else is left.
    fn at_end(&mut self, line: &mut Line) -> bool {
        loop {
            if self.in_comment {
                let rest = line.rest();
                match rest.windows(2).position(|pair| pair == b"*/") {
                    Some(at) => line.at += at + 2,
                    None => {
                        line.at += rest.len();
                        return true;
                    }
                }
                self.in_comment = false;
            }
            if line.peek().is_none() || line.rest().starts_with(b"//") {
                return true;
            }
            if !line.rest().starts_with(b"/*") {
                return false;
            }
            line.at += 2;
            self.in_comment = true;
        }
    }

    fn end_of_statement(&mut self, line: &mut Line) -> Result<(), Stop> {
        if line.peek().is_none() {
            return Ok(());
        }
        let at = line.at;
        if !self.at_end(line) {
            return self.syntax(line, "the end of the line");
        }
        let what = || "a comment behind a statement".to_string();
        self.report.add(Code::W10, line.place(at), || (what(), "give comments lines of their own".into()));
        Ok(())
    }

    fn syntax<T>(&mut self, line: &mut Line, expected: &str) -> Result<T, Stop> {
        let found = line.found();
        self.report.add(Code::E00, line.place(line.at), || (found, format!("expected {expected}")));
        Err(Stop)
    }

    /// An integer of at most this; others are E10, and 0.
    fn int(&mut self, line: &mut Line, field: &str, most: u64) -> Result<u64, Stop> {
        line.peek();
        let at = line.at;
        match line.int() {
            Some(Int::Value(value)) if value <= most => Ok(value),
            Some(Int::Any) | None => {
                line.at = at;
                self.syntax(line, &format!("{field}, a whole number"))
            }
            Some(_) => {
                line.at = at;
                let found = line.found();
                let _ = line.int();
                let expected = || format!("expected at most {most}");
                self.report.add(Code::E10, line.place(at), || (format!("{field} = {found}"), expected()));
                Ok(0)
            }
        }
    }

    fn head(&mut self, line: &mut Line) -> Result<(), Stop> {
        let at = line.at;
        if line.word() != b"num_ranks" {
            line.at = at;
            return self.syntax(line, "num_ranks and the number of ranks");
        }
        line.peek();
        let at = line.at;
        self.ranks = self.int(line, "num_ranks", u64::MAX)?;
        if self.ranks > MOST_RANKS {
            let (ranks, need) = (self.ranks, self.ranks as f64 * size_of::<Rank>() as f64 / 1e9);
            self.report.add(Code::E10, line.place(at), || {
                let what = format!("num_ranks = {ranks}, which takes {need:.0} GB without any task");
                (what, format!("expected at most {MOST_RANKS}"))
            });
            return Err(Stop);
        }
        self.done = Ranks::new(self.ranks);
        self.state = State::Between;
        Ok(())
    }

    fn rank(&mut self, line: &mut Line) -> Result<(), Stop> {
        let at = line.at;
        if line.word() != b"rank" {
            line.at = at;
            return self.syntax(line, "rank, its number and {");
        }
        let rank = self.int(line, "rank", u64::MAX)?;
        if !line.take(b'{') {
            return self.syntax(line, "{");
        }
        let (next, ranks) = (self.next, self.ranks);
        if rank != next || rank >= ranks {
            self.report.add(Code::E03, line.place(at), || match () {
                () if rank >= ranks => {
                    (format!("rank {rank} of {ranks} ranks"), "expected ranks below num_ranks".into())
                }
                () if rank < next => (format!("rank {rank} behind rank {}", next - 1), format!("expected rank {next}")),
                () => (format!("rank {rank} where rank {next} is missing"), "give it, empty if need be".into()),
            });
        }
        self.next = rank.saturating_add(1).max(next);
        self.state = State::Inside(rank.min(u64::from(u32::MAX)) as u32);
        Ok(())
    }

    /// Ends a rank: joins labels that were given behind their use.
    fn close(&mut self) {
        for one in std::mem::take(&mut self.pending) {
            let found = [self.labels.find(&one.later), self.labels.find(&one.earlier)];
            for (task, (label, place)) in found.iter().zip([&one.later, &one.earlier].into_iter().zip(one.places)) {
                if task.is_none() {
                    let shown = String::from_utf8_lossy(label).into_owned();
                    let remedy = || "expected the label of a task of this rank".to_string();
                    self.report.add(Code::E02, place, || (format!("label \"{shown}\" is unknown"), remedy()));
                }
            }
            if let [Some(later), Some(earlier)] = found {
                let what = || "a label is used before the line that gives it".to_string();
                self.report.add(Code::W10, one.places[0], || (what(), "give labels before their use".into()));
                self.depend(later, earlier, one.at_start, one.places[0]);
            }
        }
        self.labels.clear();
        let rank = std::mem::take(&mut self.tasks).finish();
        // after an error the graph is not handed out: nothing is kept
        if self.report.errors() == self.before {
            self.done.push(rank);
        }
        self.state = State::Between;
    }

    fn depend(&mut self, later: u32, earlier: u32, at_start: bool, place: Place) {
        if later == earlier {
            let what = || "a task that waits for itself".to_string();
            self.report.add(Code::E01, place, || (what(), "expected two different labels".into()));
            return;
        }
        let tasks = &mut self.tasks;
        let added = if at_start { tasks.irequires(later, earlier) } else { tasks.requires(later, earlier) };
        if let Err(refused) = added {
            self.report.add(Code::E10, place, || (refused.to_string(), "split the rank".into()));
        }
    }

    fn statement(&mut self, line: &mut Line) -> Result<(), Stop> {
        let at = line.at;
        let word = line.word();
        if matches!(word, b"calc" | b"send" | b"recv") {
            return self.operation(line, word, at, None);
        }
        if word.is_empty() {
            return self.syntax(line, "a label, calc, send, recv or }");
        }
        if line.take(b':') {
            line.peek();
            let from = line.at;
            let kind = line.word();
            if !matches!(kind, b"calc" | b"send" | b"recv") {
                line.at = from;
                return self.syntax(line, "calc, send or recv");
            }
            return self.operation(line, kind, at, Some(word));
        }
        line.peek();
        let from = line.at;
        let at_start = match line.word() {
            b"requires" => false,
            b"irequires" => true,
            _ => {
                line.at = from;
                return self.syntax(line, "\":\", requires or irequires");
            }
        };
        line.peek();
        let from = line.at;
        let other = line.word();
        if other.is_empty() {
            return self.syntax(line, "a label");
        }
        match (self.labels.find(word), self.labels.find(other)) {
            (Some(later), Some(earlier)) => self.depend(later, earlier, at_start, line.place(at)),
            _ => self.pending.push(Pending {
                later: word.into(),
                earlier: other.into(),
                at_start,
                places: [line.place(at), line.place(from)],
            }),
        }
        Ok(())
    }

    fn operation(&mut self, line: &mut Line, kind: &[u8], at: usize, label: Option<&[u8]>) -> Result<(), Stop> {
        let task = match kind {
            b"calc" => {
                let ns = self.int(line, "calc", u64::MAX / NS)?;
                Task::calc(Time(ns * NS))
            }
            _ => self.message(line, kind == b"send")?,
        };
        let task = self.options(line, task)?;
        match self.tasks.task(task) {
            Ok(index) => {
                if let Some(label) = label {
                    if self.labels.insert(label, index).is_some() {
                        let shown = String::from_utf8_lossy(label).into_owned();
                        let remedy = || "expected each label once a rank".to_string();
                        self.report.add(Code::E02, line.place(at), || (format!("label \"{shown}\" twice"), remedy()));
                    }
                }
                Ok(())
            }
            Err(refused) => {
                self.report.add(Code::E10, line.place(at), || (refused.to_string(), "split the rank".into()));
                Err(Stop)
            }
        }
    }

    fn message(&mut self, line: &mut Line, send: bool) -> Result<Task, Stop> {
        let bytes = Bytes(self.int(line, "bytes", u64::MAX)?);
        line.peek();
        let at = line.at;
        if line.word() != b"b" {
            line.at = at;
            return self.syntax(line, "b, the unit of bytes");
        }
        line.peek();
        let at = line.at;
        if line.word() != if send { &b"to"[..] } else { b"from" } {
            line.at = at;
            return self.syntax(line, if send { "to" } else { "from" });
        }
        line.peek();
        let at = line.at;
        if !send && line.int() == Some(Int::Any) {
            return Ok(Task::recv(bytes, ANY));
        }
        line.at = at;
        let peer = self.int(line, "peer", u64::MAX)?;
        let ranks = self.ranks;
        if peer >= ranks {
            let remedy = || format!("expected a rank from 0 to {}", ranks.saturating_sub(1));
            self.report.add(Code::E04, line.place(at), || (format!("peer {peer} of {ranks} ranks"), remedy()));
        }
        let peer = peer.min(u64::from(ANY - 1)) as u32;
        Ok(if send { Task::send(bytes, peer) } else { Task::recv(bytes, peer) })
    }

    /// Reads tag, cpu and nic, in this order.
    fn options(&mut self, line: &mut Line, mut task: Task) -> Result<Task, Stop> {
        let calc = task.kind == Kind::Calc;
        let mut stage = if calc { 1 } else { 0 };
        while line.peek().is_some() && !line.rest().starts_with(b"/") {
            let at = line.at;
            match (line.word(), stage) {
                (b"tag", 0) => {
                    stage = 1;
                    line.peek();
                    let from = line.at;
                    if line.int() == Some(Int::Any) {
                        task.tag = ANY;
                        if task.kind == Kind::Send {
                            let remedy = || "expected a number: only a receive takes any tag".to_string();
                            self.report.add(Code::E10, line.place(from), || ("tag -1 of a send".into(), remedy()));
                        }
                    } else {
                        line.at = from;
                        task.tag = self.int(line, "tag", u64::from(ANY) - 1)? as u32;
                    }
                }
                (b"cpu", 0 | 1) => {
                    stage = 2;
                    task.stream = self.int(line, "cpu", 255)? as u8;
                }
                (b"nic", 0..=2) if !calc => {
                    stage = 3;
                    task.nic = self.int(line, "nic", 255)? as u8;
                }
                _ => {
                    line.at = at;
                    let expected = if calc { "cpu, or the end of the line" } else { "tag, cpu, nic in this order" };
                    return self.syntax(line, expected);
                }
            }
        }
        Ok(task)
    }

    /// Ends the file.
    fn end(&mut self) {
        let place = Place::Line(self.lines.max(1), 1);
        let expected = match self.state {
            _ if self.in_comment => "*/",
            State::Head => "num_ranks and the number of ranks",
            State::Inside(_) => "}",
            State::Between if self.next < self.ranks => {
                let (next, ranks) = (self.next, self.ranks);
                self.report.add(Code::E03, place, || {
                    (format!("the file ends before rank {next} of {ranks}"), "give each rank, empty if need be".into())
                });
                return;
            }
            State::Between => return,
        };
        self.report.add(Code::E00, place, || ("the file ends here".into(), format!("expected {expected}")));
    }
}
