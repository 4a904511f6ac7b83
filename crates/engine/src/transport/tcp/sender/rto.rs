//! Timers of a sender: the retransmission timeout (RFC 6298), and probes of a closed window (RFC 1122 4.2.2.17).

use super::retransmission_timer::{Fired, Waiting};
use super::{Connection, Sender};
use crate::event::order::Timer;
use crate::event::packet::Kind;
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
        if t.acks.last_set_first && self.timers.order.is_none_or(|(tick, _)| tick != deadline) {
            let queue = &mut ctx.hosts[self.ip.host].run_queue;
            queue.settings += 1;
            self.timers.order = Some((deadline, queue.settings));
        }
        self.arm(ctx, deadline);
    }

    /// Publishes the timeout on a two-way connection: it bounds the wait of the other flow's ACKs.
    #[inline]
    pub(super) fn publish_timeout(&self, ctx: &mut NodeCtx<impl Effects>) {
        if let Some(tcb) = ctx.tcbs.get_mut(self.duplex.tcb as usize) {
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
            Timer::Pace(_) if self.timers.pace.fires(ctx.now) => {
                if self.board.waits_for_late() {
                    self.update_late(ctx.now, &ctx.net.transport(self.transport).loss);
                    self.watch_late(ctx);
                }
                self.pump(ctx);
            }
            Timer::Wake(_) if self.timers.wake.fires(ctx.now) && self.connection == Connection::Open => {
                self.cc.on_wake(ctx.now);
                self.watch_clock(ctx);
                self.pump(ctx);
            }
            Timer::App(_) if self.process.at.fires(ctx.now) => {
                self.process.woken = true;
                self.pump(ctx);
                self.process.woken = false;
            }
            Timer::Retransmit(flow) => match self.timer.fire(ctx.now) {
                Fired::Nothing => {}
                Fired::Later(at) => ctx.timer(at, Timer::Retransmit(flow)),
                Fired::Expired => match self.timers.order.take() {
                    None => {
                        self.timer.stop();
                        self.expired(ctx);
                    }
                    Some((_, setting)) => {
                        ctx.hosts[self.ip.host].run_queue.due.push((setting, flow, false));
                        ctx.timer(ctx.now, Timer::RunQueue(flow));
                    }
                },
            },
            _ => {}
        }
    }

    /// Sets the timer that the controller asks for.
    pub(super) fn watch_clock(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let at = self.cc.wake_at();
        if self.timers.wake.is_after(at) {
            let at = at.max(ctx.now + Time::ps(1));
            self.timers.wake.set(at);
            ctx.timer(at, Timer::Wake(self.ip.flow));
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
        let timeout_is_shared = !self.duplex.is_single() || self.app.under_way().is_some();
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
            LossFlight::Outstanding => self.snd.outstanding(),
            LossFlight::Pipe => self.flight(&t.loss),
        };
        self.cc.on_timeout(&Timeout {
            now: ctx.now,
            in_flight,
            window: self.window(),
            rtt: self.rtt.latest,
            sent: self.snd.nxt,
            consecutive: self.timer.consecutive,
            emptying: t.connection.emptying_timeout,
            phase: self.recovery.phase,
        });
        self.rtt.back_off();
        self.publish_timeout(ctx);
        if self.timer.consecutive == 1 && !self.recovery.is_reducing() {
            self.recovery.begin_undo(&t.loss, self.snd.una, false);
        }
        let first_in_repair = self.timer.consecutive <= 1 && !matches!(self.recovery.phase, Phase::Open | Phase::Cwr);
        self.recovery.frto.on_timeout(t.loss.frto && !self.profile.own_recovery && !first_in_repair);
        self.recovery.tlp.cancel();
        self.ecn.announce(t.loss.cwr_after_loss && self.output.ecn != Ecn::Off);
        self.board.watch_below(if self.recovery.frto.is_on() { self.snd.nxt } else { 0 });
        if t.emulation.inflation_survives_timeout && self.recovery.inflates && self.recovery.phase == Phase::Recovery {
            self.recovery.left_inflated = true;
        }
        self.recovery.phase = Phase::Loss;
        self.recovery.point = self.recovery_end(&t.emulation);
        self.recovery.dupacks = 0;
        self.recovery.limited = 0;
        self.samples.timed = None;
        if !t.marks.rtt_after_timeout {
            self.samples.not_below = self.snd.nxt;
        }
        self.board.timed_out(self.snd.una, self.snd.nxt);
        self.pacing.from = ctx.now;
        self.recovery.restarting = true;
        if t.emulation.timeout_renumbers && self.app.is_bulk() {
            self.recovery.renumbering.range = (self.snd.una, self.snd.nxt);
        }
        match self.board.next_hole().filter(|_| t.loss.recovery == Recovery::Htsim && !t.loss.sack) {
            _ if t.output.probe_after > 0 && self.falls_silent(ctx, t) => {}
            Some(hole) => self.retransmit(ctx, hole),
            None => self.pump(ctx),
        }
        self.recovery.restarting = false;
        // a window that timeouts have reduced to zero, so that nothing is sent, waits for an ACK alone
        let emptied = t.connection.emptying_timeout > 0 && self.window() == 0.0;
        if self.timer.is_off() && self.timers.pace.is_off() && !emptied {
            // something other than pacing holds the retransmission back: keep a timer running
            self.arm_rto(ctx);
        }
    }

    /// Starts the persist timer if the peer's window is closed and nothing is outstanding.
    #[cold]
    pub(super) fn wait_for_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        if self.board.is_empty() && self.timer.waiting != Waiting::Window {
            self.timer.waiting = Waiting::Window;
            self.timer.probes = 0;
            self.arm_in(ctx, t, t.windows.persist_timeout);
        }
    }

    /// Handles the persist timer: sends a stalled small segment, or probes the closed window with an old byte that the
    /// receiver answers at once (RFC 1122 4.2.2.17).
    pub(super) fn probe_window(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let room = self.peer.edge.saturating_sub(self.snd.nxt).min(self.app.written - self.snd.nxt);
        if room > 0 {
            let whole = self.snd.nxt + (self.mss as u64).min(self.app.written - self.snd.nxt);
            let end = if t.windows.whole_segments { self.peer.split(self.snd.nxt, whole) } else { whole };
            self.send_new(ctx, room.min(end - self.snd.nxt) as u32);
            return;
        }
        self.emit(ctx, Kind::Data, self.snd.una.saturating_sub(1), 0, 0, t.sizes.ack_size);
        self.timer.probes = self.timer.probes.saturating_add(1);
        let wait = t.windows.persist_timeout.saturating_mul(1 << self.timer.probes.min(20)).min(t.rto.rto_max);
        self.arm_in(ctx, t, wait);
    }
}
