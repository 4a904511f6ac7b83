//! TCP: a file for each mechanism, most of it on a bench, packet by packet.
//!
//! A file of `src/transport/tcp` has its tests in the file of the same name here, except these:
//!
//! | source | tests |
//! |---|---|
//! | `sender/output` | `window`, `window_usage`, `send_buffer`, `limited_transmit` |
//! | `sender/loss` | `fast_recovery`, `scoreboard`, `rack`, `late` |
//! | `sender/process` | `send_buffer`, `read_ack` (PSH); `../messages.rs` |
//! | `sender/reconnect`, `receiver/reconnect` | `../reconnect.rs` |
//! | `receiver/answer` | `ack_policy` (time stamps), `ns3` (size) |
//! | `scoreboard/{mod, late, ns3, rack}` | `scoreboard`, `late`, `ns3`, `rack` |
//! | `sender/ack` (reports to controllers) | `lost_bytes` |
//! | rules of one simulator | `htsim`, `renumbering`, `ns3` |
//! | receivers of real hosts | `linux` |

mod ack_policy;
mod compression;
mod connection;
mod ecn;
mod fast_recovery;
mod fragments;
mod frto;
mod htsim;
mod late;
mod limited_transmit;
mod linux;
mod lost_bytes;
mod ns3;
mod pacing;
mod peer_window;
mod prr;
mod rack;
mod read_ack;
mod reno_sack;
mod renumbering;
mod rto;
mod sack;
mod samples;
mod scoreboard;
mod send_buffer;
mod tlp;
mod undo;
mod window;
mod window_usage;

pub use crate::support::*;
pub use incast_engine::testing::flag;

/// The plain transport without SACK, with RFC 6582's recovery.
fn newreno(window: f64) -> TransportSpec {
    changed!(initial_window(window), loss.sack = false, loss.recovery = Recovery::NewReno)
}

/// Linux' rate reduction and delayed ACKs, and nothing else of Linux.
fn linux_prr(window: f64) -> TransportSpec {
    changed!(
        initial_window(window),
        loss.recovery = Recovery::Linux,
        loss.forward_retransmit = false,
        acks.delayed_ack = 2
    )
}

/// Linux defaults, except exact timers.
fn linux(window: f64) -> TransportSpec {
    changed!(crate::support::linux(), windows.initial_window = window)
}

/// A sender of an endless transfer that has just sent its first window, and the packets sent. The clock stands at 100
/// ms.
fn sender(transport: TransportSpec, kind: &str) -> (Bench, Vec<Caught>) {
    let mut bench = bench(transport, kind, bulk(0, 1, None));
    let sent = bench.open();
    bench.advance(100 * MS);
    (bench, sent)
}

/// A sender of an endless transfer that sent its first window at 0. The clock stands at `at`.
fn sender_at(transport: TransportSpec, at: u64) -> Bench {
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    bench.open();
    bench.advance(at);
    bench
}

/// Numbers of sent segments of `mss` bytes; negative for retransmissions.
fn segments_of(sent: &[Caught], mss: u64) -> Vec<i64> {
    let number = |c: &Caught| (c.packet.seq() / mss) as i64 * if c.has(flag::RETX) { -1 } else { 1 };
    sent.iter().filter(|c| c.packet.len > 0).map(number).collect()
}

/// Numbers of sent segments of 1000 B; negative for retransmissions.
fn segments(sent: &[Caught]) -> Vec<i64> {
    segments_of(sent, 1000)
}

/// Delivers an ACK up to segment `n`, of data sent `ago` ps before, with flags and blocks of segments. Returns the
/// segments released.
fn ack_of(bench: &mut Bench, ago: u64, n: u64, flags: u16, blocks: &[(u64, u64)]) -> Vec<i64> {
    let then = bench.now().saturating_sub(ago);
    let blocks: Vec<(u64, u64)> = blocks.iter().map(|(a, b)| (a * 1000, b * 1000)).collect();
    segments(&bench.ack(n * 1000, then, flags, &blocks))
}

/// Delivers an ACK up to segment `n` with blocks of segments, of data sent now.
fn ack(bench: &mut Bench, n: u64, blocks: &[(u64, u64)]) -> Vec<i64> {
    ack_of(bench, 0, n, 0, blocks)
}

/// Delivers an ACK of data sent 100 ms ago.
fn ack_after_100_ms(bench: &mut Bench, n: u64, blocks: &[(u64, u64)]) -> Vec<i64> {
    ack_of(bench, 100 * MS, n, 0, blocks)
}

/// Delivers a duplicate, or an ACK that advances, without blocks.
fn dup(bench: &mut Bench, n: u64) -> Vec<i64> {
    ack(bench, n, &[])
}

fn kb(bench: &Bench, name: &str) -> f64 {
    bench.state(name) / 1000.0
}

/// A transfer of `segments` segments of 1000 B at 100 Mb/s and an idle RTT of 20.3 ms, with the loss of the listed data
/// packets.
fn transfer(transport: TransportSpec, segments: u64, lost: &[u64]) -> Outcome {
    transfer_of("newreno", transport, segments, lost)
}

fn transfer_of(kind: &str, transport: TransportSpec, segments: u64, lost: &[u64]) -> Outcome {
    let mut spec = wire(Rate::mbps(100), Time::ms(5), transport, kind, bulk(0, 1, Some(segments * 1000)));
    spec.links[3].loss = Loss::List(lost.to_vec());
    run(&spec)
}

fn again(o: &Outcome) -> Vec<(u64, u64)> {
    let sent = data_sent(o, "h0").into_iter().filter(|e| e.flags.contains("RETX"));
    sent.map(|e| (e.time_ps, e.seq / 1000)).collect()
}

fn counts(f: &FlowRecord) -> (u64, u64, u64) {
    (f.retransmissions, f.timeouts, f.dropped)
}

/// A sender under Linux' rules whose first timeout has just retransmitted segment 0, at 1 s.
fn timed_out(change: impl FnOnce(&mut TransportSpec)) -> Bench {
    let mut transport = changed!(initial_window(20.0), loss.recovery = Recovery::Linux);
    change(&mut transport);
    let (mut bench, _) = sender(transport, "newreno");
    assert_eq!(segments(&bench.advance(1000 * MS)), [0]);
    assert_eq!((kb(&bench, "cwnd_bytes"), kb(&bench, "ssthresh_bytes")), (1.0, 10.0));
    bench
}

/// A sender with `newreno`; see [`controlled`].
fn probing(transport: TransportSpec, segments: Option<u64>) -> Bench {
    controlled(transport, "newreno", segments)
}

fn controlled(transport: TransportSpec, kind: &str, segments: Option<u64>) -> Bench {
    let mut spec = wire(Rate::gbps(100), Time::ms(10), transport, kind, bulk(0, 1, segments.map(|n| n * 1000)));
    if matches!(kind, "swift" | "lswift") {
        // delay must not reduce the window
        spec.controllers = vec![controller(kind, &[("base_target", "10s")])];
    }
    let mut bench = Bench::new(spec);
    bench.open();
    bench.advance(20 * MS);
    bench
}

/// Delivers an ACK of data sent 20 ms ago: the round trips of these controllers are those of time stamps.
fn answer(bench: &mut Bench, n: u64, blocks: &[(u64, u64)]) -> Vec<i64> {
    ack_of(bench, 20 * MS, n, 0, blocks)
}

fn at(bench: &mut Bench, ms: u64) -> Vec<i64> {
    segments(&bench.advance(ms * MS))
}

/// Checks that nothing is sent before `ms`.
fn quiet_until(bench: &mut Bench, ms: u64) {
    assert_eq!(segments(&bench.advance(ms * MS - 1)), [0i64; 0], "before {ms} ms");
}

fn slow_start(bench: &Bench) -> bool {
    bench.state("ssthresh_bytes").is_infinite()
}

fn bench(transport: TransportSpec, kind: &str, flow: FlowSpec) -> Bench {
    Bench::new(wire(Rate::gbps(100), Time::ms(10), transport, kind, flow))
}

/// Maximum bytes in flight in a transfer of 500 kB.
fn most_in_flight(transport: TransportSpec) -> (f64, Outcome) {
    let mut spec = wire(Rate::gbps(1), Time::ms(1), transport, "newreno", bulk(0, 1, Some(500_000)));
    spec.observe.flows = vec![0];
    let outcome = run(&spec);
    assert_eq!(outcome.flows[0].delivered, 500_000);
    let most = series(&outcome, "flow 0", "in_flight_bytes").iter().map(|s| s.1).fold(0.0, f64::max);
    (most, outcome)
}

fn lengths(sent: &[Caught]) -> Vec<u16> {
    sent.iter().map(|c| c.packet.len).collect()
}

fn receiver(transport: TransportSpec) -> Bench {
    receiver_of("newreno", transport)
}

fn receiver_of(kind: &str, transport: TransportSpec) -> Bench {
    Bench::new(wire(Rate::gbps(10), Time::us(1), transport, kind, bulk(0, 1, None)))
}

/// Delivers full segments with the given marks. Returns every ACK as (segments it covers, ECE).
fn marks(transport: TransportSpec, marks: &[u8]) -> Vec<(u64, bool)> {
    answers(receiver(transport), marks)
}

fn answers(mut bench: Bench, marks: &[u8]) -> Vec<(u64, bool)> {
    let mut acks = Vec::new();
    for (i, mark) in marks.iter().enumerate() {
        bench.advance(i as u64 * 1_000_000);
        let flags = if *mark == 1 { flag::CE | flag::ECT } else { flag::ECT };
        let sent = bench.data(i as u64 * 1000, 1000, flags);
        acks.extend(sent.iter().map(|a| (a.packet.ack / 1000, a.has(flag::ECE))));
    }
    acks
}

fn dctcp(delayed_ack: u32) -> TransportSpec {
    changed!(plain(), marks.ecn = Some(Ecn::Dctcp), acks.delayed_ack = delayed_ack)
}
