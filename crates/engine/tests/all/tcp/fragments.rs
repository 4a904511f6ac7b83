//! Segments above the MTU: IP fragments and their reassembly.

use super::*;

#[test]
fn fragments_of_a_number_that_comes_again_belong_to_the_later_packet() {
    let t = changed!(plain(), sizes.mtu = 500);
    let fragment = |b: &mut Bench, id: u16, seq: u64, i: u8| {
        let sent = b.give_segment(seq, 1000, |p| {
            p.id = id;
            *p = p.fragment(i as u32, 1, 40);
        });
        sent.len()
    };
    // packet number 7 loses a fragment; 65,536 packets later its number is reused
    for (lost, again) in [(0, [0, 1]), (1, [0, 1]), (0, [1, 0])] {
        let mut bench = receiver(t.clone());
        assert_eq!(fragment(&mut bench, 7, 0, 1 - lost), 0);
        for id in [20_000, 40_000, 60_000] {
            assert_eq!((fragment(&mut bench, id, 1000, 0), fragment(&mut bench, id, 1000, 1)), (0, 1));
        }
        assert_eq!(again.map(|i| fragment(&mut bench, 7, 2000, i)), [0, 1], "{lost} lost");
    }
    // at once, without other packets in between
    let mut bench = receiver(t);
    assert_eq!([0, 0, 1].map(|i| fragment(&mut bench, 7, 1000, i)), [0, 0, 1]);
}

#[test]
fn fragments_make_one_segment() {
    let mut bench = receiver(changed!(
        plain(),
        marks.ecn = Some(Ecn::Dctcp),
        sizes.mss = 4000,
        sizes.mtu = 1500,
        acks.delayed_ack = 1
    ));
    // 4020 B of IP payload: 1480, 1480 and 1060 B
    let fragment = |b: &mut Bench, id: u16, i: u8, ce: bool| {
        b.give_segment(id as u64 * 4000, 4000, |p| {
            (p.id, p.flags) = (id, if ce { flag::CE } else { 0 });
            *p = p.fragment(i as u32, 2, 1500);
        })
    };
    assert!(fragment(&mut bench, 0, 0, true).is_empty() && fragment(&mut bench, 0, 1, true).is_empty());
    let ack = fragment(&mut bench, 0, 2, false);
    assert_eq!(ack[0].packet.ack, 4000);
    assert!(!ack[0].has(flag::ECE), "the ECN field is that of the fragment that completes the segment");
    // interleaved, and out of order
    for (id, i) in [(1, 2), (2, 0), (1, 0), (2, 2)] {
        assert!(fragment(&mut bench, id, i, false).is_empty());
    }
    assert_eq!(fragment(&mut bench, 1, 1, false)[0].packet.ack, 8000);
    let ack = fragment(&mut bench, 2, 1, true);
    assert_eq!(ack[0].packet.ack, 12_000);
    assert!(ack[0].has(flag::ECE));
    assert_eq!(bench.record().arrived, 3);
}

#[test]
fn a_lost_fragment_loses_the_segment() {
    // delayed ACKs would leave the last segment to a timeout
    let transport = changed!(
        tcp(),
        sizes.mss = 1460,
        sizes.mtu = 1500,
        sizes.header = 52,
        connection.handshake = false,
        acks.delayed_ack = 1
    );
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(146_000)));
    // every segment is 1500 + 32 B of fragments; the second fragment of segment 3 is lost
    spec.links[3].loss = Loss::List(vec![5]);
    let outcome = compared(&spec);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent, flow.arrived, flow.dropped, flow.retransmissions), (101, 100, 1, 1));
    assert_eq!(flow.delivered, 146_000);
    let again: Vec<u64> =
        data_sent(&outcome, "h0").iter().filter(|e| e.flags.contains("RETX")).map(|e| e.seq).collect();
    assert_eq!(again, [2 * 1460, 2 * 1460], "both fragments of it, once");
    let sizes: Vec<u32> = data_sent(&outcome, "h0").iter().take(2).map(|e| e.size).collect();
    assert_eq!(sizes, [1500, 32]);
}
