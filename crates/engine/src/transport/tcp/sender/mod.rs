//! The sending endpoint. This file is its state, grouped by mechanism (what RFC 9293 calls the transmission control
//! block); each file beside it is what one mechanism does with it, and [`ack`] the order in which an ACK meets them.
//!
//! States follow the connection (closed, SYN sent, open, done) and, while open, loss recovery ([`Phase`]). The
//! congestion window belongs to the controller; during fast recovery and ECN reductions of controllers without a
//! recovery of their own, the transport stands a recovery window in front of it (NewReno's inflated window, or PRR).

mod ack;
mod connection;
mod demotion;
mod ecn;
mod fast_recovery;
mod frto;
mod limited_transmit;
mod loss;
mod output;
mod pacing;
mod peer_window;
mod prediction;
mod process;
mod prr;
mod rack;
mod rank;
mod renewal;
mod reno_sack;
mod rto;
mod samples;
mod signals;
mod silence;
mod tlp;
mod undo;
mod window_usage;

use super::rtt::{RttEstimator, STAMP};
use super::scoreboard::{Hole, Scoreboard};
use crate::app::{AppState, Start};
use crate::event::aside::{Aside, Claim, Demand, Granted, STAMPS, Signal, Signals, Telemetry};
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::host::messages::NO_SIDE;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{AtStop, Done, LossFlight, PacingSpec, Rank, Recovery, Rules, TransportSpec};
use crate::transport::ip::IpSource;
use crate::transport::opening::Opening;
use crate::transport::tcp::receiver::UNSCALED;
use crate::transport::timer::{Task, fires_at, scanned_at};
use incast_cc::{
    Ack, Asks, Backlog, Bytes, Cc, Congestion, Controller, Deadline, Ecn, Env, Feedback, Hop, Idle, Pacing, Phase,
    Profile, Rate, Round, TcpAck, Time, Timeout,
};
use incast_record::{FlowRecord, FlowState, Recorder};
use peer_window::PeerWindow;
use prr::Prr;
use std::collections::VecDeque;
use std::mem::offset_of;
use undo::Undo;
use window_usage::WindowUsage;

const NEVER: Time = Time::NEVER;
/// IP and TCP header without options.
const BARE: u32 = 40;

/// Where a connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// Not opened yet: not started, or waiting for the other side to open it.
    Closed,
    /// SYN sent.
    SynSent,
    /// Data may flow.
    Open,
    /// Everything delivered and closed.
    Done,
    /// Reset, or given up.
    Dead,
    /// So many timeouts passed that only headers go, one a timeout, until something comes
    /// ([`TransportSpec::probe_after`]).
    Silent,
}

/// How far the end of the connection has come.
#[derive(Default, Debug)]
struct Closing {
    /// FIN was sent: as a segment of its own after the data, or on the last of it.
    fin: bool,
    /// ... as a segment of its own, though `fin_with_data` would have it on the last data.
    apart: bool,
    /// When the application wrote last; only where that decides how it closes (`close_after_write`).
    wrote: Option<Time>,
    /// The receiving application closed before the flow's end,
    by_peer: bool,
    /// ... when everything had been sent once.
    peer_last: bool,
}

/// Explicit congestion notification.
#[derive(Default, Debug)]
struct EcnState {
    /// A reduction ends when something beyond is acknowledged.
    cwr_end: u64,
    /// The next new segment says CWR.
    send_cwr: bool,
    /// ns-3's state of ECN-Echo: received and not yet answered with CWR; where it was last received, and the segment
    /// that last carried CWR.
    echo: bool,
    echo_at: u64,
    cwr_at: u64,
}

/// Which ACKs give RTT samples.
#[derive(Debug)]
struct Samples {
    /// Samples are of segments (Linux).
    of_segments: bool,
    /// ACKs up to here are none: a timeout declared it lost.
    not_below: u64,
    /// A segment timed for Karn's rule: its end, and when it was sent.
    timed: Option<(u64, Time)>,
}

/// Fast recovery.
#[derive(Default, Debug)]
struct RecoveryState {
    /// It is over when all below is acknowledged.
    point: u64,
    /// The window meanwhile, bytes; below 0 where it is the controller's.
    window: f64,
    dupacks: u32,
    /// As many duplicates signal a loss where SACK does not tell.
    dupthresh: u32,
    /// Sent by limited transmit since the first duplicate, bytes.
    limited: u64,
    partial_acks: u32,
    /// RFC 6675's rescue retransmission went.
    rescued: bool,
    /// The window is what the controller's is inflated by.
    inflates: bool,
    /// A timeout ended a recovery whose inflation stays.
    left_inflated: bool,
    /// A loss was found with the ACK at work.
    newly_lost: bool,
    /// Nothing is repaired, but something is SACKed or was sent again (Linux: Disorder).
    disorder: bool,
}

/// F-RTO.
#[derive(Default, Debug)]
struct Frto {
    /// The timeout may have been spurious: new data is to tell.
    on: bool,
    /// ... and goes before anything is sent again.
    new_first: bool,
}

/// The tail-loss probe that is out.
#[derive(Default, Debug)]
struct Tlp {
    /// Where the data ended when it went; 0 where none is out.
    to: u64,
    /// It was old data.
    again: bool,
}

/// Data that a timeout gave up and that is sent again as new data (htsim's Swift).
#[derive(Default, Debug)]
struct Renumbering {
    /// It lies between: all but the first is renumbered. Both zero where nothing is.
    range: (u64, u64),
    /// Such data was lost for good.
    hung: bool,
}

/// The event that the retransmission timer waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    /// An ACK (RFC 6298).
    Ack,
    /// The peer's window to open.
    Window,
    /// A tail-loss probe is to go.
    Probe,
    /// Overtaken segments may still arrive.
    Reordering,
}

/// The retransmission timer.
#[derive(Debug)]
struct RetransmissionTimer {
    waiting: Waiting,
    /// When it is over; [`NEVER`] where it is off.
    deadline: Time,
    /// When the event that looks at it comes.
    at: Time,
    /// Timeouts in a row.
    consecutive: u32,
}

/// Where timers of a tick fire in the reverse of their order: the tick of the retransmission timer, [`NEVER`] before it
/// is set, and its number among its host's.
#[derive(Debug)]
struct TimerTurn {
    slot: Time,
    setting: u64,
}

/// When packets may go.
#[derive(Debug)]
struct PacingState {
    /// The pacing rate lets the next go then.
    from: Time,
    /// When the last went.
    last_send: Time,
}

/// The application's process.
#[derive(Debug)]
struct Process {
    /// When it writes next, if a timer is set.
    at: Time,
    /// It runs.
    woken: bool,
    /// ... but only until it has sent a segment.
    interrupted: bool,
    /// Of a message so many bytes are pushed at a time (`push_half_window`).
    pushed: u64,
    /// Where its writes end, not sent yet; only where segments say so (`push_ack`).
    writes: VecDeque<u64>,
}

/// Counters for the flow's record.
#[derive(Default, Debug)]
struct SenderStats {
    /// Timeouts, measured.
    timeouts: u64,
    /// All data acknowledged at the sender.
    finished: Option<Time>,
    /// Its stop cut it short: then all that was written was acknowledged, or it was reset.
    stopped: Option<Time>,
    /// Bytes that earlier connections wrote, and the shortest RTT of these.
    written: u64,
    rtt_min: Option<Time>,
}

/// RTT samples, measured, and their sum.
#[derive(Default, Debug)]
struct RttCount {
    count: u64,
    sum: Time,
}

/// A sender. First what an ACK reads and writes that is [predicted](prediction), line by line, then what is rarer.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Sender {
    /// The IP layer below it.
    pub(in crate::transport) ip: IpSource,
    /// First byte not acknowledged, and first not sent.
    una: u64,
    nxt: u64,
    /// End of the segment sent last.
    sent_to: u64,
    peer: PeerWindow,
    timer: RetransmissionTimer,
    pacing: PacingState,
    rtt: RttEstimator,
    rtts: RttCount,
    transport: u32,
    group: u32,
    /// Payload of a full segment.
    mss: u32,
    /// Index of the probe observing this flow, if any.
    pub probe: Option<u32>,
    /// [`Sender::is_in_order`], and whether it was when the event at work began. Without the flag it is to be asked.
    in_order: bool,
    was_in_order: bool,
    /// Whether to look again changes nothing until the next event: the window holds everything back, or all is sent.
    settled: bool,
    /// The NIC had no room for what was to go.
    refused: bool,
    /// The rules let new data go without a look at each segment.
    output_is_plain: bool,
    /// The negotiated mode of ECN.
    ecn_mode: Ecn,
    app: AppState,

    samples: Samples,
    profile: Profile,
    board: Scoreboard,
    cc: Cc,

    /// The rules let ACKs be [predicted](prediction) that say nothing but that the next data has arrived.
    predictable: bool,
    /// Its packets carry more than headers: what they ask of switches, a class, or a rank.
    labels: bool,
    /// Where the connection stands.
    pub connection: Connection,
    phase: Phase,
    /// Only what is lost goes now.
    repairs_only: bool,
    /// Opened by the other side of a two-way connection.
    passive: bool,
    /// The segment sent now opens a fast recovery or follows a timeout.
    restarting: bool,
    frto: Frto,
    /// Its host's side of a two-way connection, or [`NO_SIDE`].
    side: u32,
    /// Probes of a shut window in a row.
    persist_backoff: u32,
    recovery: RecoveryState,
    undo: Undo,
    ecn: EcnState,
    closing: Closing,
    usage: WindowUsage,
    prr: Prr,
    tlp: Tlp,
    renumbering: Renumbering,
    turn: TimerTurn,
    /// When a timer is set to go on with paced packets.
    pace_at: Time,
    /// The controller's timer that is set.
    wake_at: Time,
    process: Process,
    opening: Opening,
    stats: SenderStats,
}

/// Cache lines of a sender that an ACK reads and writes which is as predicted: where they begin, and how many.
pub const HOT: [(usize, usize); 2] = [(0, 5), (512, 4)];

/// Where [`Sender::standing`] reads beyond these.
pub const STANDING: [usize; 4] = [
    offset_of!(Sender, connection),
    offset_of!(Sender, recovery),
    offset_of!(Sender, opening),
    offset_of!(Sender, stats) + offset_of!(SenderStats, finished),
];

// its own, and those of scoreboard and controller
const _: () = assert!(offset_of!(Sender, samples) <= HOT[0].1 * 64);
const _: () = assert!(offset_of!(Sender, board) + Scoreboard::HOT == HOT[1].0);

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let config = &net.spec.controllers[spec.controller as usize];
        let profile = config.profile();
        let of_segments = t.segment_rtt && t.timestamps && t.scoreboard != Rules::Ns3 && !profile.own_recovery;
        let inflates = t.recovery == Recovery::Htsim && !t.sack;
        let extra = t.extra_packets as u64 * t.mss as u64;
        let start = Start { at: spec.start, stop: spec.stop, extra, seed: net.spec.seed, flow };
        let mut sender = Sender {
            ip: IpSource::new(net, flow, host, profile.telemetry),
            transport: spec.transport,
            group: spec.group,
            predictable: false,
            output_is_plain: false,
            in_order: false,
            was_in_order: false,
            refused: false,
            rtts: RttCount::default(),
            labels: profile.asks != Asks::Nothing || !t.demotion.is_empty() || t.rank.is_some(),
            connection: Connection::Closed,
            probe: None,
            una: 0,
            nxt: 0,
            sent_to: 0,
            mss: t.mss,
            board: scoreboard(t, &profile, of_segments),
            peer: PeerWindow::default(),
            cc: config.build(&net.envs[flow]),
            profile,
            ecn: EcnState::default(),
            ecn_mode: t.ecn.unwrap_or(profile.ecn),
            rtt: RttEstimator::new(t),
            samples: Samples { of_segments, not_below: 0, timed: None },
            phase: Phase::Open,
            recovery: RecoveryState { dupthresh: t.dupthresh, inflates, ..RecoveryState::default() },
            prr: Prr::default(),
            frto: Frto::default(),
            undo: Undo::default(),
            tlp: Tlp::default(),
            renumbering: Renumbering::default(),
            repairs_only: false,
            settled: false,
            usage: WindowUsage::default(),
            timer: RetransmissionTimer { waiting: Waiting::Ack, deadline: NEVER, at: NEVER, consecutive: 0 },
            turn: TimerTurn { slot: NEVER, setting: 0 },
            persist_backoff: 0,
            pacing: PacingState { from: Time::ZERO, last_send: Time::ZERO },
            pace_at: NEVER,
            restarting: false,
            wake_at: NEVER,
            app: AppState::new(spec.app, start),
            process: Process { at: NEVER, woken: false, interrupted: false, pushed: 0, writes: VecDeque::new() },
            closing: Closing::default(),
            side: NO_SIDE,
            passive: false,
            opening: Opening::new(net, flow),
            stats: SenderStats::default(),
        };
        sender.predictable = sender.is_predictable(t);
        sender.output_is_plain = sender.is_output_plain(t);
        sender
    }

    /// Makes it one flow of a two-way connection: `side` is its host's; `passive` if the other
    /// host opens it.
    pub fn make_duplex(&mut self, side: u32, passive: bool) {
        self.side = side;
        self.passive = passive;
        self.ip.flags |= flag::DUPLEX;
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        self.opening.record(record);
        record.written = self.stats.written + self.app.written;
        record.finish_ps = self.stats.finished.filter(|_| self.stats.stopped.is_none()).map(|t| t.0);
        record.stopped_ps = self.stats.stopped.map(|t| t.0);
        record.timeouts = self.stats.timeouts;
        record.rtt_count = self.rtts.count;
        record.rtt_sum_ps = self.rtts.sum.0;
        record.rtt_min_ps = self.rtt.min().into_iter().chain(self.stats.rtt_min).min().map(|t| t.0);
    }

    /// Shows the state that time series are made of. Sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("cwnd_bytes", self.window());
        visit("ssthresh_bytes", self.cc.ssthresh());
        visit("in_flight_bytes", self.board.pipe() as f64);
        visit("offered_bytes", self.peer.edge.saturating_sub(self.una) as f64);
        visit("acked_bytes", (self.stats.written + self.una) as f64);
        if self.rtt.min().is_some() {
            visit("rtt_s", self.rtt.latest.as_secs_f64());
            visit("srtt_s", self.rtt.srtt.as_secs_f64());
        }
        self.cc.state(visit);
    }

    /// Window and state, once it has opened.
    pub fn standing(&self) -> Option<(Option<u64>, FlowState)> {
        self.opening.opened()?;
        let over = matches!(self.connection, Connection::Done | Connection::Dead) || self.stats.finished.is_some();
        let state = match self.phase {
            _ if over => FlowState::Done,
            Phase::Loss => FlowState::Timeout,
            Phase::Recovery => FlowState::Recovery,
            Phase::Open | Phase::Cwr if self.cc.in_slow_start() => FlowState::SlowStart,
            Phase::Open | Phase::Cwr => FlowState::Avoidance,
        };
        let window = self.window();
        Some((window.is_finite().then(|| libm::round(window) as u64), state))
    }

    /// Brings near what an acknowledgement touches beyond the sender itself.
    #[inline]
    pub fn prefetch_board(&self) {
        self.board.prefetch();
    }
}

/// The scoreboard that a transport asks for; `timed`: RTT samples are of segments.
fn scoreboard(t: &TransportSpec, profile: &Profile, timed: bool) -> Scoreboard {
    match t.scoreboard {
        _ if let Some(late) = profile.late.filter(|_| t.sack && profile.own_recovery) => {
            Scoreboard::waiting_for_late(late.trigger)
        }
        Rules::Ns3 => Scoreboard::of_ns3(t.mss),
        Rules::Rack => {
            let board = Scoreboard::with_times(true).reordering(t.reordering_timer, t.adaptive_reordering);
            if profile.delivery { board.sampling() } else { board }
        }
        _ if profile.delivery => Scoreboard::default().sampling(),
        _ if timed || t.tail_loss_probe => Scoreboard::with_times(false),
        _ => Scoreboard::default(),
    }
}
