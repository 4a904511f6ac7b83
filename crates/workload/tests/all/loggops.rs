//! LogGOPS: times that LogGOPSim and its copy in htsim print, to the nanosecond.

use crate::support::graph;
use incast_cc::{Bytes, Time};
use incast_workload::Graph;
use incast_workload::evaluate::loggops::{Parameters, Variant, run};
use std::fmt::Write;

fn end_ns(graph: &Graph, parameters: &Parameters, variant: Variant) -> u64 {
    let outcome = run(graph, parameters, variant).unwrap();
    assert!(outcome.is_whole() && outcome.stuck.is_empty(), "{outcome:?}");
    outcome.end.0 / 1000
}

/// Ranks with these statements.
fn job(ranks: usize, of: impl Fn(usize) -> String) -> Graph {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        writeln!(text, "rank {rank} {{\n{}}}", of(rank)).unwrap();
    }
    graph(&text)
}

/// Dissemination of n: in round k a rank sends to the one 2^k further and receives from the one 2^k before.
fn dissemination(n: usize) -> Graph {
    job(n, |rank| {
        let mut text = String::new();
        for (round, step) in (0..).map(|k| (k, 1 << k)).take_while(|(_, step)| *step < n) {
            writeln!(text, "s{round}: send 1b to {} tag {round}", (rank + step) % n).unwrap();
            writeln!(text, "r{round}: recv 1b from {} tag {round}", (rank + n - step) % n).unwrap();
            if round > 0 {
                writeln!(text, "s{round} requires r{0}\nr{round} requires r{0}", round - 1).unwrap();
            }
        }
        text
    })
}

/// Binomial tree of n, as binary_tree_32.goal of LogGOPSim: rank r > 0 receives from r without its highest bit, then
/// sends to r + 2^k for each k above that bit.
fn binomial_tree(n: usize) -> Graph {
    job(n, |rank| {
        let high = if rank == 0 { 0 } else { 1 << rank.ilog2() };
        let mut text = String::new();
        if rank > 0 {
            writeln!(text, "l1: recv 1b from {} tag 0", rank - high).unwrap();
        }
        let first = (high * 2).max(1);
        for (i, to) in (0..).map(|k| rank + (first << k)).take_while(|to| *to < n).enumerate() {
            let label = i + 1 + usize::from(rank > 0);
            writeln!(text, "l{label}: send 1b to {to} tag 0").unwrap();
            if rank > 0 {
                writeln!(text, "l{label} requires l1").unwrap();
            }
        }
        text
    })
}

#[test]
fn dissemination_of_16_takes_22_000_ns_as_the_readme_of_loggopsim_says_and_26_000_in_the_copy() {
    let graph = dissemination(16);
    assert_eq!(end_ns(&graph, &Parameters::default(), Variant::LogGopsim), 22_000);
    assert_eq!(end_ns(&graph, &Parameters::default(), Variant::Copy), 26_000);
}

#[test]
fn the_binary_tree_of_32_takes_27_500_ns_and_41_500_in_the_copy() {
    let graph = binomial_tree(32);
    assert_eq!((graph.total(), graph.tasks(0), graph.tasks(1), graph.tasks(31)), (62, 5, 5, 1));
    assert_eq!(end_ns(&graph, &Parameters::default(), Variant::LogGopsim), 27_500);
    assert_eq!(end_ns(&graph, &Parameters::default(), Variant::Copy), 41_500);
}

const MIB: u64 = 1 << 20;

/// Parameters of the rows of htsim's copy: L 3700, o 200, g 5, G 0.08, S 0.
fn htsim() -> Parameters {
    Parameters {
        latency: Time::ns(3700),
        overhead: Time::ns(200),
        gap: Time::ns(5),
        gap_per_byte_ns: 0.08,
        overhead_per_byte: Time::ZERO,
        eager: Bytes(0),
    }
}

#[test]
fn one_message_of_1_mib_takes_87_991_ns_in_the_copy() {
    let text = [format!("send {MIB}b to 1\n"), format!("recv {MIB}b from 0\n")];
    let graph = job(2, |rank| text[rank].clone());
    assert_eq!(end_ns(&graph, &htsim(), Variant::Copy), 200 + 3700 + 83_886 + 5 + 200);
}

#[test]
fn an_incast_of_15_takes_90_861_ns_in_the_copy_as_it_has_no_contention() {
    let receives: String = (1..16).map(|from| format!("recv {MIB}b from {from}\n")).collect();
    let graph = job(16, |rank| if rank == 0 { receives.clone() } else { format!("send {MIB}b to 0\n") });
    assert_eq!(end_ns(&graph, &htsim(), Variant::Copy), 90_861);
}

#[test]
fn a_ring_of_16_takes_2_640_960_ns_in_the_copy() {
    let graph = job(16, |rank| {
        let mut text = String::new();
        for step in 0..30 {
            writeln!(text, "s{step}: send {MIB}b to {} tag {step}", (rank + 1) % 16).unwrap();
            writeln!(text, "r{step}: recv {MIB}b from {} tag {step}", (rank + 15) % 16).unwrap();
            if step > 0 {
                writeln!(text, "s{step} requires r{}", step - 1).unwrap();
            }
        }
        text
    });
    assert_eq!(end_ns(&graph, &htsim(), Variant::Copy), 2_640_960);
}

#[test]
fn an_all_to_all_of_16_takes_1_262_875_ns_in_the_copy() {
    let graph = job(16, |rank| {
        let mut text = String::new();
        for step in 1..16 {
            writeln!(text, "send {MIB}b to {}", (rank + step) % 16).unwrap();
        }
        for step in 1..16 {
            writeln!(text, "recv {MIB}b from {}", (rank + 16 - step) % 16).unwrap();
        }
        text
    });
    assert_eq!(end_ns(&graph, &htsim(), Variant::Copy), 1_262_875);
}

#[test]
fn three_gigabytes_take_18_seconds_in_loggopsim() {
    let text = ["send 3000000000b to 1\n", "recv 3000000000b from 0\n"];
    let graph = job(2, |rank| text[rank].into());
    let parameters = Parameters { eager: Bytes(u64::MAX), ..Parameters::default() };
    assert_eq!(end_ns(&graph, &parameters, Variant::LogGopsim), 18_000_005_494);
}
