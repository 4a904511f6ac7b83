//! The scoreboard against plain models, and its repairs (RFC 6675).

use super::*;
use incast_engine::testing::{Ranges, Scoreboard};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn sack_repairs_many_holes_in_one_round_trip() {
    let outcome = transfer(initial_window(40.0), 200, &[3, 7, 11, 20, 21, 30]);
    assert_eq!(counts(&outcome.flows[0]), (6, 0, 6));
    let again = again(&outcome);
    assert_eq!(again.iter().map(|a| a.1).collect::<Vec<u64>>(), [3, 7, 11, 20, 21, 30]);
    assert!(again[5].0 - again[0].0 < 20 * MS, "{again:?}");
}

#[test]
fn a_lost_tail_is_rescued() {
    // Segments 20 and 29 of 30 are lost. Nothing follows the last one to prove its loss; recovery
    // of segment 20 sends the highest outstanding segment once more (RFC 6675 NextSeg rule 4).
    let outcome = transfer(initial_window(40.0), 30, &[20, 29]);
    let flow = &outcome.flows[0];
    assert_eq!(counts(flow), (2, 0, 2));
    assert_eq!(again(&outcome).iter().map(|a| a.1).collect::<Vec<u64>>(), [20, 29]);
    assert!(flow.finish_ps.unwrap() < 60 * MS, "within three round trips: {:?}", flow.finish_ps);
    // also without retransmissions on suspicion: 29 waits for the timer
    let outcome = transfer(changed!(initial_window(40.0), loss.forward_retransmit = false), 30, &[20, 29]);
    assert_eq!(counts(&outcome.flows[0]), (2, 1, 2));
    assert_eq!(again(&outcome).iter().map(|a| a.1).collect::<Vec<u64>>(), [20, 29]);
    // without SACK the tail needs a timeout
    let outcome = transfer(newreno(40.0), 30, &[29]);
    assert_eq!(counts(&outcome.flows[0]), (1, 1, 1));
}

#[test]
fn a_retransmission_lost_again_needs_a_timeout() {
    // data packets 0..40 are sent; packet 42 or so is the retransmission of segment 5: lose every packet that it may
    // be, so find out first
    let first = transfer(initial_window(40.0), 200, &[5]);
    let index = data_sent(&first, "h0").iter().position(|e| e.flags.contains("RETX")).unwrap() as u64;
    let outcome = transfer(initial_window(40.0), 200, &[5, index]);
    let flow = &outcome.flows[0];
    assert_eq!(flow.delivered, 200_000);
    assert_eq!((flow.timeouts, flow.dropped), (1, 2));
}

#[test]
fn a_large_window_recovers_in_linear_time() {
    // 5,000 segments in flight, every tenth lost
    let mut spec = wire(Rate::gbps(10), Time::ms(5), initial_window(5000.0), "newreno", bulk(0, 1, Some(20_000_000)));
    spec.links[3].loss = Loss::List((0..5000).step_by(10).collect());
    spec.observe.trace.clear();
    let began = std::time::Instant::now();
    let outcome = run(&spec);
    let took = began.elapsed();
    assert_eq!(counts(&outcome.flows[0]), (500, 0, 500));
    assert_eq!(outcome.flows[0].delivered, 20_000_000);
    // 80,000 hops are some 10 ms of work; a walk over the window for each of 5,000 ACKs would be 25 million steps more,
    // twice that for a walk over the holes. A second is generous.
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
}

#[derive(Clone, Debug)]
enum RangeOp {
    Add(u64, u64),
    Cut(u64),
}

fn range_ops() -> impl Strategy<Value = Vec<RangeOp>> {
    let op = prop_oneof![
        5 => (0u64..200, 1u64..30).prop_map(|(a, n)| RangeOp::Add(a, a + n)),
        1 => (0u64..200).prop_map(RangeOp::Cut),
    ];
    prop::collection::vec(op, 1..60)
}

#[derive(Clone, Debug)]
enum BoardOp {
    Send(u32),
    Ack(usize),
    Sack(usize, usize),
    Detect,
    Retransmit,
    Suspect,
    Timeout,
}

fn board_ops() -> impl Strategy<Value = Vec<BoardOp>> {
    let op = prop_oneof![
        6 => prop_oneof![Just(1000u32), 1u32..1001].prop_map(BoardOp::Send),
        2 => (0usize..4).prop_map(BoardOp::Ack),
        5 => (0usize..30, 1usize..6).prop_map(|(a, n)| BoardOp::Sack(a, n)),
        4 => Just(BoardOp::Detect),
        4 => Just(BoardOp::Retransmit),
        1 => Just(BoardOp::Suspect),
        1 => Just(BoardOp::Timeout),
    ];
    prop::collection::vec(op, 1..150)
}

/// A segment of the plain scoreboard.
#[derive(Clone, Debug)]
struct Plain {
    seq: u64,
    len: u64,
    sacked: bool,
    lost: bool,
    again: bool,
}

impl Plain {
    /// RFC 6675 SetPipe: a copy counts unless it was SACKed; the original also not once lost.
    fn pipe(&self) -> u64 {
        if self.sacked { 0 } else { self.len * (u64::from(!self.lost) + u64::from(self.again)) }
    }
    fn hole(&self) -> bool {
        self.lost && !self.sacked && !self.again
    }
}

proptest! {
    #![proptest_config(crate::support::cases(500))]

    #[test]
    fn ranges_are_a_set_of_bytes(ops in range_ops()) {
        let mut ranges = Ranges::default();
        let mut bytes: BTreeSet<u64> = BTreeSet::new();
        for op in ops {
            match op {
                RangeOp::Add(a, b) => {
                    let mut fresh = Vec::new();
                    let (low, high) = ranges.add(a, b, |x, y| fresh.extend(x..y));
                    let expected: Vec<u64> = (a..b).filter(|x| !bytes.contains(x)).collect();
                    prop_assert_eq!(fresh, expected);
                    bytes.extend(a..b);
                    prop_assert!((low..high).all(|x| bytes.contains(&x)) && low <= a && high >= b);
                }
                RangeOp::Cut(edge) => {
                    ranges.cut_below(edge);
                    bytes.retain(|x| *x >= edge);
                }
            }
            let held: Vec<u64> = ranges.as_slice().iter().flat_map(|(a, b)| *a..*b).collect();
            prop_assert_eq!(&held, &bytes.iter().copied().collect::<Vec<u64>>());
            prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0), "disjoint and not touching");
            prop_assert_eq!(ranges.bytes(), bytes.len() as u64);
            prop_assert_eq!(ranges.bytes_below(100), bytes.range(..100).count() as u64);
            prop_assert_eq!(ranges.is_empty(), bytes.is_empty());
            for at in 0..240 {
                prop_assert_eq!(ranges.find(at).is_some(), bytes.contains(&at));
            }
            let first = ranges.as_slice().first().map_or(0, |r| r.0);
            let reach = (first..).find(|x| !bytes.contains(x)).unwrap();
            prop_assert_eq!(ranges.reach_from(first), reach.max(first));
        }
    }

    #[test]
    fn the_scoreboard_is_rfc_6675(ops in board_ops()) {
        let (dupthresh, mss) = (3u32, 1000u32);
        let mut board = Scoreboard::default();
        let mut plain: Vec<Plain> = Vec::new();
        let (mut una, mut nxt) = (0u64, 0u64);
        for op in ops {
            match op {
                BoardOp::Send(len) => {
                    board.sent(nxt, len);
                    plain.push(Plain { seq: nxt, len: len as u64, sacked: false, lost: false, again: false });
                    nxt += len as u64;
                }
                BoardOp::Ack(n) => {
                    let gone: Vec<Plain> = plain.drain(..n.min(plain.len())).collect();
                    una += gone.iter().map(|s| s.len).sum::<u64>();
                    let delivered = gone.iter().filter(|s| !s.sacked).map(|s| s.len).sum::<u64>();
                    prop_assert_eq!(board.acked(una), (delivered, gone.iter().any(|s| s.again)));
                }
                BoardOp::Sack(first, n) => {
                    if first >= plain.len() {
                        continue;
                    }
                    let last = (first + n - 1).min(plain.len() - 1);
                    let (start, end) = (plain[first].seq, plain[last].seq + plain[last].len);
                    let mut fresh = 0;
                    for s in plain[first..=last].iter_mut().filter(|s| !s.sacked) {
                        s.sacked = true;
                        fresh += s.len;
                    }
                    prop_assert_eq!(board.sack(start, end, una), fresh);
                }
                BoardOp::Detect => {
                    let mut found = false;
                    for i in 0..plain.len() {
                        let above = &plain[i + 1..];
                        let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.len).sum();
                        let runs = (0..above.len())
                            .filter(|j| above[*j].sacked && (*j == 0 || !above[j - 1].sacked))
                            .count();
                        let is_lost = runs as u32 >= dupthresh || bytes > ((dupthresh - 1) * mss) as u64;
                        if is_lost && !plain[i].sacked && !plain[i].lost {
                            plain[i].lost = true;
                            found |= !plain[i].again;
                        }
                    }
                    prop_assert_eq!(board.update_lost(dupthresh, mss), found);
                }
                BoardOp::Retransmit => {
                    let hole = plain.iter().position(Plain::hole);
                    let got = board.next_hole();
                    prop_assert_eq!(got.map(|h| (h.seq, h.len as u64)), hole.map(|i| (plain[i].seq, plain[i].len)));
                    if let Some(i) = hole {
                        plain[i].again = true;
                        board.retransmitted(plain[i].seq, false);
                    }
                }
                BoardOp::Suspect => {
                    // rule 3: the first unsacked segment below the highest SACKed one, not lost
                    let Some(top) = plain.iter().rposition(|s| s.sacked) else { continue };
                    let first = plain[..top].iter().position(|s| !s.sacked && !s.lost && !s.again);
                    let got = board.next_unproven();
                    if plain.iter().any(Plain::hole) {
                        continue;
                    }
                    prop_assert_eq!(got.map(|h| h.seq), first.map(|i| plain[i].seq));
                    if let Some(i) = first {
                        plain[i].again = true;
                        board.retransmitted(plain[i].seq, false);
                    }
                }
                BoardOp::Timeout => {
                    for s in &mut plain {
                        s.again = false;
                        s.lost = !s.sacked;
                    }
                    board.timed_out(una, nxt);
                }
            }
            prop_assert_eq!(board.pipe(), plain.iter().map(Plain::pipe).sum::<u64>());
            prop_assert_eq!(board.is_empty(), plain.is_empty());
            prop_assert_eq!(board.sacked_bytes(), plain.iter().filter(|s| s.sacked).map(|s| s.len).sum::<u64>());
            prop_assert_eq!(board.next_hole().is_some(), plain.iter().any(Plain::hole));
        }
    }
}
