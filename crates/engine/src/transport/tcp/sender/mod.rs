//! The sending half of a flow.
//!
//! States follow the connection (closed, SYN sent, open, done) and, while open, loss recovery
//! ([`incast_cc::Phase`]). The congestion window belongs to the controller; during fast
//! recovery and ECN reductions of controllers without a recovery of their own, the transport
//! stands a recovery window in front of it (NewReno's inflated window, or PRR).

mod ack;
mod connection;
mod ecn;
mod fast_recovery;
mod frto;
mod late;
mod loss;
mod ns3;
mod output;
mod pacing;
mod process;
mod prr;
mod rack;
mod reno_sack;
mod renumbering;
mod rto;
mod samples;
mod tlp;
mod undo;
mod window_usage;

pub use connection::Connection;

use super::rtt::{RttEstimator, STAMP};
use super::scoreboard::{Hole, Scoreboard};
use crate::event::order::TimerKind;
use crate::event::packet::{Ext, Packet, STAMPS, Telemetry, flag};
use crate::host::app::{AppState, Write};
use crate::host::messages::NO_HALF;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{App, AtStop, Done, LossFlight, PacingSpec, Recovery, Rules, TransportSpec};
use crate::transport::ip::IpSource;
use crate::transport::timer::{fires_at, scanned_at};
use crate::transport::{Opening, Turn};
use incast_cc::{
    Ack, Bytes, Cc, Congestion, Controller, Ecn, Hop, Idle, Pacing, Phase, Profile, Rate, Round, TcpAck, Time, Timeout,
};
use incast_record::{FlowRecord, MessageKind, MessageRecord, Recorder};
use std::collections::VecDeque;

use ack::News;
use connection::{Closing, PeerWindow};
use ecn::EcnState;
use fast_recovery::RecoveryState;
use frto::Frto;
use pacing::PacingState;
use process::Process;
use prr::Prr;
use renumbering::Renumbering;
use rto::{Timer, Waiting};
use samples::Samples;
use tlp::Tlp;
use undo::Undo;
use window_usage::WindowUsage;

const NEVER: u64 = u64::MAX;
/// IP and TCP header without options.
const BARE: u32 = 40;

/// Counters for the flow's record.
#[derive(Clone, Default, Debug)]
struct SenderStats {
    /// Timeouts, measured.
    timeouts: u64,
    /// RTT samples, measured.
    rtt_count: u64,
    /// Their sum, ps.
    rtt_sum: u64,
    /// All data acknowledged at the sender, ps.
    finished: Option<u64>,
}

/// A sender.
#[derive(Debug)]
pub struct Sender {
    /// What it puts on its host's NIC.
    pub(in crate::transport) ip: IpSource,
    transport: u32,
    group: u32,
    /// Where the connection stands.
    pub connection: Connection,
    /// Index of the probe observing this flow, if any.
    pub probe: Option<u32>,
    /// First byte not acknowledged, and first not sent.
    una: u64,
    nxt: u64,
    /// End of the segment sent last.
    sent_to: u64,
    board: Scoreboard,
    peer: PeerWindow,
    cc: Cc,
    profile: Profile,
    ecn: EcnState,
    rtt: RttEstimator,
    samples: Samples,
    phase: Phase,
    recovery: RecoveryState,
    prr: Prr,
    frto: Frto,
    undo: Undo,
    tlp: Tlp,
    renumbering: Renumbering,
    /// Only what is lost goes now.
    repairs_only: bool,
    usage: WindowUsage,
    timer: Timer,
    pacing: PacingState,
    /// The controller's timer that is set.
    wake_at: u64,
    app: AppState,
    process: Process,
    closing: Closing,
    /// Its host's side of a two-way connection, or [`NO_HALF`].
    half: u32,
    /// Opened by the other side of a two-way connection.
    passive: bool,
    opening: Opening,
    stats: SenderStats,
}

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: u32, host: u32) -> Sender {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let config = &net.spec.controllers[spec.controller as usize];
        let profile = config.profile();
        let samples = Samples::new(t, &profile);
        let inflates = t.recovery == Recovery::Htsim && !t.sack;
        Sender {
            ip: IpSource::new(net, flow, host, profile.telemetry),
            transport: spec.transport,
            group: spec.group,
            connection: Connection::Closed,
            probe: None,
            una: 0,
            nxt: 0,
            sent_to: 0,
            board: scoreboard(t, &profile, samples.of_segments),
            peer: PeerWindow::default(),
            cc: config.build(&net.envs[flow as usize]),
            profile,
            ecn: EcnState::new(t.ecn.unwrap_or(profile.ecn)),
            rtt: RttEstimator::new(t),
            samples,
            phase: Phase::Open,
            recovery: RecoveryState { dupthresh: t.dupthresh, inflates, ..RecoveryState::default() },
            prr: Prr::default(),
            frto: Frto::default(),
            undo: Undo::default(),
            tlp: Tlp::default(),
            renumbering: Renumbering::default(),
            repairs_only: false,
            usage: WindowUsage::default(),
            timer: Timer::default(),
            pacing: PacingState::default(),
            wake_at: NEVER,
            app: AppState::new(spec.app, spec.stop, t.extra_packets as u64 * t.mss as u64),
            process: Process::default(),
            closing: Closing::default(),
            half: NO_HALF,
            passive: false,
            opening: Opening::new(net, flow),
            stats: SenderStats::default(),
        }
    }

    /// Makes it half of a two-way connection: `half` is its host's side; `passive` if the other
    /// host opens it.
    pub fn join(&mut self, half: u32, passive: bool) {
        self.half = half;
        self.passive = passive;
        self.ip.flags |= flag::JOINED;
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        self.opening.record(record);
        record.written = self.app.written;
        record.finish_ps = self.stats.finished;
        record.timeouts = self.stats.timeouts;
        record.rtt_count = self.stats.rtt_count;
        record.rtt_sum_ps = self.stats.rtt_sum;
        record.rtt_min_ps = self.rtt.min;
    }

    /// Shows the state that time series are made of. Sizes in bytes, times in seconds.
    pub fn observe(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("cwnd_bytes", self.window());
        visit("ssthresh_bytes", self.cc.ssthresh());
        visit("in_flight_bytes", self.board.pipe() as f64);
        visit("acked_bytes", self.una as f64);
        if self.rtt.min.is_some() {
            visit("rtt_s", self.rtt.latest as f64 * 1e-12);
            visit("srtt_s", self.rtt.srtt as f64 * 1e-12);
        }
        self.cc.state(visit);
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
