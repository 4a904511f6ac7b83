//! Pulls of a host: paced, round robin by flow.
//!
//! Sources: htsim's `FairPullQueue` and `NdpPullPacer` (Broadcom/csg-htsim 841d9e7).

use crate::host::nic_queue::FairQueue;
use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;

/// A waiting pull.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pull {
    /// Flow that is pulled.
    pub flow: FlowId,
    /// Packets granted to the flow, up to this pull.
    pub count: u32,
    /// Path of the pull.
    pub path: u16,
}

/// Pulls of a host, sent once per gap.
#[derive(Clone, Debug)]
pub struct Pulls {
    queue: FairQueue<Pull>,
    last: Time,
    /// Time of the next pull, if an event is scheduled.
    at: Time,
    gap: Time,
}

impl Default for Pulls {
    fn default() -> Pulls {
        Pulls { queue: FairQueue::default(), last: Time::ZERO, at: Time::NEVER, gap: Time::ZERO }
    }
}

impl Pulls {
    /// Returns whether a pull goes with the answer about to leave. If not, queues it, to go `gap` after another.
    pub fn goes_now(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx, gap: Time, pull: Pull) -> bool {
        if self.may_go(ctx.now, gap) {
            return true;
        }
        if let Some(at) = self.push(pull) {
            ctx.pacer_timer(host, at);
        }
        false
    }

    /// Takes the pull of `host` that is due, if one is.
    pub fn due(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx) -> Option<Pull> {
        if self.at != ctx.now {
            return None;
        }
        let pull = self.pop(ctx.now);
        if self.at != Time::NEVER {
            ctx.pacer_timer(host, self.at);
        }
        pull
    }

    /// Returns true if a pull may go now, together with the response to a packet; the next one may go `gap` later. If
    /// false, the pull must be queued.
    fn may_go(&mut self, now: Time, gap: Time) -> bool {
        self.gap = gap;
        let free = self.queue.is_empty() && now - self.last >= gap;
        if free {
            self.last = now;
        }
        free
    }

    /// Queues a pull. Returns the time at which to schedule the pacer, unless it is scheduled already.
    fn push(&mut self, pull: Pull) -> Option<Time> {
        self.queue.push(pull.flow, pull);
        (self.at == Time::NEVER).then(|| {
            self.at = self.last + self.gap;
            self.at
        })
    }

    /// Takes the pull that is due and sets the time of the next one.
    fn pop(&mut self, now: Time) -> Option<Pull> {
        self.at = Time::NEVER;
        let pull = self.queue.pop()?;
        self.last = now;
        if !self.queue.is_empty() {
            self.at = now + self.gap;
        }
        Some(pull)
    }

    /// Removes the pulls of a flow that needs no more. Returns their number.
    pub fn release(&mut self, flow: FlowId) -> usize {
        self.queue.flush(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulls_keep_their_distance() {
        let mut pulls = Pulls::default();
        let (gap, pull) = (Time::ns(10), |count| Pull { flow: FlowId(0), count, path: 0 });
        assert!(pulls.may_go(Time::ns(100), gap), "none has gone for long");
        assert!(!pulls.may_go(Time::ns(109), gap));
        assert_eq!((pulls.push(pull(2)), pulls.push(pull(3))), (Some(Time::ns(110)), None));
        assert!(!pulls.may_go(Time::ns(110), gap), "others wait");
        assert_eq!((pulls.pop(Time::ns(110)), pulls.at), (Some(pull(2)), Time::ns(120)));
        assert_eq!((pulls.release(FlowId(0)), pulls.pop(Time::ns(120)), pulls.at), (1, None, Time::NEVER));
        assert!(pulls.may_go(Time::ns(120), gap));
    }
}
