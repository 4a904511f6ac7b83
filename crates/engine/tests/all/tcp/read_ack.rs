//! ACKs when the application reads, and segments with PSH (Linux: tcp_measure_rcv_mss, tcp_cleanup_rbuf, forced_push).

use super::*;
use incast_engine::testing::Kind;

/// A flow and the link on which its data arrives: requests at the worker.
const REQUESTS: (u32, u32) = (0, 3);

/// Delivers segments in order, given their lengths and PSH flags. Returns which are acknowledged at once.
fn acknowledged(segments: &[(u16, bool)]) -> Vec<bool> {
    let mut bench = receiver(changed!(linux_prr(1.0), acks.read_ack = true, sizes.mss = 1448, sizes.header = 52));
    let mut seq = 0;
    let mut acks = Vec::new();
    for (len, pushed) in segments {
        acks.push(!bench.data(seq, *len, if *pushed { flag::PSH } else { 0 }).is_empty());
        seq += *len as u64;
    }
    acks
}

#[test]
fn a_full_segment_waits_unless_it_says_push() {
    assert_eq!(acknowledged(&[(1448, false)]), [false]);
    assert_eq!(acknowledged(&[(1448, true)]), [true]);
    assert_eq!(acknowledged(&[(1448, false), (1448, false), (1448, false)]), [false, true, false]);
}

/// SCCP on Linux, measured: segments of 468 B are acknowledged one by one, of 937 B and more as full ones.
#[test]
fn segments_below_536_bytes_are_acknowledged_one_by_one() {
    // every second has PSH: two in a row of one length would be taken for the sender's full segments
    let small = [(468, false), (468, true), (468, false), (468, true)];
    assert_eq!(acknowledged(&small), [true; 4]);
    assert_eq!(acknowledged(&[(468, false); 4]), [true, false, true, false]);
    assert_eq!(acknowledged(&[(937, false), (937, false)]), [false, true]);
}

#[test]
fn the_end_of_a_message_is_shorter_than_what_was_before() {
    assert_eq!(acknowledged(&[(1448, false), (1448, false), (600, false)]), [false, true, true]);
}

/// PSH flags of a worker's first segments, with a response of `response` bytes and a window of `wnd` at the aggregator.
fn pushes(wnd: u32, response: u64, push_half_window: bool) -> Vec<bool> {
    let t = changed!(
        tcp(),
        acks.push_half_window = push_half_window,
        windows.half_window_mss = true,
        windows.whole_segments = true,
        sizes.mss = 1448,
        windows.window_update = WindowUpdate::Linux
    );
    let mut bench = Bench::new(asking(1, response, t));
    bench.duplex(Kind::Syn, REQUESTS, (0, 0), |p| p.flags &= !flag::ACK);
    bench.duplex(Kind::Ack, REQUESTS, (0, 0), |p| p.wnd = wnd);
    let sent = bench.duplex(Kind::Data, REQUESTS, (0, 100), |p| p.wnd = wnd);
    sent.iter().filter(|c| c.packet.len > 0).map(|c| c.has(flag::PSH)).collect()
}

/// As in the reference's packets: with 7500 B every third segment has PSH.
#[test]
fn half_of_the_window_is_pushed_at_a_time() {
    assert_eq!(pushes(7500, 100_000, true), [false, false, true, false, false]);
    assert_eq!(pushes(7500, 100_000, false), [false; 5]);
    assert_eq!(pushes(937, 100_000, true), [false, true], "segments of half the window: every second");
    assert_eq!(pushes(65_535, 2000, true), [false, true], "and the end of the message");
}

/// The route's quick ACKs apply to the aggregator: its workers' ACKs wait for their responses.
#[test]
fn only_the_host_that_data_is_for_has_the_route() {
    let acks = |quickack_route| {
        let t = changed!(tcp(), acks.quickack_route = quickack_route, acks.pingpong = true, acks.delayed_ack = 2);
        let mut spec = asking(1, 20_000, t);
        spec.observe.trace = vec![0, 1];
        let o = run(&spec);
        ["h0", "h1"].map(|host| events(&o, host, Happening::Send).iter().filter(|e| e.payload == 0).count())
    };
    let ([root, worker], [root_before, worker_before]) = (acks(true), acks(false));
    assert_eq!(worker, worker_before);
    // of three responses of 14 segments, every second segment is acknowledged without it
    assert_eq!(root, root_before + 21);
}
