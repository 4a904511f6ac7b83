//! Packets sent and accepted by a port, derived from the packet trace of a longer run.

use crate::support::*;

/// Hosts at 10 Gb/s send endlessly to another one behind a link of 1 Gb/s with `queue`. All flows are traced.
fn crowd(hosts: u32, queue: QueueSpec, duration: Time) -> Spec {
    let mut spec = star(hosts + 1, Rate::gbps(10), Time::us(1));
    spec.queues = vec![endless_queue(), queue];
    let sink = spec.links.len() - 1;
    (spec.links[sink].rate, spec.links[sink].queue, spec.links[sink].overhead) = (Rate::gbps(1), 1, 38);
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("dctcp", &[])];
    let flow = |h: u32| FlowSpec { start: Time::us(30) * h as u64, class: (h % 2) as u8, ..bulk(h, hosts, None) };
    spec.flows = (0..hosts).map(flow).collect();
    spec.observe.trace = (0..hosts).collect();
    run_for(&mut spec, duration);
    spec
}

/// Packets and bytes sent by the last link of a crowd from one time to another, from the arrivals at its end.
fn arrivals(o: &Outcome, spec: &Spec, from: Time, to: Time) -> (u64, u64) {
    let link = spec.links.last().unwrap();
    let node = &spec.node_names[link.to as usize];
    let (mut packets, mut busy) = (0, 0);
    for event in events(o, node, Happening::Arrive) {
        let end = event.time_ps - link.delay.0;
        let start = end - link.rate.serialize(event.size as u64 + link.overhead as u64).0;
        packets += u64::from(end > from.0 && end <= to.0);
        busy += end.min(to.0).saturating_sub(start.max(from.0));
    }
    (packets, busy / 8000)
}

#[test]
fn a_port_sends_what_its_link_carries_and_has_accepted_what_came() {
    let o = run(&crowd(8, endless_queue(), Time::ms(1)));
    let port = o.ports.last().unwrap();
    // 1 Gb/s for 1 ms, less the time until the first packets arrive
    assert!((100_000..=125_000).contains(&port.bytes), "{port:?}");
    assert!(port.accepted > 100 && port.accepted_bytes > 150_000, "{port:?}");
    assert_eq!((port.packets, port.accepted), (port.packets_total, port.accepted_total));
    let held = port.accepted - port.packets;
    assert!(held > 50 && held <= port.queue_max_packets, "{port:?}");
}

#[test]
fn sent_is_what_arrives_at_the_end_of_the_link_whatever_the_queue_is() {
    let trimming = Trimming {
        header: 64,
        header_limit: Limit::Bytes(640),
        headers_per_data: 10,
        draws: true,
        drops: false,
        returns: false,
        ecn: None,
    };
    let two = vec![drop_tail(20), drop_tail(30)];
    let departure = EcnAtDeparture { mark: Limit::Packets(10) };
    let queues = [
        drop_tail(30),
        QueueSpec { explicit: true, ..drop_tail(30) },
        marking(40, 10),
        QueueSpec { device: 3, count_overhead: true, ..marking(40, 10) },
        queue(Discipline::EcnAtDeparture(departure), Limit::Packets(60)),
        queue(Discipline::Pfabric, Limit::Packets(20)),
        queue(Discipline::Trimming(trimming), Limit::Packets(20)),
        classes(Scheduler::Strict, two),
    ];
    let (mut held, mut withdrawn) = (0, 0);
    for queue in queues {
        let mut spec = crowd(4, queue, Time::us(1700));
        spec.transports[0].output.rank = Some(Rank::Sent);
        (spec.measure_from, spec.measure_to) = (Time(700_000_123), Time(1_400_000_321));
        let longer = Spec { duration: Time::ms(4), ..spec.clone() };
        let (o, later) = (compared_seen_and_unseen(&spec), run(&longer));
        let port = o.ports.last().unwrap();
        let (from, to, end) = (spec.measure_from, spec.measure_to, spec.duration);
        assert_eq!((port.packets, port.bytes), arrivals(&later, &spec, from, to), "{:?}: {port:?}", spec.queues[1]);
        assert_eq!(port.packets_total, arrivals(&later, &spec, Time::ZERO, end).0, "{:?}", spec.queues[1]);
        let came = |happening| events(&o, &port.name, happening).into_iter().map(|e| Time(e.time_ps));
        let accepted: Vec<Time> = came(Happening::Enqueue).chain(came(Happening::Mark)).collect();
        let measured = accepted.iter().filter(|t| **t >= from && **t < to).count() as u64;
        // a mark at departure is an event of its own
        if !matches!(spec.queues[1].discipline, Discipline::EcnAtDeparture(_)) {
            assert_eq!((port.accepted, port.accepted_total), (measured, accepted.len() as u64), "{:?}", spec.queues[1]);
        }
        // accepted packets are sent, held, or dropped from the queue
        let left = port.accepted_total - port.packets_total;
        held += left.min(port.queue_max_packets);
        withdrawn += left.saturating_sub(port.queue_max_packets);
    }
    assert!(held > 40 && withdrawn > 5, "{held} are held at the ends, {withdrawn} gave way before");
}

#[test]
fn a_link_of_another_rate_sends_what_that_carries() {
    let mut spec = crowd(4, endless_queue(), Time::ms(2));
    let link = spec.links.len() as u32 - 1;
    let slow = Effect::Degraded { rate: Some(Rate::mbps(100)), delay: None, loss: 0.0 };
    spec.failures = vec![Failure { link, from: Time::us(600), until: Time::us(1200), effect: slow }];
    for queue in [endless_queue(), QueueSpec { explicit: true, ..endless_queue() }] {
        spec.queues[1] = queue;
        // inside the failure, across its start and across its end: 12.5 B a microsecond there, 125 B outside
        for (from, to, most) in [(700, 1100, 5000), (500, 700, 13_750), (1100, 1300, 13_750)] {
            (spec.measure_from, spec.measure_to) = (Time::us(from) + Time(7), Time::us(to) + Time(7));
            let port = compared(&spec).ports.pop().unwrap();
            assert!((most - 1..=most).contains(&port.bytes), "{from} to {to} us: {port:?}");
        }
    }
}

/// Content of a fair NIC with the packet in transmission, from the trace: packets handed over by the transport, less
/// those that have left.
#[test]
fn a_fair_nic_has_its_queue_at_the_port() {
    let mut spec = star(2, Rate::gbps(10), Time::us(1));
    spec.transports = vec![changed!(tcp(), windows.initial_window = 1e6)];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = vec![bulk(0, 1, None); 4];
    spec.observe.trace = vec![0, 1, 2, 3];
    spec.observe.queue_interval = Time::ns(700);
    run_for(&mut spec, Time::us(300));
    (spec.measure_from, spec.measure_to) = (Time(100_000_321), Time(250_000_123));
    for counted in [true, false] {
        let fair = queue(Discipline::FairNic { per_flow: 4 }, Limit::None);
        spec.queues = vec![endless_queue(), QueueSpec { count_in_service: counted, ..fair }];
        spec.links[0].queue = 1;
        let o = compared_seen_and_unseen(&spec);
        spec.observe.ports = vec![0];
        let probed = compared(&spec);
        spec.observe.ports = Vec::new();
        assert_eq!(format!("{:?}", o.ports), format!("{:?}", probed.ports), "looking changes nothing");
        let port = &o.ports[0];
        // (time, change in packets): departures first, as an arrival finds them gone
        let wire = |size: u32| Rate::gbps(10).serialize(size as u64).0;
        let mut changes: Vec<(u64, i64)> = events(&o, "h0", Happening::Send).iter().map(|e| (e.time_ps, 1)).collect();
        changes.extend(events(&o, "h0>s", Happening::Enqueue).iter().map(|e| (e.time_ps + wire(e.size), -1)));
        changes.sort_unstable();
        let here = |t: u64, whole: bool| {
            let come = |c: &&(u64, i64)| c.0 < t || (c.0 == t && (whole || c.1 < 0));
            let n: i64 = changes.iter().filter(come).map(|c| c.1).sum();
            (n - i64::from(!counted)).max(0) as u64
        };
        let (from, to) = (spec.measure_from.0, spec.measure_to.0);
        let mut at: Vec<u64> = changes.iter().map(|c| c.0).filter(|t| *t > from && *t < to).collect();
        at.extend([from, to]);
        at.sort_unstable();
        let sum: u128 = at.windows(2).map(|w| here(w[0], true) as u128 * (w[1] - w[0]) as u128).sum();
        let mean = sum as f64 / (to - from) as f64;
        assert!((port.queue_mean_packets - mean).abs() < 1e-9, "{} for {mean}", port.queue_mean_packets);
        let most = at[..at.len() - 1].iter().map(|t| here(*t, true)).max().unwrap();
        assert_eq!(port.queue_max_packets, most, "{port:?}");
        let mut samples: Vec<u64> =
            (from..to).step_by(spec.observe.queue_interval.0 as usize).map(|t| here(t, false)).collect();
        samples.sort_unstable();
        let p99 = samples[(samples.len() * 99).div_ceil(100) - 1];
        assert_eq!(port.queue_p99_packets, Some(p99 as f64), "{port:?}");
        assert!(most >= 15 && p99 >= 14 && mean > 13.0, "{most}, {p99}, {mean}");
        assert_eq!(port.queue_max_bytes, most * 1500);
        // all packets handed over by the transport are accepted, including those in the NIC's queue
        let handed = events(&o, "h0", Happening::Send).len() as u64;
        assert_eq!(port.accepted_total, handed);
        // the series has points only where the queue changes
        let queue = series(&probed, "h0>s", "queue_packets");
        assert!(queue.windows(2).all(|w| w[0].1 != w[1].1), "{queue:?}");
        for (time, value) in queue.iter().filter(|point| point.0 < spec.duration.0) {
            assert!(*value as u64 <= most.max(here(*time, true)), "{value} at {time}");
        }
        let last = |t: u64| queue.iter().rev().find(|point| point.0 <= t).map_or(0, |point| point.1 as u64);
        assert!(at.iter().all(|t| last(*t) == here(*t, true)), "the series is the queue");
    }
}

#[test]
fn frames_of_a_fair_nic_add_up_to_its_queue() {
    let mut spec = star(2, Rate::gbps(10), Time::us(1));
    spec.transports = vec![changed!(tcp(), windows.initial_window = 1e6)];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = vec![bulk(0, 1, None); 4];
    spec.queues = vec![endless_queue(), queue(Discipline::FairNic { per_flow: 4 }, Limit::None)];
    spec.links[0].queue = 1;
    run_for(&mut spec, Time::us(300));
    spec.observe.timeline = Some(TimelineSpec { every: Time::us(7), most: 10_000 });
    let o = compared(&spec);
    // `compared` checks the sums; the queue is the same in each frame once the NIC is full
    let rows: Vec<PortFrame> = o.port_frames.rows().filter(|row| row.port == 0).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    let mean = |row: &PortFrame| row.byte_time as f64 / Time::us(7).0 as f64;
    assert!(rows[5..40].iter().all(|row| (mean(row) - 15.5 * 1500.0).abs() < 1500.0), "{:?}", &rows[5..7]);
}
