//! Bolt's sender: notices of ports reduce its window, and free room at ports increases it.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, timeout, us};
use incast_cc::bolt::{Bolt, KIND, Params};
use incast_cc::{Ack, Asks, Backlog, Config, Controller, Env, Pacing, Rate, Round, Time};

/// 100 Gb/s and a base round trip of 8 us: a first window of 100,000 bytes.
fn path() -> Env {
    Env { line_rate: Rate::gbps(100), line_packet_time: us(0.1), base_rtt: us(8.0), ..env(MSS, 10.0) }
}

fn sender() -> Bolt {
    Bolt::new(&Params::default(), &path())
}

/// A notice at `now` of a port of 100 Gb/s with this many packets, about a packet sent `took` before.
fn notice(now: f64, packets: f64, took: f64) -> Backlog {
    Backlog { now: us(now), sent: us(now - took), packets, rate: Rate::gbps(100) }
}

/// An ACK at `now` with this round trip, of data up to `acked`, when `sent` had been sent.
fn acked(now: f64, rtt: f64, acked: u64, sent: u64) -> Ack {
    Ack { round: Round { acked, sent }, ..ack(us(now), 1_000, us(rtt)) }
}

/// A sender whose window is `cwnd` at this round trip, in the middle of a round trip.
fn at(cwnd: f64, rtt: f64) -> Bolt {
    let mut cc = Bolt::new(&changed(Params::default(), |p| p.max_cwnd = cwnd / 100_000.0), &path());
    cc.on_ack(&acked(1.0, rtt, 1, u64::MAX));
    assert_close(cc.cwnd(), cwnd);
    cc
}

/// Times, in us after the first notice, of the reductions of a sender that hears of `packets` every 100 ns from 10 us
/// on.
fn reductions(cc: &mut Bolt, packets: f64) -> Vec<f64> {
    let mut found = Vec::new();
    for i in 0..100 {
        let before = cc.cwnd();
        if before <= 1_000.0 {
            break;
        }
        cc.on_backlog(&notice(10.0 + 0.1 * f64::from(i), packets, 4.0));
        if cc.cwnd() < before {
            assert_close(cc.cwnd(), before - 1_000.0);
            found.push(0.1 * f64::from(i));
        }
    }
    found
}

#[test]
fn a_flow_begins_with_what_its_line_sends_in_a_base_round_trip() {
    assert_close(sender().cwnd(), 100_000.0);
}

#[test]
fn packets_leave_no_closer_than_the_hosts_link_takes_them() {
    // 1,000 bytes in 100 ns, headers and the wire's overhead among them: 80 Gb/s of payload on a link of 100
    assert_eq!(sender().pacing(), Pacing::Rate(80e9));
    let at_once = changed(Params::default(), |p| p.spaced = false);
    assert_eq!(Bolt::new(&at_once, &path()).pacing(), Pacing::None);
    let unlimited = Env { line_packet_time: Time::ZERO, ..path() };
    assert_eq!(Bolt::new(&Params::default(), &unlimited).pacing(), Pacing::None);
}

#[test]
fn a_flow_takes_away_its_share_of_the_queue_in_the_time_that_the_news_takes() {
    // a tenth of the link after the first, 20 packets, 4 us: 2 packets in 4 us
    let times = reductions(&mut at(11_000.0, 8.0), 20.0);
    assert_close(times[0], 0.0);
    assert_close(times[1], 2.0);
    // with the packet that went the share is 0.09: 4/(20 * 0.09) us
    assert_close(times[2], 4.3);
    // all of the link: a packet in 0.2 us
    let times = reductions(&mut at(101_000.0, 8.0), 20.0);
    assert_close(times[1], 0.2);
}

#[test]
fn before_the_first_ack_its_rate_is_the_lines() {
    let times = reductions(&mut sender(), 2.0);
    // 4 us over 2 packets; the first notice is 4 us after its packet
    assert_eq!(&times[..2], [0.0, 2.0]);
    // an ACK whose round trip took no time tells nothing
    let mut cc = sender();
    cc.on_ack(&acked(1.0, 0.0, 1, u64::MAX));
    assert_eq!(reductions(&mut cc, 2.0), times);
    // less than a packet of the queue is a flow's own: it waits for more than its first news
    let times = reductions(&mut at(1_500.0, 8.0), 20.0);
    assert_close(times[0], 9.4);
}

#[test]
fn a_queue_up_to_the_target_takes_nothing_away() {
    let mut cc = Bolt::new(&changed(Params::default(), |p| p.target_queue = 4.0), &path());
    cc.on_backlog(&notice(10.0, 4.0, 4.0));
    assert_close(cc.cwnd(), 100_000.0);
    // ... nor if its host's own port says so at once
    cc.on_backlog(&notice(10.0, 4.0, 0.0));
    assert_close(cc.cwnd(), 100_000.0);
    cc.on_backlog(&notice(10.0, 5.0, 4.0));
    assert_close(cc.cwnd(), 99_000.0);
}

#[test]
fn from_a_packet_or_less_each_notice_halves_and_the_sender_paces() {
    let mut cc = at(1_000.0, 8.0);
    cc.on_backlog(&notice(10.0, 3.0, 4.0));
    cc.on_backlog(&notice(10.0, 3.0, 4.0));
    assert_close(cc.cwnd(), 250.0);
    assert_eq!(cc.pacing(), Pacing::Gap(us(32.0)));
    for _ in 0..10 {
        cc.on_backlog(&notice(10.0, 3.0, 4.0));
    }
    assert_close(cc.cwnd(), 10.0);
}

#[test]
fn packets_that_were_let_to_add_one_each_and_a_round_trip_one() {
    let mut cc = sender();
    cc.on_loss(&congestion(us(20.0), segments(100)));
    assert_close(cc.cwnd(), 50_000.0);
    cc.on_bolt_grant(2);
    assert_close(cc.cwnd(), 52_000.0);
    // the first ACK is the first of a round trip, which ends with what is sent from now on
    cc.on_ack(&acked(21.0, 8.0, 1_000, 50_000));
    assert_close(cc.cwnd(), 53_000.0);
    cc.on_ack(&acked(22.0, 8.0, 50_000, 90_000));
    assert_close(cc.cwnd(), 53_000.0);
    cc.on_ack(&acked(23.0, 8.0, 51_000, 100_000));
    assert_close(cc.cwnd(), 54_000.0);
    cc.on_bolt_grant(100);
    assert_close(cc.cwnd(), 100_000.0);
}

#[test]
fn losses_and_timeouts_halve_once_in_a_round_trip() {
    let mut cc = at(100_000.0, 8.0);
    cc.on_loss(&congestion(us(20.0), segments(100)));
    cc.on_loss(&congestion(us(27.9), segments(50)));
    assert_close(cc.cwnd(), 50_000.0);
    cc.on_timeout(&timeout(us(28.0), segments(50), 1));
    assert_close(cc.cwnd(), 25_000.0);
    // a notice counts as one, too
    cc.on_backlog(&notice(40.0, 20.0, 4.0));
    cc.on_loss(&congestion(us(41.0), segments(20)));
    assert_close(cc.cwnd(), 24_000.0);
}

#[test]
fn what_was_told_is_traced() {
    let mut cc = sender();
    let shown = |cc: &Bolt| {
        let mut shown = Vec::new();
        cc.state(&mut |name, value| shown.push((name, value)));
        shown
    };
    assert!(shown(&cc).iter().all(|(_, value)| value.is_nan()));
    cc.on_backlog(&notice(10.0, 20.0, 4.0));
    assert_eq!(shown(&cc), [("told_packets", 20.0), ("told_after_s", 4e-6)]);
}

#[test]
fn packets_ask_for_room_and_each_is_acknowledged() {
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.asks == Asks::Bolt && asked.own_recovery && !asked.telemetry);
}

#[test]
fn bad_parameters_are_refused_with_what_was_expected() {
    let mut config = Config::new("bolt").unwrap();
    for (key, value, words) in [
        ("ai", "-1", "expected a number of at least 0"),
        ("target_queue", "-1", "expected a number of at least 0"),
        ("max_mdf", "1", "expected a number above 0, below 1"),
        ("max_cwnd", "0", "expected a number above 0"),
        ("min_cwnd", "2", "expected a number above 0, at most 1"),
    ] {
        assert_eq!(config.set(key, value).unwrap_err().to_string(), words, "{key}");
    }
    config.set("base_rtt", "0s").unwrap();
    assert_eq!(config.check().unwrap_err().to_string(), "base_rtt: expected above 0");
}
