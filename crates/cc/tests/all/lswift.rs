//! LSwift: Swift's window, and the numbers for late packets passed to the transport. The waiting itself is tested
//! with the transport.

use crate::events::{MSS, ack, congestion, env, timeout, us};
use incast_cc::lswift::KIND;
use incast_cc::{Ack, Config, Controller, Late, Phase, Time};
use proptest::prelude::*;

#[test]
fn five_in_a_row_and_a_smoothed_round_trip() {
    let mut config = Config::new("lswift").unwrap();
    for asked in [config.profile(), KIND.profile] {
        assert_eq!(asked.late, Some(Late { trigger: 5, wait: None }));
        assert!(asked.own_recovery && asked.ack_every_packet, "as Swift, sections 3.3 and 3.6");
    }
    config.set("late_trigger", "2").unwrap();
    config.set("lazy_wait", "30us").unwrap();
    assert_eq!(config.profile().late, Some(Late { trigger: 2, wait: Some(us(30.0)) }));
    assert!(config.set("late_trigger", "0").is_err());
    for other in ["swift", "swift-v0", "newreno", "dctcp", "swift-ecn", "swift-moving", "swift-rebase"] {
        assert_eq!(Config::new(other).unwrap().profile().late, None, "{other}");
    }
}

proptest! {
    /// The window is Swift's, to the bit, whatever happens.
    #[test]
    fn the_window_is_swifts(
        events in proptest::collection::vec((0u8..8, 0u64..50_000, 0u64..400_000_000, 0u64..400_000_000), 1..200),
        static_target: bool,
    ) {
        let build = |kind: &str| {
            let mut config = Config::new(kind).unwrap();
            if static_target {
                config.set("target", "static").unwrap();
                config.set("static_target", "150us").unwrap();
            }
            config.build(&env(MSS, 10.0))
        };
        let (mut swift, mut lswift) = (build("swift"), build("lswift"));
        let mut now = Time::ZERO;
        for (what, bytes, fabric, endpoint) in events {
            now += Time(fabric / 4);
            let play = |cc: &mut incast_cc::Cc| match what {
                0 => cc.on_loss(&congestion(now, bytes)),
                1 => cc.on_timeout(&timeout(now, bytes, 1)),
                _ => cc.on_ack(&Ack {
                    fabric_delay: Some(Time(fabric)),
                    endpoint_delay: Some(Time(endpoint)),
                    phase: Phase::Open,
                    ..ack(now, bytes, Time(fabric + endpoint))
                }),
            };
            play(&mut swift);
            play(&mut lswift);
            prop_assert_eq!(swift.cwnd().to_bits(), lswift.cwnd().to_bits());
            prop_assert_eq!(swift.pacing(), lswift.pacing());
        }
    }
}
