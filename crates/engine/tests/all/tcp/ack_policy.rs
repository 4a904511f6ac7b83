//! ACK policy of a receiver: delayed ACKs, quick ACKs, immediate ACKs for out-of-order segments (RFC 1122, RFC 5681).

use super::*;

#[test]
fn the_delayed_ack_fires_on_the_wheel() {
    for (timer_tick, at) in [(Time::ms(1), 46), (Time::ZERO, 45)] {
        let delayed_ack_timeout = Time::ms(40);
        let mut bench = receiver(changed!(
            linux_prr(1.0),
            timing.timer_tick = timer_tick,
            acks.delayed_ack_timeout = delayed_ack_timeout
        ));
        bench.advance(5 * MS);
        assert!(bench.data(0, 1000, 0).is_empty());
        assert_eq!(bench.advance(100 * MS)[0].at, at * MS);
    }
}

#[test]
fn the_end_of_a_write_and_cwr_are_acknowledged_at_once() {
    for (flags, push_ack, cwr_ack, acks) in [
        (flag::PSH, true, false, 1),
        (flag::PSH, false, true, 0),
        (flag::CWR, false, true, 1),
        (flag::CWR, true, false, 0),
        (0, true, true, 0),
    ] {
        let mut bench = receiver(changed!(linux_prr(1.0), acks.push_ack = push_ack, acks.cwr_ack = cwr_ack));
        assert_eq!(bench.data(0, 1000, flags).len(), acks, "{push_ack}, {cwr_ack}");
    }
    // not while a hole remains: there this segment is acknowledged like any other
    let mut bench = receiver(changed!(linux_prr(1.0), acks.push_ack = true, loss.sack_compression = true));
    (1..=4).for_each(|n| drop(bench.data(n * 1000, 1000, 0)));
    assert!(bench.data(5000, 1000, flag::PSH).is_empty());
}

#[test]
fn acks_are_delayed_by_count() {
    for m in [1, 2, 4] {
        let acks = marks(changed!(plain(), acks.delayed_ack = m), &[0; 8]);
        let expected: Vec<(u64, bool)> = (1..=8 / m as u64).map(|i| (i * m as u64, false)).collect();
        assert_eq!(acks, expected, "one ACK for {m} segments");
    }
}

#[test]
fn acks_are_delayed_at_most_by_the_timeout() {
    let mut bench = receiver(changed!(plain(), acks.delayed_ack = 2, acks.delayed_ack_timeout = Time::ms(40)));
    assert!(bench.data(0, 1000, 0).is_empty());
    bench.advance(10 * MS);
    assert_eq!(bench.data(1000, 1000, 0).len(), 1);
    // the timer of the first segment has no effect any more
    bench.advance(20 * MS);
    assert!(bench.data(2000, 1000, 0).is_empty());
    let late = bench.advance(200 * MS);
    let found: Vec<(u64, u64)> = late.iter().map(|a| (a.at, a.packet.ack)).collect();
    assert_eq!(found, [(60 * MS, 3000)], "40 ms after the segment that waits");
}

#[test]
fn a_connection_starts_with_quick_acks() {
    // Linux: 16 segments one by one, then every second
    let acks = marks(changed!(plain(), acks.quickack = 16, acks.delayed_ack = 2), &[0; 20]);
    let covered: Vec<u64> = acks.iter().map(|a| a.0).collect();
    assert_eq!(covered, (1..=16).chain([18, 20]).collect::<Vec<u64>>());
}

#[test]
fn a_duplicate_begins_quick_acks_anew() {
    let mut bench = receiver(changed!(plain(), acks.quickack = 2, acks.delayed_ack = 2));
    let acks: Vec<usize> = [0, 1, 2, 3, 4, 0, 5, 6, 7, 8].map(|n| bench.data(n * 1000, 1000, 0).len()).to_vec();
    // two at once, then every second; the duplicate takes one of the two, the segment after it the other
    assert_eq!(acks, [1, 1, 0, 1, 0, 1, 1, 0, 1, 0]);
}

#[test]
fn disorder_is_acknowledged_at_once() {
    let mut bench = receiver(changed!(plain(), acks.delayed_ack = 2));
    let acks = |sent: Vec<Caught>| sent.iter().map(|a| a.packet.ack).collect::<Vec<u64>>();
    assert_eq!(acks(bench.data(0, 1000, 0)), [0u64; 0]);
    assert_eq!(acks(bench.data(2000, 1000, 0)), [1000], "above a hole");
    assert_eq!(acks(bench.data(5000, 1000, 0)), [1000], "a second hole");
    assert_eq!(acks(bench.data(1000, 1000, 0)), [3000], "a hole closed, another left");
    assert_eq!(acks(bench.data(3000, 1000, 0)), [4000], "part of a hole");
    assert_eq!(acks(bench.data(4000, 1000, 0)), [6000], "the last hole closed");
    assert_eq!(acks(bench.data(6000, 1000, 0)), [0u64; 0], "in order again");
    assert_eq!(acks(bench.data(2000, 1000, 0)), [7000], "a duplicate");
    assert_eq!(bench.record().delivered, 7000);
}

#[test]
fn an_ack_echoes_the_earliest_time_it_covers() {
    let mut bench = receiver(changed!(plain(), acks.delayed_ack = 2));
    let at = |b: &mut Bench, seq, ts| b.give_segment(seq, 1000, |p| p.set_sent_at(ts));
    bench.advance(MS);
    at(&mut bench, 0, Time(100));
    assert_eq!(at(&mut bench, 1000, Time(200))[0].packet.echo(), Time(100), "delayed: the first of the two");
    assert_eq!(at(&mut bench, 3000, Time(300))[0].packet.echo(), Time(300));
    assert_eq!(at(&mut bench, 2000, Time(400))[0].packet.echo(), Time(400), "the retransmission that filled the hole");
}

#[test]
fn the_end_of_a_flow_is_acknowledged_at_once() {
    for (flags, acks) in [(0, 0), (flag::FIN, 1)] {
        let mut bench = receiver(changed!(plain(), acks.delayed_ack = 2));
        assert_eq!(bench.data(0, 1000, flags).len(), acks);
    }
    // not before the missing data below it
    let mut bench = receiver(changed!(plain(), acks.delayed_ack = 2));
    let ends = |sent: Vec<Caught>| sent.iter().map(|a| (a.packet.ack, a.has(flag::FIN))).collect::<Vec<_>>();
    assert_eq!(ends(bench.data(1000, 1000, flag::FIN)), [(0, false)]);
    assert_eq!(ends(bench.data(0, 1000, 0)), [(2001, true)]);
}
