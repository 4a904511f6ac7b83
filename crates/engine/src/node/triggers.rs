//! Flows that end activate triggers, and triggers open flows ([`crate::map::triggers`] has the rules).

use crate::event::order::Timer;
use crate::event::outbox::Outbox;
use crate::ids::{FlowId, NodeId, TriggerId};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::Done;

impl<E: Effects> NodeCtx<'_, E> {
    /// Reports the end of a flow at one of its hosts to the triggers that count it.
    #[cold]
    pub fn announce(&mut self, flow: FlowId, done: Done) {
        let net = self.net;
        let host = NodeId(net.spec.host_of((flow.0, done)));
        for trigger in net.triggers.activated((flow, done)) {
            self.send_message(host, net.triggers.list[trigger].home, Timer::Activation(trigger));
        }
    }

    /// Called at activation number `activation` of `trigger`: notifies the hosts with flows to open.
    pub fn activated(&mut self, trigger: TriggerId, activation: u32) {
        let triggers = &self.net.triggers;
        let home = triggers.list[trigger].home;
        for opening in triggers.opened(trigger, activation) {
            self.send_message(home, triggers.openings[opening].host, Timer::Opening(opening));
        }
    }

    /// Sends a message from node `from` to node `to`: at once on one node, else after the longest latency of a link.
    fn send_message(&mut self, from: NodeId, to: NodeId, message: Timer) {
        if from == to {
            self.timer(self.now, message);
        } else {
            self.out.send_message(to, self.now + self.net.max_latency, message);
        }
    }
}
