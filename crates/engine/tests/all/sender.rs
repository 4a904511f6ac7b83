//! What limits a sender besides losses: windows of every kind, buffers, silly-window avoidance,
//! pacing, idle times, a handshake that fails.

use crate::bench::{Bench, Caught};
use crate::net::*;
use incast_cc::{Rate, Time};
use incast_engine::spec::*;
use incast_engine::testing::{Connection, flag};
use incast_record::Happening;
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;

/// Segments of 1000 B, no handshake, every segment acknowledged.
fn plain() -> TransportSpec {
    TransportSpec {
        handshake: false,
        mss: 1000,
        header: 40,
        ack_size: 40,
        delayed_ack: 1,
        send_buffer: 1 << 30,
        receive_buffer: 1 << 29,
        rto_min: Time::ms(200),
        ..tcp()
    }
}

fn bench(transport: TransportSpec, kind: &str, flow: FlowSpec) -> Bench {
    Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, kind, flow))
}

fn lengths(sent: &[Caught]) -> Vec<u16> {
    sent.iter().map(|c| c.packet.len).collect()
}

// ---- the window --------------------------------------------------------------------------------

#[test]
fn the_first_flight_is_the_initial_window() {
    for segments in [1, 2, 10, 15] {
        let transport = TransportSpec { initial_window: segments as f64, ..plain() };
        let outcome = judged(&wire(Rate::gbps(1), Time::ms(1), transport, "newreno", bulk(0, 1, Some(200_000))));
        let first = data_sent(&outcome, "h0").iter().filter(|e| e.time_ps == 0).count();
        assert_eq!(first, segments);
    }
}

#[test]
fn slow_start_doubles_a_round_trip() {
    // 4 segments, 8, 16, 32, in bursts of a round trip of 40 ms
    let transport = TransportSpec { initial_window: 4.0, ..plain() };
    let outcome = judged(&wire(Rate::gbps(10), Time::ms(10), transport, "newreno", bulk(0, 1, Some(60_000))));
    let mut bursts = [0; 4];
    for e in data_sent(&outcome, "h0") {
        bursts[(e.time_ps / (40 * MS)) as usize] += 1;
    }
    assert_eq!(bursts, [4, 8, 16, 32]);
}

#[test]
fn a_window_grows_only_while_it_limits_sending() {
    // 1000 B a millisecond against a round trip of 20.1 ms: some 21 segments in flight
    let slow = App::OnOff { rate: Rate::mbps(8), on: Time::s(1), off: Time::ZERO, write: 1000, off_first: false };
    for (limited, most) in [(true, 44.0), (false, f64::INFINITY)] {
        let transport = TransportSpec { cwnd_limited: limited, initial_window: 40.0, ..plain() };
        let mut spec =
            wire(Rate::gbps(1), Time::ms(5), transport, "newreno", FlowSpec { app: slow, ..bulk(0, 1, None) });
        spec.duration = Time::s(2);
        spec.measure_to = spec.duration;
        spec.observe.flows = vec![0];
        spec.observe.trace.clear();
        let outcome = judged(&spec);
        let cwnd = series(&outcome, "flow 0", "cwnd_bytes").last().unwrap().1 / 1000.0;
        // in slow start a window is enough at twice what is in flight (Linux)
        assert!(cwnd <= most, "{cwnd}");
        if !limited {
            assert!(cwnd > 1000.0, "{cwnd}: without the test the window follows the ACKs");
        }
    }
}

// ---- buffers -----------------------------------------------------------------------------------

#[test]
fn the_send_buffer_bounds_what_is_in_flight() {
    let transport = TransportSpec { send_buffer: 8000, ..plain() };
    let mut spec = wire(Rate::gbps(1), Time::ms(1), transport, "newreno", bulk(0, 1, Some(500_000)));
    spec.observe.flows = vec![0];
    let outcome = judged(&spec);
    let most = series(&outcome, "flow 0", "in_flight_bytes").iter().map(|s| s.1).fold(0.0, f64::max);
    assert_eq!(most, 8000.0);
    assert_eq!(outcome.flows[0].delivered, 500_000);
}

#[test]
fn the_receive_window_bounds_what_is_in_flight() {
    let transport = TransportSpec { receive_buffer: 9500, ..plain() };
    let mut spec = wire(Rate::gbps(1), Time::ms(1), transport, "newreno", bulk(0, 1, Some(500_000)));
    spec.observe.flows = vec![0];
    let outcome = judged(&spec);
    let most = series(&outcome, "flow 0", "in_flight_bytes").iter().map(|s| s.1).fold(0.0, f64::max);
    // the last 500 B are less than a segment and less than half the window
    assert_eq!(most, 9000.0);
    assert_eq!(outcome.flows[0].delivered, 500_000);
    // 9 segments a round trip of 4 ms and 8.64 us
    let rtt = 4.0 * MS as f64 + 8.64e6 * 2.0;
    let finish = outcome.flows[0].finish_ps.unwrap() as f64;
    assert!((finish / (500.0 / 9.0 * rtt) - 1.0).abs() < 0.02, "{finish}");
}

#[test]
fn small_segments_wait_for_a_window_worth_using() {
    // the window opens byte by byte, 250 B at a time, with 2000 B at the most
    let run = |sws_avoidance| {
        let transport = TransportSpec { sws_avoidance, initial_window: 2.0, receive_buffer: 2000, ..plain() };
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        let mut sent = lengths(&bench.open());
        bench.advance(50 * MS);
        for n in 1..=40u64 {
            let ack = (n * 250).min(2000);
            let wnd = (2000 + n * 250 - ack) as u32;
            sent.extend(lengths(&bench.give_sender(|p| (p.ack, p.wnd, p.ts) = (ack, wnd.min(2000), 0))));
        }
        sent
    };
    let avoiding = run(true);
    assert_eq!(avoiding[..2], [1000, 1000]);
    assert!(avoiding.iter().all(|l| *l >= 1000), "{avoiding:?}");
    let silly = run(false);
    assert!(silly.contains(&250), "{silly:?}");
}

#[test]
fn half_the_largest_window_is_worth_using() {
    // the receiver's largest window is below a segment
    let transport = TransportSpec { mss: 1000, receive_buffer: 600, persist_timeout: Time::ms(500), ..plain() };
    let outcome = judged(&wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(3000))));
    let sizes: Vec<u32> = data_sent(&outcome, "h0").iter().map(|e| e.payload).collect();
    assert_eq!(sizes, [600; 5]);
    assert!(outcome.flows[0].finish_ps.unwrap() < MS, "and nothing waits for the persist timer");
}

#[test]
fn a_stalled_small_segment_goes_with_the_persist_timer() {
    // 300 B of window are not worth using while 2000 B were offered once
    let transport = TransportSpec { receive_buffer: 2000, persist_timeout: Time::ms(500), ..plain() };
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    assert_eq!(lengths(&bench.open()), [1000, 1000]);
    bench.advance(40 * MS);
    assert!(bench.give_sender(|p| (p.ack, p.wnd, p.ts) = (2000, 300, 0)).is_empty());
    let sent = bench.advance(600 * MS);
    assert_eq!((lengths(&sent), sent[0].at), (vec![300], 540 * MS));
}

#[test]
fn probes_of_a_shut_window_double_up_to_a_minute() {
    let transport = TransportSpec { receive_buffer: 2000, persist_timeout: Time::s(6), ..plain() };
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    bench.open();
    bench.advance(40 * MS);
    bench.give_sender(|p| (p.ack, p.wnd, p.ts) = (2000, 0, 0));
    let mut probes = Vec::new();
    while bench.now() < 300_000 * MS {
        let next = bench.now() + 100 * MS;
        for probe in bench.advance(next) {
            assert_eq!((probe.packet.seq, probe.packet.len), (1999, 0), "an old byte");
            probes.push((probe.at - 40 * MS) / MS);
            // the receiver answers that nothing has changed
            assert!(bench.give_sender(|p| (p.ack, p.wnd, p.ts) = (2000, 0, 0)).is_empty());
        }
    }
    assert_eq!(probes, [6000, 18_000, 42_000, 90_000, 150_000, 210_000, 270_000]);
    let sent = bench.give_sender(|p| (p.ack, p.wnd, p.ts) = (2000, 2000, 0));
    assert_eq!(lengths(&sent), [1000, 1000], "the window opens");
    assert_eq!(bench.state("rtt_s"), 0.04, "probes are no RTT samples");
}

// ---- pacing ------------------------------------------------------------------------------------

#[test]
fn a_paced_window_leaves_evenly() {
    // factor 1: a window of 20 segments over a round trip of 20 ms is one a millisecond
    let pacing = PacingSpec::Window { slow_start: 1.0, avoidance: 1.0, max: Rate::INFINITE, restart_at_max: false };
    let transport = TransportSpec { pacing, receive_buffer: 20_000, initial_window: 20.0, ..plain() };
    let mut spec = wire(Rate::gbps(10), Time::ms(5), transport, "newreno", bulk(0, 1, Some(2_000_000)));
    spec.duration = Time::ms(300);
    spec.measure_to = spec.duration;
    let outcome = judged(&spec);
    let times: Vec<u64> = data_sent(&outcome, "h0").iter().map(|e| e.time_ps).filter(|t| *t > 0).collect();
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    // the window is above 20 segments only by growth, the receiver's window holds it at 20
    let smallest = *gaps.iter().min().unwrap();
    assert!(gaps.len() > 100 && smallest > 0, "no two packets at one instant: {gaps:?}");
}

#[test]
fn pacing_spaces_packets_by_factor_and_ceiling() {
    // srtt 20 ms, cwnd 10 kB: 4 Mb/s; factor 2 makes it 8, 1000 B a millisecond; at most 5 Mb/s
    // 1.6 ms
    for (max, gap) in [(Rate::INFINITE, MS), (Rate::mbps(5), 1_600_000_000)] {
        let pacing = PacingSpec::Window { slow_start: 2.0, avoidance: 2.0, max, restart_at_max: false };
        let transport = TransportSpec { pacing, initial_window: 1.0, cwnd_limited: true, ..plain() };
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        bench.open();
        bench.advance(20 * MS);
        // one sample of 20 ms, then the window is opened by ACKs of one segment each
        let mut sent = bench.ack(1000, 0, 0, &[]);
        for n in 2..=10u64 {
            let (now, next) = (bench.now(), bench.now() + 20 * MS);
            sent = bench.ack(n * 1000, now - 20 * MS, 0, &[]);
            sent.extend(bench.advance(next));
            let window = bench.state("cwnd_bytes");
            let times: Vec<u64> = sent.iter().map(|c| c.at).collect();
            let expected = ((20 * MS) as f64 * 1000.0 / (2.0 * window)).max(if gap == MS { 0.0 } else { gap as f64 });
            for pair in times.windows(2) {
                // a picosecond of rounding
                assert!((pair[1] - pair[0]) as f64 + 1.0 >= expected, "{times:?}, {expected}");
            }
        }
        assert!(!sent.is_empty());
    }
}

/// TcpSocketBase::UpdatePacingRate.
#[test]
fn pacing_takes_avoidances_factor_from_half_of_ssthresh_on() {
    // a timeout halves the window of so many segments to ssthresh; the ACK of all leaves a window of two
    for (initial_window, gap) in [(20.0, 5), (6.0, 10)] {
        let pacing = PacingSpec::Window { slow_start: 2.0, avoidance: 1.0, max: Rate::INFINITE, restart_at_max: false };
        let transport = TransportSpec { pacing, initial_window, rto_initial: Time::s(1), ..plain() };
        let mut bench = bench(transport, "newreno", bulk(0, 1, None));
        bench.open();
        bench.advance(1020 * MS);
        let mut sent = bench.ack(initial_window as u64 * 1000, 1000 * MS, 0, &[]);
        assert_eq!(bench.state("cwnd_bytes"), 2000.0);
        sent.extend(bench.advance(1030 * MS));
        // 1000 B at 2000 B, or twice that, a round trip of 20 ms
        assert_eq!(sent.iter().map(|c| c.at - 1020 * MS).collect::<Vec<_>>(), [0, gap * MS], "{initial_window}");
    }
}

#[test]
fn below_one_packet_a_window_is_a_gap() {
    // Swift at a quarter of a packet: one packet, then rtt / cwnd = 4 round trips of silence, and
    // its own ACK releases nothing before
    let transport = TransportSpec { initial_window: 0.25, rto_initial: Time::s(10), rto_min: Time::s(10), ..htsim() };
    let mut spec = wire(Rate::gbps(100), Time::us(10), transport, "swift", bulk(0, 1, Some(400_000)));
    // the window stays: any delay is over target, and no cut is larger than nothing
    spec.controllers = vec![controller("swift", &[("max_cwnd", "0.25"), ("min_cwnd", "0.25")])];
    let outcome = judged(&spec);
    let times: Vec<u64> = data_sent(&outcome, "h0").iter().map(|e| e.time_ps).collect();
    assert_eq!(times.len(), 101);
    // an idle round trip: 4000 B and 40 B over two links of 10 us each way
    let rtt = 2 * (320_000 + 10_000_000) + 2 * (3_200 + 10_000_000);
    for pair in times[1..].windows(2) {
        assert_eq!(pair[1] - pair[0], 4 * rtt);
    }
}

// ---- idle times --------------------------------------------------------------------------------

#[test]
fn after_an_idle_timeout_the_window_is_the_initial_one() {
    for (restart, kind) in [(true, "newreno"), (true, "dctcp"), (false, "newreno")] {
        let transport = TransportSpec { idle_restart: restart, initial_window: 10.0, ..plain() };
        // 124 kB in a burst, a pause of 2 s, and again
        let (on, off) = (Time::us(199), Time::s(2));
        let app = App::OnOff { rate: Rate::gbps(5), on, off, write: 1000, off_first: false };
        let flow = FlowSpec { app, ..bulk(0, 1, None) };
        let mut bench = bench(transport, kind, flow);
        bench.open();
        bench.advance(40 * MS);
        // the first burst is acknowledged segment by segment until all of it is
        let mut acked = 0;
        while acked < bench.record().written {
            acked += 1000;
            bench.ack(acked, bench.now() - 20 * MS, 0, &[]);
        }
        let grown = bench.state("cwnd_bytes");
        assert!(grown > 40_000.0, "{grown}");
        let sent = bench.advance(2_100 * MS);
        let expected = if restart { 10 } else { (grown as usize / 1000).min(124) };
        assert_eq!(sent.len(), expected, "{kind}, restart {restart}");
    }
}

#[test]
fn a_pause_shorter_than_the_timeout_changes_nothing() {
    let transport = TransportSpec { idle_restart: true, initial_window: 4.0, ..plain() };
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    bench.open();
    bench.advance(20 * MS);
    for n in 1..=20 {
        bench.ack(n * 1000, 0, 0, &[]);
    }
    assert_eq!(bench.state("cwnd_bytes"), 24_000.0);
}

// ---- the connection ----------------------------------------------------------------------------

#[test]
fn a_lost_handshake_is_repeated() {
    for (what, link) in [("SYN", 3), ("SYN-ACK", 2)] {
        let transport = TransportSpec { syn_timeout: Time::s(3), ..tcp() };
        let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(10_000)));
        spec.links[link].loss = Loss::List(vec![0]);
        let outcome = judged(&spec);
        let flow = &outcome.flows[0];
        let finish = flow.finish_ps.unwrap();
        assert!(finish > 3000 * MS && finish < 3001 * MS, "{what} lost: {finish}");
        assert_eq!((flow.delivered, flow.timeouts, flow.retransmissions), (10_000, 0, 0));
        // the handshake that took 3 s is no RTT sample
        assert!(flow.rtt_min_ps.unwrap() < MS);
    }
    // both: 3 s, then 6 more
    let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(10_000)));
    spec.links[3].loss = Loss::List(vec![0]);
    spec.links[2].loss = Loss::List(vec![0]);
    let finish = judged(&spec).flows[0].finish_ps.unwrap();
    assert!(finish > 9000 * MS && finish < 9001 * MS, "{finish}");
}

#[test]
fn an_unanswered_connection_is_given_up() {
    let transport = TransportSpec { syn_timeout: Time::s(1), syn_retries: 3, ..tcp() };
    let mut bench = bench(transport, "newreno", bulk(0, 1, Some(10_000)));
    assert!(bench.open()[0].has(flag::SYN));
    let again: Vec<u64> = bench.advance(1_000_000 * MS).iter().map(|c| c.at / MS).collect();
    assert_eq!(again, [1000, 3000, 7000]);
    assert_eq!(bench.sender().connection, Connection::Dead);
}

#[test]
fn a_dead_path_ends_a_flow_after_its_retries() {
    let transport = TransportSpec { data_retries: 3, rto_initial: Time::ms(100), rto_min: Time::ms(100), ..plain() };
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", bulk(0, 1, Some(100_000)));
    spec.links[3].loss = Loss::Packet(1.0);
    let outcome = judged(&spec);
    let flow = &outcome.flows[0];
    // the fourth timeout in a row ends it; the ten segments of the first flight and three copies
    assert_eq!((flow.finish_ps, flow.timeouts, flow.retransmissions, flow.sent), (None, 4, 3, 13));
    assert_eq!((flow.dropped, flow.delivered), (13, 0));
}

#[test]
fn without_time_stamps_one_segment_at_a_time_is_timed() {
    for timestamps in [true, false] {
        let transport = TransportSpec { timestamps, ..plain() };
        let outcome = judged(&wire(Rate::gbps(10), Time::ms(5), transport, "newreno", bulk(0, 1, Some(100_000))));
        let flow = &outcome.flows[0];
        // four round trips: 10, 20, 40, 30 segments
        assert_eq!(flow.rtt_count, if timestamps { 100 } else { 4 });
        assert!(flow.rtt_min_ps.unwrap() >= 20 * MS);
    }
}

#[test]
fn without_time_stamps_ns3_times_each_segment_that_went_once() {
    let timed = |lost: &[u64]| {
        let ns3 = TransportSpec { timestamps: false, delayed_ack: 1, scoreboard: Rules::Ns3, ..plain() };
        let mut spec = wire(Rate::gbps(10), Time::ms(5), ns3, "newreno", bulk(0, 1, Some(100_000)));
        let last = spec.links.len() - 1;
        spec.links[last].loss = Loss::List(lost.to_vec());
        let outcome = judged(&spec);
        let flow = &outcome.flows[0];
        assert!(flow.rtt_min_ps.unwrap() >= 20 * MS && flow.delivered == 100_000);
        flow.rtt_count
    };
    assert_eq!(timed(&[]), 100, "an ACK each");
    // the first of the third flight is lost: neither duplicates nor the ACK that fills the hole are samples, which are
    // of that segment, the 39 behind it and two of limited transmit
    assert_eq!(timed(&[30]), 100 - 42);
}

#[test]
fn a_flow_that_starts_late_starts_late() {
    let flow = FlowSpec { start: Time::ms(7), ..bulk(0, 1, Some(1000)) };
    let outcome = judged(&wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", flow));
    assert_eq!(events(&outcome, "h0", Happening::Send)[0].time_ps, 7 * MS);
    assert_eq!(outcome.flows[0].start_ps, 7 * MS);
}

// ---- any application over any window -------------------------------------------------------------

proptest! {
    #![proptest_config(crate::draws::cases(40))]

    #[test]
    fn silly_windows_never_form(
        buffer in 1500u64..12_000, mbps in 1u64..40, size in 1u64..60_000, write in 100u64..5000,
    ) {
        let transport = TransportSpec { receive_buffer: buffer, persist_timeout: Time::ms(30), ..plain() };
        let app = App::Bulk { size: Some(size), write };
        let flow = FlowSpec { app, read_rate: Rate::mbps(mbps), ..bulk(0, 1, None) };
        let outcome = run(&wire(Rate::gbps(1), Time::us(50), transport, "newreno", flow));
        prop_assert_eq!(outcome.flows[0].delivered, size);
        // a segment is full, or half the largest window, or the end of a write
        let least = 1000.min(buffer / 2);
        for e in data_sent(&outcome, "h0") {
            let end = e.seq + e.payload as u64;
            prop_assert!(e.payload as u64 >= least || end == size || end % write == 0, "{:?}", e);
        }
    }
}

#[test]
fn a_rate_of_windows_a_round_trip_spares_the_initial_window() {
    let pacing = PacingSpec::Window { slow_start: 2.0, avoidance: 1.2, max: Rate::INFINITE, restart_at_max: false };
    let transport = TransportSpec { initial_window: 4.0, pacing, ..plain() };
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    let first = bench.open();
    assert_eq!(first.len(), 4, "the initial window leaves at once");
    bench.advance(10 * MS);
    // four ACKs open the window to 8 segments: one leaves with the first, the others wait their turn
    for n in 1..=4 {
        bench.ack(n * 1000, 0, 0, &[]);
    }
    let paced: Vec<u64> = bench.advance(20 * MS).iter().map(|p| p.packet.ts).collect();
    assert_eq!(paced.len(), 7);
    // 1000 B at twice 8000 B a round trip of 10 ms
    assert!(paced.windows(2).all(|w| w[1] - w[0] == 10 * MS / 16), "{paced:?}");
}

/// htsim's TcpSrc: the SYN is a packet of one byte, its ACK one of any kind.
#[test]
fn a_lone_syn_is_a_byte_and_its_ack_opens_the_window() {
    let transport = TransportSpec { lone_syn: true, syn_size: 1, extra_packets: 0, ..htsim() };
    let mut spec = wire(Rate::gbps(10), Time::us(1), transport, "dctcp", bulk(0, 1, Some(40_000)));
    spec.controllers = vec![controller("dctcp", &[("form", "htsim")])];
    spec.observe.flows = vec![0];
    let o = judged(&spec);
    let sent = |place| -> Vec<(u64, u32, u32)> {
        events(&o, place, Happening::Send).iter().take(3).map(|e| (e.time_ps, e.size, e.payload)).collect()
    };
    // 1 B crosses two links of 10 Gb/s and 1 us in 2001.6 ns, 40 B in 2064 ns: then data, no third packet
    let round = 2_001_600 + 2_064_000;
    assert_eq!(sent("h0"), [(0, 1, 0), (round, 4000, 4000), (round, 4000, 4000)]);
    assert_eq!(sent("h1")[0], (2_001_600, 40, 0), "a pure ACK, as that of data");
    // it is a sample, and one byte to the controller: 4000 * 4000 / 60000 = 266.7 B of room
    assert_eq!(o.flows[0].rtt_min_ps, Some(round));
    let windows = series(&o, "flow 0", "cwnd_bytes");
    assert_eq!((windows[0].1, windows.iter().find(|w| w.1 > 60_000.0).copied()), (60_000.0, Some((round, 60_266.0))));
    // ten segments, a SYN, eleven ACKs: nobody closes
    assert_eq!((o.flows[0].delivered, o.packets_sent), (40_000, 1 + 10 + 11));
}
