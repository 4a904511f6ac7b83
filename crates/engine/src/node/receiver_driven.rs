//! Packets of receiver-driven transports, from the stack to the wire of their host.

use crate::event::order::Timer;
use crate::event::packet::{Packet, flag};
use crate::host::receiver_driven::{Class, List, NicQueue, Pull};
use crate::host::scheduled::Message;
use crate::host::tokens::Eligibility;
use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use incast_cc::Time;
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// Queues a packet for its host's wire.
    pub fn emit(&mut self, host: HostIx, class: Class, packet: &Packet) {
        self.counts.sent += 1;
        if packet.has(flag::SLOW_PATH) {
            let node = self.hosts[host].node;
            self.trace(packet, Happening::Send, Site::Node(node));
        }
        if self.shared.receiver_driven[host.ix()].nic_queue.sends_at_once(class, packet, self.now) {
            self.put_on_wire(host, packet);
        }
        self.serve_nic_queue(host);
    }

    /// Puts the next packets on the wire of a host while it is free, then awaits the end of the transmission.
    fn serve_nic_queue(&mut self, host: HostIx) {
        loop {
            let nic_queue = &mut self.shared.receiver_driven[host.ix()].nic_queue;
            if !nic_queue.is_free(self.now) {
                break;
            }
            // a waiting sender gets its tx slot by an event: here it would send in the middle of another action
            let Some(packet) = nic_queue.next_packet() else { break };
            self.put_on_wire(host, &packet);
        }
        self.await_tx_slot(host);
    }

    /// Puts a packet on the wire of its host, which must be free.
    pub fn put_on_wire(&mut self, host: HostIx, packet: &Packet) {
        let port = self.hosts[host].port;
        let p = &self.ports[port];
        let ends = if p.fails() { None } else { Some(self.now + p.serialization(packet.size as u64)) };
        self.transmit(port, packet, None);
        let ends = ends.unwrap_or_else(|| self.ports[port].free_at().max(self.now));
        self.shared.receiver_driven[host.ix()].nic_queue.free_at = ends;
    }

    /// Sets an event at the end of the transmission in progress, if anything waits.
    pub fn await_tx_slot(&mut self, host: HostIx) {
        let nic_queue = &mut self.shared.receiver_driven[host.ix()].nic_queue;
        if !nic_queue.event_pending && !nic_queue.is_empty() {
            nic_queue.event_pending = true;
            let (at, node) = (nic_queue.free_at.max(self.now), self.hosts[host].node);
            self.timer(at, Timer::Tx(node));
        }
    }

    /// Sends a packet of a sender that has its tx slot, or found the wire free.
    pub fn send_in_slot(&mut self, host: HostIx, packet: &Packet) {
        self.counts.sent += 1;
        if packet.has(flag::SLOW_PATH) {
            let node = self.hosts[host].node;
            self.trace(packet, Happening::Send, Site::Node(node));
        }
        self.put_on_wire(host, packet);
    }

    /// Asks for the wire of a host, for a sender. Returns whether it is free; if not, the sender gets a later tx slot.
    pub fn request_tx_slot(&mut self, host: HostIx, flow: FlowId) -> bool {
        self.nic_free_or(host, |nic_queue| nic_queue.push_sender(flow))
    }

    /// Asks for the wire of a host, for a sender with `left` bytes to send. Returns whether it is free; if not, the
    /// sender gets its tx slot before senders with more.
    pub fn request_tx_slot_ranked(&mut self, host: HostIx, flow: FlowId, left: u64) -> bool {
        self.nic_free_or(host, |nic_queue| nic_queue.push_ranked(left, flow))
    }

    /// Returns whether the wire of a host is free. If not, calls `waits`.
    fn nic_free_or(&mut self, host: HostIx, waits: impl FnOnce(&mut NicQueue)) -> bool {
        let nic_queue = &mut self.shared.receiver_driven[host.ix()].nic_queue;
        if nic_queue.is_free(self.now) && nic_queue.is_empty() {
            return true;
        }
        waits(nic_queue);
        self.await_tx_slot(host);
        false
    }

    /// Sets the message of a flow that waits for grants of its receiver's host, if any, and reconsiders all messages
    /// that may be granted.
    pub fn schedule(&mut self, host: HostIx, flow: FlowId, message: Option<Message>) {
        let scheduled = &mut self.shared.receiver_driven[host.ix()].scheduled;
        if scheduled.set(flow, message) && scheduled.at == Time::NEVER {
            scheduled.at = self.now;
            let node = self.hosts[host].node;
            self.timer(self.now, Timer::Pull(node));
        }
    }

    /// Sets the message of a flow that waits for tokens of its receiver's host, if any.
    pub fn wait_for_token(&mut self, host: HostIx, flow: FlowId, eligibility: Option<Eligibility>) {
        self.shared.receiver_driven[host.ix()].tokens.set(self.now, flow, eligibility);
        self.await_token(host);
    }

    /// Records that a host has given a token: the next one follows at least `gap` later.
    pub fn space_tokens(&mut self, host: HostIx, gap: Time) {
        self.shared.receiver_driven[host.ix()].tokens.give(self.now, gap);
    }

    /// Sets the event that gives a host's next token, unless it is set already.
    pub fn await_token(&mut self, host: HostIx) {
        if let Some(at) = self.shared.receiver_driven[host.ix()].tokens.due(self.now) {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Token(node));
        }
    }

    /// Lets a flow wait for credit of its receiver's host.
    pub fn wait_for_credit(&mut self, host: HostIx, list: List, flow: FlowId) {
        if let Some(at) = self.shared.receiver_driven[host.ix()].credits.push(self.now, list, flow) {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Pull(node));
        }
    }

    /// Returns whether a pull goes with the answer about to leave. If not, queues it, to go `gap` after another.
    pub fn pulls_now(&mut self, host: HostIx, gap: Time, pull: Pull) -> bool {
        let pulls = &mut self.shared.receiver_driven[host.ix()].pulls;
        if pulls.may_go(self.now, gap) {
            return true;
        }
        if let Some(at) = pulls.push(pull) {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Pull(node));
        }
        false
    }

    /// Takes the pull that is due at a host.
    pub fn next_pull(&mut self, host: HostIx) -> Option<Pull> {
        let pulls = &mut self.shared.receiver_driven[host.ix()].pulls;
        let pull = pulls.pop(self.now);
        let at = pulls.at;
        if at != Time::NEVER {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Pull(node));
        }
        pull
    }
}
