//! Random and mutated files: every reader returns, with a graph or with an error that names a place, and what it reads
//! it can write. `INCAST_CASES=all` (`make properties`) tries a hundred times as many.

use crate::support::{Random, binary, to_binary, to_text};
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::collective::{Methods, expand};
use incast_workload::evaluate::delay::{self, Network, Rules, SendDone};
use incast_workload::evaluate::loggops::{self, Parameters, Variant};
use incast_workload::lint::{Options, lint};
use incast_workload::stats::stats;
use incast_workload::{ANY, Builder, Collective, Graph, Pattern, Report, Task, goal};

/// Number of files.
pub fn cases() -> usize {
    if std::env::var("INCAST_CASES").is_ok_and(|cases| cases == "all") { 1_000_000 } else { 10_000 }
}

const TEXT: &[u8] =
    b"num_ranks 3\n// c\nrank 0 {\nl1: calc 10 cpu 1\nl2: send 8b to 1 tag 7 cpu 0 nic 2\nl2 requires l1\n\
                      }\n/* d */ rank 1 {\nr: recv 8b from -1 tag -1\n  c: calc 5\nc irequires r\n}\nrank 2 {\n}\n";
const WORDS: [&[u8]; 14] = [
    b"num_ranks ",
    b"rank ",
    b"{\n",
    b"}\n",
    b"l1: ",
    b"calc 5",
    b" requires l2\n",
    b"send 1b to 2\n",
    b"18446744073709551616",
    b"-1",
    b"/*",
    b"*/",
    b"\xff",
    b"\r\n",
];

/// The bytes after a few changes: bits, bytes, cuts, repeats, words.
pub fn mutated(bytes: &[u8], words: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut made = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (at, to) = (random.below(made.len()), random.below(made.len()));
        match random.below(7) {
            _ if made.is_empty() => made.push(random.next() as u8),
            0 => made[at] ^= 1 << random.below(8),
            1 => made[at] = random.next() as u8,
            2 => made.truncate(at),
            3 => drop(made.drain(at.min(to)..at.max(to))),
            4 => {
                let part = made[at.min(to)..at.max(to)].to_vec();
                made.splice(at..at, part);
            }
            5 => made[at] = [0, 1, 127, 128, 255][random.below(5)],
            _ => drop(made.splice(at..at, words[random.below(words.len())].iter().copied())),
        }
    }
    made
}

/// A graph, or an error with its texts.
fn judge(read: Option<&Graph>, report: &Report, bytes: &[u8]) {
    match read {
        Some(graph) => assert!(report.errors() == 0 && graph.ranks() < 100, "{bytes:?}"),
        None => {
            let error = report.first_error().unwrap_or_else(|| panic!("neither graph nor error: {bytes:?}"));
            assert!(!error.what.is_empty() && !error.remedy.is_empty(), "{error:?}");
        }
    }
}

#[test]
fn any_text_is_read_or_refused() {
    let mut random = Random(1);
    let mut read = 0;
    for _ in 0..cases() {
        let bytes = mutated(TEXT, &WORDS, &mut random);
        let mut report = Report::default();
        let graph = goal::text::read(&mut &bytes[..], &mut report);
        judge(graph.as_ref(), &report, &bytes);
        let Some(graph) = graph else { continue };
        read += 1;
        carry_out_all(&graph);
        let mut report = Report::default();
        let again = goal::text::read(&mut to_text(&graph).as_bytes(), &mut report);
        assert_eq!(again.as_ref(), Some(&graph), "{}", String::from_utf8_lossy(&bytes));
    }
    assert!(read > cases() / 500, "files that are read: {read}");
}

#[test]
fn any_binary_file_is_read_or_refused() {
    let graph = goal::text::read(&mut &TEXT[..], &mut Report::default()).unwrap();
    let golden = to_binary(&graph);
    let mut random = Random(2);
    let mut read = 0;
    for _ in 0..cases() {
        let bytes = mutated(&golden, &[b"\0\0\0\0", b"\x01\0\0\0", b"\xff\xff\xff\xff"], &mut random);
        let (graph, report) = binary(&bytes);
        judge(graph.as_ref(), &report, &bytes);
        let Some(graph) = graph else { continue };
        read += 1;
        assert_eq!(binary(&to_binary(&graph)).0.as_ref(), Some(&graph), "{bytes:?}");
    }
    assert!(read > cases() / 500, "files that are read: {read}");
}

/// Runs all that takes a graph.
fn carry_out_all(graph: &Graph) {
    let mut report = Report::default();
    lint(graph, &Options { places: Some(3), most_bytes: Some(Bytes(50)), ..Options::default() }, &mut report);
    let found = stats(graph);
    assert_eq!(found.total(), graph.total());
    let network = Network { latency: Time::ns(10), rate: Rate::gbps(1) };
    if let Ok(bound) = bound(graph, network) {
        // a path through receives from any source is no bound of the job
        assert!(bound.path >= bound.path_calc && (!bound.path_bounds || bound.time() >= bound.path), "{bound:?}");
    }
    for send_done in [SendDone::Written, SendDone::Acked, SendDone::Matched] {
        let outcome = delay::run(graph, Rules { network, send_done, streams: true, path: true }).outcome;
        assert!(outcome.ended <= outcome.tasks && outcome.is_whole() == (outcome.ended == graph.total()));
    }
    for (variant, eager) in
        [(Variant::LogGopsim, 10), (Variant::Copy, 10), (Variant::LogGopsim, 0), (Variant::Copy, 99)]
    {
        let parameters = Parameters { eager: Bytes(eager), ..Parameters::default() };
        match loggops::run(graph, &parameters, variant) {
            Ok(outcome) => assert!(outcome.ended <= outcome.tasks),
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
    }
    match expand(graph, &Methods::default()) {
        Ok(expanded) => assert!(expanded.collectives().is_empty() && expanded.ranks() == graph.ranks()),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}

/// A graph of anything: unknown peers, wildcards, cycles, groups and collectives that do not fit.
fn any_graph(random: &mut Random) -> Graph {
    let ranks = 1 + random.below(4) as u32;
    let mut job = Builder::new(ranks.into()).unwrap();
    // of each kind of doubt one graph in a few has some
    let (odd, wild, back) = (random.below(4) == 0, random.below(3) == 0, random.below(3) == 0);
    let groups = random.below(3);
    for _ in 0..groups {
        let members = (0..random.below(4)).map(|_| random.below(ranks as usize + usize::from(odd)) as u32);
        job.group(members.collect::<Vec<u32>>());
    }
    for i in 0..random.below(4) {
        let pattern = Pattern::ALL[random.below(Pattern::ALL.len())];
        let group = random.below(groups + usize::from(odd)) as u32;
        job.collective(Collective { root: i as u32, ..Collective::new(pattern, group, Bytes(random.next() % 200)) });
    }
    for rank in 0..ranks {
        let count = random.below(9) as u32;
        for _ in 0..count {
            let peer = random.below(ranks as usize + usize::from(odd)) as u32;
            let bytes = Bytes(random.next() % 100);
            let any = |random: &mut Random, number| if wild && random.below(3) == 0 { ANY } else { number };
            let tag = random.below(2) as u32;
            let task = match random.below(6) {
                0 => Task::calc(Time(if odd { random.next() } else { random.next() % 9_000 })),
                1 => Task::nop(),
                2 => Task::collective(random.below(4) as u32, random.below(4) as u32, bytes),
                3 => Task::recv(bytes, any(random, peer)).tagged(any(random, tag)),
                _ => Task::send(bytes, peer).tagged(tag),
            };
            job.task(rank, task.on_stream(random.below(2) as u8).at_nic(random.below(2) as u8)).unwrap();
        }
        for _ in 0..random.below(8).min(count as usize * 2) {
            let (a, b) = (random.below(count as usize) as u32, random.below(count as usize) as u32);
            let (later, earlier) = if back { (a, b) } else { (a.max(b), a.min(b)) };
            if later == earlier && !back {
                continue;
            }
            let added = if random.below(4) == 0 {
                job.irequires(rank, later, earlier)
            } else {
                job.requires(rank, later, earlier)
            };
            added.unwrap();
        }
    }
    job.finish()
}

#[test]
fn any_graph_is_looked_through_counted_bounded_run_and_expanded() {
    let mut random = Random(6);
    for _ in 0..cases() / 5 {
        carry_out_all(&any_graph(&mut random));
    }
}
