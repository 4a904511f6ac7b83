//! Timers of a sender: the retransmission timeout (RFC 6298), and probes of a closed window (RFC 1122 4.2.2.17).

use super::retransmission_timer::{Fired, Waiting};
use super::{Connection, NEVER, Sender};
use crate::event::order::Timer;
use crate::event::packet::Kind;
use crate::host::messages::NO_TCB;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{LossFlight, Recovery, TransportSpec};
use crate::transport::timer::{fires_at, scanned_at};
use incast_cc::{Controller, Ecn, Phase, Time, Timeout};
use incast_record::Recorder;

impl Sender {
    /// Starts the retransmission timer with its full timeout.
    pub(super) fn arm_rto(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        self.timer.waiting = Waiting::Ack;
        self.arm_in(ctx, t, self.rtt.rto(t));
    }

    /// Starts the retransmission timer with `wait`.
    #[inline]
    pub(super) fn arm_in(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, wait: Time) {
        let mut deadline = fires_at(t.timing.timer_tick, ctx.now, wait);
        if t.timing.timer_scan > Time::ZERO {
            deadline = scanned_at(t.timing.timer_scan, deadline);
        }
        if t.acks.last_set_first && deadline != self.timer_order.slot {
            let queue = &mut ctx.hosts[self.ip.host].run_queue;
            queue.settings += 1;
            (self.timer_order.slot, self.timer_order.setting) = (deadline, queue.settings);
        }
        self.arm(ctx, deadline);
    }

    /// Publishes the timeout on a two-way connection: it bounds the wait of the other flow's ACKs.
    #[inline]
    pub(super) fn publish_timeout(&self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize) {
            tcb.rto = self.rtt.rto(ctx.net.transport(self.transport));
            tcb.srtt = self.rtt.srtt;
        }
    }

    /// Sets the retransmission deadline. The event is lazy: an early one re-arms itself.
    #[inline]
    pub(super) fn arm(&mut self, ctx: &mut NodeCtx<impl Effects>, deadline: Time) {
        if let Some(at) = self.timer.set(deadline) {
            ctx.timer(at, Timer::Retransmit(self.ip.flow));
        }
    }

    /// Handles one of the flow's timers.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        match timer {
            Timer::Start(_) if self.opening.starts(ctx.now) => self.start(ctx),
            Timer::Opening(_) => self.open(ctx),
            Timer::Stop(_) => self.stop(ctx),
            Timer::Pace(_) if self.pace_at == ctx.now => {
                self.pace_at = NEVER;
                if self.board.waits_for_late() {
                    self.update_late(ctx.now, &ctx.net.transport(self.transport).loss);
                    self.watch_late(ctx);
                }
                self.pump(ctx);
            }
            Timer::Wake(_) if self.wake_at == ctx.now => {
                self.wake_at = NEVER;
                if self.connection == Connection::Open {
                    self.cc.on_wake(ctx.now);
                    self.watch_clock(ctx);
                    self.pump(ctx);
                }
            }
            Timer::App(_) if self.process.at == ctx.now => {
                self.process.at = NEVER;
                self.process.woken = true;
                self.pump(ctx);
                self.process.woken = false;
            }
            Timer::Retransmit(flow) => match self.timer.fire(ctx.now) {
                Fired::Nothing => {}
                Fired::Later(at) => ctx.timer(at, Timer::Retransmit(flow)),
                Fired::Expired if self.timer_order.slot == NEVER => {
                    self.timer.stop();
                    self.expired(ctx);
                }
                Fired::Expired => {
                    self.timer_order.slot = NEVER;
                    ctx.hosts[self.ip.host].run_queue.due.push((self.timer_order.setting, flow, false));
                    ctx.timer(ctx.now, Timer::RunQueue(flow));
                }
            },
            _ => {}
        }
    }

    /// Sets the timer that the controller asks for.
    pub(super) fn watch_clock(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let at = self.cc.wake_at();
        if at < self.wake_at {
            self.wake_at = at.max(ctx.now + Time::ps(1));
            ctx.timer(self.wake_at, Timer::Wake(self.ip.flow));
        }
    }

    pub(super) fn expired(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        match self.connection {
            Connection::SynSent => {
                self.timer.consecutive += 1;
                if self.timer.consecutive > t.connection.syn_retries {
                    self.connection = Connection::Dead;
                } else {
                    self.send_syn(ctx);
                }
            }
            Connection::Open | Connection::Silent => match self.timer.waiting {
                Waiting::Ack => self.timed_out(ctx, t),
                Waiting::Window => self.probe_window(ctx, t),
                Waiting::Probe => self.probe_tail(ctx, t),
                Waiting::Reordering => self.reordering_is_over(ctx, t),
            },
            _ => {}
        }
    }

    pub(super) fn timed_out(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        self.stats.timeouts += ctx.measured() as u64;
        let timeout_is_shared = self.tcb != NO_TCB || self.app.under_way().is_some();
        if timeout_is_shared || ctx.net.spec.observe.timeline.is_some() {
            ctx.rec.timeout(self.ip.flow.0, ctx.now.0);
        }
        self.timer.consecutive += 1;
        if t.connection.data_retries > 0 && self.timer.consecutive > t.connection.data_retries {
            self.connection = Connection::Dead;
            return;
        }
        if let Some(entropy) = &mut self.ip.entropy {
            entropy.timed_out(ctx.now);
        }
        let in_flight = match t.loss.loss_flight {
            LossFlight::Outstanding => self.nxt - self.una,
            LossFlight::Pipe => self.flight(&t.loss),
        };
        self.cc.on_timeout(&Timeout {
            now: ctx.now,
            in_flight,
            window: self.window(),
            rtt: self.rtt.latest,
            sent: self.nxt,
            consecutive: self.timer.consecutive,
            emptying: t.connection.emptying_timeout,
            phase: self.phase,
        });
        self.rtt.back_off();
        self.publish_timeout(ctx);
        let reducing = matches!(self.phase, Phase::Cwr | Phase::Recovery);
        if self.timer.consecutive == 1 && !reducing {
            self.begin_undo(&t.loss, false);
        }
        let first_in_repair = self.timer.consecutive <= 1 && !matches!(self.phase, Phase::Open | Phase::Cwr);
        self.frto.on_timeout(t.loss.frto && !self.profile.own_recovery && !first_in_repair);
        self.tlp.cancel();
        self.ecn.announce(t.loss.cwr_after_loss && self.ecn_mode != Ecn::Off);
        self.board.watch_below(if self.frto.is_on() { self.nxt } else { 0 });
        if t.emulation.inflation_survives_timeout && self.recovery.inflates && self.phase == Phase::Recovery {
            self.recovery.left_inflated = true;
        }
        self.phase = Phase::Loss;
        self.recovery.point = self.recovery_end(&t.emulation);
        self.recovery.dupacks = 0;
        self.recovery.limited = 0;
        self.samples.timed = None;
        if !t.marks.rtt_after_timeout {
            self.samples.not_below = self.nxt;
        }
        self.board.timed_out(self.una, self.nxt);
        self.pacing.from = ctx.now;
        self.restarting = true;
        if t.emulation.timeout_renumbers && self.app.is_bulk() {
            self.renumbering.range = (self.una, self.nxt);
        }
        match self.board.next_hole().filter(|_| t.loss.recovery == Recovery::Htsim && !t.loss.sack) {
            _ if t.output.probe_after > 0 && self.falls_silent(ctx, t) => {}
            Some(hole) => self.retransmit(ctx, hole),
            None => self.pump(ctx),
        }
        self.restarting = false;
        // a window that timeouts have reduced to zero, so that nothing is sent, waits for an ACK alone
        let emptied = t.connection.emptying_timeout > 0 && self.window() == 0.0;
        if self.timer.is_off() && self.pace_at == NEVER && !emptied {
            // something other than pacing holds the retransmission back: keep a timer running
            self.arm_rto(ctx);
        }
    }

    /// Starts the persist timer if the peer's window is closed and nothing is outstanding.
    #[cold]
    pub(super) fn wait_for_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if self.board.is_empty() && self.timer.waiting != Waiting::Window {
            self.timer.waiting = Waiting::Window;
            self.persist_backoff = 0;
            self.arm_in(ctx, t, t.windows.persist_timeout);
        }
    }

    /// Handles the persist timer: sends a stalled small segment, or probes the closed window with an old byte that the
    /// receiver answers at once (RFC 1122 4.2.2.17).
    pub(super) fn probe_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let room = self.peer.edge.saturating_sub(self.nxt).min(self.app.written - self.nxt);
        if room > 0 {
            let whole = self.nxt + (self.mss as u64).min(self.app.written - self.nxt);
            let end = if t.windows.whole_segments { self.peer.split(self.nxt, whole) } else { whole };
            self.send_new(ctx, room.min(end - self.nxt) as u32);
            return;
        }
        self.emit(ctx, Kind::Data, self.una.saturating_sub(1), 0, 0, t.sizes.ack_size);
        self.persist_backoff += 1;
        let wait = t.windows.persist_timeout.saturating_mul(1 << self.persist_backoff.min(20)).min(t.rto.rto_max);
        self.arm_in(ctx, t, wait);
    }
}
