//! Ends of flows activate triggers, and triggers open flows ([`crate::map::triggers`] has the rules).

use crate::event::order::{Timer, TimerKind};
use crate::event::outbox::Outbox;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Done;

impl<E: Effects> NodeCtx<'_, E> {
    /// A flow has come to an end at one of its hosts: triggers that count it hear of that.
    #[cold]
    pub fn announce(&mut self, flow: u32, done: Done) {
        let net = self.net;
        let host = net.spec.host_of((flow, done));
        for trigger in net.triggers.activated((flow, done)) {
            self.tell(host, net.triggers.list[trigger as usize].home, TimerKind::Activation, trigger);
        }
    }

    /// `trigger` has been activated so often: hosts with flows that this opens hear of it.
    pub fn activated(&mut self, trigger: u32, activation: u32) {
        let triggers = &self.net.triggers;
        let home = triggers.list[trigger as usize].home;
        for opening in triggers.opened(trigger, activation) {
            self.tell(home, triggers.openings[opening as usize].host, TimerKind::Opening, opening);
        }
    }

    /// Host `from` lets host `to` know: at once if they are one, else as late as the network may be.
    fn tell(&mut self, from: u32, to: u32, kind: TimerKind, entity: u32) {
        if from == to {
            self.timer(self.now, kind, entity);
        } else {
            let domain = self.net.place[to as usize].domain;
            self.out.timer_in(domain, self.now + self.net.relay.0, Timer { kind, entity });
        }
    }
}
