//! Size of a run before it runs: counts, and an estimate of its hops.
//!
//! Every flow sends what its application asks for, or as much as the first link carries. Links that are asked for
//! more than they carry cut their flows in proportion. Every data packet has one ACK, and a flow four more packets to
//! open and to close. Losses, windows and congestion control are left out, so the estimate is right to a factor of
//! about two.

use incast_cc::Time;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{App, FlowSpec, QuerySpec, Spec};
use incast_engine::{FlowId, LinkId};

/// Size of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extent {
    /// Number of hosts.
    pub hosts: u64,
    /// Number of switches.
    pub switches: u64,
    /// Number of ports: links, one direction each.
    pub ports: u64,
    /// Number of flows.
    pub flows: u64,
    /// Most common rate of the hosts' own links, in bits per second; infinite for links without a rate.
    pub host_rate_bps: f64,
    /// Simulated time, in seconds.
    pub duration_s: f64,
    /// Estimated number of hops; `None` with radio cells, whose frames depend on what collides.
    pub hops: Option<f64>,
}

/// Packets of a flow besides its data and ACKs: SYN, SYN-ACK, FIN, and the ACK of the FIN.
const OTHERS: f64 = 4.0;

/// Traffic of a flow: links of its packets and of its ACKs, payload in bytes, and bytes of a packet.
struct Sent {
    path: Vec<LinkId>,
    back: usize,
    bytes: f64,
    packet: f64,
}

impl Extent {
    /// Size of a run of `spec`.
    pub fn of(spec: &Spec) -> Extent {
        Extent {
            hosts: spec.hosts.into(),
            switches: spec.routers.len() as u64,
            ports: spec.links.len() as u64,
            flows: spec.flows.len() as u64,
            host_rate_bps: host_rate(spec),
            duration_s: spec.duration.0 as f64 / 1e12,
            hops: spec.cells.is_empty().then(|| hops(spec)),
        }
    }
}

fn host_rate(spec: &Spec) -> f64 {
    let mut rates: Vec<u64> = spec.links.iter().filter(|l| l.from < spec.hosts).map(|l| l.rate.0).collect();
    rates.sort_unstable();
    let most = rates.chunk_by(|a, b| a == b).max_by_key(|equal| equal.len());
    most.map_or(0.0, |equal| incast_cc::Rate(equal[0]).as_f64())
}

fn hops(spec: &Spec) -> f64 {
    let fabric = Fabric::new(spec);
    let mut queried = vec![0.0; spec.flows.len()];
    spec.queries.iter().for_each(|query| add_messages(spec, query, &mut queried));
    let mut asked = vec![0.0; spec.links.len()];
    let sent = |(number, flow): (u32, &FlowSpec)| {
        let transport = &spec.transports[flow.transport as usize];
        let (path, back) = (fabric.path(FlowId(number), false), fabric.path(FlowId(number), true).len());
        let trip: Time = path.iter().fold(Time::ZERO, |sum, l| sum + spec.links[l.0 as usize].crossing(1_500));
        let first = path.first().map_or(0.0, |l| spec.links[l.0 as usize].rate.as_f64());
        let messages = queried[number as usize];
        let bytes =
            bytes(spec, flow, (trip + trip).as_secs_f64(), first.min(flow.app.rate(transport.sizes.mss)), messages);
        path.iter().for_each(|l| asked[l.0 as usize] += bytes);
        Sent { path, back, bytes, packet: transport.sizes.mss.into() }
    };
    let sent: Vec<Sent> = (0..).zip(&spec.flows).map(sent).collect();
    let carries = |l: &LinkId| {
        let most = spec.links[l.0 as usize].rate.as_f64() / 8.0 * spec.duration.as_secs_f64();
        (most / asked[l.0 as usize]).min(1.0)
    };
    let passed = |s: &Sent| {
        let part = s.path.iter().map(carries).fold(1.0, f64::min);
        ((s.bytes * part / s.packet).ceil() + OTHERS / 2.0) * (s.path.len() + s.back) as f64
    };
    sent.iter().filter(|s| s.bytes > 0.0).map(passed).sum()
}

/// Adds to each connection's flows the payload of all queries.
fn add_messages(spec: &Spec, query: &QuerySpec, bytes: &mut [f64]) {
    let whole: u64 = query.connections.iter().map(|c| c.request_size + c.response_size).sum();
    let of_root = |l: &&incast_engine::spec::LinkSpec| l.from == query.root;
    let rate = spec.links.iter().find(of_root).map_or(f64::INFINITY, |l| l.rate.as_f64());
    let each = query.think.as_secs_f64() + 8.0 * whole as f64 / rate;
    let span = query.stop.min(spec.duration).saturating_sub(query.first).as_secs_f64();
    let times = query.count.map_or(f64::INFINITY, |count| count as f64).min((span / each).ceil());
    for c in &query.connections {
        bytes[c.request as usize] += times * c.request_size as f64;
        bytes[c.response as usize] += times * c.response_size as f64;
    }
}

/// Payload that an application asks to be sent before the run ends, at `rate` in bits per second, in round trips of
/// `trip_s` seconds.
fn bytes(spec: &Spec, flow: &FlowSpec, trip_s: f64, rate: f64, messages: f64) -> f64 {
    let span = flow.stop.min(spec.duration).saturating_sub(flow.start).as_secs_f64();
    let most = if rate.is_finite() { rate / 8.0 * span } else { f64::MAX };
    let asked = match flow.app {
        App::Bulk(bulk) => bulk.size.map_or(f64::INFINITY, |size| size as f64),
        App::OnOff(app) => most * app.on.as_secs_f64() / (app.on + app.off).as_secs_f64(),
        App::Messages(_) => messages,
        App::Udp(_) => most,
        App::ClosedLoop(app) => {
            let rounds = span / (app.think.as_secs_f64() + trip_s);
            let writes = app.count.map_or(f64::INFINITY, |count| count as f64);
            app.write as f64 * writes.min(rounds * f64::from(app.outstanding))
        }
    };
    asked.min(most)
}
