//! TCP sender: RFC 9293's transmission control block. Each neighbouring file is one mechanism, with its state;
//! [`ack`] is the order in which an ACK passes them.
//!
//! States follow the connection (closed, SYN sent, open, done) and, while open, loss recovery ([`Phase`]). The
//! congestion window belongs to the controller. During fast recovery and ECN reductions, unless the controller has a
//! recovery of its own, a recovery window of the transport replaces it (NewReno's inflated window, or PRR).

mod ack;
mod after_timeout;
mod connection;
mod demotion;
mod ecn;
mod ecn_reduction;
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
mod reconnect;
mod recovery;
mod reno_sack;
mod retransmission_timer;
mod rto;
mod samples;
mod signals;
mod silence;
mod tail_probe;
mod tlp;
mod undo;
mod window_usage;

use super::rtt::{RttEstimator, Samples};
use super::scoreboard::Scoreboard;
use crate::app::{AppState, Start};
use crate::event::packet::flag;
use crate::host::messages::NO_TCB;
use crate::ids::{FlowId, HostIx};
use crate::map::fabric::FabricMap;
use crate::spec::{Rules, TransportSpec};
use crate::transport::ip::IpSource;
use crate::transport::opening::Opening;
use crate::transport::timer::Alarm;
use ecn::EcnState;
use incast_cc::{Asks, Cc, Controller, Ecn, Phase, Profile, Time};
use incast_record::{FlowRecord, FlowState};
use peer_window::PeerWindow;
use recovery::LossRecovery;
use retransmission_timer::RetransmissionTimer;
use std::collections::VecDeque;
use std::mem::offset_of;
use window_usage::WindowUsage;

const NEVER: Time = Time::NEVER;
/// IP and TCP header without options.
const BARE: u32 = 40;

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    /// Not opened: not started, or waiting for the other side to open it.
    Closed,
    /// SYN sent.
    SynSent,
    /// Data may flow.
    Open,
    /// All delivered, and closed.
    Done,
    /// Reset, or given up.
    Dead,
    /// Probing after too many timeouts: only headers go, one per timeout, until a packet arrives
    /// (`OutputRules::probe_after`).
    Silent,
}

/// Place in a two-way connection.
#[derive(Debug)]
struct Duplex {
    /// Index of the control block of a two-way connection, or [`NO_TCB`].
    tcb: u32,
    /// Set if the other side opens it.
    passive: bool,
}

impl Default for Duplex {
    fn default() -> Duplex {
        Duplex { tcb: NO_TCB, passive: false }
    }
}

impl Duplex {
    /// Returns whether the connection has one direction.
    fn is_single(&self) -> bool {
        self.tcb == NO_TCB
    }
}

/// Progress of the connection's end.
#[derive(Default, Debug)]
struct Closing {
    /// Set once the FIN was sent: as a segment of its own after the data, or on its last segment.
    fin: bool,
    /// Set if the FIN was sent as a segment of its own in spite of `fin_with_data`.
    apart: bool,
    /// Time of the application's last write; only if it decides how the connection closes (`close_after_write`).
    wrote: Option<Time>,
    /// Set if the receiving application closed before the flow's end.
    by_peer: bool,
    /// Set if it closed after everything had been sent once.
    peer_last: bool,
}

/// Output: contents of packets, and what holds them back.
#[derive(Debug)]
struct Output {
    /// Negotiated ECN mode.
    ecn: Ecn,
    /// Set if packets carry labels: requests to switches, a traffic class, or a rank.
    labels: bool,
    /// Set if trying to send again changes nothing until the next event: the window holds everything back, or all is
    /// sent.
    settled: bool,
    /// Set if the NIC had no room.
    refused: bool,
    /// Set while only lost segments may go.
    repairs_only: bool,
}

impl Output {
    /// State before the first packet.
    fn new(t: &TransportSpec, profile: &Profile) -> Output {
        let labels = profile.asks != Asks::Nothing || !t.output.demotion.is_empty() || t.output.rank.is_some();
        let ecn = t.marks.ecn.unwrap_or(profile.ecn);
        Output { ecn, labels, settled: false, refused: false, repairs_only: false }
    }
}

/// State of the fast paths.
#[derive(Default, Debug)]
struct Prediction {
    /// Set if the rules allow ACKs that only acknowledge the next data to be predicted.
    acks: bool,
    /// Set if the rules let new data go without a check of each segment.
    output: bool,
    /// Set if [`Sender::is_in_order`] is known to hold, and to have held when the current event began.
    in_order: bool,
    was_in_order: bool,
}

/// Pacing.
#[derive(Default, Debug)]
struct PacingState {
    /// Time from which the pacing rate allows the next packet.
    from: Time,
    /// Time of the last packet.
    last_send: Time,
}

/// Process of the application.
#[derive(Default, Debug)]
struct Process {
    /// Next write.
    at: Alarm,
    /// Set while the process runs.
    woken: bool,
    /// Set if the process runs only until it has sent one segment.
    interrupted: bool,
    /// Bytes of a message that are pushed at a time (`push_half_window`).
    pushed: u64,
    /// Ends of writes not yet sent; only if segments carry them (`push_ack`).
    writes: VecDeque<u64>,
}

/// Timers beside that of retransmissions.
#[derive(Default, Debug)]
struct Timers {
    /// Pacing, and late segments.
    pace: Alarm,
    /// The controller's.
    wake: Alarm,
    /// Tick of the retransmission timer, and its number among the host's timers, if timers of a tick fire in reverse
    /// order of setting.
    order: Option<(Time, u64)>,
}

/// Counters for the flow's record.
#[derive(Default, Debug)]
struct SenderStats {
    /// Timeouts, measured.
    timeouts: u64,
    /// Time at which all data was acknowledged.
    finished: Option<Time>,
    /// Time at which its stop cut the flow short: all that was written was acknowledged, or it was reset.
    stopped: Option<Time>,
    /// Bytes written by former connections, and their smallest RTT.
    written: u64,
    rtt_min: Option<Time>,
}

/// Sequence numbers of sent data (RFC 9293 section 3.3.1).
#[derive(Default, Debug)]
struct SendSequence {
    /// First unacknowledged byte (SND.UNA), and first unsent byte (SND.NXT).
    una: u64,
    nxt: u64,
    /// End of the last segment sent.
    sent_to: u64,
}

impl SendSequence {
    /// Bytes sent and not acknowledged.
    fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// Takes an acknowledgement up to `ack`.
    #[inline(always)]
    fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
        self.sent_to = self.sent_to.max(ack);
    }
}

/// TCP sender. Fields of a [predicted](prediction) ACK come first, line by line, rarer ones last.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Sender {
    /// IP layer below.
    pub ip: IpSource,
    snd: SendSequence,
    peer: PeerWindow,
    timer: RetransmissionTimer,
    pacing: PacingState,
    rtt: RttEstimator,
    transport: u32,
    /// Payload of a full segment, in bytes.
    mss: u32,
    prediction: Prediction,
    output: Output,
    app: AppState,
    samples: Samples,

    profile: Profile,
    board: Scoreboard,
    cc: Cc,

    /// State of the connection.
    pub connection: Connection,
    duplex: Duplex,
    recovery: LossRecovery,
    ecn: EcnState,
    closing: Closing,
    usage: WindowUsage,
    timers: Timers,
    process: Process,
    opening: Opening,
    stats: SenderStats,
}

/// Cache lines of a sender that a predicted ACK reads and writes: offsets and numbers.
pub const HOT: [(usize, usize); 2] = [(0, 5), (512, 4)];

/// Offsets of fields that [`Sender::snapshot`] reads beyond these lines.
pub const SNAPSHOT: [usize; 4] = [
    offset_of!(Sender, connection),
    offset_of!(Sender, recovery),
    offset_of!(Sender, opening),
    offset_of!(Sender, stats) + offset_of!(SenderStats, finished),
];

// lines of the sender itself, and those of scoreboard and controller
const _: () = assert!(offset_of!(Sender, samples) + Samples::HOT <= HOT[0].1 * 64);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(offset_of!(Sender, board) + Scoreboard::HOT == HOT[1].0);

impl Sender {
    /// Sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Sender {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let config = &net.spec.controllers[spec.controller as usize];
        let profile = config.profile();
        let of_segments =
            t.timing.segment_rtt && t.timing.timestamps && t.loss.scoreboard != Rules::Ns3 && !profile.own_recovery;
        let extra = t.output.extra_packets as u64 * t.sizes.mss as u64;
        let start = Start { at: spec.start, stop: spec.stop, extra, seed: net.spec.seed, flow };
        let mut sender = Sender {
            ip: IpSource::new(net, flow, host, profile.telemetry),
            snd: SendSequence::default(),
            peer: PeerWindow::default(),
            timer: RetransmissionTimer::new(),
            pacing: PacingState::default(),
            rtt: RttEstimator::new(t),
            transport: spec.transport,
            mss: t.sizes.mss,
            prediction: Prediction::default(),
            output: Output::new(t, &profile),
            app: AppState::new(spec.app, start),
            samples: Samples::new(spec.group, of_segments),
            board: scoreboard(t, &profile, of_segments),
            cc: config.build(&net.envs.env(flow)),
            profile,
            connection: Connection::Closed,
            duplex: Duplex::default(),
            recovery: LossRecovery::new(t),
            ecn: EcnState::default(),
            closing: Closing::default(),
            usage: WindowUsage::default(),
            timers: Timers::default(),
            process: Process::default(),
            opening: Opening::new(net, flow),
            stats: SenderStats::default(),
        };
        sender.take_fast_paths(t);
        sender
    }

    /// Makes the flow one direction of a two-way connection. `tcb`: index of the control block; `passive`: the other
    /// host opens it.
    pub fn make_duplex(&mut self, tcb: u32, passive: bool) {
        self.duplex = Duplex { tcb, passive };
        self.ip.flags |= flag::DUPLEX;
    }

    /// Adds the sender's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        self.opening.record(record);
        record.written = self.stats.written + self.app.written;
        record.finish_ps = self.stats.finished.filter(|_| self.stats.stopped.is_none()).map(|t| t.0);
        record.stopped_ps = self.stats.stopped.map(|t| t.0);
        record.timeouts = self.stats.timeouts;
        record.rtt_count = self.samples.counted.count;
        record.rtt_sum_ps = self.samples.counted.sum.0;
        record.rtt_min_ps = self.rtt.min().into_iter().chain(self.stats.rtt_min).min().map(|t| t.0);
    }

    /// Bytes of the application that are acknowledged in order.
    pub fn acked(&self) -> u64 {
        self.stats.written + self.snd.una
    }

    /// Returns whether all that was sent is acknowledged, and no timer is set again.
    pub fn is_at_rest(&self) -> bool {
        let quiet = self.timer.is_off() && self.timers.wake.is_off() && self.cc.wake_at() == NEVER;
        quiet && self.connection == Connection::Open && self.snd.una >= self.snd.nxt
    }

    /// Visits the state for time series: sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("cwnd_bytes", self.window());
        visit("ssthresh_bytes", self.cc.ssthresh());
        visit("in_flight_bytes", self.board.pipe() as f64);
        visit("offered_bytes", self.peer.edge.saturating_sub(self.snd.una) as f64);
        visit("acked_bytes", (self.stats.written + self.snd.una) as f64);
        if self.rtt.min().is_some() {
            visit("rtt_s", self.rtt.latest.as_secs_f64());
            visit("srtt_s", self.rtt.srtt.as_secs_f64());
        }
        self.cc.state(visit);
    }

    /// Window and state, once the flow has opened.
    pub fn snapshot(&self) -> Option<(Option<u64>, FlowState)> {
        self.opening.opened()?;
        let over = matches!(self.connection, Connection::Done | Connection::Dead) || self.stats.finished.is_some();
        let state = match self.recovery.phase {
            _ if over => FlowState::Done,
            Phase::Loss => FlowState::Timeout,
            Phase::Recovery => FlowState::Recovery,
            Phase::Open | Phase::Cwr if self.cc.in_slow_start() => FlowState::SlowStart,
            Phase::Open | Phase::Cwr => FlowState::Avoidance,
        };
        let window = self.window();
        Some((window.is_finite().then(|| libm::round(window) as u64), state))
    }

    /// Prefetches what an acknowledgement touches beyond the sender itself.
    #[inline]
    pub fn prefetch_board(&self) {
        self.board.prefetch();
    }
}

/// Scoreboard of a transport; `timed`: RTT samples are taken per segment.
fn scoreboard(t: &TransportSpec, profile: &Profile, timed: bool) -> Scoreboard {
    match t.loss.scoreboard {
        _ if let Some(late) = profile.late.filter(|_| t.loss.sack && profile.own_recovery) => {
            Scoreboard::waiting_for_late(late.trigger)
        }
        Rules::Ns3 => Scoreboard::of_ns3(t.sizes.mss),
        Rules::Rack => {
            let board = Scoreboard::with_times(true).reordering(t.loss.reordering_timer, t.loss.adaptive_reordering);
            if profile.delivery { board.sampling() } else { board }
        }
        _ if profile.delivery => Scoreboard::default().sampling(),
        _ if timed || t.loss.tail_loss_probe => Scoreboard::with_times(false),
        _ => Scoreboard::default(),
    }
}
