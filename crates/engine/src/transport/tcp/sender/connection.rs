//! Opening and closing of a connection (RFC 9293), or of a direction of a two-way one.

use super::peer_window::PeerWindow;
use super::{BARE, Connection, Sender};
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{AtStop, ConnectionRules, Done, TransportSpec};
use incast_cc::{Ack, Controller, Ecn, Env, Time};
use incast_record::Recorder;

impl Sender {
    /// Opens the flow on its trigger, unless its start time lies ahead.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.opening.triggered(ctx.now) {
            self.start(ctx);
        }
    }

    /// Starts the connection.
    pub(super) fn start(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        let spec = ctx.net.flow(self.ip.flow);
        if spec.stop != Time::NEVER && spec.stop > ctx.now {
            ctx.timer(spec.stop, Timer::Stop(self.ip.flow));
        } else if spec.stop <= ctx.now {
            self.connection = Connection::Dead;
            return self.cut(ctx);
        }
        if self.duplex.passive {
            return;
        }
        self.connect(ctx, t);
    }

    /// Sends a SYN, or data.
    pub(super) fn connect(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if t.connection.handshake || t.connection.lone_syn {
            self.connection = Connection::SynSent;
            self.send_syn(ctx);
        } else {
            self.peer = PeerWindow::opened(self.snd.una, t.windows.receive_buffer, 0);
            self.establish(ctx);
        }
    }

    pub(super) fn send_syn(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        // ECN is requested in the first SYN only (RFC 3168 6.1.1): a node on the path may drop such SYNs
        let asks = t.acks.ecn_fallback && self.output.ecn != Ecn::Off && self.timer.consecutive == 0;
        self.emit(ctx, Kind::Syn, 0, 0, if asks { flag::ECE | flag::CWR } else { 0 }, t.sizes.syn_size);
        self.arm_in(ctx, t, t.connection.syn_timeout.saturating_mul(1 << self.timer.consecutive.min(20)));
    }

    pub(super) fn establish(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.connection = Connection::Open;
        let t = ctx.net.transport(self.transport);
        if t.windows.half_window_mss {
            self.bound_mss(ctx, t);
        }
        self.note_write(ctx);
        if ctx.tcbs.get(self.duplex.tcb as usize).is_some_and(|tcb| tcb.without_ecn) {
            self.output.ecn = Ecn::Off;
        }
        // a SYN that timed out is a loss too (Linux, tcp_enter_loss)
        let after_loss = self.timer.consecutive > 0 && ctx.net.transport(self.transport).loss.cwr_after_loss;
        self.ecn.announce(after_loss && self.output.ecn != Ecn::Off);
        self.timer.consecutive = 0;
        self.timer.stop();
        self.app.open(ctx.now);
        self.report_deadline(ctx);
        self.publish_timeout(ctx);
        // data that the buffer always refuses ends the flow (ns-3's BulkSendApplication)
        let refused = t.windows.whole_writes && self.app.is_refused(t.windows.send_buffer);
        if refused {
            self.app.stop();
        }
        self.pump(ctx);
        if refused {
            self.check_finished(ctx);
        }
    }

    /// Bounds the segment size by the window of the handshake; the controller is rebuilt for it.
    #[cold]
    fn bound_mss(&mut self, ctx: &NodeCtx<impl Effects>, t: &TransportSpec) {
        let mss = self.peer.bound(t.sizes.mss, t.sizes.header);
        if mss < t.sizes.mss {
            self.mss = mss;
            let env =
                Env { mss, initial_window: t.windows.initial_window * mss as f64, ..ctx.net.envs.env(self.ip.flow) };
            self.cc = ctx.net.spec.controllers[ctx.net.flow(self.ip.flow).controller as usize].build(&env);
        }
    }

    /// Reports the acknowledgement of a lone SYN as one byte to the controller.
    pub(super) fn syn_acked(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let latest = Some(self.rtt.latest);
        self.cc.on_ack(&Ack {
            now: ctx.now,
            acked: 1,
            delivered: 1,
            rtt: latest,
            srtt: self.rtt.srtt,
            fabric_delay: latest,
            endpoint_delay: Some(Time::ZERO),
            in_flight: 1,
            ..Ack::default()
        });
    }

    /// Handles a packet: a SYN-ACK or an acknowledgement.
    #[inline]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        if self.prediction.was_in_order && p.is(Kind::Ack) && !p.has(flag::FIN) {
            self.report_entropy(ctx, p);
            return self.on_ack(ctx, p, ext);
        }
        self.on_packet_in_state(ctx, p, ext);
    }

    /// Handles a packet whose meaning depends on the state of the connection, or that ends it.
    #[inline(never)]
    fn on_packet_in_state(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        if p.is(Kind::Rst) {
            self.die();
            return;
        }
        match self.connection {
            Connection::SynSent if p.is(Kind::Syn) => {
                let t = ctx.net.transport(self.transport);
                if t.acks.ecn_fallback && t.connection.handshake && !p.has(flag::ECE) {
                    self.output.ecn = Ecn::Off;
                    if let Some(tcb) = ctx.tcbs.get_mut(self.duplex.tcb as usize) {
                        tcb.without_ecn = true;
                    }
                }
                // ns-3 uses the time stamp also after a retransmitted SYN
                if self.timer.consecutive == 0 || t.timing.timestamps && t.repeats_first_stamp() {
                    self.take_rtt(ctx, p.echo());
                }
                if let Some(metadata) = ext.and_then(|ext| ext.metadata.as_deref()) {
                    self.on_metadata(ctx, p, metadata);
                }
                let number = ctx.tcbs.get(self.duplex.tcb as usize).map_or(0, |tcb| tcb.ack);
                self.peer = PeerWindow::opened(self.snd.una, p.wnd as u64, number);
                if t.connection.lone_syn {
                    self.syn_acked(ctx);
                } else {
                    self.emit(ctx, Kind::Ack, 0, 0, flag::ACK, t.sizes.ack_size);
                }
                self.establish(ctx);
            }
            Connection::Open if p.is(Kind::Ack) => {
                self.report_entropy(ctx, p);
                if self.closing.by_peer && self.closing.fin {
                    // nobody waits for the rest: the ACK is ignored
                    self.die();
                } else if p.has(flag::FIN) && !(self.closing.fin && Some(p.ack) == self.app.end().map(|e| e + 1)) {
                    self.closing.by_peer = true;
                    self.closing.peer_last = self.closing.fin;
                    let t = ctx.net.transport(self.transport);
                    self.emit(ctx, Kind::Ack, self.snd.nxt, 0, flag::ACK, t.sizes.ack_size);
                } else {
                    self.on_ack(ctx, p, ext);
                }
            }
            Connection::Open if p.is(Kind::Nack) => self.repair_trimmed(ctx, p.ack),
            Connection::Open if p.is(Kind::Cnp) => {
                self.cc.on_cnp(ctx.now);
                self.watch_clock(ctx);
            }
            Connection::Open if p.is(Kind::Backlog) => self.on_backlog_report(ctx, p),
            // TIME-WAIT is silent; after LAST-ACK there is no connection any more
            Connection::Dead if self.closing.by_peer && !self.closing.peer_last => {
                self.emit(ctx, Kind::Rst, p.ack, 0, 0, BARE);
            }
            Connection::Silent => return self.on_answer_to_probe(ctx, p, ext),
            _ => {}
        }
        if p.has(flag::FIN) && self.connection == Connection::Done {
            let t = ctx.net.transport(self.transport);
            if self.fin_rides(&t.connection) {
                self.emit(ctx, Kind::Ack, self.snd.una + 1, 0, flag::ACK, t.sizes.ack_size);
            }
        }
    }

    /// Reports the entropy that an ACK returns.
    #[inline(always)]
    fn report_entropy(&mut self, ctx: &NodeCtx<impl Effects>, p: &Packet) {
        if let Some(entropy) = &mut self.ip.entropy {
            entropy.on_ack(ctx.now, p.entropy(), p.has(flag::ECE));
        }
    }

    /// Handles a packet of the two-way connection: of this flow, or of the other flow, which acknowledges this one and
    /// opens it if it is the first.
    pub fn on_packet_of_connection(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&Ext>) {
        if p.is_reverse() {
            if let Some(ext) = ext.filter(|_| p.is(Kind::Syn)) {
                // the SYN-ACK opens this side; later packets echo its time stamp
                let tcb = &mut ctx.tcbs[self.duplex.tcb as usize];
                tcb.ext.ts = ext.ts;
                tcb.open = true;
            } else if let Some(ext) =
                ext.filter(|_| ctx.net.transport(self.transport).windows.window_update.looks_at_seq())
            {
                self.peer.numbered(ext.number);
            }
            return self.on_packet(ctx, p, ext);
        }
        if let Some(tcb) = ctx.tcbs.get_mut(self.duplex.tcb as usize) {
            tcb.rto_before = tcb.rto;
        }
        if p.is(Kind::Rst) && self.is_up() {
            return self.die();
        }
        let Some(ext) = ext.filter(|_| p.has(flag::ACK)) else { return };
        if self.connection == Connection::Closed && self.duplex.passive {
            if p.is(Kind::Rst) {
                return;
            }
            let t = ctx.net.transport(self.transport);
            if t.connection.handshake {
                self.take_rtt(ctx, ext.ts);
            }
            self.peer = PeerWindow::opened(self.snd.una, p.wnd as u64, p.seq() + 1);
            self.establish(ctx);
            return;
        }
        if !self.is_up() {
            return;
        }
        let is_new = p.ack > self.snd.una || p.has(flag::ECE) || !ext.sack.is_empty();
        let rule = ctx.net.transport(self.transport).windows.window_update;
        let moved = p.ack >= self.snd.una && self.peer.is_moved(rule, p.seq() + 1, p.ack + p.wnd as u64);
        if is_new || moved {
            if self.connection == Connection::Silent {
                self.hears(ctx);
            }
            self.on_ack(ctx, &p.piggyback(ext), Some(ext));
        }
    }

    /// Returns whether the connection is open, with or without data in flight.
    pub(super) fn is_up(&self) -> bool {
        matches!(self.connection, Connection::Open | Connection::Silent)
    }

    /// Ends the connection at once.
    pub(super) fn die(&mut self) {
        (self.connection, self.prediction.in_order) = (Connection::Dead, false);
        self.timer.stop();
    }

    /// Returns whether the FIN rides on the last data; else it is sent as a segment of its own.
    #[inline]
    pub(super) fn fin_rides(&self, connection: &ConnectionRules) -> bool {
        connection.fin_with_data && !self.closing.apart
    }

    /// Handles the application's stop time.
    pub fn stop(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if matches!(self.connection, Connection::Done | Connection::Dead) {
            return;
        }
        match ctx.net.flow(self.ip.flow).at_stop {
            AtStop::Drain if self.is_up() => {
                self.catch_up(ctx);
                self.app.stop();
                self.pump(ctx);
                self.check_finished(ctx);
            }
            AtStop::Drain => {
                self.die();
                self.cut(ctx);
            }
            AtStop::Reset => {
                self.emit(ctx, Kind::Rst, self.snd.nxt, 0, 0, ctx.net.transport(self.transport).sizes.ack_size);
                self.die();
                self.cut(ctx);
            }
        }
    }

    /// Records the early end of a finite flow.
    #[cold]
    fn cut(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.app.is_finite() && self.stats.finished.is_none() && !self.reconnects(ctx.net) {
            self.stats.stopped = Some(ctx.now);
            ctx.rec.finish(ctx.now.0);
        }
    }

    pub(super) fn check_finished(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(end) = self.app.end() else { return };
        if self.recovery.renumbering.hung
            || self.snd.una < end
            || self.app.written < end
            || self.connection != Connection::Open
        {
            return;
        }
        if self.stats.finished.is_none() && !self.reconnects(ctx.net) {
            if self.app.is_cut() {
                self.cut(ctx);
            } else {
                if self.app.is_finite() {
                    ctx.rec.finish(ctx.now.0);
                }
                ctx.announce(self.ip.flow, Done::Sent);
            }
            self.stats.finished = Some(ctx.now);
        }
        let t = ctx.net.transport(self.transport);
        if !t.connection.handshake {
            self.connection = Connection::Done;
        } else if self.fin_rides(&t.connection) {
            // the answer to the peer's FIN is sent on its arrival
            if self.closing.fin && self.snd.una >= self.snd.nxt {
                self.connection = Connection::Done;
            }
        } else if self.closing.fin && self.snd.una > end {
            self.connection = Connection::Done;
            if self.duplex.is_single() {
                // the receiver has sent its FIN with the ACK; on a two-way connection the other flow does
                self.emit(ctx, Kind::Ack, self.snd.nxt, 0, flag::ACK, t.sizes.ack_size);
            }
        }
        if self.connection == Connection::Done {
            self.timer.stop();
            self.prediction.in_order = false;
        }
    }
}
