//! The figures of a run: `summary.json`.
//!
//! [`FIGURES`] is the one list of figures with their units and definitions; it travels inside the
//! summary and is what the documentation is checked against. A figure that does not exist (a mean
//! over nothing, a rate over an empty interval) is null, never 0 and never NaN. Sums over no flow
//! or no port are counts, and 0. Everything is computed from integers in flow and port order, so
//! that one outcome always gives the same bytes.

use serde_json::{Map, Value, json};

use crate::{EngineRecord, FlowRecord, Histogram, MessageKind, MessageRecord, Outcome, PortRecord, Role};

/// Picoseconds in a second.
const PS: f64 = 1e12;

/// One figure of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Where it stands in the summary: keys joined by dots; `groups.*` is every group.
    pub key: &'static str,
    /// Unit; empty for names.
    pub unit: &'static str,
    /// What it is.
    pub definition: &'static str,
}

const fn figure(key: &'static str, unit: &'static str, definition: &'static str) -> Figure {
    Figure { key, unit, definition }
}

/// Every figure of the summary, in its order there.
pub const FIGURES: &[Figure] = &[
    figure("run.scenario", "", "Name of the scenario."),
    figure("run.seed", "", "Seed of the run."),
    figure("run.sim_s", "s", "Simulated time, warm-up included."),
    figure("run.measure_from_s", "s", "Start of the measured interval (end of the warm-up)."),
    figure("run.measure_to_s", "s", "End of the measured interval."),
    figure("run.hops", "packets", "Packets that passed a port, each counted at every port it passed, whole run."),
    figure("run.version", "", "Version of the program."),
    figure("flows.count", "flows", "Flows of the scenario, those of datagrams included."),
    figure(
        "flows.finished",
        "flows",
        "Flows whose last byte was acknowledged at the sender before the end of the run.",
    ),
    figure(
        "flows.throughput_mean_bps",
        "bit/s",
        "Mean over all flows that opened of the application bytes that reached the receiver for the first time in the \
         measured interval (in order or not), times 8, divided by the length of the interval. Left out are flows that \
         carry requests, and those whose start, or what they wait for, did not come before the end of the run; \
         datagrams count.",
    ),
    figure(
        "flows.goodput_total_bps",
        "bit/s",
        "Sum over all flows of the same: application bytes, no headers, no duplicates.",
    ),
    figure(
        "flows.delay_mean_s",
        "s",
        "One-way delay, sender's IP layer to receiver, of data segments sent in the measured interval that arrived: \
         sum over all flows divided by the number of segments.",
    ),
    figure(
        "flows.delay_p99_s",
        "s",
        "99th percentile of the same delays over all segments, from a histogram (less than 1/128 above the exact \
         value, never below).",
    ),
    figure(
        "flows.rtt_mean_s",
        "s",
        "Mean of the RTT samples senders took in the measured interval, all flows together; datagrams give none.",
    ),
    figure(
        "flows.rtt_p99_s",
        "s",
        "99th percentile of the same samples, from a histogram (less than 1/128 above the exact value, never below).",
    ),
    figure(
        "flows.loss_mean_pct",
        "%",
        "Unweighted mean, over the flows that sent in the measured interval, of 100 * dropped / sent data segments.",
    ),
    figure("flows.loss_total_pct", "%", "100 * dropped / sent data segments, all flows added up first."),
    figure(
        "flows.host_loss_total_pct",
        "%",
        "100 * data packets that engines of hosts had no room for / sent data segments, all flows added up first; \
         part of loss_total_pct. Nothing where hosts cost nothing.",
    ),
    figure(
        "flows.delivery_pct",
        "%",
        "100 * arrived / sent data segments, all flows added up first; what is in flight at the end counts as sent \
         only.",
    ),
    figure(
        "flows.jain",
        "1",
        "Jain's fairness index (sum x)^2 / (n sum x^2) over the flows of throughput_mean_bps, x the application bytes \
         delivered in the measured interval.",
    ),
    figure(
        "flows.late_pct",
        "%",
        "100 * late / arrived data segments, all flows but those of datagrams added up first: late are those sent for \
         the first time that came after bytes beyond their end (RFC 4737: reordered).",
    ),
    figure(
        "flows.reordering_extent_mean",
        "packets",
        "Mean extent (RFC 4737) of late segments beyond what had come in order: arrivals from the first that overtook \
         one to it.",
    ),
    figure("flows.reordering_extent_max", "packets", "Largest of these extents; nothing without one."),
    figure(
        "flows.reordering_buffer_max_bytes",
        "B",
        "Most bytes that a receiver kept beyond a hole, of reordering or of losses, in the measured interval, all \
         flows but those of datagrams.",
    ),
    figure("flows.retransmissions", "segments", "Data segments sent again in the measured interval."),
    figure("flows.timeouts", "events", "Retransmission timeouts in the measured interval."),
    figure(
        "fct.count",
        "flows",
        "Flows with a size; only these have a completion time, datagrams have none. The whole run counts, not only the \
         measured interval.",
    ),
    figure("fct.finished", "flows", "Those of them that finished; the figures below are over these."),
    figure(
        "fct.mean_s",
        "s",
        "Mean flow completion time: from the opening of the flow until its last byte is acknowledged at the sender.",
    ),
    figure("fct.p50_s", "s", "50th percentile of the completion times."),
    figure("fct.p95_s", "s", "95th percentile of the completion times."),
    figure("fct.p99_s", "s", "99th percentile of the completion times; with fewer than 100 flows the largest."),
    figure("fct.max_s", "s", "Largest completion time."),
    figure(
        "fct.slowdown_mean",
        "1",
        "Mean over finished flows of completion time / ideal completion time, the ideal being that on the empty \
         network (handshake, serialization, propagation, last ACK).",
    ),
    figure("fct.slowdown_p99", "1", "99th percentile of the same ratio."),
    figure(
        "fct.span_s",
        "s",
        "From the opening of the first flow with a size until the receiver of the last to be complete had its last \
         byte; missing unless all of them are. Of a collective: its completion time.",
    ),
    figure("queries.count", "queries", "Queries that began, whole run."),
    figure("queries.finished", "queries", "Those of them that were answered whole; the figures below are over these."),
    figure(
        "queries.mean_s",
        "s",
        "Mean query completion time: from the instant the requests are written until the root has the last byte of \
         the last response.",
    ),
    figure("queries.p50_s", "s", "50th percentile (median, nearest rank) of the query completion times."),
    figure("queries.p95_s", "s", "95th percentile of the query completion times."),
    figure("queries.p99_s", "s", "99th percentile; with fewer than 100 queries the largest."),
    figure("queries.max_s", "s", "Largest query completion time."),
    figure(
        "queries.with_timeout",
        "queries",
        "Those of the finished queries during which a retransmission timer of their connections fired.",
    ),
    figure("writes.count", "writes", "Closed-loop writes that began, whole run."),
    figure(
        "writes.finished",
        "writes",
        "Those of them that were acknowledged whole; the figures below are over these.",
    ),
    figure(
        "writes.mean_s",
        "s",
        "Mean completion time of writes: from the instant the write is due until its last byte is acknowledged.",
    ),
    figure("writes.p50_s", "s", "50th percentile (median, nearest rank) of their completion times."),
    figure("writes.p95_s", "s", "95th percentile of their completion times."),
    figure("writes.p99_s", "s", "99th percentile; with fewer than 100 writes the largest."),
    figure("writes.max_s", "s", "Largest of their completion times."),
    figure(
        "writes.with_timeout",
        "writes",
        "Those of the finished writes during which the retransmission timer of their flow fired.",
    ),
    figure("queues.drops", "packets", "Packets dropped by queues in the measured interval, all ports, ACKs included."),
    figure(
        "queues.losses",
        "packets",
        "Packets lost on links (error rates, failures) in the measured interval, all ports.",
    ),
    figure("queues.marks", "packets", "Packets CE-marked by queues in the measured interval, all ports."),
    figure("queues.pauses", "1", "Times that priority flow control paused a port in the measured interval, all ports."),
    figure("queues.paused_s", "s", "Time in it that some class of a port was paused, summed over all ports."),
    figure(
        "queues.deadlocked",
        "ports",
        "Ports that priority flow control has paused at the end of the run and that can never go on: they wait for \
         each other.",
    ),
    figure(
        "queues.samples",
        "samples",
        "Times that the length of every queue was sampled, at the scenario's queue interval: what p99_packets are of. \
         A run that ends early has fewer than its duration would give.",
    ),
    figure(
        "queues.busiest.port",
        "",
        "Port with the largest time-averaged queue in packets among those that took a packet in the measured \
         interval; the first such port in link order.",
    ),
    figure("queues.busiest.mean_packets", "packets", "Its time-averaged queue, as its discipline counts packets."),
    figure(
        "queues.busiest.p99_packets",
        "packets",
        "99th percentile of its queue length over queues.samples; with fewer than 100 the largest of them.",
    ),
    figure("queues.busiest.max_packets", "packets", "Its largest queue."),
    figure(
        "queues.busiest.utilisation",
        "1",
        "Part of the measured interval its transmitter was busy; null at infinite rate.",
    ),
    figure(
        "hosts.drops",
        "packets",
        "Packets that engines of hosts had no room for in the measured interval, ACKs included.",
    ),
    figure(
        "hosts.busiest.engine",
        "",
        "Engine with the largest mean queue: host, rx (NIC to stack) or tx (stack to NIC), number. Nothing where \
         hosts cost nothing.",
    ),
    figure("hosts.busiest.mean_packets", "packets", "Its time-averaged queue, the packet in service included."),
    figure(
        "hosts.busiest.p99_packets",
        "packets",
        "99th percentile of that queue over queues.samples; with fewer than 100 the largest of them.",
    ),
    figure("hosts.busiest.max_packets", "packets", "Its largest queue."),
    figure("hosts.busiest.utilisation", "1", "Part of the measured interval it was at work."),
    figure(
        "hosts.busiest.wait_mean_s",
        "s",
        "Mean time from a packet's arrival at the engine to the end of its service.",
    ),
    figure(
        "groups.*",
        "",
        "The flows and fct figures of one traffic entry, over its flows alone; the queries and writes figures where \
         it has any.",
    ),
    figure(
        "flowmonitor.throughput_kibps",
        "Kibit/s",
        "As scripts over ns-3's FlowMonitor compute it: mean over data flows of received IP bytes * 8 / (last \
         reception - first transmission) / 1024. A flow that sent and received nothing counts as 0; one that sent \
         nothing is no FlowMonitor flow and is left out.",
    ),
    figure(
        "flowmonitor.delay_s",
        "s",
        "Sum of the delays of received IP packets divided by their number, data direction, all flows.",
    ),
    figure(
        "flowmonitor.loss_pct",
        "%",
        "Unweighted mean over data flows that sent of 100 * (tx - rx) / tx IP packets; retransmissions are new \
         packets, packets in flight at the end count as lost.",
    ),
];

/// The figures of `outcome` as a JSON object, keys in a fixed order: `run`, `flows`, `fct`,
/// `queues`, `groups`, `flowmonitor`, then `units` and `definitions`, which give unit and
/// definition by figure (see [`FIGURES`]).
///
/// `scenario` and `version` are the names the run goes by.
pub fn summarize(outcome: &Outcome, scenario: &str, version: &str) -> Value {
    let interval_ps = outcome.measure_to_ps.saturating_sub(outcome.measure_from_ps);
    let all: Vec<&FlowRecord> = outcome.flows.iter().collect();
    let costs = !outcome.engines.is_empty();
    let (flows, fct) = flow_figures(&all, interval_ps, &merged(&outcome.delay), &merged(&outcome.rtt), costs);
    json!({
        "run": {
            "scenario": scenario,
            "seed": outcome.seed,
            "sim_s": seconds(outcome.end_ps),
            "measure_from_s": seconds(outcome.measure_from_ps),
            "measure_to_s": seconds(outcome.measure_to_ps),
            "hops": outcome.hops,
            "version": version,
        },
        "flows": flows,
        "fct": fct,
        "queries": message_figures(outcome, MessageKind::Query, |_| true),
        "writes": message_figures(outcome, MessageKind::Write, |_| true),
        "queues": queue_figures(outcome, interval_ps),
        "hosts": engine_figures(&outcome.engines, interval_ps),
        "groups": group_figures(outcome, interval_ps),
        "flowmonitor": flowmonitor(&outcome.flows),
        "units": by_key(|f| f.unit),
        "definitions": by_key(|f| f.definition),
    })
}

/// `summary` as it is written to `summary.json`: indented JSON, one line feed at the end. Floats
/// are the shortest digits that read back as the same number, so equal summaries are equal bytes.
pub fn summary_text(summary: &Value) -> String {
    // The alternate form of a Value is serde_json's pretty printing, without its Result.
    format!("{summary:#}\n")
}

/// Jain's fairness index `(sum x)^2 / (n sum x^2)` of non-negative shares: 1 when all are equal,
/// 1/n when one has everything. `None` without shares or when all are 0.
/// Source: Jain, Chiu, Hawe 1984, DEC-TR-301.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// The rank (from 1) of the `p` quantile among `n` values: `ceil(p n)`, at least 1 and at most
/// `n`. `None` if `n` is 0 or `p` is not a number from 0 to 1.
///
/// `p` is meant as the decimal it was written as: 0.07 * 100 is 7.000000000000001 in binary
/// floating point and still gives rank 7. Products within 4 units in the last place of a whole
/// number (what two roundings, of `p` and of the product, can amount to) are that number.
pub fn nearest_rank(p: f64, n: u64) -> Option<u64> {
    if n == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let product = p * n as f64;
    let whole = product.round();
    let rank = if (product - whole).abs() <= 4.0 * f64::EPSILON * whole { whole } else { product.ceil() };
    Some((rank as u64).clamp(1, n))
}

/// The `p` quantile (`p` from 0 to 1) of `sorted` by nearest rank, see [`nearest_rank`]: always
/// one of the values. `None` if there is none. `sorted` must be in ascending order.
pub fn percentile_nearest_rank<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    nearest_rank(p, sorted.len() as u64).map(|rank| sorted[rank as usize - 1])
}

/// `ps` picoseconds in seconds.
pub(crate) fn seconds(ps: u64) -> f64 {
    ps as f64 / PS
}

/// Completion time as both the summary and the table of flows have it.
pub(crate) fn fct_ps(flow: &FlowRecord) -> Option<u64> {
    flow.size.and(flow.finish_ps).map(|finish| finish.saturating_sub(flow.start_ps))
}

/// Completion time over the ideal one; none where there is no ideal.
pub(crate) fn slowdown(flow: &FlowRecord) -> Option<f64> {
    ratio(fct_ps(flow)? as f64, flow.ideal_fct_ps? as f64)
}

/// `bytes` in `interval_ps` as bits per second; none for an empty interval.
pub(crate) fn bits_per_second(bytes: f64, interval_ps: u64) -> Option<f64> {
    ratio(bytes * 8.0, seconds(interval_ps))
}

/// Part of `interval_ps` the port was busy; none at infinite rate, where nothing takes time.
pub(crate) fn utilisation(port: &PortRecord, interval_ps: u64) -> Option<f64> {
    if port.rate_bps == 0 { None } else { ratio(port.busy_ps as f64, interval_ps as f64) }
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

fn mean(values: &[f64]) -> Option<f64> {
    ratio(values.iter().sum(), values.len() as f64)
}

fn total(flows: &[&FlowRecord], count: impl Fn(&FlowRecord) -> u64) -> u128 {
    flows.iter().map(|f| u128::from(count(f))).sum()
}

/// Sums of 128 bits do not fit JSON numbers; every count of a run fits 64.
fn count(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn merged(histograms: &[Histogram]) -> Histogram {
    let mut all = Histogram::new();
    histograms.iter().for_each(|h| all.merge(h));
    all
}

/// `costs`: hosts have engines, which can lose packets.
fn flow_figures(
    flows: &[&FlowRecord],
    interval_ps: u64,
    delay: &Histogram,
    rtt: &Histogram,
    costs: bool,
) -> (Value, Value) {
    // requests are the small way of a two-way connection: no share of the network that one looks at; what never opened
    // asked for none
    let shared: Vec<&FlowRecord> = flows.iter().copied().filter(|f| f.role != Role::Request && !f.unopened).collect();
    let n = shared.len() as f64;
    let goodput = |flows: &[&FlowRecord]| {
        let bytes = (!flows.is_empty()).then(|| total(flows, |f| f.delivered_m) as f64);
        bytes.and_then(|bytes| bits_per_second(bytes, interval_ps))
    };
    let sent = total(flows, |f| f.sent_m) as f64;
    let arrived = total(flows, |f| f.arrived_m) as f64;
    let rtts = total(flows, |f| f.rtt_count) as f64;
    let extents = total(flows, |f| f.extents) as f64;
    let ordered: Vec<&FlowRecord> = flows.iter().copied().filter(|f| !f.datagrams).collect();
    let losses: Vec<f64> = flows.iter().filter_map(|f| ratio(100.0 * f.dropped_m as f64, f.sent_m as f64)).collect();
    let shares: Vec<f64> = shared.iter().map(|f| f.delivered_m as f64).collect();
    let figures = json!({
        "count": flows.len(),
        "finished": flows.iter().filter(|f| f.finish_ps.is_some()).count(),
        "throughput_mean_bps": goodput(&shared).map(|bps| bps / n),
        "goodput_total_bps": goodput(flows),
        "delay_mean_s": ratio(total(flows, |f| f.delay_sum_ps) as f64, arrived * PS),
        "delay_p99_s": delay.percentile(0.99).map(seconds),
        "rtt_mean_s": ratio(total(flows, |f| f.rtt_sum_ps) as f64, rtts * PS),
        "rtt_p99_s": rtt.percentile(0.99).map(seconds),
        "loss_mean_pct": mean(&losses),
        "loss_total_pct": ratio(100.0 * total(flows, |f| f.dropped_m) as f64, sent),
        "host_loss_total_pct": ratio(100.0 * total(flows, |f| f.host_dropped_m) as f64, sent).filter(|_| costs),
        "delivery_pct": ratio(100.0 * arrived, sent),
        "jain": jain(&shares),
        "late_pct": ratio(100.0 * total(&ordered, |f| f.late) as f64, total(&ordered, |f| f.arrived_m) as f64),
        "reordering_extent_mean": ratio(total(flows, |f| f.extent_sum) as f64, extents),
        "reordering_extent_max": flows.iter().filter(|f| f.extents > 0).map(|f| f.extent_max).max(),
        "reordering_buffer_max_bytes": ordered.iter().map(|f| f.reordering_buffer).max(),
        "retransmissions": count(total(flows, |f| f.retransmissions)),
        "timeouts": count(total(flows, |f| f.timeouts)),
    });
    (figures, completion_figures(flows))
}

fn completion_figures(flows: &[&FlowRecord]) -> Value {
    let mut times: Vec<u64> = flows.iter().filter_map(|f| fct_ps(f)).collect();
    times.sort_unstable();
    let mut slowdowns: Vec<f64> = flows.iter().filter_map(|f| slowdown(f)).collect();
    slowdowns.sort_unstable_by(f64::total_cmp);
    let sum: u128 = times.iter().map(|&t| u128::from(t)).sum();
    let percentile = |p| percentile_nearest_rank(&times, p).map(seconds);
    json!({
        "count": flows.iter().filter(|f| f.size.is_some()).count(),
        "finished": times.len(),
        "mean_s": ratio(sum as f64, times.len() as f64 * PS),
        "p50_s": percentile(0.50),
        "p95_s": percentile(0.95),
        "p99_s": percentile(0.99),
        "max_s": percentile(1.0),
        "slowdown_mean": mean(&slowdowns),
        "slowdown_p99": percentile_nearest_rank(&slowdowns, 0.99),
        "span_s": span_ps(flows).map(seconds),
    })
}

/// From the first opening to the last arrival of a last byte, if all of those with a size have arrived.
fn span_ps(flows: &[&FlowRecord]) -> Option<u64> {
    let sized = || flows.iter().filter(|f| f.size.is_some());
    let last = sized().map(|f| f.received_ps).collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    Some(last.saturating_sub(sized().map(|f| f.start_ps).min()?))
}

/// From the beginning of a query or write to its end.
pub(crate) fn completion_ps(message: &MessageRecord) -> Option<u64> {
    message.finish_ps.map(|finish| finish.saturating_sub(message.start_ps))
}

fn message_figures(outcome: &Outcome, kind: MessageKind, of: impl Fn(&MessageRecord) -> bool) -> Value {
    let all: Vec<&MessageRecord> = outcome.messages.iter().filter(|m| m.kind == kind && of(m)).collect();
    let mut times: Vec<u64> = all.iter().filter_map(|m| completion_ps(m)).collect();
    times.sort_unstable();
    let sum: u128 = times.iter().map(|&t| u128::from(t)).sum();
    let percentile = |p| percentile_nearest_rank(&times, p).map(seconds);
    json!({
        "count": all.len(),
        "finished": times.len(),
        "mean_s": ratio(sum as f64, times.len() as f64 * PS),
        "p50_s": percentile(0.50),
        "p95_s": percentile(0.95),
        "p99_s": percentile(0.99),
        "max_s": percentile(1.0),
        "with_timeout": all.iter().filter(|m| m.finish_ps.is_some() && m.timeouts > 0).count(),
    })
}

fn queue_figures(outcome: &Outcome, interval_ps: u64) -> Value {
    let ports = &outcome.ports;
    let sum = |figure: fn(&PortRecord) -> u64| count(ports.iter().map(|p| u128::from(figure(p))).sum());
    let mut busiest: Option<&PortRecord> = None;
    for port in ports.iter().filter(|p| p.packets > 0 || p.drops > 0 || p.queue_max_packets > 0) {
        if busiest.is_none_or(|b| port.queue_mean_packets > b.queue_mean_packets) {
            busiest = Some(port);
        }
    }
    json!({
        "drops": sum(|p| p.drops),
        "losses": sum(|p| p.losses),
        "marks": sum(|p| p.marks),
        "pauses": sum(|p| p.pauses),
        "paused_s": ports.iter().map(|p| seconds(p.paused_ps)).sum::<f64>(),
        "deadlocked": sum(|p| p.deadlocked_ps.is_some() as u64),
        "samples": outcome.queue_samples,
        "busiest": {
            "port": busiest.map(|p| &p.name),
            "mean_packets": busiest.map(|p| p.queue_mean_packets),
            "p99_packets": busiest.and_then(|p| p.queue_p99_packets),
            "max_packets": busiest.map(|p| p.queue_max_packets),
            "utilisation": busiest.and_then(|p| utilisation(p, interval_ps)),
        },
    })
}

fn engine_figures(engines: &[EngineRecord], interval_ps: u64) -> Value {
    let mut busiest: Option<&EngineRecord> = None;
    for engine in engines {
        if busiest.is_none_or(|b| engine.queue_mean_packets > b.queue_mean_packets) {
            busiest = Some(engine);
        }
    }
    let drops = count(engines.iter().map(|e| u128::from(e.drops)).sum());
    json!({
        "drops": (!engines.is_empty()).then_some(drops),
        "busiest": {
            "engine": busiest.map(|e| &e.name),
            "mean_packets": busiest.map(|e| e.queue_mean_packets),
            "p99_packets": busiest.and_then(|e| e.queue_p99_packets),
            "max_packets": busiest.map(|e| e.queue_max_packets),
            "utilisation": busiest.and_then(|e| ratio(e.busy_ps as f64, interval_ps as f64)),
            "wait_mean_s": busiest.and_then(|e| ratio(e.wait_sum_ps as f64, e.packets as f64 * PS)),
        },
    })
}

fn group_figures(outcome: &Outcome, interval_ps: u64) -> Value {
    let mut groups = Map::new();
    for name in &outcome.groups {
        if groups.contains_key(name) {
            continue;
        }
        // Entries that share a name are one group.
        let here = |index: usize| outcome.groups.get(index) == Some(name);
        let flows: Vec<&FlowRecord> = outcome.flows.iter().filter(|f| here(f.group as usize)).collect();
        let mut delay = Histogram::new();
        outcome.delay.iter().enumerate().filter(|(i, _)| here(*i)).for_each(|(_, h)| delay.merge(h));
        let mut rtt = Histogram::new();
        outcome.rtt.iter().enumerate().filter(|(i, _)| here(*i)).for_each(|(_, h)| rtt.merge(h));
        let (flows, fct) = flow_figures(&flows, interval_ps, &delay, &rtt, !outcome.engines.is_empty());
        let mut figures = Map::from_iter([("flows".to_owned(), flows), ("fct".to_owned(), fct)]);
        for (key, kind) in [("queries", MessageKind::Query), ("writes", MessageKind::Write)] {
            if outcome.messages.iter().any(|m| m.kind == kind && here(m.group as usize)) {
                figures.insert(key.to_owned(), message_figures(outcome, kind, |m| here(m.group as usize)));
            }
        }
        groups.insert(name.clone(), Value::Object(figures));
    }
    Value::Object(groups)
}

fn flowmonitor(flows: &[FlowRecord]) -> Value {
    // FlowMonitor knows a flow from its first packet on.
    let seen: Vec<&FlowRecord> = flows.iter().filter(|f| f.fm_tx_packets > 0).collect();
    let throughputs: Vec<f64> = seen.iter().filter_map(|f| kibit_per_second(f)).collect();
    let losses: Vec<f64> = seen
        .iter()
        .map(|f| 100.0 * (f.fm_tx_packets as f64 - f.fm_rx_packets as f64) / f.fm_tx_packets as f64)
        .collect();
    let received = total(&seen, |f| f.fm_rx_packets) as f64;
    json!({
        "throughput_kibps": mean(&throughputs),
        "delay_s": ratio(total(&seen, |f| f.fm_delay_sum_ps) as f64, received * PS),
        "loss_pct": mean(&losses),
    })
}

/// FlowMonitor's throughput of one flow, from first transmission to last reception. ns-3 starts
/// `timeLastRxPacket` at 0, so a flow without a reception comes out as 0 bits over a negative
/// time: 0. A reception at the instant of the first transmission (zero-latency path) has no rate.
fn kibit_per_second(flow: &FlowRecord) -> Option<f64> {
    match (flow.fm_first_tx_ps, flow.fm_last_rx_ps) {
        (Some(first), Some(last)) => {
            ratio(flow.fm_rx_bytes as f64 * 8.0, seconds(last.saturating_sub(first))).map(|bps| bps / 1024.0)
        }
        _ => Some(0.0),
    }
}

fn by_key(text: impl Fn(&Figure) -> &'static str) -> Value {
    FIGURES.iter().map(|f| (f.key.to_owned(), Value::from(text(f)))).collect::<Map<_, _>>().into()
}
