//! SACK blocks of a receiver (RFC 2018), duplicate SACKs (RFC 2883).

use super::*;
use incast_engine::testing::Blocks;

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
    // RFC 2883: a first block below the acknowledgement, or inside the second block
    let mut bench = receiver(changed!(plain(), loss.dsack = true));
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
fn blocks_have_32_bits_and_stand_for_the_numbers_nearest_to_the_acknowledgement() {
    // no window is larger than 2^30 bytes
    let gib = 1 << 30;
    for ack in [0, 5 * gib, 4 * gib - 1, (1 << 40) + 7] {
        let ahead = [(ack + 1, ack + 2), (ack + gib - 1, ack + gib), (0, 0), (0, 0)];
        assert_eq!(Blocks::of(&ahead).near(ack), ahead);
        assert_eq!((Blocks::of(&ahead).len(), Blocks::of(&ahead).is_empty()), (2, false));
        let behind = [(ack.saturating_sub(gib), ack), (0, 0), (0, 0), (0, 0)];
        assert_eq!(Blocks::of(&behind).near(ack), behind);
        let mut one = Blocks::of(&ahead);
        one.truncate(1);
        assert_eq!(one.near(ack), [ahead[0], (0, 0), (0, 0), (0, 0)]);
    }
    assert!(Blocks::default().is_empty());
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut bench = receiver(changed!(plain(), loss.sack = false));
    assert!(bench.data(2000, 1000, 0)[0].blocks().is_empty());
}
