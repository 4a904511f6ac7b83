//! Windows that switches allow (XCP): the program of ports, and the senders that request them.

use crate::support::{self, *};

/// The paper's gains.
pub fn xcp_program() -> Xcp {
    Xcp {
        alpha: 0.4,
        beta: 0.226,
        shuffle: 0.1,
        utilisation: 1.0,
        interval: Time::ZERO,
        queue_share: 1.0,
        queue_interval: Time::ZERO,
        rtt: None,
    }
}

/// Flows that join on a star.
fn joining(starts: &[Time], size: Option<u64>) -> Spec {
    support::joining("xcp", Program::Xcp(xcp_program()), starts, size)
}

/// Maximum of a series from a time on.
fn most(o: &Outcome, entity: &str, name: &str, from: u64) -> f64 {
    series(o, entity, name).into_iter().filter(|(t, _)| *t >= from).map(|(_, v)| v).fold(0.0, f64::max)
}

#[test]
fn a_lone_flow_fills_its_link_and_leaves_no_queue() {
    let o = compared(&joining(&[Time::ZERO], None));
    let port = o.ports.iter().find(|p| &*p.name == "s>h0").unwrap();
    let share = port.bytes as f64 * 8.0 / 0.01 / 1e10;
    assert!(share > 0.95, "{share}");
    assert!(port.queue_max_packets <= 2, "{}", port.queue_max_packets);
    let cwnd = value_at(&o, "flow 0", "cwnd_bytes", 9_900 * US);
    assert!((115_000.0..140_000.0).contains(&cwnd), "{cwnd}");
    assert_eq!(o.ports.iter().map(|p| p.drops).sum::<u64>(), 0);
}

#[test]
fn flows_that_join_come_to_equal_windows_without_a_standing_queue() {
    let mut spec = joining(&[0, 2000, 4000].map(Time::us), None);
    run_for(&mut spec, Time::ms(14));
    let o = compared(&spec);
    let cwnd = |flow: usize, us: u64| value_at(&o, &format!("flow {flow}"), "cwnd_bytes", us * US);
    for us in [9_000, 12_000, 13_900] {
        let all = [0, 1, 2].map(|flow| cwnd(flow, us));
        let (least, most) = (all[0].min(all[1]).min(all[2]), all[0].max(all[1]).max(all[2]));
        assert!(most < 1.05 * least, "{us} us: {all:?}");
    }
    assert!(most(&o, "s>h0", "queue_packets", 8_000 * US) < 8.0);
    assert_eq!(o.ports.iter().map(|p| p.drops).sum::<u64>(), 0);
}

#[test]
fn equal_shares_do_not_depend_on_round_trips() {
    // the second flow's host is four times as far away
    let mut spec = joining(&[Time::ZERO, Time::us(100)], None);
    spec.links.iter_mut().filter(|link| link.from == 2 || link.to == 2).for_each(|link| link.delay = Time::us(174));
    run_for(&mut spec, Time::ms(40));
    let o = run(&spec);
    let rate = |flow: usize| {
        let entity = format!("flow {flow}");
        value_at(&o, &entity, "cwnd_bytes", 39_000 * US) / value_at(&o, &entity, "srtt_s", 39_000 * US) * 8.0 / 1e9
    };
    let (near, far) = (rate(0), rate(1));
    assert!((near / far - 1.0).abs() < 0.1, "{near} {far}");
    assert!(near + far > 9.0, "{near} {far}");
}

#[test]
fn a_port_that_others_leave_less_gives_the_rest_away() {
    // h0 sends over a link of 1 Gb/s to h2, h1 beside it to h3: their last links are nearly idle
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
    run_for(&mut spec, Time::ms(20));
    let o = compared(&spec);
    let [a, b] = ["flow 0", "flow 1"].map(|flow| value_at(&o, flow, "acked_bytes", 19_900 * US));
    // one gigabit per second for 20 ms, with the start
    assert!(a + b > 2.2e6, "{a} {b}");
    assert!(most(&o, "s>t", "queue_packets", 10_000 * US) < 8.0);
    let [a, b] = ["flow 0", "flow 1"].map(|flow| value_at(&o, flow, "cwnd_bytes", 19_900 * US));
    assert!((a / b - 1.0).abs() < 0.15, "{a} {b}");
}

#[test]
fn losses_are_repaired_and_the_switches_give_back_what_they_cost() {
    let mut spec = Spec { queues: vec![drop_tail(20)], ..joining(&[Time::ZERO; 20], Some(100_000)) };
    spec.links[1].loss = Loss::Packet(0.01);
    run_for(&mut spec, Time::s(20));
    let o = compared(&spec);
    assert!(o.ports.iter().map(|p| p.drops).sum::<u64>() > 0);
    assert!(o.ports.iter().map(|p| p.losses).sum::<u64>() > 0);
    assert!(o.flows.iter().all(|f| f.delivered == 100_000), "all arrives");
}

#[test]
fn what_waits_in_explicit_queues_is_allowed_its_share_when_it_leaves() {
    let mut spec = joining(&[0, 500, 500].map(Time::us), None);
    spec.queues[0].explicit = true;
    let o = compared(&spec);
    let cwnd = |flow: usize| value_at(&o, &format!("flow {flow}"), "cwnd_bytes", 9_900 * US);
    let all = [cwnd(0), cwnd(1), cwnd(2)];
    assert!(all.iter().all(|w| (36_000.0..46_000.0).contains(w)), "{all:?}");
}

#[test]
fn changes_come_back_once_on_two_way_connections() {
    let mut spec = asking(8, 500_000, changed!(asking_transport(), acks.delayed_ack = 1));
    spec.controllers = vec![controller("xcp", &[])];
    spec.links.iter_mut().for_each(|link| link.delay = Time::us(20));
    spec.queues = vec![drop_tail(10_000)];
    spec.programs = vec![ProgramSpec { nodes: vec![9], program: Program::Xcp(xcp_program()) }];
    spec.observe.flows = vec![1];
    run_for(&mut spec, Time::ms(50));
    let o = compared(&spec);
    assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    assert_eq!(o.ports.iter().map(|p| p.drops).sum::<u64>(), 0);
    let longest = o.ports.iter().map(|p| p.queue_max_packets).max().unwrap();
    // eight initial windows of ten
    assert!(longest <= 90, "{longest}");
}

#[test]
fn a_run_ends_when_its_traffic_does() {
    let mut spec = joining(&[Time::ZERO, Time::us(100)], Some(200_000));
    run_for(&mut spec, Time::s(100));
    let o = compared(&spec);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    let gives = series(&o, "s>h0", "xcp_gives_bps");
    assert!(gives.last().unwrap().0 < 10_000 * US, "{:?}", gives.last());
}

#[test]
fn paths_of_a_fat_tree_allow_windows_under_any_routing() {
    for choice in [PathChoice::Ecmp, PathChoice::Spray] {
        let mut spec = fat_tree(4, Rate::gbps(10), Time::us(5));
        spec.choice = choice;
        spec.transports = vec![asking_transport()];
        spec.controllers = vec![controller("xcp", &[]), controller("newreno", &[])];
        let flow = |h: u32| FlowSpec { controller: u32::from(h % 4 == 3), ..bulk(h, (5 * h + 3) % 16, Some(100_000)) };
        spec.flows = (0..16).filter(|h| (5 * h + 3) % 16 != *h).map(flow).collect();
        let nodes = spec.node_names.len() as u32;
        spec.programs = vec![ProgramSpec { nodes: (16..nodes).collect(), program: Program::Xcp(xcp_program()) }];
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    }
}
