//! Graphs: arrays, rows of successors, refusals.

use incast_cc::{Bytes, Time};
use incast_workload::graph::{MOST_RANKS, Rank};
use incast_workload::{ANY, Builder, Collective, Kind, Pattern, RankBuilder, Task};

#[test]
fn a_task_comes_back_as_it_was_added() {
    let mut job = Builder::new(3).unwrap();
    let tasks = [
        Task::calc(Time::ns(7)).on_stream(255),
        Task::send(Bytes(u64::MAX), 2).tagged(9).at_nic(3),
        Task::recv(Bytes(0), ANY).tagged(ANY),
        Task::nop(),
        Task::collective(0, 1, Bytes(64)),
    ];
    for task in tasks {
        job.task(1, task).unwrap();
    }
    let graph = job.finish();
    assert_eq!((graph.ranks(), graph.tasks(0), graph.tasks(1), graph.total()), (3, 0, 5, 5));
    assert_eq!(graph.rank(1).unwrap().iter().map(|(_, task)| task).collect::<Vec<_>>(), tasks);
    assert_eq!(tasks.map(|t| t.kind), [Kind::Calc, Kind::Send, Kind::Recv, Kind::Nop, Kind::Collective]);
    assert_eq!((tasks[0].duration(), tasks[0].bytes()), (Time(7_000), Bytes(0)));
    assert_eq!((tasks[1].duration(), tasks[1].bytes()), (Time::ZERO, Bytes(u64::MAX)));
}

#[test]
fn successors_keep_their_order_and_a_dependency_given_twice_counts_twice() {
    let mut rank = RankBuilder::default();
    for _ in 0..4 {
        rank.task(Task::nop()).unwrap();
    }
    for (later, earlier) in [(3, 1), (2, 0), (1, 0), (3, 0), (1, 0)] {
        rank.requires(later, earlier).unwrap();
    }
    rank.irequires(3, 2).unwrap();
    let rank = rank.finish();
    assert_eq!(rank.successors(0), (&[2, 1, 3, 1][..], &[][..]));
    assert_eq!(rank.successors(1), (&[3][..], &[][..]));
    assert_eq!(rank.successors(2), (&[][..], &[3][..]));
    assert_eq!(rank.all_waits(), [0, 2, 1, 3]);
    assert_eq!(rank.edges(), (5, 1));
}

#[test]
fn indices_outside_are_empty_and_do_not_panic() {
    let graph = Builder::new(1).unwrap().finish();
    for (rank, task) in [(0, 0), (0, u32::MAX), (7, 0), (u32::MAX, u32::MAX)] {
        assert_eq!((graph.tasks(rank), graph.task(rank, task), graph.waits(rank, task)), (0, Task::nop(), 0));
        assert_eq!(graph.successors(rank, task), (&[][..], &[][..]));
    }
    assert_eq!((graph.group(5), graph.collective(5)), (&[][..], None));
}

#[test]
fn unknown_ranks_and_tasks_are_refused() {
    let mut job = Builder::new(2).unwrap();
    assert_eq!(job.task(2, Task::nop()).unwrap_err().to_string(), "rank 2: the job has 2, from 0");
    job.task(0, Task::nop()).unwrap();
    let refused = job.requires(0, 0, 1).unwrap_err().to_string();
    assert_eq!(refused, "dependency on task 1: the rank has 1 tasks, from 0");
    assert!(job.irequires(0, 9, 0).is_err());
    assert_eq!(job.finish().waits(0, 0), 0, "a refused dependency leaves nothing");
}

#[test]
fn absurd_numbers_of_ranks_are_refused_with_their_memory() {
    let refused = Builder::new(u64::MAX).unwrap_err().to_string();
    assert!(refused.starts_with("ranks = 18446744073709551615: expected at most 4194304"), "{refused}");
    assert!(Builder::new(MOST_RANKS + 1).is_err());
}

#[test]
fn a_task_takes_28_bytes_and_a_dependency_4() {
    let mut rank = RankBuilder::default();
    for _ in 0..1000 {
        rank.task(Task::nop()).unwrap();
    }
    for later in 1..1000 {
        rank.requires(later, later - 1).unwrap();
    }
    // 23 B and an offset of 4 B a task, 4 B a dependency
    assert_eq!(rank.finish().memory(), Bytes(1000 * 27 + 4 + 999 * 4));
    assert_eq!(Rank::default().memory(), Bytes(0));
}

#[test]
fn groups_and_collectives_are_found_by_index() {
    let mut job = Builder::new(4).unwrap();
    let group = job.group(vec![3, 1, 2, 0]);
    let made = Collective::new(Pattern::AllReduce, group, Bytes(1 << 20));
    let index = job.collective(made.clone());
    let graph = job.finish();
    assert_eq!(graph.group(group), [3, 1, 2, 0]);
    assert_eq!(graph.collective(index), Some(&made));
    assert_eq!(graph.collectives(), [made]);
    assert!(Pattern::ALL.iter().all(|p| Pattern::named(p.name()) == Some(*p)));
}

#[test]
fn ranks_that_differ_in_their_place_alone_share_their_arrays() {
    let ring = |n: u32| {
        let mut job = Builder::new(n.into()).unwrap();
        for rank in 0..n {
            for _ in 0..100 {
                job.task(rank, Task::send(Bytes(8), (rank + 1) % n)).unwrap();
                job.task(rank, Task::recv(Bytes(8), (rank + n - 1) % n).tagged(3)).unwrap();
            }
            job.task(rank, Task::recv(Bytes(8), ANY)).unwrap();
            job.requires(rank, 1, 0).unwrap();
        }
        job.finish()
    };
    let (small, large) = (ring(10), ring(1000));
    for rank in [0, 1, 998, 999] {
        let peers = [0, 1, 200].map(|i| large.task(rank, i).peer);
        assert_eq!(peers, [(rank + 1) % 1000, (rank + 999) % 1000, ANY]);
    }
    // what a rank needs beside the shared arrays
    let own = size_of::<Rank>() as u64;
    assert_eq!(large.memory().0 - 1000 * own, small.memory().0 - 10 * own);
}

#[test]
fn a_peer_that_is_no_rank_stays_as_it_is() {
    let mut job = Builder::new(3).unwrap();
    for rank in 0..3 {
        job.task(rank, Task::send(Bytes(8), 7)).unwrap();
        job.task(rank, Task::recv(Bytes(8), 1)).unwrap();
    }
    let job = job.finish();
    assert!((0..3).all(|rank| (job.task(rank, 0).peer, job.task(rank, 1).peer) == (7, 1)));
}

#[test]
fn a_rank_taken_from_a_graph_keeps_its_peers_in_another() {
    let mut job = Builder::new(3).unwrap();
    for rank in 0..3 {
        job.task(rank, Task::send(Bytes(8), (rank + 1) % 3)).unwrap();
    }
    let job = job.finish();
    let turned = Builder::of([2, 0, 1].map(|rank| job.rank(rank).unwrap().clone()).into()).unwrap();
    assert_eq!([0, 1, 2].map(|rank| turned.task(rank, 0).peer), [0, 1, 2]);
}
