//! Figures of ports and their queues: `ports.parquet`, `classes.parquet`, and the part `queues` of the summary.

use crate::figure::Of::{OptF64, OptTime, OptU64, Rate, Text, Time, U32, U64};
use crate::figure::{Column, Figures, Quantity, columns, rows};
use crate::statistics::{self, finite, ratio};
use crate::{ClassRecord, Name, Outcome, PortRecord};

/// `ports.parquet`.
pub(crate) const COLUMNS: &[Quantity<PortRecord>] = &rows! {
    "port" [""] = Text(|p| p.name.to_string()), "Sending and receiving node of the link.";
    "rate_bps" ["bit/s"] = OptU64(|p| (p.rate_bps > 0).then_some(p.rate_bps)),
        "Rate of the link; missing for an infinite rate.";
    "utilisation" ["1"] = Rate(utilisation),
        "Share of the measured interval in which the transmitter was busy; missing at infinite rate and for an empty \
         interval.";
    "packets" ["packets"] = U64(|p| p.packets),
        "Packets whose transmission ended in the measured interval, ACKs and packets lost on the link included.";
    "bytes" ["B"] = U64(|p| p.bytes),
        "Bytes sent on the wire in the measured interval, link overhead included. Of a packet being sent at a limit of \
         the interval only the part inside counts, so bytes never exceed rate times interval. A token bucket may add \
         its burst. Buckets and radio stations count packets whole.";
    "accepted" ["packets"] = U64(|p| p.accepted),
        "Packets that joined the queue or found the transmitter idle in the measured interval. These packets, and \
         those queued at its start, are sent, held at its end, or dropped or returned while they wait.";
    "accepted_bytes" ["B"] = U64(|p| p.accepted_bytes),
        "Bytes of the accepted packets on the wire at their arrival, before any trimming.";
    "drops" ["packets"] = U64(|p| p.drops), "Packets the queue dropped in the measured interval.",
        sum "queues.drops",
        "Packets dropped by queues in the measured interval, all ports, ACKs included.";
    "trimmed" ["packets"] = U64(|p| p.trimmed),
        "Packets trimmed to their headers by the queue in the measured interval.";
    "returned" ["packets"] = U64(|p| p.returned),
        "Headers returned to their senders in the measured interval because the queue was full; not counted as drops.";
    "losses" ["packets"] = U64(|p| p.losses),
        "Packets lost on the link in the measured interval. Failures count at the end of the transmission, error rates \
         when the queue accepts the packet.",
        sum "queues.losses",
        "Packets lost on links (error rates, failures) in the measured interval, all ports.";
    "marks" ["packets"] = U64(|p| p.marks), "Packets the queue CE-marked in the measured interval.",
        sum "queues.marks",
        "Packets CE-marked by queues in the measured interval, all ports.";
    "queue_mean_packets" ["packets"] = OptF64(|p| finite(p.queue_mean_packets)),
        "Time-averaged queue over the measured interval, as the discipline counts packets. For a host with a fair NIC, \
         here and below, the queue is everything that waits in the NIC.";
    "queue_p99_packets" ["packets"] = OptF64(|p| p.queue_p99_packets),
        "99th percentile of the queue length, sampled at the scenario's queue interval; missing without a sample.";
    "queue_max_packets" ["packets"] = U64(|p| p.queue_max_packets),
        "Largest queue in the measured interval, an accepted arrival included.";
    "queue_mean_bytes" ["B"] = OptF64(|p| finite(p.queue_mean_bytes)), "As queue_mean_packets, in bytes.";
    "queue_max_bytes" ["B"] = U64(|p| p.queue_max_bytes), "As queue_max_packets, in bytes.";
    "queue_mean_share" ["1"] = OptF64(queue_share),
        "Time-averaged queue over the largest queue that the limit allows, in the unit of the limit (packets or \
         bytes); missing without a limit.";
    "pauses" ["1"] = U64(|p| p.pauses),
        "Times that priority flow control paused the port while none of its classes was paused, in the measured \
         interval.",
        sum "queues.pauses",
        "Times that priority flow control paused a port in the measured interval, all ports.";
    "paused_s" ["s"] = Time(|p| p.paused_ps), "Time in the measured interval in which at least one class was paused.",
        sum "queues.paused_s",
        "Time in the measured interval in which at least one class of a port was paused, summed over all ports.";
    "deadlocked_s" ["s"] = OptTime(|p| p.deadlocked_ps),
        "Start of a deadlock that lasts until the end of the run: the port is paused, and its neighbour waits only for \
         ports that wait, over others, for this port or in a ring; missing without a deadlock.";
    "packets_total" ["packets"] = U64(|p| p.packets_total), "As packets, whole run.";
    "accepted_total" ["packets"] = U64(|p| p.accepted_total), "As accepted, whole run.";
    "lost_total" ["packets"] = U64(|p| p.lost_total), "Drops and losses, whole run.";
};

/// A traffic class of a port.
struct Class {
    port: Name,
    number: u32,
    counts: ClassRecord,
}

const CLASSES: &[Quantity<Class>] = &rows! {
    "port" [""] = Text(|c| c.port.to_string()), "Sending and receiving node of the link.";
    "class" [""] = U32(|c| c.number), "Traffic class.";
    "packets" ["packets"] = U64(|c| c.counts.packets), "Packets accepted in the measured interval, ACKs included.";
    "bytes" ["B"] = U64(|c| c.counts.bytes), "Bytes accepted, as the queue counts them.";
    "drops" ["packets"] = U64(|c| c.counts.drops),
        "Packets dropped by the queue of the class in the measured interval.";
    "marks" ["packets"] = U64(|c| c.counts.marks),
        "Packets CE-marked by the queue of the class in the measured interval.";
    "queue_mean_packets" ["packets"] = OptF64(|c| finite(c.counts.queue_mean_packets)),
        "Time-averaged queue of the class over the measured interval, as its discipline counts packets.";
    "queue_max_packets" ["packets"] = U64(|c| c.counts.queue_max_packets),
        "Largest queue of the class in the measured interval, an accepted arrival included.";
    "queue_mean_bytes" ["B"] = OptF64(|c| finite(c.counts.queue_mean_bytes)), "As queue_mean_packets, in bytes.";
    "queue_max_bytes" ["B"] = U64(|c| c.counts.queue_max_bytes), "As queue_max_packets, in bytes.";
    "pauses" ["1"] = U64(|c| c.counts.pauses),
        "Times that priority flow control paused the class in the measured interval.";
    "paused_s" ["s"] = Time(|c| c.counts.paused_ps), "Time in the measured interval in which the class was paused.";
};

/// `classes.parquet`: one row per traffic class of a port, in the order of ports; none if one queue serves all.
pub(crate) fn classes(outcome: &Outcome) -> Vec<Column> {
    let of = |port: &PortRecord| {
        let class =
            |(number, counts): (u32, &ClassRecord)| Class { port: port.name.clone(), number, counts: counts.clone() };
        (0..).zip(&port.classes).map(class).collect::<Vec<_>>()
    };
    let rows: Vec<Class> = outcome.ports.iter().flat_map(of).collect();
    columns(CLASSES, &rows.iter().collect::<Vec<_>>(), outcome)
}

/// Part `queues` of the summary, without the sums declared by [`COLUMNS`].
pub(crate) const FIGURES: Figures<Outcome> = &rows! {
    "queues.deadlocked" ["ports"] = |o| o.ports.iter().filter(|p| p.deadlocked_ps.is_some()).count(),
        "Ports that priority flow control has paused at the end of the run and that can never resume: they wait for \
         each other.";
    "queues.samples" ["samples"] = |o| o.queue_samples,
        "Number of samples taken of every queue, at the scenario's queue interval; p99_packets are computed from them. \
         A run that ends early takes fewer.";
    "queues.busiest.port" [""] = |o| busiest(o).map(|p| p.name.to_string()),
        "Port with the largest time-averaged queue in packets among those that accepted a packet in the measured \
         interval; the first such port in link order.";
    "queues.busiest.mean_packets" ["packets"] = |o| busiest(o).map(|p| p.queue_mean_packets),
        "Its time-averaged queue, as its discipline counts packets.";
    "queues.busiest.p99_packets" ["packets"] = |o| busiest(o).and_then(|p| p.queue_p99_packets),
        "99th percentile of its queue length over queues.samples; the largest sample if there are fewer than 100.";
    "queues.busiest.max_packets" ["packets"] = |o| busiest(o).map(|p| p.queue_max_packets), "Its largest queue.";
    "queues.busiest.utilisation" ["1"] = |o| busiest(o).and_then(|p| utilisation(p, o.interval_ps())),
        "Share of the measured interval in which its transmitter was busy; null at infinite rate.";
};

fn busiest(outcome: &Outcome) -> Option<&PortRecord> {
    let used = outcome.ports.iter().filter(|p| p.accepted > 0 || p.drops > 0 || p.queue_max_packets > 0);
    statistics::busiest(used, |p| p.queue_mean_packets)
}

/// Mean queue over its limit.
fn queue_share(port: &PortRecord) -> Option<f64> {
    match (port.limit_packets, port.limit_bytes) {
        (Some(limit), _) => ratio(finite(port.queue_mean_packets)?, limit as f64),
        (None, Some(limit)) => ratio(finite(port.queue_mean_bytes)?, limit as f64),
        (None, None) => None,
    }
}

/// Share of `interval_ps` in which the port was busy; `None` at infinite rate, where transmission takes no time.
fn utilisation(port: &PortRecord, interval_ps: u64) -> Option<f64> {
    if port.rate_bps == 0 { None } else { ratio(port.busy_ps as f64, interval_ps as f64) }
}
