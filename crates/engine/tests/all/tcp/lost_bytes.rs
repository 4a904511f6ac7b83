//! Lost bytes reported to a controller (`incast_cc::Ack::lost_bytes`), under every form of recovery.

use super::*;
use incast_cc::external::{External, ExternalController, ExternalFactory};
use incast_cc::{Ack, Congestion, Controller, Env, Profile, Timeout};
use incast_engine::testing::Kind;
use std::sync::Arc;

/// A constant window of 20 segments, and the bytes lost so far.
#[derive(Debug, Default)]
struct Told {
    lost: u64,
}

impl Controller for Told {
    fn on_ack(&mut self, ack: &Ack) {
        self.lost += ack.lost_bytes;
    }
    fn on_loss(&mut self, _: &Congestion) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn cwnd(&self) -> f64 {
        20_000.0
    }
    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("lost", self.lost as f64);
    }
}

impl ExternalController for Told {}

#[derive(Debug)]
struct Asks;

impl ExternalFactory for Asks {
    fn name(&self) -> &str {
        "told"
    }
    fn params(&self) -> &[(String, String)] {
        &[]
    }
    fn source(&self) -> &str {
        ""
    }
    fn profile(&self) -> Profile {
        Profile::TCP
    }
    fn make(&self, _: &Env) -> Box<dyn ExternalController> {
        Box::new(Told::default())
    }
}

/// A sender of an endless transfer that has sent 20 segments. The clock stands at 100 ms.
fn told(transport: TransportSpec) -> Bench {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, "newreno", bulk(0, 1, None));
    spec.controllers = vec![Config::External(External(Arc::new(Asks)))];
    let mut bench = Bench::new(spec);
    assert_eq!(bench.open().len(), 20);
    bench.advance(100 * MS);
    bench
}

#[test]
fn without_sack_every_segment_that_recovery_sends_again_was_lost() {
    for recovery in [Recovery::NewReno, Recovery::Htsim, Recovery::Linux] {
        let mut bench = told(changed!(newreno(20.0), loss.recovery = recovery, loss.limited_transmit = false));
        (0..2).for_each(|_| _ = dup(&mut bench, 0));
        assert_eq!(kb(&bench, "lost"), 0.0);
        assert_eq!(dup(&mut bench, 0)[..1], [0], "{recovery:?}: the third duplicate");
        assert_eq!(kb(&bench, "lost"), 1.0, "{recovery:?}: told with the ACK that finds it");
        (0..9).for_each(|_| _ = dup(&mut bench, 0));
        assert_eq!(kb(&bench, "lost"), 1.0, "{recovery:?}: duplicates tell of nothing more");
        assert!(dup(&mut bench, 5).contains(&-5), "{recovery:?}: a partial ACK shows the next hole");
        assert_eq!(kb(&bench, "lost"), 2.0, "{recovery:?}");
        // Linux has sent two beyond the window's 20 before its recovery
        dup(&mut bench, 22);
        assert_eq!(kb(&bench, "lost"), 2.0, "{recovery:?}: all the others had arrived");
    }
}

#[test]
fn with_sack_holes_are_lost_as_the_scoreboard_finds_them() {
    for recovery in [Recovery::NewReno, Recovery::Prr, Recovery::Linux] {
        let mut bench = told(changed!(initial_window(20.0), loss.recovery = recovery));
        for (blocks, lost) in
            [(&[(1, 3)][..], 0.0), (&[(1, 4)], 1.0), (&[(1, 4), (6, 8)], 1.0), (&[(1, 4), (6, 10)], 3.0)]
        {
            ack(&mut bench, 0, blocks);
            assert_eq!(kb(&bench, "lost"), lost, "{recovery:?} {blocks:?}");
        }
        ack(&mut bench, 20, &[]);
        assert_eq!(kb(&bench, "lost"), 3.0, "{recovery:?}");
    }
}

#[test]
fn what_was_trimmed_is_no_loss() {
    let mut bench = told(initial_window(20.0));
    let mut nack = |number: u64| segments(&bench.give_sender(Kind::Nack, number * 1000, 0, 1 << 29));
    assert_eq!((nack(3), nack(3)), (vec![-3], vec![-3]), "it goes again at once, and once more");
    ack(&mut bench, 3, &[(4, 12)]);
    assert_eq!(kb(&bench, "lost"), 0.0, "nor is it once others have overtaken it");
    ack(&mut bench, 3, &[(4, 12), (13, 17)]);
    assert_eq!(kb(&bench, "lost"), 1.0, "but what lies beside it is");
}

#[test]
fn what_a_timeout_supposes_lost_is_not_told() {
    for sack in [false, true] {
        let mut bench = told(changed!(newreno(20.0), loss.sack = sack));
        assert_eq!(bench.advance(1000 * MS).len(), 20, "all goes again");
        dup(&mut bench, 1);
        dup(&mut bench, 20);
        assert_eq!(kb(&bench, "lost"), 0.0, "sack {sack}");
    }
}
