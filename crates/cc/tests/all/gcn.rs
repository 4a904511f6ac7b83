//! GCN: differences from DCTCP, by hand.

use crate::events::{MSS, ack, assert_close, congestion, env, round, segments, timeout, us};
use incast_cc::dctcp::{self, Dctcp};
use incast_cc::gcn::{Gcn, KIND, Params};
use incast_cc::registry::ParamSet;
use incast_cc::{Ack, Config, Controller, Ecn, Phase};
use proptest::prelude::*;

fn alpha(cc: &impl Controller) -> f64 {
    let mut alpha = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "alpha" {
            alpha = value;
        }
    });
    alpha
}

/// The ACK of the `i`-th packet (from 1) of a flow that keeps nine packets in flight behind it: every round trip
/// holds ten ACKs, and the first one only the first.
fn nth_ack(i: u64, ece: bool) -> Ack {
    let mut event = ack(us(100.0 * i as f64), segments(1), us(100.0));
    (event.round, event.ece) = (round(segments(i), segments(i + 9)), ece);
    event.cwnd_limited = false;
    event
}

#[test]
fn four_marked_packets_of_ten_cost_a_fifth_at_the_next_mark() {
    let mut cc = Gcn::new(&Params::default(), &env(MSS, 100.0));
    for i in 1..=10 {
        cc.on_ack(&nth_ack(i, (2..=4).contains(&i)));
        if i == 2 {
            cc.on_ecn(&congestion(us(200.0), segments(10)));
        }
        assert_eq!(cc.cwnd(), 100_000.0, "packet {i}: the round trip before had no mark");
    }
    assert_eq!(cc.ssthresh(), 100_000.0, "the first mark has ended slow start");
    cc.on_ack(&nth_ack(11, true));
    assert_close(alpha(&cc), 0.4);
    cc.on_ecn(&congestion(us(1100.0), segments(10)));
    assert_close(cc.cwnd(), 80_000.0);
    // a round trip without marks leaves no memory
    for i in 12..=21 {
        cc.on_ack(&nth_ack(i, false));
    }
    assert_eq!(alpha(&cc), 0.0);
    cc.on_ack(&nth_ack(22, true));
    cc.on_ecn(&congestion(us(2200.0), segments(10)));
    assert_close(cc.cwnd(), 80_000.0);
}

#[test]
fn all_marked_halves_each_round_trip_down_to_the_floor() {
    let mut cc = Gcn::new(&Params::default(), &env(MSS, 64.0));
    let mut windows = vec![];
    for i in 1..=81 {
        cc.on_ack(&nth_ack(i, true));
        if i % 10 == 1 {
            cc.on_ecn(&congestion(us(100.0 * i as f64), segments(9)));
            windows.push(cc.cwnd() / 1000.0);
        }
    }
    assert_eq!(windows, [32.0, 16.0, 8.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
}

#[test]
fn losses_halve_or_cut_by_the_marks() {
    let mut cc = Gcn::new(&Params::default(), &env(MSS, 20.0));
    cc.on_loss(&congestion(us(100.0), segments(20)));
    assert_eq!(cc.cwnd(), 10_000.0);
    let mut params = Params::default();
    params.set("loss", "alpha").unwrap();
    let mut cc = Gcn::new(&params, &env(MSS, 20.0));
    cc.on_loss(&congestion(us(100.0), segments(20)));
    assert_eq!(cc.cwnd(), 20_000.0, "no marks, no cut");
    cc.on_timeout(&timeout(us(200.0), segments(20), 1));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1_000.0, 20_000.0));
}

#[test]
fn its_receivers_acknowledge_marked_data_at_once() {
    assert_eq!(KIND.profile.ecn, Ecn::Dctcp);
    assert!(KIND.profile.ack_marked_at_once && !KIND.profile.ack_every_packet);
    let mut config = Config::new("gcn").unwrap();
    assert!(config.profile().ack_marked_at_once);
    config.set("ack_marked", "false").unwrap();
    assert!(!config.profile().ack_marked_at_once);
    assert!(!Config::new("dctcp").unwrap().profile().ack_marked_at_once);
}

proptest! {
    /// GCN is a DCTCP whose average is the latest share.
    #[test]
    fn it_is_dctcp_without_the_average(marks in proptest::collection::vec(any::<bool>(), 1..300)) {
        let mut cc = Gcn::new(&Params::default(), &env(MSS, 10.0));
        let same = dctcp::Params { g: 1.0, initial_alpha: 0.0, ..dctcp::Params::default() };
        let mut twin = Dctcp::new(&same, &env(MSS, 10.0));
        for (i, ece) in marks.iter().enumerate() {
            let phase = if i % 7 == 3 { Phase::Cwr } else { Phase::Open };
            let event = Ack { phase, cwnd_limited: true, ..nth_ack(i as u64 + 1, *ece) };
            let controllers: [&mut dyn Controller; 2] = [&mut cc, &mut twin];
            for each in controllers {
                each.on_ack(&event);
                if *ece && i % 5 == 0 {
                    each.on_ecn(&congestion(event.now, segments(9)));
                }
            }
            prop_assert_eq!(cc.cwnd().to_bits(), twin.cwnd().to_bits());
            prop_assert_eq!(alpha(&cc), alpha(&twin));
        }
    }
}
