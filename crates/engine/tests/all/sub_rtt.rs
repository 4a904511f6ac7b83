//! Queue notices within a round trip, and permissions to send (Bolt): the program of ports, and the senders.

use crate::support::{self, *};

/// All mechanisms of the paper.
pub fn bolt_program() -> Bolt {
    Bolt { threshold: None, supply: None, tokens: 256, src: true, pru: true, sm: true }
}

/// Flows that join on a star of 10 Gb/s and a round trip of about 100 us.
fn joining(starts: &[Time], size: Option<u64>, rule: Bolt) -> Spec {
    support::joining("bolt", Program::Bolt(rule), starts, size)
}

fn drops(o: &Outcome) -> u64 {
    o.ports.iter().map(|p| p.drops).sum()
}

/// Bytes of a flow acknowledged between two times (us), as a share of 10 Gb/s.
fn share(o: &Outcome, flow: usize, from: u64, to: u64) -> f64 {
    let acked = |us: u64| value_at(o, &format!("flow {flow}"), "acked_bytes", us * US);
    (acked(to) - acked(from)) * 8.0 / ((to - from) as f64 * 1e4)
}

/// Values of a series from a time on, us.
fn from(o: &Outcome, entity: &str, name: &str, us: u64) -> Vec<f64> {
    series(o, entity, name).into_iter().filter(|(t, v)| *t >= us * US && !v.is_nan()).map(|(_, v)| v).collect()
}

#[test]
fn a_lone_flow_fills_its_link_and_hears_of_no_queue() {
    let o = compared(&joining(&[Time::ZERO], None, bolt_program()));
    let used = share(&o, 0, 1_000, 9_900);
    // 1448 of 1538 bytes
    assert!(used > 0.93, "{used}");
    let port = o.ports.iter().find(|p| &*p.name == "s>h0").unwrap();
    assert!(port.queue_max_packets <= 3, "{}", port.queue_max_packets);
    assert_eq!(drops(&o), 0);
}

#[test]
fn news_of_a_queue_comes_before_its_ack_would() {
    let starts = [Time::ZERO; 3];
    let after = |rule: Bolt| {
        let o = compared(&joining(&starts, None, rule));
        // initial windows wait at their hosts
        let took = from(&o, "flow 0", "told_after_s", 500);
        (took.iter().fold(f64::INFINITY, |a, b| a.min(*b)), took.iter().fold(0.0, |a: f64, b| a.max(*b)))
    };
    // a link of 24 us there, one back, and the time of a packet: independent of the queue
    let (least, most) = after(bolt_program());
    assert!(least > 49e-6 && most < 53e-6, "{least} {most}");
    let (least, most) = after(Bolt { src: false, ..bolt_program() });
    assert!(least > 98e-6 && most > 200e-6, "{least} {most}");
}

#[test]
fn flows_that_join_share_the_link_and_their_queue_goes() {
    let mut spec = joining(&[0, 1000, 2000].map(Time::us), None, bolt_program());
    run_for(&mut spec, Time::ms(30));
    let o = compared(&spec);
    let shares = [0, 1, 2].map(|flow| share(&o, flow, 20_000, 29_900));
    let sum: f64 = shares.iter().sum();
    assert!(sum > 0.85, "{shares:?}");
    assert!(shares.iter().all(|own| (0.2..0.42).contains(own)), "{shares:?}");
    assert_eq!(drops(&o), 0);
    let queue = from(&o, "s>h0", "queue_packets", 10_000);
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    assert!(mean < 8.0, "{mean}");
}

#[test]
fn queues_go_sooner_where_ports_tell_themselves() {
    let longest = |rule: Bolt| {
        let o = compared(&joining(&[Time::ZERO, Time::us(1_000)], None, rule));
        assert_eq!(drops(&o), 0);
        // the second flow's initial window arrives 50 us later: time until the queue is down to five packets
        let queue = series(&o, "s>h0", "queue_packets");
        let grown = queue.iter().position(|(t, n)| *t > 1_000 * US && *n >= 20.0).unwrap();
        let gone = queue[grown..].iter().find(|(_, n)| *n <= 5.0).unwrap().0;
        (gone - queue[grown].0) / US
    };
    println!("a second flow begins at 1 ms: from 20 packets to 5, by whom senders hear, us");
    let (by_ports, by_acks) = (longest(bolt_program()), longest(Bolt { src: false, ..bolt_program() }));
    println!("ports {by_ports}, ACKs {by_acks}");
    assert!(by_ports + 40 < by_acks, "{by_ports} {by_acks} us");
}

#[test]
fn what_a_flow_leaves_is_taken_at_once_by_what_ports_have_room_for() {
    // the first of two ends after some 2 ms; the other then has half of a link, and one packet per round trip is 12
    // Mb/s
    let used = |rule: Bolt| {
        let mut spec = joining(&[Time::ZERO, Time::us(20)], None, rule);
        spec.flows[0] = bulk(1, 0, Some(1_250_000));
        let o = compared(&spec);
        let end = o.flows[0].finish_ps.unwrap() / US;
        share(&o, 1, end + 200, end + 700)
    };
    let (all, neither) = (used(bolt_program()), used(Bolt { pru: false, sm: false, ..bolt_program() }));
    let [pru, sm] = [Bolt { sm: false, ..bolt_program() }, Bolt { pru: false, ..bolt_program() }].map(used);
    println!("share of the link that is used from 200 us after the other flow's end to 700 us");
    println!("PRU and SM {all:.2}, PRU {pru:.2}, SM {sm:.2}, neither {neither:.2}");
    assert!(all > 0.85, "{all}");
    assert!(neither < 0.75, "{neither}");
    assert!(pru > neither + 0.05 && sm > neither + 0.05, "{pru} {sm} {neither}");
}

#[test]
fn ports_of_hosts_tell_their_own_senders() {
    // three flows of one host
    let spec = |at: &[u32]| {
        let mut spec = joining(&[Time::ZERO; 3], None, bolt_program());
        spec.flows.iter_mut().for_each(|flow| flow.src = 1);
        spec.programs[0].nodes = at.to_vec();
        spec
    };
    let o = compared(&spec(&[1, 4]));
    let took = from(&o, "flow 0", "told_after_s", 0);
    assert!(!took.is_empty() && took.iter().all(|t| *t < 1e-9), "at once: {took:?}");
    let longest = |o: &Outcome| from(o, "h1>s", "queue_packets", 2_000).into_iter().fold(0.0, f64::max);
    let alone = compared(&spec(&[4]));
    assert!(longest(&o) < 30.0 && longest(&alone) > 100.0, "{} {}", longest(&o), longest(&alone));
    assert!([0, 1, 2].map(|flow| share(&o, flow, 2_000, 9_900)).iter().sum::<f64>() > 0.85);
}

#[test]
fn a_lone_flow_hears_nothing_of_the_port_of_its_own_host() {
    let mut spec = joining(&[Time::ZERO], Some(1_000_000), bolt_program());
    spec.programs[0].nodes = vec![1, 2];
    let o = compared(&spec);
    let flow = &o.flows[0];
    assert!(flow.finish_ps.is_some() && from(&o, "flow 0", "told_after_s", 0).is_empty());
    // three packets to open and three to close, and none from a port
    assert_eq!(o.packets_sent, flow.sent + flow.arrived + 6);
}

#[test]
fn packets_of_ports_are_counted_and_conserved() {
    let mut spec = joining(&[Time::ZERO; 8], Some(300_000), bolt_program());
    spec.observe.trace = vec![0];
    let o = compared(&spec);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    let ends: u64 = o.flows.iter().map(|f| f.sent).sum();
    // each segment has one ACK, and each flow a handshake and an end: all others come from ports
    let acks: u64 = o.flows.iter().map(|f| f.arrived).sum();
    assert!(o.packets_sent > ends + acks + 100, "{} {ends} {acks}", o.packets_sent);
    let lone = compared(&joining(&[Time::ZERO], Some(300_000), bolt_program()));
    let (sent, arrived) = (lone.flows[0].sent, lone.flows[0].arrived);
    assert_eq!(lone.packets_sent, sent + arrived + 6, "three packets to open and three to close");
}

#[test]
fn losses_of_data_and_of_news_are_survived() {
    let mut spec = Spec { queues: vec![drop_tail(20)], ..joining(&[Time::ZERO; 20], Some(100_000), bolt_program()) };
    spec.links.iter_mut().for_each(|link| link.loss = Loss::Packet(0.01));
    run_for(&mut spec, Time::s(20));
    let o = compared(&spec);
    assert!(drops(&o) > 0 && o.ports.iter().map(|p| p.losses).sum::<u64>() > 0);
    assert!(o.flows.iter().all(|f| f.delivered == 100_000), "all arrives");
}

#[test]
fn queries_over_two_way_connections_are_answered_without_a_loss() {
    let mut spec = asking(8, 500_000, changed!(asking_transport(), acks.delayed_ack = 1));
    spec.controllers = vec![controller("bolt", &[])];
    spec.links.iter_mut().for_each(|link| link.delay = Time::us(20));
    spec.queues = vec![drop_tail(10_000)];
    spec.programs = vec![ProgramSpec { nodes: vec![9], program: Program::Bolt(bolt_program()) }];
    spec.observe.flows = vec![1];
    run_for(&mut spec, Time::ms(50));
    let o = compared(&spec);
    assert!(messages(&o, MessageKind::Query).iter().all(|q| q.finish_ps.is_some()));
    assert_eq!(drops(&o), 0);
}

#[test]
fn explicit_queues_and_any_routing_of_a_fat_tree_do() {
    for choice in [PathChoice::Ecmp, PathChoice::Spray] {
        let mut spec = fat_tree(4, Rate::gbps(10), Time::us(5));
        spec.queues[0].explicit = choice == PathChoice::Ecmp;
        spec.choice = choice;
        spec.transports = vec![asking_transport()];
        spec.controllers = vec![controller("bolt", &[]), controller("newreno", &[])];
        let flow = |h: u32| FlowSpec { controller: u32::from(h % 4 == 3), ..bulk(h, (5 * h + 3) % 16, Some(100_000)) };
        spec.flows = (0..16).filter(|h| (5 * h + 3) % 16 != *h).map(flow).collect();
        let nodes = spec.node_names.len() as u32;
        spec.programs = vec![ProgramSpec { nodes: (0..nodes).collect(), program: Program::Bolt(bolt_program()) }];
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    }
}
