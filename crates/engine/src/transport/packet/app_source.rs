//! Application of a sender: turns bytes into packets.

use crate::app::{AppState, Start};
use crate::event::order::Timer;
use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{AtStop, Done};
use crate::transport::writes;
use incast_cc::Time;
use incast_record::Recorder;

/// Data source of a flow, and its progress.
#[derive(Debug)]
pub struct AppSource {
    flow: FlowId,
    app: AppState,
    mss: u32,
    /// Send buffer: largest number of bytes written and not acknowledged.
    buffer: u64,
    /// Bytes in packets so far, and acknowledged bytes.
    taken: u64,
    acked: u64,
    /// Time of the application's timer.
    at: Time,
    reset: bool,
    /// Time at which all that was written was acknowledged.
    finished: Option<Time>,
    /// Time at which its stop cut the flow short: all that was written was acknowledged, or it was reset.
    stopped: Option<Time>,
}

impl AppSource {
    /// Source of `flow`.
    pub fn new(net: &FabricMap, flow: FlowId) -> AppSource {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let start = Start { at: spec.start, stop: spec.stop, extra: 0, seed: net.spec.seed, flow };
        AppSource {
            flow,
            app: AppState::new(spec.app, start),
            mss: t.sizes.mss,
            buffer: t.windows.send_buffer,
            taken: 0,
            acked: 0,
            at: Time::NEVER,
            reset: false,
            finished: None,
            stopped: None,
        }
    }

    /// Opens the flow.
    pub fn open(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.app.open(ctx.now);
        let stop = ctx.net.flow(self.flow).stop;
        if stop < ctx.now {
            self.app.stop();
            self.cut(ctx);
        } else if stop != Time::NEVER {
            ctx.timer(stop, Timer::Stop(self.flow));
        }
    }

    /// Stops the application.
    pub fn stop(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        self.refill(ctx.now);
        self.app.stop();
        self.reset = ctx.net.flow(self.flow).at_stop == AtStop::Reset;
        self.check_finished(ctx);
        if self.reset && self.finished.is_none() {
            self.cut(ctx);
        }
    }

    /// Records the early end of a finite flow.
    fn cut(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        if self.app.is_finite() && self.stopped.is_none() {
            self.stopped = Some(ctx.now);
            ctx.rec.finish(ctx.now.0);
        }
    }

    /// Adds a message to be sent.
    pub fn on_message(&mut self, bytes: u64) {
        self.app.on_message(bytes);
    }

    /// Bytes waiting to be sent, after the application has written what it may.
    pub fn backlog(&mut self, now: Time) -> u64 {
        self.refill(now);
        if self.reset { 0 } else { self.app.written - self.taken }
    }

    fn refill(&mut self, now: Time) {
        let space = self.buffer.saturating_sub(self.app.written - self.acked);
        match self.app.is_bulk() {
            true => self.app.fill(space, false),
            false => self.app.catch_up(now, space),
        }
    }

    /// Takes the next packet: its length, and whether it is the last for now. If there is none, sets the application's
    /// timer.
    pub fn take(&mut self, ctx: &mut NodeCtx<impl Effects>) -> Option<(u32, bool)> {
        self.take_at_most(ctx, u64::MAX)
    }

    /// As [`AppSource::take`], with at most `max` bytes.
    pub fn take_at_most(&mut self, ctx: &mut NodeCtx<impl Effects>, max: u64) -> Option<(u32, bool)> {
        let backlog = self.backlog(ctx.now);
        if backlog == 0 {
            self.wait(ctx);
            return None;
        }
        let len = backlog.min(self.mss as u64).min(max);
        self.taken += len;
        let last = backlog == len && (!self.app.is_bulk() || self.app.end() == Some(self.app.written));
        Some((len as u32, last))
    }

    /// Sets a timer for the application's next write.
    pub fn wait(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let space = self.buffer.saturating_sub(self.app.written - self.acked);
        if let Some(at) = self.app.next_at(space).map(|at| at.max(ctx.now))
            && at != self.at
        {
            self.at = at;
            ctx.timer(at, Timer::App(self.flow));
        }
    }

    /// Returns whether the application's timer is the one set last.
    pub fn timer_fires(&mut self, now: Time) -> bool {
        let due = self.at == now;
        if due {
            self.at = Time::NEVER;
        }
        due
    }

    /// Counts `bytes` more as acknowledged in order.
    pub fn on_acked(&mut self, ctx: &mut NodeCtx<impl Effects>, bytes: u64) {
        self.acked += bytes;
        if self.app.under_way().is_some() {
            while let Some(write) = self.app.on_acked(self.acked, ctx.now) {
                let record = writes::record(ctx.net, self.flow, write, Some(ctx.now));
                ctx.rec.message(record);
            }
        }
        self.check_finished(ctx);
    }

    fn check_finished(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let Some(end) = self.app.end() else { return };
        if self.acked < end || self.app.written < end || self.finished.is_some() {
            return;
        }
        self.finished = Some(ctx.now);
        if self.app.is_cut() || self.stopped.is_some() {
            return self.cut(ctx);
        }
        if self.app.is_finite() {
            ctx.rec.finish(ctx.now.0);
        }
        ctx.announce(self.flow, Done::Sent);
    }

    /// Returns whether all that the application ever writes is acknowledged.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// Completion time, or the time at which its stop cut the flow short: at most one of the two.
    pub fn ends(&self) -> (Option<Time>, Option<Time>) {
        (self.finished.filter(|_| self.stopped.is_none()), self.stopped)
    }

    /// Bytes acknowledged in order.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Bytes in packets so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes written by the application.
    pub fn written(&self) -> u64 {
        self.app.written
    }

    /// Records the writes that are unfinished at the end of the run.
    pub fn record_writes(&self, net: &FabricMap, rec: &mut impl Recorder) {
        for write in self.app.under_way().into_iter().flatten() {
            rec.message(writes::record(net, self.flow, *write, None));
        }
    }
}
