//! Hosts that pace flows after marks (HULL).

use crate::support::*;

/// HULL's constants for 10 Gb/s, except that every flow is paced from its first mark on, and for longer than the gaps
/// between marks.
fn pacer() -> Pacer {
    Pacer {
        period: Time::ns(7_200),
        eta: 0.125,
        beta: 16e3,
        burst: None,
        least: Rate::mbps(10),
        share: 1.0,
        timeout: Time::ms(10),
    }
}

/// Two DCTCP senders, whose ACKs cover 8 packets each so that they send bursts, through a port with a phantom queue.
fn bursts(rule: Option<Pacer>) -> Spec {
    let mut spec = star(3, Rate::gbps(10), Time::us(24));
    spec.transports = vec![changed!(asking_transport(), acks.delayed_ack = 8, windows.initial_window = 48.0)];
    spec.controllers = vec![controller("dctcp", &[])];
    spec.queues = vec![drop_tail(10_000)];
    spec.flows = vec![bulk(1, 0, None), bulk(2, 0, None)];
    let phantom = Program::Phantom(Phantom { drain: 0.95, mark: 15_000 });
    spec.programs = vec![ProgramSpec { nodes: vec![3], program: phantom }];
    spec.programs.extend(rule.map(|rule| ProgramSpec { nodes: vec![0, 1, 2], program: Program::Pacer(rule) }));
    spec.observe.ports = (0..spec.links.len() as u32).collect();
    spec.observe.flows = vec![0, 1];
    run_for(&mut spec, Time::ms(20));
    spec
}

/// The longest queue of a port from 5 ms on.
fn longest(o: &Outcome, port: &str) -> f64 {
    let queue = series(o, port, "queue_packets").into_iter().filter(|(t, _)| *t >= 5_000 * US);
    queue.map(|(_, n)| n).fold(0.0, f64::max)
}

fn delivered(o: &Outcome) -> u64 {
    o.flows.iter().map(|f| f.delivered).sum()
}

#[test]
fn bursts_of_marked_flows_leave_one_by_one() {
    let (plain, paced) = (compared(&bursts(None)), compared(&bursts(Some(pacer()))));
    let [bursty, even] = [&plain, &paced].map(|o| longest(o, "h1>s"));
    assert!(bursty >= 7.0 && even <= 3.0, "at the host: {bursty} {even}");
    let [bursty, even] = [&plain, &paced].map(|o| longest(o, "s>h0"));
    assert!(even + 2.0 <= bursty, "at the switch: {bursty} {even}");
    let [plain, paced] = [&plain, &paced].map(delivered);
    assert!(paced as f64 > 0.9 * plain as f64, "{plain} {paced}");
}

#[test]
fn flows_that_hear_of_no_mark_are_as_without_a_pacer() {
    let with = |rule: Option<Pacer>, ecn: bool| {
        let mut spec = bursts(rule);
        if !ecn {
            spec.controllers = vec![controller("newreno", &[])];
        }
        spec.observe.ports.clear();
        run_for(&mut spec, Time::ms(4));
        format!("{:?}", compared(&spec).flows)
    };
    assert_eq!(with(Some(pacer()), false), with(None, false));
    // with a share of 0 no echo paces a flow
    assert_eq!(with(Some(Pacer { share: 0.0, ..pacer() }), true), with(None, true));
    assert_ne!(with(Some(pacer()), true), with(None, true));
}

#[test]
fn flows_that_come_and_go_between_pacer_and_wire_keep_their_order() {
    // a share of echoes, and a memory of two round trips
    let rule = Pacer { share: 0.3, timeout: Time::us(200), ..pacer() };
    let o = compared(&bursts(Some(rule)));
    assert!(o.flows.iter().all(|f| (f.late, f.retransmissions) == (0, 0)));
    let waits: Vec<bool> = series(&o, "h1>s", "pacer_bytes").iter().map(|(_, n)| *n > 0.0).collect();
    let changes = waits.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > 20, "{changes}");
}

#[test]
fn what_waits_when_the_run_ends_is_in_flight() {
    let mut spec = bursts(Some(Pacer { eta: 0.0, beta: 0.0, least: Rate::mbps(10), ..pacer() }));
    // the rate stays the link's: lowered by a slow first link
    spec.links[1].rate = Rate::mbps(500);
    run_for(&mut spec, Time::ms(3));
    let o = compared(&spec);
    assert!(o.packets_in_flight > 1, "{} wait or are under way", o.packets_in_flight);
}
