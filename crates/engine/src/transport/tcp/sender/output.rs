//! Output of a sender: segments go as windows, pacing and the host's NIC allow.

use super::super::scoreboard::Hole;
use super::retransmission_timer::Waiting;
use super::{Connection, NEVER, Sender};
use crate::event::metadata::{Metadata, Telemetry};
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{LossRules, Recovery, Rules, TransportSpec, Windows};
use crate::transport::tcp::receiver::UNSCALED;
use incast_cc::{Controller, Ecn, Idle, Phase, Time};

impl Sender {
    /// Puts one IP packet (or its fragments) on the host's NIC.
    pub(super) fn emit(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        kind: Kind,
        seq: u64,
        len: u32,
        flags: u16,
        size: u32,
    ) {
        let t = ctx.net.transport(self.transport);
        self.output.settled = false;
        let control = len == 0;
        let ect = match self.output.ecn {
            Ecn::Off => false,
            Ecn::Classic => !control && flags & flag::RETX == 0,
            // a packet for a former connection is not ECN-capable: no connection sends it
            Ecn::Dctcp => !control || t.marks.ect_control && self.connection != Connection::Dead,
        };
        let mut flags = flags | if ect { flag::ECT } else { 0 };
        if !control && flags & flag::RETX == 0 && self.ecn.takes_cwr() {
            flags |= flag::CWR;
        }
        let mut packet = self.ip.packet(ctx, kind, seq, len, flags, size);
        self.pacing.last_send = ctx.now;
        let mut ext = if packet.has(flag::DUPLEX) { self.piggyback(ctx, &mut packet) } else { None };
        if packet.has(flag::SLOW_PATH) && self.profile.telemetry && packet.len > 0 {
            // ports stamp the packet
            ext.get_or_insert_default().metadata = Some(Box::new(Metadata::Stamps(Telemetry::default())));
        }
        if self.output.labels {
            self.label(ctx, &t.output, seq, &mut packet, &mut ext);
        }
        self.ip.send(ctx, &t.sizes, &packet, ext.as_mut());
    }

    /// Adds to a packet of a two-way connection the acknowledgement of the other flow.
    #[cold]
    pub(super) fn piggyback(&self, ctx: &mut NodeCtx<impl Effects>, packet: &mut Packet) -> Option<Ext> {
        let t = ctx.net.transport(self.transport);
        let tcb = ctx.tcbs.get_mut(self.duplex.tcb as usize)?;
        tcb.nxt = self.snd.nxt;
        packet.shift(tcb.ahead, 0);
        if !tcb.open {
            if packet.is(Kind::Syn) {
                packet.wnd = tcb.wnd.min(UNSCALED as u32);
            }
            return None;
        }
        tcb.carried += u32::from(tcb.owed);
        tcb.owed = false;
        if t.acks.pingpong && packet.len > 0 && tcb.answers(&t.acks, ctx.now) {
            tcb.pingpong = true;
        }
        packet.ack = tcb.ack + tcb.ahead_received;
        packet.wnd = tcb.wnd;
        packet.flags |= flag::ACK | if tcb.ece { flag::ECE } else { 0 };
        let host = if ctx.net.hosts_cost { ctx.now - tcb.arrived_at } else { Time::ZERO };
        let ext = Ext { host, ..tcb.ext.clone() };
        if ext.metadata.as_deref().and_then(Metadata::echoed).is_some_and(|answer| answer.counts_once()) {
            tcb.ext.metadata = None;
        }
        Some(ext)
    }

    pub(super) fn send_segment(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        seq: u64,
        len: u32,
        is_retransmission: bool,
    ) {
        let t = ctx.net.transport(self.transport);
        self.board.stamp(seq, t.clock(ctx.now), ctx.now);
        let retx = if is_retransmission { flag::RETX } else { 0 };
        if self.closing.fin && Some(seq) == self.app.end() {
            self.emit(ctx, Kind::Data, seq, 0, flag::FIN | retx, t.sizes.ack_size);
        } else {
            let last =
                self.fin_rides(&t.connection) && t.connection.handshake && Some(seq + len as u64) == self.app.end();
            let last = last && (!t.connection.close_after_write || self.closing.wrote != Some(ctx.now));
            self.closing.fin |= last;
            let mut flags = retx | if last { flag::FIN } else { 0 };
            if t.acks.push_ack && self.ends_a_write(seq + len as u64) {
                flags |= flag::PSH;
            }
            if t.acks.push_half_window && self.is_pushed(ctx.net, seq + len as u64) {
                flags |= flag::PSH;
            }
            self.emit(ctx, Kind::Data, seq, len, flags, t.sizes.header + len);
        }
        self.snd.sent_to = seq + len as u64;
        if self.recovery.is_reducing() {
            self.recovery.prr.out += len as u64;
        }
        if is_retransmission {
            if self.samples.timed.is_some_and(|(end, _)| seq < end) {
                self.samples.timed = None;
            }
        } else if self.samples.timed.is_none() && !t.timing.timestamps {
            self.samples.timed = Some((seq + len as u64, ctx.now));
        }
        self.pace(ctx, len);
    }

    /// Effective congestion window, in bytes.
    #[inline]
    pub(super) fn window(&self) -> f64 {
        if self.recovery.has_window() { self.window_in_recovery() } else { self.cc.cwnd() }
    }

    #[cold]
    fn window_in_recovery(&self) -> f64 {
        if self.recovery.inflates { self.cc.cwnd() + self.recovery.window } else { self.recovery.window }
    }

    pub(super) fn space(&self, windows: &Windows) -> u64 {
        (self.snd.una + windows.send_buffer).saturating_sub(self.app.written)
    }

    /// Lets the application write what is due by now; a bulk one writes on demand.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, ctx: &NodeCtx<impl Effects>) {
        if !self.app.is_bulk() {
            let space = self.space(&ctx.net.transport(self.transport).windows);
            self.app.catch_up(ctx.now, space);
        }
    }

    /// Handles room at the NIC. htsim's NIC calls back only senders that it refused, so a single segment of a timeout
    /// or a third duplicate stays alone.
    pub fn on_room(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if std::mem::take(&mut self.output.refused) || !self.recovery.inflates {
            debug_assert!(!self.prediction.was_in_order || self.is_in_order());
            match self.prediction.was_in_order {
                true => self.pump_in_order(ctx, ctx.net.transport(self.transport)),
                false => self.pump(ctx),
            }
        }
    }

    /// Begins an event of the flow.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.output.settled = false;
        self.prediction.was_in_order = std::mem::take(&mut self.prediction.in_order);
    }

    /// Returns whether the sender might act on room at its NIC. Data that the window holds back waits for an ACK,
    /// whatever the NIC does.
    #[inline(always)]
    pub fn waits_for_room(&self) -> bool {
        !self.output.settled
    }

    /// Sends what windows, pacing and data allow, and notes whether the window limits sending.
    pub fn pump(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.connection != Connection::Open {
            return;
        }
        let t = ctx.net.transport(self.transport);
        self.pump_on(ctx, t, self.snd.nxt);
    }

    /// As [`Sender::pump`], after new data was sent from `before` on.
    pub(super) fn pump_on(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, before: u64) {
        let mut settled = self.send_allowed(ctx, t);
        if self.recovery.frto.new_data_first() {
            settled = false;
            if self.recovery.frto.tried_new_data(self.snd.nxt > before) {
                self.send_allowed(ctx, t);
            }
        }
        self.note_usage(t, before);
        if t.loss.tail_loss_probe && self.snd.nxt > before {
            self.arm_probe(ctx, t, false);
        }
        self.output.settled = settled && !self.output.refused && !self.board.is_empty();
        self.prediction.in_order = self.is_in_order();
    }

    /// Notes whether the window limits sending, after new data was sent from `before` on. Retransmissions do not count:
    /// new data must have gone, or have waited.
    #[inline]
    pub(super) fn note_usage(&mut self, t: &TransportSpec, before: u64) {
        if t.windows.cwnd_limited {
            let limited = (self.pipe(&t.loss) + self.mss as u64) as f64 > self.window() || self.usage.blocked;
            if self.snd.nxt > before || self.app.written > before && limited {
                self.usage.note(self.snd.una, self.snd.nxt, limited);
            }
        }
    }

    /// Bytes believed to be in the network. Without SACK, Linux counts a duplicate ACK as a segment that has left it.
    #[inline]
    pub(super) fn pipe(&self, loss: &LossRules) -> u64 {
        let pipe = self.board.pipe();
        if loss.recovery == Recovery::Linux && !loss.sack {
            return pipe.saturating_sub((self.recovery.dupacks * self.mss) as u64);
        }
        pipe
    }

    /// Sends what may go now. Returns whether another try before the next event would change nothing.
    pub(super) fn send_allowed(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) -> bool {
        self.catch_up(ctx);
        if t.windows.idle_restart
            && self.board.is_empty()
            && ctx.now > self.pacing.last_send.saturating_add(self.rtt.rto(t))
        {
            let timeouts =
                ((ctx.now - self.pacing.last_send) / self.rtt.rto(t).max(Time::ps(1))).clamp(1, u32::MAX as u64) as u32;
            self.cc.on_idle(&Idle { now: ctx.now, timeouts });
        }
        self.usage.blocked = false;
        loop {
            if !ctx.has_room(self.ip.host, self.ip.flow) {
                self.output.refused = true;
                return false;
            }
            let hole = if self.recovery.frto.new_data_first() { None } else { self.next_repair(t) };
            if self.output.repairs_only && hole.is_none() {
                return false;
            }
            if let Some(hole) = hole
                && self.recovery.renumbering.covers(hole.seq)
                && !self.app.has_beyond(self.snd.nxt, hole.len)
            {
                // no new data can take its place: nothing goes any more
                self.recovery.renumbering.hung = true;
                self.timer.stop();
                return false;
            }
            let len = match hole {
                Some(hole) if t.loss.scoreboard != Rules::Ns3 => hole.len,
                // lost data is segmented anew
                Some(hole) => (self.app.written - hole.seq).min(self.mss as u64) as u32,
                None => self.next_len(t),
            };
            if len == 0 && hole.is_none() {
                self.nothing_to_send(ctx);
                return self.recovery.phase == Phase::Open && self.fills_at_will(&t.windows);
            }
            if !self.window_takes(t, len) {
                self.usage.blocked = true;
                self.shut(ctx, t);
                return self.fills_at_will(&t.windows);
            }
            if !self.pace_lets_go(ctx) {
                self.shut(ctx, t);
                return false;
            }
            if let Some(hole) = hole {
                self.retransmit(ctx, hole);
                if t.emulation.go_back_n_new_path
                    && self.recovery.phase == Phase::Loss
                    && let Some(entropy) = &mut self.ip.entropy
                {
                    entropy.advance();
                }
                continue;
            }
            let len = self.peer_takes(&t.windows, len);
            if len == 0 {
                self.shut(ctx, t);
                self.wait_for_window(ctx, t);
                return false;
            }
            self.send_new(ctx, len);
            if self.process.interrupted {
                return false;
            }
        }
    }

    /// Returns whether the application always fills the buffer: nothing that it does depends on time.
    #[inline(always)]
    fn fills_at_will(&self, windows: &Windows) -> bool {
        windows.notsent_lowat == 0 && self.app.is_bulk()
    }

    /// Length of the next new segment; 0 if there is no data.
    #[inline(always)]
    pub(super) fn next_len(&mut self, t: &TransportSpec) -> u32 {
        if self.app.written == self.snd.nxt {
            self.app.write_one(self.space(&t.windows), t.windows.whole_writes);
            if t.windows.notsent_lowat > 0 && t.acks.push_ack {
                self.process.writes.push_back(self.app.written);
            }
        }
        let unsent = self.app.written - self.snd.nxt.min(self.app.written);
        if self.mss as u64 <= unsent { self.mss } else { unsent as u32 }
    }

    /// Returns whether the congestion window takes `len` bytes more. With nothing in flight one segment may always go.
    #[inline(always)]
    pub(super) fn window_takes(&self, t: &TransportSpec, len: u32) -> bool {
        let (mut pipe, mut window) = (self.pipe(&t.loss), self.window());
        if self.recovery.dupacks > 0 {
            let (beyond, held) = self.limited_transmit(&t.loss);
            (pipe, window) = (pipe + held, window + beyond as f64);
        }
        let must_fit = pipe > 0 || !(t.windows.least_segment || self.profile.own_recovery);
        !must_fit || (pipe + len as u64) as f64 <= window
    }

    /// Part of a new segment of `len` bytes that the peer's window takes: all of it, enough for a segment of its own
    /// (RFC 1122 4.2.3.4), or nothing.
    #[inline(always)]
    fn peer_takes(&self, windows: &Windows, len: u32) -> u32 {
        let room = self.peer.edge.saturating_sub(self.snd.nxt);
        if room >= len as u64 && !self.peer.is_split(self.snd.nxt) {
            len
        } else if windows.whole_segments {
            self.peer.rest(self.snd.nxt)
        } else if !windows.sws_avoidance || room >= self.peer.max / 2 {
            room as u32
        } else {
            0
        }
    }

    pub(super) fn send_new(&mut self, ctx: &mut NodeCtx<impl Effects>, len: u32) {
        let seq = self.snd.nxt;
        self.ecn.answered_by(seq);
        self.board.sent(seq, len);
        self.snd.nxt += len as u64;
        self.recovery.count_limited(len);
        self.send_segment(ctx, seq, len, false);
        self.time_sent(ctx);
    }

    /// Starts the retransmission timer if it is off.
    #[inline(always)]
    pub(super) fn time_sent(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.timer.is_off() || self.timer.waiting == Waiting::Window {
            self.arm_rto(ctx);
        } else if self.timer.waiting == Waiting::Probe {
            self.resume_rto(ctx);
        }
    }

    /// Next lost segment to retransmit.
    #[inline]
    pub(super) fn next_repair(&mut self, t: &TransportSpec) -> Option<Hole> {
        let hole = self.board.next_hole()?;
        let allowed = t.loss.scoreboard != Rules::Ns3 || self.board.is_below_sacked(hole.seq);
        let allowed = allowed && self.peer.lets_repair(t.windows.window_update, self.snd.una, hole.seq);
        allowed.then_some(hole)
    }

    pub(super) fn retransmit(&mut self, ctx: &mut NodeCtx<impl Effects>, hole: Hole) {
        let hole = match ctx.net.transport(self.transport) {
            t if t.loss.scoreboard == Rules::Ns3 => {
                // the sequence number of the FIN is no byte to fill a segment with
                let data = self.app.end().map_or(u64::MAX, |end| end.saturating_sub(hole.seq));
                self.board.gather(hole, data.min(self.mss as u64) as u32)
            }
            _ => hole,
        };
        self.board.retransmitted(hole.seq, false);
        if self.recovery.renumbering.covers(hole.seq) {
            // the flow ends that much earlier, and the data lost here stays lost
            self.app.forget(hole.len as u64);
            self.recovery.renumbering.hung = true;
        }
        self.recovery.undo.retransmitted(ctx.now);
        self.send_segment(ctx, hole.seq, hole.len, true);
        let linux = ctx.net.transport(self.transport).loss.recovery == Recovery::Linux;
        if self.timer.is_off() || linux && hole.seq == self.snd.una && self.timer.waiting != Waiting::Reordering {
            self.arm_rto(ctx);
        }
    }

    /// Retransmits the trimmed segment at `seq` at once, in place of the trimmed copy, whatever window and pacing
    /// allow. This is no loss to the controller, nor to recovery.
    #[cold]
    pub(super) fn repair_trimmed(&mut self, ctx: &mut NodeCtx<impl Effects>, seq: u64) {
        let Some(hole) = self.board.trimmed(seq) else { return };
        if ctx.has_room(self.ip.host, self.ip.flow) {
            self.retransmit(ctx, hole);
        }
        // the receiver has answered
        self.arm_rto(ctx);
    }

    /// Lets a bulk application fill the send buffer while the window is closed. One that has to be woken runs when all
    /// arrivals of this instant have been processed.
    #[inline]
    pub(super) fn shut(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let space = self.space(&t.windows);
        if t.windows.notsent_lowat > 0 {
            if self.process.woken {
                let ends = t.acks.push_ack.then_some(&mut self.process.writes);
                self.app.top_up(space, self.snd.nxt, t.windows.notsent_lowat, self.mss, ends);
            } else if self.app.wants(self.snd.nxt, t.windows.notsent_lowat) && self.process.at.advance(ctx.now) {
                ctx.timer(ctx.now, Timer::App(self.ip.flow));
            }
        } else {
            self.app.fill(space, t.windows.whole_writes);
        }
    }

    /// Handles the lack of unsent data: closes, repairs more, or waits for the application.
    pub(super) fn nothing_to_send(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        if self.profile.delivery && (self.board.pipe() as f64) < self.window() {
            self.board.limited_by_application();
        }
        if self.recovery.phase == Phase::Recovery
            && t.loss.sack
            && t.loss.forward_retransmit
            && !self.profile.own_recovery
        {
            // RFC 6675 NextSeg rules 3 and 4, once there is no new data
            let fits = |len: u32, s: &Sender| (s.board.pipe() + len as u64) as f64 <= s.window();
            if t.loss.scoreboard == Rules::Ns3 {
                // as many as the window takes, each with room for its new segment size
                let whole = |h: &Hole, s: &Sender| (s.app.written - h.seq).min(s.mss as u64) as u32;
                while let Some(hole) = self.board.next_unproven().filter(|h| fits(whole(h, self), self)) {
                    self.retransmit(ctx, hole);
                }
            } else if let Some(hole) = self.board.next_unproven().filter(|h| fits(h.len, self)) {
                self.retransmit(ctx, hole);
            } else if !self.recovery.rescued
                && t.loss.scoreboard == Rules::Rfc6675
                && let Some(hole) = self.board.last_unsacked().filter(|h| fits(h.len, self))
            {
                self.recovery.rescued = true;
                self.retransmit(ctx, hole);
            }
        }
        match self.app.end() {
            Some(end) if end == self.app.written => {
                if t.connection.handshake && !self.closing.fin && self.snd.nxt == end {
                    (self.closing.fin, self.closing.apart) = (true, t.connection.close_after_write);
                    self.send_new(ctx, 1);
                }
            }
            _ => {
                // no write fits into a full buffer: the ACK that frees it tries again
                let at = self.app.next_at(self.space(&t.windows)).map_or(NEVER, |at| at.max(ctx.now));
                if self.process.at.advance(at) {
                    ctx.timer(at, Timer::App(self.ip.flow));
                }
            }
        }
    }
}
