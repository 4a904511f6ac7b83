//! Writes of applications, and their times: the lazy arithmetic against one tick after another, writes as
//! segments, sizes, stops and the closing exchange.

use crate::properties::networks::begins;
use crate::support::*;
use incast_engine::testing::{AppState, Kind, Start};
use proptest::prelude::*;

/// An on-off application simulated tick by tick, as in ns-3's `OnOffApplication`: the first tick comes one tick after
/// the start of the first ON period, none at or after the end of an ON period, none at or after the stop. The part of a
/// tick that has passed when an ON period ends shortens the wait for the first tick of the next one. A write that does
/// not fit is retried at the next tick.
struct Naive {
    tick: u64,
    on: u64,
    off: u64,
    write: u64,
    on_since: u64,
    /// Start of the wait for the pending tick, and the time waited before that.
    since: u64,
    waited: u64,
    next: u64,
    stop: u64,
    written: u64,
    accepted: Vec<u64>,
}

impl Naive {
    fn up_to(&mut self, now: u64, acked: u64, buffer: u64) {
        while self.next <= now {
            let at = self.next;
            if self.off > 0 && at >= self.on_since + self.on {
                self.waited += self.on_since + self.on - self.since;
                self.on_since += self.on + self.off;
                self.since = self.on_since;
                self.next = self.on_since + self.tick - self.waited;
                continue;
            }
            if at < self.stop && acked + buffer - self.written >= self.write {
                self.written += self.write;
                self.accepted.push(at);
            }
            (self.since, self.waited) = (self.next, 0);
            self.next += self.tick;
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(500))]

    #[test]
    fn an_on_off_application_ticks(
        mbps in 1u64..200, write in prop_oneof![Just(1000u64), 100u64..3000], on in 1u64..3000, off in 0u64..2000,
        begin in begins(), started in 0u64..500, waited in 0u64..500, stop in prop_oneof![Just(u64::MAX), 0u64..20_000],
        buffer in 1000u64..20_000,
        // gaps between steps, and the share of outstanding bytes acknowledged then
        looks in prop::collection::vec((0u64..900, 0u64..101), 1..60),
    ) {
        let us = 1_000_000u64;
        let (on, off, started, stop) = (on * us, off * us, started * us, stop.saturating_mul(us));
        let opened = started + waited * us;
        let rate = Rate::mbps(mbps);
        let kind = App::OnOff(OnOff { rate, on: Time(on), off: Time(off), write, begin });
        let mut app = AppState::new(kind, Start { at: Time(started), stop: Time(stop), ..Start::ENDLESS });
        app.open(Time(opened));
        let on_since = match begin {
            Begin::Open => opened,
            Begin::Off => opened + off,
            Begin::Connect => started,
        };
        let tick = rate.serialize(write).0;
        let next = if begin == Begin::Connect { on_since } else { on_since + tick };
        let (since, accepted) = (on_since, Vec::new());
        let mut naive = Naive { tick, on, off, write, on_since, since, waited: 0, next, stop, written: 0, accepted };
        let (mut now, mut acked) = (0u64, 0u64);
        for (gap, share) in looks {
            now += gap * us;
            app.catch_up(Time(now), acked + buffer - app.written);
            naive.up_to(now, acked, buffer);
            prop_assert_eq!(app.written, naive.written, "at {}", now);
            // the next tick of both applications is the same, if any is left
            if let Some(at) = app.next_at(u64::MAX) {
                let (acked, before) = (u64::MAX / 2, naive.accepted.len());
                let mut ahead = Naive { accepted: naive.accepted.clone(), ..naive };
                ahead.up_to(at.0 - 1, acked, buffer);
                prop_assert_eq!(ahead.accepted.len(), before, "no tick before {}", at);
                ahead.up_to(at.0, acked, buffer);
                prop_assert_eq!(ahead.accepted.len(), before + 1, "a tick at {}", at);
            } else {
                let mut ahead = Naive { accepted: Vec::new(), ..naive };
                ahead.up_to(now + 4 * (on + off) + 4 * tick, u64::MAX / 2, buffer);
                prop_assert_eq!(ahead.accepted.len(), 0, "no tick is left at {}", now);
            }
            acked += (app.written - acked) * share / 100;
        }
    }
}

fn on_off(rate: Rate, on: Time, off: Time) -> FlowSpec {
    FlowSpec { app: App::OnOff(OnOff { rate, on, off, write: 1000, begin: Begin::Open }), ..bulk(0, 1, None) }
}

/// Payloads of segments sent by h0.
fn payloads(o: &incast_record::Outcome) -> Vec<u32> {
    data_sent(o, "h0").iter().map(|e| e.payload).collect()
}

#[test]
fn what_is_written_from_connect_on_waits_for_the_connection() {
    let transport = changed!(tcp(), connection.handshake = true);
    let flow = on_off(Rate::mbps(8), Time::s(1), Time::ZERO);
    // the handshake takes a round trip of 4 ms; writes at 0 to 4 ms wait for its end, and leave as full segments
    let waited = [1448, 1448, 1448, 656];
    for (begin, first) in [(Begin::Open, vec![1000; 6]), (Begin::Connect, [&waited[..], &[1000; 6]].concat())] {
        let app = App::OnOff(OnOff { rate: Rate::mbps(8), on: Time::s(1), off: Time::ZERO, write: 1000, begin });
        let mut spec = wire(Rate::gbps(1), Time::ms(1), transport.clone(), "newreno", FlowSpec { app, ..flow.clone() });
        run_for(&mut spec, Time::us(10_500));
        let outcome = run(&spec);
        assert_eq!(payloads(&outcome), first, "{begin:?}");
        let sent = data_sent(&outcome, "h0");
        let at_once = sent.iter().filter(|e| e.time_ps < Time::us(4_900).0).count();
        assert_eq!(at_once, if begin == Begin::Connect { waited.len() } else { 0 }, "{begin:?}");
    }
}

#[test]
fn writes_stay_segments_while_the_window_is_open() {
    let transport = changed!(tcp(), acks.delayed_ack = 1);
    let flow = on_off(Rate::mbps(80), Time::ms(10), Time::ms(10));
    let mut spec = wire(Rate::gbps(1), Time::us(10), transport, "newreno", flow);
    run_for(&mut spec, Time::ms(40));
    let outcome = run(&spec);
    let sent = data_sent(&outcome, "h0");
    // 1000 B at 80 Mb/s tick every 100 us: 99 ticks strictly inside 10 ms; the hundredth comes with
    // the second ON time, which has a hundred
    assert_eq!(sent.len(), 199);
    assert!(sent.iter().all(|e| e.payload == 1000));
    // SYN and SYN-ACK: 2 * 0.448 us and 10 us a link
    let open = 4 * (448_000 + 10_000_000);
    for (i, e) in sent.iter().enumerate() {
        let (cycle, tick) = ((i as u64 + 1) / 100, (i as u64 + 1) % 100);
        assert_eq!(e.time_ps, open + cycle * 20 * MS + tick * 100_000_000, "write {i}");
    }
    assert_eq!(outcome.flows[0].written, 199_000);
}

#[test]
fn writes_merge_where_the_window_is_the_limit() {
    // 100 Mb/s are asked of a link of 10 Mb/s, and the receiver offers 20 kB
    let transport = changed!(tcp(), windows.receive_buffer = 20_000);
    let flow = on_off(Rate::mbps(100), Time::s(1), Time::ZERO);
    let mut spec = wire(Rate::mbps(10), Time::us(10), transport, "newreno", flow);
    run_for(&mut spec, Time::ms(400));
    let outcome = compared(&spec);
    let sent = payloads(&outcome);
    assert_eq!(sent[0], 1000, "the first write goes as it is");
    let full = sent.iter().filter(|p| **p == 1448).count();
    assert!(full * 10 > sent.len() * 9, "{full} of {}", sent.len());
    assert!(sent.iter().all(|p| *p <= 1448));
}

#[test]
fn a_constant_rate_never_pauses() {
    let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", on_off(Rate::mbps(8), Time::ms(3), Time::ZERO));
    run_for(&mut spec, Time::ms(100));
    let outcome = run(&spec);
    // a write a millisecond from 1.04 ms on
    assert_eq!(outcome.flows[0].written, 99_000);
    let times: Vec<u64> = data_sent(&outcome, "h0").iter().map(|e| e.time_ps).collect();
    assert!(times.windows(2).all(|w| w[1] - w[0] == MS));
}

#[test]
fn ticks_at_a_full_buffer_cost_no_events() {
    // 10 Gb/s in writes of 1000 B are 1.25 million ticks a second; the link carries 10 Mb/s, and
    // the buffer fits into the window, so the transport has nothing unsent while ticks fail
    let transport = changed!(tcp(), windows.send_buffer = 10_000);
    let flow = on_off(Rate::gbps(10), Time::s(1), Time::ZERO);
    let mut bench = Bench::new(wire(Rate::mbps(10), Time::us(10), transport.clone(), "newreno", flow.clone()));
    bench.open();
    bench.give_sender(Kind::Syn, 0, 0, 1 << 29);
    // no ACK comes, and the retransmission timeout is further off
    bench.advance(9 * MS);
    // ten accepted writes make ten events; nothing else happens for 9 ms, or 11,240 ticks
    assert_eq!(bench.fired, 10);
    let mut spec = wire(Rate::mbps(10), Time::us(10), transport, "newreno", flow);
    run_for(&mut spec, Time::s(2));
    spec.observe.trace.clear();
    let outcome = run(&spec);
    // the pipe is full: ten segments of 1000 B cover 10 Mb/s over 20 us
    let line = 10e6 / 8.0 * 2.0 * 1000.0 / 1052.0;
    assert!(outcome.flows[0].delivered as f64 > 0.99 * line, "{}", outcome.flows[0].delivered);
}

#[test]
fn sizes_need_not_be_multiples() {
    for (size, expected) in [(1, vec![1]), (1448, vec![1448]), (1449, vec![1448, 1]), (3000, vec![1448, 1448, 104])] {
        let outcome = run(&wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(size))));
        assert_eq!(payloads(&outcome), expected, "{size} B");
        let flow = &outcome.flows[0];
        assert_eq!((flow.written, flow.delivered, flow.size), (size, size, Some(size)));
        assert!(flow.finish_ps.is_some() && flow.received_ps.is_some());
    }
}

#[test]
fn extra_packets_follow_the_size() {
    let transport = changed!(htsim(), output.extra_packets = 2);
    let outcome = run(&wire(Rate::gbps(100), Time::us(1), transport, "swift", bulk(0, 1, Some(10_000))));
    let flow = &outcome.flows[0];
    // 10,000 B are 4000 + 4000 + 2000; with 8000 more the last segment fills up
    assert_eq!(payloads(&outcome).iter().sum::<u32>(), 18_000);
    assert_eq!((flow.written, flow.delivered), (10_000, 10_000), "the extra packets are not the application's");
    assert!(flow.finish_ps.is_some());
}

#[test]
fn a_transfer_closes_with_fin() {
    let outcome = run(&wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(1000))));
    let sent: Vec<(&str, &str)> = outcome
        .trace
        .iter()
        .filter(|e| e.event == Happening::Send)
        .map(|e| (e.place.as_str(), e.flags.as_str()))
        .collect();
    let expected =
        [("h0", "SYN"), ("h1", "SYN|ACK"), ("h0", "ACK"), ("h0", ""), ("h0", "FIN"), ("h1", "FIN|ACK"), ("h0", "ACK")];
    assert_eq!(sent, expected);
    let flow = &outcome.flows[0];
    assert_eq!((flow.delivered, flow.sent, flow.arrived), (1000, 1, 1), "FIN is no data");
    assert_eq!((flow.fm_tx_packets, flow.fm_rx_packets), (5, 5), "SYN, ACK, data, FIN, ACK");
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", bulk(0, 1, Some(1000)));
    spec.links[3].loss = Loss::List(vec![3]);
    let outcome = run(&spec);
    let fins = events(&outcome, "h0", Happening::Send).iter().filter(|e| e.flags.contains("FIN")).count();
    assert_eq!(fins, 2);
    assert!(outcome.flows[0].finish_ps.is_some());
    assert_eq!(outcome.flows[0].delivered, 1000);
}

#[test]
fn a_stop_drains() {
    let flow = FlowSpec { stop: Time::ms(100), ..bulk(0, 1, None) };
    let outcome = run(&wire(Rate::mbps(10), Time::us(10), tcp(), "newreno", flow));
    let flow = &outcome.flows[0];
    let finish = flow.finish_ps.expect("what was accepted is delivered, then the flow closes");
    assert_eq!(flow.delivered, flow.written);
    // 128 KiB in the send buffer at 10 Mb/s are 108 ms
    let drain = (131_072.0 * 1500.0 / 1448.0 * 8.0 / 10e6 * 1e12) as u64;
    assert!(finish > 100 * MS && finish < 100 * MS + drain + 10 * MS, "{finish}");
    let last = events(&outcome, "h0", Happening::Send).iter().filter(|e| e.flags.contains("FIN")).count();
    assert_eq!(last, 1);
}

#[test]
fn a_stop_resets() {
    let flow = FlowSpec { stop: Time::ms(100), at_stop: AtStop::Reset, ..bulk(0, 1, None) };
    let outcome = compared(&wire(Rate::mbps(10), Time::us(10), tcp(), "newreno", flow));
    let flow = &outcome.flows[0];
    assert_eq!(flow.finish_ps, None);
    assert!(flow.delivered < flow.written);
    let after: Vec<&str> = events(&outcome, "h0", Happening::Send)
        .iter()
        .filter(|e| e.time_ps >= 100 * MS)
        .map(|e| e.flags.as_str())
        .collect();
    assert_eq!(after, ["RST"], "the receiver is told once, and nothing else is sent");
}

#[test]
fn an_on_off_application_stops_writing() {
    let flow = FlowSpec { stop: Time::ms(35), ..on_off(Rate::mbps(8), Time::ms(10), Time::ms(10)) };
    let outcome = run(&wire(Rate::gbps(1), Time::us(10), tcp(), "newreno", flow));
    let flow = &outcome.flows[0];
    // nine ticks of a millisecond in the first ON time; the tenth falls on its end and comes with the
    // second, which has ten and ends at 30 ms
    assert_eq!((flow.written, flow.delivered), (19_000, 19_000));
    assert!(flow.finish_ps.unwrap() >= 35 * MS);
}

#[test]
fn a_closing_sink_resets_a_flow_with_a_hole_and_says_fin_to_any_other() {
    // the 40th segment is lost for good: its retransmission timer would fire after a second
    let ecn = Some(Ecn::Dctcp);
    let transport = changed!(
        tcp(),
        rto.rto_min = Time::s(1),
        loss.sack = false,
        loss.dupthresh = 1000,
        marks.ecn = ecn,
        marks.ect_control = true
    );
    let flow = FlowSpec { sink_stop: Time::ms(100), stop: Time::ms(50), ..bulk(0, 1, None) };
    let mut spec = wire(Rate::mbps(100), Time::us(10), transport, "newreno", flow);
    spec.duration = Time::s(3);
    let told = |o: &incast_record::Outcome, host: &str, flag: &str| {
        events(o, host, Happening::Send)
            .iter()
            .filter(|e| e.flags.contains(flag))
            .map(|e| e.time_ps)
            .collect::<Vec<_>>()
    };
    spec.links[0].loss = Loss::List(vec![40]);
    let outcome = compared(&spec);
    assert_eq!(told(&outcome, "h1", "RST"), [100 * MS], "bytes wait beyond the hole");
    assert_eq!(outcome.flows[0].retransmissions, 0, "the sender gives up");

    // without the hole the flow has closed by itself before
    spec.links[0].loss = Loss::None;
    let outcome = compared(&spec);
    assert_eq!((told(&outcome, "h1", "RST"), told(&outcome, "h1", "FIN").len()), (vec![], 1));
    assert!(outcome.flows[0].finish_ps.is_some());

    // a flow that still sends acknowledges the FIN and goes on until everything has been sent; then the next ACK ends
    // it, and later ACKs are answered with a reset
    spec.flows[0].stop = Time::ms(150);
    let outcome = compared(&spec);
    assert_eq!(told(&outcome, "h1", "FIN").first(), Some(&(100 * MS)));
    let end = *told(&outcome, "h0", "FIN").first().expect("it closes");
    assert!(end >= 150 * MS, "{end}");
    let resets = told(&outcome, "h0", "RST");
    assert!(resets.len() > 10 && resets.iter().all(|at| *at > end && *at < end + 20 * MS), "{resets:?}");
    // a packet without a connection is not ECN-capable
    for sent in events(&outcome, "h0", Happening::Send) {
        assert_eq!(sent.flags.contains("ECT"), !sent.flags.contains("RST"), "{sent:?}");
    }
    let flow = &outcome.flows[0];
    assert_eq!((flow.delivered, flow.retransmissions), (flow.written, 0));
}

#[test]
fn ends_of_writes_are_kept_only_for_segments_that_say_so() {
    for push_ack in [true, false] {
        let mut app = AppState::new(App::Bulk(Bulk { size: None, write: 10_000 }), Start::ENDLESS);
        app.open(Time::ZERO);
        let mut ends = std::collections::VecDeque::new();
        app.top_up(1_000_000, 0, 100_000, 1000, push_ack.then_some(&mut ends));
        assert_eq!((app.written, ends.len()), (100_000, if push_ack { 10 } else { 0 }));
    }
}
