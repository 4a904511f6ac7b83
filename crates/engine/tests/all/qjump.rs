//! Levels with a limit on each host's packets per epoch (QJUMP).

use crate::support::*;

/// Eight hosts write small messages to a ninth in class 0, and eight others send long flows in class 1, which fill its
/// link. ACKs are in class 1.
fn levels(factor: Option<f64>) -> Spec {
    let mut spec = star(17, Rate::gbps(10), Time::us(1));
    spec.queues = vec![classes(Scheduler::Strict, vec![drop_tail(10_000), drop_tail(200)])];
    let buffers = changed!(tcp(), windows.send_buffer = 1 << 20, windows.receive_buffer = 1 << 20);
    spec.transports = vec![changed!(buffers, rto.rto_min = Time::ms(4))];
    spec.controllers = vec![controller("newreno", &[])];
    let writes = ClosedLoop { write: 1000, outstanding: 40, think: Time::ZERO, count: None };
    let small = |h| FlowSpec { app: App::ClosedLoop(writes), ack_class: 1, ..bulk(h, 16, None) };
    spec.flows = (0..8).map(small).collect();
    spec.flows.extend((8..16).map(|h| FlowSpec { class: 1, ack_class: 1, ..bulk(h, 16, None) }));
    let rule = |factor| Qjump {
        factors: vec![factor],
        hosts: None,
        packet: Some(1500),
        processing: Time::us(1),
        rate: None,
        epoch: None,
    };
    let program = |factor| ProgramSpec { nodes: (0..17).collect(), program: Program::Qjump(rule(factor)) };
    spec.programs = factor.map(program).into_iter().collect();
    run_for(&mut spec, Time::ms(10));
    spec
}

/// The longest queue of class 0 at the shared port, bytes.
fn longest(o: &Outcome) -> u64 {
    o.ports.iter().find(|port| port.name == "s>h16").unwrap().classes[0].queue_max_bytes
}

#[test]
fn with_one_packet_a_host_and_epoch_none_waits_longer_than_an_epoch() {
    // 2 * 17 * 1500 B at 10 Gb/s and 1 us: 41.8 us, in which the link takes 52,250 B
    let o = compared(&levels(Some(1.0)));
    // at most two packets of a host arrive in one epoch: at the end of its own, and at the beginning of its next
    assert!(longest(&o) <= 2 * 8 * 1500, "{}", longest(&o));
    let each: Vec<f64> = o.flows.iter().map(|f| f.delivered as f64 * 8.0 / 10e-3).collect();
    let most = 1500.0 * 8.0 / 41.8e-6;
    assert!(each[..8].iter().all(|rate| *rate <= most && *rate > 0.5 * most), "{each:?} of {most}");
    let long: f64 = each[8..].iter().sum();
    assert!(long > 4e9, "the others have the rest: {long}");
}

#[test]
fn without_a_limit_those_served_first_wait_for_one_another() {
    assert!(longest(&compared(&levels(None))) > 5 * 2 * 8 * 1500);
    // a level may be so high that the network bounds nothing: every host may send as many packets as there are hosts
    let free = longest(&run(&levels(Some(17.0))));
    assert!(free > 2 * 8 * 1500, "{free}");
}

#[test]
fn what_waits_when_the_run_ends_is_in_flight() {
    let o = compared(&levels(Some(0.1)));
    assert!(o.packets_in_flight > 8, "{}", o.packets_in_flight);
}
