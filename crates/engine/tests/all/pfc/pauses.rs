//! Pauses: which classes and ports, for which reason, and which not.

use super::*;

/// With packets larger than the headroom and a buffer filled by others: drops, but nothing waits forever.
#[test]
fn a_class_that_has_nothing_in_the_buffer_is_not_paused() {
    for seed in seeds(150) {
        let o = run(&random(seed, None));
        assert_eq!(o.packets_in_flight, 0, "seed {seed}: dropped {} of {}", drops(&o), o.packets_sent);
    }
    for seed in seeds(10) {
        compared(&random(seed, None));
    }
}

/// Hosts 0, 1 and 2 behind a switch, 3 and 4 behind another: 0 and 1 fill the path to 3, and 2 alone sends to 4.
fn victims(lossless: Vec<bool>, classes: Option<(u8, u8)>) -> Spec {
    let mut spec = endless(star(5, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let ends = [(0, 5), (1, 5), (2, 5), (5, 0), (5, 1), (5, 2), (5, 6), (6, 5), (6, 3), (6, 4), (3, 6), (4, 6)];
    rewire(&mut spec, &["h0", "h1", "h2", "h3", "h4", "a", "b"], &ends);
    spec.domain_of = vec![0, 0, 0, 1, 1, 0, 1];
    spec.links.iter_mut().filter(|l| l.name == "b>h3").for_each(|l| l.rate = Rate::gbps(2));
    let table =
        |set: [u32; 5], ports: u32| Router::Table { set: set.to_vec(), sets: (0..ports).map(|p| vec![p]).collect() };
    spec.routers = vec![table([0, 1, 2, 3, 3], 4), table([0, 0, 0, 1, 2], 3)];
    spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
    spec.flows =
        vec![flood(0, 3, 1000, Rate::gbps(3)), flood(1, 3, 1000, Rate::gbps(3)), flood(2, 4, 1000, Rate::gbps(3))];
    if let Some((filling, victim)) = classes {
        spec.queues = vec![strict(&spec.queues[0], 2)];
        spec.flows.iter_mut().zip([filling, filling, victim]).for_each(|(f, class)| f.class = class);
    }
    spec.buffer = with(PfcSpec { lossless, ..pfc() }, 300_000);
    spec
}

#[test]
fn a_pause_holds_up_who_goes_elsewhere() {
    let rate = |o: &Outcome| o.flows[2].delivered as f64 * 8.0 / 2e-3 / 1e9;
    let o = run(&victims(vec![true], None));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").paused_ps > 0);
    // of 10 Gb/s between the switches 2 go to h3, and as many to h4 as each of the others sends: 1
    assert!((0.8..1.4).contains(&rate(&o)), "{}", rate(&o));
    // in its own class it is not held up, even if that class is lossless too; nor without flow control
    let o = run(&victims(vec![true, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(rate(&o) > 2.95, "{}", rate(&o));
    let shared = port(&o, "a>b");
    assert_eq!((shared.classes[0].pauses, shared.classes[0].paused_ps), (0, 0));
    assert!(shared.classes[1].pauses > 0 && shared.classes[1].paused_ps == shared.paused_ps, "{shared:?}");
    let o = run(&Spec { buffer: None, ..victims(vec![true], None) });
    assert!(rate(&o) > 2.95, "{}", rate(&o));
}

#[test]
fn only_lossless_classes_are_paused() {
    // the full class is dropped, the other one passes
    let o = run(&victims(vec![true, false], Some((1, 0))));
    let last = port(&o, "b>h3");
    assert!(last.classes[1].drops > 0 && drops(&o) == last.classes[1].drops, "{last:?}");
    assert!(o.ports.iter().all(|p| p.pauses == 0));
    let o = run(&victims(vec![false, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").classes[1].pauses > 0);
}

/// A paused port sends nothing, and its whole queue counts, with or without the packet in service.
#[test]
fn a_paused_port_counts_all_that_it_has() {
    let held = |count_in_service: bool, limit: Limit| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let limited = QueueSpec { count_in_service, limit, ..spec.queues[0].clone() };
        spec.queues.push(limited);
        spec.links[0].queue = 1;
        spec.buffer = with(PfcSpec { threshold: Some(Threshold::Fixed(20_000)), ..pfc() }, 20_000_000);
        // paused, and no packet is in transmission
        (spec.measure_from, spec.observe.queue_interval) = (Time::us(50), Time::ns(100));
        let o = run(&spec);
        let port = port(&o, "h0>s");
        assert!(port.paused_ps == Time::us(50).0 && port.accepted_total > 30, "{port:?}");
        (port.queue_max_packets, port.queue_max_bytes, port.queue_mean_packets, port.queue_p99_packets, port.drops)
    };
    let counted = held(true, Limit::None);
    assert_eq!(held(false, Limit::None), counted);
    assert!(counted.0 > 80 && counted.1 == counted.0 * 1000, "{counted:?}");
    for limit in [Limit::Packets(5), Limit::Bytes(5999)] {
        let (packets, bytes, mean, ..) = held(false, limit);
        assert_eq!((packets, bytes, mean), (5, 5000, 5.0), "{limit:?}");
    }
}

/// A single queue, and the first of two classes, give the same figures in two ways.
#[test]
fn a_second_class_without_packets_changes_nothing() {
    let (mut paused, tried) = (0, seeds(60));
    for seed in tried.clone() {
        let mut spec = draft(seed, Some(Headroom::Bytes(4000)));
        fail(&mut spec, seed);
        let mut queue = match &spec.queues[0].discipline {
            Discipline::Classes { classes, .. } => classes[0].clone(),
            _ => spec.queues[0].clone(),
        };
        queue.count_in_service = seed % 3 == 0;
        spec.flows.iter_mut().for_each(|f| f.class = 0);
        let mut ports = |lossless: Vec<bool>, queue: QueueSpec| {
            let pfc = PfcSpec { lossless, ..spec.pfc().unwrap().clone() };
            let size = spec.buffer.as_ref().unwrap().size;
            let o = run(&fit(Spec { queues: vec![queue], buffer: with(pfc, size), ..spec.clone() }));
            let ports = o.ports.into_iter().map(|p| PortRecord { classes: Vec::new(), ..p }).collect::<Vec<_>>();
            paused += u64::from(ports.iter().any(|p| p.pauses > 0));
            format!("{ports:#?}")
        };
        let two = ports(vec![true, false], strict(&queue, 2));
        let one = ports(vec![true], queue);
        let differ = two.lines().zip(one.lines()).find(|(two, one)| two != one);
        assert!(differ.is_none(), "seed {seed}: {differ:?}");
    }
    assert!(6 * paused > 5 * tried.end, "{paused}");
}

/// Two paths from one switch to another, one of which leads to a link of a tenth of the rate: its port is paused most
/// of the time. By queue length it is avoided; by utilisation it is the emptiest, and its waiting packets hold up all.
#[test]
fn a_paused_port_is_known_by_its_queue_alone() {
    let delivered = |choice: PathChoice| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::ms(1));
        let ends = [(0, 2), (1, 3), (2, 0), (2, 4), (2, 5), (3, 1), (3, 4), (3, 5), (4, 2), (4, 3), (5, 2), (5, 3)];
        rewire(&mut spec, &["h0", "h1", "a", "b", "slow", "quick"], &ends);
        spec.domain_of = vec![0, 1, 0, 1, 0, 1];
        spec.links.iter_mut().filter(|l| l.name == "slow>b").for_each(|l| l.rate = Rate::gbps(1));
        let table = |set: [u32; 2], sets: Vec<Vec<u32>>| Router::Table { set: set.to_vec(), sets };
        spec.routers = vec![
            table([0, 1], vec![vec![0], vec![1, 2]]),
            table([1, 0], vec![vec![0], vec![1, 2]]),
            table([0, 1], vec![vec![0], vec![1]]),
            table([0, 1], vec![vec![0], vec![1]]),
        ];
        spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(8))];
        // as much as the buffer has, so that nothing is dropped; none at hosts
        spec.queues.push(QueueSpec { limit: Limit::Bytes(400_000), ..spec.queues[0].clone() });
        spec.links.iter_mut().filter(|l| l.from >= 2).for_each(|l| l.queue = 1);
        spec.buffer = with(pfc(), 400_000);
        spec.choice = choice;
        let o = run(&spec);
        assert_eq!(drops(&o), 0);
        assert!(port(&o, "a>slow").pauses > 0);
        o.flows[0].delivered as f64 * 8.0 / 1e-3 / 1e9
    };
    let adaptive =
        |by, bands: [f64; 3]| PathChoice::Adaptive(Adaptive { by, bands: bands.to_vec(), refresh: Time::us(1) });
    // 8 Gb/s arrive, less the packets in front of the slow path at the end: an account's share and headroom at two
    // switches, each an eighth of 400 kB and some packets, are 1 Gb/s over the millisecond
    assert!(delivered(adaptive(Gauged::Queue, [0.05, 0.1, 0.2])) > 7.0);
    assert!(delivered(PathChoice::PowerOfTwo) > 7.0);
    // the other path carries as much as the slow one: 2 Gb/s, and a quarter of that before the first pause
    assert!(delivered(adaptive(Gauged::Utilisation, [0.0, 0.15, 0.5])) < 2.5);
}

#[test]
fn frames_that_become_one_while_a_port_is_paused_count_the_pause_once() {
    // `run` compares the frames' sums with the ports' own; no frame is paused for longer than it lasts
    let mut paused = 0;
    for seed in seeds(40) {
        let mut spec = random(seed, Some(Headroom::Link));
        spec.observe.timeline = Some(TimelineSpec { every: Time::ns(10), most: 100 + seed as u32 });
        let o = run(&spec);
        let every = o.frame_ps.unwrap();
        for row in o.port_frames.rows() {
            assert!(row.paused_ps <= every, "seed {seed}: {row:?} in a frame of {every} ps");
            paused += row.paused_ps;
        }
    }
    assert!(paused > 0);
}
