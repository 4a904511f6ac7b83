//! Packet trimming: trimmed packets, their NACKs, and retransmissions.

use crate::support::fifo::{packet, recorded};
use crate::support::*;
use incast_engine::testing::{Offered, Port};
use incast_engine::{FlowId, LinkId};

/// Data up to `limit` packets of 4000 B, the one in transmission counted, headers of 64 B up to `headers`.
fn trimming(limit: u64, headers: u64, headers_per_data: u32) -> QueueSpec {
    let header_limit = Limit::Bytes(headers * 64);
    let discipline = Discipline::Trimming(Trimming {
        header: 64,
        header_limit,
        headers_per_data,
        draws: true,
        drops: false,
        returns: false,
        ecn: None,
    });
    queue(discipline, Limit::Bytes(limit * 4000))
}

/// Sends `n` segments at once to a port at 100 Gb/s. Returns (number, size) in the order in which they leave.
fn leaving(queue: &QueueSpec, n: u32, seed: u64) -> (Vec<(u32, u16)>, u64, u64) {
    let interval = fifo::ALWAYS;
    let mut port = Port::new(&fifo::link(Rate::gbps(100), 0), queue, LinkId(0), seed, &interval);
    let mut ends = None;
    for flow in 0..n {
        let mut packet = packet(4000, false);
        (packet.flow, packet.len) = (FlowId(flow), 4000);
        if let Offered::Waits { ends: end, .. } = port.offer(Time::ZERO, &packet, None, 0, None, &interval) {
            ends = ends.or(end);
        }
    }
    let left: Vec<_> = fifo::drain(&mut port, ends, &interval).iter().map(|p| (p.flow.0, p.size)).collect();
    let record = recorded(&mut port, Time(1 << 40), &interval);
    // all packets that left were transmitted, at 80 ps a byte
    let bytes: u64 = left.iter().map(|l| l.1 as u64).sum();
    assert_eq!((record.bytes, record.busy_ps), (bytes, bytes * 80), "{record:?}");
    (left, record.trimmed, record.drops)
}

#[test]
fn where_nothing_is_cut_what_would_be_is_dropped() {
    let mut newest = 0;
    for seed in 0..40 {
        let mut dropping = trimming(8, 100, 10);
        if let Discipline::Trimming(own) = &mut dropping.discipline {
            own.drops = true;
        }
        let (left, trimmed, drops) = leaving(&dropping, 20, seed);
        assert_eq!((left.len(), trimmed, drops), (8, 0, 12));
        assert!(left.iter().all(|l| l.1 == 4000) && left[..7].iter().map(|l| l.0).eq(0..7), "{left:?}");
        newest += (left[7].0 > 7) as u32;
    }
    // all twelve draws lost: once in 4096
    assert!(newest >= 39, "{newest}");
}

#[test]
fn what_does_not_fit_leaves_as_a_header_before_the_data() {
    let (mut newest, mut arrivals) = (0, 0);
    for seed in 0..40 {
        let (left, trimmed, drops) = leaving(&trimming(8, 100, 10), 20, seed);
        assert_eq!((left.len(), trimmed, drops), (20, 12, 0));
        assert_eq!(left[0], (0, 4000), "it was under way");
        let data: Vec<u32> = left.iter().filter(|l| l.1 == 4000).map(|l| l.0).collect();
        assert_eq!(data.len(), 8);
        // as htsim counts: the slot of the first packet is one of eleven; then one of data, and the rest
        assert!(left[1..10].iter().all(|l| l.1 == 64) && left[10].1 == 4000, "{left:?}");
        assert!(left[11..14].iter().all(|l| l.1 == 64), "{left:?}");
        assert_eq!(data[..7], [0, 1, 2, 3, 4, 5, 6], "only the newest is ever cut");
        // the last place in the queue belongs to the last arrival that won its draw
        if data[7] == 7 { arrivals += 1 } else { newest += 1 }
    }
    // all twelve draws lost: once in 4096
    assert!(newest >= 39 && arrivals <= 1, "{newest} {arrivals}");
}

#[test]
fn headers_beyond_their_limit_are_dropped() {
    let (left, trimmed, drops) = leaving(&trimming(8, 5, 10), 20, 1);
    assert_eq!((left.len(), trimmed, drops), (13, 12, 7), "8 of data, 5 headers");
}

/// `n` senders of 64 segments each to one receiver.
fn incast(n: u32, queue: QueueSpec) -> Spec {
    let mut spec = star(n + 1, Rate::gbps(100), Time::us(1));
    spec.queues = vec![queue, drop_tail(1000)];
    spec.links.iter_mut().filter(|l| l.from <= n).for_each(|l| l.queue = 1);
    spec.flows = (0..n).map(|h| bulk(h, n, Some(256_000))).collect();
    spec.controllers = vec![controller("newreno", &[])];
    run_for(&mut spec, Time::ms(40));
    spec
}

#[test]
fn an_incast_loses_nothing_and_never_waits_for_a_timer() {
    let (cut, dropped) = (compared(&incast(16, trimming(8, 1000, 10))), compared(&incast(16, drop_tail(8))));
    let sum = |o: &incast_record::Outcome, f: fn(&incast_record::FlowRecord) -> u64| o.flows.iter().map(f).sum::<u64>();
    assert!(cut.flows.iter().all(|f| f.finish_ps.is_some()));
    let port = cut.ports.iter().find(|p| p.name == "s>h16").unwrap();
    assert!(port.trimmed > 0 && port.drops == 0, "{port:?}");
    // a packet trimmed while waiting counts once, too
    assert_eq!(port.classes.iter().map(|c| c.packets).sum::<u64>(), port.packets);
    // every trimmed packet gives one header that arrives, one NACK, and one retransmission
    assert_eq!(sum(&cut, |f| f.trimmed), port.trimmed);
    // (a header may wait behind later data, ten headers to one: then duplicates report it first, and again)
    let again = sum(&cut, |f| f.retransmissions);
    assert!((port.trimmed..=port.trimmed + 2).contains(&again), "{again} {port:?}");
    assert_eq!(sum(&cut, |f| f.timeouts), 0);
    assert_eq!(sum(&cut, |f| f.dropped), port.trimmed, "the payload was lost");
    assert!(sum(&dropped, |f| f.timeouts) > 0, "drops alone leave some to their timers");
    let last = |o: &incast_record::Outcome| o.flows.iter().filter_map(|f| f.finish_ps).max().unwrap();
    assert!(last(&cut) < last(&dropped), "{} {}", last(&cut), last(&dropped));
}

#[test]
fn transports_that_cannot_answer_are_refused() {
    let mut spec = incast(2, trimming(8, 100, 10));
    spec.transports[0].loss.sack = false;
    assert!(incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string().contains("must detect losses by SACK"));
    spec.transports[0] = changed!(htsim(), sizes.mtu = 1500);
    assert!(incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string().contains("must not fragment"));
}

#[test]
fn a_datagram_cut_to_its_header_is_not_delivered() {
    // three flows, each at half the rate of the shared link
    let mut spec = incast(3, trimming(8, 1000, 10));
    let gap = Rate::gbps(50).serialize(4000);
    spec.flows = (0..3).map(|h| FlowSpec { app: App::Udp(Udp { gap, random: false }), ..bulk(h, 3, None) }).collect();
    (spec.duration, spec.measure_to) = (Time::us(100), Time::us(100));
    let outcome = run(&spec);
    let mss = spec.transports[0].sizes.mss as u64;
    for f in &outcome.flows {
        assert!(f.trimmed > 0 && f.arrived > 0, "{f:?}");
        assert_eq!(f.delivered, f.arrived * mss, "{f:?}");
    }
}

#[test]
fn a_packet_is_lost_once_whether_the_queue_drops_it_or_the_wire_loses_it() {
    let random = Discipline::RandomDrop(RandomDrop { threshold: Limit::Packets(4), probability: 0.3 });
    for mut queue in [trimming(8, 2, 10), queue(random, Limit::Packets(8)), drop_tail(8)] {
        for explicit in [true, false] {
            queue.explicit = explicit;
            let mut spec = incast(4, queue.clone());
            spec.links.iter_mut().find(|l| l.name == "s>h4").unwrap().loss = Loss::Packet(0.2);
            let gap = Rate::gbps(50).serialize(4000);
            spec.flows =
                (0..4).map(|h| FlowSpec { app: App::Udp(Udp { gap, random: false }), ..bulk(h, 4, None) }).collect();
            run_for(&mut spec, Time::us(400));
            let o = run(&spec);
            let port = o.ports.iter().find(|p| p.name == "s>h4").unwrap();
            assert!(port.drops > 10 && port.losses > 10, "{port:?}");
            assert_eq!(port.drops + port.losses, o.packets_dropped, "{port:?}");
            assert_eq!(port.lost_total, o.packets_dropped);
            let dropped: u64 = port.classes.iter().map(|c| c.drops).sum();
            assert!(port.classes.is_empty() || dropped == port.drops, "{port:?}");
        }
    }
}
