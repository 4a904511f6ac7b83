//! Collectives: trees and orders of NCCL, bytes and times of all algorithms.

use crate::support::{Random, codes, lines};
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::collective::{
    Algorithm, Method, Methods, Parts, Place, Ring, Step, alone, bus_factor, children, depth, expand,
    grouped_distances, ideal, incast, known_bound, member, messages, parent, zipf,
};
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::lint::{Options, lint};
use incast_workload::{Collective, Graph, Kind, Pattern, Rank, Report};

fn parents(tree: u32, n: u64) -> Vec<i64> {
    (0..n).map(|r| parent(tree, n, r).map_or(-1, |up| up as i64)).collect()
}

#[test]
fn double_binary_trees_are_those_of_nccl() {
    for (n, first, second) in [
        (4, vec![-1, 2, 0, 2], vec![1, 3, 1, -1]),
        (5, vec![-1, 2, 4, 2, 0], vec![1, -1, 3, 0, 3]),
        (8, vec![-1, 2, 4, 2, 0, 6, 4, 6], vec![1, 3, 1, 7, 5, 3, 5, -1]),
        (14, vec![-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12], vec![1, 5, 3, 1, 3, 13, 7, 9, 7, 5, 11, 9, 11, -1]),
    ] {
        assert_eq!((parents(0, n), parents(1, n)), (first, second), "n = {n}");
    }
    assert_eq!((depth(0, 64), depth(1, 64), depth(0, 1000), depth(1, 1000)), (6, 6, 10, 10));
}

#[test]
fn children_of_a_tree_are_the_positions_with_that_parent() {
    for n in 1..70 {
        for tree in 0..2 {
            for r in 0..n {
                let expected: Vec<u64> = (0..n).filter(|c| parent(tree, n, *c) == Some(r)).collect();
                assert_eq!(children(tree, n, r), expected, "tree {tree}, n = {n}, r = {r}");
                assert!(expected.len() <= 2);
            }
            assert_eq!((0..n).filter(|r| parent(tree, n, *r).is_none()).count(), 1, "one root");
        }
    }
}

#[test]
fn grouped_all_to_all_has_the_order_of_nccl() {
    assert_eq!(grouped_distances(8), [0, 1, 3, 6, 2, 7, 5, 4]);
    assert_eq!(grouped_distances(12), [0, 1, 3, 6, 10, 5, 4, 7, 2, 11, 9, 8]);
    assert_eq!(grouped_distances(16), [0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8]);
    for n in 1..200 {
        let mut all = grouped_distances(n);
        all.sort_unstable();
        assert_eq!(all, (0..n).collect::<Vec<_>>(), "n = {n}");
    }
}

#[test]
fn a_ring_sends_what_it_received_and_ends_with_its_own_part() {
    for n in 2..9u64 {
        let ring = Ring::new(Pattern::AllReduce, n, 1000, None).unwrap();
        assert_eq!(ring.steps(), 2 * (n - 1));
        for r in 0..n {
            assert_eq!(ring.part(r, 0), (r + n - 1) % n, "step 0: part r-1");
            for step in 1..ring.steps() {
                assert_eq!(ring.part(r, step), ring.part((r + n - 1) % n, step - 1));
            }
            let scatter = Ring::new(Pattern::ReduceScatter, n, 1000, None).unwrap();
            assert_eq!(scatter.part((r + n - 1) % n, n - 2), r, "the last receive completes part r");
            assert_eq!(Ring::new(Pattern::AllGather, n, 1000, None).unwrap().part(r, 0), r, "own part first");
        }
    }
    assert!(Ring::new(Pattern::Broadcast, 4, 1, None).is_none());
}

#[test]
fn parts_are_equal_and_rounded_up_to_16_bytes() {
    let parts = Parts::new(8, 1000, None);
    assert_eq!(
        (parts.loops(), (0..8).map(|p| parts.part(0, p)).collect::<Vec<_>>()),
        (1, vec![128, 128, 128, 128, 128, 128, 128, 104])
    );
    // two loops of 4 x 100, and 200 B left: 4 parts of 64, the last of 8
    let parts = Parts::new(4, 1000, Some(100));
    assert_eq!(parts.loops(), 3);
    assert_eq!((0..4).map(|p| parts.part(0, p)).sum::<u64>(), 400);
    assert_eq!((0..4).map(|p| parts.part(2, p)).collect::<Vec<_>>(), [64, 64, 64, 8]);
    for (n, bytes, chunk) in [(3, 0, None), (7, 1, None), (16, 1 << 20, Some(4096)), (5, 12_345, Some(1))] {
        let parts = Parts::new(n, bytes, chunk);
        let sum: u64 =
            (0..parts.loops()).flat_map(|l| (0..n).map(move |p| (l, p))).map(|(l, p)| parts.part(l, p)).sum();
        assert_eq!(sum, bytes, "{n} {bytes} {chunk:?}");
    }
}

fn collective(pattern: Pattern, bytes: u64) -> Collective {
    Collective::new(pattern, 0, Bytes(bytes))
}

fn expanded(what: &Collective, n: u32, method: Method) -> Graph {
    let mut methods = Methods::default();
    methods.choose(what.pattern, method);
    expand(&alone(what, n).unwrap(), &methods).unwrap()
}

/// Bytes that each rank sends.
fn sent(graph: &Graph) -> Vec<u64> {
    let sends = |rank: u32| graph.rank(rank).unwrap().iter().filter(|(_, t)| t.kind == Kind::Send).map(|(_, t)| t.size);
    (0..graph.ranks() as u32).map(|rank| sends(rank).sum()).collect()
}

fn assert_clean(graph: &Graph, about: &str) {
    let mut report = Report::default();
    lint(graph, &Options { packet: Bytes(0), ..Options::default() }, &mut report);
    assert_eq!(codes(&report), [], "{about}\n{}", lines(&report));
}

#[test]
fn every_algorithm_of_any_number_of_members_matches_its_messages_and_ends() {
    let mut random = Random(5);
    for algorithm in Algorithm::ALL {
        for pattern in algorithm.patterns() {
            for n in [1u32, 2, 3, 4, 5, 8, 12, 16] {
                let mut method = Method::new(algorithm);
                if algorithm.has_chunks() {
                    method.channels = 1 + random.below(3) as u32;
                    method.chunk = Some(Bytes(1 + random.next() % 100_000));
                    method.credits = random.below(3) as u32;
                }
                method.window = 1 + random.below(4) as u32;
                method.server = if n % 4 == 0 { 4 } else { 1 };
                method.reduce = (random.below(2) == 0).then(|| Rate::gbps(800));
                let mut what = collective(*pattern, random.next() % 200_000 + 1);
                what.root = random.below(n as usize) as u32;
                if method.check(*pattern, n.into()).is_err() {
                    assert!(!n.is_power_of_two(), "{algorithm:?} {n}");
                    continue;
                }
                let graph = expanded(&what, n, method.clone());
                if n > 1 {
                    assert_clean(&graph, &format!("{what:?} {n} {method:?}"));
                }
            }
        }
    }
}

#[test]
fn bytes_sent_are_those_of_the_algorithms() {
    let (s, n) = (1u64 << 20, 8u32);
    let of = |pattern, algorithm| sent(&expanded(&collective(pattern, s), n, Method::new(algorithm)));
    let part = s / 8;
    assert_eq!(of(Pattern::AllReduce, Algorithm::Ring), [14 * part; 8]);
    assert_eq!(of(Pattern::ReduceScatter, Algorithm::Ring), [7 * part; 8]);
    assert_eq!(of(Pattern::AllGather, Algorithm::Ring), [7 * part; 8]);
    assert_eq!(of(Pattern::AllReduce, Algorithm::HalvingDoubling), [14 * part; 8]);
    assert_eq!(of(Pattern::ReduceScatter, Algorithm::HalvingDoubling), [7 * part; 8]);
    assert_eq!(of(Pattern::AllGather, Algorithm::RecursiveDoubling), [7 * part; 8]);
    assert_eq!(of(Pattern::AllReduce, Algorithm::RecursiveDoubling), [3 * s; 8]);
    for algorithm in [Algorithm::Pairwise, Algorithm::NcclGrouped, Algorithm::AtOnce, Algorithm::Windowed] {
        assert_eq!(of(Pattern::AllToAll, algorithm), [7 * part; 8]);
    }
    // a tree carries half of the data up and down each of its n-1 edges
    assert_eq!(of(Pattern::AllReduce, Algorithm::Tree).iter().sum::<u64>(), 2 * 7 * s);
    for algorithm in [Algorithm::Chain, Algorithm::Binomial] {
        assert_eq!(of(Pattern::Broadcast, algorithm).iter().sum::<u64>(), 7 * s);
        assert_eq!(of(Pattern::Reduce, algorithm).iter().sum::<u64>(), 7 * s);
    }
    let hierarchical = Method { server: 4, ..Method::new(Algorithm::Hierarchical) };
    // 2 x 3/4 S inside, 2 x 1/2 of a quarter along the rail
    assert_eq!(sent(&expanded(&collective(Pattern::AllReduce, s), n, hierarchical)), [2 * 6 * part + 2 * part; 8]);
    assert_eq!(of(Pattern::Barrier, Algorithm::Dissemination), [0; 8]);
}

#[test]
fn channels_and_chunks_move_no_other_bytes() {
    for pattern in [Pattern::AllReduce, Pattern::AllGather] {
        let one = sent(&expanded(&collective(pattern, 1_000_000), 4, Method::new(Algorithm::Ring))).iter().sum::<u64>();
        let method = Method { channels: 3, chunk: Some(Bytes(10_000)), credits: 4, ..Method::new(Algorithm::Ring) };
        let graph = expanded(&collective(pattern, 1_000_000), 4, method);
        assert_eq!(sent(&graph).iter().sum::<u64>(), one);
        assert!(graph.rank(0).unwrap().iter().all(|(_, t)| t.size <= 10_000));
    }
}

#[test]
fn receivers_of_a_skewed_all_to_all_are_chosen_by_zipf() {
    // 1, 1/2, 1/3 and 1/4 of 12/25 of the bytes each, rank 2 first
    let sizes = zipf(Bytes(2_500), 1.0, &[2, 0, 3, 1]);
    assert_eq!(sizes, [600, 300, 1200, 400].repeat(4));
    assert_eq!(zipf(Bytes(8), 0.0, &[0, 1, 2, 3]), vec![2; 16]);
    for (bytes, exponent) in [(1, 0.5), (7, 3.0), (1 << 40, 60.0), (u64::MAX, 0.3), (0, 1.0)] {
        let sizes = zipf(Bytes(bytes), exponent, &[1, 4, 0, 2, 3]);
        let rows: Vec<u128> = sizes.chunks(5).map(|row| row.iter().map(|part| u128::from(*part)).sum()).collect();
        assert_eq!(rows, vec![u128::from(bytes); 5], "{bytes} B, exponent {exponent}");
    }
}

#[test]
fn pairs_of_an_all_to_all_without_bytes_exchange_no_message() {
    let sizes = vec![0, 5, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 1, 0];
    for algorithm in [Algorithm::Pairwise, Algorithm::AtOnce, Algorithm::NcclGrouped, Algorithm::Windowed] {
        let what = Collective { sizes: Some(sizes.clone().into()), ..collective(Pattern::AllToAll, 0) };
        let mut methods = Methods::default();
        methods.choose(Pattern::AllToAll, Method { window: 2, ..Method::new(algorithm) });
        let graph = messages(&what, 4, &methods).unwrap();
        assert_clean(&graph, "pairs without bytes");
        let sends: Vec<(u32, u32, u64)> = graph
            .iter()
            .flat_map(|(rank, tasks)| tasks.iter().map(move |(_, task)| (rank, task)))
            .filter(|(_, task)| task.kind == Kind::Send)
            .map(|(rank, task)| (rank, task.peer, task.size))
            .collect();
        assert_eq!(sends, [(0, 1, 5), (2, 0, 7), (3, 2, 1)], "{algorithm:?}");
    }
}

#[test]
fn an_all_to_all_with_sizes_sends_them() {
    let sizes: Vec<u64> = (0..16).map(|i| 1000 * i).collect();
    let what = Collective { sizes: Some(sizes.into()), ..collective(Pattern::AllToAll, 0) };
    let graph = expanded(&what, 4, Method::new(Algorithm::Pairwise));
    assert_eq!(sent(&graph), [6_000, 17_000, 28_000, 39_000]);
    assert_clean(&graph, "sizes");
    let short = Collective { sizes: Some(vec![1; 15].into()), ..what };
    let refused = expand(&alone(&short, 4).unwrap(), &Methods::default()).unwrap_err().to_string();
    assert_eq!(refused, "sizes of an all-to-all of 4: expected 16 numbers, n rows of n");
}

#[test]
fn a_ring_in_another_order_has_other_neighbours() {
    let method = Method { order: vec![0, 2, 1, 3], ..Method::new(Algorithm::Ring) };
    let graph = expanded(&collective(Pattern::AllReduce, 4096), 4, method);
    let to = |rank: u32| graph.rank(rank).unwrap().iter().find(|(_, t)| t.kind == Kind::Send).unwrap().1.peer;
    assert_eq!([to(0), to(1), to(2), to(3)], [2, 3, 1, 0]);
}

const NETWORK: Network = Network { latency: Time::us(1), rate: Rate::gbps(100) };

fn end(graph: &Graph, send_done: SendDone) -> Time {
    let outcome = run(graph, Rules { network: NETWORK, send_done, streams: true, path: false }).outcome;
    assert!(outcome.is_whole(), "{outcome:?}");
    outcome.end
}

#[test]
fn times_without_contention_are_the_ideal_ones() {
    let step = Step { latency: NETWORK.latency, rate: NETWORK.rate };
    let s = 1u64 << 20;
    let cases = [
        (Pattern::AllReduce, Method::new(Algorithm::Ring)),
        (Pattern::ReduceScatter, Method::new(Algorithm::Ring)),
        (Pattern::AllGather, Method::new(Algorithm::Ring)),
        (Pattern::AllReduce, Method::new(Algorithm::HalvingDoubling)),
        (Pattern::ReduceScatter, Method::new(Algorithm::HalvingDoubling)),
        (Pattern::AllGather, Method::new(Algorithm::HalvingDoubling)),
        (Pattern::AllReduce, Method::new(Algorithm::RecursiveDoubling)),
        (Pattern::AllGather, Method::new(Algorithm::RecursiveDoubling)),
        (Pattern::AllToAll, Method::new(Algorithm::Pairwise)),
        (Pattern::AllReduce, Method { server: 4, ..Method::new(Algorithm::Hierarchical) }),
        (Pattern::Barrier, Method::new(Algorithm::Dissemination)),
        (Pattern::Broadcast, Method { chunk: Some(Bytes(s / 8)), credits: 1, ..Method::new(Algorithm::Chain) }),
        (Pattern::Reduce, Method { chunk: Some(Bytes(s / 8)), credits: 1, ..Method::new(Algorithm::Chain) }),
    ];
    for (pattern, method) in cases {
        let expected = ideal(pattern, &method, 16, Bytes(s), step, step).unwrap();
        // a piece of a chain leaves when the one before has arrived
        let send_done = if method.credits > 0 { SendDone::Matched } else { SendDone::Written };
        assert_eq!(end(&expanded(&collective(pattern, s), 16, method.clone()), send_done), expected, "{method:?}");
    }
    // a binomial tree has as many hops to its last leaf as rounds
    let binomial = Method::new(Algorithm::Binomial);
    let expected = ideal(Pattern::Broadcast, &binomial, 16, Bytes(s), step, step).unwrap();
    assert_eq!(end(&expanded(&collective(Pattern::Broadcast, s), 16, binomial), SendDone::Written), expected);
}

#[test]
fn ideal_times_are_those_of_the_formulas() {
    let step = |rate_gb: u64| Step { latency: Time::ZERO, rate: Rate::gbps(8 * rate_gb) };
    let hierarchical = Method { server: 8, ..Method::new(Algorithm::Hierarchical) };
    let time = ideal(Pattern::AllReduce, &hierarchical, 32, Bytes(1 << 30), step(50), step(450)).unwrap();
    assert_eq!((time.as_us_f64()).round(), 8_202.0, "N = 4, g = 8, 1 GiB, 450 and 50 GB/s");
    let at = Step { latency: Time::us(1), rate: Rate::gbps(80) };
    let windowed = Method { window: 5, ..Method::new(Algorithm::Windowed) };
    // 15 rounds, 5 at once: three latencies, and 15 messages of 1000 B at 10 GB/s
    assert_eq!(ideal(Pattern::AllToAll, &windowed, 16, Bytes(16_000), at, at), Some(Time::ns(3_000 + 1_500)));
    assert_eq!(incast(16, Bytes(1000), at), Time::ns(2_500));
    assert_eq!(ideal(Pattern::AllReduce, &Method::new(Algorithm::Tree), 16, Bytes(1), at, at), None);
    assert_eq!(ideal(Pattern::AllReduce, &Method::new(Algorithm::Ring), 1, Bytes(1), at, at), Some(Time::ZERO));
}

#[test]
fn no_ideal_time_is_below_the_bound_of_its_messages() {
    let step = Step { latency: NETWORK.latency, rate: NETWORK.rate };
    let mut found = 0;
    for (algorithm, pattern) in Algorithm::ALL.into_iter().flat_map(|a| a.patterns().iter().map(move |p| (a, *p))) {
        for (chunk, channels, reduce) in
            [(None, 1, false), (Some(4_096), 1, false), (None, 1, true), (Some(4_096), 1, true), (Some(4_096), 2, true)]
        {
            let mut method = Method { server: 4, window: 3, ..Method::new(algorithm) };
            method.reduce = reduce.then_some(Rate::gbps(8));
            (method.chunk, method.channels) = (chunk.map(Bytes), channels);
            if method.check(pattern, 8).is_err() {
                continue;
            }
            for bytes in [0, 1_000, 1_000_000] {
                let what = collective(pattern, bytes);
                let Some(ideal) = ideal(pattern, &method, 8, Bytes(bytes), step, step) else { continue };
                let graph = expanded(&what, 8, method.clone());
                // a picosecond of rounding a task
                let least = bound(&graph, NETWORK).unwrap().time().saturating_sub(Time(graph.tasks(0) as u64));
                assert!(ideal >= least, "{pattern:?} {method:?} {bytes} B: {ideal:?} {least:?}");
                found += 1;
            }
        }
    }
    assert!(found > 60, "{found}");
}

#[test]
fn bounds_that_are_known_are_those_of_the_expansion() {
    let mut found = 0;
    for algorithm in [Algorithm::Ring, Algorithm::Pairwise] {
        for (pattern, n) in algorithm.patterns().iter().flat_map(|p| [2u32, 3, 4, 7, 16].map(|n| (*p, n))) {
            for (chunk, reduce) in [(None, None), (Some(4_096), None), (Some(1_000), Some(8)), (None, Some(300))] {
                let mut method = Method::new(algorithm);
                if algorithm == Algorithm::Ring {
                    (method.chunk, method.reduce) = (chunk.map(Bytes), reduce.map(Rate::gbps));
                }
                for bytes in [0, 1, 17, 1_000, 86_016, 123_457, 1_720_320] {
                    for network in [NETWORK, Network { latency: Time::ZERO, rate: Rate(99_999_999_977) }] {
                        let what = collective(pattern, bytes);
                        let Some(time) = known_bound(&what, &method, n.into(), network) else { continue };
                        let expansion = bound(&expanded(&what, n, method.clone()), network).unwrap();
                        assert_eq!(time, expansion.time(), "{pattern:?} {n} {bytes} B {method:?}");
                        found += 1;
                    }
                }
            }
        }
    }
    assert!(found > 250, "{found}");
    let none = |method: Method, pattern, bytes| known_bound(&collective(pattern, bytes), &method, 4, NETWORK).is_none();
    let ring = Method::new(Algorithm::Ring);
    assert!(none(Method { channels: 2, ..ring.clone() }, Pattern::AllReduce, 64));
    assert!(none(Method { credits: 1, ..ring.clone() }, Pattern::AllReduce, 64));
    assert!(none(ring, Pattern::AllReduce, 65));
    assert!(none(Method::new(Algorithm::Pairwise), Pattern::AllToAll, 65));
    assert!(none(Method::new(Algorithm::Tree), Pattern::AllReduce, 64));
}

#[test]
fn ideal_times_have_the_loops_of_chunks_and_the_reductions() {
    let step = Step { latency: NETWORK.latency, rate: NETWORK.rate };
    let ring = Method::new(Algorithm::Ring);
    let time = |method: &Method, n, bytes| ideal(Pattern::AllReduce, method, n, Bytes(bytes), step, step);
    // 17 loops of 64 kB instead of one: 16 x 30 latencies more
    let chunks = Method { chunk: Some(Bytes(64_000)), ..ring.clone() };
    let (one, many) = (time(&ring, 16, 16 << 20).unwrap(), time(&chunks, 16, 16 << 20).unwrap());
    assert_eq!((one.as_us_f64().round(), many.saturating_sub(one)), (2_547.0, Time::us(16 * 30)));
    assert_eq!(end(&expanded(&collective(Pattern::AllReduce, 16 << 20), 16, chunks), SendDone::Written), many);
    // 7 reductions of 128 kB at 1 GB/s
    let reduce = Method { reduce: Some(Rate::gbps(8)), ..ring.clone() };
    let (without, with) = (time(&ring, 8, 1_024_000).unwrap(), time(&reduce, 8, 1_024_000).unwrap());
    assert_eq!((without, with), (Time::ns(157_360), Time::ns(157_360 + 7 * 128_000)));
    assert_eq!(end(&expanded(&collective(Pattern::AllReduce, 1_024_000), 8, reduce), SendDone::Written), with);
    assert_eq!(time(&Method { channels: 2, chunk: Some(Bytes(64_000)), ..ring }, 16, 16 << 20), None);
}

#[test]
fn bus_factors_are_those_of_nccl_tests() {
    let factors = Pattern::ALL.map(|pattern| bus_factor(pattern, 4));
    assert_eq!(factors, [1.5, 0.75, 0.75, 0.75, 1.0, 1.0, 0.0]);
}

#[test]
fn no_algorithm_is_faster_than_the_bound_of_a_collective_that_stays_one_task() {
    for algorithm in Algorithm::ALL {
        for pattern in algorithm.patterns() {
            let method = Method { server: 4, ..Method::new(algorithm) };
            let what = collective(*pattern, 1 << 20);
            let one = end(&alone(&what, 8).unwrap(), SendDone::Written);
            // at once and trees share a host's rate, which a network without contention does not know
            if matches!(algorithm, Algorithm::AtOnce | Algorithm::NcclGrouped | Algorithm::Tree) {
                continue;
            }
            assert!(end(&expanded(&what, 8, method), SendDone::Written) >= one, "{algorithm:?} {pattern:?}");
        }
    }
}

#[test]
fn reductions_take_a_calculation_each() {
    let method = Method { reduce: Some(Rate::gbps(800)), ..Method::new(Algorithm::Ring) };
    let graph = expanded(&collective(Pattern::AllReduce, 1 << 20), 8, method);
    let calcs: Vec<_> = graph.rank(0).unwrap().iter().filter(|(_, t)| t.kind == Kind::Calc).collect();
    assert_eq!((calcs.len(), calcs[0].1.duration()), (7, Rate::gbps(800).serialize(1 << 17)));
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    let check = |method: Method, pattern, n| method.check(pattern, n).map_err(|refused| refused.to_string());
    let ring = Method::new(Algorithm::Ring);
    assert_eq!(
        check(ring.clone(), Pattern::AllToAll, 4).unwrap_err(),
        "algorithm ring of all-to-all: expected pairwise, nccl-grouped, at-once, windowed"
    );
    let halving = Method::new(Algorithm::HalvingDoubling);
    assert_eq!(
        check(halving, Pattern::AllReduce, 6).unwrap_err(),
        "n = 6: expected a power of two for halving-doubling"
    );
    let servers = Method { server: 3, ..Method::new(Algorithm::Hierarchical) };
    assert_eq!(check(servers, Pattern::AllReduce, 8).unwrap_err(), "server = 3: expected a divisor of the 8 members");
    for (method, pattern) in [
        (Method { channels: 0, ..ring.clone() }, Pattern::AllReduce),
        (Method { chunk: Some(Bytes(0)), ..ring.clone() }, Pattern::AllReduce),
        (Method { order: vec![0, 0, 1, 2], ..ring.clone() }, Pattern::AllReduce),
        (Method { reduce: Some(Rate(0)), ..ring.clone() }, Pattern::AllReduce),
        (Method { window: 0, ..Method::new(Algorithm::Windowed) }, Pattern::AllToAll),
        (Method { channels: 2, ..Method::new(Algorithm::Pairwise) }, Pattern::AllToAll),
    ] {
        assert!(check(method.clone(), pattern, 4).is_err(), "{method:?}");
    }
    let mut methods = Methods::default();
    let absurd = messages(&collective(Pattern::AllToAll, 1), 4_000_000, &methods).unwrap_err().to_string();
    assert!(absurd.starts_with("an expansion of 32000008000000 tasks, which takes 1088000 GB"), "{absurd}");
    assert_eq!(messages(&collective(Pattern::AllToAll, 64), 4, &methods).unwrap().total(), 4 * 8);
    methods.choose(Pattern::AllReduce, Method { chunk: Some(Bytes(1)), ..ring });
    let job = alone(&collective(Pattern::AllReduce, 1 << 40), 1024).unwrap();
    let refused = expand(&job, &methods).unwrap_err().to_string();
    assert!(
        refused.starts_with("an expansion of ") && refused.contains(" GB; expected at most 1073741824"),
        "{refused}"
    );
}

#[test]
fn a_member_by_itself_has_the_tasks_of_the_expansion() {
    for algorithm in Algorithm::ALL {
        for pattern in algorithm.patterns() {
            let mut method = Method { server: 4, ..Method::new(algorithm) };
            if algorithm == Algorithm::Ring {
                method.order = vec![3, 1, 0, 2, 7, 6, 5, 4];
            }
            let what = Collective { root: 2, ..collective(*pattern, 100_000) };
            let whole = expanded(&what, 8, method.clone());
            let group: Vec<u32> = (0..8).collect();
            for position in 0..8 {
                let own = member(&what, &group, position, &method, Place::default()).unwrap();
                let tasks = |rank: &Rank| rank.iter().map(|(i, task)| (task, rank.waits(i))).collect::<Vec<_>>();
                assert_eq!(tasks(&own), tasks(whole.rank(position).unwrap()), "{algorithm:?} {pattern:?}");
            }
        }
    }
    let refused = member(&collective(Pattern::AllReduce, 1), &[5], 1, &Method::new(Algorithm::Ring), Place::default());
    assert_eq!(refused.unwrap_err().to_string(), "position 1: expected one below 1");
}
