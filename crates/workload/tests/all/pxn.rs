//! Messages by way of the GPU on the receiver's rail.

use crate::support::graph;
use incast_cc::{Bytes, Rate, Time};
use incast_workload::collective::{Methods, alone, expand};
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::lint::{Options, lint};
use incast_workload::pxn::{Places, forward};
use incast_workload::{ANY, Builder, Collective, Graph, Kind, Pattern, Report, Task};

/// Ranks of servers of two GPUs.
const SERVERS: [u32; 6] = [0, 0, 1, 1, 2, 2];
const RAILS: [u32; 6] = [0, 1, 0, 1, 0, 1];
const PLACES: Places = Places { servers: &SERVERS, rails: &RAILS };

fn messages(graph: &Graph) -> Vec<(u32, u32, u64)> {
    let sends = graph.iter().flat_map(|(rank, tasks)| tasks.iter().map(move |(_, task)| (rank, task)));
    let sends = sends.filter(|(_, task)| task.kind == Kind::Send);
    sends.map(|(rank, task)| (rank, task.peer, task.size)).collect()
}

#[test]
fn a_message_to_another_rail_takes_two_hops_and_all_others_one() {
    let mut job = Builder::new(6).unwrap();
    let calc = job.task(0, Task::calc(Time::us(1))).unwrap();
    for to in [1, 2, 3] {
        let send = job.task(0, Task::send(Bytes(100 + u64::from(to)), to).tagged(7)).unwrap();
        job.requires(0, send, calc).unwrap();
        job.task(to, Task::recv(Bytes(100 + u64::from(to)), 0).tagged(7)).unwrap();
    }
    let forwarded = forward(&job.finish(), PLACES).unwrap();
    let graph = &forwarded.graph;
    // rank 1 is on the rail of rank 3, in the server of rank 0
    assert_eq!(messages(graph), [(0, 1, 101), (0, 2, 102), (0, 1, 103), (1, 3, 103)]);
    assert_eq!((graph.waits(0, 3), graph.task(3, 0).peer), (1, 1));
    let (receive, send) = (graph.task(1, 1), graph.task(1, 2));
    assert_eq!((receive.peer, send.peer, graph.waits(1, 2)), (0, 3, 1));
    assert_eq!((receive.tag, send.tag), (graph.task(0, 3).tag, graph.task(3, 0).tag));
    // tags differ by the distance between servers, of two rails each
    assert_eq!((forwarded.tags.as_slice(), receive.tag), (&[(8, 7)][..], 8 + 2));
}

/// First tag of each message, in the order of the tasks, by the rank that sends it.
fn first_tags(graph: &Graph, from: u32) -> Vec<u32> {
    let sends = graph.rank(from).unwrap().iter().filter(|(_, task)| task.kind == Kind::Send);
    sends.map(|(_, task)| task.tag).collect()
}

#[test]
fn ranks_that_share_a_gpu_get_their_own_messages_and_none_before_it_is_sent() {
    // two servers of two GPUs, two ranks a GPU; both messages go by rank 2
    let places = Places { servers: &[0, 0, 0, 0, 1, 1, 1, 1], rails: &[0, 0, 1, 1, 0, 0, 1, 1] };
    let job = graph(
        "num_ranks 8\nrank 0 {\nc: calc 1000000\ns: send 1000000b to 6 tag 1\nsend 1000b to 7 tag 1\n\
         s requires c\n}\nrank 1 {\nsend 1000b to 6 tag 1\n}\nrank 2 {\n}\nrank 3 {\n}\nrank 4 {\n}\nrank 5 {\n}\n\
         rank 6 {\nrecv 1000000b from 0 tag 1\nrecv 1000b from 1 tag 1\n}\nrank 7 {\nrecv 1000b from 0 tag 1\n}\n",
    );
    let forwarded = forward(&job, places).unwrap();
    let made = &forwarded.graph;
    assert_eq!((first_tags(made, 0), first_tags(made, 1)), (vec![2 + 8, 2 + 9], vec![2 + 10]));
    assert_eq!(forwarded.tags, [(2, 1)]);
    // rank 6 waits for the calculation, rank 7 does not
    let network = Network { latency: Time::us(1), rate: Rate::gbps(100) };
    let rules = Rules { network, send_done: SendDone::Written, streams: true, path: true };
    let found = run(made, rules);
    assert!(found.outcome.is_whole());
    assert_eq!(found.outcome.end, Time::ms(1) + Time::us(2) + Rate::gbps(100).serialize(2_000_000));
    assert_eq!(found.path, [(0, 0), (0, 1), (2, 0), (2, 1), (6, 0)]);
}

#[test]
fn tags_of_ranks_on_one_gpu_are_counted_before_they_are_given() {
    let places = Places { servers: &[0, 0, 1, 1], rails: &[0, 1, 0, 1] };
    let mut job = Builder::new(4).unwrap();
    job.task(0, Task::send(Bytes(5), 3).tagged(ANY - 6)).unwrap();
    job.task(3, Task::recv(Bytes(5), 0).tagged(ANY - 6)).unwrap();
    let job = job.finish();
    assert_eq!(forward(&job, places).unwrap().tags, [(ANY - 5, ANY - 6)]);
    // two ranks of GPU 0 need four times as many
    let shared = Places { servers: &[0, 0, 1, 1], rails: &[0, 0, 1, 1] };
    assert_eq!(forward(&job, shared).unwrap().tags, []);
    let mut job = Builder::new(6).unwrap();
    job.task(0, Task::send(Bytes(5), 4).tagged(ANY - 6)).unwrap();
    job.task(4, Task::recv(Bytes(5), 0).tagged(ANY - 6)).unwrap();
    let shared = Places { servers: &[0, 0, 0, 1, 1, 1], rails: &[0, 0, 1, 0, 1, 1] };
    let error = forward(&job.finish(), shared).unwrap_err().to_string();
    assert!(error.starts_with("16 more tags after tag"), "{error}");
}

#[test]
fn an_all_to_all_stays_on_rails_and_ends() {
    let what = Collective::new(Pattern::AllToAll, 0, Bytes(6000));
    let graph = alone(&what, 6).and_then(|graph| expand(&graph, &Methods::default())).unwrap();
    let graph = forward(&graph, PLACES).unwrap().graph;
    let rail = |rank: u32| RAILS[rank as usize];
    let inside = |a: u32, b: u32| SERVERS[a as usize] == SERVERS[b as usize];
    let all = messages(&graph);
    assert!(all.iter().all(|(from, to, _)| inside(*from, *to) || rail(*from) == rail(*to)));
    // four of each rank's five messages leave its server, and two of these its rail
    let network: u64 = all.iter().filter(|(from, to, _)| !inside(*from, *to)).map(|(.., bytes)| bytes).sum();
    let links: u64 = all.iter().filter(|(from, to, _)| inside(*from, *to)).map(|(.., bytes)| bytes).sum();
    assert_eq!((network, links), (6 * 4 * 1000, 6 * (1 + 2) * 1000));
    let mut report = Report::default();
    lint(&graph, &Options::default(), &mut report);
    assert_eq!(report.first_error().map(ToString::to_string), None);
}

#[test]
fn a_message_without_a_gpu_on_its_rail_goes_alone() {
    let places = Places { servers: &[0, 1], rails: &[0, 1] };
    let mut job = Builder::new(2).unwrap();
    job.task(0, Task::send(Bytes(5), 1)).unwrap();
    job.task(1, Task::recv(Bytes(5), 0)).unwrap();
    assert_eq!(messages(&forward(&job.finish(), places).unwrap().graph), [(0, 1, 5)]);
}

#[test]
fn receives_from_any_are_refused() {
    let mut job = Builder::new(6).unwrap();
    job.task(0, Task::send(Bytes(5), 3)).unwrap();
    job.task(3, Task::recv(Bytes(5), ANY)).unwrap();
    let error = forward(&job.finish(), PLACES).unwrap_err().to_string();
    assert!(error.contains("task 0 of rank 3 receives from any rank"), "{error}");
    let mut job = Builder::new(6).unwrap();
    job.task(0, Task::collective(0, 0, Bytes(1))).unwrap();
    assert!(forward(&job.finish(), PLACES).unwrap_err().to_string().contains("is a collective"));
}
