//! Explicit ports while credits wait for [`tokens`](super::tokens).

use super::queues::Queues;
use super::scheduler::Scheduler;
use super::tokens::TransmitterTask;
use incast_cc::Time;

impl Queues {
    /// Time at which there are tokens for waiting credits, unless it is an event already.
    #[cold]
    pub(super) fn await_tokens(&mut self) -> Option<Time> {
        let Scheduler::Credits(tokens) = &self.scheduler else { return None };
        if let TransmitterTask::Tokens(at) = self.task {
            debug_assert_eq!(at, tokens.enough_at, "a credit leaves the head of its queue by tokens alone");
            return None;
        }
        self.task = TransmitterTask::Tokens(tokens.enough_at);
        Some(tokens.enough_at)
    }

    /// Handles an event of a transmitter that sends a pause frame or awaits tokens. Returns its cause; `Nothing`: a
    /// packet.
    #[cold]
    pub(super) fn handle_task(&mut self, now: Time) -> TransmitterTask {
        let ends_now = self.service.as_ref().is_some_and(|service| service.ends == now);
        match std::mem::replace(&mut self.task, TransmitterTask::Nothing) {
            // the end of a transmission at the same instant comes first
            TransmitterTask::Tokens(at) if at > now || ends_now => {
                self.task = TransmitterTask::Tokens(at);
                TransmitterTask::Nothing
            }
            task => task,
        }
    }
}
