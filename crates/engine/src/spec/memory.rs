//! Estimate of the memory that a run takes, fitted to measured runs.
//!
//! The estimate adds up the state of ports and flows, the packets outstanding at once, and the rows of series and
//! timelines. The number of outstanding packets depends on the controllers: per receiving host, one bandwidth-delay
//! product of its link plus the part of the last queue that its flows can fill.

use super::{App, Discipline, FlowSpec, JobSpec, Limit, LinkSpec, QueueSpec, Spec, TIMELINE_NEAR, TransportSpec};
use incast_cc::{Ecn, Rate, Time};
use incast_workload::collective::{Algorithm, Method};
use incast_workload::{Kind, Rank};

/// Bytes per port.
const PORT: u64 = 1_200;
/// Bytes per class queue of a port.
const CLASS: u64 = 600;
/// Bytes per flow, including its record.
const FLOW: u64 = 4_500;
/// Bytes per connection of a job, including its record, a message, and the pair of ranks that it joins; its ends come
/// on top while they are open.
const CONNECTION: u64 = 1_100;
/// Connections of a rank that are open at once, at most, where collectives go in rounds: those of the round, and those
/// whose last packets are under way.
const ROUND: u64 = 4;
/// Bytes per open flow: state of its window, and room that a single burst leaves in rings.
const OPEN: u64 = 3_000;
/// Bytes per outstanding segment: the packet in its page, its slot in the ring of a port, its entry at the sender and
/// maybe at the receiver, and the spare room of those that grow by doubling.
const SEGMENT: u64 = 190;
/// Bytes per value of a time series.
const VALUE: u64 = 24;
/// Bytes per row of a timeline, packed.
const ROW: u64 = 8;
/// Divisor for the memory of timeline rows in a file: their index takes one part in this many.
const FAR: u64 = 10;
/// Bytes of an empty run: threads and their buckets.
const RUN: u64 = 1_000_000;
/// Assumed maximum duration of a run that ends when all flows have finished, as a multiple of the time in which the
/// links of the receiving hosts carry everything. Sizes its timeline and series.
const SLOWER: u64 = 8;
/// Overshoot of a marking queue in slow start, as a multiple of its threshold.
const OVERSHOOT: u64 = 4;
/// Ports that a flow passes in both directions.
const PASSED: u64 = 12;

/// Minimum memory of a run with this number of ports and flows, in bytes.
pub fn memory_of(ports: u64, flows: u64) -> u64 {
    PORT.saturating_mul(ports).saturating_add(FLOW.saturating_mul(flows))
}

impl Spec {
    /// Estimated memory of the run, in bytes. Nine measured runs took between 2/3 and 6/5 of the estimate, plus or
    /// minus 6 MB.
    pub fn memory(&self) -> u64 {
        let classes =
            self.links.iter().map(|link| self.queues[link.queue as usize].classes().len() as u64).sum::<u64>();
        let load = Load::of(self);
        let connections = self.jobs.iter().map(|job| job.connections.len() as u64).sum::<u64>();
        let parts = [
            memory_of(self.links.len() as u64, self.flows.len() as u64 - connections),
            CONNECTION.saturating_mul(connections),
            CLASS * classes,
            OPEN.saturating_mul(load.open),
            SEGMENT.saturating_mul(load.segments),
            rows(self, load.end, load.open),
            RUN,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

impl Spec {
    /// Estimated maximum number of timeline rows of ports and flows; 0 without a timeline. Bounded by one row per frame
    /// and subject, and by two per packet and port, since a packet keeps a port busy in one or two frames.
    pub fn timeline_rows(&self) -> u64 {
        let load = Load::of(self);
        let segments = |flow: &FlowSpec| flow.app.size().map(|size| size.div_ceil(mss(self, flow)));
        let sent = self.flows.iter().try_fold(0_u64, |sent, flow| Some(sent.saturating_add(segments(flow)?)));
        let passed = sent.map_or(u64::MAX, |sent| sent.saturating_mul(2 * PASSED));
        timeline_cells(self, load.end, load.open).min(passed)
    }
}

/// Frames of the timeline times the ports and flows busy in them, for a run that lasts until `end`.
fn timeline_cells(spec: &Spec, end: Time, open: u64) -> u64 {
    let frames = spec.observe.timeline.map_or(0, |timeline| timeline.frames_by(end));
    let subjects = (spec.links.len() as u64).min(PASSED.saturating_mul(open)).saturating_add(open);
    frames.saturating_mul(subjects)
}

/// Bytes of fixed-interval series and of the timeline, for a run that lasts until `end`.
fn rows(spec: &Spec, end: Time, open: u64) -> u64 {
    let observe = &spec.observe;
    let series = 8 * observe.flows.len() as u64 + (observe.ports.len() + observe.cells.len()) as u64;
    let values = observe.interval.map_or(0, |every| (end.0 / every.0.max(1)).saturating_mul(series));
    let frames = ROW.saturating_mul(timeline_cells(spec, end, open));
    let near = observe.timeline_near.unwrap_or(TIMELINE_NEAR);
    VALUE.saturating_mul(values).saturating_add(frames.min(near.saturating_add(frames / FAR)))
}

/// Concurrent load of a run.
struct Load {
    /// Maximum number of open flows.
    open: u64,
    /// Maximum number of outstanding segments.
    segments: u64,
    /// Latest end of the run.
    end: Time,
}

/// Last link into a host.
#[derive(Clone, Copy)]
struct Way {
    rate: Rate,
    /// Bytes that the link carries in a round trip.
    carried: u64,
    /// Limit of its queue.
    limit: Limit,
    /// Marking threshold of its queue.
    mark: Limit,
}

/// Load of a receiving host.
#[derive(Clone, Copy, Default)]
struct Receiving {
    /// Time at which its link has carried everything so far.
    busy: Time,
    /// Sum of the segments of its flows, and the room for them.
    asked: u64,
    room: u64,
}

impl Load {
    fn of(spec: &Spec) -> Load {
        let ways = ways(spec);
        let mut hosts = vec![Receiving::default(); spec.hosts as usize];
        let mut order: Vec<u32> = (0..spec.flows.len() as u32).collect();
        order.sort_by_key(|flow| spec.flows[*flow as usize].start);
        let (mut begins, mut ends) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
        let mut finite = spec.ends_when_finished;
        let mut of_job = vec![false; spec.flows.len()];
        spec.jobs.iter().flat_map(|job| &job.connections).for_each(|own| of_job[own.flow as usize] = true);
        for number in order {
            let (flow, of_job) = (&spec.flows[number as usize], of_job[number as usize]);
            let (Some(way), host) = (&ways[flow.dst as usize], &mut hosts[flow.dst as usize]) else { continue };
            let size = flow.app.size();
            let max = max_outstanding(spec, flow, way);
            host.asked = host.asked.saturating_add(size.map_or(max, |size| size.div_ceil(mss(spec, flow)).min(max)));
            host.room = host.room.max(max);
            finite &= size.is_some();
            if of_job {
                continue;
            }
            begins.push(flow.start);
            ends.push(match size {
                Some(size) => {
                    host.busy = host.busy.max(flow.start).saturating_add(way.rate.serialize(size));
                    host.busy
                }
                None => flow.stop,
            });
        }
        let last = hosts.iter().map(|host| host.busy.0.saturating_mul(SLOWER)).max().unwrap_or(0);
        Load {
            open: spec.jobs.iter().map(open_at_once).fold(overlap(&begins, ends), u64::saturating_add),
            segments: hosts.iter().map(|host| host.asked.min(host.room)).fold(0, u64::saturating_add),
            end: if finite { spec.duration.min(Time(last)) } else { spec.duration },
        }
    }
}

/// Maximum number of connections of a job that are open at once.
fn open_at_once(job: &JobSpec) -> u64 {
    let (graph, methods) = (job.tasks.graph(), job.tasks.methods());
    let all = job.connections.len() as u64;
    let sends = |(_, tasks): (u32, &Rank)| tasks.iter().any(|(_, task)| task.kind == Kind::Send);
    // the last iteration has the last message of a connection
    if job.iterations > 1 || job.planes.is_some() || graph.iter().any(sends) {
        return all;
    }
    let rounds = graph.collectives().iter().map(|what| match methods.of(what.pattern) {
        Method { algorithm: Algorithm::AtOnce, .. } => u64::MAX,
        Method { algorithm: Algorithm::Windowed, window, .. } => u64::from(*window),
        _ => 1,
    });
    let at_once = rounds.max().unwrap_or(1).saturating_mul(ROUND).saturating_mul(graph.ranks() as u64);
    all.min(at_once)
}

/// Maximum number of intervals that overlap at one instant; `begins` is sorted.
fn overlap(begins: &[Time], mut ends: Vec<Time>) -> u64 {
    ends.sort_unstable();
    let mut over = 0;
    let open = begins.iter().enumerate().map(|(begun, begin)| {
        while ends.get(over).is_some_and(|end| end < begin) {
            over += 1;
        }
        (begun + 1 - over) as u64
    });
    open.max().unwrap_or(0)
}

/// Last link into each host; `None`: a radio link, or no link.
fn ways(spec: &Spec) -> Vec<Option<Way>> {
    let longest = spec.links.iter().filter(|link| link.to >= spec.hosts && link.from >= spec.hosts);
    let longest = longest.map(|link| link.delay).max().unwrap_or(Time::ZERO);
    let mut ways = vec![None; spec.hosts as usize];
    for link in spec.links.iter().filter(|link| link.to < spec.hosts && link.cell.is_none()) {
        let way = &mut ways[link.to as usize];
        if way.is_none() {
            *way = Some(way_over(spec, link, longest));
        }
    }
    ways
}

/// Path over the last link, with delays of up to `longest` on the other links.
fn way_over(spec: &Spec, link: &LinkSpec, longest: Time) -> Way {
    let queue = &spec.queues[link.queue as usize];
    let packet = spec.transports.first().map_or(0, |transport| transport.sizes.mss);
    let trip = 4.0 * link.delay.as_secs_f64() + 8.0 * longest.as_secs_f64();
    let trip = trip + 6.0 * link.rate.serialize(packet as u64).as_secs_f64();
    let carried = if link.rate == Rate::INFINITE { 0.0 } else { link.rate.0 as f64 / 8.0 * trip };
    Way { rate: link.rate, carried: carried as u64, limit: limit(queue), mark: mark(queue) }
}

/// Limit of a queue.
fn limit(queue: &QueueSpec) -> Limit {
    queue.classes().iter().map(|class| class.limit).next().unwrap_or(queue.limit)
}

/// Marking threshold of a queue.
fn mark(queue: &QueueSpec) -> Limit {
    match &queue.discipline {
        Discipline::EcnThreshold(ecn) => ecn.mark,
        Discipline::EcnAtDeparture(ecn) => ecn.mark,
        Discipline::Classes { classes, .. } => classes.first().map_or(Limit::None, mark),
        _ => Limit::None,
    }
}

fn transport<'a>(spec: &'a Spec, flow: &FlowSpec) -> &'a TransportSpec {
    &spec.transports[flow.transport as usize]
}

fn mss(spec: &Spec, flow: &FlowSpec) -> u64 {
    transport(spec, flow).sizes.mss.max(1) as u64
}

/// Maximum number of outstanding segments of a flow, bounded by its receive window and by what link and queue hold.
fn max_outstanding(spec: &Spec, flow: &FlowSpec, way: &Way) -> u64 {
    let (transport, mss) = (transport(spec, flow), mss(spec, flow));
    let controller = spec.controllers[flow.controller as usize].profile();
    let segments = |limit| match limit {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => bytes.div_ceil(mss),
        Limit::None => u64::MAX,
    };
    let keeps_queues_short = transport.protocol.numbers_packets() || controller.own_recovery;
    let marked = transport.marks.ecn.unwrap_or(controller.ecn) != Ecn::Off;
    let queued = match flow.app {
        App::Udp(_) => segments(way.limit),
        // delays, grants or telemetry keep queues short
        _ if keeps_queues_short => 0,
        _ if marked => segments(way.limit).min(segments(way.mark).saturating_mul(OVERSHOOT)),
        _ => segments(way.limit),
    };
    way.carried.div_ceil(mss).saturating_add(queued).min(transport.windows.receive_buffer.div_ceil(mss))
}
