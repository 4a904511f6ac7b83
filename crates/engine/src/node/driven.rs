//! Packets of receiver-driven transports, from the stack to the wire of their host.

use crate::event::order::Timer;
use crate::event::packet::{Packet, flag};
use crate::host::driven::{Class, List, Outlet, Pull};
use crate::host::scheduled::Message;
use crate::host::tokens::Standing;
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
        if self.shared.driven[host.ix()].outlet.passes(class, packet, self.now) {
            self.put_on_wire(host, packet);
        }
        self.serve_outlet(host);
    }

    /// Puts the next packets on the wire of a host while it is free, then awaits the end of the transmission.
    fn serve_outlet(&mut self, host: HostIx) {
        loop {
            let outlet = &mut self.shared.driven[host.ix()].outlet;
            if !outlet.is_free(self.now) {
                break;
            }
            // a waiting sender gets its tx slot by an event: here it would send in the middle of another action
            let Some(packet) = outlet.next_packet() else { break };
            self.put_on_wire(host, &packet);
        }
        self.await_wire(host);
    }

    /// Puts a packet on the wire of its host, which must be free.
    pub fn put_on_wire(&mut self, host: HostIx, packet: &Packet) {
        let port = self.hosts[host].port;
        let p = &self.ports[port];
        let ends = if p.fails() { None } else { Some(self.now + p.serialization(packet.size as u64)) };
        self.transmit(port, packet, None);
        let ends = ends.unwrap_or_else(|| self.ports[port].free_at().max(self.now));
        self.shared.driven[host.ix()].outlet.free_at = ends;
    }

    /// Sets an event at the end of the transmission in progress, if anything waits.
    pub fn await_wire(&mut self, host: HostIx) {
        let outlet = &mut self.shared.driven[host.ix()].outlet;
        if !outlet.awaited && !outlet.is_empty() {
            outlet.awaited = true;
            let (at, node) = (outlet.free_at.max(self.now), self.hosts[host].node);
            self.timer(at, Timer::Turn(node));
        }
    }

    /// Sends a packet of a sender that has its tx slot, or found the wire free.
    pub fn launch(&mut self, host: HostIx, packet: &Packet) {
        self.counts.sent += 1;
        if packet.has(flag::SLOW_PATH) {
            let node = self.hosts[host].node;
            self.trace(packet, Happening::Send, Site::Node(node));
        }
        self.put_on_wire(host, packet);
    }

    /// Asks for the wire of a host, for a sender. Returns whether it is free; if not, the sender gets a later tx slot.
    pub fn asks_for_wire(&mut self, host: HostIx, flow: FlowId) -> bool {
        self.wire_or(host, |outlet| outlet.push_sender(flow))
    }

    /// Asks for the wire of a host, for a sender with `left` bytes to send. Returns whether it is free; if not, the
    /// sender gets its tx slot before senders with more.
    pub fn asks_for_wire_by(&mut self, host: HostIx, flow: FlowId, left: u64) -> bool {
        self.wire_or(host, |outlet| outlet.push_ranked(left, flow))
    }

    /// Returns whether the wire of a host is free. If not, calls `waits`.
    fn wire_or(&mut self, host: HostIx, waits: impl FnOnce(&mut Outlet)) -> bool {
        let outlet = &mut self.shared.driven[host.ix()].outlet;
        if outlet.is_free(self.now) && outlet.is_empty() {
            return true;
        }
        waits(outlet);
        self.await_wire(host);
        false
    }

    /// Sets the message of a flow that waits for grants of its receiver's host, if any, and reconsiders all messages
    /// that may be granted.
    pub fn schedule(&mut self, host: HostIx, flow: FlowId, message: Option<Message>) {
        let scheduled = &mut self.shared.driven[host.ix()].scheduled;
        if scheduled.set(flow, message) && scheduled.at == Time::NEVER {
            scheduled.at = self.now;
            let node = self.hosts[host].node;
            self.timer(self.now, Timer::Pull(node));
        }
    }

    /// Sets the message of a flow that waits for tokens of its receiver's host, if any.
    pub fn wait_for_token(&mut self, host: HostIx, flow: FlowId, standing: Option<Standing>) {
        self.shared.driven[host.ix()].tokens.set(self.now, flow, standing);
        self.await_token(host);
    }

    /// Records that a host has given a token: the next one follows at least `gap` later.
    pub fn space_tokens(&mut self, host: HostIx, gap: Time) {
        self.shared.driven[host.ix()].tokens.give(self.now, gap);
    }

    /// Sets the event that gives a host's next token, unless it is set already.
    pub fn await_token(&mut self, host: HostIx) {
        if let Some(at) = self.shared.driven[host.ix()].tokens.due(self.now) {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Token(node));
        }
    }

    /// Lets a flow wait for credit of its receiver's host.
    pub fn wait_for_credit(&mut self, host: HostIx, list: List, flow: FlowId) {
        if let Some(at) = self.shared.driven[host.ix()].credits.push(self.now, list, flow) {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Pull(node));
        }
    }

    /// Returns whether a pull goes with the answer about to leave. If not, queues it, to go `gap` after another.
    pub fn pulls_now(&mut self, host: HostIx, gap: Time, pull: Pull) -> bool {
        let pulls = &mut self.shared.driven[host.ix()].pulls;
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
        let pulls = &mut self.shared.driven[host.ix()].pulls;
        let pull = pulls.pop(self.now);
        let at = pulls.at;
        if at != Time::NEVER {
            let node = self.hosts[host].node;
            self.timer(at, Timer::Pull(node));
        }
        pull
    }
}
