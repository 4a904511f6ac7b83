//! The sending half of a flow.
//!
//! States follow the connection (closed, SYN sent, open, done) and, while open, loss recovery
//! ([`incast_cc::Phase`]). The congestion window belongs to the controller; during fast
//! recovery and ECN reductions of controllers without a recovery of their own, the transport
//! stands a recovery window in front of it (NewReno's inflated window, or PRR).

mod acks;
mod guesses;
mod output;
mod probes;
mod recovery;
mod reduction;
mod timers;
mod undo;
mod writes;

use super::rtt::{RttEstimator, STAMP};
use super::scoreboard::{Hole, Scoreboard};
use crate::event::order::TimerKind;
use crate::event::outbox::Outbox;
use crate::event::packet::{Ext, Packet, STAMPS, Telemetry, flag};
use crate::host::app::{AppState, Write};
use crate::host::messages::NO_HALF;
use crate::map::fabric::FabricMap;
use crate::node::io::Io;
use crate::spec::{App, AtStop, Done, LossFlight, PacingSpec, Recovery, Rules, TransportSpec};
use crate::transport::ip::IpSource;
use crate::transport::timer::{fires_at, scanned_at};
use crate::transport::{Opening, Turn};
use incast_cc::{
    Ack, Bytes, Cc, Congestion, Controller, Ecn, Hop, Idle, Pacing, Phase, Profile, Rate, Round, TcpAck, Time, Timeout,
};
use incast_record::{FlowRecord, MessageKind, MessageRecord, Recorder};
use std::collections::VecDeque;

const NEVER: u64 = u64::MAX;
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
}

/// What the retransmission timer is waiting for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    Ack,
    Window,
    /// A tail-loss probe is to go.
    Probe,
    /// Overtaken segments may still arrive.
    Reordering,
}

#[derive(Clone, Copy, Default, Debug)]
struct Prr {
    delivered: u64,
    out: u64,
    /// What the share is taken of: the flight at the start, or (Linux) the window then.
    recover_fs: u64,
    ssthresh: f64,
}

/// What an acknowledgement says, bytes.
#[derive(Clone, Copy)]
struct News {
    acked: u64,
    /// It counts as a duplicate.
    duplicate: bool,
    /// Newly acknowledged or SACKed.
    delivered: u64,
    newly_sacked: u64,
    /// Something that it acknowledges had been sent again.
    was_retransmitted: bool,
    /// The time stamp that it echoes, ps; [`NEVER`] without time stamps.
    echoed: u64,
}

/// What tells whether the latest reduction was a mistake (RFC 3708, RFC 4015).
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// First unacknowledged byte at the reduction; [`NEVER`] where there is none to undo.
    marker: u64,
    /// Segments sent again since, less those that duplicate SACKs report; below 0 before the first.
    again: i32,
    /// When the first of them was sent, ps; [`NEVER`] before.
    first_at: u64,
    /// A mark, or a reduction that was under way, called for it: the window stays as it is.
    due: bool,
}

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
    una: u64,
    nxt: u64,
    board: Scoreboard,
    /// RTT samples are of segments (Linux).
    segment_rtt: bool,
    /// Right edge of the peer's window.
    edge: u64,
    /// Largest window the peer ever offered.
    max_wnd: u64,
    cc: Cc,
    profile: Profile,
    ecn: Ecn,
    rtt: RttEstimator,
    phase: Phase,
    recover: u64,
    dupacks: u32,
    /// As many duplicates signal a loss where SACK does not tell.
    dupthresh: u32,
    /// Sent by limited transmit since the first duplicate, bytes.
    limited: u64,
    /// Recovery window, bytes.
    recovery_window: f64,
    prr: Prr,
    partial_acks: u32,
    /// Delivered bytes that make no whole segment yet, where rate reduction counts segments.
    left_over: u32,
    /// The ACK at work made one.
    whole_segment: bool,
    rescued: bool,
    /// A timeout gave up what lies between: all but the first goes again as new data. Both zero where nothing does.
    renumbered: (u64, u64),
    /// Such data was lost for good.
    hung: bool,
    /// The recovery window is what the controller's is inflated by.
    inflates: bool,
    cwr_end: u64,
    send_cwr: bool,
    /// ns-3's state of ECN-Echo: heard and not yet answered with CWR; where it was last heard, and
    /// the segment that last said CWR.
    echo: bool,
    echo_at: u64,
    cwr_at: u64,
    consecutive: u32,
    /// A loss was found with the ACK at work.
    newly_lost: bool,
    /// The timeout may have been spurious: new data is to tell (RFC 5682).
    frto: bool,
    /// ... and goes before anything is sent again.
    new_first: bool,
    /// Only what is lost goes now.
    repairs_only: bool,
    undo: Undo,
    /// Where the data ended when a tail-loss probe went whose outcome is open; 0 where none is.
    probe_to: u64,
    /// It was old data.
    probed_again: bool,
    /// Nothing is repaired, but something is SACKed or was sent again (Linux: Disorder).
    disorder: bool,
    /// The window, not data or receiver, ended the latest burst.
    cwnd_blocked: bool,
    /// ... or one of the round trip that ends at `usage_end`.
    was_limited: bool,
    /// Outstanding then, or the most outstanding if the window did not limit.
    max_out: u64,
    usage_end: u64,
    /// Where writes of the application end, not sent yet; only where segments say so (`push_ack`).
    writes: VecDeque<u64>,
    /// ACKs up to here are no RTT samples: a timeout declared it lost.
    no_sample_to: u64,
    /// A segment timed for Karn's rule: its end, and when it was sent.
    timed: Option<(u64, u64)>,
    last_send: u64,
    pace_from: u64,
    /// What is sent now opens a fast recovery or follows a timeout.
    restarting: bool,
    waiting: Waiting,
    persist_backoff: u32,
    deadline: u64,
    timer_at: u64,
    /// Where timers of a tick fire in the reverse of their order: the tick of this one, [`NEVER`]
    /// before it is set, and its number among its host's.
    slot: u64,
    setting: u64,
    pace_at: u64,
    /// The controller's timer that is set.
    wake_at: u64,
    app_at: u64,
    app: AppState,
    /// The application runs.
    woken: bool,
    /// ... but only until it has sent a segment.
    interrupted: bool,
    /// FIN was sent: as a segment of its own after the data, or on the last of it.
    fin: bool,
    /// Its host's side of a two-way connection, or [`NO_HALF`].
    half: u32,
    /// Opened by the other side of a two-way connection.
    passive: bool,
    /// End of the segment sent last.
    sent_to: u64,
    /// The receiving application closed before the flow's end,
    peer_closed: bool,
    /// ... when everything had been sent once.
    peer_closed_last: bool,
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
        let segment_rtt = t.segment_rtt && t.timestamps && t.scoreboard != Rules::Ns3 && !profile.own_recovery;
        Sender {
            ip: IpSource::new(net, flow, host, profile.telemetry),
            transport: spec.transport,
            group: spec.group,
            connection: Connection::Closed,
            probe: None,
            una: 0,
            nxt: 0,
            board: match t.scoreboard {
                _ if let Some(late) = profile.late.filter(|_| t.sack && profile.own_recovery) => {
                    Scoreboard::waiting_for_late(late.trigger)
                }
                Rules::Ns3 => Scoreboard::of_ns3(t.mss),
                Rules::Rack => {
                    let board = Scoreboard::with_times(true).reordering(t.reordering_timer, t.adaptive_reordering);
                    if profile.delivery { board.sampling() } else { board }
                }
                _ if profile.delivery => Scoreboard::default().sampling(),
                _ if segment_rtt || t.tail_loss_probe => Scoreboard::with_times(false),
                _ => Scoreboard::default(),
            },
            segment_rtt,
            edge: 0,
            max_wnd: 0,
            cc: config.build(&net.envs[flow as usize]),
            profile,
            ecn: t.ecn.unwrap_or(profile.ecn),
            rtt: RttEstimator::new(t),
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            dupthresh: t.dupthresh,
            limited: 0,
            recovery_window: 0.0,
            prr: Prr::default(),
            partial_acks: 0,
            left_over: 0,
            whole_segment: false,
            rescued: false,
            renumbered: (0, 0),
            inflates: t.recovery == Recovery::Htsim && !t.sack,
            hung: false,
            cwr_end: 0,
            send_cwr: false,
            echo: false,
            echo_at: 0,
            cwr_at: 0,
            consecutive: 0,
            newly_lost: false,
            frto: false,
            new_first: false,
            repairs_only: false,
            undo: Undo { marker: NEVER, again: -1, first_at: NEVER, due: false },
            probe_to: 0,
            probed_again: false,
            disorder: false,
            cwnd_blocked: false,
            was_limited: false,
            max_out: 0,
            usage_end: 0,
            writes: VecDeque::new(),
            no_sample_to: 0,
            timed: None,
            last_send: 0,
            pace_from: 0,
            restarting: false,
            waiting: Waiting::Ack,
            persist_backoff: 0,
            deadline: NEVER,
            timer_at: NEVER,
            slot: NEVER,
            setting: 0,
            pace_at: NEVER,
            wake_at: NEVER,
            app_at: NEVER,
            app: AppState::new(spec.app, spec.stop, t.extra_packets as u64 * t.mss as u64),
            woken: false,
            interrupted: false,
            fin: false,
            half: NO_HALF,
            passive: false,
            sent_to: 0,
            peer_closed: false,
            peer_closed_last: false,
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

    /// Its trigger opens it, unless its start is yet to come.
    pub fn open<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if self.opening.triggered(io.now) {
            self.start(io);
        }
    }

    /// Brings near what an acknowledgement touches beyond the sender itself.
    #[inline]
    pub fn prefetch_board(&self) {
        self.board.prefetch();
    }

    /// The flow opens.
    fn start<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        let spec = io.net.flow(self.ip.flow);
        if spec.stop != Time::NEVER && spec.stop.0 > io.now {
            io.timer(spec.stop.0, TimerKind::Stop, self.ip.flow);
        } else if spec.stop.0 <= io.now {
            self.connection = Connection::Dead;
            return;
        }
        if self.passive {
            return;
        }
        if t.handshake || t.lone_syn {
            self.connection = Connection::SynSent;
            self.send_syn(io);
        } else {
            self.edge = t.receive_buffer;
            self.max_wnd = t.receive_buffer;
            self.establish(io);
        }
    }

    fn send_syn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        self.emit(io, 0, 0, flag::SYN, t.syn_size);
        let wait = t.syn_timeout.0.saturating_mul(1 << self.consecutive.min(20));
        self.arm_in(io, t, wait);
    }

    /// A packet of its two-way connection reached this host: one for it, or one of the other flow, which opens this
    /// flow if it is the first, and acknowledges it.
    pub fn on_packet_of_connection<O: Outbox, R: Recorder>(
        &mut self,
        io: &mut Io<O, R>,
        p: &Packet,
        ext: Option<&Ext>,
    ) {
        if p.has(flag::REVERSE) {
            if let Some(ext) = ext.filter(|_| p.has(flag::SYN)) {
                // the SYN-ACK opens this side; what follows echoes its time stamp
                let half = &mut io.halves[self.half as usize];
                half.ext.ts = ext.ts;
                half.open = true;
            }
            return self.on_packet(io, p, ext);
        }
        if let Some(half) = io.halves.get_mut(self.half as usize) {
            half.rto_before = half.rto;
        }
        let Some(ext) = ext.filter(|_| p.has(flag::ACK)) else { return };
        if self.connection == Connection::Closed && self.passive {
            if p.has(flag::RST) {
                return;
            }
            let t = io.net.transport(self.transport);
            if t.handshake {
                self.take_rtt(io, ext.ts);
            }
            self.edge = p.wnd as u64;
            self.max_wnd = self.edge;
            self.establish(io);
            return;
        }
        let news = p.ack > self.una || p.has(flag::ECE) || ext.sack[0].0 < ext.sack[0].1;
        if self.connection == Connection::Open && (news || p.ack + p.wnd as u64 > self.edge) {
            let view = Packet { seq: ext.host, ts: ext.ts, aux: ext.hops, ..*p };
            self.acknowledged(io, &view, Some(ext));
        }
    }

    /// A packet wakes the application, which writes a message when its process runs.
    pub fn on_reply<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, bytes: u64) {
        if !io.net.transport(self.transport).wakeup {
            return self.on_message(io, bytes);
        }
        self.app.ask(bytes);
        let woken = &mut io.hosts[self.ip.host as usize].turns.woken;
        woken.push(self.ip.flow);
        let begins = woken.len() == 1;
        io.timer(io.now, TimerKind::Turn, self.ip.flow);
        if begins {
            // nothing runs yet: its process begins at once, and the next arrival interrupts it
            self.interrupted = true;
            self.pump(io);
            self.interrupted = false;
        }
    }

    /// The turn of the application that a packet woke, or of the retransmission timer, unless something stopped it at
    /// the last moment.
    pub fn on_turn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, turn: Turn) {
        if turn == Turn::Application {
            self.pump(io);
        } else if self.deadline <= io.now {
            self.deadline = NEVER;
            self.expired(io);
        }
    }

    fn establish<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        self.connection = Connection::Open;
        self.consecutive = 0;
        self.deadline = NEVER;
        self.app.open(io.now);
        self.publish_timeout(io);
        self.pump(io);
    }

    /// A lone SYN is one byte to the controller.
    fn syn_acked<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let latest = Some(Time(self.rtt.latest));
        self.cc.on_ack(&Ack {
            now: Time(io.now),
            acked: 1,
            delivered: 1,
            rtt: latest,
            srtt: Time(self.rtt.srtt),
            fabric_delay: latest,
            endpoint_delay: Some(Time::ZERO),
            in_flight: 1,
            ..Ack::default()
        });
    }

    /// The application's stop time has come.
    pub fn stop<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if matches!(self.connection, Connection::Done | Connection::Dead) {
            return;
        }
        match io.net.flow(self.ip.flow).at_stop {
            AtStop::Drain if self.connection == Connection::Open => {
                self.catch_up(io);
                self.app.stop();
                self.pump(io);
                self.check_finished(io);
            }
            AtStop::Drain => {
                self.connection = Connection::Dead;
                self.deadline = NEVER;
            }
            AtStop::Reset => {
                let t = io.net.transport(self.transport);
                let size = t.ack_size;
                self.emit(io, self.nxt, 0, flag::RST, size);
                self.connection = Connection::Dead;
                self.deadline = NEVER;
            }
        }
    }

    /// A packet for the sender: SYN-ACK, or an acknowledgement.
    pub fn on_packet<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&Ext>) {
        if p.has(flag::RST) {
            self.connection = Connection::Dead;
            self.deadline = NEVER;
            return;
        }
        match self.connection {
            Connection::SynSent if p.has(flag::SYN | flag::ACK) => {
                let t = io.net.transport(self.transport);
                if self.consecutive == 0 {
                    self.take_rtt(io, p.ts);
                }
                self.edge = p.wnd as u64;
                self.max_wnd = self.edge;
                if t.lone_syn {
                    self.syn_acked(io);
                } else {
                    self.emit(io, 0, 0, flag::ACK, t.ack_size);
                }
                self.establish(io);
            }
            Connection::Open if p.has(flag::ACK) && !p.has(flag::SYN) => {
                if let Some(entropy) = &mut self.ip.entropy {
                    entropy.on_ack(Time(io.now), p.entropy(), p.has(flag::ECE));
                }
                if self.peer_closed && self.fin {
                    // nobody waits for the rest: what the ACK says no longer matters
                    self.connection = Connection::Dead;
                    self.deadline = NEVER;
                } else if p.has(flag::FIN) && !(self.fin && Some(p.ack) == self.app.end().map(|e| e + 1)) {
                    self.peer_closed = true;
                    self.peer_closed_last = self.fin;
                    let t = io.net.transport(self.transport);
                    self.emit(io, self.nxt, 0, flag::ACK, t.ack_size);
                } else {
                    self.acknowledged(io, p, ext);
                }
            }
            Connection::Open if !p.has(flag::ACK) && !p.has(flag::ECE) => {
                self.repair_trimmed(io, p.ack);
            }
            Connection::Open if !p.has(flag::ACK) => {
                self.cc.on_cnp(Time(io.now));
                self.watch_clock(io);
            }
            // TIME-WAIT is silent; after LAST-ACK there is no connection any more
            Connection::Dead if self.peer_closed && !self.peer_closed_last => {
                self.emit(io, p.ack, 0, flag::RST, BARE);
            }
            _ => {}
        }
        if p.has(flag::FIN) && self.connection == Connection::Done {
            let t = io.net.transport(self.transport);
            if t.fin_with_data {
                self.emit(io, self.una + 1, 0, flag::ACK, t.ack_size);
            }
        }
    }

    fn check_finished<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let Some(end) = self.app.end() else { return };
        if self.hung || self.una < end || self.app.written < end || self.connection != Connection::Open {
            return;
        }
        if self.stats.finished.is_none() {
            self.stats.finished = Some(io.now);
            if self.app.is_finite() {
                io.rec.finish(io.now);
            }
            io.announce(self.ip.flow, Done::Sent);
        }
        let t = io.net.transport(self.transport);
        if !t.handshake {
            self.connection = Connection::Done;
        } else if t.fin_with_data {
            // the answer to the peer's own FIN is sent when that comes
            if self.fin && self.una >= self.nxt {
                self.connection = Connection::Done;
            }
        } else if self.fin && self.una > end {
            self.connection = Connection::Done;
            self.emit(io, self.nxt, 0, flag::ACK, t.ack_size);
        }
        if self.connection == Connection::Done {
            self.deadline = NEVER;
        }
    }
}
