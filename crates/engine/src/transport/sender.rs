//! The sending half of a flow.
//!
//! States follow the connection (closed, SYN sent, open, done) and, while open, loss recovery
//! ([`incast_cc::Phase`]). The congestion window belongs to the controller; during fast
//! recovery and ECN reductions of controllers without a recovery of their own, the transport
//! stands a recovery window in front of it (NewReno's inflated window, or PRR).

use super::rtt::RttEstimator;
use super::scoreboard::{Hole, Scoreboard};
use super::timer::fires_at;
use crate::app::{AppState, Write};
use crate::io::{Io, Outbox};
use crate::messages::NO_HALF;
use crate::net::Net;
use crate::order::TimerKind;
use crate::packet::{Ext, NO_EXT, Packet, flag};
use crate::spec::{App, AtStop, LossFlight, PacingSpec, Recovery, Rules, TransportSpec};
use incast_cc::{Ack, Cc, Congestion, Controller, Ecn, Idle, Pacing, Phase, Profile, Time, Timeout};
use incast_record::{MessageKind, MessageRecord, Recorder};
use std::collections::VecDeque;

const NEVER: u64 = u64::MAX;
/// IP header, which every fragment repeats (RFC 791 without options).
const IP_HEADER: u32 = 20;
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
pub struct SenderStats {
    /// Data segments sent.
    pub sent: u64,
    /// ... inside the measured interval.
    pub sent_m: u64,
    /// Segments sent again, measured.
    pub retransmissions: u64,
    /// Timeouts, measured.
    pub timeouts: u64,
    /// RTT samples, measured.
    pub rtt_count: u64,
    /// Their sum, ps.
    pub rtt_sum: u64,
    /// IP packets sent, measured.
    pub packets: u64,
    /// First of them, ps.
    pub first_tx: Option<u64>,
    /// All data acknowledged at the sender, ps.
    pub finished: Option<u64>,
}

/// A sender.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Flow number.
    pub flow: u32,
    /// Domain-local host.
    pub host: u32,
    transport: u32,
    dst: u32,
    /// Where the connection stands.
    pub connection: Connection,
    /// Index of the probe observing this flow, if any.
    pub probe: Option<u32>,
    base_flags: u16,
    packets: u32,
    una: u64,
    nxt: u64,
    board: Scoreboard,
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
    undo: Undo,
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
    app_at: u64,
    app: AppState,
    /// The application runs.
    woken: bool,
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
    /// Counters.
    pub stats: SenderStats,
}

impl Sender {
    /// The sender of flow `flow` on domain-local host `host`.
    pub fn new(net: &Net, flow: u32, host: u32) -> Sender {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let config = &net.spec.controllers[spec.controller as usize];
        let profile = config.profile();
        let traced = net.spec.observe.trace.contains(&flow);
        Sender {
            flow,
            host,
            transport: spec.transport,
            dst: spec.dst,
            connection: Connection::Closed,
            probe: None,
            base_flags: if spec.path.is_some() { flag::PATH } else { 0 } | if traced { flag::TRACED } else { 0 },
            packets: 0,
            una: 0,
            nxt: 0,
            board: match t.scoreboard {
                Rules::Rfc6675 => Scoreboard::default(),
                Rules::Rack => Scoreboard::with_rack(),
                Rules::Ns3 => Scoreboard::of_ns3(t.mss),
            },
            edge: 0,
            max_wnd: 0,
            cc: config.build(&net.envs[flow as usize]),
            profile,
            ecn: t.ecn.unwrap_or(profile.ecn),
            rtt: RttEstimator::new(t),
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            limited: 0,
            recovery_window: 0.0,
            prr: Prr::default(),
            partial_acks: 0,
            left_over: 0,
            whole_segment: false,
            rescued: false,
            cwr_end: 0,
            send_cwr: false,
            echo: false,
            echo_at: 0,
            cwr_at: 0,
            consecutive: 0,
            newly_lost: false,
            frto: false,
            new_first: false,
            undo: Undo { marker: NEVER, again: -1, first_at: NEVER, due: false },
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
            app_at: NEVER,
            app: AppState::new(spec.app, spec.stop, t.extra_packets as u64 * t.mss as u64),
            woken: false,
            fin: false,
            half: NO_HALF,
            passive: false,
            sent_to: 0,
            peer_closed: false,
            peer_closed_last: false,
            stats: SenderStats::default(),
        }
    }

    /// Makes it half of a two-way connection: `half` is its host's side; `passive` if the other
    /// host opens it.
    pub fn join(&mut self, half: u32, passive: bool) {
        self.half = half;
        self.passive = passive;
        self.base_flags |= flag::JOINED;
    }

    /// Bytes the application has written.
    pub fn written(&self) -> u64 {
        self.app.written
    }

    /// Smallest RTT sample, ps.
    pub fn min_rtt(&self) -> Option<u64> {
        self.rtt.min
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

    // ---- connection --------------------------------------------------------------------------

    /// The flow opens.
    pub fn start<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        let spec = io.net.flow(self.flow);
        if spec.stop != Time::NEVER && spec.stop.0 > io.now {
            io.timer(spec.stop.0, TimerKind::Stop, self.flow);
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
            self.open(io);
        }
    }

    fn send_syn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        self.emit(io, 0, 0, flag::SYN, t.syn_size);
        let wait = t.syn_timeout.0.saturating_mul(1 << self.consecutive.min(20));
        self.arm_in(io, t, wait);
    }

    /// A packet of the other flow of a two-way connection reached this host: it opens this flow if
    /// it is the first, and acknowledges it.
    pub fn receive_joined<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&Ext>) {
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
            self.open(io);
            return;
        }
        let news = p.ack > self.una || p.has(flag::ECE) || ext.sack[0].0 < ext.sack[0].1;
        if self.connection == Connection::Open && (news || p.ack + p.wnd as u64 > self.edge) {
            let view = Packet { ts: ext.ts, aux: ext.hops, ..*p };
            self.acknowledged(io, &view, Some(ext));
        }
    }

    /// Two-way connections: the SYN-ACK opens this side; what follows echoes its time stamp.
    pub fn heard<O, R>(&self, io: &mut Io<O, R>, ext: &Ext) {
        let half = &mut io.halves[self.half as usize];
        half.ext.ts = ext.ts;
        half.open = true;
    }

    /// Writes a message. What does not fit into the send buffer follows as it drains.
    pub fn write<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, bytes: u64) {
        self.app.ask(bytes);
        self.pump(io);
    }

    /// A packet wakes the application, which writes a message when its process runs.
    pub fn answer<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, bytes: u64) {
        if !io.net.transport(self.transport).wakeup {
            return self.write(io, bytes);
        }
        self.app.ask(bytes);
        io.hosts[self.host as usize].turns.woken.push(self.flow);
        io.timer(io.now, TimerKind::Turn, self.flow);
    }

    /// The turn of the application that a packet woke.
    pub fn take_turn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        self.pump(io);
    }

    /// The turn of the retransmission timer, unless something stopped it at the last moment.
    pub fn expire<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if self.deadline <= io.now {
            self.deadline = NEVER;
            self.expired(io);
        }
    }

    /// Closed-loop writes that are acknowledged now.
    #[cold]
    fn complete_writes<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        while let Some(write) = self.app.completed(self.una, io.now) {
            let message = self.write_record(io.net, write, Some(io.now));
            io.rec.message(message);
        }
    }

    /// Closed-loop writes that the end of the run leaves unfinished.
    pub fn leave_writes<R: Recorder>(&self, net: &Net, rec: &mut R) {
        for write in self.app.under_way() {
            rec.message(self.write_record(net, write, None));
        }
    }

    fn write_record(&self, net: &Net, write: Write, finish_ps: Option<u64>) -> MessageRecord {
        let spec = net.flow(self.flow);
        MessageRecord {
            kind: MessageKind::Write,
            group: spec.group,
            host: spec.src,
            flow: self.flow,
            number: write.number,
            workers: 1,
            bytes: if let App::ClosedLoop { write, .. } = spec.app { write } else { 0 },
            start_ps: write.begun,
            finish_ps,
            timeouts: 0,
        }
    }

    fn open<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        self.connection = Connection::Open;
        self.consecutive = 0;
        self.deadline = NEVER;
        self.app.open(io.now);
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
            hops: 0,
            ece: false,
            in_flight: 1,
            una: 0,
            nxt: 0,
            sent_to: 0,
            cwnd_limited: true,
            phase: Phase::Open,
        });
    }

    /// The application's stop time has come.
    pub fn stop<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if matches!(self.connection, Connection::Done | Connection::Dead) {
            return;
        }
        match io.net.flow(self.flow).at_stop {
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
    pub fn receive<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&Ext>) {
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
                self.open(io);
            }
            Connection::Open if p.has(flag::ACK) && !p.has(flag::SYN) => {
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

    // ---- sending -----------------------------------------------------------------------------

    /// Puts one IP packet (or its fragments) on the host's NIC.
    fn emit<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, seq: u64, len: u32, flags: u16, size: u32) {
        let t = io.net.transport(self.transport);
        let measured = io.measured();
        let control = len == 0;
        let ect = match self.ecn {
            Ecn::Off => false,
            Ecn::Classic => !control && flags & flag::RETX == 0,
            Ecn::Dctcp => !control || t.ect_control,
        };
        let mut flags = flags | self.base_flags;
        if ect {
            flags |= flag::ECT;
        }
        if measured {
            flags |= flag::MEASURED;
            self.stats.packets += 1;
            if self.stats.first_tx.is_none() {
                self.stats.first_tx = Some(io.now);
            }
        }
        if len > 0 {
            self.stats.sent += 1;
            self.stats.sent_m += measured as u64;
            self.stats.retransmissions += (measured && flags & flag::RETX != 0) as u64;
            if self.send_cwr && flags & flag::RETX == 0 {
                flags |= flag::CWR;
                self.send_cwr = false;
            }
        }
        let mut packet = Packet {
            time: 0,
            seq,
            ack: 0,
            ts: io.now,
            link: 0,
            flow: self.flow,
            dst: self.dst,
            wnd: 0,
            id: self.packets,
            ext: NO_EXT,
            size: size as u16,
            len: len as u16,
            flags,
            hop: 0,
            aux: 0,
        };
        self.packets = self.packets.wrapping_add(1);
        self.last_send = io.now;
        let ext = if flags & flag::JOINED == 0 { None } else { self.piggyback(io, &mut packet) };
        if t.mtu == 0 || size <= t.mtu {
            io.send(self.host, &packet, ext.as_ref());
            return;
        }
        // fragment payloads are multiples of 8 bytes (RFC 791)
        let per = (t.mtu - IP_HEADER) / 8 * 8;
        let payload = size - IP_HEADER;
        let last = payload.div_ceil(per) - 1;
        for i in 0..=last {
            let part = per.min(payload - i * per);
            let fragment = Packet { size: (part + IP_HEADER) as u16, aux: (i | last << 4) as u8, ..packet };
            io.send(self.host, &fragment, ext.as_ref());
        }
    }

    /// Two-way connections: the packet acknowledges what its host has received of the other half.
    #[cold]
    fn piggyback<O, R>(&self, io: &mut Io<O, R>, packet: &mut Packet) -> Option<Ext> {
        let t = io.net.transport(self.transport);
        let half = &mut io.halves[self.half as usize];
        if !half.open {
            return None;
        }
        half.owed = false;
        half.carried += 1;
        half.rto = self.rtt.rto();
        if t.pingpong && packet.len > 0 && half.heard_at.is_some_and(|at| io.now - at < t.delayed_ack_timeout.0) {
            half.pingpong = true;
        }
        packet.ack = half.ack;
        packet.wnd = half.wnd;
        packet.flags |= flag::ACK | if half.ece { flag::ECE } else { 0 };
        Some(half.ext)
    }

    fn send_segment<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, seq: u64, len: u32, again: bool) {
        let t = io.net.transport(self.transport);
        if t.scoreboard == Rules::Rack {
            self.board.stamp(seq, io.now);
        }
        let retx = if again { flag::RETX } else { 0 };
        if self.fin && Some(seq) == self.app.end() {
            self.emit(io, seq, 0, flag::DATA | flag::FIN | retx, t.ack_size);
        } else {
            let last = t.fin_with_data && t.handshake && Some(seq + len as u64) == self.app.end();
            self.fin |= last;
            let mut flags = flag::DATA | retx | if last { flag::FIN } else { 0 };
            if t.push_ack && self.ends_a_write(seq + len as u64) {
                flags |= flag::PSH;
            }
            self.emit(io, seq, len, flags, t.header + len);
        }
        self.sent_to = seq + len as u64;
        if matches!(self.phase, Phase::Recovery | Phase::Cwr) {
            self.prr.out += len as u64;
        }
        if again {
            if self.timed.is_some_and(|(end, _)| seq < end) {
                self.timed = None;
            }
        } else if self.timed.is_none() && !t.timestamps {
            self.timed = Some((seq + len as u64, io.now));
        }
        self.pace(io, len);
    }

    /// Whether a write of the application, or the flow, ends at `end`.
    fn ends_a_write(&mut self, end: u64) -> bool {
        let mut ends = Some(end) == self.app.end();
        while self.writes.front().is_some_and(|at| *at <= end) {
            ends = true;
            self.writes.pop_front();
        }
        ends
    }

    /// Accounts a sent packet to the pacing rate.
    #[inline]
    fn pace<O, R>(&mut self, io: &Io<O, R>, len: u32) {
        let t = io.net.transport(self.transport);
        let rate = match self.cc.pacing() {
            Pacing::Rate(rate) => rate,
            Pacing::Gap(_) => return,
            Pacing::None => match t.pacing {
                PacingSpec::Controller => return,
                PacingSpec::Window { max, restart_at_max: true, .. } if self.restarting => max.as_f64(),
                PacingSpec::Window { slow_start, avoidance, max, .. } => {
                    if self.rtt.srtt == 0 {
                        return;
                    }
                    // its last segment is: the sequence numbers count SYN
                    if ((self.nxt + 1) as f64) <= t.initial_window * t.mss as f64 {
                        return;
                    }
                    let window = self.window();
                    let factor = if window < self.cc.ssthresh() / 2.0 { slow_start } else { avoidance };
                    let window = window.max(self.board.pipe() as f64);
                    (factor * window * 8.0 / (self.rtt.srtt as f64 * 1e-12)).min(max.as_f64())
                }
            },
        };
        if rate > 0.0 {
            let gap = (len as f64 * 8e12 / rate) as u64;
            match t.pacing {
                // what goes in spite of pacing does not put off what waits for it
                PacingSpec::Window { .. } if self.pace_from > io.now => {}
                _ => self.pace_from = self.pace_from.max(io.now) + gap,
            }
        }
    }

    /// Earliest time the next packet may leave.
    #[inline]
    fn paced_until(&self) -> u64 {
        match self.cc.pacing() {
            Pacing::Gap(gap) if self.packets > 0 => self.last_send.saturating_add(gap.0),
            _ => self.pace_from,
        }
    }

    /// The congestion window in force, bytes.
    #[inline]
    fn window(&self) -> f64 {
        if self.window_is_ours() { self.recovery_window } else { self.cc.cwnd() }
    }

    /// The transport's recovery window stands in front of the controller's.
    #[inline]
    fn window_is_ours(&self) -> bool {
        match self.phase {
            Phase::Open | Phase::Loss => false,
            Phase::Recovery | Phase::Cwr => self.recovery_window >= 0.0,
        }
    }

    fn space(&self, t: &TransportSpec) -> u64 {
        (self.una + t.send_buffer).saturating_sub(self.app.written)
    }

    #[inline]
    fn catch_up<O, R>(&mut self, io: &Io<O, R>) {
        let space = self.space(io.net.transport(self.transport));
        self.app.catch_up(io.now, space);
    }

    /// Sends what windows, pacing and data allow, and notes whether the window limited it.
    fn pump<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if self.connection != Connection::Open {
            return;
        }
        let t = io.net.transport(self.transport);
        let before = self.nxt;
        self.send_allowed(io, t);
        if std::mem::take(&mut self.new_first) && self.nxt == before {
            self.frto = false;
            self.send_allowed(io, t);
        }
        if t.cwnd_limited {
            let full = self.pipe(t) + t.mss as u64;
            let limited = full as f64 > self.window() || self.cwnd_blocked;
            if (self.nxt > before || limited)
                && (self.una >= self.usage_end || limited || (!self.was_limited && self.nxt - self.una > self.max_out))
            {
                self.was_limited = limited;
                self.max_out = self.nxt - self.una;
                self.usage_end = self.nxt;
            }
        }
    }

    /// Bytes believed to be in the network. Without SACK, Linux takes a duplicate ACK for a segment that
    /// has left it.
    #[inline]
    fn pipe(&self, t: &TransportSpec) -> u64 {
        let pipe = self.board.pipe();
        if t.recovery == Recovery::Linux && !t.sack {
            return pipe.saturating_sub((self.dupacks * t.mss) as u64);
        }
        pipe
    }

    fn send_allowed<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        self.catch_up(io);
        if t.idle_restart && self.board.is_empty() && io.now > self.last_send.saturating_add(self.rtt.rto()) {
            let timeouts = ((io.now - self.last_send) / self.rtt.rto().max(1)).clamp(1, u32::MAX as u64) as u32;
            self.cc.on_idle(&Idle { now: Time(io.now), timeouts });
        }
        self.cwnd_blocked = false;
        loop {
            if !io.has_room(self.host, self.flow) {
                return;
            }
            let hole = if self.new_first { None } else { self.next_repair(t) };
            let len = match hole {
                Some(hole) if t.scoreboard != Rules::Ns3 => hole.len,
                // segments are cut anew from what is lost
                Some(hole) => (self.app.written - hole.seq).min(t.mss as u64) as u32,
                None => {
                    if self.app.written == self.nxt {
                        self.app.write_one(self.space(t), t.whole_writes);
                        if t.notsent_lowat > 0 && t.push_ack {
                            self.writes.push_back(self.app.written);
                        }
                    }
                    let unsent = self.app.written - self.nxt.min(self.app.written);
                    if unsent == 0 {
                        self.nothing_to_send(io);
                        return;
                    }
                    if t.mss as u64 <= unsent { t.mss } else { unsent as u32 }
                }
            };
            // congestion window; with nothing in flight one segment may always go
            let mut pipe = self.pipe(t);
            let mut window = self.window();
            if self.dupacks > 0
                && self.phase == Phase::Open
                && !self.profile.own_recovery
                && (t.recovery != Recovery::Linux || t.sack)
            {
                match (t.limited_transmit, t.sack) {
                    // RFC 3042: one segment beyond the window for each of the first two duplicates
                    (true, false) => window += (self.dupacks.min(2) * t.mss) as f64,
                    // what SACK took out of the pipe makes no room yet
                    (false, true) => pipe += self.board.sacked_bytes(),
                    _ => {}
                }
            }
            let must_fit = pipe > 0 || !(t.least_segment || self.profile.own_recovery);
            if must_fit && (pipe + len as u64) as f64 > window {
                self.cwnd_blocked = true;
                self.shut(io, t);
                return;
            }
            let from = self.paced_until();
            if from > io.now {
                self.shut(io, t);
                if self.pace_at > from {
                    self.pace_at = from;
                    io.timer(from, TimerKind::Pace, self.flow);
                }
                return;
            }
            if let Some(hole) = hole {
                self.retransmit(io, hole);
                continue;
            }
            // receiver's window
            let room = self.edge.saturating_sub(self.nxt);
            let mut len = len;
            if room < len as u64 {
                let worth = room > 0 && (!t.sws_avoidance || room >= self.max_wnd / 2);
                if !worth {
                    self.shut(io, t);
                    if self.board.is_empty() && self.waiting != Waiting::Window {
                        self.waiting = Waiting::Window;
                        self.persist_backoff = 0;
                        self.arm_in(io, t, t.persist_timeout.0);
                    }
                    return;
                }
                len = room as u32;
            }
            self.send_new(io, len);
        }
    }

    fn send_new<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, len: u32) {
        let seq = self.nxt;
        if self.echo && self.echo_at > self.cwr_at {
            (self.echo, self.cwr_at) = (false, seq);
        }
        self.board.sent(seq, len);
        self.nxt += len as u64;
        if self.dupacks > 0 && self.phase == Phase::Open {
            self.limited += len as u64;
        }
        self.send_segment(io, seq, len, false);
        if self.deadline == NEVER || self.waiting == Waiting::Window {
            self.waiting = Waiting::Ack;
            self.arm_rto(io);
        }
    }

    /// The next lost segment to send again.
    #[inline]
    fn next_repair(&mut self, t: &TransportSpec) -> Option<Hole> {
        let hole = self.board.next_hole()?;
        let allowed = t.scoreboard != Rules::Ns3 || self.board.is_below_sacked(hole.seq);
        allowed.then_some(hole)
    }

    fn retransmit<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, hole: Hole) {
        let hole = match io.net.transport(self.transport) {
            t if t.scoreboard == Rules::Ns3 => self.board.gather(hole, t.mss),
            _ => hole,
        };
        self.board.retransmitted(hole.seq, false);
        self.undo.again = self.undo.again.max(0) + 1;
        self.undo.first_at = self.undo.first_at.min(io.now);
        self.send_segment(io, hole.seq, hole.len, true);
        let linux = io.net.transport(self.transport).recovery == Recovery::Linux;
        if self.deadline == NEVER || linux && hole.seq == self.una {
            self.arm_rto(io);
        }
    }

    /// A reduction begins that may have to be undone.
    fn begin_undo(&mut self, t: &TransportSpec, due: bool) {
        if t.undo {
            self.undo = Undo { marker: self.una, again: -1, first_at: NEVER, due };
        }
    }

    /// Whether all that was sent again had arrived before: all of it was reported twice, or the ACK of
    /// `echoed` answers something that was sent earlier. Linux' time stamps count milliseconds.
    fn was_mistaken(&self, echoed: u64) -> bool {
        const TICK: u64 = 1_000_000_000;
        self.undo.marker != NEVER
            && (self.undo.again == 0 || self.undo.first_at != NEVER && echoed / TICK < self.undo.first_at / TICK)
    }

    /// Takes the latest reduction back.
    fn take_back(&mut self) {
        self.undo.marker = NEVER;
        if !self.undo.due {
            self.cc.on_undo();
        }
    }

    /// ... and with it the losses that a timeout supposed.
    fn take_back_timeout(&mut self) {
        self.take_back();
        self.board.nothing_is_lost(self.una);
        self.consecutive = 0;
        self.frto = false;
        self.phase = Phase::Open;
        self.dupacks = 0;
    }

    /// An ACK while the losses of a timeout are repaired. True when a loss is found after all.
    fn after_timeout(&mut self, t: &TransportSpec, news: &News) -> bool {
        let acked = news.acked;
        let original = self.board.original_arrived();
        let recovered = self.una >= self.recover;
        if acked > 0 && self.was_mistaken(news.echoed) {
            self.take_back_timeout();
        } else if self.frto {
            if original {
                self.take_back_timeout();
            } else if self.nxt > self.recover {
                self.frto &= news.newly_sacked == 0 && !news.duplicate;
            } else if acked > 0 && !recovered {
                self.recover = self.nxt;
                self.board.watch_below(self.recover);
                if self.app.written > self.nxt && self.edge > self.nxt {
                    self.new_first = true;
                    return false;
                }
                self.frto = false;
            }
        }
        if recovered && self.phase == Phase::Loss {
            self.phase = Phase::Open;
            self.dupacks = 0;
        }
        if self.phase == Phase::Open {
            return t.sack && t.scoreboard != Rules::Ns3 && self.lost_again(t);
        }
        // Linux counts no new losses before these are repaired, unless by send times
        if t.sack && (t.recovery != Recovery::Linux || t.scoreboard == Rules::Rack) {
            self.update_lost(t);
        }
        false
    }

    /// The window is shut: meanwhile a bulk application fills the send buffer. One that is woken for
    /// it runs when everything that arrives at this instant has been taken in.
    fn shut<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        let space = self.space(t);
        if t.notsent_lowat > 0 {
            if self.woken {
                self.app.top_up(space, self.nxt, t, &mut self.writes);
            } else if self.app_at > io.now && self.app.wants(self.nxt, t) {
                self.app_at = io.now;
                io.timer(io.now, TimerKind::App, self.flow);
            }
        } else {
            self.app.fill(space, t.whole_writes);
        }
    }

    /// No unsent data: close, repair more, or wait for the application.
    fn nothing_to_send<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        if self.phase == Phase::Recovery && t.sack && t.forward_retransmit && !self.profile.own_recovery {
            // RFC 6675 NextSeg rules 3 and 4, once there is no new data
            let fits = |len: u32, s: &Sender| (s.board.pipe() + len as u64) as f64 <= s.window();
            if t.scoreboard == Rules::Ns3 {
                // as many as the window takes, each with room for what it will be cut anew to
                let whole = |h: &Hole, s: &Sender| (s.app.written - h.seq).min(t.mss as u64) as u32;
                while let Some(hole) = self.board.next_unproven().filter(|h| fits(whole(h, self), self)) {
                    self.retransmit(io, hole);
                }
            } else if let Some(hole) = self.board.next_unproven().filter(|h| fits(h.len, self)) {
                self.retransmit(io, hole);
            } else if !self.rescued
                && t.scoreboard == Rules::Rfc6675
                && let Some(hole) = self.board.last_unsacked().filter(|h| fits(h.len, self))
            {
                self.rescued = true;
                self.retransmit(io, hole);
            }
        }
        match self.app.end() {
            Some(end) if end == self.app.written => {
                if t.handshake && !self.fin && self.nxt == end {
                    self.fin = true;
                    self.send_new(io, 1);
                }
            }
            _ => {
                // ticks at a full buffer fail: the ACK that frees it looks again
                if self.app.fits(self.space(t))
                    && let Some(at) = self.app.next_tick()
                {
                    let at = at.max(io.now);
                    if self.app_at > at {
                        self.app_at = at;
                        io.timer(at, TimerKind::App, self.flow);
                    }
                }
            }
        }
    }

    // ---- acknowledgements ----------------------------------------------------------------------

    fn take_rtt<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, echoed: u64) -> u64 {
        let t = io.net.transport(self.transport);
        let tick = t.timestamp_clock.0;
        let rtt = match (io.now.checked_div(tick), echoed.checked_div(tick)) {
            // a coarse clock sees whole ticks; none is taken as 1 us
            (Some(now), Some(then)) if now == then => 1_000_000,
            (Some(now), Some(then)) => (now - then) * tick,
            _ => io.now - echoed,
        };
        self.rtt.sample(rtt, self.una, self.nxt);
        self.count_rtt(io, rtt);
        rtt
    }

    #[inline]
    fn count_rtt<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, rtt: u64) {
        if io.measured() {
            self.stats.rtt_count += 1;
            self.stats.rtt_sum += rtt;
            io.rec.rtt(io.net.flow(self.flow).group, rtt);
        }
    }

    fn acknowledged<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&Ext>) {
        let net = io.net;
        let t = net.transport(self.transport);
        // a FIN on the last data segment takes a number of its own
        let ack = if t.fin_with_data && self.fin { p.ack.min(self.nxt) } else { p.ack };
        if ack > self.nxt || ack < self.una {
            return;
        }
        self.catch_up(io);
        let in_flight = self.pipe(t);
        let outstanding = self.nxt - self.una;
        let old_edge = self.edge;
        self.edge = ack + p.wnd as u64;
        self.max_wnd = self.max_wnd.max(p.wnd as u64);

        if t.scoreboard == Rules::Rack {
            self.board.begin_ack(io.now, self.rtt.min.unwrap_or(0));
        }

        // what arrived
        let acked = ack - self.una;
        let mut delivered = 0;
        let mut newly_sacked = 0;
        let mut was_retransmitted = false;
        if acked > 0 {
            self.una = ack;
            self.sent_to = self.sent_to.max(ack);
            (delivered, was_retransmitted) = self.board.acked(ack);
        }
        if let Some(ext) = ext {
            for (start, end) in ext.sack {
                newly_sacked += self.board.sack(start, end, self.una);
            }
            delivered += newly_sacked;
            if t.undo {
                delivered += self.duplicate_sack(ack, ext);
            }
        }
        // the byte that FIN takes is no data
        if self.fin && acked > 0 && Some(self.una) == self.app.end().map(|e| e + 1) {
            delivered = delivered.saturating_sub(1);
        }
        let duplicate = outstanding > 0
            && if t.sack {
                newly_sacked > 0 && (acked == 0 || t.scoreboard == Rules::Ns3)
            } else {
                acked == 0 && self.edge == old_edge && !p.has(flag::DATA)
            };

        // RTT
        let mut rtt = None;
        if t.timestamps {
            if self.una > self.no_sample_to && acked > 0 || self.profile.own_recovery {
                rtt = Some(Time(self.take_rtt(io, p.ts)));
            }
        } else if let Some((end, sent)) = self.timed
            && self.una >= end
        {
            self.timed = None;
            if !was_retransmitted {
                rtt = Some(Time(self.take_rtt(io, sent)));
            }
        }
        if acked > 0 {
            if self.app.is_closed_loop() {
                self.complete_writes(io);
            }
            self.consecutive = 0;
            // back-off ends with a valid sample (RFC 6298 5.7): an ACK of a retransmission without
            // time stamps is none
            if rtt.is_some() || !t.rtt_after_timeout {
                self.rtt.reset_backoff();
            }
        }

        if t.recovery == Recovery::PrrNs3 && acked > 0 {
            self.count_segments(t, delivered);
        }
        let marked = p.has(flag::ECE) && self.ecn != Ecn::Off;
        let mut counts = marked;
        if t.ecn_preempts {
            if marked && acked > 0 {
                (self.echo, self.echo_at) = (true, self.una);
            }
            self.echo &= marked;
            counts = self.echo;
            self.leave_cwr(io);
            if marked && acked > 0 && self.phase != Phase::Cwr {
                self.recover = self.nxt;
                self.reduce_for_ecn(io, t);
                if t.recovery == Recovery::PrrNs3 && self.prr_governs(t) {
                    self.prr_ns3(t, delivered, true, false);
                }
            }
        }
        self.newly_lost = false;
        self.undo.due |= marked;
        if t.recovery == Recovery::Linux && !t.sack {
            delivered = self.count_without_sack(t, acked, duplicate);
        }
        let echoed = if t.timestamps { p.ts } else { NEVER };
        let news = News { acked, duplicate, delivered, newly_sacked, was_retransmitted, echoed };
        let lost = self.recover_losses(io, t, &news);

        // controller
        if !t.ecn_preempts {
            self.leave_cwr(io);
        }
        let ack = Ack {
            now: Time(io.now),
            acked,
            delivered,
            rtt,
            srtt: Time(self.rtt.srtt),
            fabric_delay: rtt,
            hops: p.aux as u32,
            ece: counts,
            in_flight,
            una: self.una,
            nxt: self.nxt,
            sent_to: self.sent_to,
            cwnd_limited: !t.cwnd_limited || self.is_cwnd_limited(),
            phase: self.phase,
        };
        self.cc.on_ack(&ack);
        if lost && self.profile.own_recovery {
            let event = self.congestion(io);
            self.cc.on_loss(&event);
        } else if lost {
            self.enter_recovery(io, t, delivered, marked);
            if t.scoreboard == Rules::Ns3 && acked > 0 && t.sack {
                self.partial_ack_ns3(io, t, delivered, was_retransmitted);
            }
        } else if marked && !t.ecn_preempts && self.una > self.cwr_end && self.phase == Phase::Open {
            self.reduce_for_ecn(io, t);
        }
        if matches!(self.phase, Phase::Cwr | Phase::Recovery) && self.prr_governs(t) {
            match t.recovery {
                Recovery::Linux => self.prr_linux(t, delivered, acked > 0),
                Recovery::PrrNs3 if self.phase == Phase::Cwr && acked > 0 && self.whole_segment => {
                    self.prr_ns3(t, delivered, false, false)
                }
                Recovery::PrrNs3 => {}
                _ => self.prr_update(t, delivered),
            }
        }

        // timer: restart when new data was acknowledged (RFC 6298 5.3)
        // a window below a segment may hold everything back: then the timer alone moves things on
        let stalled = !t.least_segment && self.app.written > self.nxt;
        if self.board.is_empty() && !stalled {
            // the answer to a probe of a window that is still shut leaves the persist timer alone
            if self.waiting == Waiting::Ack || self.edge > old_edge {
                self.deadline = NEVER;
                self.waiting = Waiting::Ack;
            }
        } else if acked > 0 && !(self.phase == Phase::Recovery && self.partial_acks > 1) {
            self.arm_rto(io);
        }
        self.pump(io);
        self.check_finished(io);
    }

    /// A first SACK block below the acknowledgement or inside the second one reports what came twice
    /// (RFC 2883). Returns its bytes: they have left the network too.
    fn duplicate_sack(&mut self, ack: u64, ext: &Ext) -> u64 {
        let [(start, end), (low, high), ..] = ext.sack;
        if start >= end || start >= ack && (low >= high || start < low || end > high) {
            return 0;
        }
        if self.undo.marker != NEVER && self.undo.again > 0 && end > self.undo.marker {
            self.undo.again -= 1;
        }
        end - start
    }

    /// ns-3 reduces its rate by ACKs that bring whole segments: what is left over waits for the next.
    fn count_segments(&mut self, t: &TransportSpec, delivered: u64) {
        let bytes = self.left_over as u64 + delivered;
        self.left_over = (bytes % t.mss as u64) as u32;
        self.whole_segment = bytes >= t.mss as u64;
    }

    /// Linux's test: the window limited sending in this round trip, or in slow start is not yet twice
    /// what was outstanding.
    #[inline]
    fn is_cwnd_limited(&self) -> bool {
        let cwnd = self.cc.cwnd();
        self.was_limited || (cwnd < self.cc.ssthresh() && cwnd < 2.0 * self.max_out as f64)
    }

    /// What an ACK without SACK reports as arrived, as Linux guesses it: a duplicate is one segment; an
    /// ACK that advances fills a hole with one segment, and the others are those the duplicates stood for.
    fn count_without_sack(&mut self, t: &TransportSpec, acked: u64, duplicate: bool) -> u64 {
        let mss = t.mss as u64;
        let segments = acked.div_ceil(mss) as u32;
        if segments == 0 {
            return if duplicate { mss } else { 0 };
        }
        let guessed = self.dupacks;
        self.dupacks = guessed.saturating_sub(segments - 1);
        (segments.saturating_sub(guessed).max(1) as u64 * mss).min(acked)
    }

    /// A reduction for ECN ends when the data outstanding at its start is acknowledged.
    fn leave_cwr<O, R>(&mut self, io: &Io<O, R>) {
        if self.phase == Phase::Cwr && self.una > self.cwr_end {
            self.phase = Phase::Open;
            self.cc.on_recovered(Time(io.now), self.board.pipe());
        }
    }

    /// Brings the loss state up to date; true when a loss was found that the controller has to
    /// react to.
    fn recover_losses<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec, news: &News) -> bool {
        let News { acked, duplicate, delivered, was_retransmitted, .. } = *news;
        let linux = t.recovery == Recovery::Linux;
        if duplicate {
            self.dupacks += 1;
        } else if acked > 0 {
            // without SACK, duplicates of a recovery stand for what arrived until it ends
            if !(linux && !t.sack && self.phase == Phase::Recovery) {
                self.dupacks = 0;
            }
            self.limited = 0;
        }
        // without SACK, Linux holds the state until something beyond the old data is acknowledged: duplicates
        // of what was sent twice start nothing (RFC 6582)
        let held = linux && !t.sack && self.una == self.recover && matches!(self.phase, Phase::Recovery | Phase::Loss);
        if held {
            self.dupacks = 0;
            return false;
        }
        if self.undo.again == 0 && self.undo.marker != NEVER && matches!(self.phase, Phase::Open | Phase::Recovery) {
            if self.phase == Phase::Recovery {
                self.phase = Phase::Open;
                self.cc.on_recovered(Time(io.now), self.board.pipe());
            }
            self.take_back();
        }
        match self.phase {
            Phase::Cwr if t.ecn_preempts => {
                if t.sack && duplicate {
                    self.update_lost(t);
                }
            }
            Phase::Open | Phase::Cwr if t.scoreboard == Rules::Ns3 && t.sack => {
                if duplicate {
                    self.update_lost(t);
                    if self.dupacks == t.dupthresh && self.una >= self.recover {
                        self.board.mark_first_lost();
                    }
                    return self.board.first_is_lost();
                }
            }
            Phase::Open | Phase::Cwr => {
                let mut lost = false;
                if t.sack && t.scoreboard == Rules::Rack {
                    lost = self.update_lost(t);
                    self.newly_lost = lost;
                } else if t.sack {
                    if self.board.has_sacked() {
                        lost = self.update_lost(t);
                        if self.dupacks >= t.dupthresh && self.board.next_hole().is_none() && duplicate {
                            self.board.mark_first_lost();
                            lost |= self.board.next_hole().is_some();
                        }
                        self.newly_lost = lost;
                    }
                } else if linux {
                    if self.dupacks >= t.dupthresh {
                        self.board.mark_first_lost();
                        lost = self.board.next_hole().is_some();
                        self.newly_lost = lost;
                    }
                } else if self.dupacks == t.dupthresh && (self.una > self.recover || self.recover == 0) {
                    lost = true;
                    if self.profile.own_recovery {
                        self.board.mark_first_lost();
                    }
                }
                return lost;
            }
            Phase::Recovery => {
                if self.una >= self.recover {
                    self.phase = Phase::Open;
                    self.dupacks = 0;
                    self.cc.on_recovered(Time(io.now), self.board.pipe());
                    if self.was_mistaken(news.echoed) {
                        self.take_back();
                    }
                    return t.sack && t.scoreboard != Rules::Ns3 && self.lost_again(t);
                } else if t.sack {
                    self.newly_lost = self.update_lost(t);
                    if !self.profile.own_recovery {
                        if duplicate && t.recovery == Recovery::PrrNs3 {
                            self.prr_ns3(t, delivered, true, false);
                        }
                        if acked > 0 && t.scoreboard == Rules::Ns3 {
                            self.partial_ack_ns3(io, t, delivered, was_retransmitted);
                        } else if acked > 0 && t.recovery == Recovery::PrrNs3 && self.whole_segment {
                            self.prr_ns3(t, delivered, false, was_retransmitted);
                        }
                    }
                } else if linux {
                    if acked > 0 {
                        self.board.mark_first_lost();
                        self.newly_lost = true;
                    }
                } else if acked > 0 {
                    // partial ACK (RFC 6582): the next hole, and deflate
                    self.partial_acks += 1;
                    let mss = t.mss as f64;
                    self.recovery_window -= acked as f64;
                    if acked >= t.mss as u64 {
                        self.recovery_window += mss;
                    }
                    self.recovery_window = self.recovery_window.max(mss);
                    if let Some(first) = self.board.first() {
                        self.board.retransmitted(first.seq, true);
                        self.send_segment(io, first.seq, first.len, true);
                    }
                } else if duplicate {
                    self.recovery_window += t.mss as f64;
                }
            }
            Phase::Loss => return self.after_timeout(t, news),
        }
        false
    }

    fn update_lost(&mut self, t: &TransportSpec) -> bool {
        match t.scoreboard {
            Rules::Rfc6675 => self.board.update_lost(t.dupthresh, t.mss),
            Rules::Rack => self.update_lost_by_time(t),
            Rules::Ns3 => self.board.update_lost_by_segments(t.dupthresh),
        }
    }

    /// ns-3's answer to an ACK that advances but ends no recovery: unless the first segment has
    /// been sent again already, one segment goes whatever the window: a lost one, a new one, or
    /// the first.
    fn partial_ack_ns3<O: Outbox, R: Recorder>(
        &mut self,
        io: &mut Io<O, R>,
        t: &TransportSpec,
        delivered: u64,
        was_retransmitted: bool,
    ) {
        self.partial_acks += 1;
        if t.recovery == Recovery::PrrNs3 && self.whole_segment {
            self.prr_ns3(t, delivered, false, was_retransmitted);
        }
        let Some(first) = self.board.first().filter(|_| !self.board.retransmitted_to(self.una + t.mss as u64)) else {
            return;
        };
        let unsent = self.app.written.saturating_sub(self.nxt);
        let room = self.edge.saturating_sub(self.nxt);
        if let Some(hole) = self.next_repair(t) {
            self.retransmit(io, hole);
        } else if unsent > 0 && room > 0 {
            self.send_new(io, unsent.min(room).min(t.mss as u64) as u32);
        } else {
            self.retransmit(io, first);
        }
    }

    /// At the end of an episode: whether a segment sent during it is lost. That is a new
    /// congestion event (RFC 6675: the next duplicate after RecoveryPoint), to be answered once more.
    fn lost_again(&mut self, t: &TransportSpec) -> bool {
        self.update_lost(t);
        self.board.first_is_lost()
    }

    /// Losses told by send times. A quarter of the shortest round trip is left for reordering, until as
    /// many segments were SACKed as a duplicate-ACK rule would wait for, or losses are being repaired:
    /// reordering is never seen here.
    fn update_lost_by_time(&mut self, t: &TransportSpec) -> bool {
        let sure = !matches!(self.phase, Phase::Open | Phase::Cwr)
            || self.board.sacked_bytes() >= t.dupthresh as u64 * t.mss as u64;
        let reordering = if sure { 0 } else { (self.rtt.min.unwrap_or(0) / 4).min(self.rtt.srtt) };
        self.board.update_lost_by_time(reordering)
    }

    /// Bytes in flight as a controller is told of them at a loss.
    fn flight(&self, t: &TransportSpec) -> u64 {
        match t.loss_flight {
            // limited transmit's segments are not part of the flight (RFC 5681)
            LossFlight::Outstanding => (self.nxt - self.una).saturating_sub(self.limited),
            LossFlight::Pipe if t.sack => self.board.pipe(),
            // each duplicate says that a segment has arrived
            LossFlight::Pipe => (self.nxt - self.una).saturating_sub(self.dupacks as u64 * t.mss as u64),
        }
    }

    fn congestion<O, R>(&self, io: &Io<O, R>) -> Congestion {
        let in_flight = self.flight(io.net.transport(self.transport));
        let window = self.window();
        Congestion { now: Time(io.now), in_flight, window, rtt: Time(self.rtt.latest), srtt: Time(self.rtt.srtt) }
    }

    fn enter_recovery<O: Outbox, R: Recorder>(
        &mut self,
        io: &mut Io<O, R>,
        t: &TransportSpec,
        delivered: u64,
        marked: bool,
    ) {
        // with classic ECN one reduction a window: a mark has already brought it (RFC 3168 6.1.2).
        // DCTCP reacts to a loss all the same (RFC 8257 3.5).
        let window = self.window();
        if !(self.phase == Phase::Cwr && self.ecn == Ecn::Classic) {
            let event = self.congestion(io);
            self.cc.on_loss(&event);
        }
        self.begin_undo(t, self.phase == Phase::Cwr || marked);
        let reducing = self.phase == Phase::Cwr && t.recovery == Recovery::Linux && t.ecn_by_prr;
        self.phase = Phase::Recovery;
        self.partial_acks = 0;
        self.rescued = false;
        if reducing {
            // Linux goes on with the reduction that is under way
            self.recover = self.cwr_end;
            self.prr.ssthresh = self.cc.cwnd();
        } else {
            self.recover = self.nxt;
            self.start_prr(t, window);
        }
        if t.sack || t.recovery == Recovery::Linux {
            // without PRR the window is the controller's
            self.recovery_window = if t.recovery == Recovery::NewReno { -1.0 } else { 0.0 };
            if t.recovery == Recovery::PrrNs3 {
                self.prr_ns3(t, delivered, true, false);
            }
            // the first retransmission goes whatever is in flight (RFC 6675 step 4.3); PRR counts
            // it in what it lets out
            let hole = match t.recovery {
                _ if t.scoreboard == Rules::Ns3 => self.board.first(),
                Recovery::Prr | Recovery::Linux => None,
                Recovery::NewReno | Recovery::PrrNs3 => self.board.next_hole(),
            };
            if let Some(hole) = hole {
                self.restarting = true;
                self.retransmit(io, hole);
                self.restarting = false;
            }
        } else {
            self.recovery_window = self.cc.cwnd() + (self.dupacks * t.mss) as f64;
            if let Some(first) = self.board.first() {
                self.board.retransmitted(first.seq, true);
                self.send_segment(io, first.seq, first.len, true);
            }
        }
    }

    fn reduce_for_ecn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        let before = self.window();
        let event = self.congestion(io);
        self.cc.on_ecn(&event);
        self.cwr_end = self.nxt;
        self.send_cwr = true;
        self.phase = Phase::Cwr;
        self.start_prr(t, before);
        self.recovery_window = if t.ecn_by_prr && !self.profile.own_recovery { before } else { -1.0 };
    }

    // ---- PRR (RFC 6937) ------------------------------------------------------------------------

    /// A reduction from `window` begins.
    fn start_prr(&mut self, t: &TransportSpec, window: f64) {
        let recover_fs = if t.recovery == Recovery::Linux { window as u64 } else { self.nxt - self.una };
        self.prr = Prr { delivered: 0, out: 0, recover_fs: recover_fs.max(1), ssthresh: self.cc.cwnd() };
    }

    /// ns-3.43's rate reduction, in its 32-bit arithmetic. `duplicate`: the ACK is one, or opens
    /// the episode; `safe`: it acknowledges a retransmission.
    fn prr_ns3(&mut self, t: &TransportSpec, delivered: u64, duplicate: bool, safe: bool) {
        let prr = &mut self.prr;
        let pipe = self.board.pipe() as u32;
        if prr.delivered == 0 && prr.out == 0 && duplicate {
            // the episode's first step
            prr.recover_fs = pipe as u64;
        }
        let mut delivered = delivered as u32;
        if duplicate && prr.delivered < prr.recover_fs {
            delivered += t.mss;
        }
        if delivered == 0 {
            return;
        }
        prr.delivered += delivered as u64;
        let (arrived, out, ssthresh) = (prr.delivered as u32, prr.out as u32, prr.ssthresh as u32);
        let send = if pipe > ssthresh {
            let product = arrived.wrapping_mul(ssthresh) as f64;
            // what C++ makes of infinity is the least integer
            if prr.recover_fs == 0 {
                i32::MIN
            } else {
                (libm::ceil(product / prr.recover_fs as f64) - out as f64) as i32
            }
        } else {
            let owed = arrived.wrapping_sub(out).max(delivered).wrapping_add(if safe { t.mss } else { 0 });
            (owed as i32).min((ssthresh - pipe) as i32)
        };
        // the first segment goes whatever is in flight
        let least = if out > 0 { 0 } else { t.mss as i32 };
        self.recovery_window = pipe as f64 + send.max(least) as f64;
    }

    fn prr_governs(&self, t: &TransportSpec) -> bool {
        match self.phase {
            Phase::Recovery => {
                (t.sack && t.recovery != Recovery::NewReno || t.recovery == Recovery::Linux)
                    && !self.profile.own_recovery
            }
            Phase::Cwr => t.ecn_by_prr && !self.profile.own_recovery,
            _ => false,
        }
    }

    fn prr_update(&mut self, t: &TransportSpec, delivered: u64) {
        let prr = &mut self.prr;
        prr.delivered += delivered;
        let pipe = self.board.pipe();
        let send = if pipe as f64 > prr.ssthresh {
            let share = libm::ceil(prr.delivered as f64 * prr.ssthresh / prr.recover_fs as f64);
            (share - prr.out as f64).max(0.0)
        } else {
            let owed = prr.delivered.saturating_sub(prr.out).max(delivered) + t.mss as u64;
            (prr.ssthresh - pipe as f64).min(owed as f64)
        };
        // nothing out yet: one segment goes whatever is in flight
        let least = if prr.out == 0 { t.mss as f64 } else { 0.0 };
        self.recovery_window = pipe as f64 + send.max(least);
    }

    /// The same in whole segments, as Linux counts them.
    fn prr_linux(&mut self, t: &TransportSpec, delivered: u64, advanced: bool) {
        if delivered == 0 {
            return;
        }
        let mss = t.mss as u64;
        let in_flight = self.pipe(t).div_ceil(mss) as i64;
        let prr = &mut self.prr;
        let newly = delivered.div_ceil(mss);
        prr.delivered += newly * mss;
        let ssthresh = (prr.ssthresh / mss as f64) as u64;
        let (total, out) = (prr.delivered / mss, prr.out.div_ceil(mss) as i64);
        let room = ssthresh as i64 - in_flight;
        let send = if room < 0 {
            (ssthresh * total).div_ceil((prr.recover_fs / mss).max(1)) as i64 - out
        } else {
            let grown = i64::from(advanced && !self.newly_lost);
            room.min((total as i64 - out).max(newly as i64) + grown)
        };
        // nothing out yet: the first retransmission goes whatever is in flight
        let send = send.max(i64::from(prr.out == 0));
        self.recovery_window = ((in_flight + send).max(0) as u64 * mss) as f64;
    }

    // ---- timers ----------------------------------------------------------------------------------

    /// Sets the retransmission timer to its timeout from now.
    fn arm_rto<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        let wait = self.rtt.rto();
        self.arm_in(io, t, wait);
    }

    /// Sets the retransmission timer to `wait` from now.
    #[inline]
    fn arm_in<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec, wait: u64) {
        let deadline = fires_at(t.timer_tick.0, io.now, wait);
        if t.last_set_first && deadline != self.slot {
            let turns = &mut io.hosts[self.host as usize].turns;
            turns.settings += 1;
            (self.slot, self.setting) = (deadline, turns.settings);
        }
        self.arm(io, deadline);
    }

    /// Sets the retransmission deadline. The event is lazy: one that fires early re-arms itself.
    #[inline]
    fn arm<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, deadline: u64) {
        self.deadline = deadline;
        if self.timer_at > deadline {
            self.timer_at = deadline;
            io.timer(deadline, TimerKind::Retransmit, self.flow);
        }
    }

    /// One of the sender's timers fired.
    pub fn timer<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, kind: TimerKind) {
        match kind {
            TimerKind::Start => self.start(io),
            TimerKind::Stop => self.stop(io),
            TimerKind::Pace if self.pace_at == io.now => {
                self.pace_at = NEVER;
                self.pump(io);
            }
            TimerKind::App if self.app_at == io.now => {
                self.app_at = NEVER;
                self.woken = true;
                self.pump(io);
                self.woken = false;
            }
            TimerKind::Retransmit if self.timer_at == io.now => {
                self.timer_at = NEVER;
                if self.deadline == NEVER {
                } else if self.deadline > io.now {
                    let deadline = self.deadline;
                    self.arm(io, deadline);
                } else if self.slot == NEVER {
                    self.deadline = NEVER;
                    self.expired(io);
                } else {
                    self.slot = NEVER;
                    io.hosts[self.host as usize].turns.due.push((self.setting, self.flow));
                    io.timer(io.now, TimerKind::Turn, self.flow);
                }
            }
            _ => {}
        }
    }

    /// The NIC has room again.
    pub fn resume<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        self.pump(io);
    }

    fn expired<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        match self.connection {
            Connection::SynSent => {
                self.consecutive += 1;
                if self.consecutive > t.syn_retries {
                    self.connection = Connection::Dead;
                } else {
                    self.send_syn(io);
                }
            }
            Connection::Open if self.waiting == Waiting::Window => self.probe_window(io, t),
            Connection::Open => self.timed_out(io, t),
            _ => {}
        }
    }

    fn timed_out<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        self.stats.timeouts += io.measured() as u64;
        if self.half != NO_HALF || self.app.is_closed_loop() {
            io.rec.timeout(self.flow, io.now);
        }
        self.consecutive += 1;
        if t.data_retries > 0 && self.consecutive > t.data_retries {
            self.connection = Connection::Dead;
            return;
        }
        let in_flight = match t.loss_flight {
            LossFlight::Outstanding => self.nxt - self.una,
            LossFlight::Pipe => self.flight(t),
        };
        self.cc.on_timeout(&Timeout {
            now: Time(io.now),
            in_flight,
            window: self.window(),
            rtt: Time(self.rtt.latest),
            consecutive: self.consecutive,
            phase: self.phase,
        });
        self.rtt.back_off();
        let reducing = matches!(self.phase, Phase::Cwr | Phase::Recovery);
        if self.consecutive == 1 && !reducing {
            self.begin_undo(t, false);
        }
        self.frto = t.frto
            && !self.profile.own_recovery
            && (self.consecutive > 1 || matches!(self.phase, Phase::Open | Phase::Cwr));
        self.new_first = false;
        self.board.watch_below(if self.frto { self.nxt } else { 0 });
        self.phase = Phase::Loss;
        self.recover = self.nxt;
        self.dupacks = 0;
        self.limited = 0;
        self.timed = None;
        if !t.rtt_after_timeout {
            self.no_sample_to = self.nxt;
        }
        self.board.timed_out(self.una, self.nxt);
        self.pace_from = io.now;
        self.restarting = true;
        self.pump(io);
        self.restarting = false;
        if self.deadline == NEVER && self.pace_at == NEVER {
            // something else than pacing holds the retransmission back: keep a timer running
            self.arm_rto(io);
        }
    }

    /// Persist timer: a stalled small segment goes out, or the closed window is probed with an
    /// old byte that the receiver answers at once (RFC 1122 4.2.2.17).
    fn probe_window<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        let room = self.edge.saturating_sub(self.nxt).min(self.app.written - self.nxt);
        if room > 0 {
            self.send_new(io, room.min(t.mss as u64) as u32);
            return;
        }
        self.emit(io, self.una.saturating_sub(1), 0, flag::DATA, t.ack_size);
        self.persist_backoff += 1;
        let wait = t.persist_timeout.0.saturating_mul(1 << self.persist_backoff.min(20)).min(t.rto_max.0);
        self.arm_in(io, t, wait);
    }

    fn check_finished<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let Some(end) = self.app.end() else { return };
        if self.una < end || self.app.written < end || self.connection != Connection::Open {
            return;
        }
        if self.stats.finished.is_none() {
            self.stats.finished = Some(io.now);
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
