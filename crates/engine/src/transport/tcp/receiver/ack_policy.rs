//! Time of acknowledgements: at once or delayed (RFC 1122 4.2.3.2, RFC 5681 4.2), with Linux' quick ACKs and
//! interactive mode.

use super::Receiver;
use super::compression::COMPRESSION_SLACK;
use crate::event::order::Timer;
use crate::event::packet::{Kind, Packet, flag};
use crate::host::RunQueue;
use crate::host::messages::NO_TCB;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use crate::transport::timer::{Task, fires_at};
use incast_cc::{Ecn, Time};

impl Receiver {
    /// Acknowledges an arrived segment, now or later.
    pub(super) fn acknowledge_in_time(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, mut now_ack: bool) {
        let t = ctx.net.transport(self.transport);
        if !now_ack && !self.ooo.is_empty() {
            now_ack = !t.loss.sack_compression || !t.loss.sack || self.is_not_compressed(ctx);
            if !now_ack {
                return;
            }
        }
        if now_ack || self.acks.pending >= self.acks.every || p.has(flag::FIN) {
            // the receiver of a one-way connection closes too
            if self.tcb == NO_TCB && self.fin_at.is_some_and(|f| self.next > f) {
                if t.connection.fin_with_data && p.len > 0 && (now_ack || self.acks.pending >= self.acks.every) {
                    self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
                }
                self.acknowledge(ctx, Kind::Ack, flag::FIN, t.sizes.ack_size);
            } else {
                self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
                if self.tcb != NO_TCB {
                    self.spend_quick(ctx);
                }
            }
        } else {
            self.delay_ack(ctx, t);
        }
    }

    /// Delays the ACK until the next segment, or its timer.
    #[inline]
    pub(super) fn delay_ack(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec) {
        let tcb = ctx.tcbs.get(self.tcb as usize);
        let wait = tcb.map_or(t.acks.delayed_ack_timeout, |tcb| tcb.ack_wait(&t.acks));
        let soon = tcb.is_some() && t.acks.adaptive_ack;
        if soon && self.acks.deadline <= fires_at(t.timing.timer_tick, ctx.now, wait / 4) {
            self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
            self.spend_quick(ctx);
        } else {
            let at = self.acks.deadline.min(fires_at(t.timing.timer_tick, ctx.now, wait));
            if t.acks.last_set_first && at != self.ack_timer.slot {
                let queue = &mut ctx.hosts[self.ip.host].run_queue;
                queue.settings += 1;
                (self.ack_timer.slot, self.ack_timer.setting) = (at, queue.settings);
            }
            self.acknowledge_at(ctx, at);
        }
    }

    /// Counts an acknowledgement of data on a two-way connection against `quickack`.
    pub(super) fn spend_quick(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.acks.quick == 1
            && let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize)
        {
            tcb.ack_wait = ctx.net.transport(self.transport).acks.delayed_ack_timeout;
        }
        self.acks.quick = self.acks.quick.saturating_sub(1);
    }

    /// Updates the quick ACKs, and the interactive mode of a two-way connection, on an arriving segment. Returns
    /// whether the latter acknowledges the segment at once.
    pub(super) fn interact(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) -> bool {
        let counts = match self.ecn.mode {
            Ecn::Off => false,
            Ecn::Classic => t.acks.classic_quickack,
            Ecn::Dctcp => t.acks.mark_quickack && t.acks.pingpong && self.tcb != NO_TCB,
        };
        let old = p.seq() + p.len as u64 <= self.next;
        let called_for = counts && self.ecn.calls_for_quick_acks(p, old);
        if called_for {
            // the sender's window may be small: two ACKs at once
            self.acks.quick = self.acks.quick.max(2);
        }
        let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize).filter(|_| t.acks.pingpong) else {
            return self.acks.quick > 0;
        };
        if old {
            self.acks.quick = self.acks.quick.max(t.acks.quickack);
            tcb.pingpong = false;
            tcb.ack_wait = t.acks.delayed_ack_timeout;
        } else if p.seq() <= self.next {
            let predicted = p.seq() == self.next && self.ooo.is_empty() && !(p.has(flag::CWR) || p.has(flag::ECE));
            if tcb.on_data(t, ctx.now, predicted) {
                self.acks.quick = self.acks.quick.max(t.acks.quickack);
            }
        }
        if called_for {
            tcb.pingpong = false;
            tcb.ack_wait = t.acks.delayed_ack_timeout;
        }
        self.acks.quick > 0 && !tcb.pingpong
    }

    pub(super) fn acknowledge_at(&mut self, ctx: &mut NodeCtx<impl Effects>, at: Time) {
        self.acks.deadline = at;
        if self.ack_timer.at > at {
            self.ack_timer.at = at;
            ctx.timer(at, Timer::DelayedAck(self.flow));
        }
    }

    /// Runs the ACK timer's task, or sends compressed SACKs with those of another receiver.
    pub fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) {
        if let Task::Compressed(at) = task {
            if self.compression.waiting == 0 || self.acks.deadline != at + COMPRESSION_SLACK {
                return;
            }
            self.acks.deadline = ctx.now;
        }
        self.expire(ctx);
    }

    /// Sends the delayed ACK, unless it was sent or postponed at the last moment.
    pub(super) fn expire(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        if self.tcb != NO_TCB {
            self.collect(ctx);
        }
        if self.acks.deadline > ctx.now {
            return;
        }
        let missed = self.compression.waiting == 0;
        if !missed {
            // a kernel timer that fires takes along the timers that are due but for their slack
            let now = ctx.now;
            let RunQueue { compressed, released, .. } = &mut ctx.hosts[self.ip.host].run_queue;
            compressed.retain(|timer| {
                if timer.0 <= now {
                    released.push(*timer);
                }
                timer.0 > now
            });
        }
        self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
        if let Some(tcb) = ctx.tcbs.get_mut(self.tcb as usize) {
            if missed {
                tcb.miss(t);
            }
            self.spend_quick(ctx);
            self.publish(ctx);
        }
    }
}
