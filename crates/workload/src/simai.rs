//! Workloads of SimAI and AICB as text (aliyun/SimAI cef83f9d, aliyun/aicb 23eec3c).
//!
//! Line 1 has a policy and `key: value` pairs, line 2 the number of rows. A row has 12 words: name, dependency; time
//! (ns), collective and bytes of the forward pass, the same of the gradients of inputs and of those of weights; time
//! of the update. A collective is NONE or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, with `_EP` or `_DP_EP`.
//! Without them the group is TP, of gradients of weights DP.
//!
//! One iteration: forward rows in order, each calculation followed by its collective; then rows in reverse: gradients
//! of inputs with a collective that blocks, gradients of weights with one that does not, and behind it the update.
//! MICRO has the collectives of weights alone, one after the other. Bytes are totals, of an all-gather the gathered
//! data; a collective of no bytes is none.
//!
//! Rank = t + TP (d + DP p). Differences: pipeline stages run the same rows side by side, without their messages, and
//! checkpoints are not recomputed (W08); an unknown collective is no collective (W01), there it is an all-reduce.

use crate::finding::{Code, Place, Report};
use crate::graph::{Builder, Collective, Graph, MOST_RANKS, Pattern, Refused, Task};
use incast_cc::{Bytes, Time};
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// Most bytes of a file.
pub const MOST_BYTES: u64 = 1 << 28;
/// Most tasks of a job.
const MOST_TASKS: u64 = 1 << 28;
/// Policies that are read.
pub const POLICIES: [&str; 2] = ["HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO"];
/// Keys of the first line.
const KEYS: [&str; 9] =
    ["model_parallel_NPU_group", "ep", "pp", "vpp", "ga", "all_gpus", "checkpoints", "checkpoint_initiates", "pp_comm"];
/// Words of a row.
const WORDS: usize = 12;

/// Groups of a collective.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Tp,
    Dp,
    Ep,
    DpEp,
}

/// One pass of a row.
#[derive(Clone, Copy, Default, Debug)]
struct Pass {
    time: Time,
    collective: Option<(Pattern, Kind)>,
    bytes: u64,
}

/// A row: forward, gradients of inputs, gradients of weights, update.
#[derive(Clone, Copy, Default, Debug)]
struct Row {
    passes: [Pass; 3],
    update: Time,
}

/// Sizes of the groups.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    ranks: u64,
    tp: u64,
    ep: u64,
    dp: u64,
}

impl Sizes {
    /// Number of a rank's group, its size, and the position of the rank in it.
    fn group(&self, kind: Kind, rank: u64) -> (u64, u64, u64) {
        let (t, d) = (rank % self.tp, rank / self.tp % self.dp);
        let p = rank / (self.tp * self.dp);
        let experts = self.dp / self.ep;
        match kind {
            Kind::Tp => (rank / self.tp, self.tp, t),
            Kind::Dp => (t + self.tp * p, self.dp, d),
            Kind::Ep => (t + self.tp * (d / self.ep + experts * p), self.ep, d % self.ep),
            Kind::DpEp => (t + self.tp * (d % self.ep + self.ep * p), experts, d / self.ep),
        }
    }
}

/// Facts that a file does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// GPUs where the file names no number; `None` for one group of it.
    pub gpus: Option<u64>,
    /// Rules of SimAI's run on ns-3 (aliyun/SimAI cef83f9d, `Sys.cc`, `Workload.cc`): one pipeline stage, whatever the
    /// file says, and forward collectives of 1 to 4,095 B have 4,096 B.
    pub as_simai: bool,
}

/// Reads a file. Findings go to the report; no graph where one of them is an error.
pub fn read(source: &mut dyn BufRead, options: Options, report: &mut Report) -> Option<Graph> {
    let mut bytes = Vec::new();
    let read = Read::take(&mut *source, MOST_BYTES + 1).read_to_end(&mut bytes);
    let problem = match read {
        Err(error) => Some(error.to_string()),
        Ok(length) => (length as u64 > MOST_BYTES).then(|| format!("a file of more than {MOST_BYTES} B")),
    };
    if let Some(what) = problem {
        report.add(Code::E00, Place::Job, || (what, "expected a workload of SimAI".into()));
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    let before = report.errors();
    let found = parse(&text, options, report);
    match found {
        Ok((micro, sizes, rows)) if report.errors() == before => match build(micro, sizes, &rows) {
            Ok(graph) => return Some(graph),
            Err(refused) => report.add(Code::E10, Place::Job, || (refused.to_string(), "make the job smaller".into())),
        },
        Ok(_) => {}
        Err(stop) => report.add(stop.code, stop.place, || (stop.what, stop.expected)),
    }
    None
}

/// An error that ends the reading.
struct Stop {
    code: Code,
    place: Place,
    what: String,
    expected: String,
}

fn stop<T>(code: Code, place: Place, what: impl Into<String>, expected: impl Into<String>) -> Result<T, Stop> {
    Err(Stop { code, place, what: what.into(), expected: expected.into() })
}

/// Words of a line with their columns, from 1.
fn words(line: &str) -> Vec<(u64, &str)> {
    let start = line.as_ptr() as usize;
    line.split_ascii_whitespace().map(|word| ((word.as_ptr() as usize - start) as u64 + 1, word)).collect()
}

fn shown(word: &str) -> String {
    let short: String = word.chars().take(24).collect();
    format!("\"{}\"", short.escape_debug())
}

fn number(word: &str, place: Place, what: &str, most: u64) -> Result<u64, Stop> {
    match word.parse::<u64>() {
        Ok(value) if value <= most => Ok(value),
        Ok(_) => stop(Code::E10, place, format!("{what} = {}", shown(word)), format!("expected at most {most}")),
        Err(_) => stop(Code::E00, place, format!("{what} = {}", shown(word)), "expected a whole number"),
    }
}

fn parse(text: &str, options: Options, report: &mut Report) -> Result<(bool, Sizes, Vec<Row>), Stop> {
    let mut lines = (1u64..).zip(text.lines());
    let (_, head) = lines.next().unwrap_or((1, ""));
    let head = words(head);
    let policy = head.first().map_or("", |(_, word)| word);
    if !POLICIES.contains(&policy) {
        let expected = format!("expected {}", POLICIES.join(" or "));
        return stop(Code::E00, Place::Line(1, 1), format!("policy {}", shown(policy)), expected);
    }
    let sizes = head_sizes(&head[1..], options, report)?;
    let Some((line, count)) = lines.next() else {
        return stop(Code::E00, Place::Line(2, 1), "the file ends here", "expected the number of rows");
    };
    let count = match words(count)[..] {
        [(column, word)] => number(word, Place::Line(line, column), "rows", u64::MAX)?,
        _ => return stop(Code::E00, Place::Line(line, 1), "no single word", "expected the number of rows"),
    };
    let mut rows = Vec::new();
    let mut last = line;
    for (line, text) in lines {
        last = line;
        let words = words(text);
        if words.is_empty() {
            continue;
        }
        if rows.len() as u64 == count {
            return stop(
                Code::E00,
                Place::Line(line, 1),
                format!("row {}", count + 1),
                format!("expected {count} rows"),
            );
        }
        let mut row = row(&words, line, report)?;
        if let (true, bytes @ 1..4096) = (options.as_simai, &mut row.passes[0].bytes) {
            *bytes = 4096;
        }
        rows.push(row);
    }
    if (rows.len() as u64) < count {
        let what = format!("the file ends behind {} rows", rows.len());
        return stop(Code::E00, Place::Line(last, 1), what, format!("expected {count}"));
    }
    let all = rows.len() as u64 * 8;
    if sizes.ranks.saturating_mul(all) > MOST_TASKS {
        let need = sizes.ranks as f64 * all as f64 * 34.0 / 1e9;
        let what = format!("{} GPUs with about {all} tasks each, which take {need:.0} GB", sizes.ranks);
        return stop(Code::E10, Place::Line(1, 1), what, format!("expected at most {MOST_TASKS} tasks"));
    }
    Ok((policy == "MICRO", sizes, rows))
}

/// Reads `key: value` pairs of the first line; a key may stand without its colon. Checkpoints are counted, and the rows
/// that have them may follow.
fn head_values<'t>(head: &[(u64, &'t str)]) -> Result<HashMap<&'t str, (u64, &'t str)>, Stop> {
    let mut values: HashMap<&str, (u64, &str)> = HashMap::new();
    let mut words = head.iter().copied().peekable();
    while let Some((column, word)) = words.next() {
        let place = Place::Line(1, column);
        let name = word.strip_suffix(':').unwrap_or(word);
        if !KEYS.contains(&name) {
            let expected = format!("expected one of {}", KEYS.join(", "));
            return stop(Code::E00, place, format!("key {}", shown(word)), expected);
        }
        let is_value = |(_, word): &(u64, &str)| !KEYS.contains(&word.strip_suffix(':').unwrap_or(word));
        let Some((column, word)) = words.next_if(is_value) else {
            return stop(Code::E00, place, format!("{name} without a value"), "expected a number behind it");
        };
        let at = Place::Line(1, column);
        if values.insert(name, (column, word)).is_some() {
            return stop(Code::E00, place, format!("{name} twice"), "expected each key once");
        }
        if name == "pp_comm" {
            let bytes = word.parse::<f64>().ok().filter(|bytes| bytes.is_finite() && *bytes >= 0.0);
            if bytes.is_none() {
                return stop(Code::E00, at, format!("{name} = {}", shown(word)), "expected a number of bytes");
            }
            continue;
        }
        let count = number(word, at, name, u64::MAX)?;
        let rows = if matches!(name, "checkpoints" | "checkpoint_initiates") { count } else { 0 };
        for _ in 0..rows {
            let Some((column, word)) = words.next_if(is_value) else { break };
            number(word, Place::Line(1, column), "row of a checkpoint", u64::MAX)?;
        }
    }
    Ok(values)
}

/// Sizes of the groups, by the first line.
fn head_sizes(head: &[(u64, &str)], options: Options, report: &mut Report) -> Result<Sizes, Stop> {
    let values = head_values(head)?;
    let value = |key: &str, usual: u64, least: u64| match values.get(key) {
        None => Ok(usual),
        Some((column, word)) => {
            let place = Place::Line(1, *column);
            let value = number(word, place, key, u64::MAX)?;
            let what = format!("{key} = {value}");
            if value < least { stop(Code::E08, place, what, format!("expected at least {least}")) } else { Ok(value) }
        }
    };
    let (tp, ep, pp) = (value("model_parallel_NPU_group", 1, 1)?, value("ep", 1, 1)?, value("pp", 1, 1)?);
    let (gpus, pp) = (options.gpus, if options.as_simai { 1 } else { pp });
    let named = value("all_gpus", 0, 0)?;
    let group = tp.saturating_mul(ep).saturating_mul(pp);
    let ranks = if named > 0 { named } else { gpus.unwrap_or(group) };
    let place = Place::Line(1, 1);
    if ranks == 0 || ranks > MOST_RANKS {
        return stop(Code::E10, place, format!("{ranks} GPUs"), format!("expected 1 to {MOST_RANKS}"));
    }
    if gpus.is_none() && named == 0 {
        let remedy = || "name the number of GPUs".to_string();
        report.add(Code::W04, place, || (format!("no all_gpus: {ranks} GPUs, one group"), remedy()));
    }
    if let Some(gpus) = gpus.filter(|gpus| named > 0 && *gpus != named) {
        let remedy = || "leave one of the numbers out".to_string();
        report.add(Code::W04, place, || (format!("all_gpus = {named}, which holds; {gpus} GPUs are named"), remedy()));
    }
    if ranks % group != 0 {
        let what = format!("TP {tp} x PP {pp} x EP {ep} of {ranks} GPUs");
        return stop(Code::E08, place, what, "expected a product that divides them");
    }
    let pipeline = values.get("pp_comm").and_then(|(_, word)| word.parse::<f64>().ok()).unwrap_or(0.0);
    if pp > 1 {
        let remedy = || "read the result as that of stages that never wait for each other".to_string();
        report.add(Code::W08, place, || (format!("{pp} stages run side by side; {pipeline} B are not sent"), remedy()));
    }
    if value("checkpoints", 0, 0)? > 0 {
        let remedy = || "add the time of the second forward pass to the rows".to_string();
        report.add(Code::W08, place, || ("checkpoints are not recomputed".into(), remedy()));
    }
    Ok(Sizes { ranks, tp, ep, dp: ranks / (tp * pp) })
}

fn row(words: &[(u64, &str)], line: u64, report: &mut Report) -> Result<Row, Stop> {
    if words.len() != WORDS {
        return stop(Code::E00, Place::Line(line, 1), format!("{} words", words.len()), format!("expected {WORDS}"));
    }
    let at = |i: usize| Place::Line(line, words[i].0);
    let time = |i: usize| number(words[i].1, at(i), "time (ns)", u64::MAX / 1000).map(Time::ns);
    let mut made = Row { update: time(11)?, ..Row::default() };
    for (pass, first) in [2, 5, 8].into_iter().enumerate() {
        let bytes = number(words[first + 2].1, at(first + 2), "bytes", u64::MAX)?;
        let usual = if pass == 2 { Kind::Dp } else { Kind::Tp };
        let collective = collective(words[first + 1].1, usual, at(first + 1), report);
        made.passes[pass] = Pass { time: time(first)?, collective: collective.filter(|_| bytes > 0), bytes };
    }
    Ok(made)
}

fn collective(word: &str, usual: Kind, place: Place, report: &mut Report) -> Option<(Pattern, Kind)> {
    let (name, kind) = match (word.strip_suffix("_DP_EP"), word.strip_suffix("_EP")) {
        (Some(name), _) => (name, Kind::DpEp),
        (None, Some(name)) => (name, Kind::Ep),
        _ => (word, usual),
    };
    let pattern = match name {
        "ALLREDUCE" => Pattern::AllReduce,
        "ALLGATHER" => Pattern::AllGather,
        "REDUCESCATTER" => Pattern::ReduceScatter,
        "ALLTOALL" => Pattern::AllToAll,
        "NONE" => return None,
        _ => {
            let remedy = || "expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL".to_string();
            report.add(Code::W01, place, || (format!("{} is read as no collective", shown(word)), remedy()));
            return None;
        }
    };
    Some((pattern, kind))
}

fn build(micro: bool, sizes: Sizes, rows: &[Row]) -> Result<Graph, Refused> {
    let mut job = Builder::new(sizes.ranks)?;
    // first group of each kind, and first collective of each row and pass
    let mut groups: HashMap<Kind, u32> = HashMap::new();
    let mut firsts = vec![[None; 3]; rows.len()];
    for (row, first) in rows.iter().zip(&mut firsts) {
        for (pass, first) in row.passes.iter().zip(first) {
            let Some((pattern, kind)) = pass.collective else { continue };
            let (_, size, _) = sizes.group(kind, 0);
            if size < 2 {
                continue;
            }
            let base = *groups.entry(kind).or_insert_with(|| add_groups(&mut job, &sizes, kind));
            let count = sizes.ranks / size;
            let add = |group| job.collective(Collective::new(pattern, base + group, Bytes(pass.bytes)));
            *first = (0..count as u32).map(add).min();
        }
    }
    for rank in 0..sizes.ranks {
        let mut member = Member { job: &mut job, sizes: &sizes, rank, last: None };
        for (row, first) in rows.iter().zip(&firsts).filter(|_| !micro) {
            member.calc(row.passes[0].time)?;
            member.collective(&row.passes[0], first[0], true)?;
        }
        if micro {
            for (row, first) in rows.iter().zip(&firsts) {
                member.collective(&row.passes[2], first[2], true)?;
            }
            continue;
        }
        for (row, first) in rows.iter().zip(&firsts).rev() {
            member.calc(row.passes[1].time)?;
            member.collective(&row.passes[1], first[1], true)?;
            member.calc(row.passes[2].time)?;
            let sent = member.collective(&row.passes[2], first[2], false)?;
            member.update(row.update, sent)?;
        }
    }
    Ok(job.finish())
}

/// Adds all groups of a kind, by their numbers; returns the index of the first.
fn add_groups(job: &mut Builder, sizes: &Sizes, kind: Kind) -> u32 {
    let (_, size, _) = sizes.group(kind, 0);
    let mut members = vec![vec![0u32; size as usize]; (sizes.ranks / size) as usize];
    for rank in 0..sizes.ranks {
        let (group, _, position) = sizes.group(kind, rank);
        members[group as usize][position as usize] = rank as u32;
    }
    members.into_iter().map(|ranks| job.group(ranks)).min().unwrap_or(0)
}

/// Rank whose tasks are added, and the task that the next one waits for.
struct Member<'b> {
    job: &'b mut Builder,
    sizes: &'b Sizes,
    rank: u64,
    last: Option<u32>,
}

impl Member<'_> {
    fn add(&mut self, task: Task, after: Option<u32>) -> Result<u32, Refused> {
        let rank = self.rank as u32;
        let index = self.job.task(rank, task)?;
        if let Some(after) = after {
            self.job.requires(rank, index, after)?;
        }
        Ok(index)
    }

    fn calc(&mut self, time: Time) -> Result<(), Refused> {
        if time > Time::ZERO {
            self.last = Some(self.add(Task::calc(time), self.last)?);
        }
        Ok(())
    }

    fn collective(&mut self, pass: &Pass, first: Option<u32>, blocks: bool) -> Result<Option<u32>, Refused> {
        let (Some((_, kind)), Some(first)) = (pass.collective, first) else { return Ok(None) };
        let (group, _, position) = self.sizes.group(kind, self.rank);
        let task = Task::collective(first + group as u32, position as u32, Bytes(pass.bytes)).on_stream(1);
        let added = self.add(task, self.last)?;
        if blocks {
            self.last = Some(added);
        }
        Ok(Some(added))
    }

    /// Adds the update of weights, which nothing waits for within an iteration.
    fn update(&mut self, time: Time, sent: Option<u32>) -> Result<(), Refused> {
        if time > Time::ZERO {
            self.add(Task::calc(time), sent.or(self.last))?;
        }
        Ok(())
    }
}
