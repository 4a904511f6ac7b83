//! The memory that a run takes, told before it: by measured runs.
//!
//! What counts is the state of ports and flows, the packets that are outstanding at once, and the rows of series and
//! timelines. How many packets are outstanding follows from the controllers: with each host that receives, as much
//! as its link carries in a round trip, and what the queue before it may hold, as far as its flows let it fill.

use super::{App, Discipline, FlowSpec, Limit, LinkSpec, Protocol, QueueSpec, Spec, TIMELINE_NEAR, TransportSpec};
use incast_cc::{Ecn, Rate, Time};

/// Bytes of a port,
const PORT: u64 = 1_200;
/// ... of each of several queues of it,
const CLASS: u64 = 600;
/// ... of a flow, which its record is part of,
const FLOW: u64 = 4_500;
/// ... of one that is open: its window's state, and what a single burst leaves of room in rings,
const OPEN: u64 = 3_000;
/// ... of a segment that is outstanding: the packet in its page, its slot in the ring of a port, its entry at the
/// sender and maybe at the receiver, and as much room again where these grow by doubling,
const SEGMENT: u64 = 190;
/// ... of a value of a time series,
const VALUE: u64 = 24;
/// ... of a row of a timeline, packed,
const ROW: u64 = 8;
/// ... of which, where these are in a file, one in so many is in memory, for where they lie there,
const FAR: u64 = 10;
/// ... and of a run without anything: threads, and the room of their buckets.
const RUN: u64 = 1_000_000;
/// So many times the time in which the links of the receiving hosts carry everything a run lasts at most: the timeline
/// and the series of one that ends when all has finished.
const SLOWER: u64 = 8;
/// By so many thresholds a queue that marks is exceeded while windows still double.
const OVERSHOOT: u64 = 4;
/// Ports that a flow passes, both ways.
const PASSED: u64 = 12;

/// Memory that a run of so many ports and flows takes at least, in bytes, whatever they do.
pub fn memory_of(ports: u64, flows: u64) -> u64 {
    PORT.saturating_mul(ports).saturating_add(FLOW.saturating_mul(flows))
}

impl Spec {
    /// Memory that a run takes, in bytes, roughly: nine measured runs took between 2/3 and 6/5 of it, give or take
    /// 6 MB.
    pub fn memory(&self) -> u64 {
        let classes =
            self.links.iter().map(|link| self.queues[link.queue as usize].classes().len() as u64).sum::<u64>();
        let load = Load::of(self);
        let parts = [
            memory_of(self.links.len() as u64, self.flows.len() as u64),
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
    /// Rows of its timeline, of ports and flows, at most and roughly; 0 without one. No more than one a frame and
    /// subject, nor than two a packet and port, which is busy in one frame or in two.
    pub fn timeline_rows(&self) -> u64 {
        let load = Load::of(self);
        let segments = |flow: &FlowSpec| flow.app.size().map(|size| size.div_ceil(mss(self, flow)));
        let sent = self.flows.iter().try_fold(0_u64, |sent, flow| Some(sent.saturating_add(segments(flow)?)));
        let passed = sent.map_or(u64::MAX, |sent| sent.saturating_mul(2 * PASSED));
        timeline_cells(self, load.end, load.open).min(passed)
    }
}

/// Frames of a timeline times the ports and flows that are busy in them, in a run that lasts until `end`.
fn timeline_cells(spec: &Spec, end: Time, open: u64) -> u64 {
    let frames = spec.observe.timeline.map_or(0, |timeline| timeline.frames_by(end));
    let subjects = (spec.links.len() as u64).min(PASSED.saturating_mul(open)).saturating_add(open);
    frames.saturating_mul(subjects)
}

/// What series at fixed intervals and a timeline keep of a run that lasts until `end`.
fn rows(spec: &Spec, end: Time, open: u64) -> u64 {
    let observe = &spec.observe;
    let series = 8 * observe.flows.len() as u64 + (observe.ports.len() + observe.cells.len()) as u64;
    let values = observe.interval.map_or(0, |every| (end.0 / every.0.max(1)).saturating_mul(series));
    let frames = ROW.saturating_mul(timeline_cells(spec, end, open));
    let near = observe.timeline_near.unwrap_or(TIMELINE_NEAR);
    VALUE.saturating_mul(values).saturating_add(frames.min(near.saturating_add(frames / FAR)))
}

/// What is under way at once.
struct Load {
    /// Flows that are open,
    open: u64,
    /// segments that are outstanding,
    segments: u64,
    /// and when the run is over at the latest.
    end: Time,
}

/// The way into a host.
#[derive(Clone, Copy)]
struct Way {
    rate: Rate,
    /// Bytes that the link carries in a round trip,
    carried: u64,
    /// ... that its queue holds, in segments of so many bytes,
    limit: Limit,
    /// ... and from where on it marks.
    mark: Limit,
}

/// Of a host that receives.
#[derive(Clone, Copy, Default)]
struct Receiving {
    /// When its link has carried what came so far.
    busy: Time,
    /// Segments of its flows together, and how many there are room for.
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
        for flow in order.iter().map(|flow| &spec.flows[*flow as usize]) {
            let (Some(way), host) = (&ways[flow.dst as usize], &mut hosts[flow.dst as usize]) else { continue };
            let size = flow.app.size();
            let most = most_outstanding(spec, flow, way);
            host.asked = host.asked.saturating_add(size.map_or(most, |size| size.div_ceil(mss(spec, flow)).min(most)));
            host.room = host.room.max(most);
            begins.push(flow.start);
            ends.push(match size {
                Some(size) => {
                    host.busy = host.busy.max(flow.start).saturating_add(way.rate.serialize(size));
                    host.busy
                }
                None => flow.stop,
            });
            finite &= size.is_some();
        }
        let last = hosts.iter().map(|host| host.busy.0.saturating_mul(SLOWER)).max().unwrap_or(0);
        Load {
            open: overlap(&begins, ends),
            segments: hosts.iter().map(|host| host.asked.min(host.room)).fold(0, u64::saturating_add),
            end: if finite { spec.duration.min(Time(last)) } else { spec.duration },
        }
    }
}

/// How many of the intervals contain a common instant at most; `begins` are in order.
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

/// The way into each host; `None`: over the air, or none.
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

/// The way over the last link, where others are of a delay of up to `longest`.
fn way_over(spec: &Spec, link: &LinkSpec, longest: Time) -> Way {
    let queue = &spec.queues[link.queue as usize];
    let packet = spec.transports.first().map_or(0, |transport| transport.mss);
    let trip = 4.0 * link.delay.as_secs_f64() + 8.0 * longest.as_secs_f64();
    let trip = trip + 6.0 * link.rate.serialize(packet as u64).as_secs_f64();
    let carried = if link.rate == Rate::INFINITE { 0.0 } else { link.rate.0 as f64 / 8.0 * trip };
    Way { rate: link.rate, carried: carried as u64, limit: limit(queue), mark: mark(queue) }
}

/// What a queue holds.
fn limit(queue: &QueueSpec) -> Limit {
    queue.classes().iter().map(|class| class.limit).next().unwrap_or(queue.limit)
}

/// From where on a queue marks.
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
    transport(spec, flow).mss.max(1) as u64
}

/// Segments of a flow that are outstanding at most: of its receive window, and of what link and queue hold.
fn most_outstanding(spec: &Spec, flow: &FlowSpec, way: &Way) -> u64 {
    let (transport, mss) = (transport(spec, flow), mss(spec, flow));
    let controller = spec.controllers[flow.controller as usize].profile();
    let segments = |limit| match limit {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => bytes.div_ceil(mss),
        Limit::None => u64::MAX,
    };
    let driven = transport.protocol != Protocol::Tcp || controller.own_recovery;
    let marked = transport.ecn.unwrap_or(controller.ecn) != Ecn::Off;
    let queued = match flow.app {
        App::Udp(_) => segments(way.limit),
        // delays, grants or telemetry keep queues short
        _ if driven => 0,
        _ if marked => segments(way.limit).min(segments(way.mark).saturating_mul(OVERSHOOT)),
        _ => segments(way.limit),
    };
    way.carried.div_ceil(mss).saturating_add(queued).min(transport.receive_buffer.div_ceil(mss))
}
