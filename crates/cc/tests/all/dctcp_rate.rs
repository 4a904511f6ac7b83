//! DCTCP by a rate.

use crate::events::{env, round, us};
use incast_cc::dctcp_rate::{DctcpRate, Params};
use incast_cc::{Ack, Controller, Pacing};

fn rate(cc: &DctcpRate) -> f64 {
    match cc.pacing() {
        Pacing::Rate(rate) => rate,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_marked_round_trip_halves_the_rate_and_an_unmarked_one_raises_it() {
    let mut cc = DctcpRate::new(&Params::default(), &env(1000, 10.0));
    let ack = |acked, sent, ece| Ack { now: us(1.0), ece, round: round(acked, sent), ..Ack::default() };
    cc.on_ack(&ack(1_000, 100_000, true));
    assert_eq!(rate(&cc), 0.5e9);
    // one reduction a round trip
    cc.on_ack(&ack(2_000, 101_000, true));
    assert_eq!(rate(&cc), 0.5e9);
    // the round trip ends: alpha falls, and the rate rises, as nothing is marked
    cc.on_ack(&ack(101_000, 200_000, false));
    assert!((rate(&cc) - (0.5e9 + 0.00615e9)).abs() < 1.0, "{}", rate(&cc));
    let mut alpha = f64::NAN;
    cc.state(&mut |name, value| {
        if name == "alpha" {
            alpha = value
        }
    });
    assert!((alpha - (15.0 / 16.0 + 2.0 / 101.0 / 16.0)).abs() < 1e-12, "{alpha}");
}
