//! Fair shares of a scenario's links.

use incast_scenario::Scenario;
use incast_scenario::build::bounds::{Share, fair_shares};

fn shares(name: &str, sets: &[(&str, &str)]) -> Vec<Share> {
    let mut s = Scenario::load(name).unwrap();
    sets.iter().for_each(|(k, v)| s.set(k, v).unwrap());
    fair_shares(&s.build().unwrap()).unwrap()
}

/// Two senders of 1448-byte segments, 1502 bytes on the wire, into one link of 10 Gb/s.
#[test]
fn two_senders_share_a_link() {
    for share in shares("two-senders", &[]) {
        assert!((share.routed_bps - 5e9 * 1448.0 / 1502.0).abs() < 1e3, "{share:?}");
        assert_eq!(share.routed_bps, share.edge_bps);
    }
}

/// An application below its share leaves the rest to others: sources at 100 kb/s below their share of 2 Mb/s.
#[test]
fn applications_want_no_more_than_they_send() {
    let slow = shares("star", &[("traffic.app.rate", "100kbps")]);
    assert!(slow.iter().all(|s| s.routed_bps == 100e3), "{slow:?}");
    let fast = shares("star", &[]);
    assert!(fast.iter().all(|s| s.routed_bps < 200e3), "{fast:?}");
}

/// In a permutation over a full fabric only ECMP's collisions keep flows from the line rate.
#[test]
fn a_permutation_is_bounded_by_collisions() {
    let found = shares("permutation", &[]);
    assert_eq!(found.len(), 128);
    // htsim's packets have no headers
    assert!(found.iter().all(|s| (s.edge_bps - 100e9).abs() < 1.0));
    assert!(found.iter().all(|s| s.routed_bps <= s.edge_bps * (1.0 + 1e-9)));
    let collided = found.iter().filter(|s| s.routed_bps < 51e9).count();
    assert!((20..120).contains(&collided), "{collided}");
    // spread over all paths, nothing collides
    for kind in ["spray", "adaptive", "round-robin"] {
        let spread = shares("permutation", &[("routing.kind", kind)]);
        assert!(spread.iter().all(|s| (s.routed_bps - s.edge_bps).abs() < 1e-6 * s.edge_bps), "{kind}");
    }
    let one = shares("permutation", &[("routing.kind", "first-path")]);
    assert!(one.iter().map(|s| s.routed_bps).sum::<f64>() < found.iter().map(|s| s.routed_bps).sum::<f64>());
}
