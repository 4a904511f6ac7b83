//! What must hold of the outcome of every run.

use incast_engine::spec::{Effect, Spec};
use incast_record::{FlowRecord, Outcome, PortRecord};

/// A law that does not hold: its name, and what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Name of the law.
    pub law: String,
    /// What was found.
    pub what: String,
}

impl Broken {
    /// This law, and what breaks it.
    pub fn new(law: impl Into<String>, what: impl Into<String>) -> Broken {
        Broken { law: law.into(), what: what.into() }
    }
}

/// Part of a completion time that rounding may take away.
const ROUNDING: f64 = 1e-9;

/// The first law that the outcome of a run breaks.
pub fn broken(spec: &Spec, outcome: &Outcome) -> Option<Broken> {
    let o = outcome;
    if o.packets_sent != o.packets_delivered + o.packets_dropped + o.packets_in_flight {
        let [sent, delivered] = [o.packets_sent, o.packets_delivered];
        let what = format!("sent {sent}, delivered {delivered}, dropped {}", o.packets_dropped);
        return Some(Broken::new("packets are conserved", format!("{what}, in flight {}", o.packets_in_flight)));
    }
    o.flows.iter().find_map(of_flow).or_else(|| of_ports(spec, o)).or_else(|| of_others(o))
}

fn of_flow(flow: &FlowRecord) -> Option<Broken> {
    let what = || format!("{flow:?}");
    let holds: [(&str, bool); 7] = [
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
                (Some(finish), Some(ideal)) => (finish - flow.start_ps) as f64 >= ideal as f64 * (1.0 - ROUNDING),
                _ => true,
            },
        ),
        ("largest delay is at least the mean", flow.arrived == 0 || flow.delay_sum_ps == 0 || flow.delay_max_ps > 0),
    ];
    holds.into_iter().find(|(_, holds)| !holds).map(|(law, _)| Broken::new(law, what()))
}

fn of_ports(spec: &Spec, o: &Outcome) -> Option<Broken> {
    let interval = o.measure_to_ps.saturating_sub(o.measure_from_ps);
    let largest = spec.transports.iter().map(|t| u64::from((t.mss + t.header).max(t.mtu))).max().unwrap_or(0);
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
        let room = u128::from(largest) + 120 + u128::from(link.overhead) + u128::from(link.bucket);
        let most = u128::from(rate) * u128::from(interval) / 8_000_000_000_000 + room;
        if port.rate_bps > 0 && link.cell.is_none() && u128::from(port.bytes) > most {
            return Some(Broken::new(
                "bytes sent are at most rate x time and the bucket",
                format!("{most} {}", what()),
            ));
        }
        if let Some(broken) = of_queue(port) {
            return Some(broken);
        }
    }
    None
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
