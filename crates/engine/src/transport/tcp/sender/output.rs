//! What a sender puts on the wire: segments as its windows, its pacing and its host let them go.

use super::*;

impl Sender {
    /// Puts one IP packet (or its fragments) on the host's NIC.
    pub(super) fn emit<O: Outbox, R: Recorder>(
        &mut self,
        io: &mut Io<O, R>,
        seq: u64,
        len: u32,
        flags: u16,
        size: u32,
    ) {
        let t = io.net.transport(self.transport);
        let control = len == 0;
        let ect = match self.ecn {
            Ecn::Off => false,
            Ecn::Classic => !control && flags & flag::RETX == 0,
            // what answers for a connection that is gone is not ECN-capable: no connection sends it
            Ecn::Dctcp => !control || t.ect_control && self.connection != Connection::Dead,
        };
        let mut flags = flags | if ect { flag::ECT } else { 0 };
        if self.send_cwr && !control && flags & flag::RETX == 0 {
            flags |= flag::CWR;
            self.send_cwr = false;
        }
        let mut packet = self.ip.packet(io, seq, len, flags, size);
        self.last_send = io.now;
        let mut ext = if packet.has(flag::JOINED) { self.piggyback(io, &mut packet) } else { None };
        if packet.has(flag::TRACED) && self.profile.telemetry && packet.len > 0 {
            // ports are to stamp it
            ext.get_or_insert_default().telemetry = Some(Box::default());
        }
        self.ip.send(io, t, &packet, ext.as_mut());
    }

    /// Two-way connections: the packet acknowledges what its host has received of the other half.
    #[cold]
    pub(super) fn piggyback<O, R>(&self, io: &mut Io<O, R>, packet: &mut Packet) -> Option<Ext> {
        let t = io.net.transport(self.transport);
        let half = io.halves.get_mut(self.half as usize)?;
        if !half.open {
            return None;
        }
        half.carried += u32::from(half.owed);
        half.owed = false;
        if t.pingpong && packet.len > 0 && half.answers(t, io.now) {
            half.pingpong = true;
        }
        packet.ack = half.ack;
        packet.wnd = half.wnd;
        packet.flags |= flag::ACK | if half.ece { flag::ECE } else { 0 };
        let host = if io.net.hosts_cost { io.now - half.came } else { 0 };
        Some(Ext { host, ..half.ext.clone() })
    }

    pub(super) fn send_segment<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, seq: u64, len: u32, again: bool) {
        let t = io.net.transport(self.transport);
        self.board.stamp(seq, t.clock(io.now), io.now);
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

    /// Accounts a sent packet to the pacing rate.
    #[inline]
    pub(super) fn pace<O, R>(&mut self, io: &Io<O, R>, len: u32) {
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
    pub(super) fn paced_until(&self) -> u64 {
        match self.cc.pacing() {
            Pacing::Gap(gap) if self.ip.packets > 0 => self.last_send.saturating_add(gap.0),
            _ => self.pace_from,
        }
    }

    /// The congestion window in force, bytes.
    #[inline]
    pub(super) fn window(&self) -> f64 {
        if self.window_is_ours() { self.window_in_recovery() } else { self.cc.cwnd() }
    }

    #[cold]
    fn window_in_recovery(&self) -> f64 {
        if self.inflates { self.cc.cwnd() + self.recovery_window } else { self.recovery_window }
    }

    /// The transport's recovery window stands in front of the controller's.
    #[inline]
    pub(super) fn window_is_ours(&self) -> bool {
        match self.phase {
            Phase::Open | Phase::Loss => false,
            Phase::Recovery | Phase::Cwr => self.recovery_window >= 0.0,
        }
    }

    pub(super) fn space(&self, t: &TransportSpec) -> u64 {
        (self.una + t.send_buffer).saturating_sub(self.app.written)
    }

    #[inline]
    pub(super) fn catch_up<O, R>(&mut self, io: &Io<O, R>) {
        let space = self.space(io.net.transport(self.transport));
        self.app.catch_up(io.now, space);
    }

    /// Sends what windows, pacing and data allow, and notes whether the window limited it.
    pub(in crate::transport) fn pump<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
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
        self.note_usage(t, before);
        if t.tail_loss_probe && self.nxt > before {
            self.schedule_probe(io, t, false);
        }
    }

    /// Notes whether the window limits sending, after new data was sent from `before` on.
    #[inline]
    pub(super) fn note_usage(&mut self, t: &TransportSpec, before: u64) {
        if t.cwnd_limited {
            let full = self.pipe(t) + t.mss as u64;
            let limited = full as f64 > self.window() || self.cwnd_blocked;
            // what goes again says nothing: new data was to go, or went
            let new = self.nxt > before || self.app.written > before;
            if new
                && (self.nxt > before || limited)
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
    pub(super) fn pipe(&self, t: &TransportSpec) -> u64 {
        let pipe = self.board.pipe();
        if t.recovery == Recovery::Linux && !t.sack {
            return pipe.saturating_sub((self.dupacks * t.mss) as u64);
        }
        pipe
    }

    pub(super) fn send_allowed<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        self.catch_up(io);
        if t.idle_restart && self.board.is_empty() && io.now > self.last_send.saturating_add(self.rtt.rto()) {
            let timeouts = ((io.now - self.last_send) / self.rtt.rto().max(1)).clamp(1, u32::MAX as u64) as u32;
            self.cc.on_idle(&Idle { now: Time(io.now), timeouts });
        }
        self.cwnd_blocked = false;
        loop {
            if !io.has_room(self.ip.host, self.ip.flow) {
                return;
            }
            let hole = if self.new_first { None } else { self.next_repair(t) };
            if self.repairs_only && hole.is_none() {
                return;
            }
            if let Some(hole) = hole
                && self.is_renumbered(hole)
                && !self.app.has_beyond(self.nxt, hole.len)
            {
                // no new data to take its place: nothing goes any more
                self.hung = true;
                self.deadline = NEVER;
                return;
            }
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
                    io.timer(from, TimerKind::Pace, self.ip.flow);
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
            if self.interrupted {
                return;
            }
        }
    }

    pub(super) fn send_new<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, len: u32) {
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
            self.arm_rto(io);
        } else if self.waiting == Waiting::Probe {
            self.resume_rto(io);
        }
    }

    /// The next lost segment to send again.
    #[inline]
    pub(super) fn next_repair(&mut self, t: &TransportSpec) -> Option<Hole> {
        let hole = self.board.next_hole()?;
        let allowed = t.scoreboard != Rules::Ns3 || self.board.is_below_sacked(hole.seq);
        allowed.then_some(hole)
    }

    pub(super) fn retransmit<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, hole: Hole) {
        let hole = match io.net.transport(self.transport) {
            t if t.scoreboard == Rules::Ns3 => {
                // the number that FIN takes is no byte to fill a segment with
                let data = self.app.end().map_or(u64::MAX, |end| end.saturating_sub(hole.seq));
                self.board.gather(hole, data.min(t.mss as u64) as u32)
            }
            _ => hole,
        };
        self.board.retransmitted(hole.seq, false);
        if self.is_renumbered(hole) {
            // the flow ends so much earlier, and what was lost here stays lost
            self.app.forget(hole.len as u64);
            self.hung = true;
        }
        self.undo.again = self.undo.again.max(0) + 1;
        self.undo.first_at = self.undo.first_at.min(io.now);
        self.send_segment(io, hole.seq, hole.len, true);
        let linux = io.net.transport(self.transport).recovery == Recovery::Linux;
        if self.deadline == NEVER || linux && hole.seq == self.una && self.waiting != Waiting::Reordering {
            self.arm_rto(io);
        }
    }

    /// The receiver has only the header of the segment at `seq`: it goes again at once, in the place of the copy that
    /// was cut, whatever window and pace say. That is no loss to the controller, nor to recovery.
    #[cold]
    pub(super) fn repair_trimmed<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, seq: u64) {
        let Some(hole) = self.board.trimmed(seq) else { return };
        if io.has_room(self.ip.host, self.ip.flow) {
            self.retransmit(io, hole);
        }
        // the receiver was heard from
        self.arm_rto(io);
    }

    /// A hole that goes again as new data.
    fn is_renumbered(&self, hole: Hole) -> bool {
        self.renumbered.0 < hole.seq && hole.seq < self.renumbered.1
    }

    /// The window is shut: meanwhile a bulk application fills the send buffer. One that is woken for
    /// it runs when everything that arrives at this instant has been taken in.
    #[inline]
    pub(super) fn shut<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        let space = self.space(t);
        if t.notsent_lowat > 0 {
            if self.woken {
                self.app.top_up(space, self.nxt, t, &mut self.writes);
            } else if self.app_at > io.now && self.app.wants(self.nxt, t) {
                self.app_at = io.now;
                io.timer(io.now, TimerKind::App, self.ip.flow);
            }
        } else {
            self.app.fill(space, t.whole_writes);
        }
    }

    /// No unsent data: close, repair more, or wait for the application.
    pub(super) fn nothing_to_send<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        if self.profile.delivery && (self.board.pipe() as f64) < self.window() {
            self.board.limited_by_application();
        }
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
                        io.timer(at, TimerKind::App, self.ip.flow);
                    }
                }
            }
        }
    }
}
