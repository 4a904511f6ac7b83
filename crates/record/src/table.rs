//! The tables of a run: one row a flow, a port, a point of a time series, a packet event.
//!
//! A table is a list of [`Column`]s of equal length; each carries its unit and definition, so that
//! whoever writes or shows it needs no second list.

use std::collections::HashMap;

use crate::summary::{bits_per_second, completion_ps, fct_ps, seconds, slowdown, utilisation};
use crate::{
    ClassRecord, EngineRecord, FlowRecord, Happening, MessageKind, MessageRecord, Near, Outcome, PortRecord, Role,
};

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Whole numbers that may be missing.
    OptU64(Vec<Option<u64>>),
    /// Numbers.
    F64(Vec<f64>),
    /// Numbers that may be missing.
    OptF64(Vec<Option<f64>>),
    /// Small whole numbers: node, flow.
    U32(Vec<u32>),
    /// Text.
    Str(Vec<String>),
    /// Text with few distinct values: row `i` has `names[codes[i]]`.
    Dict {
        /// One a row; every code indexes `names`.
        codes: Vec<u32>,
        /// The distinct values (they need not all occur).
        names: Vec<String>,
    },
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::U64(v) => v.len(),
            Values::OptU64(v) => v.len(),
            Values::F64(v) => v.len(),
            Values::OptF64(v) => v.len(),
            Values::U32(v) => v.len(),
            Values::Str(v) => v.len(),
            Values::Dict { codes, .. } => codes.len(),
        }
    }

    /// No row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, unit as its ending where it has one.
    pub name: &'static str,
    /// Unit; empty for names and numbers of things.
    pub unit: &'static str,
    /// Definition.
    pub doc: &'static str,
    /// One a row.
    pub values: Values,
}

fn column(name: &'static str, unit: &'static str, doc: &'static str, values: Values) -> Column {
    Column { name, unit, doc, values }
}

/// `flows.parquet`: one row a flow, in flow order.
pub fn flows(outcome: &Outcome) -> Vec<Column> {
    let interval_ps = outcome.measure_to_ps.saturating_sub(outcome.measure_from_ps);
    let rows = &outcome.flows;
    let u32s = |f: fn(&FlowRecord) -> u32| Values::U32(rows.iter().map(f).collect());
    let u64s = |f: fn(&FlowRecord) -> u64| Values::U64(rows.iter().map(f).collect());
    let opt_u64s = |f: fn(&FlowRecord) -> Option<u64>| Values::OptU64(rows.iter().map(f).collect());
    let times = |f: fn(&FlowRecord) -> u64| Values::F64(rows.iter().map(|r| seconds(f(r))).collect());
    let opt_times =
        |f: fn(&FlowRecord) -> Option<u64>| Values::OptF64(rows.iter().map(|r| f(r).map(seconds)).collect());
    let dict = |f: fn(&FlowRecord) -> u32, names: &[String]| Values::Dict {
        codes: rows.iter().map(f).collect(),
        names: names.to_vec(),
    };
    let near = |f: fn(&FlowRecord) -> Near| Values::Dict {
        codes: rows.iter().map(|r| f(r) as u32).collect(),
        names: Near::ALL.iter().map(|n| n.name().to_owned()).collect(),
    };
    let mean = |sum: fn(&FlowRecord) -> u64, count: fn(&FlowRecord) -> u64| {
        Values::OptF64(rows.iter().map(|r| (count(r) > 0).then(|| seconds(sum(r)) / count(r) as f64)).collect())
    };
    let extent = rows.iter().map(|f| (f.extents > 0).then(|| f.extent_sum as f64 / f.extents as f64)).collect();
    let extent = Values::OptF64(extent);
    let opened = |f: &FlowRecord| (!f.unopened).then_some(f.delivered_m as f64);
    let throughput = rows.iter().map(|f| bits_per_second(opened(f)?, interval_ps)).collect();
    let delay_max = rows.iter().map(|f| (f.arrived_m > 0).then(|| seconds(f.delay_max_ps))).collect();
    vec![
        column("flow", "", "Flow number, from 0.", u32s(|f| f.flow)),
        column("group", "", "Traffic entry the flow belongs to.", dict(|f| f.group, &outcome.groups)),
        column(
            "controller",
            "",
            "Congestion-control algorithm with its parameters.",
            dict(|f| f.controller, &outcome.controllers),
        ),
        column(
            "role",
            "",
            "data: a connection of its own; request, response: the two directions of a connection that carries \
             queries.",
            Values::Dict {
                codes: rows.iter().map(|f| f.role as u32).collect(),
                names: Role::ALL.iter().map(|r| r.name().to_owned()).collect(),
            },
        ),
        column("src", "", "Sending host.", u32s(|f| f.src)),
        column("dst", "", "Receiving host.", u32s(|f| f.dst)),
        column(
            "shared_source",
            "",
            "Nearest source of an elephant to the flow's source: on its leaf, in its pod, or none. An elephant is \
             compared with the others.",
            near(|f| f.sharing.source),
        ),
        column("shared_destination", "", "As shared_source, of the destinations.", near(|f| f.sharing.destination)),
        column("hops", "links", "Links on the path from sender to receiver.", u32s(|f| f.hops)),
        column(
            "start_s",
            "s",
            "Simulated time at which the flow opened; of one that waits in vain for others, its earliest time.",
            times(|f| f.start_ps),
        ),
        column(
            "finish_s",
            "s",
            "Simulated time at which the last byte was acknowledged at the sender; missing where the flow did not \
             finish.",
            opt_times(|f| f.finish_ps),
        ),
        column(
            "received_s",
            "s",
            "Simulated time at which the receiver had the last byte; missing where it never did.",
            opt_times(|f| f.received_ps),
        ),
        column(
            "fct_s",
            "s",
            "Flow completion time, finish_s - start_s; missing for flows without a size and flows that did not finish.",
            opt_times(fct_ps),
        ),
        column(
            "ideal_fct_s",
            "s",
            "Completion time on the empty network: handshake where there is one, serialization and propagation along \
             the path, and back for the last ACK; missing without a size.",
            opt_times(|f| f.ideal_fct_ps),
        ),
        column("slowdown", "1", "fct_s / ideal_fct_s.", Values::OptF64(rows.iter().map(slowdown).collect())),
        column(
            "idle_rtt_s",
            "s",
            "Round-trip time of a full segment and its ACK on the empty path.",
            times(|f| f.idle_rtt_ps),
        ),
        column(
            "size_bytes",
            "B",
            "Application bytes to transfer; missing where the flow has no end.",
            opt_u64s(|f| f.size),
        ),
        column(
            "written_bytes",
            "B",
            "Application bytes the transport accepted from the application, whole run.",
            u64s(|f| f.written),
        ),
        column(
            "delivered_bytes",
            "B",
            "Application bytes delivered in order to the receiver, whole run.",
            u64s(|f| f.delivered),
        ),
        column(
            "delivered_measured_bytes",
            "B",
            "Application bytes that reached the receiver for the first time inside the measured interval, in order or \
             not.",
            u64s(|f| f.delivered_m),
        ),
        column(
            "throughput_bps",
            "bit/s",
            "delivered_measured_bytes * 8 / length of the measured interval; missing where the interval is empty, and \
             of a flow that did not open.",
            Values::OptF64(throughput),
        ),
        column(
            "sent_packets",
            "segments",
            "Data segments sent in the measured interval, retransmissions included.",
            u64s(|f| f.sent_m),
        ),
        column(
            "arrived_packets",
            "segments",
            "Those of sent_packets that reached the receiver, duplicates included.",
            u64s(|f| f.arrived_m),
        ),
        column(
            "dropped",
            "segments",
            "Those of sent_packets of which a queue or a host dropped, or a link lost, a packet.",
            u64s(|f| f.dropped_m),
        ),
        column(
            "host_dropped",
            "packets",
            "Data packets that engines of hosts had no room for in the measured interval.",
            u64s(|f| f.host_dropped_m),
        ),
        column(
            "retransmissions",
            "segments",
            "Data segments sent again in the measured interval.",
            u64s(|f| f.retransmissions),
        ),
        column("timeouts", "events", "Retransmission timeouts in the measured interval.", u64s(|f| f.timeouts)),
        column(
            "marked",
            "segments",
            "Data segments of the measured interval that arrived with a CE mark.",
            u64s(|f| f.marked),
        ),
        column(
            "trimmed",
            "segments",
            "Data segments of the measured interval that arrived as headers, their payload cut off by queues; part of \
             dropped.",
            u64s(|f| f.trimmed),
        ),
        column(
            "late_packets",
            "segments",
            "Those of arrived_packets, sent for the first time, that came after bytes beyond their end (RFC 4737: \
             reordered); missing of datagrams.",
            opt_u64s(|f| (!f.datagrams).then_some(f.late)),
        ),
        column(
            "reordering_extent_mean",
            "packets",
            "Mean extent (RFC 4737) of those late_packets that ended beyond what had come in order: arrivals from the \
             first that overtook the packet to it; missing without one.",
            extent,
        ),
        column(
            "reordering_extent_max",
            "packets",
            "Largest of these extents; missing of datagrams.",
            opt_u64s(|f| (!f.datagrams).then_some(f.extent_max)),
        ),
        column(
            "reordering_buffer_bytes",
            "B",
            "Most bytes that the receiver kept beyond a hole, of reordering or of losses, in the measured interval; \
             missing of datagrams.",
            opt_u64s(|f| (!f.datagrams).then_some(f.reordering_buffer)),
        ),
        column(
            "delay_mean_s",
            "s",
            "Mean one-way delay (sender's IP layer to receiver) of arrived_packets; missing without one.",
            mean(|f| f.delay_sum_ps, |f| f.arrived_m),
        ),
        column(
            "delay_max_s",
            "s",
            "Largest one-way delay of arrived_packets; missing without one.",
            Values::OptF64(delay_max),
        ),
        column(
            "rtt_mean_s",
            "s",
            "Mean of the sender's RTT samples in the measured interval; missing without one.",
            mean(|f| f.rtt_sum_ps, |f| f.rtt_count),
        ),
        column("rtt_samples", "samples", "RTT samples in the measured interval.", u64s(|f| f.rtt_count)),
        column(
            "rtt_min_s",
            "s",
            "Smallest RTT sample of the whole run; missing without one.",
            opt_times(|f| f.rtt_min_ps),
        ),
        column("sent_packets_total", "segments", "As sent_packets, whole run.", u64s(|f| f.sent)),
        column("arrived_packets_total", "segments", "As arrived_packets, whole run.", u64s(|f| f.arrived)),
        column("dropped_total", "segments", "As dropped, whole run.", u64s(|f| f.dropped)),
        column(
            "fm_tx_packets",
            "packets",
            "FlowMonitor: IP packets sent in the data direction, before fragmentation, SYN, FIN and pure ACKs \
             included.",
            u64s(|f| f.fm_tx_packets),
        ),
        column("fm_rx_packets", "packets", "FlowMonitor: those received, after reassembly.", u64s(|f| f.fm_rx_packets)),
        column("fm_rx_bytes", "B", "FlowMonitor: their IP bytes, headers included.", u64s(|f| f.fm_rx_bytes)),
        column("fm_delay_sum_s", "s", "FlowMonitor: sum of their delays.", times(|f| f.fm_delay_sum_ps)),
        column(
            "fm_first_tx_s",
            "s",
            "FlowMonitor: first transmission; missing where nothing was sent.",
            opt_times(|f| f.fm_first_tx_ps),
        ),
        column(
            "fm_last_rx_s",
            "s",
            "FlowMonitor: last reception; missing where nothing was received.",
            opt_times(|f| f.fm_last_rx_ps),
        ),
    ]
}

/// `ports.parquet`: one row a port (directed link with the queue at its sending end), in link
/// order.
pub fn ports(outcome: &Outcome) -> Vec<Column> {
    let interval_ps = outcome.measure_to_ps.saturating_sub(outcome.measure_from_ps);
    let rows = &outcome.ports;
    let u64s = |f: fn(&PortRecord) -> u64| Values::U64(rows.iter().map(f).collect());
    // A mean over an empty interval is no number.
    let opt_f64s =
        |f: fn(&PortRecord) -> f64| Values::OptF64(rows.iter().map(|p| Some(f(p)).filter(|v| v.is_finite())).collect());
    let rate = rows.iter().map(|p| (p.rate_bps > 0).then_some(p.rate_bps)).collect();
    let used = rows.iter().map(|p| utilisation(p, interval_ps)).collect();
    vec![
        column(
            "port",
            "",
            "Sending and receiving node of the link.",
            Values::Str(rows.iter().map(|p| p.name.clone()).collect()),
        ),
        column("rate_bps", "bit/s", "Rate of the link; missing where infinite.", Values::OptU64(rate)),
        column(
            "utilisation",
            "1",
            "Part of the measured interval the transmitter was busy; missing at infinite rate and for an empty \
             interval.",
            Values::OptF64(used),
        ),
        column("packets", "packets", "Packets sent in the measured interval, ACKs included.", u64s(|p| p.packets)),
        column("bytes", "B", "Their bytes on the wire, link overhead included.", u64s(|p| p.bytes)),
        column("drops", "packets", "Packets the queue dropped in the measured interval.", u64s(|p| p.drops)),
        column(
            "trimmed",
            "packets",
            "Packets the queue cut to their headers in the measured interval.",
            u64s(|p| p.trimmed),
        ),
        column(
            "losses",
            "packets",
            "Packets lost on the link (error rate, failures) in the measured interval.",
            u64s(|p| p.losses),
        ),
        column("marks", "packets", "Packets the queue CE-marked in the measured interval.", u64s(|p| p.marks)),
        column(
            "queue_mean_packets",
            "packets",
            "Time-averaged queue over the measured interval, as the discipline counts packets.",
            opt_f64s(|p| p.queue_mean_packets),
        ),
        column(
            "queue_p99_packets",
            "packets",
            "99th percentile of the queue length sampled at the scenario's queue interval; missing where no sample \
             was taken.",
            Values::OptF64(rows.iter().map(|p| p.queue_p99_packets).collect()),
        ),
        column(
            "queue_max_packets",
            "packets",
            "Largest queue in the measured interval, an accepted arrival included.",
            u64s(|p| p.queue_max_packets),
        ),
        column("queue_mean_bytes", "B", "As queue_mean_packets, in bytes.", opt_f64s(|p| p.queue_mean_bytes)),
        column("queue_max_bytes", "B", "As queue_max_packets, in bytes.", u64s(|p| p.queue_max_bytes)),
        column(
            "pauses",
            "1",
            "Times that priority flow control paused the port in the measured interval, while none of its classes was \
             paused.",
            u64s(|p| p.pauses),
        ),
        column(
            "paused_s",
            "s",
            "Time in the measured interval that some of its classes was paused.",
            Values::F64(rows.iter().map(|p| seconds(p.paused_ps)).collect()),
        ),
        column(
            "deadlocked_s",
            "s",
            "Since when it is paused, where all that its neighbour waits for are ports that wait, over others, for it \
             or for others in a ring; missing where the run ends without that.",
            Values::OptF64(rows.iter().map(|p| p.deadlocked_ps.map(seconds)).collect()),
        ),
        column("packets_total", "packets", "Packets sent, whole run.", u64s(|p| p.packets_total)),
        column("lost_total", "packets", "Drops and losses, whole run.", u64s(|p| p.lost_total)),
    ]
}

/// `classes.parquet`: one row a traffic class of a port, in the order of ports; none where one queue serves all.
pub fn classes(outcome: &Outcome) -> Vec<Column> {
    let rows: Vec<(&str, u32, &ClassRecord)> = { outcome.ports.iter() }
        .flat_map(|p| (0..).zip(&p.classes).map(|(class, c)| (p.name.as_str(), class, c)))
        .collect();
    let u64s = |f: fn(&ClassRecord) -> u64| Values::U64(rows.iter().map(|r| f(r.2)).collect());
    let f64s = |f: fn(&ClassRecord) -> f64| {
        Values::OptF64(rows.iter().map(|r| Some(f(r.2)).filter(|v| v.is_finite())).collect())
    };
    vec![
        column(
            "port",
            "",
            "Sending and receiving node of the link.",
            Values::Str(rows.iter().map(|r| r.0.to_owned()).collect()),
        ),
        column("class", "", "Traffic class.", Values::U32(rows.iter().map(|r| r.1).collect())),
        column("packets", "packets", "Packets accepted in the measured interval, ACKs included.", u64s(|c| c.packets)),
        column("bytes", "B", "Their bytes, as the queue counts them.", u64s(|c| c.bytes)),
        column("drops", "packets", "Packets its queue dropped in the measured interval.", u64s(|c| c.drops)),
        column("marks", "packets", "Packets its queue CE-marked in the measured interval.", u64s(|c| c.marks)),
        column(
            "queue_mean_packets",
            "packets",
            "Time-averaged queue of the class over the measured interval, as its discipline counts packets.",
            f64s(|c| c.queue_mean_packets),
        ),
        column(
            "queue_max_packets",
            "packets",
            "Its largest queue in the measured interval, an accepted arrival included.",
            u64s(|c| c.queue_max_packets),
        ),
        column("queue_mean_bytes", "B", "As queue_mean_packets, in bytes.", f64s(|c| c.queue_mean_bytes)),
        column("queue_max_bytes", "B", "As queue_max_packets, in bytes.", u64s(|c| c.queue_max_bytes)),
        column(
            "pauses",
            "1",
            "Times that priority flow control paused it in the measured interval.",
            u64s(|c| c.pauses),
        ),
        column(
            "paused_s",
            "s",
            "Time in the measured interval that it was paused.",
            Values::F64(rows.iter().map(|r| seconds(r.2.paused_ps)).collect()),
        ),
    ]
}

/// `engines.parquet`: one row an engine of a host that processes its packets; none where hosts cost
/// nothing.
pub fn engines(outcome: &Outcome) -> Vec<Column> {
    let interval_ps = outcome.measure_to_ps.saturating_sub(outcome.measure_from_ps);
    let rows = &outcome.engines;
    let u64s = |f: fn(&EngineRecord) -> u64| Values::U64(rows.iter().map(f).collect());
    let used = rows.iter().map(|e| (interval_ps > 0).then(|| e.busy_ps as f64 / interval_ps as f64)).collect();
    let wait = rows.iter().map(|e| (e.packets > 0).then(|| seconds(e.wait_sum_ps) / e.packets as f64)).collect();
    vec![
        column(
            "engine",
            "",
            "Host, rx (NIC to stack) or tx (stack to NIC), and its number.",
            Values::Str(rows.iter().map(|e| e.name.clone()).collect()),
        ),
        column(
            "utilisation",
            "1",
            "Part of the measured interval it was at work; missing for an empty interval.",
            Values::OptF64(used),
        ),
        column("packets", "packets", "Packets it was done with in the measured interval.", u64s(|e| e.packets)),
        column("drops", "packets", "Packets it had no room for in the measured interval.", u64s(|e| e.drops)),
        column(
            "queue_mean_packets",
            "packets",
            "Time-averaged packets in it over the measured interval, the one in service included.",
            Values::F64(rows.iter().map(|e| e.queue_mean_packets).collect()),
        ),
        column(
            "queue_p99_packets",
            "packets",
            "99th percentile of their number sampled at the scenario's queue interval; missing where no sample was \
             taken.",
            Values::OptF64(rows.iter().map(|e| e.queue_p99_packets).collect()),
        ),
        column("queue_max_packets", "packets", "Most packets in it.", u64s(|e| e.queue_max_packets)),
        column(
            "wait_mean_s",
            "s",
            "Mean time from a packet's arrival at the engine to the end of its service; missing without packets.",
            Values::OptF64(wait),
        ),
        column(
            "wait_max_s",
            "s",
            "Longest such time.",
            Values::F64(rows.iter().map(|e| seconds(e.wait_max_ps)).collect()),
        ),
    ]
}

/// `queries.parquet`: one row a query that began, by traffic entry, root and number.
pub fn queries(outcome: &Outcome) -> Vec<Column> {
    let rows: Vec<&MessageRecord> = outcome.messages.iter().filter(|m| m.kind == MessageKind::Query).collect();
    let mut columns = messages(outcome, &rows);
    let workers = rows.iter().map(|m| m.workers).collect();
    columns.insert(
        1,
        column("root", "", "Host that asks and receives.", Values::U32(rows.iter().map(|m| m.host).collect())),
    );
    columns.insert(3, column("workers", "flows", "Connections asked.", Values::U32(workers)));
    columns
}

/// `writes.parquet`: one row a closed-loop write that began, by traffic entry, flow and number.
pub fn writes(outcome: &Outcome) -> Vec<Column> {
    let rows: Vec<&MessageRecord> = outcome.messages.iter().filter(|m| m.kind == MessageKind::Write).collect();
    let mut columns = messages(outcome, &rows);
    columns.insert(1, column("flow", "", "Flow number.", Values::U32(rows.iter().map(|m| m.flow).collect())));
    columns
}

fn messages(outcome: &Outcome, rows: &[&MessageRecord]) -> Vec<Column> {
    let u64s = |f: fn(&MessageRecord) -> u64| Values::U64(rows.iter().map(|m| f(m)).collect());
    let time =
        |ps: fn(&MessageRecord) -> Option<u64>| Values::OptF64(rows.iter().map(|m| ps(m).map(seconds)).collect());
    vec![
        column(
            "group",
            "",
            "Traffic entry it belongs to.",
            Values::Dict { codes: rows.iter().map(|m| m.group).collect(), names: outcome.groups.clone() },
        ),
        column("number", "", "Its number, from 0.", u64s(|m| m.number)),
        column("bytes", "B", "Bytes of the responses, or of the write.", u64s(|m| m.bytes)),
        column(
            "start_s",
            "s",
            "Simulated time at which it began: the requests, or the write, were due.",
            Values::F64(rows.iter().map(|m| seconds(m.start_ps)).collect()),
        ),
        column(
            "finish_s",
            "s",
            "Simulated time at which it was complete: the root had the last byte of the last response, or the last \
             byte of the write was acknowledged; missing where the run ended before.",
            time(|m| m.finish_ps),
        ),
        column("completion_s", "s", "finish_s - start_s.", time(completion_ps)),
        column(
            "timeouts",
            "events",
            "Retransmission timeouts of its connections between its beginning and its end, whole run.",
            u64s(|m| m.timeouts),
        ),
    ]
}

/// `samples.parquet`: one row a point of a time series, ordered by series, then time.
pub fn samples(outcome: &Outcome) -> Vec<Column> {
    let rows = &outcome.samples;
    vec![
        column(
            "entity",
            "",
            "What was observed: \"flow 3\", or a port by its name.",
            dictionary(rows.iter().map(|s| s.entity.as_str())),
        ),
        column(
            "name",
            "",
            "State variable, its unit as its ending: cwnd_bytes, rtt_s, alpha, queue_packets ...",
            dictionary(rows.iter().map(|s| s.name)),
        ),
        column("time_s", "s", "Simulated time.", Values::F64(rows.iter().map(|s| seconds(s.time_ps)).collect())),
        column(
            "value",
            "as name",
            "Value from this time on, until the next row of the series; missing where it is no number.",
            Values::OptF64(rows.iter().map(|s| Some(s.value).filter(|v| v.is_finite())).collect()),
        ),
    ]
}

/// `trace.parquet`: one row an event of a packet of a traced flow, ordered by time.
pub fn trace(outcome: &Outcome) -> Vec<Column> {
    let rows = &outcome.trace;
    let event = Values::Dict {
        codes: rows.iter().map(|e| e.event as u32).collect(),
        names: Happening::ALL.iter().map(|h| h.name().to_owned()).collect(),
    };
    vec![
        column("time_ps", "ps", "Simulated time, exact.", Values::U64(rows.iter().map(|e| e.time_ps).collect())),
        column("time_s", "s", "The same in seconds.", Values::F64(rows.iter().map(|e| seconds(e.time_ps)).collect())),
        column("flow", "", "Flow number.", Values::U32(rows.iter().map(|e| e.flow).collect())),
        column("place", "", "Node or port where it happened.", dictionary(rows.iter().map(|e| e.place.as_str()))),
        column(
            "event",
            "",
            "send (transport to NIC), enqueue (a port accepted it), mark (accepted and CE set), drop (refused by a \
             queue), loss (lost on a link), arrive (far end of a link), receive (taken by the transport).",
            event,
        ),
        column(
            "seq",
            "B",
            "First payload byte of a data segment; 0 for ACKs.",
            Values::U64(rows.iter().map(|e| e.seq).collect()),
        ),
        column(
            "ack",
            "B",
            "Cumulative acknowledgement; 0 for data.",
            Values::U64(rows.iter().map(|e| e.ack).collect()),
        ),
        column("payload_bytes", "B", "Payload.", Values::U32(rows.iter().map(|e| e.payload).collect())),
        column("size_bytes", "B", "IP packet, headers included.", Values::U32(rows.iter().map(|e| e.size).collect())),
        column(
            "flags",
            "",
            "Header flags joined by a vertical bar: SYN, ACK, ECE, CE ...",
            dictionary(rows.iter().map(|e| e.flags.as_str())),
        ),
    ]
}

/// Distinct texts in the order of their first row.
fn dictionary<'a>(rows: impl Iterator<Item = &'a str>) -> Values {
    let mut codes = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut code_of: HashMap<&str, u32> = HashMap::new();
    for text in rows {
        codes.push(*code_of.entry(text).or_insert_with(|| {
            names.push(text.to_owned());
            names.len() as u32 - 1
        }));
    }
    Values::Dict { codes, names }
}
