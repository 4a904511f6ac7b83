//! Explicit ports while credits wait for [`tokens`](super::tokens).

use super::queues::Queues;
use super::scheduler::Scheduler;
use super::tokens::Beside;
use incast_cc::Time;

impl Queues {
    /// Time at which there are tokens for waiting credits, unless it is an event already.
    #[cold]
    pub(super) fn await_tokens(&mut self) -> Option<Time> {
        let Scheduler::Credits(tokens) = &self.scheduler else { return None };
        if let Beside::Tokens(at) = self.beside {
            debug_assert_eq!(at, tokens.enough_at, "a credit leaves the head of its queue by tokens alone");
            return None;
        }
        self.beside = Beside::Tokens(tokens.enough_at);
        Some(tokens.enough_at)
    }

    /// Handles an event of a transmitter that sends a pause frame or awaits tokens. Returns its cause; `Nothing`: a
    /// packet.
    #[cold]
    pub(super) fn pass_beside(&mut self, now: Time) -> Beside {
        let ends_now = self.service.as_ref().is_some_and(|service| service.ends == now);
        match std::mem::replace(&mut self.beside, Beside::Nothing) {
            // the end of a transmission at the same instant comes first
            Beside::Tokens(at) if at > now || ends_now => {
                self.beside = Beside::Tokens(at);
                Beside::Nothing
            }
            beside => beside,
        }
    }
}
