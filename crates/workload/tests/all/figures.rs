//! Counts and bounds of graphs.

use crate::support::{Random, graph};
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::collective::{Algorithm, Method, Methods, alone, expand};
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::evaluate::least;
use incast_workload::stats::{Pair, stats};
use incast_workload::{ANY, Builder, Collective, Graph, Pattern, RankBuilder, Task};

const NETWORK: Network = Network { latency: Time::us(1), rate: Rate::gbps(100) };

#[test]
fn counts_are_those_of_the_file() {
    let job = graph(
        "num_ranks 3\nrank 0 {\na: calc 100 cpu 1\nb: send 8b to 1 tag 7\nc: send 90b to 1\nd: send 5b to 2\n\
         b requires a\nc requires b\nd irequires a\n}\nrank 1 {\nrecv 8b from 0 tag 7\nrecv 90b from 0\n\
         calc 50\n}\nrank 2 {\nrecv 5b from 0\n}\n",
    );
    let found = stats(&job);
    assert_eq!((found.ranks, found.total(), found.tasks), (3, 8, [2, 3, 3, 0, 0]));
    assert_eq!(found.bytes, [0, 103, 103, 0, 0]);
    assert_eq!((found.calc, found.most_calc), (Time::ns(150), Time::ns(100)));
    assert_eq!((found.message, found.connections, found.degrees), (Some((Bytes(5), Bytes(90))), 2, (2, 1)));
    let pair = Pair { from: 0, to: 1, messages: 2, bytes: Bytes(98) };
    assert_eq!((found.pairs.len(), found.pairs[0]), (2, pair));
    assert_eq!((found.dependencies, found.depth), ((2, 1), 3));
    assert_eq!((found.memory, found.run_memory), (job.memory(), Bytes(32)));
}

#[test]
fn an_empty_job_has_counts_and_a_bound_of_zero() {
    let job = Builder::new(0).unwrap().finish();
    assert_eq!(stats(&job).total(), 0);
    assert_eq!(bound(&job, NETWORK).unwrap().time(), Time::ZERO);
}

#[test]
fn the_bound_is_the_path_the_host_or_the_stream() {
    // 1 us of calculation, 12,500 B at 100 Gb/s and 1 us of latency, 2 us of calculation
    let path = "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 12500b to 1\nb requires a\n}\n\
                rank 1 {\na: recv 12500b from 0\nb: calc 2000\nb requires a\n}\n";
    let found = bound(&graph(path), NETWORK).unwrap();
    assert_eq!((found.time(), found.cause(), found.path), (Time::us(5), "path", Time::us(5)));
    assert_eq!((found.path_tasks, found.path_messages, found.path_calc), (4, 1, Time::us(3)));
    assert_eq!((found.host_bytes, found.host, found.stream), (Bytes(12_500), Time::us(1), Time::us(2)));
    // nine senders: the receiver needs 9 us, a message alone 2 us
    let mut job = Builder::new(10).unwrap();
    for rank in 1..10 {
        job.task(rank, Task::send(Bytes(12_500), 0)).unwrap();
        job.task(0, Task::recv(Bytes(12_500), rank)).unwrap();
    }
    let found = bound(&job.finish(), NETWORK).unwrap();
    assert_eq!((found.time(), found.cause(), found.host_rank), (Time::us(9), "host", 0));
    // three calculations of one stream, which do not wait for each other
    let found = bound(&graph("num_ranks 1\nrank 0 {\ncalc 5\ncalc 5\ncalc 5 cpu 1\n}\n"), NETWORK).unwrap();
    assert_eq!((found.time(), found.cause()), (Time::ns(10), "stream"));
}

#[test]
fn a_job_that_never_ends_has_no_bound() {
    let job = graph("num_ranks 1\nrank 0 {\nrecv 5b from 0\n}\n");
    let refused = bound(&job, NETWORK).unwrap_err().to_string();
    assert_eq!(refused, "tasks that never end: 1 of 1; the linter names them");
}

#[test]
fn messages_to_oneself_are_no_load_of_the_host() {
    let job = graph("num_ranks 1\nrank 0 {\nsend 12500b to 0\nrecv 12500b from 0\n}\n");
    assert_eq!(bound(&job, NETWORK).unwrap().time(), Time::ZERO);
}

/// Rank, later task, earlier task.
type Edge = (u32, u32, u32);

/// A random job that ends: each message has its receive, and dependencies lead from earlier steps to later ones.
fn random_job(random: &mut Random) -> (Graph, Vec<Vec<Task>>, Vec<Edge>) {
    let mut tasks = vec![Vec::new(); 4];
    for step in 0..10u32 {
        let (from, to) = (random.below(4) as u32, random.below(4) as u32);
        let bytes = Bytes(random.next() % 100_000);
        tasks[from as usize].push(Task::send(bytes, to).tagged(step));
        tasks[to as usize].push(Task::recv(bytes, from).tagged(step));
        tasks[random.below(4)].push(Task::calc(Time(random.next() % 9_000_000)).on_stream(random.below(2) as u8));
    }
    let mut edges = Vec::new();
    for (rank, own) in tasks.iter().enumerate() {
        for later in 1..own.len() {
            edges.push((rank as u32, later as u32, random.below(later) as u32));
        }
    }
    (built(&tasks, &edges), tasks, edges)
}

fn built(tasks: &[Vec<Task>], edges: &[Edge]) -> Graph {
    let mut ranks = vec![RankBuilder::default(); tasks.len()];
    for (rank, own) in ranks.iter_mut().zip(tasks) {
        for task in own {
            rank.task(*task).unwrap();
        }
    }
    for (rank, later, earlier) in edges {
        ranks[*rank as usize].requires(*later, *earlier).unwrap();
    }
    Builder::of(ranks.into_iter().map(RankBuilder::finish).collect()).unwrap()
}

#[test]
fn the_bound_never_grows_when_a_dependency_goes_or_a_calculation_shortens_and_no_run_beats_it() {
    let mut random = Random(9);
    for _ in 0..300 {
        let (job, mut tasks, mut edges) = random_job(&mut random);
        let whole = bound(&job, NETWORK).unwrap();
        for send_done in [SendDone::Written, SendDone::Acked, SendDone::Matched] {
            let outcome = run(&job, Rules { network: NETWORK, send_done, streams: true, path: false }).outcome;
            assert!(!outcome.is_whole() || outcome.end >= whole.path.max(whole.stream), "{send_done:?}");
        }
        edges.swap_remove(random.below(edges.len()));
        assert!(bound(&built(&tasks, &edges), NETWORK).unwrap().time() <= whole.time());
        for task in tasks.iter_mut().flatten().filter(|task| task.duration() > Time::ZERO).take(3) {
            task.size /= 2;
        }
        assert!(bound(&built(&tasks, &edges), NETWORK).unwrap().time() <= whole.time());
    }
}

#[test]
fn a_path_through_receives_from_any_rank_is_no_bound() {
    let chosen = |from: u32| {
        let job = vec![
            vec![Task::recv(Bytes(1_000), from), Task::calc(Time::us(1))],
            vec![Task::send(Bytes(1_000), 0)],
            vec![Task::calc(Time::us(90)), Task::send(Bytes(1_000), 0)],
        ];
        bound(&built(&job, &[(0, 1, 0), (2, 1, 0)]), NETWORK).unwrap()
    };
    let (wild, one) = (chosen(ANY), chosen(2));
    assert!(!wild.path_bounds && one.path_bounds);
    assert_eq!((wild.time(), wild.cause()), (Time::us(90), "stream"));
    assert!(one.time() > Time::us(90));
}

#[test]
fn no_expansion_has_a_smaller_bound_than_its_collective() {
    for algorithm in Algorithm::ALL {
        for pattern in algorithm.patterns() {
            let what = Collective::new(*pattern, 0, Bytes(1 << 20));
            let one = alone(&what, 8).unwrap();
            let mut methods = Methods::default();
            methods.choose(*pattern, Method { server: 4, ..Method::new(algorithm) });
            let (whole, parts) =
                (bound(&one, NETWORK).unwrap(), bound(&expand(&one, &methods).unwrap(), NETWORK).unwrap());
            let (alone, expanded) = (whole.time().saturating_sub(NETWORK.latency), parts.time());
            assert!(expanded >= alone, "{algorithm:?} {pattern:?}: {expanded:?} {alone:?}");
            assert!(parts.host_bytes >= whole.host_bytes, "{algorithm:?} {pattern:?}");
        }
    }
}

#[test]
fn bytes_of_a_collective_at_least_are_by_position() {
    let of = |pattern, position| {
        let (sends, receives) = least::own(&Collective::new(pattern, 0, Bytes(800)), 8, position);
        (sends.0, receives.0)
    };
    assert_eq!((of(Pattern::Broadcast, 0), of(Pattern::Broadcast, 3)), ((800, 0), (0, 800)));
    assert_eq!((of(Pattern::Reduce, 0), of(Pattern::Reduce, 3)), ((0, 800), (800, 0)));
    assert_eq!((of(Pattern::ReduceScatter, 1), of(Pattern::AllGather, 1)), ((700, 100), (100, 700)));
    assert_eq!((of(Pattern::AllToAll, 1), of(Pattern::AllReduce, 1)), ((700, 700), (800, 800)));
    let sizes = Collective { sizes: Some(vec![9, 1, 2, 9].into()), ..Collective::new(Pattern::AllToAll, 0, Bytes(0)) };
    assert_eq!(least::own(&sizes, 2, 0), (Bytes(1), Bytes(2)));
    assert_eq!(least::moved(&sizes, 2), Bytes(2));
}

#[test]
fn a_calculation_whose_start_alone_was_waited_for_is_not_on_the_path() {
    let found = bound(
        &graph("num_ranks 1\nrank 0 {\na: calc 5 cpu 1\nb: calc 4\nc: calc 3\nb irequires a\nc requires b\n}\n"),
        NETWORK,
    );
    let found = found.unwrap();
    assert_eq!((found.path, found.path_calc, found.path_tasks), (Time::ns(7), Time::ns(7), 3));
}

#[test]
fn a_send_that_waits_for_the_start_of_its_own_receive_has_a_path() {
    let job = graph("num_ranks 1\nrank 0 {\nr: recv 5b from 0\ns: send 5b to 0\ns irequires r\n}\n");
    assert_eq!(bound(&job, NETWORK).unwrap().path_tasks, 3, "receive from its start, send, receive to its end");
}
