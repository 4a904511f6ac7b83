//! Jobs: tasks in the order of their graph, messages over connections that stay open, times computed by hand.

use crate::rdma::rdma;
use crate::support::*;
use incast_cc::Bytes;
use incast_engine::map::failover::reroute;
use incast_engine::testing::Simulation;
use incast_record::{RankRecord, TaskRecord};
use incast_workload::collective::{Expansion, Methods};
use incast_workload::{ANY, Builder, Graph, Task};
use std::sync::Arc;

/// Time of a packet of 1048 bytes and of an ACK of 60 on a link of 10 Gb/s, and the delay of a link, in ps.
const PACKET: u64 = 838_400;
const ACK: u64 = 48_000;
const DELAY: u64 = 1_000_000;

/// A job on hosts of a star of 10 Gb/s, rank by rank, over RDMA without a window.
pub fn on_star(hosts: u32, graph: Graph, placement: &[u32]) -> Spec {
    let mut spec = star(hosts, Rate::gbps(10), Time::us(1));
    spec.transports = vec![rdma(|own| own.window = Window::None)];
    spec.queues = vec![endless_queue()];
    spec.controllers = vec![controller("dcqcn", &[])];
    run_for(&mut spec, Time::ms(20));
    spec.ends_when_finished = true;
    spec.observe.tasks = Some(TaskRanks::All);
    add(&mut spec, graph, placement);
    spec
}

/// Adds a job to `spec`.
pub fn add(spec: &mut Spec, graph: Graph, placement: &[u32]) {
    add_by(spec, graph, &Methods::default(), placement, None);
}

/// Adds a job with these methods of its collectives, and links inside its servers, to `spec`.
pub fn add_by(spec: &mut Spec, graph: Graph, methods: &Methods, placement: &[u32], scale_up: Option<ScaleUp>) {
    let tasks = Expansion::new(Arc::new(graph), methods).unwrap();
    spec.jobs.push(JobSpec {
        group: 0,
        tasks: Arc::new(tasks),
        hosts: placement.to_vec(),
        planes: None,
        start: Time::ZERO,
        iterations: 1,
        warmup: 0,
        send_done: SendDone::Acked,
        scale_up,
        slow: Vec::new(),
        collective: None,
        bound: None,
        bounds: Vec::new(),
        kinds: Vec::new(),
        opens: Opens::Kept(1),
        connections: Vec::new(),
    });
    connect(spec);
}

/// Gives the last job its connections.
pub fn connect(spec: &mut Spec) {
    let job = spec.jobs.last_mut().unwrap();
    job.connections.clear();
    for Channels { from, to, kind, count, .. } in job.channels() {
        for i in 0..count as u32 {
            let [src, dst] = [from, to].map(|rank| job.host(rank, i % job.count_planes()).unwrap());
            job.connections.push(JobConnection { from, to, kind, flow: spec.flows.len() as u32 });
            spec.flows.push(FlowSpec { app: App::Messages(Messages), ..bulk(src, dst, None) });
        }
    }
}

fn graph(ranks: u64, build: impl FnOnce(&mut Builder)) -> Graph {
    let mut builder = Builder::new(ranks).unwrap();
    build(&mut builder);
    builder.finish()
}

/// Adds tasks of a rank, each after the one before.
fn chain(job: &mut Builder, rank: u32, tasks: &[Task]) {
    let mut before = None;
    for task in tasks {
        let task = job.task(rank, *task).unwrap();
        if let Some(before) = before {
            job.requires(rank, task, before).unwrap();
        }
        before = Some(task);
    }
}

/// All-reduce on a ring: in each step every rank sends a part to the next one.
pub fn ring(n: u32, part: u64) -> Graph {
    graph(n as u64, |job| {
        for rank in 0..n {
            let (next, before) = ((rank + 1) % n, (rank + n - 1) % n);
            let mut received = None;
            for step in 0..2 * (n - 1) {
                let send = job.task(rank, Task::send(Bytes(part), next).tagged(step)).unwrap();
                if let Some(received) = received {
                    job.requires(rank, send, received).unwrap();
                }
                received = Some(job.task(rank, Task::recv(Bytes(part), before).tagged(step)).unwrap());
            }
        }
    })
}

fn rank(o: &Outcome, rank: u32) -> &RankRecord {
    o.ranks.iter().find(|record| record.rank == rank).unwrap()
}

/// Time of a message of `packets` packets over the star: to its last byte, and to the last acknowledgement.
fn message(packets: u64) -> [u64; 2] {
    let arrives = (packets + 1) * PACKET + 2 * DELAY;
    [arrives, arrives + 2 * (ACK + DELAY)]
}

#[test]
fn a_message_ends_at_its_receiver_with_the_last_byte_and_at_its_sender_with_the_last_acknowledgement() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::calc(Time::us(5)), Task::send(Bytes(20_000), 1), Task::calc(Time::us(2))]);
        chain(job, 1, &[Task::recv(Bytes(20_000), 0), Task::calc(Time::us(4))]);
    });
    let o = compared(&on_star(3, job, &[2, 0]));
    let (calc, [arrives, acked]) = (5_000_000, message(20));
    let (first, second) = (rank(&o, 0), rank(&o, 1));
    assert_eq!(first.finish_ps, Some(calc + acked + 2_000_000));
    assert_eq!((first.compute_ps, first.exposed_ps, first.idle_ps), (7_000_000, acked, 0));
    assert_eq!(second.finish_ps, Some(calc + arrives + 4_000_000));
    // a message is under way from the earliest arrival of a packet on: of 20 bytes, the smallest
    let links = o.transfers[0].start_ps + 2 * (DELAY + 16_000);
    assert_eq!((second.compute_ps, second.exposed_ps), (4_000_000, calc + arrives - links));
    assert_eq!((o.transfers[0].start_ps, o.transfers[0].finish_ps), (calc, calc + arrives));
    assert_eq!((o.flows.len(), o.flows[0].delivered), (1, 20_000));
}

#[test]
fn a_run_lasts_until_the_last_calculation_ends() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::calc(Time::us(3))]);
        chain(job, 1, &[Task::send(Bytes(1_000), 0), Task::calc(Time::us(70))]);
        job.task(0, Task::recv(Bytes(1_000), 1)).unwrap();
        job.task(0, Task::recv(Bytes(1_000), 1).tagged(1)).unwrap();
    });
    let mut spec = on_star(2, job, &[0, 1]);
    spec.ends_when_finished = false;
    let o = compared(&spec);
    assert_eq!((o.end_ps, rank(&o, 0).finish_ps), (rank(&o, 1).finish_ps.unwrap(), None));
}

#[test]
fn an_empty_message_takes_a_packet() {
    let times = |bytes: u64| {
        let job = graph(2, |job| {
            chain(job, 0, &[Task::send(Bytes(bytes), 1), Task::send(Bytes(bytes), 1).tagged(1)]);
            chain(job, 1, &[Task::recv(Bytes(bytes), 0), Task::recv(Bytes(bytes), 0).tagged(1)]);
        });
        let o = compared(&on_star(2, job, &[0, 1]));
        assert!(o.transfers.len() == 2 && o.transfers.iter().all(|own| own.bytes == bytes), "{:?}", o.transfers);
        [rank(&o, 0).finish_ps.unwrap(), rank(&o, 1).finish_ps.unwrap()]
    };
    assert_eq!(times(0), times(1));
    assert!(times(0)[1] > 4 * DELAY);
}

#[test]
fn a_send_may_end_when_it_is_written() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::send(Bytes(20_000), 1), Task::calc(Time::us(2)), Task::send(Bytes(5_000), 1).tagged(1)]);
        chain(job, 1, &[Task::recv(Bytes(20_000), 0), Task::recv(Bytes(5_000), 0).tagged(1)]);
    });
    let mut spec = on_star(2, job, &[0, 1]);
    spec.jobs[0].send_done = SendDone::Written;
    let o = compared(&spec);
    let (first, second) = (rank(&o, 0), rank(&o, 1));
    assert_eq!((first.finish_ps, first.compute_ps, first.exposed_ps), (Some(2_000_000), 2_000_000, 0));
    // the second message follows the first without a gap
    assert_eq!(second.finish_ps, Some(message(25)[0]));
}

#[test]
fn tasks_are_recorded_with_the_times_at_which_they_are_ready_start_and_end() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::calc(Time::us(5)), Task::send(Bytes(20_000), 1).tagged(9)]);
        job.task(0, Task::calc(Time::us(3))).unwrap();
        chain(job, 1, &[Task::calc(Time::us(50)), Task::recv(Bytes(20_000), ANY).tagged(9)]);
    });
    let o = compared(&on_star(3, job, &[2, 0]));
    let (calc, [arrives, acked]) = (5_000_000, message(20));
    let [first, send, second, late, recv] = o.tasks[..] else { panic!("{:?}", o.tasks) };
    let times = |task: TaskRecord| (task.ready_ps, task.start_ps.unwrap(), task.finish_ps.unwrap());
    assert_eq!([first, send, second, late, recv].map(|task| task.kind as u32), [0, 1, 0, 0, 2]);
    assert_eq!([first, late].map(times), [(0, 0, calc), (0, 0, 50_000_000)]);
    // calculations of one stream exclude each other
    assert_eq!(times(second), (0, calc, calc + 3_000_000));
    assert_eq!(times(send), (calc, calc, calc + acked));
    assert_eq!((send.message_start_ps, send.message_finish_ps), (Some(calc), Some(calc + acked)));
    // the message has arrived before it is received
    assert!(calc + arrives < 50_000_000);
    assert_eq!(times(recv), (50_000_000, 50_000_000, 50_000_000));
    assert_eq!((recv.message_start_ps, recv.message_finish_ps), (Some(calc + 2_032_000), Some(calc + arrives)));
    assert_eq!((recv.peer, recv.peer_task, recv.tag, recv.bytes), (Some(0), Some(1), Some(9), 20_000));
}

#[test]
fn tasks_of_chosen_ranks_alone_are_recorded_and_change_nothing() {
    let mut spec = on_star(4, ring(4, 30_000), &[0, 1, 2, 3]);
    spec.jobs[0].iterations = 2;
    let all = compared(&spec);
    assert_eq!((all.tasks.len(), all.ranks.len()), (4 * 2 * 12, 8));
    spec.observe.tasks = Some(TaskRanks::Of(vec![(1, 1), (3, 9)]));
    let some = run(&spec);
    let of = |task: &&TaskRecord| [1, 3].contains(&task.rank);
    assert_eq!(some.tasks, all.tasks.iter().filter(of).copied().collect::<Vec<_>>());
    spec.observe.tasks = None;
    let none = run(&spec);
    assert_eq!(none.tasks, []);
    assert_eq!((none.ranks, none.transfers, none.hops), (all.ranks, all.transfers, all.hops));
}

#[test]
fn what_has_not_ended_is_recorded_without_its_end() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::calc(Time::us(5)), Task::recv(Bytes(5_000), 1), Task::calc(Time::us(1))]);
        chain(job, 1, &[Task::calc(Time::ms(90)), Task::send(Bytes(5_000), 0)]);
    });
    let o = compared(&on_star(2, job, &[0, 1]));
    let left: Vec<_> = o.tasks.iter().map(|t| (t.rank, t.task, t.start_ps, t.finish_ps)).collect();
    let (calc, us) = (Some(5_000_000), Some(0));
    assert_eq!(left, [(0, 0, us, calc), (0, 1, calc, None), (1, 0, us, None)]);
    assert_eq!((o.tasks[1].peer, o.tasks[1].message_start_ps), (Some(1), None));
}

/// The job of `on_star`, with servers of two ranks.
fn with_servers(mut spec: Spec) -> Spec {
    let servers = (0..spec.jobs[0].hosts.len() as u32).map(|rank| rank / 2).collect();
    spec.jobs[0].scale_up = Some(ScaleUp { servers, rate: Rate::gbps(100), delay: Time::ns(500) });
    spec.flows.clear();
    connect(&mut spec);
    spec
}

#[test]
fn messages_inside_a_server_wait_for_its_links() {
    let job = graph(4, |job| {
        job.task(0, Task::send(Bytes(50_000), 1)).unwrap();
        job.task(0, Task::send(Bytes(25_000), 1).tagged(1)).unwrap();
        job.task(1, Task::recv(Bytes(50_000), 0)).unwrap();
        let second = job.task(1, Task::recv(Bytes(25_000), 0).tagged(1)).unwrap();
        let on = job.task(1, Task::send(Bytes(10_000), 2)).unwrap();
        job.requires(1, on, second).unwrap();
        job.task(2, Task::recv(Bytes(10_000), 1)).unwrap();
    });
    let o = compared(&with_servers(on_star(4, job, &[0, 2, 1, 3])));
    let (first, second) = (4_000_000, 2_000_000);
    assert_eq!(rank(&o, 0).finish_ps, Some(first + second));
    let [arrives, acked] = message(10);
    assert_eq!(rank(&o, 1).finish_ps, Some(first + second + 500_000 + acked));
    assert_eq!(rank(&o, 2).finish_ps, Some(first + second + 500_000 + arrives));
    let flows: Vec<Option<u32>> = o.transfers.iter().map(|own| own.flow).collect();
    assert_eq!((flows, o.flows.len()), (vec![None, None, Some(0)], 1));
}

#[test]
fn a_ring_over_servers_is_the_same_under_any_partition() {
    let o = compared(&with_servers(on_star(6, ring(6, 30_000), &[3, 1, 4, 0, 2, 5])));
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
    assert_eq!(o.flows.len(), 3);
    let mut spec = fat_tree(4, Rate::gbps(10), Time::us(1));
    run_for(&mut spec, Time::ms(50));
    spec.ends_when_finished = true;
    add(&mut spec, ring(8, 20_000), &[0, 5, 10, 15, 2, 7, 8, 13]);
    let o = compared(&with_servers(spec));
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
}

#[test]
fn ranks_of_a_host_share_its_link_and_exchange_messages_inside() {
    // two messages leave host 0 together; those between ranks 0 and 1 take no packet
    let job = graph(4, |job| {
        job.task(0, Task::send(Bytes(20_000), 2)).unwrap();
        job.task(1, Task::send(Bytes(20_000), 3)).unwrap();
        job.task(0, Task::send(Bytes(50_000), 1)).unwrap();
        job.task(1, Task::recv(Bytes(50_000), 0)).unwrap();
        job.task(2, Task::recv(Bytes(20_000), 0)).unwrap();
        job.task(3, Task::recv(Bytes(20_000), 1)).unwrap();
    });
    let o = compared(&with_servers(on_star(2, job, &[0, 0, 1, 1])));
    let last = rank(&o, 2).finish_ps.max(rank(&o, 3).finish_ps);
    assert_eq!(last, Some(message(40)[0]));
    assert_eq!((o.flows.len(), o.transfers.iter().filter(|own| own.flow.is_none()).count()), (2, 1));
    let o = compared(&with_servers(on_star(3, ring(6, 30_000), &[2, 2, 0, 0, 1, 1])));
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
}

/// A ring of four ranks whose host 1 loses its link at 30 us, until `until`.
fn without_a_nic(until: Time) -> Spec {
    let mut spec = on_star(4, ring(4, 30_000), &[0, 1, 2, 3]);
    spec.transports = vec![plain()];
    run_for(&mut spec, Time::ms(900));
    let links = (0u32..).zip(&spec.links).filter(|(_, link)| link.from == 1 || link.to == 1);
    let links: Vec<u32> = links.map(|(i, _)| i).collect();
    let (from, effect) = (Time::us(30), Effect::Down { detection: Time::us(5) });
    spec.failures = links.iter().map(|link| Failure { link: *link, from, until, effect: effect.clone() }).collect();
    reroute(&mut spec);
    spec
}

#[test]
fn a_job_waits_for_the_repair_of_a_nic() {
    let end = |o: &Outcome| o.ranks.iter().filter_map(|own| own.finish_ps).max();
    let repaired = compared(&without_a_nic(Time::ms(2)));
    assert!(repaired.ranks.iter().all(|own| own.left == 0), "{:?}", repaired.ranks);
    assert!(end(&repaired) > Some(2_000_000_000));
    let never = compared(&without_a_nic(Time::NEVER));
    assert!(never.ranks.iter().all(|own| own.left > 0), "{:?}", never.ranks);
    // the neighbour of the host that is cut off waits for its message
    let waits = rank(&never, 2).waits_for.as_deref().unwrap();
    assert!(waits.contains("a message of rank 1 with tag"), "{waits}");
}

#[test]
fn a_ring_takes_a_message_a_step() {
    let (n, packets) = (5, 30);
    let job = ring(n, packets * 1000);
    let o = compared(&on_star(n, job, &[3, 1, 4, 0, 2]));
    // hosts acknowledge each packet, over the links on which they send
    let steps = 2 * (n as u64 - 1);
    let least = steps * message(packets)[0];
    for own in &o.ranks {
        let last = own.finish_ps.unwrap();
        let most = least + steps * (packets + 2) * ACK + 2 * (ACK + DELAY);
        assert!((least..most).contains(&last), "{last}: {least} to {most}");
        assert_eq!((own.compute_ps, own.left), (0, 0));
    }
    assert_eq!(o.transfers.len() as u32, n * 2 * (n - 1));
    assert_eq!(o.flows.len() as u32, n);
}

#[test]
fn calculations_of_a_stream_exclude_each_other_and_those_of_two_do_not() {
    let two = |stream| {
        let job = graph(1, |job| {
            job.task(0, Task::calc(Time::us(3))).unwrap();
            job.task(0, Task::calc(Time::us(2)).on_stream(stream)).unwrap();
        });
        let mut spec = on_star(2, job, &[0]);
        spec.jobs[0].slow = vec![(0, 1.5)];
        compared(&spec)
    };
    assert_eq!([two(0), two(1)].map(|o| o.ranks[0].finish_ps.unwrap()), [7_500_000, 4_500_000]);
}

#[test]
fn a_receive_takes_the_earliest_message_of_its_source_and_tag() {
    // the message with tag 2 is written first; each receive is followed by a calculation of its own length
    let job = graph(3, |job| {
        chain(job, 0, &[Task::send(Bytes(5_000), 2).tagged(2), Task::send(Bytes(5_000), 2).tagged(1)]);
        chain(job, 1, &[Task::calc(Time::us(100)), Task::send(Bytes(1_000), 2).tagged(7)]);
        chain(job, 2, &[Task::recv(Bytes(5_000), 0).tagged(1), Task::calc(Time::us(1))]);
        chain(job, 2, &[Task::recv(Bytes(5_000), ANY).tagged(2), Task::calc(Time::us(10)).on_stream(1)]);
        chain(job, 2, &[Task::recv(Bytes(1_000), ANY).tagged(ANY), Task::calc(Time::us(30)).on_stream(2)]);
    });
    let o = compared(&on_star(3, job, &[0, 1, 2]));
    assert_eq!(rank(&o, 2).finish_ps, Some(100_000_000 + message(1)[0] + 30_000_000));
    let tags: Vec<u32> = o.transfers.iter().map(|t| t.tag).collect();
    assert_eq!(tags, [2, 1, 7]);
}

#[test]
fn a_task_may_wait_for_a_start() {
    let job = graph(1, |job| {
        let first = job.task(0, Task::calc(Time::us(3))).unwrap();
        let other = job.task(0, Task::calc(Time::us(4)).on_stream(1)).unwrap();
        let last = job.task(0, Task::calc(Time::us(1)).on_stream(2)).unwrap();
        job.irequires(0, other, first).unwrap();
        job.requires(0, last, first).unwrap();
    });
    let o = compared(&on_star(2, job, &[1]));
    assert_eq!(o.ranks[0].finish_ps, Some(4_000_000));
}

#[test]
fn iterations_follow_each_other_rank_by_rank() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::calc(Time::us(5)), Task::send(Bytes(3_000), 1)]);
        chain(job, 1, &[Task::recv(Bytes(3_000), 0)]);
    });
    let mut spec = on_star(2, job, &[0, 1]);
    spec.jobs[0].iterations = 3;
    let o = compared(&spec);
    let [arrives, acked] = message(3);
    for (i, own) in (0..).zip(o.ranks.chunks(2)) {
        let start = i * (5_000_000 + acked);
        assert_eq!((own[0].iteration as u64, own[0].start_ps), (i, start));
        assert_eq!(own[1].finish_ps, Some(start + 5_000_000 + arrives));
    }
    assert_eq!(o.ranks.len(), 6);
}

#[test]
fn a_rank_that_cannot_end_says_what_it_waits_for() {
    let job = graph(2, |job| {
        chain(job, 0, &[Task::send(Bytes(1_000), 1).tagged(3)]);
        chain(job, 1, &[Task::recv(Bytes(1_000), 0).tagged(4), Task::calc(Time::us(1))]);
    });
    let o = compared(&on_star(2, job, &[0, 1]));
    assert_eq!((rank(&o, 0).left, rank(&o, 1).left, rank(&o, 1).finish_ps), (0, 2, None));
    assert_eq!(rank(&o, 1).waits_for.as_deref(), Some("task 0: a message of rank 0 with tag 4"));
}

#[test]
fn jobs_share_a_network_with_flows_under_any_transport_and_partition() {
    for transport in [htsim(), rdma(|own| own.window = Window::None), plain()] {
        let mut spec = on_star(6, ring(4, 40_000), &[0, 2, 4, 5]);
        add(&mut spec, ring(3, 25_000), &[1, 2, 3]);
        spec.flows.push(bulk(0, 3, Some(400_000)));
        spec.transports = vec![transport];
        spec.queues = vec![drop_tail(60)];
        spec.jobs[1].start = Time::us(40);
        spec.jobs[1].iterations = 2;
        spec.jobs[0].slow = vec![(1, 2.0)];
        run_for(&mut spec, Time::ms(500));
        let o = compared(&spec);
        assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
        assert_eq!(o.ranks.len(), 4 + 6);
    }
}

#[test]
fn a_fabric_repairs_the_messages_of_a_ring() {
    let mut spec = fat_tree(4, Rate::gbps(10), Time::us(1));
    spec.queues = vec![drop_tail(8)];
    run_for(&mut spec, Time::ms(100));
    spec.ends_when_finished = true;
    add(&mut spec, ring(8, 60_000), &[0, 5, 10, 15, 2, 7, 8, 13]);
    spec.flows.extend((1..6).map(|src| bulk(src, 10, Some(300_000))));
    let o = compared(&spec);
    assert!(o.packets_dropped > 0);
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
}

/// Job of two ranks: messages of these sizes and tags, sent at once.
fn at_once(messages: &[(u64, u32)]) -> Graph {
    graph(2, |job| {
        for (size, tag) in messages {
            job.task(0, Task::send(Bytes(*size), 1).tagged(*tag)).unwrap();
            job.task(1, Task::recv(Bytes(*size), 0).tagged(*tag)).unwrap();
        }
    })
}

#[test]
fn messages_take_the_connections_of_a_pair_in_turn() {
    let mut spec = on_star(2, at_once(&[(3_000, 0), (5_000, 1), (7_000, 2), (11_000, 3), (13_000, 4)]), &[1, 0]);
    spec.flows.clear();
    (spec.jobs[0].opens, spec.jobs[0].iterations) = (Opens::Kept(3), 2);
    connect(&mut spec);
    let o = compared(&spec);
    // the second iteration goes on where the first ended
    let delivered: Vec<u64> = o.flows.iter().map(|flow| flow.delivered).collect();
    assert_eq!(delivered, [3_000 + 11_000 + 5_000 + 13_000, 5_000 + 13_000 + 7_000, 7_000 + 3_000 + 11_000]);
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
    let of = |size| o.transfers.iter().filter(|own| own.bytes == size).map(|own| own.flow.unwrap()).collect::<Vec<_>>();
    assert_eq!([3_000, 5_000, 13_000].map(of), [[0, 2], [1, 0], [1, 0]]);
}

#[test]
fn a_short_message_waits_for_a_longer_one_of_its_tag_that_was_sent_before() {
    let sizes = |second, third| {
        let mut spec = on_star(2, at_once(&[(80_000, 0), (2_000, second), (1_000, third)]), &[0, 1]);
        spec.flows.clear();
        spec.jobs[0].opens = Opens::Kept(2);
        connect(&mut spec);
        let o = compared(&spec);
        assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
        let sizes: Vec<u64> = o.transfers.iter().map(|own| own.bytes).collect();
        (sizes, o.transfers.iter().map(|own| own.finish_ps).collect::<Vec<_>>())
    };
    // the third has the connection of the first
    let (order, at) = sizes(1, 0);
    assert_eq!(order, [2_000, 80_000, 1_000]);
    assert!(at[0] < at[1] && at[1] < at[2]);
    let (order, at) = sizes(0, 0);
    assert_eq!(order, [80_000, 2_000, 1_000]);
    assert_eq!(at[0], at[1]);
}

#[test]
fn kinds_of_messages_have_connections_of_their_own() {
    let messages = [(3_000, 0), (5_000, 10), (7_000, 0), (11_000, 20), (13_000, 11), (17_000, 21)];
    let mut spec = on_star(2, at_once(&messages), &[0, 1]);
    spec.flows.clear();
    spec.jobs[0].kinds = vec![(10, 2), (20, 1)];
    spec.jobs[0].opens = Opens::Kept(2);
    connect(&mut spec);
    let kinds: Vec<u8> = spec.jobs[0].connections.iter().map(|own| own.kind).collect();
    assert_eq!(kinds, [0, 0, 1, 1, 2, 2]);
    let o = compared(&spec);
    let delivered: Vec<u64> = o.flows.iter().map(|flow| flow.delivered).collect();
    assert_eq!(delivered, [3_000, 7_000, 11_000, 17_000, 5_000, 13_000]);
}

#[test]
fn each_message_may_have_a_connection_of_its_own() {
    let mut spec = on_star(4, ring(4, 30_000), &[2, 0, 3, 1]);
    spec.flows.clear();
    (spec.jobs[0].opens, spec.jobs[0].iterations) = (Opens::Each, 2);
    connect(&mut spec);
    assert_eq!(spec.flows.len(), 4 * 6 * 2);
    let o = compared(&spec);
    assert!(o.flows.iter().all(|flow| flow.delivered == 30_000));
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
}

#[test]
fn jobs_that_do_not_fit_are_refused() {
    let pair = || {
        graph(2, |job| {
            chain(job, 0, &[Task::send(Bytes(1_000), 1)]);
            chain(job, 1, &[Task::recv(Bytes(1_000), 0)]);
        })
    };
    let refused = |change: fn(&mut Spec), part: &str| {
        let mut spec = on_star(3, pair(), &[0, 1]);
        change(&mut spec);
        let error = Simulation::new(&spec).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(part), "{error:?}: expected {part:?}");
    };
    refused(|s| s.jobs[0].hosts[1] = 0, "ranks 0 and 1 share host 0");
    let own = || ScaleUp { servers: vec![0], rate: Rate::gbps(1), delay: Time::ZERO };
    let mut spec = on_star(3, pair(), &[0, 1]);
    spec.jobs[0].scale_up = Some(own());
    let error = Simulation::new(&spec).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("servers of 1 ranks"), "{error:?}");
    refused(|s| s.jobs[0].hosts[1] = 3, "expected less than 3");
    refused(|s| s.jobs[0].hosts = vec![0], "2 ranks on 1 hosts");
    refused(|s| s.jobs[0].iterations = 0, "0 iterations");
    refused(|s| s.jobs[0].slow = vec![(2, 1.0)], "one of 2 ranks");
    refused(|s| s.jobs[0].slow = vec![(1, 2.0), (0, 1.0), (1, 3.0)], "rank 1 is slower twice");
    let wild = |s: &mut Spec| {
        let wild = graph(2, |job| {
            chain(job, 0, &[Task::send(Bytes(1_000), 1)]);
            chain(job, 1, &[Task::recv(Bytes(1_000), ANY)]);
        });
        s.jobs[0].tasks = Arc::new(Expansion::new(Arc::new(wild), &Methods::default()).unwrap());
        s.jobs[0].iterations = 2;
    };
    refused(wild, "expected 1 iteration");
    refused(|s| s.jobs[0].connections.clear(), "belongs to no query and no job");
    refused(|s| s.jobs[0].connections[0].from = 1, "1 connections; expected 1, of each pair");
    refused(|s| s.jobs[0].opens = Opens::Kept(0), "0 connections of a pair");
    refused(|s| s.jobs[0].kinds = vec![(0, 1)], "1 connections; expected 1, of each pair");
    refused(|s| s.jobs[0].kinds = vec![(4, 1), (4, 2)], "expected ascending tags");
    refused(|s| s.jobs[0].connections = vec![s.jobs[0].connections[0]; 2], "2 connections; expected 1");
    refused(|s| s.flows[0].dst = 2, "no connection of ranks 0 and 1");
    refused(|s| s.flows[0].app = App::Bulk(Bulk { size: None, write: 1 }), "no connection of ranks 0 and 1");
    refused(|s| s.jobs.push(s.jobs[0].clone()), "part of two connections of jobs");
    let own = |task: Task| graph(2, |job| chain(job, 0, &[task]));
    for (task, part) in
        [(Task::send(Bytes(1), 0), "expected another rank"), (Task::send(Bytes(1), 2), "expected another rank")]
    {
        let mut spec = on_star(3, pair(), &[0, 1]);
        spec.jobs[0].tasks = Arc::new(Expansion::new(Arc::new(own(task)), &Methods::default()).unwrap());
        let error = Simulation::new(&spec).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(part), "{error:?}: expected {part:?}");
    }
}

/// A job in two planes, each a star of `n` hosts at 10 Gb/s: rank i has hosts i and n + i.
fn in_planes(n: u32, graph: Graph, rule: PlaneRule) -> Spec {
    let mut spec = star(2 * n, Rate::gbps(10), Time::us(1));
    let (hosts, switches) = (2 * n, [2 * n, 2 * n + 1]);
    for link in &mut spec.links {
        for node in [&mut link.from, &mut link.to] {
            *node = if *node == hosts { u32::MAX } else { *node };
        }
        let plane = if link.from == u32::MAX { link.to / n } else { link.from / n };
        for node in [&mut link.from, &mut link.to] {
            *node = if *node == u32::MAX { switches[plane as usize] } else { *node };
        }
    }
    let tree = |plane| Router::Tree { first: plane * n, span: n, stride: 1, down: 0, up: 0, ups: 0 };
    spec.routers = vec![tree(0), tree(1)];
    spec.node_names.push("t".to_owned());
    spec.domain_of = (0..hosts).map(|host| host % n).chain([n, n + 1]).collect();
    spec.transports = vec![rdma(|own| own.window = Window::None)];
    spec.queues = vec![endless_queue()];
    spec.controllers = vec![controller("dcqcn", &[])];
    run_for(&mut spec, Time::ms(20));
    spec.ends_when_finished = true;
    let own: Vec<u32> = (0..n).collect();
    add(&mut spec, graph, &own);
    spec.flows.clear();
    spec.jobs[0].planes = Some(Planes { hosts: vec![(n..2 * n).collect()], rule });
    connect(&mut spec);
    spec
}

fn one_way(messages: u32, bytes: u64) -> Graph {
    graph(2, |job| {
        for tag in 0..messages {
            job.task(0, Task::send(Bytes(bytes), 1).tagged(tag)).unwrap();
            job.task(1, Task::recv(Bytes(bytes), 0).tagged(tag)).unwrap();
        }
    })
}

#[test]
fn messages_take_planes_in_turn_or_all_planes() {
    let two = |rule, packets: u64| {
        let o = compared(&in_planes(2, one_way(2, packets * 1000), rule));
        assert_eq!(o.flows.iter().map(|own| own.delivered).collect::<Vec<_>>(), [packets * 1000; 2]);
        let mut ends: Vec<u64> = o.transfers.iter().map(|own| own.finish_ps).collect();
        ends.sort_unstable();
        ends
    };
    // one each, at the same time
    assert_eq!(two(PlaneRule::ByMessage, 20), [message(20)[0]; 2]);
    // halves of the first, then halves of the second
    assert_eq!(two(PlaneRule::Split, 20), [message(10)[0], message(20)[0]]);
    // a byte has no second part
    let o = compared(&in_planes(2, one_way(1, 1), PlaneRule::Split));
    assert_eq!(o.flows.iter().map(|own| own.delivered).collect::<Vec<_>>(), [1, 0]);
    let mut several = in_planes(4, ring(4, 30_000), PlaneRule::ByMessage);
    several.jobs[0].opens = Opens::Kept(3);
    several.flows.clear();
    connect(&mut several);
    let o = compared(&several);
    assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
}

/// Lets both directions of the link of host `host` fail.
fn cut_host(spec: &mut Spec, host: u32, (from, until): (Time, Time)) {
    let effect = Effect::Down { detection: Time::us(5) };
    let links = (0u32..).zip(&spec.links).filter(|(_, link)| link.from == host || link.to == host);
    spec.failures.extend(links.map(|(link, _)| Failure { link, from, until, effect: effect.clone() }));
}

#[test]
fn a_plane_that_fails_leaves_the_other() {
    for (rule, until) in [
        (PlaneRule::ByMessage, Time::NEVER),
        (PlaneRule::Split, Time::NEVER),
        (PlaneRule::ByMessage, Time::us(150)),
        (PlaneRule::Split, Time::us(150)),
    ] {
        let mut spec = in_planes(4, ring(4, 60_000), rule);
        spec.transports = vec![plain()];
        run_for(&mut spec, Time::ms(900));
        let whole = compared(&spec);
        // the second plane of rank 1, in the middle of a step
        cut_host(&mut spec, 5, (Time::us(70), until));
        reroute(&mut spec);
        let o = compared(&spec);
        assert!(o.ranks.iter().all(|own| own.left == 0), "{:?}", o.ranks);
        let end = |o: &Outcome| o.ranks.iter().filter_map(|own| own.finish_ps).max().unwrap();
        assert!(end(&o) > end(&whole), "{} after {}", end(&o), end(&whole));
        // sooner than a timeout of the transport, and as many messages as without the failure
        assert!(end(&o) < 2 * end(&whole), "{} after {}", end(&o), end(&whole));
        assert_eq!(o.transfers.len(), whole.transfers.len());
    }
}

#[test]
fn planes_that_do_not_fit_are_refused() {
    let refused = |change: fn(&mut Spec), part: &str| {
        let mut spec = in_planes(2, one_way(2, 1000), PlaneRule::ByMessage);
        change(&mut spec);
        let error = Simulation::new(&spec).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(part), "{error:?}: expected {part:?}");
    };
    refused(|s| s.jobs[0].planes.as_mut().unwrap().hosts[0].push(0), "3 hosts in a plane; expected 2");
    refused(|s| s.jobs[0].planes.as_mut().unwrap().hosts.clear(), "1 planes; expected 2 to 8");
    refused(|s| s.jobs[0].opens = Opens::Each, "connections that stay");
    refused(|s| s.flows[1].src = 0, "no connection of ranks 0 and 1");
    refused(
        |s| {
            s.jobs[0].send_done = SendDone::Written;
            cut_host(s, 3, (Time::us(1), Time::NEVER));
        },
        "sends that end when they are acknowledged",
    );
}
