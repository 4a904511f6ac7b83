//! What an acknowledgement does: round-trip times, delivered bytes, the window.

use super::*;

impl Sender {
    pub(super) fn take_rtt<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, echoed: u64) -> u64 {
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

    /// Linux' samples from an ACK of `acked` bytes that echoes `echoed`: of the first segment it acknowledges if none
    /// of them was sent again, else of the first that SACK newly reports, else of the time stamp, which counts
    /// milliseconds and at least one. Second: of the last such segment, SACK's before what is acknowledged; the
    /// quickest round trip and the controller go by it. Third: SACK reports what was sent before the first outstanding
    /// segment was sent last, so that the retransmission timer starts anew.
    fn sample_segments(&self, now: u64, acked: u64, echoed: u64) -> (Option<(u64, u64)>, bool) {
        let [of_acked, of_sacked] = self.board.samples();
        let stamped = || (acked > 0).then(|| (now / STAMP).saturating_sub(echoed / STAMP).max(1) * STAMP);
        let later = acked == 0
            && match (of_sacked, self.board.first_sent()) {
                (Some((rtt, _)), Some(sent)) => rtt > now - sent,
                _ => false,
            };
        let first = of_acked.or(of_sacked).map(|(first, _)| first).or_else(stamped);
        let last = of_sacked.or(of_acked).map(|(_, last)| last).or(first);
        (first.zip(last), later)
    }

    #[inline]
    pub(super) fn count_rtt<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, rtt: u64) {
        if io.measured() {
            self.stats.rtt_count += 1;
            self.stats.rtt_sum += rtt;
            io.rec.rtt(self.group, rtt);
        }
    }

    pub(super) fn acknowledged<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&Ext>) {
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

        self.board.begin_ack(t.clock(io.now), self.rtt.min.unwrap_or(0));

        // what arrived
        let acked = ack - self.una;
        let mut delivered = 0;
        let mut newly_sacked = 0;
        let mut twice = 0;
        let mut was_retransmitted = false;
        let before = self.board.len();
        if acked > 0 {
            self.una = ack;
            self.sent_to = self.sent_to.max(ack);
            (delivered, was_retransmitted) = self.board.acked(ack);
        }
        if let Some(ext) = ext {
            // data that acknowledges carries its own stamps
            if let Some(telemetry) = ext.telemetry.as_ref().filter(|_| !p.has(flag::DATA)) {
                self.tell_telemetry(io, telemetry);
            }
            for (start, end) in ext.sack {
                newly_sacked += self.board.sack(start, end, self.una);
            }
            delivered += newly_sacked;
            if t.undo || t.tail_loss_probe || t.adaptive_reordering {
                twice = self.duplicate_sack(ack, ext);
                // that they have left the network counts with undo alone: the other switches are worth what they are
                if t.undo {
                    delivered += twice;
                }
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
        let mut later_sample = false;
        if self.segment_rtt {
            let samples;
            (samples, later_sample) = self.sample_segments(t.clock(io.now), acked, p.ts);
            if let Some((first, last)) = samples {
                self.rtt.sample(first, self.una, self.nxt);
                self.rtt.lower(last);
                self.count_rtt(io, first);
                rtt = Some(Time(last));
            }
        } else if t.timestamps {
            if self.una > self.no_sample_to && acked > 0 || self.profile.own_recovery {
                rtt = Some(Time(self.take_rtt(io, p.ts)));
            }
        } else if t.scoreboard == Rules::Ns3 {
            if acked > 0 && !was_retransmitted {
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
        } else if self.segment_rtt && rtt.is_some() {
            self.rtt.reset_backoff();
        }

        if t.recovery == Recovery::PrrNs3 && acked > 0 {
            self.count_segments(t, delivered);
        }
        if self.profile.delivery {
            self.tell_delivery(io.now, t, delivered);
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
        let mut repaired = false;
        let mut dubious = false;
        if t.tail_loss_probe || t.adaptive_reordering {
            let of_probe = twice > 0 && twice <= t.mss as u64 && ext.is_some_and(|ext| ext.sack[0].1 == self.probe_to);
            if twice > 0 && !of_probe {
                self.board.reported_twice(self.una, self.nxt);
            }
            let nothing = acked == 0 && self.edge == old_edge && !p.has(flag::DATA);
            dubious = nothing || newly_sacked > 0 || twice > 0 || marked || self.phase != Phase::Open || self.disorder;
            repaired = self.probe_to > 0 && self.end_probe(ack, of_probe, nothing && newly_sacked == 0);
        }
        if t.recovery == Recovery::Linux && !t.sack {
            delivered = self.guess_delivered(t, acked, before - self.board.len(), duplicate);
        }
        let echoed = if t.timestamps { p.ts } else { NEVER };
        let news = News { acked, duplicate, delivered, newly_sacked, was_retransmitted, echoed };
        let lost = self.recover_losses(io, t, &news);

        // controller
        if !t.ecn_preempts {
            self.leave_cwr(io);
        }
        if dubious && self.phase == Phase::Open {
            self.disorder = self.board.is_disordered();
        }
        // in the receiving host, and in this one since the ACK reached its NIC
        let host = p.seq + io.held;
        let ack = Ack {
            now: Time(io.now),
            acked,
            delivered,
            rtt,
            srtt: Time(self.rtt.srtt),
            fabric_delay: rtt.map(|rtt| rtt.saturating_sub(Time(host))),
            endpoint_delay: rtt.map(|rtt| rtt.min(Time(host))),
            hops: p.aux as u32,
            ece: counts,
            in_flight,
            lost_bytes: self.board.take_found_lost(),
            round: Round { acked: self.una, sent: self.nxt },
            tcp: TcpAck { sent_to: self.sent_to },
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
        } else if repaired {
            self.reduce_for_probe(io);
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
            if self.waiting != Waiting::Window || self.edge > old_edge {
                self.deadline = NEVER;
                self.waiting = Waiting::Ack;
            }
        } else if t.reordering_timer
            && let Some(wait) = self.board.reordering_wait()
        {
            self.wait_for_reordering(io, t, wait);
        } else if later_sample
            || acked > 0 && (self.inflates || self.phase != Phase::Recovery || self.partial_acks <= 1)
        {
            if t.tail_loss_probe || t.reordering_timer {
                self.restart_timer(io, t);
            } else {
                self.arm_rto(io);
            }
        }
        self.publish_timeout(io);
        if self.board.waits_for_late() {
            self.watch_late(io);
        }
        self.pump(io);
        self.check_finished(io);
    }

    /// The delivery rate that an ACK shows.
    #[cold]
    fn tell_delivery(&mut self, now: u64, t: &TransportSpec, delivered: u64) {
        // a coarse clock may have added a tick to the round trip
        let min_rtt = self.rtt.min.unwrap_or(0).saturating_sub(t.timestamp_clock.0);
        if let Some(sample) = self.board.delivery(now, delivered, min_rtt) {
            self.cc.on_delivery(&sample);
        }
    }

    /// The stamps that an ACK returns.
    #[cold]
    fn tell_telemetry<O, R>(&mut self, io: &Io<O, R>, telemetry: &Telemetry) {
        let none = Hop { time: Time::ZERO, tx_bytes: Bytes(0), queue: Bytes(0), rate: Rate::INFINITE };
        let mut hops = [none; STAMPS];
        for (hop, stamp) in hops.iter_mut().zip(telemetry.stamps()) {
            *hop = Hop {
                time: Time(stamp.time),
                tx_bytes: Bytes(stamp.sent),
                queue: Bytes(stamp.queue as u64),
                rate: io.net.spec.links[stamp.link as usize].rate,
            };
        }
        if telemetry.count > 0 {
            self.cc.on_telemetry(&hops[..telemetry.count as usize]);
        }
    }

    /// Linux's test: the window limited sending in this round trip, or in slow start is not yet twice
    /// what was outstanding.
    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let cwnd = self.cc.cwnd();
        self.was_limited || (cwnd < self.cc.ssthresh() && cwnd < 2.0 * self.max_out as f64)
    }

    /// A reduction for ECN ends when the data outstanding at its start is acknowledged.
    pub(super) fn leave_cwr<O, R>(&mut self, io: &Io<O, R>) {
        if self.phase == Phase::Cwr && self.una > self.cwr_end {
            self.phase = Phase::Open;
            self.cc.on_recovered(Time(io.now), self.board.pipe());
        }
    }
}
