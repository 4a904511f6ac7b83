//! Figures of flows: the columns of `flows.parquet`, and the parts `flows`, `fct` and `flowmonitor` of the summary.

use serde_json::Value;

use crate::figure::Of::{Index, OptF64, OptTime, OptU64, Rate, Time, U32, U64, Whole};
use crate::figure::{Figure, Figures, Quantity, rows};
use crate::messages::{Completions, missed_by};
use crate::statistics::{PS, bits_per_second, jain, mean, mean_s, percentile_nearest_rank, ratio, seconds};
use crate::{FlowRecord, Histogram, MonitorEntry, Outcome, Role};

/// `flows.parquet`.
pub(crate) const COLUMNS: &[Quantity<FlowRecord>] = &rows! {
    "flow" [""] = U32(|f| f.flow), "Flow number, from 0.";
    "group" [""] = Index(|f| f.group, |o| o.groups.clone()), "Traffic entry the flow belongs to.";
    "controller" [""] = Index(|f| f.controller, |o| o.controllers.clone()),
        "What governs the flow: a controller with its parameters, or the transport's own control by name (nscc, ...).";
    "role" [""] = Index(|f| f.role as u32, Role::names),
        "data: a connection of its own; request, response: the two directions of a connection that carries queries.";
    "src" [""] = U32(|f| f.src), "Sending host.";
    "dst" [""] = U32(|f| f.dst), "Receiving host.";
    "hops" ["links"] = U32(|f| f.hops), "Links on the path from sender to receiver.";
    "start_s" ["s"] = Time(|f| f.start_ps),
        "Simulated time at which the flow opened; the earliest possible time for a flow that never opened.";
    "finish_s" ["s"] = OptTime(|f| f.finish_ps),
        "Simulated time at which the last byte was acknowledged at the sender; missing where the flow did not finish.";
    "stopped_s" ["s"] = OptTime(|f| f.stopped_ps),
        "Simulated time at which a stopped flow (one with a size or a number of writes that its stop cut short) ended: \
         its written data was acknowledged, or it was reset. A stopped flow has not finished. Missing for all other \
         flows.";
    "received_s" ["s"] = OptTime(|f| f.received_ps),
        "Simulated time at which the receiver had the last byte; missing if it never did.";
    "fct_s" ["s"] = OptTime(fct_ps),
        "Flow completion time, finish_s - start_s; missing for flows without a size and for flows that did not finish, \
         stopped flows included.";
    "ideal_fct_s" ["s"] = OptTime(|f| f.ideal_fct_ps),
        "Completion time on the empty network by the quickest path that routing may use: handshake (if any), \
         serialization, propagation, and the last ACK's way back; a lower bound if segment boundaries may differ; \
         missing without a size.";
    "slowdown" ["1"] = OptF64(slowdown), "fct_s / ideal_fct_s.";
    "ideal_delivery_s" ["s"] = OptTime(|f| f.ideal_delivery_ps),
        "Time on the empty network until the receiver has the last byte, by the quickest path that routing may use: \
         handshake (if any), serialization and propagation; a lower bound if segment boundaries may differ; missing \
         without a size.";
    "delivery_slowdown" ["1"] = OptF64(delivery_slowdown),
        "(received_s - start_s) / ideal_delivery_s: slowdown at the receiver, without the last ACK.";
    "deadline_s" ["s"] = OptTime(|f| f.deadline_ps),
        "Deadline: time from start_s until the receiver must have the last byte; missing without a deadline.";
    "deadline_missed" [""] = Whole(|f, o| missed(f, o).map(|missed| f64::from(u8::from(missed)))),
        "1 if received_s is later than deadline_s after start_s, or if the last byte had not arrived by then; 0 if it \
         had; missing without a deadline, if the run ended before the deadline, and for a flow that did not open.";
    "goodput_bps" ["bit/s"] = OptF64(goodput),
        "size_bytes * 8 / fct_s; for a stopped flow with a size delivered_bytes * 8 / (stopped_s - start_s); missing \
         if neither time is known.";
    "idle_rtt_s" ["s"] = Time(|f| f.idle_rtt_ps), "Round-trip time of a full segment and its ACK on the empty path.";
    "size_bytes" ["B"] = OptU64(|f| f.size), "Application bytes to transfer; missing for a flow without an end.";
    "written_bytes" ["B"] = U64(|f| f.written),
        "Application bytes the transport accepted from the application, whole run.";
    "delivered_bytes" ["B"] = U64(|f| f.delivered), "Application bytes delivered in order to the receiver, whole run.";
    "delivered_measured_bytes" ["B"] = U64(|f| f.delivered_m),
        "Application bytes that reached the receiver for the first time inside the measured interval, in order or \
         not.";
    "throughput_bps" ["bit/s"] = Rate(throughput),
        "delivered_measured_bytes * 8 / length of the measured interval; missing for an empty interval and for a flow \
         that did not open.";
    "throughput_active_bps" ["bit/s"] = Whole(throughput_active),
        "delivered_measured_bytes * 8 / the flow's active time in the measured interval: from its opening (or the \
         interval's start) until its last byte was acknowledged or it was stopped (or the interval's end); missing for \
         a flow that did not open or was not active in the interval.";
    "sent_packets" ["segments"] = U64(|f| f.sent_m),
        "Data segments sent in the measured interval, retransmissions included.";
    "arrived_packets" ["segments"] = U64(|f| f.arrived_m),
        "Segments of sent_packets that reached the receiver, duplicates included.";
    "dropped" ["segments"] = U64(|f| f.dropped_m),
        "Segments of sent_packets of which a packet was dropped by a queue or a host, or lost on a link.";
    "host_dropped" ["packets"] = U64(|f| f.host_dropped_m),
        "Data packets dropped in the measured interval because a host's engine was full.";
    "retransmissions" ["segments"] = U64(|f| f.retransmissions),
        "Data segments retransmitted in the measured interval.",
        sum "flows.retransmissions";
    "timeouts" ["events"] = U64(|f| f.timeouts), "Retransmission timeouts in the measured interval.",
        sum "flows.timeouts";
    "marked" ["segments"] = U64(|f| f.marked), "Data segments of the measured interval that arrived with a CE mark.";
    "trimmed" ["segments"] = U64(|f| f.trimmed),
        "Data segments of the measured interval that arrived as headers, trimmed by queues; part of dropped.";
    "late_packets" ["segments"] = OptU64(|f| (!f.datagrams).then_some(f.late)),
        "Segments of arrived_packets, not retransmissions, that arrived after bytes with higher sequence numbers (RFC \
         4737: reordered); missing for datagrams.";
    "reordering_extent_mean" ["packets"] = OptF64(|f| (f.extents > 0).then(|| f.extent_sum as f64 / f.extents as f64)),
        "Mean extent (RFC 4737) of the late_packets beyond the data received in order: number of arrivals from the \
         first packet that overtook it to the packet itself; missing without one.";
    "reordering_extent_max" ["packets"] = OptU64(|f| (!f.datagrams).then_some(f.extent_max)),
        "Largest of these extents; missing for datagrams.";
    "reordering_buffer_bytes" ["B"] = OptU64(|f| (!f.datagrams).then_some(f.reordering_buffer)),
        "Most bytes that the receiver buffered beyond a hole, caused by reordering or loss, in the measured interval; \
         missing for datagrams.";
    "delay_mean_s" ["s"] = OptF64(|f| mean_s(f.delay_sum_ps, f.arrived_m)),
        "Mean one-way delay (sender's IP layer to receiver) of arrived_packets; missing without one.";
    "delay_max_s" ["s"] = OptTime(|f| (f.arrived_m > 0).then_some(f.delay_max_ps)),
        "Largest one-way delay of arrived_packets; missing without one.";
    "rtt_mean_s" ["s"] = OptF64(|f| mean_s(f.rtt_sum_ps, f.rtt_count)),
        "Mean of the sender's RTT samples in the measured interval; missing without one.";
    "rtt_samples" ["samples"] = U64(|f| f.rtt_count), "RTT samples in the measured interval.";
    "rtt_min_s" ["s"] = OptTime(|f| f.rtt_min_ps), "Smallest RTT sample of the whole run; missing without one.";
    "sent_packets_total" ["segments"] = U64(|f| f.sent), "As sent_packets, whole run.";
    "arrived_packets_total" ["segments"] = U64(|f| f.arrived), "As arrived_packets, whole run.";
    "dropped_total" ["segments"] = U64(|f| f.dropped), "As dropped, whole run.";
    "fm_tx_packets" ["packets"] = U64(|f| f.fm_tx_packets),
        "FlowMonitor: IP packets sent in the data direction, before fragmentation, SYN, FIN and pure ACKs included.";
    "fm_rx_packets" ["packets"] = U64(|f| f.fm_rx_packets), "FlowMonitor: those received, after reassembly.";
    "fm_rx_bytes" ["B"] = U64(|f| f.fm_rx_bytes), "FlowMonitor: their IP bytes, headers included.";
    "fm_delay_sum_s" ["s"] = Time(|f| f.fm_delay_sum_ps), "FlowMonitor: sum of their delays.";
    "fm_first_tx_s" ["s"] = OptTime(|f| f.fm_first_tx_ps),
        "FlowMonitor: first transmission; missing where nothing was sent.";
    "fm_last_rx_s" ["s"] = OptTime(|f| f.fm_last_rx_ps),
        "FlowMonitor: last reception; missing where nothing was received.";
    "fm_throughput_kibps" ["Kibit/s"] =
        OptF64(|f| (f.fm_tx_packets > 0).then(|| rate_of(&Entry::of_data(f))).flatten()),
        "FlowMonitor: fm_rx_bytes * 8 / (fm_last_rx_s - fm_first_tx_s) / 1024; 0 where nothing was received, missing \
         where nothing was sent.";
};

/// Last column of `flows.parquet`, if links have failures.
pub(crate) const CROSSED: &[Quantity<FlowRecord>] = &rows! {
    "crossed_failure" [""] = U64(|f| u64::from(f.crossed_failure)),
        "1 if the flow crossed a failure of a link: a packet of it, data or acknowledgement, was lost to the failure, \
         or sent while the link was degraded; or the flow was under way when the link failed, and all its packets \
         took the link until then. 0 if not. Only in runs with failures.";
};

fn throughput(flow: &FlowRecord, interval_ps: u64) -> Option<f64> {
    if flow.unopened { None } else { bits_per_second(flow.delivered_m as f64, interval_ps) }
}

/// Throughput over the flow's active time: for a flow that has ended it does not depend on when the others end.
fn throughput_active(flow: &FlowRecord, outcome: &Outcome) -> Option<f64> {
    // data received before the interval leaves only the wait for an ACK, during which no data arrives
    if flow.unopened || flow.received_ps.is_some_and(|at| at <= outcome.measure_from_ps) {
        return None;
    }
    let from = flow.start_ps.max(outcome.measure_from_ps);
    let to = flow.finish_ps.or(flow.stopped_ps).map_or(outcome.measure_to_ps, |at| at.min(outcome.measure_to_ps));
    bits_per_second(flow.delivered_m as f64, to.saturating_sub(from))
}

fn goodput(flow: &FlowRecord) -> Option<f64> {
    match flow.stopped_ps.filter(|_| flow.size.is_some()) {
        Some(at) => bits_per_second(flow.delivered as f64, at.saturating_sub(flow.start_ps)),
        None => bits_per_second(flow.size? as f64, fct_ps(flow)?),
    }
}

fn loss_pct(flow: &FlowRecord) -> Option<f64> {
    ratio(100.0 * flow.dropped_m as f64, flow.sent_m as f64)
}

/// Flows whose figures are computed together: all of a run, or those of one traffic entry.
pub(crate) struct Flows<'a> {
    /// All flows, in flow order.
    pub(crate) all: Vec<&'a FlowRecord>,
    /// Flows whose shares are compared: opened, and not the request direction of a connection, which carries little.
    shares: Vec<&'a FlowRecord>,
    /// Flows whose packets have an order: all but datagrams.
    ordered: Vec<&'a FlowRecord>,
    delay: Histogram,
    rtt: Histogram,
    outcome: &'a Outcome,
    /// True if hosts have engines, which can drop packets.
    hosts_cost: bool,
}

impl<'a> Flows<'a> {
    /// Flows of the groups for which `here` holds.
    pub(crate) fn of(outcome: &'a Outcome, here: impl Fn(usize) -> bool) -> Self {
        Self::among(outcome, |f| here(f.group as usize), &here)
    }

    /// Flows that crossed a failure. Delays and round-trip times are collected by group: their percentiles are missing.
    pub(crate) fn crossed(outcome: &'a Outcome) -> Self {
        Self::among(outcome, |f| f.crossed_failure, |_| false)
    }

    /// The flows for which `here` holds, with the delays and round-trip times of the groups for which `group` holds.
    fn among(outcome: &'a Outcome, here: impl Fn(&FlowRecord) -> bool, group: impl Fn(usize) -> bool) -> Self {
        let all: Vec<&FlowRecord> = outcome.flows.iter().filter(|f| here(f)).collect();
        let merged = |histograms: &[Histogram]| {
            let mut merged = Histogram::new();
            histograms.iter().enumerate().filter(|(i, _)| group(*i)).for_each(|(_, h)| merged.merge(h));
            merged
        };
        Self {
            shares: all.iter().copied().filter(|f| f.role != Role::Request && !f.unopened).collect(),
            ordered: all.iter().copied().filter(|f| !f.datagrams).collect(),
            all,
            delay: merged(&outcome.delay),
            rtt: merged(&outcome.rtt),
            outcome,
            hosts_cost: !outcome.engines.is_empty(),
        }
    }

    /// Number of flows with a size, and completion times of the finished ones.
    pub(crate) fn completions(&self) -> Completions {
        let ascending = |of: fn(&FlowRecord) -> Option<f64>| {
            let mut all: Vec<f64> = self.all.iter().filter_map(|f| of(f)).collect();
            all.sort_unstable_by(f64::total_cmp);
            all
        };
        let (slowdowns, delivery_slowdowns) = (ascending(slowdown), ascending(delivery_slowdown));
        let pending = || self.all.iter().filter(|f| f.size.is_some() && f.finish_ps.is_none());
        let so_far = |f: &FlowRecord| f.stopped_ps.unwrap_or(self.outcome.end_ps).saturating_sub(f.start_ps);
        let pending_times = pending().map(|f| so_far(f)).collect();
        // a flow cannot be faster than its ideal
        let pending_slowdowns =
            pending().filter_map(|f| Some(ratio(so_far(f) as f64, f.ideal_fct_ps? as f64)?.max(1.0))).collect();
        let times = self.all.iter().filter_map(|f| fct_ps(f)).collect();
        let missed = self.all.iter().filter_map(|f| missed(f, self.outcome));
        let span_ps = span_ps(&self.all);
        Completions {
            slowdowns,
            pending_slowdowns,
            delivery_slowdowns,
            span_ps,
            ..Completions::new(times, pending_times)
        }
        .judged(missed)
    }

    fn throughput_active_mean(&self) -> Option<f64> {
        mean(&self.shares.iter().filter_map(|f| throughput_active(f, self.outcome)).collect::<Vec<_>>())
    }

    fn goodput(&self, flows: &[&FlowRecord]) -> Option<f64> {
        let bytes = (!flows.is_empty()).then(|| total(flows, |f| f.delivered_m));
        bytes.and_then(|bytes| bits_per_second(bytes, self.outcome.interval_ps()))
    }
}

type Count = fn(&FlowRecord) -> u64;
type OfFlows = for<'a, 'b> fn(&'b Flows<'a>) -> Value;

fn total(flows: &[&FlowRecord], count: Count) -> f64 {
    flows.iter().map(|f| u128::from(count(f))).sum::<u128>() as f64
}

/// Unweighted mean over the flows that have a value.
fn mean_of(flows: &[&FlowRecord], value: fn(&FlowRecord) -> Option<f64>) -> Option<f64> {
    mean(&flows.iter().filter_map(|f| value(f)).collect::<Vec<_>>())
}

/// `part` in per cent of `whole`, all flows added up first.
fn part_pct(flows: &[&FlowRecord], part: Count, whole: Count) -> Option<f64> {
    ratio(100.0 * total(flows, part), total(flows, whole))
}

/// Mean, in seconds, of the times that add up to `sum_ps`, all flows added up first.
fn mean_time(flows: &[&FlowRecord], sum_ps: Count, count: Count) -> Option<f64> {
    ratio(total(flows, sum_ps), total(flows, count) * PS)
}

/// Part `flows` of the summary, without the sums declared by [`COLUMNS`].
pub(crate) const FIGURES: &[Figure<OfFlows>] = &rows! {
    "flows.count" ["flows"] = |f| f.all.len(), "Flows of the scenario, datagram flows included.";
    "flows.finished" ["flows"] = |f| f.all.iter().filter(|f| f.finish_ps.is_some()).count(),
        "Flows whose last byte was acknowledged at the sender before the end of the run.";
    "flows.stopped" ["flows"] = |f| f.all.iter().filter(|f| f.stopped_ps.is_some()).count(),
        "Flows with a size or a number of writes that their stop cut short. They count as unfinished and have no \
         completion time.";
    "flows.throughput_mean_bps" ["bit/s"] = |f| f.goodput(&f.shares).map(|bps| bps / f.shares.len() as f64),
        "Mean over all flows that opened of the application bytes that reached the receiver for the first time in the \
         measured interval (in order or not), times 8, divided by the length of the interval. Excludes request flows \
         and flows that did not open before the end of the run. Includes datagrams.";
    "flows.goodput_total_bps" ["bit/s"] = |f| f.goodput(&f.all),
        "Sum of the same over all flows: application bytes, no headers, no duplicates.";
    "flows.throughput_active_mean_bps" ["bit/s"] = |f| f.throughput_active_mean(),
        "Mean over the flows of throughput_mean_bps of the same bytes, times 8, divided by each flow's active time in \
         the measured interval: from its opening until its last byte was acknowledged at the sender. For finite flows \
         it does not depend on when the last one ends; for endless flows it equals throughput_mean_bps. Flows not \
         active in the interval are left out.";
    "flows.delay_mean_s" ["s"] = |f| mean_time(&f.all, |f| f.delay_sum_ps, |f| f.arrived_m),
        "One-way delay, sender's IP layer to receiver, of data segments sent in the measured interval that arrived: \
         sum over all flows divided by the number of segments.";
    "flows.delay_p99_s" ["s"] = |f| f.delay.percentile(0.99).map(seconds),
        "99th percentile of the same delays over all segments, from a histogram (less than 1/128 above the exact \
         value, never below).";
    "flows.rtt_mean_s" ["s"] = |f| mean_time(&f.all, |f| f.rtt_sum_ps, |f| f.rtt_count),
        "Mean of the senders' RTT samples in the measured interval, all flows together; datagrams have none.";
    "flows.rtt_p99_s" ["s"] = |f| f.rtt.percentile(0.99).map(seconds),
        "99th percentile of the same samples, from a histogram (less than 1/128 above the exact value, never below).";
    "flows.loss_mean_pct" ["%"] = |f| mean_of(&f.all, loss_pct),
        "Unweighted mean, over the flows that sent in the measured interval, of 100 * dropped / sent data segments.";
    "flows.loss_total_pct" ["%"] = |f| part_pct(&f.all, |f| f.dropped_m, |f| f.sent_m),
        "100 * dropped / sent data segments, all flows added up first.";
    "flows.host_loss_total_pct" ["%"] =
        |f| part_pct(&f.all, |f| f.host_dropped_m, |f| f.sent_m).filter(|_| f.hosts_cost),
        "100 * data packets dropped by full host engines / sent data segments, all flows added up first; part of \
         loss_total_pct. Null if hosts have no processing times.";
    "flows.delivery_pct" ["%"] = |f| part_pct(&f.all, |f| f.arrived_m, |f| f.sent_m),
        "100 * arrived / sent data segments, all flows added up first; segments in flight at the end count as sent \
         only.";
    "flows.jain" ["1"] = |f| jain(&f.shares.iter().map(|f| f.delivered_m as f64).collect::<Vec<_>>()),
        "Jain's fairness index (sum x)^2 / (n sum x^2) over the flows of throughput_mean_bps, x the application bytes \
         delivered in the measured interval.";
    "flows.late_pct" ["%"] = |f| part_pct(&f.ordered, |f| f.late, |f| f.arrived_m),
        "100 * late / arrived data segments, all flows except datagrams added up first. A late segment is not a \
         retransmission and arrived after bytes with higher sequence numbers (RFC 4737: reordered).";
    "flows.reordering_extent_mean" ["packets"] =
        |f| ratio(total(&f.all, |f| f.extent_sum), total(&f.all, |f| f.extents)),
        "Mean extent (RFC 4737) of late segments beyond the data received in order: number of arrivals from the first \
         packet that overtook the segment to the segment itself.";
    "flows.reordering_extent_max" ["packets"] = |f| f.all.iter().filter(|f| f.extents > 0).map(|f| f.extent_max).max(),
        "Largest of these extents; null without one.";
    "flows.reordering_buffer_max_bytes" ["B"] = |f| f.ordered.iter().map(|f| f.reordering_buffer).max(),
        "Most bytes that a receiver buffered beyond a hole, caused by reordering or loss, in the measured interval, \
         all flows except datagrams.";
};

/// Part `fct` of the summary.
pub(crate) const COMPLETION: Figures<Completions> = &rows! {
    "fct.count" ["flows"] = |c| c.began,
        "Flows with a size over the whole run, not only the measured interval. Only these have a completion time; \
         datagrams have none.";
    "fct.finished" ["flows"] = |c| c.times.len(),
        "Number of completed flows. The statistics below cover these flows only, except those named at_least.";
    "fct.finished_pct" ["%"] = |c| c.finished_pct(), "100 * fct.finished / fct.count; null without a flow with a size.";
    "fct.mean_at_least_s" ["s"] = |c| c.mean_at_least_s(),
        "Lower bound of the mean over all flows of fct.count: a flow that did not finish counts with the time that it \
         has run so far (until its stop, or the end of the run). Equals fct.mean_s if all finished.";
    "fct.p99_at_least_s" ["s"] = |c| c.percentile_at_least_s(0.99),
        "Lower bound of the 99th percentile over all flows of fct.count, by the same rule. Equals fct.p99_s if all \
         finished; fct.p99_s alone falls when slow flows do not finish.";
    "fct.slowdown_p99_at_least" ["1"] = |c| c.slowdown_at_least(0.99),
        "Lower bound of the 99th percentile of the slowdown over all flows of fct.count, by the same rule; an \
         unfinished flow counts with at least 1.";
    "fct.mean_s" ["s"] = |c| c.mean_s(),
        "Mean flow completion time: from the opening of the flow until its last byte is acknowledged at the sender.";
    "fct.p50_s" ["s"] = |c| c.percentile_s(0.50), "50th percentile of the completion times.";
    "fct.p95_s" ["s"] = |c| c.percentile_s(0.95), "95th percentile of the completion times.";
    "fct.p99_s" ["s"] = |c| c.percentile_s(0.99),
        "99th percentile of the completion times; with fewer than 100 flows the largest.";
    "fct.max_s" ["s"] = |c| c.percentile_s(1.0), "Largest completion time.";
    "fct.slowdown_mean" ["1"] = |c| mean(&c.slowdowns),
        "Mean over finished flows of completion time / ideal completion time. The ideal is the time on the empty \
         network (handshake, serialization, propagation, last ACK).";
    "fct.slowdown_min" ["1"] = |c| c.slowdowns.first().copied(),
        "Smallest of the same ratio. Below 1 is a defect of the engine: use no figure of such a run.";
    "fct.slowdown_p99" ["1"] = |c| percentile_nearest_rank(&c.slowdowns, 0.99), "99th percentile of the same ratio.";
    "fct.delivery_slowdown_mean" ["1"] = |c| mean(&c.delivery_slowdowns),
        "Mean over the flows whose last byte has arrived of (arrival time of the last byte - opening) / ideal delivery \
         time. The ideal is the time on the empty network by the quickest path that routing may use; a lower bound if \
         segment boundaries may differ.";
    "fct.delivery_slowdown_min" ["1"] = |c| c.delivery_slowdowns.first().copied(),
        "Smallest of the same ratio. Below 1 is a defect of the engine: use no figure of such a run.";
    "fct.delivery_slowdown_p99" ["1"] = |c| percentile_nearest_rank(&c.delivery_slowdowns, 0.99),
        "99th percentile of the same ratio.";
    "fct.deadlines" ["flows"] = |c| c.due, "Flows whose deadline was met or missed before the end of the run.";
    "fct.deadlines_missed_pct" ["%"] = |c| c.missed_pct(),
        "100 * missed deadlines / fct.deadlines: the last byte was not at the receiver in time; null without a \
         deadline.";
    "fct.span_s" ["s"] = |c| c.span_ps.map(seconds),
        "Time from the opening of the first flow with a size until the last of these flows has its last byte at the \
         receiver; null unless all are complete. For a collective: its completion time.";
};

/// Completion time; `None` without a size and for a flow that did not finish.
fn fct_ps(flow: &FlowRecord) -> Option<u64> {
    flow.size.and(flow.finish_ps).map(|finish| finish.saturating_sub(flow.start_ps))
}

/// True if the flow missed its deadline; `None` if unknown.
fn missed(flow: &FlowRecord, outcome: &Outcome) -> Option<bool> {
    let deadline = flow.deadline_ps.filter(|_| !flow.unopened);
    missed_by(flow.start_ps, deadline, flow.received_ps, outcome)
}

/// Completion time over the ideal one; `None` without an ideal.
fn slowdown(flow: &FlowRecord) -> Option<f64> {
    ratio(fct_ps(flow)? as f64, flow.ideal_fct_ps? as f64)
}

/// Delivery time over the ideal one: as [`slowdown`], at the receiver.
fn delivery_slowdown(flow: &FlowRecord) -> Option<f64> {
    let delivery = flow.size.and(flow.received_ps)?.saturating_sub(flow.start_ps);
    ratio(delivery as f64, flow.ideal_delivery_ps? as f64)
}

/// Time from the first opening to the arrival of the last byte of the last flow, if all flows with a size have
/// arrived.
fn span_ps(flows: &[&FlowRecord]) -> Option<u64> {
    let sized = || flows.iter().filter(|f| f.size.is_some());
    let last = sized().map(|f| f.received_ps).collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    Some(last.saturating_sub(sized().map(|f| f.start_ps).min()?))
}

/// Part `flowmonitor` of the summary: figures as scripts over ns-3's FlowMonitor compute them.
pub(crate) const FLOWMONITOR: Figures<Outcome> = &rows! {
    "flowmonitor.throughput_kibps" ["Kibit/s"] = |o| throughput_of(&data_entries(o)),
        "As scripts over ns-3's FlowMonitor compute it: mean over data flows of received IP bytes * 8 / (last \
         reception - first transmission) / 1024. A flow that received nothing counts as 0; one that sent nothing is no \
         FlowMonitor flow and is left out.";
    "flowmonitor.delay_s" ["s"] = |o| delay_of(&data_entries(o)),
        "Sum of the delays of received IP packets divided by their number, data direction, all flows.";
    "flowmonitor.loss_pct" ["%"] = |o| unreceived_of(&data_entries(o)),
        "Unweighted mean over data flows that sent of 100 * (tx - rx) / tx IP packets; retransmissions are new \
         packets, packets in flight at the end count as lost.";
    "flowmonitor.delivery_pct" ["%"] = |o| received_pct(&data_entries(o)),
        "100 * rx / tx IP packets, data direction, all flows added up.";
    "flowmonitor.drop_pct" ["%"] = |o| lost_pct(&data_entries(o)),
        "100 * lost / tx IP packets, data direction, all flows added up. Lost: data segments dropped by a queue or a \
         host, or lost on a link; with measure.lost_after, those that FlowMonitor counts as lost. Packets in flight at \
         the end are neither received nor lost.";
    "flowmonitor.entries.throughput_kibps" ["Kibit/s"] = |o| all_entries(o).and_then(|e| throughput_of(&e)),
        "As flowmonitor.throughput_kibps over all entries: ACK directions are FlowMonitor flows of their own and enter \
         the mean. With measure.entries, over that many entries in the order of their first packets. As all figures of \
         entries, null unless measure.acks is true.";
    "flowmonitor.entries.delay_s" ["s"] = |o| all_entries(o).and_then(|e| delay_of(&e)),
        "Sum of the delays of received IP packets divided by their number, ACK directions included.";
    "flowmonitor.entries.loss_pct" ["%"] = |o| all_entries(o).and_then(|e| unreceived_of(&e)),
        "As flowmonitor.loss_pct over all entries.";
    "flowmonitor.entries.delivery_pct" ["%"] = |o| all_entries(o).and_then(|e| received_pct(&e)),
        "As flowmonitor.delivery_pct, ACK directions included.";
    "flowmonitor.entries.drop_pct" ["%"] = |o| all_entries(o).and_then(|e| lost_pct(&e)),
        "As flowmonitor.drop_pct, ACK directions included.";
    "flowmonitor.entries.receiving_kibps" ["Kibit/s"] = |o| all_entries(o).and_then(|e| throughput_of(&receiving(&e))),
        "As flowmonitor.entries.throughput_kibps over the entries that received something.";
    "flowmonitor.entries.missing_pct" ["%"] = |o| all_entries(o).and_then(|e| received_pct(&e)).map(|pct| 100.0 - pct),
        "100 * (tx - rx) / tx IP packets, all entries added up: packets in flight at the end count as missing.";
    "flowmonitor.entries.delay_sum_s" ["s"] = |o| all_entries(o).map(|e| sum(&e, |e| e.delay_sum_ps) / PS),
        "Sum of the delays of received IP packets, ACK directions included.";
    "flowmonitor.entries.sent" ["packets"] = |o| all_entries(o).map(|e| sum(&e, |e| e.tx_packets)),
        "IP packets sent, ACK directions included.";
    "flowmonitor.entries.received" ["packets"] = |o| all_entries(o).map(|e| sum(&e, |e| e.rx_packets)),
        "IP packets received, ACK directions included.";
};

/// A FlowMonitor flow: one direction of a connection.
#[derive(Clone, Copy)]
struct Entry {
    tx_packets: u64,
    rx_packets: u64,
    rx_bytes: u64,
    lost_packets: u64,
    delay_sum_ps: u64,
    first_tx_ps: Option<u64>,
    last_rx_ps: Option<u64>,
}

impl Entry {
    fn of_data(flow: &FlowRecord) -> Entry {
        Entry {
            tx_packets: flow.fm_tx_packets,
            rx_packets: flow.fm_rx_packets,
            rx_bytes: flow.fm_rx_bytes,
            lost_packets: flow.fm_lost_packets.unwrap_or(flow.dropped_m),
            delay_sum_ps: flow.fm_delay_sum_ps,
            first_tx_ps: flow.fm_first_tx_ps,
            last_rx_ps: flow.fm_last_rx_ps,
        }
    }

    fn of(own: &MonitorEntry) -> Entry {
        let MonitorEntry { tx_packets, rx_packets, rx_bytes, lost_packets, delay_sum_ps, first_tx_ps, last_rx_ps } =
            *own;
        Entry { tx_packets, rx_packets, rx_bytes, lost_packets, delay_sum_ps, first_tx_ps, last_rx_ps }
    }
}

fn data_entries(outcome: &Outcome) -> Vec<Entry> {
    known(outcome).into_iter().map(Entry::of_data).collect()
}

/// Both directions, or the first of them; `None` if ACK directions were not counted. FlowMonitor's rules apply to
/// both.
fn all_entries(outcome: &Outcome) -> Option<Vec<Entry>> {
    let acks: Vec<&MonitorEntry> = outcome.flows.iter().filter_map(|f| f.fm_acks.as_deref()).collect();
    let counted = !acks.is_empty() || outcome.flows.iter().any(|f| f.fm_lost_packets.is_some());
    let sent = acks.iter().filter(|entry| entry.tx_packets > 0).map(|entry| Entry::of(entry));
    let mut all: Vec<Entry> = data_entries(outcome).into_iter().chain(sent).collect();
    if let Some(first) = outcome.monitored {
        // stable sort: entries that begin at one instant have data directions first, each kind in the order of flows
        all.sort_by_key(|entry| entry.first_tx_ps);
        all.truncate(first as usize);
    }
    counted.then_some(all)
}

fn throughput_of(entries: &[Entry]) -> Option<f64> {
    mean(&entries.iter().filter_map(rate_of).collect::<Vec<_>>())
}

fn rate_of(entry: &Entry) -> Option<f64> {
    kibit_per_second(entry.rx_bytes, entry.first_tx_ps, entry.last_rx_ps)
}

fn receiving(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().filter(|e| e.rx_packets > 0).copied().collect()
}

fn delay_of(entries: &[Entry]) -> Option<f64> {
    ratio(sum(entries, |e| e.delay_sum_ps), sum(entries, |e| e.rx_packets) * PS)
}

fn received_pct(entries: &[Entry]) -> Option<f64> {
    ratio(100.0 * sum(entries, |e| e.rx_packets), sum(entries, |e| e.tx_packets))
}

fn lost_pct(entries: &[Entry]) -> Option<f64> {
    ratio(100.0 * sum(entries, |e| e.lost_packets), sum(entries, |e| e.tx_packets))
}

fn sum(entries: &[Entry], count: fn(&Entry) -> u64) -> f64 {
    entries.iter().map(|entry| u128::from(count(entry))).sum::<u128>() as f64
}

/// Unweighted mean over entries of the per cent of their packets that were not received.
fn unreceived_of(entries: &[Entry]) -> Option<f64> {
    let lost = |e: &Entry| ratio(100.0 * (e.tx_packets as f64 - e.rx_packets as f64), e.tx_packets as f64);
    mean(&entries.iter().filter_map(lost).collect::<Vec<_>>())
}

/// Flows with at least one packet: FlowMonitor knows a flow from its first packet on.
fn known(outcome: &Outcome) -> Vec<&FlowRecord> {
    outcome.flows.iter().filter(|f| f.fm_tx_packets > 0).collect()
}

/// FlowMonitor's throughput of one flow, from first transmission to last reception. ns-3 starts
/// `timeLastRxPacket` at 0, so a flow without a reception comes out as 0 bits over a negative
/// time: 0. A reception at the instant of the first transmission (zero-latency path) has no rate.
fn kibit_per_second(bytes: u64, first_tx: Option<u64>, last_rx: Option<u64>) -> Option<f64> {
    match (first_tx, last_rx) {
        (Some(first), Some(last)) => {
            ratio(bytes as f64 * 8.0, seconds(last.saturating_sub(first))).map(|bps| bps / 1024.0)
        }
        _ => Some(0.0),
    }
}
