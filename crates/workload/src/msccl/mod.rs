//! Algorithms of collectives as XML of MSCCL (microsoft/msccl-tools 030a750, `msccl/language/ir.py`).
//!
//! `algo` has `gpu`s, a `gpu` has thread blocks (`tb`) with a peer each to send to and to receive from, on a channel,
//! and a `tb` has steps (`step`, or `op` in the newer form), which run one after the other:
//!
//! | type | what it is here |
//! |---|---|
//! | `s` | a send |
//! | `r`, `rrc` | a receive |
//! | `rcs`, `rrs`, `rrcs` | a receive, then a send |
//! | `cpy`, `re`, `nop` | a task without time |
//!
//! `depid` and `deps` name a thread block and a step of the same GPU that must be done before; -1 is none. A send is
//! done when it has started: NCCL hands it to a buffer. A step moves `cnt` chunks of the buffer, whose size the file
//! does not say; a chunk is the buffer over `nchunksperloop`, or over the most chunks of a GPU. Sends of a GPU to a
//! peer on a channel meet the peer's receives in their order: the tag is the channel.

mod xml;

use crate::finding::{Code, Place, Report};
use crate::graph::{Builder, Graph, MOST_RANKS, Task};
use incast_cc::Bytes;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read};
use xml::{Part, Reader, Stop, Tag};

/// Most bytes of a file.
pub const MOST_BYTES: u64 = 1 << 28;

/// Facts that a file does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Bytes of the buffer that the collective works on.
    pub bytes: Option<u64>,
}

/// Reads a file. Findings go to the report; no graph where one of them is an error.
pub fn read(source: &mut dyn BufRead, options: Options, report: &mut Report) -> Option<Graph> {
    let mut bytes = Vec::new();
    let problem = match Read::take(&mut *source, MOST_BYTES + 1).read_to_end(&mut bytes) {
        Err(error) => Some(error.to_string()),
        Ok(length) => (length as u64 > MOST_BYTES).then(|| format!("a file of more than {MOST_BYTES} B")),
    };
    if let Some(what) = problem {
        report.add(Code::E00, Place::Job, || (what, "expected an algorithm of MSCCL".into()));
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    match parse(&text).and_then(|algorithm| build(&algorithm, options)) {
        Ok(graph) => Some(graph),
        Err((code, place, what, remedy)) => {
            report.add(code, place, || (what, remedy));
            None
        }
    }
}

/// A step of a thread block.
#[derive(Debug)]
struct Step {
    place: Place,
    receives: bool,
    sends: bool,
    chunks: u64,
    /// Thread block and step that must be done before.
    after: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Block {
    place: Place,
    id: u64,
    to: Option<u64>,
    from: Option<u64>,
    channel: u32,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Gpu {
    place: Place,
    id: u64,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Algorithm {
    gpus: Vec<Gpu>,
    /// Chunks of the buffer.
    chunks: u64,
}

fn stop<T>(code: Code, place: Place, what: impl Into<String>, expected: impl Into<String>) -> Result<T, Stop> {
    Err((code, place, what.into(), expected.into()))
}

/// Whole number of an attribute: -1 is `None`, as is an attribute that is not there.
fn number(tag: &Tag, name: &str, most: u64) -> Result<Option<u64>, Stop> {
    let Some(word) = tag.get(name) else { return Ok(None) };
    let short: String = word.chars().take(24).collect();
    let what = format!("{name} = \"{}\"", short.escape_debug());
    match word.parse::<u64>() {
        Ok(value) if value <= most => Ok(Some(value)),
        Ok(_) => stop(Code::E10, tag.place, what, format!("expected at most {most}")),
        Err(_) if word == "-1" => Ok(None),
        Err(_) => stop(Code::E00, tag.place, what, "expected a whole number, or -1 for none"),
    }
}

fn needed(tag: &Tag, name: &str, most: u64) -> Result<u64, Stop> {
    match number(tag, name, most)? {
        Some(value) => Ok(value),
        None => stop(Code::E00, tag.place, format!("{} without {name}", tag.name), "expected a whole number"),
    }
}

fn parse(text: &str) -> Result<Algorithm, Stop> {
    let mut reader = Reader::new(text);
    let mut made = Algorithm { gpus: Vec::new(), chunks: 0 };
    let (mut per_loop, mut most) = (None, 0);
    let mut open: Vec<&str> = Vec::new();
    let mut gpus = None;
    while let Some(part) = reader.next()? {
        let (tag, empty) = match part {
            Part::Ends(name, place) => match open.pop() {
                Some(last) if last == name => continue,
                last => {
                    let last = last.unwrap_or("nothing");
                    return stop(Code::E00, place, format!("</{name}> ends {last}"), "expected ends in order");
                }
            },
            Part::Begins(tag, empty) => (tag, empty),
        };
        match (open.len(), tag.name) {
            (0, "algo") if gpus.is_none() => {
                gpus = Some(needed(&tag, "ngpus", MOST_RANKS)?);
                per_loop = number(&tag, "nchunksperloop", u32::MAX.into())?;
            }
            (1, "gpu") => {
                for name in ["i_chunks", "o_chunks"] {
                    most = most.max(number(&tag, name, u32::MAX.into())?.unwrap_or(0));
                }
                made.gpus.push(Gpu { place: tag.place, id: needed(&tag, "id", MOST_RANKS)?, blocks: Vec::new() });
            }
            (2, "tb") => {
                let block = block(&tag)?;
                made.gpus.last_mut().into_iter().for_each(|gpu| gpu.blocks.push(Block { steps: Vec::new(), ..block }));
            }
            (3, "step" | "op") => {
                let step = step(&tag)?;
                let last = made.gpus.last_mut().and_then(|gpu| gpu.blocks.last_mut());
                last.into_iter().for_each(|block| block.steps.push(Step { ..step }));
            }
            _ => {
                let expected = "expected algo with gpu with tb with step or op";
                return stop(Code::E00, tag.place, format!("<{}> at depth {}", tag.name, open.len()), expected);
            }
        }
        if !empty {
            open.push(tag.name);
        }
    }
    if let Some(name) = open.last() {
        return stop(
            Code::E00,
            reader.place(),
            format!("the file ends inside <{name}>"),
            format!("expected </{name}>"),
        );
    }
    let Some(count) = gpus else {
        return stop(Code::E00, Place::Job, "no algo", "expected <algo ngpus=\"..\">");
    };
    if made.gpus.len() as u64 != count {
        let what = format!("ngpus = {count}, and there are {}", made.gpus.len());
        return stop(Code::E03, Place::Job, what, "expected a gpu element for each");
    }
    made.chunks = per_loop.unwrap_or(most);
    if made.chunks == 0 {
        return stop(Code::E00, Place::Job, "a buffer of no chunks", "expected nchunksperloop or i_chunks above 0");
    }
    Ok(made)
}

fn block(tag: &Tag) -> Result<Block, Stop> {
    Ok(Block {
        place: tag.place,
        id: needed(tag, "id", u32::MAX.into())?,
        to: number(tag, "send", MOST_RANKS)?,
        from: number(tag, "recv", MOST_RANKS)?,
        channel: number(tag, "chan", 1 << 16)?.unwrap_or(0) as u32,
        steps: Vec::new(),
    })
}

fn step(tag: &Tag) -> Result<Step, Stop> {
    let word = tag.get("type").unwrap_or_default();
    let (receives, sends) = match word {
        "s" => (false, true),
        "r" | "rrc" => (true, false),
        "rcs" | "rrs" | "rrcs" => (true, true),
        "cpy" | "re" | "nop" => (false, false),
        _ => {
            let short: String = word.chars().take(24).collect();
            let what = format!("type = \"{}\"", short.escape_debug());
            return stop(Code::E00, tag.place, what, "expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop");
        }
    };
    let (on, at) = (number(tag, "depid", u32::MAX.into())?, number(tag, "deps", u32::MAX.into())?);
    let chunks = number(tag, "cnt", u32::MAX.into())?.unwrap_or(1);
    Ok(Step { place: tag.place, receives, sends, chunks, after: on.zip(at) })
}

/// Tasks of a step: what it begins with, and what is done when it is.
#[derive(Clone, Copy)]
struct Made {
    first: u32,
    last: u32,
    /// The last is a send, which is done when it has started.
    sends: bool,
}

fn build(algorithm: &Algorithm, options: Options) -> Result<Graph, Stop> {
    let Some(bytes) = options.bytes else {
        return stop(
            Code::E00,
            Place::Job,
            "the size of the buffer is not in the file",
            "name it, such as --size 16MiB of incast workload",
        );
    };
    let count = algorithm.gpus.len() as u64;
    let refused = |place: Place| move |refused: crate::Refused| (Code::E10, place, refused.0, "make it smaller".into());
    let mut job = Builder::new(count).map_err(refused(Place::Job))?;
    let mut seen = vec![false; algorithm.gpus.len()];
    for gpu in &algorithm.gpus {
        match seen.get_mut(gpu.id as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return stop(
                    Code::E03,
                    gpu.place,
                    format!("gpu {}", gpu.id),
                    format!("expected 0 to {count}, each once"),
                );
            }
        }
        let rank = gpu.id as u32;
        let mut made: HashMap<(u64, u64), Made> = HashMap::new();
        let mut ways: HashMap<(bool, u64, u32), u64> = HashMap::new();
        let mut blocks = HashSet::new();
        for block in &gpu.blocks {
            if !blocks.insert(block.id) {
                return stop(Code::E02, block.place, format!("tb {} twice", block.id), "expected each number once");
            }
            ends(block, count, &mut ways)?;
            for (number, step) in (0..).zip(&block.steps) {
                let size = (u128::from(step.chunks) * u128::from(bytes)).div_ceil(u128::from(algorithm.chunks));
                let Ok(size) = u64::try_from(size) else {
                    return stop(Code::E10, step.place, format!("{size} B"), "expected a smaller buffer");
                };
                let tasks = tasks(block, step, Bytes(size))?;
                let mut own = None::<Made>;
                for task in tasks {
                    let index = job.task(rank, task).map_err(refused(step.place))?;
                    if let Some(own) = own {
                        job.requires(rank, index, own.last).map_err(refused(step.place))?;
                    }
                    own = Some(Made { first: own.map_or(index, |own| own.first), last: index, sends: step.sends });
                }
                own.and_then(|own| made.insert((block.id, number), own));
            }
        }
        for block in &gpu.blocks {
            for (number, step) in (0u64..).zip(&block.steps) {
                let Some(own) = made.get(&(block.id, number)) else { continue };
                let before = number.checked_sub(1).map(|number| (block.id, number));
                for earlier in before.into_iter().chain(step.after) {
                    let Some(other) = made.get(&earlier) else {
                        let what = format!("step {} of tb {} of gpu {rank}", earlier.1, earlier.0);
                        return stop(Code::E02, step.place, what, "expected a step that is there");
                    };
                    let joined = match other.sends {
                        true => job.irequires(rank, own.first, other.last),
                        false => job.requires(rank, own.first, other.last),
                    };
                    joined.map_err(refused(step.place))?;
                }
            }
        }
    }
    Ok(job.finish())
}

/// Holds a thread block's peers to the GPUs, and its ways to those of the others.
fn ends(block: &Block, count: u64, ways: &mut HashMap<(bool, u64, u32), u64>) -> Result<(), Stop> {
    for (peer, sends, name) in [(block.to, true, "send"), (block.from, false, "recv")] {
        let Some(peer) = peer else { continue };
        if peer >= count {
            return stop(Code::E04, block.place, format!("{name} = {peer}"), format!("expected a gpu below {count}"));
        }
        if let Some(other) = ways.insert((sends, peer, block.channel), block.id) {
            let what = format!("tb {} and tb {other}: {name} = {peer}, chan = {}", block.id, block.channel);
            return stop(Code::E02, block.place, what, "expected one thread block for a peer and channel");
        }
    }
    Ok(())
}

/// Tasks of a step, one after the other.
fn tasks(block: &Block, step: &Step, size: Bytes) -> Result<Vec<Task>, Stop> {
    let peer = |peer: Option<u64>, name: &str| match peer {
        Some(peer) => Ok(peer as u32),
        None => stop(Code::E09, step.place, format!("tb {}: {name} = -1", block.id), "expected the number of a gpu"),
    };
    let mut made = Vec::new();
    if step.receives {
        made.push(Task::recv(size, peer(block.from, "recv")?).tagged(block.channel));
    }
    if step.sends {
        made.push(Task::send(size, peer(block.to, "send")?).tagged(block.channel));
    }
    if made.is_empty() {
        made.push(Task::nop());
    }
    Ok(made)
}
