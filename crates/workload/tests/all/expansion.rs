//! Collectives as tasks of a run: the tasks of their algorithms, without an expanded graph.

use crate::support::Random;
use incast_cc::{Bytes, Rate};
use incast_workload::collective::{Algorithm, At, Expansion, Method, Methods, Tasks, expand};
use incast_workload::{Builder, Collective, Graph, Kind, Pattern, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Every algorithm of a pattern, with random parameters that fit n members.
fn method(random: &mut Random, pattern: Pattern, n: u64) -> Method {
    loop {
        let algorithm = Algorithm::ALL[random.below(12)];
        let mut own = Method::new(algorithm);
        own.server = [1, 2, 3, n as u32][random.below(4)];
        own.window = 1 + random.below(4) as u32;
        own.reduce = (random.below(2) == 0).then(|| Rate::gbps(100));
        if algorithm.has_chunks() {
            own.channels = 1 + random.below(3) as u32;
            own.chunk = (random.below(2) == 0).then(|| Bytes(1 + random.next() % 400));
            own.credits = random.below(4) as u32;
        }
        if random.below(3) == 0 {
            own.order = (0..n as u32).rev().collect();
        }
        if own.check(pattern, n).is_ok() {
            return own;
        }
    }
}

/// A job with collectives of two groups, one after the other or at once, calculations between them.
fn job(random: &mut Random) -> (Graph, Methods) {
    let n = [2, 3, 4, 6, 8][random.below(5)];
    let mut job = Builder::new(n + 2).unwrap();
    let groups = [(0..n as u32).collect::<Vec<_>>(), (2..n as u32 + 2).rev().collect()];
    let groups = groups.map(|group| job.group(group));
    let mut methods = Methods::default();
    Pattern::ALL.into_iter().for_each(|pattern| methods.choose(pattern, method(random, pattern, n)));
    let mut last = vec![None; n as usize + 2];
    for i in 0..4 {
        let pattern = Pattern::ALL[random.below(7)];
        let sizes = (pattern == Pattern::AllToAll && random.below(2) == 0)
            .then(|| (0..n * n).map(|_| (random.next() % 900).saturating_sub(200)).collect::<Vec<_>>().into());
        let (group, root) = (groups[i % 2], random.below(n as usize) as u32);
        let what = Collective { pattern, group, bytes: Bytes(1 + random.next() % 5000), root, sizes };
        let bytes = what.bytes;
        let index = job.collective(what);
        let waits = random.below(3) > 0;
        for (position, rank) in (0..).zip(job.members(group).to_vec()) {
            let own = job.task(rank, Task::collective(index, position, bytes).on_stream(1).at_nic(2)).unwrap();
            let calc = job.task(rank, Task::calc(incast_cc::Time::us(1))).unwrap();
            job.requires(rank, calc, own).unwrap();
            if random.below(2) == 0 {
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

/// Tasks that wait for the end and for the start of a task.
fn successors(tasks: Tasks<'_>, number: u32) -> [BTreeMap<u32, u32>; 2] {
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    let mut add = |kind: usize, task: u32| *found[kind].entry(task).or_default() += 1;
    let outside = |task: u32| tasks.rank().successors(task);
    let (ends, starts) = match tasks.at(number) {
        At::Graph(task) => (Some(task), Some(task)),
        At::Member(member, local) => {
            let own = tasks.member(member);
            tasks.successors_inside(member, local, |next| add(0, own.first + next));
            ((local == tasks.last(member)).then_some(own.task), (local == 0).then_some(own.task))
        }
    };
    ends.iter().flat_map(|task| outside(*task).0).for_each(|next| add(0, tasks.number(*next)));
    starts.iter().flat_map(|task| outside(*task).1).for_each(|next| add(1, tasks.number(*next)));
    found
}

#[test]
fn a_member_has_the_tasks_of_the_expanded_graph() {
    let mut random = Random(5);
    let mut seen = BTreeSet::new();
    for _ in 0..400 {
        let (graph, methods) = job(&mut random);
        seen.extend(graph.collectives().iter().map(|what| (what.pattern, methods.of(what.pattern).algorithm)));
        let expanded = expand(&graph, &methods).unwrap();
        let whole = Expansion::new(Arc::new(graph), &methods).unwrap();
        assert_eq!(whole.total(), expanded.total());
        let pairs: Vec<(u32, u32)> = whole.pairs().collect();
        let mut sends = BTreeSet::new();
        for (rank, own) in expanded.iter() {
            let tasks = whole.rank(rank);
            let mut messages: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            whole.messages(rank, |peer, tag, count| *messages.entry((peer, tag)).or_default() += count);
            assert_eq!(tasks.count() as usize, own.tasks(), "{methods:?}");
            let mut waits = vec![0; own.tasks()];
            for (i, task) in own.iter() {
                assert_eq!(tasks.task(i), task, "task {rank}:{i}, {methods:?}");
                if task.kind == Kind::Send {
                    sends.insert((rank, task.peer));
                    *messages.get_mut(&(task.peer, task.tag)).unwrap() -= 1;
                }
                let found = successors(tasks, i);
                let (ends, starts) = own.successors(i);
                for (kind, expected) in [ends, starts].into_iter().enumerate() {
                    let mut rest = found[kind].clone();
                    for next in expected {
                        match rest.get_mut(next) {
                            Some(count) => *count -= 1,
                            // what waits for another task of the member does not wait for the first too
                            None => assert!(matches!(tasks.at(i), At::Member(_, 0)), "{rank}:{i} to {next}"),
                        }
                    }
                    assert!(rest.values().all(|left| *left == 0), "{rank}:{i} {found:?} {expected:?} {methods:?}");
                    found[kind].iter().for_each(|(next, times)| waits[*next as usize] += times);
                }
            }
            assert!(messages.values().all(|left| *left == 0), "{messages:?}");
            for (i, waits) in (0..).zip(waits) {
                let own = match tasks.at(i) {
                    At::Graph(task) => tasks.rank().waits(task),
                    At::Member(member, 0) => tasks.rank().waits(tasks.member(member).task),
                    At::Member(member, local) => tasks.waits_inside(member, local),
                };
                assert_eq!(waits, own, "task {rank}:{i}, {methods:?}");
                assert!(own > 0 || matches!(tasks.at(i), At::Graph(_) | At::Member(_, 0)));
            }
        }
        assert_eq!(pairs, sends.into_iter().collect::<Vec<_>>());
    }
    let all: usize = Algorithm::ALL.into_iter().map(|algorithm| algorithm.patterns().len()).sum();
    assert_eq!(seen.len(), all, "each algorithm of each pattern: {seen:?}");
}

#[test]
fn a_ring_of_many_ranks_takes_no_memory_a_step() {
    let n = 4096;
    let what = Collective::new(Pattern::AllReduce, 0, Bytes(1 << 30));
    let graph = incast_workload::collective::alone(&what, n).unwrap();
    let whole = Expansion::new(Arc::new(graph), &Methods::default()).unwrap();
    assert_eq!(whole.total(), u64::from(n) * (2 + 4 * (u64::from(n) - 1)));
    assert_eq!(whole.pairs().count(), n as usize);
    let last = whole.rank(n - 1).task(1);
    assert_eq!((last.kind, last.peer, last.size), (Kind::Send, 0, 1 << 18));
}

#[test]
fn expansions_that_do_not_fit_are_refused() {
    let what = Collective::new(Pattern::AllReduce, 0, Bytes(1 << 40));
    let graph = Arc::new(incast_workload::collective::alone(&what, 64).unwrap());
    let mut methods = Methods::default();
    methods.choose(Pattern::AllReduce, Method { chunk: Some(Bytes(64)), ..Method::new(Algorithm::Ring) });
    let refused = Expansion::new(graph.clone(), &methods).unwrap_err().0;
    assert!(refused.contains("tasks of a member of a collective"), "{refused}");
    methods.choose(Pattern::AllReduce, Method { chunk: Some(Bytes(4096)), ..Method::new(Algorithm::Ring) });
    let refused = Expansion::new(graph, &methods).unwrap_err().0;
    assert!(refused.contains("expected at most 2^32"), "{refused}");
}
