//! Waiting for packets that others have overtaken (`incast_cc::Late`): which are late, when they are retransmitted, and
//! when they count as lost.

use super::*;
use incast_engine::testing::flag;

const NONE: [u64; 0] = [];

/// A sender of an endless transfer that has sent its first 20 segments. The clock stands at 100 ms.
fn sender(kind: &str, set: &[(&str, &str)]) -> Bench {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), initial_window(20.0), kind, bulk(0, 1, None));
    // far above the round trips of this bench, whose packets carry no hop count
    let set: Vec<(&str, &str)> = [("target", "static")].iter().chain(set).copied().collect();
    spec.controllers = vec![controller(kind, &set)];
    let mut bench = Bench::new(spec);
    assert_eq!(bench.open().len(), 20);
    bench.advance(100 * MS);
    bench
}

/// Delivers an ACK of segments below `ack` and in the blocks, with a round trip of 10 ms.
fn ack(bench: &mut Bench, ack: u64, blocks: &[(u64, u64)]) -> Vec<Caught> {
    let then = bench.now() - 10 * MS;
    let blocks: Vec<(u64, u64)> = blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect();
    bench.ack(ack * 1000, then, 0, &blocks)
}

/// Numbers of retransmitted segments.
fn again(sent: &[Caught]) -> Vec<u64> {
    sent.iter().filter(|c| c.has(flag::RETX)).map(|c| c.packet.seq() / 1000).collect()
}

fn window(bench: &Bench) -> f64 {
    bench.state("cwnd_bytes") / 1000.0
}

#[test]
fn a_late_packet_is_waited_for_and_sent_again_without_a_cut() {
    let mut bench = sender("lswift", &[]);
    // three segments above segment 0 have arrived: it is late
    assert_eq!(again(&ack(&mut bench, 0, &[(1, 4)])), NONE);
    let grown = window(&bench);
    assert!((grown - 20.15).abs() < 1e-9, "{grown}: 20 + 3/20, and no cut");
    assert_eq!(again(&bench.advance(110 * MS - 1)), NONE);
    assert_eq!(again(&bench.advance(110 * MS)), [0], "one smoothed round trip of 10 ms later");
    assert_eq!(window(&bench), grown);
    assert_eq!(again(&bench.advance(200 * MS)), NONE, "once");
    // with a rule that every hole is a loss, the same ACK reduces the window
    let mut swift = sender("swift", &[]);
    ack(&mut swift, 0, &[(1, 4)]);
    assert!((window(&swift) - 10.075).abs() < 1e-9);
    assert_eq!(again(&ack(&mut swift, 0, &[(1, 20)])), [0], "once the half window has room");
}

#[test]
fn two_packets_above_make_nothing_late() {
    let mut bench = sender("lswift", &[]);
    ack(&mut bench, 0, &[(1, 3)]);
    assert_eq!(again(&bench.advance(200 * MS)), NONE);
    // counted in segments, not in runs
    let mut bench = sender("lswift", &[]);
    ack(&mut bench, 0, &[(1, 2), (3, 4), (5, 6)]);
    assert_eq!(again(&bench.advance(200 * MS)), [0], "of 0, 2 and 4 only the first has three above it");
}

#[test]
fn what_arrives_in_time_is_not_sent_again() {
    let mut bench = sender("lswift", &[]);
    ack(&mut bench, 0, &[(1, 4)]);
    bench.advance(109 * MS);
    ack(&mut bench, 4, &[]);
    assert_eq!(again(&bench.advance(130 * MS)), NONE);
    assert!(window(&bench) > 20.0);
}

#[test]
fn the_wait_is_a_parameter_and_each_packet_has_its_own() {
    let mut bench = sender("lswift", &[("lazy_wait", "3ms")]);
    ack(&mut bench, 0, &[(1, 4)]);
    bench.advance(101 * MS);
    // now segment 4 is late too
    ack(&mut bench, 0, &[(1, 4), (5, 8)]);
    assert_eq!(again(&bench.advance(103 * MS)), [0]);
    assert_eq!(again(&bench.advance(104 * MS - 1)), NONE);
    assert_eq!(again(&bench.advance(104 * MS)), [4]);
}

#[test]
fn a_run_of_five_is_a_loss_and_of_four_is_not() {
    for (missing, lost) in [(4, false), (5, true), (6, true)] {
        let mut bench = sender("lswift", &[]);
        let sent = ack(&mut bench, 0, &[(missing, missing + 3)]);
        let w = window(&bench);
        assert!((w - if lost { 10.075 } else { 20.15 }).abs() < 1e-9, "{missing} missing: {w}");
        // segments neither lost nor SACKed are still in flight: 20 - 3 - missing, above half a window
        assert_eq!(again(&sent), NONE);
        // as the others arrive, the run is retransmitted, as far as the window allows
        let sent = ack(&mut bench, 0, &[(missing, 20)]);
        let expected: Vec<u64> = if lost { (0..missing).collect() } else { vec![] };
        assert_eq!(again(&sent), expected);
    }
}

#[test]
fn a_run_is_of_consecutive_packets() {
    let mut bench = sender("lswift", &[]);
    // nine are missing, no five in a row
    ack(&mut bench, 0, &[(4, 5), (9, 10), (13, 14), (14, 17)]);
    assert!(window(&bench) > 20.0);
    assert_eq!(again(&bench.advance(110 * MS))[..4], [0, 1, 2, 3]);
    // and LTCP's own trigger of two
    let mut bench = sender("lswift", &[("late_trigger", "2")]);
    ack(&mut bench, 0, &[(2, 5)]);
    assert!(window(&bench) < 11.0);
    let mut bench = sender("lswift", &[("late_trigger", "2")]);
    ack(&mut bench, 0, &[(1, 2), (3, 6)]);
    assert!(window(&bench) > 20.0, "0 and 2 are late, each alone");
}

#[test]
fn a_run_that_grows_is_sent_again_as_far_as_it_is_late() {
    let mut bench = sender("lswift", &[]);
    ack(&mut bench, 0, &[(5, 8)]);
    let cut = window(&bench);
    assert!((cut - 10.075).abs() < 1e-9);
    // a run of three behind it is late, not lost; one that continues it would be lost
    ack(&mut bench, 0, &[(5, 8), (11, 20)]);
    assert!(window(&bench) > cut, "no second cut");
    assert_eq!(again(&bench.advance(110 * MS)), [8, 9, 10]);
}

#[test]
fn a_timeout_ends_every_wait() {
    let mut bench = sender("lswift", &[("lazy_wait", "10s")]);
    ack(&mut bench, 0, &[(1, 4)]);
    let w = window(&bench);
    assert_eq!(again(&bench.advance(150 * MS)), NONE);
    // the timer runs since the first segments were sent: 1 s, before the first sample
    let sent = bench.advance(1_000 * MS);
    assert_eq!(again(&sent)[..2], [0, 4], "all that is not SACKed goes again");
    assert!((window(&bench) - w / 2.0).abs() < 1e-9, "and the window is cut as Swift's");
}

#[test]
fn without_sack_there_is_no_waiting() {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), initial_window(20.0), "lswift", bulk(0, 1, None));
    spec.transports[0].loss.sack = false;
    spec.controllers = vec![controller("lswift", &[("target", "static")])];
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(100 * MS);
    (0..2).for_each(|_| _ = ack(&mut bench, 0, &[]));
    assert_eq!(window(&bench), 20.0);
    ack(&mut bench, 0, &[]);
    assert_eq!(window(&bench), 10.0, "the third duplicate is a loss");
}

/// A transfer of 400 segments, with the loss of the packets with these numbers.
fn transfer(kind: &str, set: &[(&str, &str)], lost: &[u64]) -> Outcome {
    let mut spec = wire(Rate::gbps(1), Time::us(50), initial_window(20.0), kind, bulk(0, 1, Some(400_000)));
    spec.transports[0].rto.rto_min = Time::ms(5);
    spec.controllers = vec![controller(kind, set)];
    spec.links[0].loss = Loss::List(lost.to_vec());
    run_for(&mut spec, Time::s(1));
    compared(&spec)
}

#[test]
fn losses_are_repaired_by_waiting_by_runs_and_by_the_timer() {
    let repair = |lost: &[u64]| {
        let outcome = transfer("lswift", &[], lost);
        let flow = &outcome.flows[0];
        assert_eq!(flow.delivered, 400_000, "{lost:?}");
        let numbers = data_sent(&outcome, "h0").iter().map(|e| e.seq / 1000).collect::<Vec<u64>>();
        (flow.retransmissions, flow.timeouts, numbers)
    };
    let counts = |lost: &[u64]| {
        let (retransmissions, timeouts, _) = repair(lost);
        (retransmissions, timeouts)
    };
    assert_eq!(counts(&[50]), (1, 0));
    assert_eq!(counts(&[50, 51, 52, 53, 54, 55, 56]), (7, 0));
    assert_eq!(counts(&[50, 52, 54, 80, 81]), (5, 0));
    assert_eq!(counts(&[398, 399]), (2, 1), "nothing overtakes the last");
    // the second packet with the number of the lost one is its repair
    let (_, _, numbers) = repair(&[50]);
    let second = numbers.iter().rposition(|n| *n == 50).unwrap() as u64;
    assert_eq!(counts(&[50, second]).1, 1, "what was sent again is not waited for again");
}

#[test]
fn on_one_path_without_losses_it_is_swift() {
    let record = |kind: &str, set: &[(&str, &str)]| format!("{:?}", transfer(kind, set, &[]).flows[0]);
    let swift = record("swift", &[]);
    assert_eq!(record("lswift", &[]), swift);
    let one = [("history", "constant"), ("history_size", "1")];
    assert_eq!(record("mswift", &one), swift);
    assert_ne!(record("mswift", &[]), swift, "a median of more delays is another number");
}
