//! Figures of ports and their queues: `ports.parquet`, `classes.parquet`, and the part `queues` of the summary.

use crate::figure::Of::{OptF64, OptTime, OptU64, Rate, Text, Time, U32, U64};
use crate::figure::{Column, Figures, Quantity, columns, rows};
use crate::statistics::{self, finite, ratio};
use crate::{ClassRecord, Name, Outcome, PortRecord};

/// `ports.parquet`.
pub(crate) const COLUMNS: &[Quantity<PortRecord>] = &rows! {
    "port" [""] = Text(|p| p.name.to_string()), "Sending and receiving node of the link.";
    "rate_bps" ["bit/s"] = OptU64(|p| (p.rate_bps > 0).then_some(p.rate_bps)),
        "Rate of the link; missing where infinite.";
    "utilisation" ["1"] = Rate(utilisation),
        "Part of the measured interval the transmitter was busy; missing at infinite rate and for an empty interval.";
    "packets" ["packets"] = U64(|p| p.packets),
        "Packets sent: those whose transmission ended in the measured interval, ACKs and packets that the link lost \
         included.";
    "bytes" ["B"] = U64(|p| p.bytes),
        "Bytes sent: those that went onto the wire in the measured interval, link overhead included. Of packets under \
         way at its ends the part inside it counts, so bytes are never more than the rate times the interval. A token \
         bucket may add what it holds. Buckets and radio stations send packets whole.";
    "accepted" ["packets"] = U64(|p| p.accepted),
        "Packets that joined the queue or found the transmitter idle in the measured interval. What the queue holds \
         when the interval begins, and these, are sent, held at its end, or dropped or sent back while they wait.";
    "accepted_bytes" ["B"] = U64(|p| p.accepted_bytes),
        "Their bytes on the wire as they came: what the queue cuts off later included.";
    "drops" ["packets"] = U64(|p| p.drops), "Packets the queue dropped in the measured interval.",
        sum "queues.drops",
        "Packets dropped by queues in the measured interval, all ports, ACKs included.";
    "trimmed" ["packets"] = U64(|p| p.trimmed), "Packets the queue cut to their headers in the measured interval.";
    "returned" ["packets"] = U64(|p| p.returned),
        "Headers without room that went back to their senders in the measured interval; they are no drops.";
    "losses" ["packets"] = U64(|p| p.losses),
        "Packets lost on the link in the measured interval: by failures as their transmission ends, by an error rate \
         as the queue accepts them.",
        sum "queues.losses",
        "Packets lost on links (error rates, failures) in the measured interval, all ports.";
    "marks" ["packets"] = U64(|p| p.marks), "Packets the queue CE-marked in the measured interval.",
        sum "queues.marks",
        "Packets CE-marked by queues in the measured interval, all ports.";
    "queue_mean_packets" ["packets"] = OptF64(|p| finite(p.queue_mean_packets)),
        "Time-averaged queue over the measured interval, as the discipline counts packets. At a host with a fair NIC \
         the queue, here and below, is all that waits in the NIC.";
    "queue_p99_packets" ["packets"] = OptF64(|p| p.queue_p99_packets),
        "99th percentile of the queue length sampled at the scenario's queue interval; missing where no sample was \
         taken.";
    "queue_max_packets" ["packets"] = U64(|p| p.queue_max_packets),
        "Largest queue in the measured interval, an accepted arrival included.";
    "queue_mean_bytes" ["B"] = OptF64(|p| finite(p.queue_mean_bytes)), "As queue_mean_packets, in bytes.";
    "queue_max_bytes" ["B"] = U64(|p| p.queue_max_bytes), "As queue_max_packets, in bytes.";
    "queue_mean_share" ["1"] = OptF64(queue_share),
        "Time-averaged queue over the largest that its limit allows, in packets or bytes as the limit is; missing \
         without a limit.";
    "pauses" ["1"] = U64(|p| p.pauses),
        "Times that priority flow control paused the port in the measured interval, while none of its classes was \
         paused.",
        sum "queues.pauses",
        "Times that priority flow control paused a port in the measured interval, all ports.";
    "paused_s" ["s"] = Time(|p| p.paused_ps), "Time in the measured interval that some of its classes was paused.",
        sum "queues.paused_s",
        "Time in it that some class of a port was paused, summed over all ports.";
    "deadlocked_s" ["s"] = OptTime(|p| p.deadlocked_ps),
        "Since when it is paused, where all that its neighbour waits for are ports that wait, over others, for it or \
         for others in a ring; missing where the run ends without that.";
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
    "bytes" ["B"] = U64(|c| c.counts.bytes), "Their bytes, as the queue counts them.";
    "drops" ["packets"] = U64(|c| c.counts.drops), "Packets its queue dropped in the measured interval.";
    "marks" ["packets"] = U64(|c| c.counts.marks), "Packets its queue CE-marked in the measured interval.";
    "queue_mean_packets" ["packets"] = OptF64(|c| finite(c.counts.queue_mean_packets)),
        "Time-averaged queue of the class over the measured interval, as its discipline counts packets.";
    "queue_max_packets" ["packets"] = U64(|c| c.counts.queue_max_packets),
        "Its largest queue in the measured interval, an accepted arrival included.";
    "queue_mean_bytes" ["B"] = OptF64(|c| finite(c.counts.queue_mean_bytes)), "As queue_mean_packets, in bytes.";
    "queue_max_bytes" ["B"] = U64(|c| c.counts.queue_max_bytes), "As queue_max_packets, in bytes.";
    "pauses" ["1"] = U64(|c| c.counts.pauses), "Times that priority flow control paused it in the measured interval.";
    "paused_s" ["s"] = Time(|c| c.counts.paused_ps), "Time in the measured interval that it was paused.";
};

/// `classes.parquet`: one row a traffic class of a port, in the order of ports; none where one queue serves all.
pub(crate) fn classes(outcome: &Outcome) -> Vec<Column> {
    let of = |port: &PortRecord| {
        let class =
            |(number, counts): (u32, &ClassRecord)| Class { port: port.name.clone(), number, counts: counts.clone() };
        (0..).zip(&port.classes).map(class).collect::<Vec<_>>()
    };
    let rows: Vec<Class> = outcome.ports.iter().flat_map(of).collect();
    columns(CLASSES, &rows.iter().collect::<Vec<_>>(), outcome)
}

/// The part `queues` of the summary, but for the sums that [`COLUMNS`] declares.
pub(crate) const FIGURES: Figures<Outcome> = &rows! {
    "queues.deadlocked" ["ports"] = |o| o.ports.iter().filter(|p| p.deadlocked_ps.is_some()).count(),
        "Ports that priority flow control has paused at the end of the run and that can never go on: they wait for \
         each other.";
    "queues.samples" ["samples"] = |o| o.queue_samples,
        "Times that the length of every queue was sampled, at the scenario's queue interval: what p99_packets are of. \
         A run that ends early has fewer than its duration would give.";
    "queues.busiest.port" [""] = |o| busiest(o).map(|p| p.name.to_string()),
        "Port with the largest time-averaged queue in packets among those that accepted a packet in the measured \
         interval; the first such port in link order.";
    "queues.busiest.mean_packets" ["packets"] = |o| busiest(o).map(|p| p.queue_mean_packets),
        "Its time-averaged queue, as its discipline counts packets.";
    "queues.busiest.p99_packets" ["packets"] = |o| busiest(o).and_then(|p| p.queue_p99_packets),
        "99th percentile of its queue length over queues.samples; with fewer than 100 the largest of them.";
    "queues.busiest.max_packets" ["packets"] = |o| busiest(o).map(|p| p.queue_max_packets), "Its largest queue.";
    "queues.busiest.utilisation" ["1"] = |o| busiest(o).and_then(|p| utilisation(p, o.interval_ps())),
        "Part of the measured interval its transmitter was busy; null at infinite rate.";
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

/// Part of `interval_ps` the port was busy; none at infinite rate, where nothing takes time.
fn utilisation(port: &PortRecord, interval_ps: u64) -> Option<f64> {
    if port.rate_bps == 0 { None } else { ratio(port.busy_ps as f64, interval_ps as f64) }
}
