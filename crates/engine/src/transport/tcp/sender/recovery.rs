//! Loss recovery: which segments are lost, and the ways into and through a reduction.

use super::*;

impl Sender {
    /// An ACK while the losses of a timeout are repaired. True when a loss is found after all.
    pub(super) fn after_timeout(&mut self, now: u64, t: &TransportSpec, news: &News) -> bool {
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
            self.board.recovered();
        }
        if self.board.waits_for_late() {
            return self.update_late(now, t) && self.phase == Phase::Open;
        }
        if self.phase == Phase::Open {
            return t.sack && t.scoreboard != Rules::Ns3 && self.lost_again(t);
        }
        // Linux counts no new losses before these are repaired, unless by send times
        if t.sack && (t.recovery != Recovery::Linux || t.scoreboard == Rules::Rack) {
            self.update_lost(t);
        }
        // what is lost in its second copy calls for a fast recovery
        self.board.resent_is_lost()
    }

    /// ns-3 reduces its rate by ACKs that bring whole segments: what is left over waits for the next.
    pub(super) fn count_segments(&mut self, t: &TransportSpec, delivered: u64) {
        let bytes = self.left_over as u64 + delivered;
        self.left_over = (bytes % t.mss as u64) as u32;
        self.whole_segment = bytes >= t.mss as u64;
    }

    /// Brings the loss state up to date; true when a loss was found that the controller has to
    /// react to.
    pub(super) fn recover_losses<O: Outbox, R: Recorder>(
        &mut self,
        io: &mut Io<O, R>,
        t: &TransportSpec,
        news: &News,
    ) -> bool {
        let News { acked, duplicate, delivered, was_retransmitted, .. } = *news;
        let linux = t.recovery == Recovery::Linux;
        if linux && !t.sack && !self.profile.own_recovery {
            return self.recover_by_guesses(io, news);
        }
        if duplicate {
            self.dupacks += 1;
        } else if acked > 0 {
            self.dupacks = 0;
            self.limited = 0;
        }
        if self.undo.again == 0 && self.undo.marker != NEVER && matches!(self.phase, Phase::Open | Phase::Recovery) {
            if self.phase == Phase::Recovery {
                self.phase = Phase::Open;
                self.cc.on_recovered(Time(io.now), self.board.pipe());
            }
            self.take_back();
        }
        match self.phase {
            Phase::Open | Phase::Cwr if self.board.waits_for_late() => {
                return self.board.has_sacked() && self.update_late(io.now, t);
            }
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
                } else if self.dupacks == t.dupthresh
                    && (self.una > self.recover || self.recover == 0 || self.inflates && self.una == self.recover)
                {
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
                    } else {
                        self.board.recovered();
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
                } else if acked > 0 {
                    // partial ACK (RFC 6582): the next hole, and deflate
                    self.partial_acks += 1;
                    let mss = t.mss as f64;
                    self.recovery_window -= acked as f64;
                    if self.inflates {
                        self.recovery_window = self.recovery_window.max(0.0);
                    }
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
                    if self.inflates {
                        self.recovery_window = self.recovery_window.min(self.cc.cwnd());
                    }
                }
            }
            Phase::Loss => return self.after_timeout(io.now, t, news),
        }
        false
    }

    pub(super) fn update_lost(&mut self, t: &TransportSpec) -> bool {
        match t.scoreboard {
            Rules::Rfc6675 => self.board.update_lost(t.dupthresh, t.mss),
            Rules::Rack => self.update_lost_by_time(t),
            Rules::Ns3 => self.board.update_lost_by_segments(t.dupthresh),
        }
    }

    /// Late segments at `now`: whether a run of them is lost. Others whose time is over are to be sent again.
    pub(super) fn update_late(&mut self, now: u64, t: &TransportSpec) -> bool {
        let wait = self.profile.late.and_then(|late| late.wait).map_or(self.rtt.srtt, |wait| wait.0);
        self.board.update_late(t.dupthresh, now, wait)
    }

    /// A wait for a late segment may be over; the timer is set for the next.
    pub(super) fn watch_late<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if let Some(until) = self.board.late_until()
            && self.pace_at > until
        {
            self.pace_at = until;
            io.timer(until, TimerKind::Pace, self.ip.flow);
        }
    }

    /// ns-3's answer to an ACK that advances but ends no recovery: unless the first segment has
    /// been sent again already, one segment goes whatever the window: a lost one, a new one, or
    /// the first.
    pub(super) fn partial_ack_ns3<O: Outbox, R: Recorder>(
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
    pub(super) fn lost_again(&mut self, t: &TransportSpec) -> bool {
        self.update_lost(t);
        self.board.first_is_lost()
    }

    /// Losses told by send times. A quarter of the shortest round trip is left for reordering, until as
    /// many segments were SACKed as a duplicate-ACK rule would wait for, or losses are being repaired, unless
    /// reordering was seen.
    pub(super) fn update_lost_by_time(&mut self, t: &TransportSpec) -> bool {
        let window = self.reordering_window(t);
        self.board.update_lost_by_time(window)
    }

    /// How long after something that was sent later a segment may arrive, ps.
    pub(super) fn reordering_window(&self, t: &TransportSpec) -> u64 {
        let sure = !matches!(self.phase, Phase::Open | Phase::Cwr)
            || if t.reordering_timer {
                self.board.has_sacked_segments(t.dupthresh)
            } else {
                self.board.sacked_bytes() >= t.dupthresh as u64 * t.mss as u64
            };
        let steps = self.board.reordering_steps(sure);
        (t.clock(self.rtt.min.unwrap_or(0) / 4) * steps).min(self.rtt.srtt)
    }

    /// Bytes in flight as a controller is told of them at a loss.
    pub(super) fn flight(&self, t: &TransportSpec) -> u64 {
        match t.loss_flight {
            // limited transmit's segments are not part of the flight (RFC 5681)
            LossFlight::Outstanding => (self.nxt - self.una).saturating_sub(self.limited),
            LossFlight::Pipe if t.sack => self.board.pipe(),
            // each duplicate says that a segment has arrived
            LossFlight::Pipe => (self.nxt - self.una).saturating_sub(self.dupacks as u64 * t.mss as u64),
        }
    }

    pub(super) fn congestion<O, R>(&self, io: &Io<O, R>) -> Congestion {
        let in_flight = self.flight(io.net.transport(self.transport));
        let window = self.window();
        Congestion { now: Time(io.now), in_flight, window, rtt: Time(self.rtt.latest), srtt: Time(self.rtt.srtt) }
    }

    pub(super) fn enter_recovery<O: Outbox, R: Recorder>(
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
        if !reducing {
            self.probe_to = 0;
            self.send_cwr |= t.cwr_after_loss && self.ecn != Ecn::Off;
        }
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
            let fixed = matches!(t.recovery, Recovery::NewReno | Recovery::Htsim);
            self.recovery_window = if fixed { -1.0 } else { 0.0 };
            if t.recovery == Recovery::PrrNs3 {
                self.prr_ns3(t, delivered, true, false);
            }
            // the first retransmission goes whatever is in flight (RFC 6675 step 4.3); PRR counts
            // it in what it lets out
            let hole = match t.recovery {
                _ if t.scoreboard == Rules::Ns3 => self.board.first(),
                Recovery::Prr | Recovery::Linux => None,
                Recovery::NewReno | Recovery::Htsim | Recovery::PrrNs3 => self.board.next_hole(),
            };
            if let Some(hole) = hole {
                self.restarting = true;
                self.retransmit(io, hole);
                self.restarting = false;
            }
        } else {
            let window = self.cc.cwnd() + (self.dupacks * t.mss) as f64;
            self.recovery_window = if self.inflates { 0.0 } else { window };
            if let Some(first) = self.board.first() {
                self.board.retransmitted(first.seq, true);
                self.send_segment(io, first.seq, first.len, true);
            }
        }
    }

    pub(super) fn reduce_for_ecn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        let before = self.window();
        let event = self.congestion(io);
        self.cc.on_ecn(&event);
        self.cwr_end = self.nxt;
        self.probe_to = 0;
        self.send_cwr = true;
        self.phase = Phase::Cwr;
        self.start_prr(t, before);
        self.recovery_window = if t.ecn_by_prr && !self.profile.own_recovery { before } else { -1.0 };
    }
}
