//! RDMA: times computed by hand, repair of losses, pauses, telemetry stamped at departures, notification packets.

use crate::support::*;
use incast_engine::testing::{Simulation, windows};

/// Packets of 1048 bytes, ACKs of 60.
pub fn rdma(change: impl FnOnce(&mut Rdma)) -> TransportSpec {
    let mut own = Rdma {
        window: Window::Controller,
        base_rtt: None,
        ack_every: 1,
        repair: Repair::GoBackN,
        chunk: 4_000,
        nack_interval: Time::us(500),
        timeout: Time::us(300),
        duplicate_acks: true,
        metadata: None,
        int_multi: 0,
        cnp_packets: false,
        repace: Repace::Auto,
    };
    change(&mut own);
    changed!(
        plain(),
        protocol = Protocol::Rdma(own),
        sizes.mss = 1000,
        sizes.header = 48,
        sizes.ack_size = 60,
        sizes.mtu = 0,
        connection.handshake = false,
        windows.send_buffer = 1 << 30,
        rto.rto_min = Time::us(100)
    )
}

/// Switches that mark departures between these bytes.
fn ramp(min: u64, max: u64, probability: f64, limit: Limit) -> QueueSpec {
    queue(Discipline::EcnRamp(EcnRamp { min, max, probability, at_start: true, key: (0, 0) }), limit)
}

/// `spec` with this transport and controller, and switches with this queue.
pub fn with(mut spec: Spec, transport: TransportSpec, kind: &str, queue: QueueSpec) -> Spec {
    spec.transports = vec![transport];
    spec.queues = vec![queue, endless_queue()];
    let hosts = spec.hosts;
    spec.links.iter_mut().filter(|l| l.from < hosts).for_each(|l| l.queue = 1);
    spec.controllers = vec![controller(kind, &[])];
    spec.stamps = if spec.controllers[0].profile().telemetry { Stamps::Departure } else { Stamps::Arrival };
    spec
}

/// A flow of `packets` packets between two of three hosts around a switch, at 10 Gb/s.
fn alone(packets: u64, transport: TransportSpec, kind: &str) -> Spec {
    let mut spec = star(3, Rate::gbps(10), Time::us(1));
    spec.flows = vec![bulk(0, 1, Some(packets * 1000))];
    with(spec, transport, kind, ramp(100_000, 400_000, 0.2, Limit::None))
}

/// Loses packets whose transmission by link 0 begins in this time, in ns.
fn losing(mut spec: Spec, from: u64, until: u64) -> Spec {
    let effect = Effect::Degraded { rate: None, delay: None, loss: 1.0 };
    spec.failures = vec![Failure { link: 0, from: Time::ns(from), until: Time::ns(until), effect }];
    run_for(&mut spec, Time::ms(5));
    spec
}

/// Times of a packet and of an ACK on a link, in ps.
const PACKET: u64 = 838_400;
const ACK: u64 = 48_000;

#[test]
fn a_lone_flow_keeps_the_line_rate_and_ends_with_the_ack_of_its_last_byte() {
    let o = compared(&alone(50, rdma(|own| own.window = Window::None), "dcqcn"));
    let flow = &o.flows[0];
    assert_eq!(flow.received_ps, Some(51 * PACKET + 2_000_000));
    assert_eq!(flow.finish_ps, Some(51 * PACKET + 2 * ACK + 4_000_000));
}

#[test]
fn times_are_cut_to_ticks() {
    let mut spec = alone(50, rdma(|own| own.window = Window::None), "dcqcn");
    spec.links.iter_mut().for_each(|link| link.tick = Time::ns(1));
    assert_eq!(compared(&spec).flows[0].finish_ps, Some((51 * 838 + 2 * 48 + 4_000) * 1000));
}

#[test]
fn a_window_follows_the_rate() {
    // T of 8 us at 10 Gb/s: 10,000 bytes. The eleventh packet waits for the first ACK
    let fixed = |own: &mut Rdma| (own.window, own.base_rtt) = (Window::Fixed, Some(Time::us(8)));
    let slow = Time::us(5);
    let mut spec = alone(30, rdma(fixed), "dcqcn");
    spec.links.iter_mut().for_each(|link| link.delay = slow);
    let o = compared(&spec);
    let round = 2 * PACKET + 2 * ACK + 4 * slow.0;
    assert_eq!(o.flows[0].finish_ps, Some(3 * round + 9 * PACKET));
}

#[test]
fn a_window_of_less_than_a_byte_sends_one_packet_a_round_trip() {
    for window in [Window::Fixed, Window::Rate] {
        let own = |own: &mut Rdma| (own.window, own.base_rtt) = (window, Some(Time::ps(1)));
        let o = compared(&alone(4, rdma(own), "dcqcn"));
        assert_eq!(o.flows[0].finish_ps, Some(4 * (2 * PACKET + 2 * ACK + 4_000_000)), "{window:?}");
    }
}

#[test]
fn a_sender_goes_back_to_the_lost_packet() {
    // packet 3 is lost
    let o = compared(&losing(alone(40, rdma(|own| own.window = Window::None), "dcqcn"), 2_500, 2_600));
    let flow = &o.flows[0];
    assert_eq!((flow.delivered, flow.timeouts), (40_000, 0));
    assert!(flow.retransmissions > 3, "{flow:?}");
    let chunk = |own: &mut Rdma| (own.window, own.repair) = (Window::None, Repair::GoBackChunk);
    let whole = compared(&losing(alone(40, rdma(chunk), "dcqcn"), 5_000, 5_100));
    assert_eq!((whole.flows[0].delivered, whole.flows[0].timeouts), (40_000, 0));
    assert!(whole.flows[0].retransmissions > 3);
    // one packet is repeated where the receiver keeps the others
    let own = |own: &mut Rdma| (own.window, own.repair) = (Window::None, Repair::Selective);
    let o = compared(&losing(alone(40, rdma(own), "dcqcn"), 2_500, 2_600));
    assert_eq!((o.flows[0].delivered, o.flows[0].retransmissions), (40_000, 1));
}

#[test]
fn a_lost_tail_waits_for_the_timeout_or_for_ever() {
    let last = |timeout| losing(alone(5, rdma(|own| own.timeout = timeout), "dcqcn"), 3_300, 3_400);
    let o = compared(&last(Time::us(300)));
    assert_eq!((o.flows[0].delivered, o.flows[0].timeouts), (5_000, 1));
    let o = compared(&last(Time::ZERO));
    assert_eq!((o.flows[0].delivered, o.flows[0].finish_ps), (4_000, None));
}

/// An incast of seven hosts to one, beside a victim, over a trunk between two switches.
fn incast(kind: &str, transport: TransportSpec, own: QueueSpec) -> Spec {
    let mut spec = star(10, Rate::gbps(10), Time::us(1));
    let hosts = spec.hosts;
    spec.flows = (0..7).map(|h| bulk(h, hosts - 1, Some(100_000))).chain([bulk(7, 8, Some(100_000))]).collect();
    with(spec, transport, kind, own)
}

fn pausing(mut spec: Spec, rule: PfcRule, early: bool) -> Spec {
    spec.buffer = Some(BufferSpec {
        size: 100_000,
        alpha: 1.0,
        reserve: 0,
        count_in_service: !early,
        egress: None,
        pfc: Some(PfcSpec {
            lossless: vec![true],
            threshold: Some(Threshold::Dynamic(0.125)),
            reserve: 0,
            headroom: Headroom::Delays,
            margin: 2496,
            rule,
            on_top: true,
        }),
    });
    run_for(&mut spec, Time::ms(20));
    spec
}

#[test]
fn every_controller_under_pauses_is_the_same_for_all_engines() {
    for kind in ["dcqcn", "timely", "hpcc", "powertcp", "theta-powertcp", "dctcp-rate", "swift", "newreno"] {
        for (rule, early) in [(PfcRule::Hpcc, false), (PfcRule::Ns3Datacenter, true)] {
            let own = rdma(|own| own.window = if kind == "newreno" { Window::Controller } else { Window::Rate });
            let o = compared(&pausing(incast(kind, own, ramp(20_000, 60_000, 0.5, Limit::None)), rule, early));
            assert!(o.flows.iter().all(|f| f.finish_ps.is_some()), "{kind}");
            assert!(o.ports.iter().map(|p| p.pauses).sum::<u64>() > 0 || kind != "dcqcn", "{kind}");
        }
    }
}

/// Two weighted classes with marks at departures, and flows of both.
fn in_two_classes(mut spec: Spec) -> Spec {
    let own = |min| ramp(min, 3 * min, 0.5, Limit::None);
    let two = |quanta: Vec<u32>| classes(Scheduler::Weighted { quanta }, vec![own(10_000), own(20_000)]);
    spec.queues = vec![two(vec![3_000, 1_500]), two(vec![1_500, 1_500])];
    if let Some(pfc) = spec.buffer.as_mut().and_then(|buffer| buffer.pfc.as_mut()) {
        pfc.lossless = vec![true, false];
    }
    for (i, flow) in spec.flows.iter_mut().enumerate() {
        (flow.class, flow.ack_class) = (i as u8 % 2, i as u8 / 2 % 2);
    }
    spec
}

#[test]
fn packets_sent_early_arrive_as_by_an_event_at_each_departure() {
    let own = || rdma(|own| own.window = Window::Rate);
    for ties in [Ties::Hash, Ties::Link, Ties::Scheduled] {
        for (rule, early) in [(PfcRule::Hpcc, true), (PfcRule::Ns3Datacenter, false), (PfcRule::Ns3Datacenter, true)] {
            for tick in [Time::ZERO, Time::ns(1)] {
                let one = pausing(incast("hpcc", own(), ramp(20_000, 60_000, 0.5, Limit::None)), rule, early);
                let two = in_two_classes(pausing(incast("dcqcn", own(), endless_queue()), rule, early));
                let mut alone = incast("hpcc", own(), ramp(5_000, 20_000, 1.0, Limit::Packets(30)));
                run_for(&mut alone, Time::ms(60));
                let mut quick = one.clone();
                // ACKs take less than a tick
                quick.links.iter_mut().for_each(|link| link.rate = Rate::gbps(800));
                quick
                    .flows
                    .iter_mut()
                    .for_each(|flow| flow.app = App::Bulk(Bulk { size: Some(200_001), write: 65_160 }));
                for mut spec in [one, two, alone, quick] {
                    spec.ties = ties;
                    spec.links.iter_mut().for_each(|link| link.tick = tick);
                    let mut simulation = Simulation::new(&spec).unwrap();
                    windows::take_fast_paths(&mut simulation);
                    let mut ports = simulation.domains.iter().flat_map(|domain| &domain.nodes.ports);
                    assert!(ports.any(|port| port.sends_early()), "{ties:?} {rule:?} {early}");
                    let o = compared(&spec);
                    assert!(o.flows.iter().all(|flow| flow.delivered == flow.written));
                }
            }
        }
    }
}

#[test]
fn losses_of_short_queues_are_repaired_the_same_way_by_all_engines() {
    for repair in [Repair::GoBackN, Repair::GoBackChunk, Repair::Selective] {
        for kind in ["dcqcn", "hpcc", "newreno"] {
            let own = rdma(|own| (own.repair, own.window) = (repair, Window::Controller));
            let mut spec = incast(kind, own, ramp(5_000, 20_000, 1.0, Limit::Packets(30)));
            run_for(&mut spec, Time::ms(60));
            let o = compared(&spec);
            assert!(o.flows.iter().all(|f| f.delivered == f.written), "{kind} {repair:?}");
            assert!(o.flows.iter().any(|f| f.retransmissions > 0), "{kind} {repair:?}");
        }
    }
}

#[test]
fn the_egress_pool_drops_lossless_packets() {
    let own = rdma(|own| own.window = Window::Rate);
    let mut spec = pausing(incast("dcqcn", own, ramp(90_000, 90_000, 1.0, Limit::None)), PfcRule::Ns3Datacenter, true);
    assert_eq!(compared(&spec).ports.iter().map(|p| p.drops).sum::<u64>(), 0);
    spec.buffer.as_mut().unwrap().egress = Some(30_000);
    assert!(compared(&spec).ports.iter().map(|p| p.drops).sum::<u64>() > 0);
}

#[test]
fn notification_packets_slow_a_sender_as_marks_in_acks_do() {
    let mean = |cnp_packets| {
        let own = rdma(|own| (own.cnp_packets, own.window) = (cnp_packets, Window::None));
        let o = compared(&incast("dcqcn", own, ramp(10_000, 40_000, 0.5, Limit::None)));
        o.flows.iter().filter_map(|f| f.finish_ps).sum::<u64>() / o.flows.len() as u64
    };
    let (acks, packets) = (mean(false), mean(true));
    let unmarked = {
        let own = rdma(|own| own.window = Window::None);
        let o = compared(&incast("dcqcn", own, ramp(1 << 30, 1 << 30, 1.0, Limit::None)));
        o.flows.iter().filter_map(|f| f.finish_ps).sum::<u64>() / o.flows.len() as u64
    };
    assert!(acks != unmarked && packets != unmarked && acks != packets, "{acks} {packets} {unmarked}");
}

#[test]
fn a_new_rate_moves_the_next_packet_only_where_it_is_asked_for() {
    let mean = |kind, repace| {
        let own = rdma(|own| own.repace = repace);
        let o = compared(&incast(kind, own, ramp(1 << 30, 1 << 30, 1.0, Limit::None)));
        o.flows.iter().filter_map(|f| f.finish_ps).sum::<u64>() / o.flows.len() as u64
    };
    for (kind, by_default) in [("hpcc", Repace::Always), ("theta-powertcp", Repace::Never)] {
        assert_eq!(mean(kind, Repace::Auto), mean(kind, by_default), "{kind}");
        assert_ne!(mean(kind, Repace::Always), mean(kind, Repace::Never), "{kind}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (transport, kind, shown) in [
        (rdma(|own| own.ack_every = 0), "hpcc", "rdma.ack_every = 0: expected"),
        (rdma(|own| own.base_rtt = Some(Time::ZERO)), "hpcc", "rdma.base_rtt = 0s: expected a time above 0"),
        (rdma(|own| own.metadata = Some(5_000)), "hpcc", "rdma.metadata = 5000: expected at most 1000B"),
        (rdma(|_| ()), "xcp", "xcp needs requests to switches"),
        (rdma(|_| ()), "bbr", "bbr needs samples of delivery rates"),
    ] {
        let error = incast_engine::run(&alone(1, transport, kind), &mut |_| true).unwrap_err().to_string();
        assert!(error.contains(shown), "{error}");
    }
}
