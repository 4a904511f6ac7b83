//! Flows with requests to the ports of a switch (RCP, XCP), which join one after the other.

use super::*;

/// A star at 10 Gb/s with an idle round trip of about 100 us, and `program` at its switch. Flow `i`, from host `i + 1`
/// to host 0 under controller `kind`, begins at `starts[i]`.
pub fn joining(kind: &str, program: Program, starts: &[Time], size: Option<u64>) -> Spec {
    let hosts = starts.len() as u32 + 1;
    let mut spec = star(hosts, Rate::gbps(10), Time::us(24));
    spec.transports = vec![asking_transport()];
    spec.controllers = vec![controller(kind, &[])];
    spec.flows = (1..hosts).zip(starts).map(|(h, start)| FlowSpec { start: *start, ..bulk(h, 0, size) }).collect();
    spec.queues = vec![drop_tail(10_000)];
    spec.programs = vec![ProgramSpec { nodes: vec![hosts], program }];
    spec.observe.ports = (0..spec.links.len() as u32).collect();
    spec.observe.flows = (0..hosts - 1).collect();
    run_for(&mut spec, Time::ms(10));
    spec
}

/// Transport of these flows.
pub fn asking_transport() -> TransportSpec {
    changed!(
        tcp(),
        connection.handshake = true,
        acks.delayed_ack = 1,
        windows.send_buffer = 1 << 22,
        windows.receive_buffer = 1 << 22
    )
}

/// Value of a series at a time.
pub fn value_at(o: &Outcome, entity: &str, name: &str, time: u64) -> f64 {
    series(o, entity, name).into_iter().take_while(|(t, _)| *t <= time).last().expect("it has begun").1
}
