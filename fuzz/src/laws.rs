//! Laws that hold for the outcome of every run.

use incast_cc::Time;
use incast_engine::spec::{Discipline, Effect, LinkSpec, Spec};
use incast_record::{FlowRecord, Outcome, PortRecord};

/// A broken law: its name, and the finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Name of the law.
    pub law: String,
    /// Finding.
    pub what: String,
}

impl Broken {
    /// The law and its violation.
    pub fn new(law: impl Into<String>, what: impl Into<String>) -> Broken {
        Broken { law: law.into(), what: what.into() }
    }
}

/// Tolerance of a completion time for rounding.
const ROUNDING: f64 = 1e-9;

/// First law broken by the outcome of a run.
pub fn broken(spec: &Spec, outcome: &Outcome) -> Option<Broken> {
    let o = outcome;
    if o.packets_sent != o.packets_delivered + o.packets_dropped + o.packets_in_flight {
        let [sent, delivered] = [o.packets_sent, o.packets_delivered];
        let what = format!("sent {sent}, delivered {delivered}, dropped {}", o.packets_dropped);
        return Some(Broken::new("packets are conserved", format!("{what}, in flight {}", o.packets_in_flight)));
    }
    o.flows.iter().find_map(of_flow).or_else(|| of_ports(spec, o)).or_else(|| of_others(o))
}

/// True if a time is at least its ideal, except for rounding.
fn is_at_least(time: u64, ideal: u64) -> bool {
    time as f64 >= ideal as f64 * (1.0 - ROUNDING)
}

fn of_flow(flow: &FlowRecord) -> Option<Broken> {
    let what = || format!("{flow:?}");
    let holds: [(&str, bool); 9] = [
        ("a flow delivers what was written", flow.delivered <= flow.written),
        ("segments arrive or drop once sent", flow.datagrams || flow.arrived <= flow.sent),
        ("a flow ends after its start", flow.finish_ps.is_none_or(|finish| finish >= flow.start_ps)),
        (
            "the receiver ends before the sender",
            match (flow.received_ps, flow.finish_ps) {
                (Some(received), Some(finish)) => received <= finish,
                _ => true,
            },
        ),
        (
            "a finished flow has delivered its size",
            match (flow.finish_ps, flow.size) {
                (Some(_), Some(size)) => flow.delivered == size,
                _ => true,
            },
        ),
        (
            "no flow beats its ideal",
            match (flow.finish_ps, flow.ideal_fct_ps) {
                (Some(finish), Some(ideal)) => is_at_least(finish.saturating_sub(flow.start_ps), ideal),
                _ => true,
            },
        ),
        (
            "no delivery beats its ideal",
            match (flow.received_ps, flow.ideal_delivery_ps) {
                (Some(received), Some(ideal)) => is_at_least(received.saturating_sub(flow.start_ps), ideal),
                _ => true,
            },
        ),
        ("a flow is finished or stopped", flow.finish_ps.is_none() || flow.stopped_ps.is_none()),
        (
            "largest delay is at least the mean",
            u128::from(flow.delay_max_ps) * u128::from(flow.arrived_m) >= u128::from(flow.delay_sum_ps),
        ),
    ];
    holds.into_iter().find(|(_, holds)| !holds).map(|(law, _)| Broken::new(law, what()))
}

fn of_ports(spec: &Spec, o: &Outcome) -> Option<Broken> {
    let interval = o.measure_to_ps.saturating_sub(o.measure_from_ps);
    // packets waiting in a fair NIC are accepted before their hop
    let accepted: u64 = o.ports.iter().map(|port| port.accepted_total).sum();
    let fair = spec.queues.iter().any(|queue| matches!(queue.discipline, Discipline::FairNic { .. }));
    if o.hops > accepted || o.hops < accepted && !fair {
        return Some(Broken::new("hops are packets that ports accepted", format!("{} and {accepted}", o.hops)));
    }
    let mut rates: Vec<u64> = spec.links.iter().map(|link| link.rate.0).collect();
    for failure in &spec.failures {
        if let Effect::Degraded { rate: Some(rate), .. } = failure.effect {
            rates[failure.link as usize] = rates[failure.link as usize].max(rate.0);
        }
    }
    for ((port, link), rate) in o.ports.iter().zip(&spec.links).zip(rates) {
        let what = || format!("{port:?}");
        if port.busy_ps > interval {
            return Some(Broken::new("a port is busy at most always", what()));
        }
        if port.packets_total > port.accepted_total {
            return Some(Broken::new("a port sends what it accepted", what()));
        }
        if port.rate_bps > 0 && link.cell.is_none() {
            let most = most_bytes(spec, link, (port, rate), interval);
            if u128::from(port.bytes) > most {
                let law = "bytes sent are at most rate x time and the bucket";
                return Some(Broken::new(law, format!("{most} {}", what())));
            }
        }
        if let Some(broken) = of_queue(port) {
            return Some(broken);
        }
    }
    None
}

/// Most bytes that a link carries in an interval at `rate`. Packets leave a token bucket whole: add the burst, or the
/// first packet. At rates without a whole time per byte, each packet's time is rounded.
fn most_bytes(spec: &Spec, link: &LinkSpec, (port, rate): (&PortRecord, u64), interval: u64) -> u128 {
    let largest = spec.transports.iter().map(|t| (t.sizes.mss + t.sizes.header).max(t.sizes.mtu)).max().unwrap_or(0);
    let held = if link.bucket > 0 { link.bucket.max(largest + link.overhead) } else { 0 };
    // each transmission time is rounded to a picosecond, or cut to a tick
    let unit = if link.tick > Time::ZERO || 8_000_000_000_000 % rate == 0 { link.tick.0 } else { 1 };
    let rounded = unit.saturating_mul(port.packets + 1);
    u128::from(rate) * (u128::from(interval) + u128::from(rounded)) / 8_000_000_000_000 + u128::from(held)
}

fn of_queue(port: &PortRecord) -> Option<Broken> {
    let (mean, most) = (port.queue_mean_packets, port.queue_max_packets as f64);
    let holds = [
        ("the mean queue is at most the largest", mean <= most * (1.0 + ROUNDING)),
        (
            "the mean queue in bytes is at most the largest",
            port.queue_mean_bytes <= port.queue_max_bytes as f64 * (1.0 + ROUNDING),
        ),
        ("p99 of a queue is at most the largest", port.queue_p99_packets.is_none_or(|p99| p99 <= most)),
    ];
    holds.into_iter().find(|(_, holds)| !holds).map(|(law, _)| Broken::new(law, format!("{port:?}")))
}

fn of_others(o: &Outcome) -> Option<Broken> {
    let interval = o.measure_to_ps.saturating_sub(o.measure_from_ps);
    if let Some(engine) = o.engines.iter().find(|engine| engine.busy_ps > interval) {
        return Some(Broken::new("a host stage is busy at most always", format!("{engine:?}")));
    }
    if let Some(radio) = o.radios.iter().find(|radio| radio.receiving_ps > interval || radio.channel_busy_ps > interval)
    {
        return Some(Broken::new("a channel is busy at most always", format!("{radio:?}")));
    }
    let message =
        o.messages.iter().find(|m| m.finish_ps.is_some_and(|finish| finish < m.start_ps || finish > o.end_ps));
    message.map(|message| Broken::new("messages end after they begin, in the run", format!("{message:?}")))
}
