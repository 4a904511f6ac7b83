//! SACK blocks of a receiver (RFC 2018), duplicate SACKs (RFC 2883).

use super::*;

#[test]
fn sack_blocks_come_newest_first() {
    let mut bench = receiver(plain());
    let segment = |b: &mut Bench, n: u64| b.data(n * 1000, 1000, 0)[0].blocks();
    let kb = |blocks: &[(u64, u64)]| blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect::<Vec<_>>();
    assert_eq!(segment(&mut bench, 2), kb(&[(2, 3)]));
    assert_eq!(segment(&mut bench, 4), kb(&[(4, 5), (2, 3)]));
    assert_eq!(segment(&mut bench, 8), kb(&[(8, 9), (4, 5), (2, 3)]));
    assert_eq!(segment(&mut bench, 3), kb(&[(2, 5), (8, 9)]), "the block that grew comes first, once");
    assert_eq!(segment(&mut bench, 6), kb(&[(6, 7), (2, 5), (8, 9)]));
    bench.data(0, 1000, 0);
    assert_eq!(segment(&mut bench, 1), kb(&[(6, 7), (8, 9)]), "what the ACK covers is no block");
    assert_eq!(bench.data(5000, 1000, 0)[0].blocks(), kb(&[(8, 9)]));
    assert!(bench.data(7000, 1000, 0)[0].blocks().is_empty());
}

#[test]
fn what_comes_again_is_reported_first() {
    // RFC 2883: a first block below the acknowledgement, or inside the second one
    let mut bench = receiver(TransportSpec { dsack: true, ..plain() });
    bench.data(0, 1000, 0);
    assert_eq!(bench.data(0, 1000, 0)[0].blocks(), [(0, 1000)]);
    assert_eq!(bench.data(2000, 1000, 0)[0].blocks(), [(2000, 3000)], "once");
    bench.data(3000, 1000, 0);
    assert_eq!(bench.data(2000, 1000, 0)[0].blocks(), [(2000, 3000), (2000, 4000)]);
    let mut silent = receiver(plain());
    silent.data(0, 1000, 0);
    assert!(silent.data(0, 1000, 0)[0].blocks().is_empty());
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut bench = receiver(TransportSpec { sack: false, ..plain() });
    assert!(bench.data(2000, 1000, 0)[0].blocks().is_empty());
}
