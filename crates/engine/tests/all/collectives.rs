//! Collectives as tasks of a run: the same bytes as their expansion, and their records.

use crate::jobs::{add_by, connect, on_star};
use crate::rdma::rdma;
use crate::support::*;
use incast_cc::Bytes;
use incast_engine::hash;
use incast_record::CollectiveRecord;
use incast_workload::collective::{Algorithm, Method, Methods, expand, tags};
use incast_workload::{Builder, Collective, Graph, Pattern, Task};

/// Numbers by a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 += 1;
        hash::mix(self.0) % n
    }
}

/// A method of an algorithm that fits n members, with random parameters.
fn method(random: &mut Random, pattern: Pattern, n: u64) -> Method {
    loop {
        let algorithm = Algorithm::ALL[random.below(12) as usize];
        let mut own = Method::new(algorithm);
        own.server = [1, 2, n as u32][random.below(3) as usize];
        own.window = 1 + random.below(3) as u32;
        own.reduce = (random.below(2) == 0).then(|| Rate::gbps(100));
        if algorithm.has_chunks() {
            own.channels = 1 + random.below(2) as u32;
            own.chunk = (random.below(2) == 0).then(|| Bytes(1_000 + random.below(4_000)));
            own.credits = random.below(3) as u32;
        }
        if random.below(3) == 0 {
            own.order = (0..n as u32).rev().collect();
        }
        if own.check(pattern, n).is_ok() {
            return own;
        }
    }
}

/// A job of six ranks with collectives of two groups, after each other or at once, and calculations.
fn job(random: &mut Random) -> (Graph, Methods) {
    let mut job = Builder::new(6).unwrap();
    let groups = [vec![0, 1, 2, 3], vec![5, 4, 3, 2], (0..6).collect::<Vec<u32>>()].map(|group| job.group(group));
    let mut methods = Methods::default();
    // four and six members: what fits both
    for pattern in Pattern::ALL {
        let fitting = loop {
            let own = Method { order: Vec::new(), ..method(random, pattern, 4) };
            if own.check(pattern, 6).is_ok() || random.below(3) == 0 {
                break own;
            }
        };
        methods.choose(pattern, fitting);
    }
    let mut last = [None; 6];
    for _ in 0..3 {
        let pattern = Pattern::ALL[random.below(7) as usize];
        let fits = methods.of(pattern).check(pattern, 6).is_ok();
        let group = groups[random.below(if fits { 3 } else { 2 }) as usize];
        let members = job.members(group).to_vec();
        let n = members.len() as u64;
        let sizes = (pattern == Pattern::AllToAll && random.below(2) == 0)
            .then(|| (0..n * n).map(|_| random.below(9_000)).collect::<Vec<_>>().into());
        let what = Collective { pattern, group, bytes: Bytes(1 + random.below(30_000)), root: 1, sizes };
        let bytes = what.bytes;
        let index = job.collective(what);
        let waits = random.below(3) > 0;
        for (position, rank) in (0..).zip(members) {
            let own = job.task(rank, Task::collective(index, position, bytes)).unwrap();
            let calc = job.task(rank, Task::calc(Time::ns(1 + random.below(3_000))).on_stream(1)).unwrap();
            if random.below(2) == 0 {
                job.requires(rank, calc, own).unwrap();
            } else {
                job.irequires(rank, calc, own).unwrap();
            }
            if let Some(before) = last[rank as usize].filter(|_| waits) {
                job.requires(rank, own, before).unwrap();
            }
            last[rank as usize] = Some(calc);
        }
    }
    (job.finish(), methods)
}

/// The outcome without what is known of collectives alone.
fn plain_outcome(mut o: Outcome) -> String {
    o.collectives.clear();
    o.jobs.iter_mut().for_each(|job| job.collectives.clear());
    format!("{o:#?}")
}

#[test]
fn collectives_and_their_expansion_give_the_same_bytes() {
    let mut random = Random(1 << 32);
    for round in 0..40 {
        let transport = match round % 3 {
            0 => htsim(),
            1 => rdma(|own| own.window = Window::None),
            _ => plain(),
        };
        let jobs = [job(&mut random), job(&mut random)];
        let (servers, iterations, slow) = (random.below(2) == 0, 1 + random.below(2) as u32, random.below(6) as u32);
        let written = random.below(2) == 0;
        let scale_up = servers.then(|| {
            let servers = (0..6).map(|rank| rank / 2).collect();
            ScaleUp { servers, rate: Rate::gbps(100), delay: Time::ns(500) }
        });
        let (qps, by_kind) = (1 + random.below(2) as u32, random.below(2) == 0);
        let spec = |expanded: bool| {
            let mut spec = on_star(12, Builder::new(1).unwrap().finish(), &[0]);
            spec.jobs.clear();
            spec.transports = vec![transport.clone()];
            spec.queues = vec![drop_tail(60)];
            run_for(&mut spec, Time::ms(400));
            for ((graph, methods), hosts) in jobs.iter().zip([[3, 1, 4, 0, 2, 5], [6, 7, 8, 11, 10, 9]]) {
                let own = if expanded { expand(graph, methods).unwrap() } else { graph.clone() };
                add_by(&mut spec, own, methods, &hosts, scale_up.clone());
                let job = spec.jobs.last_mut().unwrap();
                job.iterations = iterations;
                job.slow = vec![(slow, 2.5)];
                job.send_done = if written { SendDone::Written } else { SendDone::Acked };
                job.start = Time::us(10 * round);
                job.opens = Opens::Kept(qps);
                if by_kind {
                    job.kinds = tags(graph, methods).unwrap().into_iter().zip(1..).collect();
                }
                reconnect(&mut spec);
            }
            spec
        };
        let (whole, expanded) = (spec(false), spec(true));
        let [own, other] = [&whole, &expanded].map(|spec| {
            let o = if round < 6 { compared(spec) } else { compared_whole(spec) };
            assert!(o.ranks.iter().all(|rank| rank.left == 0), "{round}: {:?}", o.ranks);
            o
        });
        let members: u32 = own.collectives.values().map(|record| record.ended).sum();
        let expected: usize = whole.jobs.iter().map(|job| members_of(job.tasks.graph())).sum();
        assert_eq!(members as usize, expected * iterations as usize);
        let (own, other) = (plain_outcome(own), plain_outcome(other));
        let first = own.lines().zip(other.lines()).find(|(a, b)| a != b);
        assert!(own == other, "{round}: {first:?}");
    }
}

/// Gives the last job of `spec` connections in place of those that it has.
fn reconnect(spec: &mut Spec) {
    let own = spec.jobs.last().unwrap().connections.len();
    spec.flows.truncate(spec.flows.len() - own);
    connect(spec);
}

/// Number of members of all collectives.
fn members_of(graph: &Graph) -> usize {
    graph.collectives().iter().map(|what| graph.group(what.group).len()).sum()
}

#[test]
fn a_collective_is_recorded_with_its_skew_its_slowest_member_and_its_slowest_message() {
    let mut job = Builder::new(4).unwrap();
    let group = job.group(vec![0, 1, 2, 3]);
    let bytes = Bytes(40_000);
    let index = job.collective(Collective::new(Pattern::AllReduce, group, bytes));
    for rank in 0..4 {
        let calc = job.task(rank, Task::calc(Time::us(10))).unwrap();
        let own = job.task(rank, Task::collective(index, rank, bytes)).unwrap();
        job.requires(rank, own, calc).unwrap();
    }
    let mut spec = on_star(4, job.finish(), &[0, 1, 2, 3]);
    spec.jobs[0].slow = vec![(2, 1.5)];
    spec.jobs[0].iterations = 2;
    let o = compared(&spec);
    let records: Vec<&CollectiveRecord> = o.collectives.values().collect();
    let keys: Vec<_> = o.collectives.keys().copied().collect();
    assert_eq!(keys, [(0, 0, 0), (0, 1, 0)]);
    let first = records[0];
    assert_eq!((first.started, first.ended, first.first_start_ps), (4, 4, 10_000_000));
    assert_eq!((first.last_start.0, first.last_start.1.0), (15_000_000, 2));
    let longest = |from: u64, to: u64| {
        let of = o.transfers.iter().filter(|own| (from..=to).contains(&own.finish_ps));
        of.map(|own| (own.finish_ps - own.start_ps, std::cmp::Reverse(own.from), std::cmp::Reverse(own.to))).max()
    };
    assert_eq!(first.longest, longest(0, first.last_finish.0));
    let ends: Vec<u64> = o.ranks[..4].iter().map(|rank| rank.finish_ps.unwrap()).collect();
    let (early, late) = (*ends.iter().min().unwrap(), *ends.iter().max().unwrap());
    assert_eq!((first.first_finish_ps, first.last_finish.0), (early, late));
}

#[test]
fn a_collective_that_does_not_end_is_recorded_as_far_as_it_came() {
    let what = Collective::new(Pattern::AllReduce, 0, Bytes(4_000_000));
    let graph = incast_workload::collective::alone(&what, 4).unwrap();
    let mut spec = on_star(4, graph, &[0, 1, 2, 3]);
    run_for(&mut spec, Time::us(100));
    let o = compared(&spec);
    let record = o.collectives[&(0, 0, 0)];
    assert_eq!((record.started, record.ended, record.first_finish_ps), (4, 0, u64::MAX));
    assert!(o.ranks.iter().all(|rank| rank.waits_for.as_deref().is_some_and(|words| words.contains("a message"))));
}

#[test]
fn messages_without_bytes_are_packets() {
    let what = Collective::new(Pattern::Barrier, 0, Bytes(0));
    let graph = incast_workload::collective::alone(&what, 5).unwrap();
    let o = compared(&on_star(5, graph, &[0, 1, 2, 3, 4]));
    assert_eq!((o.transfers.len(), o.transfers.iter().map(|own| own.bytes).sum::<u64>()), (15, 0));
    assert!(o.ranks.iter().all(|rank| rank.left == 0 && rank.finish_ps.unwrap() > 3 * 2_000_000));
}
