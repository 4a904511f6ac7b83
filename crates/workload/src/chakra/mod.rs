//! Chakra execution traces (mlcommons/chakra 21585d8, `schema/protobuf/et_def.proto`): a file a rank,
//! `<prefix>.<rank>.et`, of lengths and messages: metadata, then nodes.
//!
//! A calculation takes its duration, a collective meets the collectives of its process group in the order of the files.
//! Process groups stand in nodes of metadata or in `comm_group.json`; no name, or "0", is all ranks. Sizes of
//! all-gathers are shards, as in astra-sim/astra-sim 518bd51, where SimAI's are totals.

mod json;
mod node;
mod wire;

use self::json::Json;
use self::node::{Node, kinds};
use crate::finding::{Code, Place, Report};
use crate::graph::{Builder, Collective, Graph, Pattern, Refused, Task};
use incast_cc::{Bytes, Time};
use std::collections::HashMap;

/// Most bytes of a file.
pub const MOST_BYTES: u64 = 1 << 28;

/// Rules of reading.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Sizes of all-gathers are totals; `None`: unknown, so that they are taken for shards with a warning (W05).
    pub totals: Option<bool>,
    /// Leaves control dependencies out, as the feeder of Chakra does (W08).
    pub data_only: bool,
}

/// Trace as it is read, rank by rank.
pub struct Reader<'r> {
    report: &'r mut Report,
    options: Options,
    ranks: u64,
    job: Builder,
    groups: HashMap<String, u32>,
    /// Collectives by group and number in it.
    collectives: HashMap<(u32, u32), u32>,
    made: Vec<Collective>,
    /// Size of an all-gather with a warning before.
    doubted: bool,
    errors: u64,
}

impl<'r> Reader<'r> {
    /// Begins a trace of so many ranks. Errors: too many.
    pub fn new(ranks: u64, options: Options, report: &'r mut Report) -> Result<Reader<'r>, Refused> {
        let mut job = Builder::new(ranks)?;
        let all = job.group((0..ranks as u32).collect::<Vec<u32>>());
        let groups = HashMap::from([(String::new(), all), ("0".into(), all)]);
        let errors = report.errors();
        Ok(Reader {
            report,
            options,
            ranks,
            job,
            groups,
            collectives: HashMap::new(),
            made: Vec::new(),
            doubted: false,
            errors,
        })
    }

    /// Takes in `comm_group.json`: ranks by name of a group.
    pub fn groups(&mut self, text: &str) {
        let Some(Json::Object(pairs)) = json::parse(text) else {
            let expected = || "expected {\"name\": [ranks], ..}".to_string();
            self.report.add(Code::E00, Place::Job, || ("comm_group.json is no such JSON".into(), expected()));
            return;
        };
        for (name, ranks) in pairs {
            match ranks.ranks() {
                Some(ranks) => self.group(name, ranks),
                None => {
                    let expected = || "expected a list of ranks".to_string();
                    self.report.add(Code::E08, Place::Job, || (format!("group \"{name}\""), expected()));
                }
            }
        }
    }

    fn group(&mut self, name: String, ranks: Vec<u32>) {
        let job = &mut self.job;
        self.groups.entry(name).or_insert_with(|| job.group(ranks));
    }

    /// Reads the file of a rank. Nodes are read again rather than kept: groups and ids, tasks, then dependencies alone.
    pub fn rank(&mut self, rank: u32, bytes: &[u8]) {
        let Some(messages) = self.messages(rank, bytes) else { return };
        let mut index = HashMap::with_capacity(messages.len());
        for (i, (at, message)) in (0u32..).zip(&messages) {
            let Some(node) = Node::read(message) else { return self.broken(rank, *at) };
            if node.kind == kinds::METADATA && !node.inputs.is_empty() {
                self.groups_of(&node);
            }
            if index.insert(node.id, i).is_some() {
                let expected = || "expected each id once a rank".to_string();
                self.report.add(Code::E02, Place::Task(rank, i), || (format!("node {} twice", node.id), expected()));
                return;
            }
        }
        let mut counts = HashMap::new();
        let messages = || (0u32..).zip(messages.iter().map(|(_, message)| *message));
        for (i, node) in messages().filter_map(|(i, message)| Some((i, Node::read(message)?))) {
            let place = Place::Task(rank, i);
            let task = self.task(rank, &node, place, &mut counts);
            if let Err(refused) = self.job.task(rank, task) {
                self.report.add(Code::E10, place, || (refused.to_string(), "split the trace".into()));
                return;
            }
        }
        for (i, node) in messages().filter_map(|(i, message)| Some((i, Node::dependencies(message)?))) {
            self.dependencies(rank, i, &node, &index);
        }
    }

    fn broken(&mut self, rank: u32, at: usize) {
        let expected = || "expected a length and a message of an execution trace".to_string();
        self.report.add(Code::E00, Place::Rank(rank), || (format!("a broken message at byte {at}"), expected()));
    }

    /// Splits a file into its nodes, with the bytes before each; the metadata before them can be read.
    fn messages<'b>(&mut self, rank: u32, bytes: &'b [u8]) -> Option<Vec<(usize, &'b [u8])>> {
        let place = Place::Rank(rank);
        if bytes.starts_with(&[0x1f, 0x8b]) {
            self.report.add(Code::E00, place, || ("a file packed by gzip".into(), "unpack it: gunzip".into()));
            return None;
        }
        let mut rest = bytes;
        let mut found = Vec::new();
        let mut is_metadata = true;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let split = wire::varint(rest)
                .and_then(|(length, rest)| rest.split_at_checked(usize::try_from(length).ok()?))
                .filter(|(message, _)| if is_metadata { Node::read(message).is_some() } else { !message.is_empty() });
            let Some((message, behind)) = split else {
                self.broken(rank, at);
                return None;
            };
            rest = behind;
            if !std::mem::replace(&mut is_metadata, false) {
                found.push((at, message));
            }
        }
        if is_metadata {
            self.report.add(Code::E00, place, || ("an empty file".into(), "expected an execution trace".into()));
            return None;
        }
        Some(found)
    }

    /// Process groups of a node of metadata: a list of names and ranks.
    fn groups_of(&mut self, node: &Node) {
        let Some(Json::List(groups)) = json::parse(&node.inputs) else { return };
        for group in groups {
            if let (Some(Json::Word(name)), Some(ranks)) = (group.get("pg_name"), group.get("ranks")) {
                if let Some(ranks) = ranks.ranks().filter(|ranks| !ranks.is_empty()) {
                    self.group(name.clone(), ranks);
                }
            }
        }
    }

    fn task(&mut self, rank: u32, node: &Node, place: Place, counts: &mut HashMap<u32, u32>) -> Task {
        let task = match node.kind {
            kinds::CALC | kinds::LOAD | kinds::STORE => self.calc(node, place),
            kinds::SEND => self.message(node, node.comm_dst, place, Task::send),
            kinds::RECV => self.message(node, node.comm_src, place, Task::recv),
            kinds::COLLECTIVE => self.collective(rank, node, place, counts),
            _ => Task::nop(),
        };
        // calculations of the CPU are stream 0, those of GPU streams 1 and up
        let stream = if node.is_cpu { 0 } else { node.stream.saturating_add(1) };
        if stream > 255 {
            let what = || format!("stream {} of node {} joins stream 254", node.stream, node.id);
            self.report.add(Code::W08, place, || (what(), "number streams from 0 to 254".into()));
        }
        task.on_stream(stream.min(255) as u8)
    }

    fn calc(&mut self, node: &Node, place: Place) -> Task {
        if node.duration_us == 0 {
            let what = || format!("node {} calculates for 0 us; other programs make 1 ns of it", node.id);
            self.report.add(Code::W02, place, || (what(), "record durations with the trace".into()));
        }
        let duration = node.duration_us.checked_mul(1_000_000).unwrap_or_else(|| {
            let what = || format!("node {} calculates for {} us", node.id, node.duration_us);
            self.report.add(Code::E10, place, || (what(), format!("expected at most {}", u64::MAX / 1_000_000)));
            0
        });
        Task::calc(Time(duration))
    }

    fn message(&mut self, node: &Node, peer: Option<u64>, place: Place, of: fn(Bytes, u32) -> Task) -> Task {
        let Some(peer) = peer else {
            let expected = || "expected comm_dst of a send, comm_src of a receive".to_string();
            self.report.add(Code::E09, place, || (format!("node {} without a peer", node.id), expected()));
            return Task::nop();
        };
        if peer >= self.ranks {
            let (what, ranks) = (format!("peer {peer} of {} ranks", self.ranks), self.ranks);
            self.report.add(Code::E04, place, || (what, format!("expected a rank below {ranks}")));
        }
        if node.comm_tag.is_none() {
            let expected = || "messages of a pair meet in their order".to_string();
            self.report.warn(Code::E09, place, || (format!("node {} without comm_tag", node.id), expected()));
        }
        let tag = node.comm_tag.unwrap_or(0);
        if tag >= u64::from(u32::MAX) {
            self.report.add(Code::E10, place, || (format!("comm_tag = {tag}"), "expected less than 2^32 - 1".into()));
        }
        of(Bytes(node.comm_size.unwrap_or(0)), peer.min(self.ranks) as u32)
            .tagged(tag.min(u64::from(u32::MAX) - 1) as u32)
    }

    fn collective(&mut self, rank: u32, node: &Node, place: Place, counts: &mut HashMap<u32, u32>) -> Task {
        let pattern = match node.comm_type {
            Some(0) => Pattern::AllReduce,
            Some(1) => Pattern::Reduce,
            Some(2) => Pattern::AllGather,
            Some(5) => Pattern::Broadcast,
            Some(6) => Pattern::AllToAll,
            Some(7 | 8) => Pattern::ReduceScatter,
            Some(9) => Pattern::Barrier,
            other => {
                let what =
                    || format!("node {} with comm_type {}", node.id, other.map_or("none".into(), |n| n.to_string()));
                self.report.add(Code::W01, place, || (what(), "its node takes no time here: give a known type".into()));
                return Task::nop();
            }
        };
        let Some(&group) = self.groups.get(&node.group) else {
            let expected = || "expected a process group of the trace, or comm_group.json".to_string();
            self.report.add(Code::E08, place, || (format!("group \"{}\" is unknown", node.group), expected()));
            return Task::nop();
        };
        let members = self.job.members(group);
        let Some(position) = members.iter().position(|r| *r == rank) else {
            let expected = || "expected a group with this rank".to_string();
            self.report.add(Code::E08, place, || (format!("group \"{}\" without rank {rank}", node.group), expected()));
            return Task::nop();
        };
        let mut bytes = node.comm_size.unwrap_or(0);
        if pattern == Pattern::AllGather {
            if self.options.totals.is_none() && !std::mem::replace(&mut self.doubted, true) {
                let what =
                    || format!("an all-gather of {bytes} B, as all others, is taken for one of shards of this size");
                self.report.add(Code::W05, place, || (what(), "say whether sizes are shards or totals".into()));
            }
            if self.options.totals != Some(true) {
                bytes = bytes.saturating_mul(members.len() as u64);
            }
        }
        let what = Collective::new(pattern, group, Bytes(bytes));
        let count = counts.entry(group).or_insert(0);
        let key = (group, *count);
        *count += 1;
        let (job, made) = (&mut self.job, &mut self.made);
        let index = *self.collectives.entry(key).or_insert_with(|| {
            made.push(what.clone());
            job.collective(what.clone())
        });
        let known = &self.made[index as usize];
        if *known != what {
            let texts = |c: &Collective| format!("{} of {} B", c.pattern.name(), c.bytes.0);
            let (own, other) = (texts(&what), texts(known));
            self.report.add(Code::E05, place, || {
                let what = format!("collective {} of group \"{}\": {own}, at another rank {other}", key.1, node.group);
                (what, "give all members the same order".into())
            });
        }
        Task::collective(index, position as u32, Bytes(bytes))
    }

    fn dependencies(&mut self, rank: u32, own: u32, node: &Node, index: &HashMap<u64, u32>) {
        let place = Place::Task(rank, own);
        let control: &[u64] = if self.options.data_only { &[] } else { &node.control };
        if self.options.data_only && !node.control.is_empty() {
            let what = || format!("control dependencies of node {} are dropped", node.id);
            self.report.add(Code::W08, place, || (what(), "read both kinds of dependencies".into()));
        }
        let mut all: Vec<u64> = node.data.iter().chain(control).copied().collect();
        // the same node in both lists is one dependency
        all.sort_unstable();
        all.dedup();
        for id in all {
            let Some(&earlier) = index.get(&id) else {
                let expected = || "expected the id of a node of this rank".to_string();
                self.report.add(Code::E02, place, || (format!("node {} waits for {id}", node.id), expected()));
                continue;
            };
            if earlier == own {
                let expected = || "expected another node".to_string();
                self.report.add(Code::E01, place, || (format!("node {id} waits for itself"), expected()));
            } else if let Err(refused) = self.job.requires(rank, own, earlier) {
                self.report.add(Code::E10, place, || (refused.to_string(), "split the trace".into()));
            }
        }
    }

    /// The graph; none where a finding is an error.
    pub fn finish(self) -> Option<Graph> {
        (self.report.errors() == self.errors).then(|| self.job.finish())
    }
}
