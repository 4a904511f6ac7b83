//! Jobs: tasks in the order of their graph, messages over connections that stay open, times computed by hand.

use crate::rdma::rdma;
use crate::support::*;
use incast_cc::Bytes;
use incast_engine::testing::Simulation;
use incast_record::RankRecord;
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
    add(&mut spec, graph, placement);
    spec
}

/// Adds a job to `spec`.
pub fn add(spec: &mut Spec, graph: Graph, placement: &[u32]) {
    add_by(spec, graph, &Methods::default(), placement, None);
}

/// Adds a job with these methods of its collectives, and links inside its servers, to `spec`.
pub fn add_by(spec: &mut Spec, graph: Graph, methods: &Methods, placement: &[u32], scale_up: Option<ScaleUp>) {
    let mut connections = Vec::new();
    let tasks = Expansion::new(Arc::new(graph), methods).unwrap();
    for (from, to) in JobSpec::pairs(&tasks, scale_up) {
        connections.push(JobConnection { from, to, flow: spec.flows.len() as u32 });
        let [src, dst] = [from, to].map(|rank| placement[rank as usize]);
        spec.flows.push(FlowSpec { app: App::Messages(Messages), ..bulk(src, dst, None) });
    }
    spec.jobs.push(JobSpec {
        group: 0,
        tasks: Arc::new(tasks),
        hosts: placement.to_vec(),
        start: Time::ZERO,
        iterations: 1,
        send_done: SendDone::Acked,
        scale_up,
        slow: Vec::new(),
        collective: None,
        bound: None,
        bounds: Vec::new(),
        connections,
    });
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

/// The job of `on_star`, with servers of two ranks.
fn with_servers(mut spec: Spec) -> Spec {
    let scale_up = Some(ScaleUp { gpus: 2, rate: Rate::gbps(100), delay: Time::ns(500) });
    let job = &mut spec.jobs[0];
    job.scale_up = scale_up;
    let pairs = JobSpec::pairs(&job.tasks, scale_up);
    job.connections.retain(|own| pairs.contains(&(own.from, own.to)));
    let kept: Vec<u32> = job.connections.iter().map(|own| own.flow).collect();
    job.connections.iter_mut().zip(0..).for_each(|(own, flow)| own.flow = flow);
    spec.flows = kept.iter().map(|flow| spec.flows[*flow as usize].clone()).collect();
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
    refused(|s| s.jobs[0].hosts[1] = 0, "two ranks on host 0");
    refused(|s| s.jobs[0].hosts[1] = 3, "expected less than 3");
    refused(|s| s.jobs[0].hosts = vec![0], "2 ranks on 1 hosts");
    refused(|s| s.jobs[0].iterations = 0, "0 iterations");
    refused(|s| s.jobs[0].slow = vec![(2, 1.0)], "one of 2 ranks");
    refused(|s| s.jobs[0].connections.clear(), "belongs to no query and no job");
    refused(|s| s.jobs[0].connections[0].from = 1, "one for each of the 1 pairs");
    refused(|s| s.flows[0].dst = 2, "no connection of ranks 0 and 1");
    refused(|s| s.flows[0].app = App::Bulk(Bulk { size: None, write: 1 }), "no connection of ranks 0 and 1");
    refused(|s| s.jobs.push(s.jobs[0].clone()), "the connection of two pairs of ranks");
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
