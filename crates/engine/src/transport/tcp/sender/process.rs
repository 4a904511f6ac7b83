//! Application above the sender: its process, and writes that are timed until they are acknowledged.

use super::Sender;
use crate::event::order::Timer;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::timer::Task;
use crate::transport::writes;
use incast_cc::{Controller, Deadline};
use incast_record::Recorder;

impl Sender {
    /// Writes a message. The part that does not fit into the send buffer follows as it drains.
    pub fn on_message(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        self.note_write(ctx);
        self.app.on_message(bytes);
        self.report_deadline(ctx);
        self.pump(ctx);
    }

    /// Wakes the application on a packet. It writes a message when its process runs.
    pub fn on_reply(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        let t = ctx.net.transport(self.transport);
        if !t.acks.wakeup {
            return self.on_message(ctx, bytes);
        }
        self.note_write(ctx);
        self.app.on_message(bytes);
        self.report_deadline(ctx);
        let woken = &mut ctx.hosts[self.ip.host].run_queue.woken;
        woken.push(self.ip.flow);
        let begins = woken.len() == 1;
        ctx.timer(ctx.now, Timer::RunQueue(self.ip.flow));
        if begins {
            // no process runs yet: this one begins at once, and the next arrival interrupts it
            self.process.interrupted = true;
            self.pump(ctx);
            self.process.interrupted = false;
        }
    }

    /// Notes the write of a message, or of the first one of a flow. Every segment carries PSH with which more than half
    /// of the largest window has been written since the last PSH (tcp_sendmsg_locked, forced_push).
    #[cold]
    #[inline(never)]
    pub(super) fn note_write(&mut self, ctx: &NodeCtx<impl Effects>) {
        let t = ctx.net.transport(self.transport);
        if t.acks.push_half_window {
            let mss = self.mss as u64;
            self.process.pushed = (self.peer.max / 2 / mss + 1) * mss;
        }
        self.closing.wrote = t.connection.close_after_write.then_some(ctx.now);
    }

    /// Returns whether a segment up to `end` carries PSH; the last one of a message does, too.
    #[cold]
    pub(super) fn is_pushed(&self, net: &FabricMap, end: u64) -> bool {
        let message = net.duplex(self.ip.flow).map(|duplex| duplex.size);
        let size = message.or(self.app.end()).unwrap_or(u64::MAX);
        let written = (end - 1) % size.max(1) + 1;
        written == size || self.process.pushed > 0 && written.is_multiple_of(self.process.pushed)
    }

    /// Runs the task of the woken application, or of the retransmission timer unless that was stopped at the last
    /// moment.
    pub fn run(&mut self, ctx: &mut NodeCtx<impl Effects>, task: Task) {
        if task == Task::Application {
            self.pump(ctx);
        } else if self.timer.is_due(ctx.now) {
            self.timer.stop();
            self.expired(ctx);
        }
    }

    /// Records closed-loop writes that are acknowledged now.
    #[cold]
    pub(super) fn complete_writes(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        while let Some(write) = self.app.on_acked(self.snd.una, ctx.now) {
            let message = writes::record(ctx.net, self.ip.flow, write, Some(ctx.now));
            ctx.rec.message(message);
        }
        self.report_deadline(ctx);
    }

    /// Reports to the controller the deadline of the data to be sent now, if the controller asks for deadlines and
    /// there is one.
    pub(super) fn report_deadline(&mut self, ctx: &NodeCtx<impl Effects>) {
        if !self.profile.deadlines {
            return;
        }
        let Some(work) = self.app.work() else { return };
        // messages are counted here, or by connections of their own
        let (number, begun) = match ctx.net.duplex(self.ip.flow) {
            Some(duplex) if duplex.close.is_some() => (ctx.tcbs[self.duplex.tcb as usize].number, ctx.now),
            Some(duplex) => (work.end.saturating_sub(1) / duplex.size.max(1), ctx.now),
            None => (work.number, work.begun.or(self.opening.opened()).unwrap_or(ctx.now)),
        };
        if let Some(within) = ctx.net.deadline(self.ip.flow, number) {
            self.cc.on_deadline(&Deadline { end: work.end, at: begun.saturating_add(within) });
        }
    }

    /// Records closed-loop writes that are unfinished at the end of the run.
    pub fn record_writes<R: Recorder>(&self, net: &FabricMap, rec: &mut R) {
        for write in self.app.under_way().into_iter().flatten() {
            rec.message(writes::record(net, self.ip.flow, *write, None));
        }
    }

    /// Returns whether a write of the application, or the flow, ends at `end`.
    pub(super) fn ends_a_write(&mut self, end: u64) -> bool {
        let mut ends = Some(end) == self.app.end();
        while self.process.writes.front().is_some_and(|at| *at <= end) {
            ends = true;
            self.process.writes.pop_front();
        }
        ends
    }
}
