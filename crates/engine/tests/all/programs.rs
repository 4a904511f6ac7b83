//! Programs of switches and hosts: windows set by ports that count flows (SCCP).

use crate::support::*;

const SWITCH: &str = "s";

/// The paper's rule: 300 us, no window below one byte.
fn sccp() -> Sccp {
    Sccp {
        common_rtt: Time::us(300),
        floor: 1,
        accepted: false,
        reset: false,
        remembers: false,
        scale: 0,
        up: false,
        ignorant: false,
    }
}

/// `workers` hosts of a star at 1 Gb/s with links of 25 us send `size` bytes each to host 0 at once, with an ACK for
/// each segment and no window too small to be used. Nodes `at` run `rule`.
fn incast(workers: u32, size: u64, at: &[u32], rule: Sccp) -> Spec {
    let mut spec = star(workers + 1, Rate::gbps(1), Time::us(25));
    spec.transports =
        vec![changed!(tcp(), connection.handshake = true, acks.delayed_ack = 1, windows.sws_avoidance = false)];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (1..=workers).map(|w| bulk(w, 0, Some(size))).collect();
    spec.programs = vec![ProgramSpec { nodes: at.to_vec(), program: Program::Sccp(rule) }];
    run_for(&mut spec, Time::ms(200));
    spec.observe.ports = (0..spec.links.len() as u32).collect();
    spec
}

/// The port of the switch towards host 0.
fn bottleneck(spec: &Spec) -> String {
    spec.links.iter().find(|l| l.to == 0).unwrap().name.to_string()
}

/// The values of a series, without times.
fn values(o: &Outcome, entity: &str, name: &str) -> Vec<f64> {
    series(o, entity, name).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn a_port_counts_the_flows_that_are_open_through_it() {
    let spec = incast(20, 50_000, &[21], sccp());
    let o = compared(&spec);
    let flows = values(&o, &bottleneck(&spec), "flows");
    assert_eq!(flows[0], 1.0);
    assert_eq!(flows.iter().fold(0.0, |a: f64, b| a.max(*b)), 20.0, "all are open");
    assert_eq!(flows.last(), Some(&0.0), "and all close");
    let shares = values(&o, &bottleneck(&spec), "share_bytes");
    assert!(shares.contains(&1_875.0), "37,500 bytes for 20");
    // the other direction: a SYN-ACK opens, the receiver's FIN closes
    assert_eq!(values(&o, "s>h3", "flows"), [0.0, 1.0, 0.0]);
}

#[test]
fn shares_of_what_the_link_holds_keep_the_queue_short_where_windows_alone_lose() {
    let lost = |o: &Outcome| o.ports.iter().map(|p| p.drops).sum::<u64>();
    let plain = compared(&Spec { programs: Vec::new(), ..incast(40, 25_000, &[], sccp()) });
    let set = compared(&incast(40, 25_000, &[41], sccp()));
    assert!(lost(&plain) > 100, "{} lost", lost(&plain));
    assert_eq!(lost(&set), 0);
    assert!(set.flows.iter().all(|f| f.finish_ps.is_some()));
    let longest = set.ports.iter().map(|p| p.queue_max_packets).max().unwrap();
    // the SYNs of 40 flows, then at most 37,500 bytes
    assert!(longest <= 60, "{longest} packets");
}

#[test]
fn no_window_is_larger_than_the_share_when_all_have_opened() {
    let mut spec = incast(10, 100_000, &[11], sccp());
    spec.observe.flows = (0..10).collect();
    let o = compared(&spec);
    let opened = series(&o, &bottleneck(&spec), "flows").iter().find(|(_, n)| *n == 10.0).unwrap().0;
    let closing = series(&o, &bottleneck(&spec), "flows").iter().rev().find(|(_, n)| *n == 10.0).unwrap().0;
    for flow in 0..10 {
        let flights = series(&o, &format!("flow {flow}"), "in_flight_bytes");
        let most = flights.iter().filter(|(at, _)| (opened + 400 * US..closing).contains(at)).map(|(_, v)| *v);
        // 37,500 bytes for 10
        assert!(most.fold(0.0, f64::max) <= 3_750.0, "flow {flow}");
        let offered = series(&o, &format!("flow {flow}"), "offered_bytes");
        let seen: Vec<f64> = offered.iter().map(|(_, v)| *v).collect();
        assert!(seen.contains(&3_750.0), "flow {flow} is offered {seen:?}");
    }
}

#[test]
fn a_program_at_the_host_that_receives_sets_no_windows_of_others() {
    // at host 0 the ACKs of its own receivers leave: only on arrival at the senders would windows be lowered
    let at_receiver = incast(40, 25_000, &[0], sccp());
    let plain = compared(&Spec { programs: Vec::new(), ..at_receiver.clone() });
    let o = compared(&at_receiver);
    assert_eq!(format!("{:?}", o.flows), format!("{:?}", plain.flows));
    // at the senders each counts its own flow only: 37,500 bytes
    let at_senders = compared(&incast(40, 25_000, &(1..=40).collect::<Vec<_>>(), sccp()));
    assert_eq!(values(&at_senders, "h1>s", "flows"), [1.0, 0.0]);
    assert_eq!(values(&at_senders, "h1>s", "share_bytes")[0], 37_500.0);
}

#[test]
fn a_syn_that_is_sent_again_counts_twice_unless_flows_are_remembered() {
    // a queue of 4 packets accepts some five of the SYNs that arrive at once, at 0, 3 and 9 s
    let lossy = |rule: Sccp| {
        let mut spec = incast(12, 5_000, &[13], rule);
        spec.queues = vec![drop_tail(4)];
        spec.links.iter_mut().filter(|l| l.to != 0).for_each(|l| l.queue = 1);
        spec.queues.push(drop_tail(100));
        run_for(&mut spec, Time::s(100));
        spec
    };
    let spec = lossy(sccp());
    let counted = compared(&spec);
    let dropped: u64 = counted.ports.iter().map(|p| p.drops).sum();
    let left = *values(&counted, &bottleneck(&spec), "flows").last().unwrap();
    assert!(dropped > 0 && left > 0.0, "{dropped} dropped, {left} left");
    assert!(counted.flows.iter().all(|f| f.finish_ps.is_some()));
    let remembered = compared(&lossy(Sccp { remembers: true, ..sccp() }));
    assert_eq!(values(&remembered, &bottleneck(&spec), "flows").last(), Some(&0.0));
    let accepted = compared(&lossy(Sccp { accepted: true, ..sccp() }));
    assert_eq!(values(&accepted, &bottleneck(&spec), "flows").last(), Some(&0.0), "only what the queue took counts");
}

#[test]
fn several_programs_of_a_node_see_packets_in_order_and_a_window_falls_to_the_least() {
    let twice = |first: u64, second: u64| {
        let mut spec = incast(10, 25_000, &[11], Sccp { common_rtt: Time::us(first), ..sccp() });
        let again = Sccp { common_rtt: Time::us(second), ..sccp() };
        spec.programs.push(ProgramSpec { nodes: vec![11], program: Program::Sccp(again) });
        spec.observe.ports.clear();
        format!("{:?}", compared(&spec).flows)
    };
    assert_eq!(twice(300, 600), twice(600, 300));
    assert_eq!(twice(300, 300), twice(300, 900));
    assert_ne!(twice(300, 300), twice(600, 600));
}

#[test]
fn programs_work_beside_explicit_queues_failures_and_traces() {
    let mut spec = incast(12, 25_000, &[3, 13], sccp());
    spec.queues[0].explicit = true;
    spec.observe.trace = vec![0, 5];
    spec.links[2].loss = Loss::List(vec![3, 7]);
    let o = compared(&spec);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    assert!(o.ports.iter().map(|p| p.losses).sum::<u64>() > 0);
    assert_eq!(spec.node_names[13], SWITCH);
}

#[test]
fn a_phantom_queue_marks_before_the_real_one_is_long() {
    let spec = |drain: f64| {
        let mut spec = star(3, Rate::gbps(1), Time::us(20));
        spec.transports = vec![changed!(tcp(), acks.delayed_ack = 1)];
        spec.controllers = vec![controller("dctcp", &[])];
        spec.flows = vec![bulk(1, 0, None), bulk(2, 0, None)];
        spec.queues = vec![drop_tail(1000)];
        let phantom = Phantom { drain, mark: 6_000 };
        spec.programs = vec![ProgramSpec { nodes: vec![3], program: Program::Phantom(phantom) }];
        run_for(&mut spec, Time::ms(200));
        spec.measure_from = Time::ms(50);
        spec.observe.ports = vec![3];
        spec
    };
    let port = |o: &Outcome| o.ports.iter().find(|p| &*p.name == "s>h0").unwrap().clone();
    let o = compared(&spec(0.95));
    let p = port(&o);
    let used = p.bytes as f64 * 8.0 / 0.15 / 1e9;
    // DCTCP's windows oscillate around the rate of the phantom link
    assert!((0.85..0.95).contains(&used), "{used} of the link");
    assert!(p.queue_mean_packets < 5.0, "{} packets", p.queue_mean_packets);
    assert!(p.marks > 0);
    let lengths = values(&o, "s>h0", "phantom_bytes");
    assert!(lengths.iter().any(|b| *b > 6_000.0));
    // one as fast as the link keeps the queue of a threshold on the real queue
    let full = port(&compared(&spec(1.0)));
    assert!(full.bytes as f64 * 8.0 / 0.15 / 1e9 > 0.97, "{}", full.bytes);
    assert!(full.queue_mean_packets > p.queue_mean_packets);
}

/// Host 0 asks `workers` hosts for 10 kB each, from time to time, on connections that stay open (`close` is `None`) or
/// not. The switch counts flows, and hosts report idle ones.
fn pausing(workers: u32, close: Option<Close>, timeout: Time) -> Spec {
    let mut spec = asking(workers, 10_000, changed!(tcp(), acks.delayed_ack = 1, windows.sws_avoidance = false));
    let query = &mut spec.queries[0];
    (query.first, query.think, query.close) = (Time::ms(1), Time::ms(30), close);
    if close.is_some() {
        spec.flows.iter_mut().for_each(|f| f.start = Time::ms(1));
    }
    let hosts = (0..=workers).collect();
    spec.programs = vec![
        ProgramSpec { nodes: hosts, program: Program::Idle(Idle { timeout }) },
        ProgramSpec { nodes: vec![workers + 1], program: Program::Sccp(sccp()) },
    ];
    run_for(&mut spec, Time::ms(200));
    spec.observe.ports = (0..spec.links.len() as u32).collect();
    spec
}

#[test]
fn hosts_tell_of_flows_that_are_idle_and_of_those_that_are_no_longer() {
    let spec = pausing(4, None, Time::ms(5));
    let o = compared(&spec);
    let counts = values(&o, "s>h0", "flows");
    // opened, and idle 5 ms after each of three queries
    let up_and_down = [1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0, 0.0];
    assert_eq!(counts[..1], [0.0][..]);
    let rounds: Vec<&[f64]> = counts[1..].chunks(8).collect();
    assert_eq!(rounds.len(), 3, "{:?}", series(&o, "s>h0", "flows"));
    assert!(rounds.iter().all(|round| *round == up_and_down), "{counts:?}");
    // the time from the last packet to the notice
    let idle = series(&o, "h1>s", "idle_flows").into_iter().find(|(_, n)| *n == 1.0).unwrap().0;
    let finish = messages(&o, MessageKind::Query)[0].finish_ps.unwrap();
    assert!((finish..finish + 6 * MS).contains(&idle), "{idle} after {finish}");
    // one packet when it becomes idle, one when it becomes active
    assert_eq!(values(&o, "h1>s", "idle_packets"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let silent = compared(&Spec { programs: spec.programs[1..].to_vec(), ..spec.clone() });
    assert_eq!(values(&silent, "s>h0", "flows").last(), Some(&4.0), "without, they count for good");
    assert_eq!(o.packets_sent - silent.packets_sent, 8 * 5, "of 8 directions");
}

#[test]
fn a_flow_that_ends_while_it_is_idle_counts_once() {
    // the connections close 8 ms after they became idle
    let mut spec = incast(4, 20_000, &[5], sccp());
    let on_off = OnOff { rate: Rate::mbps(100), on: Time::ms(2), off: Time::ms(8), write: 10_000, begin: Begin::Open };
    spec.flows.iter_mut().for_each(|f| (f.app, f.stop) = (App::OnOff(on_off), Time::ms(19)));
    spec.programs
        .insert(0, ProgramSpec { nodes: (0..5).collect(), program: Program::Idle(Idle { timeout: Time::ms(3) }) });
    let o = compared(&spec);
    assert!(values(&o, "h1>s", "idle_packets").last().unwrap() >= &2.0);
    for port in ["s>h0", "s>h1", "s>h4"] {
        let counts = values(&o, port, "flows");
        let most = if port == "s>h0" { 4.0 } else { 1.0 };
        assert!(counts.iter().all(|n| *n <= most), "{port}: {counts:?}");
        assert_eq!(counts.last(), Some(&0.0), "{port}: {counts:?}");
    }
}

#[test]
fn ghosts_of_connections_that_were_reset_fade() {
    let ghosts = |idle: bool, remembers: bool| {
        let mut spec = pausing(4, Some(Close::Reset), Time::ms(5));
        spec.queries[0].count = Some(5);
        spec.programs[1].program = Program::Sccp(Sccp { remembers, ..sccp() });
        if !idle {
            spec.programs.remove(0);
        }
        *values(&compared(&spec), "s>h0", "flows").last().unwrap()
    };
    for remembers in [false, true] {
        assert_eq!(ghosts(false, remembers), 20.0, "four a query");
        assert_eq!(ghosts(true, remembers), 0.0, "remembers: {remembers}");
    }
}

#[test]
fn repeated_syns_and_fins_of_queries_count_once_where_flows_are_remembered() {
    for close in [Close::Worker, Close::Root] {
        let left = |remembers: bool| {
            let mut spec = pausing(3, Some(close), Time::ms(5));
            (spec.queries[0].count, spec.queries[0].think) = (Some(20), Time::us(50));
            spec.transports[0].connection.syn_timeout = Time::ms(20);
            spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(0.05));
            spec.programs = vec![ProgramSpec { nodes: vec![4], program: Program::Sccp(Sccp { remembers, ..sccp() }) }];
            run_for(&mut spec, Time::s(60));
            let o = compared(&spec);
            assert_eq!(messages(&o, MessageKind::Query).len(), 20);
            ["s>h0", "s>h1", "s>h2", "s>h3"].map(|port| *values(&o, port, "flows").last().unwrap())
        };
        assert_eq!(left(true), [0.0; 4], "{close:?}");
        assert!(left(false).iter().any(|n| *n > 0.0), "{close:?}");
    }
}

#[test]
fn idle_packets_that_are_lost_leave_a_flow_counted() {
    let mut spec = pausing(4, None, Time::ms(5));
    spec.links.iter_mut().filter(|l| l.from == 2).for_each(|l| l.loss = Loss::Packet(0.3));
    spec.observe.trace = vec![2, 3];
    let o = compared(&spec);
    assert!(o.packets_sent == o.packets_delivered + o.packets_dropped + o.packets_in_flight);
}
