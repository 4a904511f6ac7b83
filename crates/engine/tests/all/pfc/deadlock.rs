//! Rings of ports that wait for one another.

use super::*;
use incast_engine::hash;

/// Three switches in a ring, with a host at each, which sends to the host two switches further.
fn ring(size: u64) -> Spec {
    let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let ends = [(0, 3), (1, 4), (2, 5), (3, 0), (4, 1), (5, 2), (3, 4), (4, 5), (5, 3), (4, 3), (5, 4), (3, 5)];
    rewire(&mut spec, &["h0", "h1", "h2", "a", "b", "c"], &ends);
    spec.domain_of = vec![0, 1, 2, 0, 1, 2];
    // local ports: 0 down, 1 onwards, 2 back
    let on =
        |own: usize| Router::Table { set: (0..3).map(|h| u32::from(h != own)).collect(), sets: vec![vec![0], vec![1]] };
    spec.routers = (0..3).map(on).collect();
    spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
    spec.flows = (0..3).map(|h| flood(h, (h + 2) % 3, 1000, Rate::gbps(10))).collect();
    spec.buffer = with(pfc(), size);
    spec.observe.pauses = Some(u32::MAX);
    spec
}

#[test]
fn a_ring_of_buffers_that_wait_for_each_other_stops_for_good() {
    let o = compared(&ring(100_000));
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        let since = port.deadlocked_ps.unwrap();
        assert!(since < Time::us(500).0 && port.paused_ps >= Time::ms(2).0 - since, "{port:?}");
    }
    // hosts are not part of the ring, but wait for it all the same
    assert!(port(&o, "h0>a").deadlocked_ps.is_some());
    assert!(port(&o, "a>c").deadlocked_ps.is_none());
    // at the end all bytes from a port of the ring wait at the next one
    let name = |port: u32| &*o.ports[port as usize].name;
    let end = o.pauses.rows.iter().filter(|row| row.at_end && row.ended_ps.is_none());
    let waits: Vec<(&str, &str)> = end.map(|row| (name(row.key.port), name(row.waiting.port))).collect();
    for pair in [("a>b", "b>c"), ("b>c", "c>a"), ("c>a", "a>b")] {
        assert_eq!(waits.iter().filter(|(paused, _)| *paused == pair.0).collect::<Vec<_>>(), [&pair]);
    }
    // without that much to send there is no deadlock
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.app = App::Udp(Udp { gap: Time::us(2), random: false }));
    let o = compared(&spec);
    assert!(o.ports.iter().all(|p| p.deadlocked_ps.is_none() && p.pauses == 0));
}

/// At any end of a run: ports in a deadlock then are still in one at the end of a longer run.
#[test]
fn what_is_called_a_deadlock_is_for_good() {
    let (mut seen, tried) = (0, seeds(100));
    for seed in tried.clone() {
        let mut draws = 0;
        let mut n = |of: u64| {
            draws += 1;
            (hash::uniform(seed, 78, 0, draws) * of as f64) as u64
        };
        let mut spec = ring(70_000 + n(60_000));
        for f in &mut spec.flows {
            f.app = App::Udp(Udp { gap: Time(800_000 + n(1_200_000)), random: false });
            f.start = Time::ns(n(3000));
        }
        let pfc = spec.buffer.as_mut().unwrap().pfc.as_mut().unwrap();
        (pfc.reserve, pfc.margin) = ([0, 4096][n(2) as usize], [0, 1000, 3072][n(3) as usize]);
        pfc.threshold = [None, Some(Threshold::Dynamic(1.0)), Some(Threshold::Fixed(5_000))][n(3) as usize];
        let deadlocked = |end: Time| {
            let o = run(&Spec { duration: end, measure_to: end, ..spec.clone() });
            let ports = o.ports.into_iter().filter(|p| p.deadlocked_ps.is_some());
            ports.map(|p| (p.name, p.deadlocked_ps)).collect::<Vec<_>>()
        };
        let later = deadlocked(Time::us(400));
        for _ in 0..40 {
            let end = Time::ns(20_000 + n(300_000));
            let here = deadlocked(end);
            seen += u64::from(!here.is_empty());
            assert!(here.iter().all(|port| later.contains(port)), "seed {seed} at {end:?}: {here:?}, later {later:?}");
        }
    }
    assert!(seen > tried.end, "{seen}");
}

#[test]
fn a_ring_that_waits_for_itself_ends_at_its_duration_although_its_senders_have_stopped() {
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.stop = Time::us(300));
    let o = run(&spec);
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    assert!(o.packets_in_flight > 0);
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        assert!(port.paused_ps >= Time::ms(2).0 - port.deadlocked_ps.unwrap(), "{port:?}");
        // nothing has moved since, so the mean is close to the current queue
        let (mean, max) = (port.queue_mean_packets, port.queue_max_packets as f64);
        assert!(mean <= max && mean > max / 2.0, "{port:?}");
    }
}
