//! Late packets: their number, their extent, and the receiver buffer they need.

use crate::support::*;
use incast_engine::testing::Reordering;

/// One flow over four paths between two edges, one of which is slower by `slower`. Without retransmissions before the
/// end.
fn over_paths(slower: Time, size: u64, spread: PathChoice) -> FlowRecord {
    let mut spec = fat_tree(4, Rate::gbps(1), Time::us(10));
    spec.choice = spread;
    spec.transports = vec![changed!(
        htsim(),
        sizes.mss = 960,
        sizes.header = 40,
        output.extra_packets = 0,
        windows.initial_window = 1000.0,
        loss.dupthresh = 1000,
        loss.sack = true,
        rto.rto_min = Time::ms(10),
        rto.rto_initial = Time::ms(10)
    )];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = vec![bulk(0, 15, Some(size))];
    // of two cores above aggregation switch 0 the first is farther
    for l in spec.links.iter_mut().filter(|l| l.name == "agg0>core0") {
        l.delay = l.delay.saturating_add(slower);
    }
    run(&spec).flows[0].clone()
}

#[test]
fn in_order_nothing_is_late() {
    let f = over_paths(Time::us(100), 48_000, PathChoice::Ecmp);
    assert_eq!((f.late, f.extents, f.extent_max, f.reordering_buffer, f.arrived), (0, 0, 0, 0, 50));
}

#[test]
fn every_fourth_packet_is_late() {
    // packets leave every 8 us and take four paths in turn, the slow one 20 us more
    let f = over_paths(Time::us(20), 48_000, PathChoice::RoundRobinSource);
    assert_eq!(f.retransmissions, 0);
    // 12 or 13 of 50 take the slow path; if the last of them ends the flow, nothing overtakes it
    assert!((11..=13).contains(&f.late), "{}", f.late);
    // two overtake it on the way, and possibly one more at the last link, which is never idle
    assert!(f.extents == f.late && (2..=3).contains(&f.extent_max), "{f:?}");
    assert!((2 * f.late - 1..=3 * f.late).contains(&f.extent_sum), "{f:?}");
    assert!([2 * 960, 3 * 960].contains(&f.reordering_buffer), "packets wait for it: {f:?}");
}

#[test]
fn a_longer_way_makes_them_later() {
    let f = over_paths(Time::us(60), 48_000, PathChoice::RoundRobinSource);
    // of the seven behind it one is on the slow path too; the previous late one arrives in between
    assert_eq!(f.extent_max, 7);
    assert_eq!(f.reordering_buffer, 6 * 960);
}

#[test]
fn what_is_sent_again_is_not_late() {
    let mut spec = wire(
        Rate::gbps(1),
        Time::us(1),
        changed!(htsim(), loss.sack = true, rto.rto_min = Time::ms(10), rto.rto_initial = Time::ms(10)),
        "newreno",
        bulk(0, 1, Some(48_000)),
    );
    spec.links[0].loss = Loss::List(vec![5]);
    let f = compared(&spec).flows[0].clone();
    assert!(f.retransmissions > 0 && f.dropped == 1);
    assert_eq!((f.late, f.extents), (0, 0));
    assert!(f.reordering_buffer >= 3 * spec.transports[0].sizes.mss as u64, "the hole keeps what comes beyond it");
}

#[test]
fn extents_by_hand() {
    // RFC 4737's way of counting: arrivals 1, 4, 5, 2, 3, 6 of packets of one byte
    let mut r = Reordering::default();
    r.overtake(4, 2);
    r.overtake(5, 3);
    r.late(2, 4, 1);
    assert_eq!((r.late, r.extent_sum, r.extent_max), (1, 2, 2), "4 came two arrivals before 2");
    r.reached(2, true);
    r.late(3, 5, 2);
    assert_eq!((r.late, r.extent_sum, r.extent_max), (2, 5, 3));
    r.reached(5, false);
    r.late(2, 9, 5);
    assert_eq!((r.late, r.extents), (3, 2), "what was there already has no extent");
}

#[test]
fn runs_of_arrivals_count_as_each_of_them() {
    // the first packet of a round is late, the others come in order; the last is smaller
    let mut r = Reordering::default();
    for i in 1..1000 {
        r.overtake(1000 * (i + 1), i);
    }
    r.overtake(1_000_300, 1000);
    r.reached(1000, true);
    assert!(std::mem::size_of_val(&r) < 100 && r.runs() == 2, "a thousand arrivals are two runs");
    // below all, inside the run, at its last, beyond it
    for (end, first) in [(1500, 1u64), (2000, 2), (500_500, 500), (999_999, 999), (1_000_000, 1000), (1_000_200, 1000)]
    {
        let before = r.extent_sum;
        r.late(end, 1001, 1000);
        assert_eq!(r.extent_sum - before, 1001 - first, "{end}");
    }
    r.late(1_000_300, 1001, 1000);
    assert_eq!((r.late, r.extents), (7, 6), "nothing overtook the last");
    // a hole in the middle of the run fills
    r.reached(600_000, true);
    r.late(600_500, 1002, 600_000);
    assert_eq!((r.extents, r.extent_sum), (7, 1000 + 999 + 501 + 2 + 1 + 1 + 402));
    r.reached(1_000_300, false);
    assert_eq!(r.runs(), 0);
}

#[test]
fn a_late_original_below_another_hole_has_no_extent() {
    // packets 0 2 1 (sent again) 5 1 3 4 of a byte each, so that packet i ends at i + 1
    let mut r = Reordering::default();
    r.overtake(3, 2);
    r.reached(3, false);
    r.overtake(6, 4);
    r.late(2, 5, 3);
    assert_eq!((r.late, r.extents), (1, 0), "2 overtook it first, which nobody knows any more; 5 did not");
    r.late(4, 6, 3);
    r.reached(4, true);
    r.late(5, 7, 4);
    assert_eq!((r.late, r.extents, r.extent_sum, r.extent_max), (3, 2, 5, 3));
}
