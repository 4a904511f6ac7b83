//! Ports of every built-in scenario: they send no more than their links carry.

use incast_cc::{Rate, Time};
use incast_engine::spec::{Discipline, Spec};
use incast_record::{Outcome, PortRecord};
use incast_scenario::{Scenario, builtin};

/// Bits of a byte, times 10^12: divided by the rate, the picoseconds that a byte takes.
const BYTE: u128 = 8_000_000_000_000;

/// Runs the scenario for a number of hops, or its whole duration; the measured interval begins at a third of the run
/// and ends shortly before its end, so that queues are filled and packets in flight at both.
fn run(name: &str, hops: u64) -> (Spec, Outcome) {
    let mut spec = Scenario::load(name).unwrap().build().unwrap();
    let whole = spec.duration;
    spec.duration = Time::us(50).min(whole);
    loop {
        spec.measure_from = spec.duration / 3;
        spec.measure_to = spec.duration - spec.duration / 50 - Time::ps(1);
        spec.observe.queue_interval = spec.duration / 100;
        let outcome = incast_engine::run(&spec, &mut |_| true).unwrap();
        if spec.duration == whole || outcome.hops >= hops {
            return (spec, outcome);
        }
        spec.duration = (spec.duration * 3).min(whole);
    }
}

/// Largest number of bytes that a port can have sent in the measured interval.
fn most(spec: &Spec, port: usize, record: &PortRecord, interval: Time) -> Option<u128> {
    let link = &spec.links[port];
    let changed = spec.failures.iter().filter(|f| f.link == port as u32).filter_map(|f| f.rate());
    let rate = changed.fold(link.rate, Rate::max).0 as u128;
    // times on the wire are rounded to picoseconds
    let rounded = if BYTE % rate == 0 { 0 } else { record.packets as u128 + 1 };
    (link.rate != Rate::INFINITE).then(|| (interval.0 as u128 + rounded) * rate / BYTE + link.bucket as u128)
}

#[test]
fn no_port_sends_more_than_its_link_carries() {
    let all = std::env::var("INCAST_CASES").is_ok_and(|cases| cases == "all");
    let mut queued = 0;
    for name in builtin::names() {
        let (spec, o) = run(name, if all { 1_000_000 } else { 10_000 });
        let interval = Time(o.measure_to_ps - o.measure_from_ps);
        for (i, port) in o.ports.iter().enumerate() {
            if let Some(most) = most(&spec, i, port, interval) {
                assert!(port.bytes as u128 <= most, "{name}: {} sends {} of {most} B", port.name, port.bytes);
            }
            assert!(port.accepted_total >= port.packets_total, "{name}: {port:?}");
            queued += port.accepted_total - port.packets_total;
        }
        // a fair NIC has packets that are no hops yet
        let accepted: u64 = o.ports.iter().map(|p| p.accepted_total).sum();
        let fair = spec.queues.iter().any(|q| matches!(q.discipline, Discipline::FairNic { .. }));
        assert!(o.hops == accepted || (fair && o.hops < accepted), "{name}: {} hops, {accepted} accepted", o.hops);
    }
    assert!(queued > 1_000, "{queued}: queues are filled at the ends of these runs");
}
