//! GOAL binary, little endian and packed.
//!
//! ```text
//! u64 4223; u32 ranks; u8 largest cpu; u8 largest nic; ranks x { u64 start; u64 end }    offsets from byte 8
//! rank: u32 nodes; u32 roots; u32 root[roots]; nodes x node; u32 appendix[]
//! node, 39 bytes: u32 waits; u8 kind (1 send, 2 recv, 3 calc); u32 peer; u64 bytes or ns; u32 tag; u8 cpu; u8 nic;
//!                 u32 number and u32 place of the successors after its end, the same of those after its start
//! ```
//!
//! Places are indices into the appendix of the rank. Any source and any tag are 2^32 - 1. A file with the cookie 2342
//! was changed by a run of the reference and cannot be used again.

use super::written::{Failed, NS, Written, check, in_ns};
use crate::finding::{Code, Place, Report};
use crate::graph::{ANY, Graph, Kind, MOST_RANKS, MOST_TASKS, Rank, RankBuilder, Ranks, Task};
use std::io::{Read, Seek, SeekFrom, Write};

/// First 8 bytes of a file.
pub const COOKIE: u64 = 4223;
/// First 8 bytes of a file that a run of the reference has changed.
const SPOILT: u64 = 2342;
/// Bytes of a node.
const NODE: usize = 39;
/// Bytes before the offsets of the ranks.
const HEAD: u64 = 14;
/// Offsets count from here.
const BASE: u64 = 8;
/// Nodes that are read at once.
const AT_ONCE: usize = 1 << 14;

/// A source that can be read at any place.
pub trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// Reads a file. Findings go to the report; no graph where one of them is an error.
pub fn read(source: &mut dyn Source, report: &mut Report) -> Option<Graph> {
    let before = report.errors();
    match Reader::new(source).and_then(|mut reader| reader.all(report)) {
        Ok(graph) if report.errors() == before => Some(graph),
        Ok(_) => None,
        Err(stop) => {
            report.add(stop.code, stop.place, || (stop.what, stop.expected));
            None
        }
    }
}

/// Writes a graph: kinds, peers and tags of calculations are 0.
pub fn write(graph: &Graph, to: &mut dyn Write) -> Result<Written, Failed> {
    check(graph)?;
    let largest =
        |of: fn(&Task) -> u8| graph.iter().flat_map(|(_, r)| r.iter()).map(|(_, t)| of(&t)).max().unwrap_or(0);
    to.write_all(&COOKIE.to_le_bytes())?;
    to.write_all(&(graph.ranks() as u32).to_le_bytes())?;
    to.write_all(&[largest(|t| t.stream), largest(|t| t.nic)])?;
    let mut start = HEAD - BASE + 16 * graph.ranks() as u64;
    for (_, rank) in graph.iter() {
        let (ends, starts) = rank.edges();
        let roots = rank.all_waits().iter().filter(|waits| **waits == 0).count();
        let end = start + 8 + 4 * (roots + ends + starts) as u64 + (NODE * rank.tasks()) as u64;
        to.write_all(&start.to_le_bytes())?;
        to.write_all(&end.to_le_bytes())?;
        start = end;
    }
    let mut written = Written::default();
    for (_, rank) in graph.iter() {
        write_rank(rank, to, &mut written)?;
    }
    Ok(written)
}

fn write_rank(rank: &Rank, to: &mut dyn Write, written: &mut Written) -> Result<(), Failed> {
    let roots: Vec<u32> = (0..rank.tasks() as u32).filter(|i| rank.waits(*i) == 0).collect();
    to.write_all(&(rank.tasks() as u32).to_le_bytes())?;
    to.write_all(&(roots.len() as u32).to_le_bytes())?;
    for root in roots {
        to.write_all(&root.to_le_bytes())?;
    }
    let mut place = 0u32;
    for (i, task) in rank.iter() {
        let task = in_ns(task, written);
        let (ends, starts) = rank.successors(i);
        let kind = match task.kind {
            Kind::Send => 1u8,
            Kind::Recv => 2,
            _ => 3,
        };
        let mut node = [0u8; NODE];
        node[0..4].copy_from_slice(&rank.waits(i).to_le_bytes());
        node[4] = kind;
        node[5..9].copy_from_slice(&task.peer.to_le_bytes());
        node[9..17].copy_from_slice(&task.size.to_le_bytes());
        node[17..21].copy_from_slice(&task.tag.to_le_bytes());
        node[21] = task.stream;
        node[22] = task.nic;
        node[23..27].copy_from_slice(&(ends.len() as u32).to_le_bytes());
        node[27..31].copy_from_slice(&place.to_le_bytes());
        place = place.wrapping_add(ends.len() as u32);
        node[31..35].copy_from_slice(&(starts.len() as u32).to_le_bytes());
        node[35..39].copy_from_slice(&place.to_le_bytes());
        place = place.wrapping_add(starts.len() as u32);
        to.write_all(&node)?;
    }
    for i in 0..rank.tasks() as u32 {
        let (ends, starts) = rank.successors(i);
        for successor in ends.iter().chain(starts) {
            to.write_all(&successor.to_le_bytes())?;
        }
    }
    Ok(())
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

struct Reader<'s> {
    source: &'s mut dyn Source,
    length: u64,
}

impl<'s> Reader<'s> {
    fn new(source: &'s mut dyn Source) -> Result<Reader<'s>, Stop> {
        match source.seek(SeekFrom::End(0)) {
            Ok(length) => Ok(Reader { source, length }),
            Err(error) => stop(Code::E00, Place::Job, error.to_string(), "expected a file that can be read"),
        }
    }

    /// Fills a buffer from a place of the file.
    fn bytes(&mut self, at: u64, buffer: &mut [u8]) -> Result<(), Stop> {
        if at.checked_add(buffer.len() as u64).is_none_or(|end| end > self.length) {
            let what = format!("the file ends at byte {}", self.length);
            return stop(Code::E00, Place::Byte(at), what, format!("expected {} bytes here", buffer.len()));
        }
        let read = self.source.seek(SeekFrom::Start(at)).and_then(|_| self.source.read_exact(buffer));
        read.or_else(|error| stop(Code::E00, Place::Byte(at), error.to_string(), "expected a file that can be read"))
    }

    fn all(&mut self, report: &mut Report) -> Result<Graph, Stop> {
        let mut head = [0u8; HEAD as usize];
        self.bytes(0, &mut head)?;
        match u64_at(&head, 0) {
            COOKIE => {}
            SPOILT => {
                let expected = format!("expected a fresh copy, which begins with {COOKIE}");
                return stop(Code::E00, Place::Byte(0), "a file that a run of the reference has changed", expected);
            }
            other => {
                let expected = format!("expected GOAL binary, which begins with {COOKIE}");
                return stop(Code::E00, Place::Byte(0), format!("the file begins with {other}"), expected);
            }
        }
        let ranks = u64::from(u32_at(&head, 8));
        let room = (self.length - HEAD) / 16;
        if ranks > room || ranks > MOST_RANKS {
            let need = ranks as f64 * (16 + size_of::<Rank>()) as f64 / 1e9;
            let what = format!("{ranks} ranks, whose offsets and arrays take {need:.1} GB without any task");
            return stop(Code::E10, Place::Byte(8), what, format!("expected at most {}", room.min(MOST_RANKS)));
        }
        let mut offsets = vec![0u8; 16 * ranks as usize];
        self.bytes(HEAD, &mut offsets)?;
        let before = report.errors();
        let mut left = self.length - HEAD - 16 * ranks;
        let mut made = Ranks::new(ranks);
        for rank in 0..ranks {
            let at = Place::Byte(HEAD + 16 * rank);
            let (start, end) = (u64_at(&offsets, 16 * rank as usize), u64_at(&offsets, 16 * rank as usize + 8));
            let first = HEAD - BASE + 16 * ranks;
            if start < first && start == end {
                let what = format!("rank {rank} is missing: its offsets are {start}");
                report.add(Code::E03, at, || (what, "expected each rank, empty if need be".into()));
                continue;
            }
            let fits = start >= first && start <= end && end.checked_add(BASE).is_some_and(|e| e <= self.length);
            if !fits || end - start > left {
                let what = format!("rank {rank} from {start} to {end}");
                let expected = format!("expected bytes of its own between {first} and {}", self.length - BASE);
                return stop(Code::E03, at, what, expected);
            }
            left -= end - start;
            let one = self.rank(rank as u32, (start + BASE, end + BASE), ranks, report)?;
            // after an error the graph is not handed out: nothing is kept
            if report.errors() == before {
                made.push(one);
            }
        }
        Ok(made.finish())
    }

    /// Reads a rank between two places of the file.
    fn rank(&mut self, rank: u32, (from, to): (u64, u64), ranks: u64, report: &mut Report) -> Result<Rank, Stop> {
        let place = Place::Byte(from);
        let mut head = [0u8; 8];
        if to - from < 8 {
            return stop(Code::E00, place, format!("rank {rank} of {} bytes", to - from), "expected at least 8");
        }
        self.bytes(from, &mut head)?;
        let (nodes, roots) = (u64::from(u32_at(&head, 0)), u64::from(u32_at(&head, 4)));
        let need = 8 + 4 * roots + NODE as u64 * nodes;
        if need > to - from || nodes > MOST_TASKS {
            let what = format!("rank {rank} of {nodes} tasks and {roots} roots, which take {need} bytes");
            return stop(Code::E10, place, what, format!("expected at most the {} bytes of the rank", to - from));
        }
        let first = from + 8 + 4 * roots;
        let appendix_at = from + need;
        let mut appendix = vec![0u8; ((to - appendix_at) / 4 * 4) as usize];
        self.bytes(appendix_at, &mut appendix)?;
        let mut tasks = RankBuilder::with_capacity(nodes as usize);
        let mut waits = Vec::with_capacity(nodes as usize);
        // successors of two nodes never share a place: the edges of a rank are at most the words of its appendix
        let mut left = (appendix.len() / 4) as u64;
        let mut buffer = vec![0u8; NODE * AT_ONCE.min(nodes as usize)];
        // dependencies join tasks that are there: nodes first, then their successors
        for edges in [false, true] {
            for base in (0..nodes as usize).step_by(AT_ONCE) {
                let part = &mut buffer[..NODE * AT_ONCE.min(nodes as usize - base)];
                self.bytes(first + (NODE * base) as u64, part)?;
                for (i, node) in part.chunks_exact(NODE).enumerate() {
                    let place = Place::Byte(first + (NODE * (base + i)) as u64);
                    if edges {
                        successors((base + i) as u32, node, &appendix, &mut tasks, (&mut left, place))?;
                    } else {
                        waits.push(u32_at(node, 0));
                        let task = task(node, ranks, place, report)?;
                        tasks.task(task).or_else(|r| stop(Code::E10, place, r.to_string(), "split the rank"))?;
                    }
                }
            }
        }
        drop(appendix);
        let made = tasks.finish();
        if let Some(i) = (0..waits.len()).find(|i| waits[*i] != made.all_waits()[*i]) {
            let what = format!("task {rank}:{i} waits for {} others", waits[i]);
            let expected = format!("expected {}, as many as have it among their successors", made.all_waits()[i]);
            return stop(Code::E00, Place::Byte(first + (NODE * i) as u64), what, expected);
        }
        Ok(made)
    }
}

fn task(node: &[u8], ranks: u64, place: Place, report: &mut Report) -> Result<Task, Stop> {
    let (peer, size, tag) = (u32_at(node, 5), u64_at(node, 9), u32_at(node, 17));
    let (stream, nic) = (node[21], node[22]);
    let message = |kind| Task { kind, stream, nic, peer, tag, size };
    let made = match node[4] {
        1 => message(Kind::Send),
        2 => message(Kind::Recv),
        3 if size <= u64::MAX / NS => Task { kind: Kind::Calc, stream, nic, peer: 0, tag: 0, size: size * NS },
        3 => return stop(Code::E10, place, format!("calc {size} ns"), format!("expected at most {}", u64::MAX / NS)),
        other => return stop(Code::E00, place, format!("kind {other}"), "expected 1 send, 2 recv or 3 calc"),
    };
    let any = made.kind == Kind::Recv && peer == ANY;
    if made.kind != Kind::Calc && !any && u64::from(peer) >= ranks {
        let expected = || format!("expected a rank from 0 to {}", ranks.saturating_sub(1));
        report.add(Code::E04, place, || (format!("peer {peer} of {ranks} ranks"), expected()));
    }
    if made.kind == Kind::Send && tag == ANY {
        let expected = || "expected a number: only a receive takes any tag".to_string();
        report.add(Code::E10, place, || ("tag -1 of a send".into(), expected()));
    }
    Ok(made)
}

/// Adds the dependencies of the successors of a node.
fn successors(
    i: u32,
    node: &[u8],
    appendix: &[u8],
    tasks: &mut RankBuilder,
    (left, place): (&mut u64, Place),
) -> Result<(), Stop> {
    for (at, at_start) in [(23, false), (31, true)] {
        let (count, first) = (u64::from(u32_at(node, at)), u64::from(u32_at(node, at + 4)));
        let words = (appendix.len() / 4) as u64;
        if count > *left || (count > 0 && first + count > words) {
            let what = format!("{count} successors from {first} of the appendix");
            return stop(Code::E00, place, what, format!("expected places of their own below {words}"));
        }
        *left -= count;
        for word in first..first + count {
            let later = u32_at(appendix, 4 * word as usize);
            if later == i {
                return stop(Code::E01, place, format!("task {i} waits for itself"), "expected another task");
            }
            let added = if at_start { tasks.irequires(later, i) } else { tasks.requires(later, i) };
            added.or_else(|refused| stop(Code::E02, place, refused.to_string(), "expected a task of the rank"))?;
        }
    }
    Ok(())
}

/// Little-endian number at a place; 0 beyond the end.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}
