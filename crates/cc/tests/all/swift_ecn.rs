//! Swift with ECN, by hand: the average of marks, and which signals cut.

use crate::events::{MSS, ack, assert_close, changed, congestion, env, segments, us};
use incast_cc::registry::ParamSet;
use incast_cc::swift::target_delay::Target;
use incast_cc::swift_ecn::{KIND, Params, Signals, SwiftEcn};
use incast_cc::{Ack, Config, Controller, Ecn, Phase};

/// A delay target of 40 us, and the average of marks at once that of the window's share of an ACK.
fn sender(signals: Signals, w: f64) -> SwiftEcn {
    let params = changed(Params::default(), |p| {
        p.target_delay.target = Target::Static;
        p.target_delay.static_target = us(40.0);
        p.signals = signals;
        p.g = 1.0;
    });
    SwiftEcn::new(&params, &env(MSS, w))
}

fn window(cc: &SwiftEcn) -> f64 {
    cc.cwnd() / f64::from(MSS)
}

fn alpha(cc: &SwiftEcn) -> f64 {
    let mut found = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "alpha" {
            found = value;
        }
    });
    found
}

fn ack_at(cc: &mut SwiftEcn, at: f64, packets: u64, delay: f64, ece: bool) {
    cc.on_ack(&Ack {
        ece,
        phase: if ece { Phase::Cwr } else { Phase::Open },
        ..ack(us(at), segments(packets), us(delay))
    });
}

#[test]
fn alpha_is_the_share_of_marked_data() {
    let params = changed(Params::default(), |p| {
        p.g = 0.0625;
        p.window.max_cwnd = 10.0;
        p.window.min_cwnd = 10.0;
    });
    let mut cc = SwiftEcn::new(&params, &env(MSS, 10.0));
    // one packet of a window of ten: a tenth of the gain
    ack_at(&mut cc, 1000.0, 1, 10.0, true);
    assert_close(alpha(&cc), 0.00625);
    ack_at(&mut cc, 1001.0, 2, 10.0, false);
    assert_close(alpha(&cc), 0.00625 * (1.0 - 0.0125));
    // a share that lasts is what it comes to
    for i in 0..20_000 {
        ack_at(&mut cc, 1002.0 + f64::from(i), 1, 10.0, i % 4 == 0);
    }
    assert!((alpha(&cc) - 0.25).abs() < 0.01, "{}", alpha(&cc));
}

#[test]
fn either_signal_cuts_and_the_larger_cut_counts() {
    // the window of ten packets is one ACK: alpha is 1 after a mark, half the window goes
    let mut cc = sender(Signals::Either, 10.0);
    ack_at(&mut cc, 1000.0, 10, 20.0, true);
    assert_close(window(&cc), 5.0);
    // alpha of 1/10: a twentieth for the mark, 0.8 * 10 / 50 for the delay
    let mut cc = sender(Signals::Either, 10.0);
    ack_at(&mut cc, 1000.0, 1, 20.0, true);
    assert_close(window(&cc), 9.5);
    let mut cc = sender(Signals::Either, 10.0);
    ack_at(&mut cc, 1000.0, 1, 50.0, true);
    assert_close(window(&cc), 8.4);
    // alpha of 4/10: a fifth for the mark is more than those 0.16
    let mut cc = sender(Signals::Either, 10.0);
    ack_at(&mut cc, 1000.0, 4, 50.0, true);
    assert_close(window(&cc), 8.0);
    // neither: growth; once a round trip: no second cut, and no growth on a mark
    let mut cc = sender(Signals::Either, 10.0);
    ack_at(&mut cc, 1000.0, 1, 20.0, false);
    assert_close(window(&cc), 10.1);
    ack_at(&mut cc, 1001.0, 1, 20.0, true);
    let w = window(&cc);
    assert!(w < 10.1);
    ack_at(&mut cc, 1005.0, 1, 20.0, true);
    assert_close(window(&cc), w);
}

#[test]
fn both_must_agree_where_that_is_asked() {
    for (delay, ece, after) in [(20.0, false, 10.1), (20.0, true, 10.1), (50.0, false, 10.0), (50.0, true, 8.4)] {
        let mut cc = sender(Signals::Both, 10.0);
        ack_at(&mut cc, 1000.0, 1, delay, ece);
        assert_close(window(&cc), after);
    }
}

#[test]
fn below_one_packet_delay_alone_counts() {
    for signals in [Signals::Either, Signals::Both] {
        for ece in [false, true] {
            let mut cc = sender(signals, 0.5);
            ack_at(&mut cc, 1000.0, 0, 50.0, ece);
            assert_close(window(&cc), 0.5 * 0.84);
            let mut cc = sender(signals, 0.5);
            ack_at(&mut cc, 1000.0, 1, 20.0, ece);
            assert_close(window(&cc), 1.5);
        }
    }
}

#[test]
fn a_mark_that_the_transport_reports_too_counts_once() {
    let mut cc = sender(Signals::Either, 10.0);
    cc.on_ecn(&congestion(us(1000.0), segments(10)));
    assert_close(window(&cc), 10.0);
    cc.on_loss(&congestion(us(1000.0), segments(10)));
    assert_close(window(&cc), 5.0);
    assert_eq!(Config::new("swift-ecn").unwrap().profile().ecn, Ecn::Dctcp);
    // plain Swift answers marks that it is made to see as losses
    let mut swift = Config::new("swift").unwrap().build(&env(MSS, 10.0));
    swift.on_ecn(&congestion(us(1000.0), segments(10)));
    assert_close(swift.cwnd(), 5000.0);
}

#[test]
fn without_marks_either_is_swift() {
    let mut ecn = Config::new("swift-ecn").unwrap().build(&env(MSS, 10.0));
    let mut swift = Config::new("swift").unwrap().build(&env(MSS, 10.0));
    for i in 0..300 {
        let event = ack(us(1000.0 + 9.0 * f64::from(i)), segments(1), us(150.0 + f64::from(i % 7) * 60.0));
        ecn.on_ack(&event);
        swift.on_ack(&event);
        assert_eq!(ecn.cwnd().to_bits(), swift.cwnd().to_bits());
    }
    let mut params = Params::default();
    assert!(params.set("g", "0").is_err() && params.set("signals", "neither").is_err());
}

#[test]
fn every_packet_is_acknowledged_and_losses_are_its_own() {
    // as Swift has it, sections 3.3 and 3.6; marks come with every ACK, as DCTCP's receivers echo them
    let asked = KIND.profile;
    assert!(asked.ack_every_packet && asked.own_recovery);
    assert_eq!(asked.ecn, Ecn::Dctcp);
}
