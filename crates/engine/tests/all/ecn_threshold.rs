//! Drop-tail and ECN-threshold queues against a packet-by-packet reference: the same decision and
//! the same departure for every packet, and the same account of the measured interval.

use crate::support::fifo::{Fifo, Offer, Verdict, link, packet, recorded, same_decisions};
use crate::support::*;
use incast_engine::LinkId;
use incast_engine::testing::{Interval, Offered, Port, Sent};
use proptest::prelude::*;

fn queue(discipline: Discipline, limit: Limit, device: u32, count_in_service: bool) -> QueueSpec {
    QueueSpec { device, count_in_service, ..crate::support::queue(discipline, limit) }
}

/// Marks packets that find at least K queued before them. Packets that do not fit are dropped, marked or not.
fn threshold(fifo: &Fifo, now: u64, o: &Offer, mark: Limit, drop_not_ect: bool) -> Verdict {
    if fifo.full(now, o.size) {
        return Verdict::Drop;
    }
    let above = match mark {
        Limit::Packets(k) => fifo.packets(now) >= k,
        Limit::Bytes(k) => fifo.bytes(now) >= k,
        Limit::None => false,
    };
    match (above, o.ect) {
        (true, true) => Verdict::Mark,
        (true, false) if drop_not_ect => Verdict::Drop,
        _ => Verdict::Accept,
    }
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn drop_tail_is_a_list_of_packets(
        offers in fifo::offers(120), limit in fifo::limits(), rate in fifo::rates(),
        device in prop_oneof![Just(0u32), 1u32..12], in_service: bool, overhead in 0u32..40,
        window in any::<(u64, u64, u64)>(),
    ) {
        let queue = queue(Discipline::DropTail, limit, device, in_service);
        same_decisions(&link(rate, overhead), &queue, 1, &offers, window, |fifo, now, o| {
            if fifo.full(now, o.size) { Verdict::Drop } else { Verdict::Accept }
        })?;
    }

    #[test]
    fn a_token_bucket_lets_a_packet_go_when_it_holds_its_bytes(
        offers in fifo::offers(120), limit in fifo::limits(), rate in fifo::rates(),
        burst in 1560u32..9000,
        mark in prop_oneof![(0u64..12).prop_map(Limit::Packets), (0u64..15_000).prop_map(Limit::Bytes)],
        count_overhead: bool, overhead in 0u32..40, window in any::<(u64, u64, u64)>(),
    ) {
        let discipline = Discipline::EcnThreshold(EcnThreshold { mark, drop_not_ect: true, count_dropped: false });
        let queue = QueueSpec { count_overhead, ..queue(discipline, limit, 0, false) };
        let link = LinkSpec { bucket: burst, ..link(rate, overhead) };
        same_decisions(&link, &queue, 1, &offers, window, |fifo, now, o| threshold(fifo, now, o, mark, true))?;
    }

    #[test]
    fn a_threshold_marks_what_finds_k_queued(
        offers in fifo::offers(120), limit in fifo::limits(), rate in fifo::rates(),
        mark in prop_oneof![(0u64..12).prop_map(Limit::Packets), (0u64..15_000).prop_map(Limit::Bytes)],
        drop_not_ect: bool, device in prop_oneof![Just(0u32), 1u32..12], in_service: bool,
        window in any::<(u64, u64, u64)>(),
    ) {
        let discipline = Discipline::EcnThreshold(EcnThreshold { mark, drop_not_ect, count_dropped: false });
        let queue = queue(discipline, limit, device, in_service);
        same_decisions(&link(rate, 0), &queue, 1, &offers, window, |fifo, now, o| {
            threshold(fifo, now, o, mark, drop_not_ect)
        })?;
    }
}

/// A port that starts empty, with everything measured.
fn port(rate: Rate, queue: &QueueSpec) -> (Port, Interval) {
    let interval = fifo::ALWAYS;
    (Port::new(&link(rate, 0), queue, LinkId(0), 1, &interval), interval)
}

#[test]
fn a_burst_at_one_instant_is_marked_from_k_on() {
    // Without the one in service: packet 1 is on the wire, packets 2..=66 find 0..64 queued, packet 67 finds 65.
    let mark = ecn_threshold(65);
    for (in_service, first) in [(false, 67), (true, 66)] {
        let (mut port, interval) = port(Rate::gbps(10), &queue(mark.clone(), Limit::None, 0, in_service));
        for n in 1..=100u64 {
            let got = port.enqueue(Time::ZERO, &packet(1500, true), &interval);
            assert_eq!(got, Sent::Arrives { time: Time(n * 1_200_000 + 1_000_000), marked: n >= first }, "packet {n}");
        }
    }
}

#[test]
fn a_device_queue_hides_its_packets_from_the_discipline() {
    // one in service, 100 below, 250 counted without a mark
    let mark =
        Discipline::EcnThreshold(EcnThreshold { mark: Limit::Packets(250), drop_not_ect: true, count_dropped: false });
    let (mut port, interval) = port(Rate::gbps(1), &queue(mark, Limit::Packets(2666), 100, false));
    let plain = (0..).find(|_| port.enqueue(Time::ZERO, &packet(1500, false), &interval) == Sent::Dropped);
    assert_eq!(plain, Some(1 + 100 + 250), "a packet that is not ECN-capable is dropped above K");
    for _ in 250..2666 {
        assert!(matches!(port.enqueue(Time::ZERO, &packet(1500, true), &interval), Sent::Arrives { marked: true, .. }));
    }
    assert_eq!(port.enqueue(Time::ZERO, &packet(1500, true), &interval), Sent::Dropped, "full at 2666");
    let record = recorded(&mut port, Time(1 << 50), &interval);
    assert_eq!((record.queue_max_packets, record.marks, record.drops), (2666, 2416, 2));
}

#[test]
fn what_the_limit_drops_may_count_as_marked() {
    for (count_dropped, marks) in [(false, 3), (true, 5)] {
        for explicit in [false, true] {
            let mark =
                Discipline::EcnThreshold(EcnThreshold { mark: Limit::Packets(2), drop_not_ect: true, count_dropped });
            let queue = QueueSpec { explicit, ..queue(mark, Limit::Packets(5), 0, false) };
            let (mut port, interval) = port(Rate::gbps(1), &queue);
            // one is sent, two wait unmarked, three marked
            let ect = [true, true, true, true, true, true, true, true, false];
            for ect in ect {
                if explicit {
                    port.offer(Time::ZERO, &packet(1500, ect), None, 0, None, &interval);
                } else {
                    port.enqueue(Time::ZERO, &packet(1500, ect), &interval);
                }
            }
            let record = recorded(&mut port, Time(1 << 50), &interval);
            assert_eq!((record.marks, record.drops), (marks, 3), "{count_dropped} {explicit}");
        }
    }
}

#[test]
fn a_limit_in_bytes_takes_what_fits() {
    let (mut port, interval) = port(Rate::gbps(1), &queue(Discipline::DropTail, Limit::Bytes(4000), 0, true));
    let mut offer = |size| port.enqueue(Time::ZERO, &packet(size, false), &interval) != Sent::Dropped;
    assert!(offer(1500) && offer(1500));
    assert!(!offer(1001), "3000 + 1001 bytes are too many");
    assert!(offer(1000), "3000 + 1000 bytes fit");
    assert!(!offer(1));
}

#[test]
fn thirty_gigabits_are_exact() {
    // 1500 B at 30 Gb/s are 400 ns; 100 B 26,666.67 ps, rounded for each packet
    let (mut port, interval) = port(Rate::gbps(30), &queue(Discipline::DropTail, Limit::None, 0, true));
    for n in 1..=30_000u64 {
        let got = port.enqueue(Time::ZERO, &packet(1500, false), &interval);
        assert_eq!(got, Sent::Arrives { time: Time(n * 400_000 + 1_000_000), marked: false });
    }
    let Sent::Arrives { time, .. } = port.enqueue(Time::ZERO, &packet(100, false), &interval) else { panic!() };
    assert_eq!(time, Time(30_000 * 400_000 + 26_667 + 1_000_000));
}

#[test]
fn an_infinite_rate_never_queues() {
    let (mut port, interval) = port(Rate::INFINITE, &queue(Discipline::DropTail, Limit::Packets(1), 0, true));
    for n in 0..1000 {
        let got = port.enqueue(Time(n / 10), &packet(1500, false), &interval);
        assert_eq!(got, Sent::Arrives { time: Time(n / 10 + 1_000_000), marked: false });
    }
    let record = recorded(&mut port, Time(1000), &interval);
    assert_eq!((record.rate_bps, record.busy_ps, record.queue_max_packets, record.drops), (0, 0, 0, 0));
}

#[test]
fn a_saturated_port_is_busy_all_the_time() {
    let interval = Interval { from: Time(50_000_000), to: Time(150_000_000), every: Time(1_000_000) };
    let queue = queue(Discipline::DropTail, Limit::Packets(10), 0, true);
    let mut port = Port::new(&link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
    let mut now = 0;
    while now < 200_000_000 {
        port.enqueue(Time(now), &packet(1500, false), &interval);
        now += 600_000;
    }
    let record = recorded(&mut port, Time(200_000_000), &interval);
    assert_eq!(record.busy_ps, 100_000_000);
    // arrivals at twice the rate: every other one finds the tenth place free
    assert_eq!((record.queue_max_packets, record.queue_p99_packets), (10, Some(10.0)));
    assert!(record.drops.abs_diff(record.packets) <= 1, "{record:?}");
}

#[test]
fn a_mark_at_departure_counts_what_waits_behind() {
    // 100 packets of 1500 B at one instant at 10 Gb/s: packet n leaves a queue of 101 - n including itself. Counting
    // the packet in service elsewhere does not change this. No early packet is spared, unlike with a threshold at
    // arrival.
    for in_service in [true, false] {
        for mark in [Limit::Packets(65), Limit::Bytes(65 * 1500)] {
            let discipline = Discipline::EcnAtDeparture(EcnAtDeparture { mark });
            let (mut port, interval) = port(Rate::gbps(10), &queue(discipline, Limit::None, 0, in_service));
            for n in 1..=100 {
                let ends = (n == 1).then_some(Time(1_200_000));
                let got = port.offer(Time::ZERO, &packet(1500, n != 7), None, 0, None, &interval);
                assert_eq!(got, Offered::Waits { ends, marked: false, lost: false }, "packet {n}");
            }
            for n in 1..=100u64 {
                let left = port.depart(Time(n * 1_200_000), None, &interval).unwrap();
                assert_eq!(left.marked, 101 - n > 65 && n != 7, "packet {n}; the seventh is not ECN-capable");
                assert_eq!(left.next, (n < 100).then_some(Time((n + 1) * 1_200_000)));
            }
            assert!(port.depart(Time(130_000_000), None, &interval).is_none());
            assert_eq!(recorded(&mut port, Time(1 << 30), &interval).marks, 34);
        }
    }
}
