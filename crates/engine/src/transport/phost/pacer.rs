//! Messages of a host that wait for its tokens (pHost). The host gives one token per gap, to the eligible message with
//! the fewest missing packets.

use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use crate::transport::packet::segmentation::Rank;
use incast_cc::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Position of a waiting message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eligibility {
    /// Position in the order.
    pub rank: Rank,
    /// Time from which the message may have a token.
    pub from: Time,
}

/// Waiting messages.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Messages that may have a token.
    ready: BTreeSet<Rank>,
    /// Messages that may have one later, and the time.
    later: BTreeSet<(Time, FlowId)>,
    waiting: BTreeMap<FlowId, Eligibility>,
    /// Time from which the next token may go.
    free_at: Time,
    /// Time of the event that gives the next token.
    at: Time,
}

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens {
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
            waiting: BTreeMap::new(),
            free_at: Time::ZERO,
            at: Time::NEVER,
        }
    }
}

impl Tokens {
    /// Sets the message of a flow that waits for tokens of `host`, if any.
    pub fn wait(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        host: HostIx,
        flow: FlowId,
        eligibility: Option<Eligibility>,
    ) {
        self.set(ctx.now, flow, eligibility);
        self.set_timer(ctx, host);
    }

    /// Sets the event that gives the host's next token, unless it is set already.
    pub fn set_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, host: HostIx) {
        if let Some(at) = self.due(ctx.now) {
            ctx.pacer_timer(host, at);
        }
    }

    /// Returns whether a token is due now, and notes that it is given.
    pub fn is_due(&mut self, now: Time) -> bool {
        // an earlier timer may have come first
        let is_due = self.at == now;
        if is_due {
            self.at = Time::NEVER;
        }
        is_due
    }

    /// Adds, moves or removes the message of a flow.
    fn set(&mut self, now: Time, flow: FlowId, eligibility: Option<Eligibility>) {
        match self.waiting.remove(&flow) {
            Some(before) if self.later.remove(&(before.from, flow)) => {}
            Some(before) => {
                self.ready.remove(&before.rank);
            }
            None => {}
        }
        let Some(eligibility) = eligibility else { return };
        self.waiting.insert(flow, eligibility);
        match eligibility.from <= now {
            true => self.ready.insert(eligibility.rank),
            false => self.later.insert((eligibility.from, flow)),
        };
    }

    /// Flow whose message gets a token now; `None` if no message is eligible.
    pub fn next(&mut self, now: Time) -> Option<FlowId> {
        while let Some((from, flow)) = self.later.first().copied().filter(|(from, _)| *from <= now) {
            self.later.remove(&(from, flow));
            if let Some(rank) = self.waiting.get(&flow).map(|eligibility| eligibility.rank) {
                self.ready.insert(rank);
            }
        }
        self.ready.first().map(|rank| rank.flow)
    }

    /// Gives a token now; the next goes no sooner than `gap` later.
    pub fn give(&mut self, now: Time, gap: Time) {
        self.free_at = now.saturating_add(gap);
    }

    /// Time at which to schedule the next token, if it is earlier than the scheduled event.
    fn due(&mut self, now: Time) -> Option<Time> {
        let from = match self.ready.first() {
            Some(_) => now,
            None => self.later.first()?.0,
        };
        let at = from.max(self.free_at);
        (at < self.at).then(|| {
            self.at = at;
            at
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_a_gap_goes_to_what_lacks_least_of_those_that_may_have_one() {
        let mut tokens = Tokens::default();
        let us = Time::us;
        let eligibility =
            |flow, left, from| Eligibility { rank: Rank { left, since: us(0), flow: FlowId(flow) }, from };
        let set = |tokens: &mut Tokens, now, of: Eligibility| tokens.set(now, of.rank.flow, Some(of));
        set(&mut tokens, us(5), eligibility(0, 20, us(0)));
        assert_eq!((tokens.due(us(5)), tokens.due(us(5))), (Some(us(5)), None));
        set(&mut tokens, us(5), eligibility(1, 9, us(8)));
        tokens.at = Time::NEVER;
        assert_eq!(tokens.next(us(5)), Some(FlowId(0)), "the shorter one may have none yet");
        tokens.give(us(5), us(2));
        assert_eq!(tokens.due(us(5)), Some(us(7)));
        tokens.at = Time::NEVER;
        assert_eq!(tokens.next(us(8)), Some(FlowId(1)));
        // flow 1 is suspended; the rest waits for the end of the gap, then for the end of the suspension
        tokens.give(us(8), us(2));
        set(&mut tokens, us(8), eligibility(1, 8, us(38)));
        assert_eq!(tokens.due(us(8)), Some(us(10)));
        tokens.set(us(9), FlowId(0), None);
        tokens.at = Time::NEVER;
        assert_eq!((tokens.next(us(10)), tokens.due(us(10))), (None, Some(us(38))));
        // a new message is earlier than that
        set(&mut tokens, us(20), eligibility(2, 3, us(0)));
        assert_eq!(tokens.due(us(20)), Some(us(20)));
        tokens.set(us(20), FlowId(1), None);
        tokens.set(us(20), FlowId(2), None);
        tokens.at = Time::NEVER;
        assert_eq!((tokens.next(us(50)), tokens.due(us(50))), (None, None));
    }
}
