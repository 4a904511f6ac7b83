//! Rates that switches grant to flows (RCP): the program of ports, and the senders that request them.

use crate::support::{self, *};

const GAIN: f64 = 1448.0 / 1500.0;

/// Gains of the authors' code; a port begins with a twentieth of its link.
pub fn rcp_program() -> Rcp {
    Rcp { alpha: 0.4, beta: 0.4, utilisation: 1.0, period: Time::NEVER, rtt: None, initial: 0.05, least: 1500 }
}

/// Flows that join on a star.
fn joining(starts: &[Time], size: Option<u64>) -> Spec {
    support::joining("rcp", Program::Rcp(rcp_program()), starts, size)
}

#[test]
fn a_flow_begins_at_the_rate_granted_to_its_syn_and_rises_to_the_links() {
    let o = compared(&joining(&[Time::ZERO], None));
    let rates: Vec<f64> = series(&o, "flow 0", "pacing_rate_bps").iter().map(|(_, rate)| rate / 1e9 / GAIN).collect();
    assert!(rates.iter().all(|r| (0.499..10.001).contains(r)), "{rates:?}");
    // before the answer to the SYN and with it
    assert_eq!(format!("{:.6} {:.6}", rates[0] * GAIN, rates[1]), "0.500000 0.500000");
    // x 1.38, then a little less each time, once a round trip
    assert!((value_at(&o, "flow 0", "pacing_rate_bps", 3_000 * US) / 1e9 / GAIN - 10.0).abs() < 0.2);
    let port = o.ports.iter().find(|p| &*p.name == "s>h0").unwrap();
    assert!(port.bytes as f64 * 8.0 / 0.01 / 1e9 > 8.5, "{}", port.bytes);
    // two links of 24 us each way, and serialization
    let rtt = value_at(&o, "s>h0", "rcp_rtt_s", 10_000 * US);
    assert!((98e-6..110e-6).contains(&rtt), "{rtt}");
    assert_eq!(o.ports.iter().map(|p| p.drops).sum::<u64>(), 0);
}

#[test]
fn a_flow_that_joins_has_the_same_rate_at_once_and_both_a_fair_share_within_a_few_round_trips() {
    let mut spec = joining(&[0, 3000].map(Time::us), None);
    spec.programs[0].program = Program::Rcp(Rcp { period: Time::us(10), ..rcp_program() });
    let o = compared(&spec);
    let rate = |flow: usize, us: u64| value_at(&o, &format!("flow {flow}"), "pacing_rate_bps", us * US) / 1e9 / GAIN;
    // both get the rate that the port grants, the newcomer from its first segment on
    for us in [3200, 3400, 4000, 9000] {
        let (a, b) = (rate(0, us), rate(1, us));
        assert!((a - b).abs() < 0.25 * a.max(b), "{us} us: {a} {b}");
    }
    assert!(rate(0, 2900) > 9.5);
    for us in [5500, 7000, 9900] {
        assert!((4.6..5.3).contains(&rate(1, us)), "{us} us: {}", rate(1, us));
    }
    let left = value_at(&o, "s>h0", "queue_packets", 9_900 * US);
    assert!(left < 10.0, "{left} packets wait");
}

#[test]
fn the_least_rate_of_several_switches_counts() {
    // h0 and h1 at s send over a link of 1 Gb/s to h2 and h3 at t
    let mut spec = joining(&[Time::ZERO; 3], None);
    let hosts = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 0), (4, 1), (5, 2), (5, 3)];
    rewire(&mut spec, &["h0", "h1", "h2", "h3", "s", "t"], &[&hosts[..], &[(4, 5), (5, 4)]].concat());
    spec.domain_of = vec![0, 0, 1, 1, 0, 1];
    spec.links[8].rate = Rate::gbps(1);
    let router = |first: u32| Router::Tree { first, span: 2, stride: 1, down: 0, up: 2, ups: 1 };
    spec.routers = vec![router(0), router(2)];
    spec.flows = vec![bulk(0, 2, None), bulk(1, 3, None)];
    spec.programs[0].nodes = vec![4, 5];
    spec.observe.ports = (0..10).collect();
    spec.observe.flows = vec![0, 1];
    let o = compared(&spec);
    for flow in ["flow 0", "flow 1"] {
        let rate = value_at(&o, flow, "pacing_rate_bps", 9_900 * US) / 1e9 / GAIN;
        assert!((0.45..0.55).contains(&rate), "{flow}: {rate}");
    }
    // the grant of the second switch
    assert!((value_at(&o, "t>h2", "rcp_rate_bps", 9_900 * US) / 1e9 - 10.0).abs() < 1e-6);
}

#[test]
fn a_queue_that_loses_packets_gets_no_more_than_it_takes() {
    let lossy = |spec: Spec| {
        let mut spec = Spec { queues: vec![drop_tail(20)], ..spec };
        spec.links[1].loss = Loss::Packet(0.01);
        run_for(&mut spec, Time::s(20));
        spec
    };
    let o = compared(&lossy(joining(&[Time::ZERO; 40], Some(100_000))));
    assert!(o.ports.iter().map(|p| p.drops).sum::<u64>() > 0);
    assert!(o.ports.iter().map(|p| p.losses).sum::<u64>() > 0);
    assert!(o.flows.iter().all(|f| f.delivered == 100_000), "all arrives");
}

#[test]
fn explicit_queues_grant_the_rate_as_it_is_when_a_packet_leaves() {
    let mut spec = joining(&[0, 3000, 3000, 3000].map(Time::us), None);
    spec.programs[0].program = Program::Rcp(Rcp { period: Time::us(10), ..rcp_program() });
    let fifo = compared(&spec);
    spec.queues[0].explicit = true;
    let explicit = compared(&spec);
    let longest = |o: &Outcome| o.ports.iter().find(|p| &*p.name == "s>h0").unwrap().queue_max_packets;
    // packets queued behind three newcomers at full rate carry a rate as old as the queue is long
    assert!(longest(&explicit) < longest(&fifo) * 3 / 4, "{} {}", longest(&explicit), longest(&fifo));
}

#[test]
fn rates_stop_changing_when_nothing_comes_and_the_run_ends() {
    let mut spec = joining(&[Time::ZERO, Time::us(100)], Some(200_000));
    run_for(&mut spec, Time::s(100));
    let o = compared(&spec);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    let rates = series(&o, "s>h0", "rcp_rate_bps");
    assert_eq!(rates.last().unwrap().1, 1e10, "what is idle grants all");
    assert!(rates.last().unwrap().0 < 10_000 * US, "{:?}", rates.last());
    assert!(rates.len() < 100, "{}", rates.len());
}

#[test]
fn answers_of_two_way_connections_are_paced_at_granted_rates_too() {
    let mut spec = asking(8, 500_000, changed!(asking_transport(), acks.delayed_ack = 1));
    spec.controllers = vec![controller("rcp", &[])];
    spec.links.iter_mut().for_each(|link| link.delay = Time::us(20));
    spec.queues = vec![drop_tail(10_000)];
    spec.programs = vec![ProgramSpec { nodes: vec![9], program: Program::Rcp(rcp_program()) }];
    spec.observe.flows = vec![1];
    run_for(&mut spec, Time::ms(50));
    let o = compared(&spec);
    assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    let rates = series(&o, "flow 1", "pacing_rate_bps");
    assert!(rates.iter().any(|(_, r)| (0.9e9..1.6e9).contains(r)), "an eighth of the link: {rates:?}");
}

#[test]
fn paths_of_a_fat_tree_grant_rates_under_any_routing() {
    for choice in [PathChoice::Ecmp, PathChoice::Spray] {
        let mut spec = fat_tree(4, Rate::gbps(10), Time::us(5));
        spec.choice = choice;
        spec.transports = vec![asking_transport()];
        spec.controllers = vec![controller("rcp", &[]), controller("newreno", &[])];
        let flow = |h: u32| FlowSpec { controller: u32::from(h % 4 == 3), ..bulk(h, (5 * h + 3) % 16, Some(100_000)) };
        spec.flows = (0..16).filter(|h| (5 * h + 3) % 16 != *h).map(flow).collect();
        let nodes = spec.node_names.len() as u32;
        let quick = Rcp { period: Time::us(10), rtt: Some(Time::us(50)), ..rcp_program() };
        spec.programs = vec![ProgramSpec { nodes: (16..nodes).collect(), program: Program::Rcp(quick) }];
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    }
}
