//! Figures of hosts with processing times: `engines.parquet`, and the part `hosts` of the summary.

use crate::figure::Of::{F64, OptF64, Rate, Text, Time, U64};
use crate::figure::{Figures, Quantity, rows};
use crate::statistics::{self, PS, mean_s, ratio};
use crate::{EngineRecord, Outcome};

/// `engines.parquet`.
pub(crate) const COLUMNS: &[Quantity<EngineRecord>] = &rows! {
    "engine" [""] = Text(|e| e.name.clone()), "Host, rx (NIC to stack) or tx (stack to NIC), and its number.";
    "utilisation" ["1"] = Rate(|e, interval| ratio(e.busy_ps as f64, interval as f64)),
        "Share of the measured interval in which it was busy; missing for an empty interval.";
    "packets" ["packets"] = U64(|e| e.packets), "Packets served in the measured interval.";
    "drops" ["packets"] = U64(|e| e.drops), "Packets dropped in the measured interval because the engine was full.";
    "queue_mean_packets" ["packets"] = F64(|e| e.queue_mean_packets),
        "Time-averaged packets in the engine over the measured interval, the one in service included.";
    "queue_p99_packets" ["packets"] = OptF64(|e| e.queue_p99_packets),
        "99th percentile of the packets in the engine, sampled at the scenario's queue interval; missing without a \
         sample.";
    "queue_max_packets" ["packets"] = U64(|e| e.queue_max_packets), "Most packets in the engine.";
    "wait_mean_s" ["s"] = OptF64(|e| mean_s(e.wait_sum_ps, e.packets)),
        "Mean time from a packet's arrival at the engine to the end of its service; missing without packets.";
    "wait_max_s" ["s"] = Time(|e| e.wait_max_ps), "Longest such time.";
};

/// Part `hosts` of the summary.
pub(crate) const FIGURES: Figures<Outcome> = &rows! {
    "hosts.drops" ["packets"] = |o| (!o.engines.is_empty()).then(|| o.engines.iter().map(|e| e.drops).sum::<u64>()),
        "Packets dropped in the measured interval because a host's engine was full, ACKs included.";
    "hosts.busiest.engine" [""] = |o| busiest(o).map(|e| e.name.clone()),
        "Engine with the largest mean queue: host, rx (NIC to stack) or tx (stack to NIC), number. Null if hosts have \
         no processing times.";
    "hosts.busiest.mean_packets" ["packets"] = |o| busiest(o).map(|e| e.queue_mean_packets),
        "Its time-averaged queue, the packet in service included.";
    "hosts.busiest.p99_packets" ["packets"] = |o| busiest(o).and_then(|e| e.queue_p99_packets),
        "99th percentile of that queue over queues.samples; the largest sample if there are fewer than 100.";
    "hosts.busiest.max_packets" ["packets"] = |o| busiest(o).map(|e| e.queue_max_packets), "Its largest queue.";
    "hosts.busiest.utilisation" ["1"] = |o| busiest(o).and_then(|e| ratio(e.busy_ps as f64, o.interval_ps() as f64)),
        "Share of the measured interval in which it was busy.";
    "hosts.busiest.wait_mean_s" ["s"] = |o| busiest(o).and_then(|e| ratio(e.wait_sum_ps as f64, e.packets as f64 * PS)),
        "Mean time from a packet's arrival at the engine to the end of its service.";
};

fn busiest(outcome: &Outcome) -> Option<&EngineRecord> {
    statistics::busiest(outcome.engines.iter(), |e| e.queue_mean_packets)
}
