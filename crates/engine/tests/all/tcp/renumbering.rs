//! htsim's renumbering after a timeout.

use super::htsim::{ack_htsim, htsims};
use super::*;

#[test]
fn htsims_renumbering_hangs_a_flow_that_lost_more_than_the_first() {
    // a flow of 100 segments; `arrived`: position of the ACK for the retransmitted segment
    let finishes = |renumbers: bool, arrived: u64| {
        let mut bench = htsims(20.0, |t| t.emulation.timeout_renumbers = renumbers);
        ack_htsim(&mut bench, 1);
        bench.advance(130 * MS);
        let mut last = 0;
        let mut edge = arrived;
        while edge != last {
            last = edge;
            let sent = ack_htsim(&mut bench, edge);
            edge = sent.iter().map(|number| number.unsigned_abs() + 1).max().unwrap_or(edge);
        }
        let timers = bench.advance(bench.now() + 60_000 * MS);
        assert!(timers.is_empty(), "and is silent");
        (edge, bench.record().finish_ps.is_some())
    };
    assert_eq!(finishes(false, 2), (100, true));
    assert_eq!(finishes(true, 21), (100, true), "nothing but the first was lost");
    // 19 or 20 segments were retransmitted as new data: the sequence ends that much earlier
    let (edge, finished) = finishes(true, 2);
    assert!(!finished && edge < 85, "{edge}");
}
