//! Ends of flows activate triggers, and triggers open flows ([`crate::map::triggers`] has the rules).

use crate::event::order::Timer;
use crate::event::outbox::Outbox;
use crate::ids::{FlowId, NodeId, TriggerId};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Done;

impl<E: Effects> NodeCtx<'_, E> {
    /// A flow has come to an end at one of its hosts: triggers that count it are told.
    #[cold]
    pub fn announce(&mut self, flow: FlowId, done: Done) {
        let net = self.net;
        let host = NodeId(net.spec.host_of((flow.0, done)));
        for trigger in net.triggers.activated((flow, done)) {
            self.tell(host, net.triggers.list[trigger].home, Timer::Activation(trigger));
        }
    }

    /// `trigger` has been activated so often: hosts with flows that this opens are told.
    pub fn activated(&mut self, trigger: TriggerId, activation: u32) {
        let triggers = &self.net.triggers;
        let home = triggers.list[trigger].home;
        for opening in triggers.opened(trigger, activation) {
            self.tell(home, triggers.openings[opening].host, Timer::Opening(opening));
        }
    }

    /// Node `from` lets node `to` know: at once if they are one, else as late as the network may be.
    fn tell(&mut self, from: NodeId, to: NodeId, message: Timer) {
        if from == to {
            self.timer(self.now, message);
        } else {
            self.out.post(to, self.now + self.net.relay, message);
        }
    }
}
