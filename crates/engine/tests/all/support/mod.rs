//! Small networks in a few lines, for tests.
#![allow(dead_code, unused_imports)]

pub mod bench;
mod draws;
mod explicit;
pub mod fifo;
mod lanes;
mod queries;
mod transport;

pub use bench::{Bench, Caught};
pub use draws::{all, cases, seeds};
pub use explicit::*;
pub use incast_cc::{Config, Ecn, Rate, Time};
pub use incast_engine::spec::*;
pub use incast_record::{
    EventKind, FlowFrame, FlowRecord, FlowState, Happening, MessageKind, MessageRecord, Outcome, PacketEvent,
    PortFrame, PortRecord, Role,
};
pub use queries::*;
pub use transport::*;

/// Returns a value with some fields changed: `changed!(plain(), acks.delayed_ack = 2)`.
macro_rules! changed {
    ($from:expr, $($($field:ident).+ = $to:expr),+ $(,)?) => {{
        let mut value = $from;
        $(value.$($field).+ = $to;)+
        value
    }};
}
pub(crate) use changed;

use incast_engine::hash;
use incast_engine::testing::{Rule, Simulation, Threads, Visit, reference, windows};

/// Picoseconds in a millisecond.
pub const MS: u64 = 1_000_000_000;
/// Picoseconds in a microsecond.
pub const US: u64 = 1_000_000;

/// A queue of `discipline` that counts packets in service, without a device queue.
pub fn queue(discipline: Discipline, limit: Limit) -> QueueSpec {
    QueueSpec { discipline, limit, device: 0, count_in_service: true, count_overhead: false, explicit: false }
}

/// Drop-tail of `n` packets, including the one in service.
pub fn drop_tail(n: u64) -> QueueSpec {
    queue(Discipline::DropTail, Limit::Packets(n))
}

/// A queue without a limit.
pub fn endless_queue() -> QueueSpec {
    queue(Discipline::DropTail, Limit::None)
}

/// Marks packets that find at least `mark` packets before them.
pub fn ecn_threshold(mark: u64) -> Discipline {
    Discipline::EcnThreshold(EcnThreshold { mark: Limit::Packets(mark), drop_not_ect: false, count_dropped: false })
}

/// Drop-tail of `limit` packets with marks above `mark`, without the one in service.
pub fn marking(limit: u64, mark: u64) -> QueueSpec {
    QueueSpec { count_in_service: false, ..queue(ecn_threshold(mark), Limit::Packets(limit)) }
}

/// One queue for each class.
pub fn classes(scheduler: Scheduler, classes: Vec<QueueSpec>) -> QueueSpec {
    queue(Discipline::Classes { scheduler, classes, aggregate: Aggregate::NONE }, Limit::None)
}

/// A link with the first queue.
pub fn link(from: u32, to: u32, rate: Rate, delay: Time, name: String) -> LinkSpec {
    LinkSpec {
        from,
        to,
        rate,
        delay,
        tick: Time::ZERO,
        overhead: 0,
        bucket: 0,
        queue: 0,
        loss: Loss::None,
        cell: None,
        name: name.into(),
    }
}

/// Runs and measures until `duration`.
pub fn run_for(spec: &mut Spec, duration: Time) {
    (spec.duration, spec.measure_to) = (duration, duration);
}

/// Replaces nodes and links: nodes by name, hosts first, links by their ends. All links are copies of the first one.
pub fn rewire(spec: &mut Spec, nodes: &[&str], ends: &[(u32, u32)]) {
    let sample = spec.links[0].clone();
    let name = |n: u32| nodes[n as usize];
    let named = |(from, to): &(u32, u32)| format!("{}>{}", name(*from), name(*to));
    let link = |e: &(u32, u32)| LinkSpec { from: e.0, to: e.1, name: named(e).into(), ..sample.clone() };
    spec.links = ends.iter().map(link).collect();
    spec.node_names = nodes.iter().map(|n| n.to_string()).collect();
}

/// A flow that starts at 0 and transfers `size` bytes.
pub fn bulk(src: u32, dst: u32, size: Option<u64>) -> FlowSpec {
    FlowSpec {
        src,
        dst,
        start: Time::ZERO,
        stop: Time::NEVER,
        at_stop: AtStop::Drain,
        sink_stop: Time::NEVER,
        transport: 0,
        controller: 0,
        group: 0,
        class: 0,
        ack_class: 0,
        app: App::Bulk(Bulk { size, write: 65_160 }),
        read_rate: Rate::INFINITE,
        path: None,
        reverse_path: None,
        pull_path: None,
        trigger: None,
        deadline: None,
    }
}

/// `n` hosts around one switch.
pub fn star(n: u32, rate: Rate, delay: Time) -> Spec {
    let up = (0..n).map(|h| link(h, n, rate, delay, format!("h{h}>s")));
    let links = up.chain((0..n).map(|h| link(n, h, rate, delay, format!("s>h{h}")))).collect();
    Spec {
        seed: 1,
        duration: Time::ms(100),
        measure_from: Time::ZERO,
        measure_to: Time::ms(100),
        hosts: n,
        node_names: (0..n).map(|h| format!("h{h}")).chain(["s".to_string()]).collect(),
        domain_of: vec![0; n as usize + 1],
        links,
        routers: vec![Router::Tree { first: 0, span: n, stride: 1, down: 0, up: 0, ups: 0 }],
        choice: PathChoice::Ecmp,
        acks_by_flow: false,
        queues: vec![drop_tail(100)],
        transports: vec![htsim()],
        controllers: vec![Config::new("swift").unwrap()],
        groups: vec!["load".to_string()],
        flows: Vec::new(),
        buffer: None,
        triggers: Vec::new(),
        queries: Vec::new(),
        jobs: Vec::new(),
        observe: Observe { queue_interval: Time::us(10), ..Observe::default() },
        stamps: Stamps::Arrival,
        ties: Ties::Hash,
        failures: Vec::new(),
        programs: Vec::new(),
        cells: Vec::new(),
        host_costs: Vec::new(),
        threads: Some(1),
        cores: None,
        progress_every: None,
        ends_when_finished: false,
        labels: Vec::new(),
    }
}

/// A permutation of flows of `size` bytes on a small fat tree with queues of `limit` packets.
pub fn permutation(choice: PathChoice, limit: u64, size: u64) -> Spec {
    let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
    spec.choice = choice;
    spec.queues = vec![drop_tail(limit)];
    spec.transports[0].loss.dupthresh = 30;
    run_for(&mut spec, Time::ms(20));
    spec.flows = (0..16).map(|h| bulk(h, (h + 5) % 16, Some(size))).collect();
    spec
}

/// A k-ary fat tree with the numbering of ns-3.
pub fn fat_tree(k: u32, rate: Rate, delay: Time) -> Spec {
    let h = k / 2;
    let (hosts, edges, aggs, cores) = (k * h * h, k * h, k * h, h * h);
    let (edge0, agg0, core0) = (hosts, hosts + edges, hosts + edges + aggs);
    let mut spec = star(2, rate, delay);
    let sample = spec.links[0].clone();
    spec.hosts = hosts;
    spec.links.clear();
    spec.routers.clear();
    let name = |n: u32| {
        if n < edge0 {
            format!("h{n}")
        } else if n < agg0 {
            format!("edge{}", n - edge0)
        } else if n < core0 {
            format!("agg{}", n - agg0)
        } else {
            format!("core{}", n - core0)
        }
    };
    let mut add = |from: u32, to: u32| {
        spec.links.push(LinkSpec { from, to, name: format!("{}>{}", name(from), name(to)).into(), ..sample.clone() });
    };
    for host in 0..hosts {
        add(host, edge0 + host / h);
    }
    for e in 0..edges {
        (0..h).for_each(|i| add(edge0 + e, e * h + i));
        (0..h).for_each(|i| add(edge0 + e, agg0 + e / h * h + i));
    }
    for a in 0..aggs {
        (0..h).for_each(|j| add(agg0 + a, edge0 + a / h * h + j));
        (0..h).for_each(|j| add(agg0 + a, core0 + a % h * h + j));
    }
    for c in 0..cores {
        (0..k).for_each(|pod| add(core0 + c, agg0 + pod * h + c / h));
    }
    for e in 0..edges {
        spec.routers.push(Router::Tree { first: e * h, span: h, stride: 1, down: 0, up: h, ups: h });
    }
    for a in 0..aggs {
        spec.routers.push(Router::Tree { first: a / h * h * h, span: h * h, stride: h, down: 0, up: h, ups: h });
    }
    for _ in 0..cores {
        spec.routers.push(Router::Tree { first: 0, span: hosts, stride: h * h, down: 0, up: 0, ups: 0 });
    }
    let nodes = hosts + edges + aggs + cores;
    spec.node_names = (0..nodes).map(name).collect();
    spec.domain_of = (0..nodes).map(|n| if n < hosts { n / h } else { n - hosts }).collect();
    spec
}

/// Outcome of the reference engine, compared to the byte with every partition and every order of visits: eleven runs,
/// and five with the domains distributed to threads in turn, which also share set-up and outcome. Two of the five
/// switch between one worker and several after about every third window. `make test` takes every third of the runs,
/// from one on that changes from specification to specification. [`run`] is for tests that do not compare engines.
pub fn compared(spec: &Spec) -> Outcome {
    let nodes = spec.node_names.len() as u32;
    let one = Spec { domain_of: vec![0; nodes as usize], ..spec.clone() };
    let each = Spec { domain_of: (0..nodes).collect(), ..spec.clone() };
    let naive = reference::run(Simulation::new(spec).unwrap()).unwrap();
    let expected = format!("{naive:?}");
    let mut number = expected.len();
    let mut is_next = || {
        number += 1;
        all() || number.is_multiple_of(3)
    };
    if is_next() {
        let apart = reference::run(Simulation::new(&each).unwrap()).unwrap();
        assert_eq!(format!("{apart:?}"), expected, "the naive engine, a domain a node");
    }
    let partitions =
        [("as given", spec, &[2, 7][..]), ("one domain", &one, &[1]), ("a domain a node", &each, &[3, 16])];
    for (partition, s, threads) in partitions {
        let visits = [Visit::Forward, Visit::Reverse, Visit::Shuffled].map(|visit| (visit, Threads::Own(1)));
        let in_turn =
            [Threads::Sequential(threads[0]), Threads::By(Rule::Given(often), *threads.last().unwrap(), true)];
        let in_turn = in_turn.into_iter().take(threads.len()).map(|threads| (Visit::Forward, threads));
        for (visit, threads) in visits.into_iter().chain(in_turn).filter(|_| is_next()) {
            let s = Spec { threads: Some(threads.max_threads() as u32), ..s.clone() };
            let outcome = windows::run(Simulation::new(&s).unwrap(), visit, threads, &mut |_| true).unwrap();
            if format!("{outcome:?}") != expected {
                let (expected, got) = (format!("{naive:#?}"), format!("{outcome:#?}"));
                let first = expected.lines().zip(got.lines()).enumerate().find(|(_, (a, b))| a != b);
                panic!("{partition}, {visit:?}, {threads:?}: differs from the naive engine at {first:?}");
            }
        }
    }
    conserved(spec, naive)
}

/// True after about every third window, and rarely after the first 200: each change moves all packets in flight.
pub fn often(window: u64) -> bool {
    hash::mix(window).is_multiple_of(if window < 200 { 3 } else { 1_000 })
}

/// Outcome of the reference engine ([`compared`]). Also compares the run without trace and series, with which ports and
/// packets take slow paths.
pub fn compared_seen_and_unseen(spec: &Spec) -> Outcome {
    let mut unseen = spec.clone();
    (unseen.observe.trace, unseen.observe.ports, unseen.observe.flows) = (Vec::new(), Vec::new(), Vec::new());
    (unseen.observe.timeline, unseen.observe.pauses) = (None, None);
    compared(&unseen);
    compared(spec)
}

/// Outcome of the reference engine, compared to the byte with two runs of the engine of windows. For networks with a
/// single domain under any partition, such as a lone cell, where orders of visits do not exist.
pub fn compared_whole(spec: &Spec) -> Outcome {
    let naive = reference::run(Simulation::new(spec).unwrap()).unwrap();
    let outcome = run(spec);
    assert_eq!(format!("{outcome:?}"), format!("{naive:?}"), "the naive engine");
    conserved(spec, naive)
}

/// Checks that packets are conserved, also by ports and by the frames of a timeline.
fn conserved(spec: &Spec, o: Outcome) -> Outcome {
    ports_add_up(spec, &o);
    frames_add_up(spec, &o);
    pauses_add_up(spec, &o);
    lanes::add_up(&o);
    assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight, "packets are conserved");
    o
}

/// Checks that no port sends more than it accepts or its link carries, and that hops are the packets accepted by ports,
/// except those waiting in a fair NIC.
fn ports_add_up(spec: &Spec, o: &Outcome) {
    const BYTE: u128 = 8_000_000_000_000;
    let span = (o.measure_to_ps - o.measure_from_ps) as u128;
    for (i, (port, link)) in o.ports.iter().zip(&spec.links).enumerate() {
        assert!(port.packets_total <= port.accepted_total, "{port:?}");
        let changed = spec.failures.iter().filter(|f| f.link == i as u32).filter_map(|f| f.rate());
        let rate = changed.fold(link.rate, Rate::max).0 as u128;
        if link.rate != Rate::INFINITE && rate > 0 {
            // times on the wire are rounded to picoseconds; a bucket smaller than a packet exceeds it
            let rounded = if BYTE % rate == 0 { 0 } else { port.packets as u128 + 1 };
            let bucket = if link.bucket > 0 { link.bucket as u128 + 10_000 } else { 0 };
            let most = (span + rounded) * rate / BYTE + bucket;
            assert!(port.bytes as u128 <= most, "{} of {most} B in {span} ps: {port:?}", port.bytes);
        }
    }
    let accepted: u64 = o.ports.iter().map(|p| p.accepted_total).sum();
    let fair = spec.queues.iter().any(|q| matches!(q.discipline, Discipline::FairNic { .. }));
    assert!(o.hops == accepted || (fair && o.hops < accepted), "{} hops, {accepted} accepted", o.hops);
}

/// Checks that the frames of a timeline add up to the ports' totals over the whole run.
fn frames_add_up(spec: &Spec, o: &Outcome) {
    let Some(every) = o.frame_ps else {
        assert!(o.timeline_events.is_empty() && (o.paths.is_empty() || spec.observe.pauses.is_some()));
        return assert!(o.port_frames.is_empty() && o.flow_frames.is_empty());
    };
    flow_frames_add_up(o, every);
    events_add_up(o);
    let order = |rows: &[PortFrame]| (rows[0].frame, rows[0].port) < (rows[1].frame, rows[1].port);
    let rows: Vec<PortFrame> = o.port_frames.rows().collect();
    assert!(rows.windows(2).all(order), "one row a frame and port");
    assert!(rows.iter().all(|row| !row.is_empty()), "rows say something");
    let mut sums = vec![PortFrame::default(); o.ports.len()];
    rows.iter().for_each(|row| sums[row.port as usize].add(row));
    for (port, sum) in o.ports.iter().zip(&sums) {
        assert_eq!(sum.drops as u64, port.lost_total, "drops of {}", port.name);
        if (o.measure_from_ps, o.measure_to_ps) != (0, o.end_ps) || o.end_ps == 0 {
            continue;
        }
        assert_eq!(sum.marks as u64, port.marks, "marks of {}", port.name);
        assert_eq!(sum.busy_ps, port.busy_ps, "{} is busy", port.name);
        assert_eq!((sum.pauses as u64, sum.paused_ps), (port.pauses, port.paused_ps), "pauses of {}", port.name);
        assert_eq!(sum.byte_time as f64 / o.end_ps as f64, port.queue_mean_bytes, "mean queue of {}", port.name);
        assert!(sum.queue_max_bytes >= port.queue_max_bytes, "largest queue of {}", port.name);
    }
}

/// Checks that recorded pauses add up to the ports' paused times, and that all bytes of an account wait somewhere.
fn pauses_add_up(spec: &Spec, o: &Outcome) {
    let Some(most) = spec.observe.pauses else { return assert!(o.pauses.rows.is_empty()) };
    let rows = &o.pauses.rows;
    assert!(rows.is_sorted_by_key(|row| (row.pause, row.at_end, row.waiting.port)), "in order");
    assert!(rows.is_sorted_by_key(|row| row.key), "pauses are numbered in order");
    let mut paused = vec![vec![0; 256]; o.ports.len()];
    for pause in rows.chunk_by(|a, b| a.pause == b.pause) {
        let row = pause[0];
        let waiting: u64 = pause.iter().filter(|row| !row.at_end).map(|row| row.waiting.bytes).sum();
        assert!(waiting == row.bytes && row.headroom <= row.bytes, "{pause:?}");
        let Some(begun) = row.begun_ps else { continue };
        let ended = row.ended_ps.unwrap_or(o.end_ps);
        assert!(row.key.asked_ps <= begun && begun <= ended && ended <= o.end_ps, "{row:?}");
        let within = |at: u64| at.clamp(o.measure_from_ps, o.measure_to_ps);
        paused[row.key.port as usize][row.key.class as usize] += within(ended) - within(begun);
    }
    if rows.last().is_some_and(|row| row.pause + 1 == most) {
        return;
    }
    for (port, paused) in o.ports.iter().zip(paused) {
        match &port.classes[..] {
            [] => assert_eq!(paused[0], port.paused_ps, "pauses of {}", port.name),
            classes => assert!(classes.iter().map(|class| class.paused_ps).eq(paused[..classes.len()].iter().copied())),
        }
    }
}

/// Checks that the flow frames of a timeline add up to the flows' records, that every row has a change, and that a
/// finished flow ends in that state.
fn flow_frames_add_up(o: &Outcome, every: u64) {
    let rows: Vec<FlowFrame> = o.flow_frames.rows().collect();
    assert!(rows.is_sorted_by_key(|row| (row.frame, row.flow)), "by frame and flow");
    let frames = o.end_ps.div_ceil(every).max(1);
    let mut last: Vec<Option<FlowFrame>> = vec![None; o.flows.len()];
    let mut sums = vec![0; o.flows.len()];
    for row in &rows {
        assert!((row.frame as u64) < frames, "{row:?} of {frames} frames of {every} ps");
        let before = last[row.flow as usize].replace(*row);
        assert!(before.is_none_or(|before| before.frame < row.frame), "one row a frame and flow");
        let changed = before.is_none_or(|before| (before.cwnd_bytes, before.state) != (row.cwnd_bytes, row.state));
        assert!(changed || row.delivered_bytes > 0, "{row:?} says nothing");
        sums[row.flow as usize] += row.delivered_bytes;
    }
    for (flow, (sum, last)) in o.flows.iter().zip(sums.iter().zip(&last)) {
        assert_eq!(*sum, flow.delivered, "delivered by flow {}", flow.flow);
        assert_eq!(last.is_none(), flow.unopened, "flow {}: {last:?}", flow.flow);
        if let (Some(_), Some(last)) = (flow.stopped_ps, last) {
            assert_eq!(last.state, FlowState::Done, "flow {} is stopped", flow.flow);
        }
        if let (Some(finish), Some(last)) = (flow.finish_ps, last) {
            assert_eq!(last.state, FlowState::Done, "flow {}", flow.flow);
            // its last byte may have arrived long before the sender knows
            let known = (finish / every).min(frames - 1) as u32;
            let done = rows.iter().find(|row| row.flow == flow.flow && row.state == FlowState::Done);
            assert_eq!(done.map(|row| row.frame), Some(known), "flow {} is done in the frame of its end", flow.flow);
        }
    }
}

/// Checks that events match the records in number and order.
fn events_add_up(o: &Outcome) {
    let events = &o.timeline_events;
    assert!(events.is_sorted(), "by time, kind and subject");
    assert!(events.iter().all(|event| event.time_ps <= o.end_ps), "after the end");
    let count = |kind| events.iter().filter(|event| event.kind == kind).count() as u64;
    let flows = |is: fn(&FlowRecord) -> bool| o.flows.iter().filter(|flow| is(flow)).count() as u64;
    assert_eq!(count(EventKind::FlowStarts), flows(|flow| !flow.unopened));
    assert_eq!(count(EventKind::FlowEnds), flows(|flow| flow.finish_ps.is_some()));
    let queries = |is: fn(&MessageRecord) -> bool| {
        o.messages.iter().filter(|message| message.kind == MessageKind::Query && is(message)).count() as u64
    };
    assert_eq!(count(EventKind::Query), queries(|_| true));
    assert_eq!(count(EventKind::QueryEnds), queries(|query| query.finish_ps.is_some()));
    if (o.measure_from_ps, o.measure_to_ps) == (0, o.end_ps) {
        assert_eq!(count(EventKind::Timeout), o.flows.iter().map(|flow| flow.timeouts).sum::<u64>());
    }
}

/// Runs the engine of windows once.
pub fn run(spec: &Spec) -> Outcome {
    conserved(spec, incast_engine::run(spec, &mut |_| true).unwrap())
}

/// Controller `kind` with parameters.
pub fn controller(kind: &str, params: &[(&str, &str)]) -> Config {
    let mut config = Config::new(kind).unwrap();
    for (key, value) in params {
        config.set(key, value).unwrap();
    }
    config
}

/// Two hosts and a switch. Links: 0 is h0>s, 1 is h1>s, 2 is s>h0, 3 is s>h1; data from h0 to h1
/// takes 0 and 3, its ACKs 1 and 2.
pub fn wire(rate: Rate, delay: Time, transport: TransportSpec, kind: &str, flow: FlowSpec) -> Spec {
    let mut spec = star(2, rate, delay);
    spec.transports = vec![transport];
    spec.controllers = vec![controller(kind, &[])];
    spec.flows = vec![flow];
    spec.queues = vec![drop_tail(10_000)];
    run_for(&mut spec, Time::s(20));
    spec.observe.trace = vec![0];
    spec
}

/// Lines of the packet trace for an event at a node or port.
pub fn events<'a>(o: &'a Outcome, place: &str, event: Happening) -> Vec<&'a PacketEvent> {
    o.trace.iter().filter(|e| e.place == place && e.event == event).collect()
}

/// Data segments sent by host `place`, with retransmissions.
pub fn data_sent<'a>(o: &'a Outcome, place: &str) -> Vec<&'a PacketEvent> {
    events(o, place, Happening::Send).into_iter().filter(|e| e.payload > 0).collect()
}

/// One time series.
pub fn series(o: &Outcome, entity: &str, name: &str) -> Vec<(u64, f64)> {
    o.samples.iter().filter(|s| *s.entity == *entity && s.name == name).map(|s| (s.time_ps, s.value)).collect()
}
