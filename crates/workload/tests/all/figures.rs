//! Counts and bounds of graphs.

use crate::support::{Random, graph};
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::collective::{Algorithm, Method, Methods, alone, expand};
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::evaluate::least;
use incast_workload::evaluate::loggops::{self, Parameters, Variant};
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
fn a_job_ends_with_its_last_task_also_if_that_is_a_calculation_beside_messages() {
    // htsim's loop prints the end of the last message, 14,022 ns, and its clock stands at 50,000
    let job = graph("num_ranks 2\nrank 0 {\ncalc 50000\nsend 4096b to 1\n}\nrank 1 {\nrecv 4096b from 0\n}\n");
    for send_done in [SendDone::Written, SendDone::Acked, SendDone::Matched] {
        let rules = Rules { network: NETWORK, send_done, streams: true, path: false };
        assert_eq!(run(&job, rules).outcome.end, Time::ns(50_000));
    }
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

/// A collective whose members calculate before it, and one of them for a second after it: its end, whatever others do.
fn with_starts(what: &Collective, starts: &[u64], watched: u32) -> Graph {
    let mut job = Builder::new(starts.len() as u64).unwrap();
    let group = job.group((0..starts.len() as u32).collect::<Vec<u32>>());
    let index = job.collective(Collective { group, ..what.clone() });
    for (rank, start) in (0u32..).zip(starts) {
        let before = job.task(rank, Task::calc(Time::us(*start))).unwrap();
        let member = job.task(rank, Task::collective(index, rank, what.bytes)).unwrap();
        job.requires(rank, member, before).unwrap();
        if rank == watched {
            let after = job.task(rank, Task::calc(Time::ms(1000))).unwrap();
            job.requires(rank, after, member).unwrap();
        }
    }
    job.finish()
}

fn path_of(graph: &Graph, network: Network) -> Time {
    let outcome = run(graph, Rules { network, send_done: SendDone::Written, streams: false, path: false }).outcome;
    assert!(outcome.is_whole(), "{outcome:?}");
    outcome.end
}

/// Methods of an algorithm for n members, with chunks and without.
fn methods_of(algorithm: Algorithm, n: usize) -> Vec<Method> {
    let one = Method { server: if n == 8 { 4 } else { 1 }, window: 2, ..Method::new(algorithm) };
    let chunks = Method { channels: 3, chunk: Some(Bytes(4_096)), ..one.clone() };
    if algorithm.has_chunks() { vec![one, chunks] } else { vec![one] }
}

#[test]
fn no_member_of_any_algorithm_ends_before_it_does_in_the_collective_as_one_task() {
    let mut random = Random(11);
    // 1 us and 1 ns a byte, with messages that share the NIC of their receiver, each a byte too short
    let network = Network { latency: Time::us(1), rate: Rate::gbps(8) };
    let shared = Parameters {
        latency: network.latency,
        overhead: Time::ZERO,
        gap: Time::ZERO,
        gap_per_byte_ns: 1.0,
        overhead_per_byte: Time::ZERO,
        eager: Bytes(u64::MAX),
    };
    let all = Algorithm::ALL.into_iter().flat_map(|a| a.patterns().iter().map(move |p| (a, *p)));
    let cases = all.flat_map(|(a, p)| [2usize, 3, 4, 8].map(|n| (p, n, methods_of(a, n)))).flat_map(|(p, n, all)| {
        let fit = all.into_iter().filter(move |method| method.check(p, n as u64).is_ok());
        fit.map(move |method| (p, n, method))
    });
    for (pattern, n, method) in cases {
        let mut methods = Methods::default();
        methods.choose(pattern, method);
        for bytes in [0, 1, 17, 1_000, 100_000] {
            let starts: Vec<u64> = (0..n).map(|_| random.next() % 300).collect();
            let mut what = Collective::new(pattern, 0, Bytes(bytes));
            what.root = random.below(n) as u32;
            if pattern == Pattern::AllToAll && random.below(2) == 0 {
                what.sizes = Some((0..n * n).map(|_| random.below(3) as u64 * bytes).collect::<Vec<_>>().into());
            }
            for watched in 0..n as u32 {
                let one = with_starts(&what, &starts, watched);
                let parts = expand(&one, &methods).unwrap();
                let run = loggops::run(&parts, &shared, Variant::LogGopsim).unwrap();
                assert!(run.is_whole());
                let (least, found) = (path_of(&one, network), run.end.saturating_add(Time::ns(parts.total())));
                assert!(found >= least, "{what:?} {methods:?} {starts:?} {watched}: {found:?} {least:?}");
            }
        }
    }
}

#[test]
fn members_wait_for_those_alone_whose_data_they_need() {
    let ends = |what: &Collective| {
        let end = |rank| path_of(&with_starts(what, &[0, 100, 20, 7], rank), NETWORK).saturating_sub(Time::ms(1000));
        [0, 1, 2, 3].map(end).map(|time| time.as_us_f64())
    };
    let of = |pattern| Collective { root: 2, ..Collective::new(pattern, 0, Bytes(50_000)) };
    // 1 us of latency, 4 us for all bytes at 100 Gb/s
    assert_eq!(ends(&of(Pattern::Broadcast)), [25.0, 100.0, 20.0, 25.0]);
    assert_eq!(ends(&of(Pattern::Reduce)), [0.0, 100.0, 105.0, 7.0]);
    assert_eq!(ends(&of(Pattern::AllReduce)), [105.0, 100.0, 105.0, 105.0]);
    assert_eq!(ends(&of(Pattern::AllToAll)), [102.0, 100.0, 102.0, 102.0]);
    assert_eq!(ends(&of(Pattern::Barrier)), [101.0, 100.0, 101.0, 101.0]);
    // rank 0 sends to rank 3, and rank 3 to rank 1
    let mut sizes = vec![0; 16];
    (sizes[3], sizes[3 * 4 + 1]) = (12_500, 25_000);
    let pairs = Collective { sizes: Some(sizes.into()), ..of(Pattern::AllToAll) };
    assert_eq!(ends(&pairs), [0.0, 100.0, 20.0, 7.0]);
    let path = |starts: &[u64]| path_of(&with_starts(&pairs, starts, 3), NETWORK).saturating_sub(Time::ms(1000));
    assert_eq!((path(&[9, 0, 0, 9]), path(&[9, 90, 90, 10])), (Time::us(11), Time::us(11)));
}

#[test]
fn a_broadcast_whose_receivers_calculate_first_takes_no_longer_than_these() {
    // both calculate for 10 ms: the root behind the broadcast, the other before it
    let mut job = Builder::new(2).unwrap();
    let group = job.group(vec![0, 1]);
    let index = job.collective(Collective::new(Pattern::Broadcast, group, Bytes(1_000)));
    let calc = |job: &mut Builder, rank| job.task(rank, Task::calc(Time::ms(10))).unwrap();
    let root = job.task(0, Task::collective(index, 0, Bytes(1_000))).unwrap();
    let (behind, before) = (calc(&mut job, 0), calc(&mut job, 1));
    job.requires(0, behind, root).unwrap();
    let other = job.task(1, Task::collective(index, 1, Bytes(1_000))).unwrap();
    job.requires(1, other, before).unwrap();
    let found = bound(&job.finish(), NETWORK).unwrap();
    assert_eq!((found.time(), found.path_tasks), (Time::ms(10), 2));
}

#[test]
fn an_all_reduce_alone_is_bound_by_the_bytes_that_some_member_receives() {
    // 2 x 7/8 of 1 MB at 100 Gb/s
    let what = Collective::new(Pattern::AllReduce, 0, Bytes(1_000_000));
    let found = bound(&alone(&what, 8).unwrap(), NETWORK).unwrap();
    assert_eq!((found.time(), found.cause(), found.path_tasks), (Time::us(141), "path", 1));
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
