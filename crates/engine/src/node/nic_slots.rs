//! Packets of transports that number packets, from the stack to the wire of their host.

use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet, flag};
use crate::host::nic_queue::{Class, Next};
use crate::ids::{FlowId, HostIx};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use incast_cc::Time;
use incast_record::Happening;

impl<E: Effects> NodeCtx<'_, E> {
    /// Queues a packet for its host's wire.
    pub fn emit(&mut self, host: HostIx, class: Class, packet: &Packet) {
        self.count_sent(host, packet);
        if self.shared.nic_queues[host.ix()].sends_at_once(class, packet, self.now) {
            self.put_on_wire(host, packet, None);
        }
        self.serve_nic_queue(host);
    }

    /// Queues a control packet with an extension for its host's wire, unless the wire is free for it.
    pub fn emit_control(&mut self, host: HostIx, packet: &Packet, ext: Option<Box<Ext>>) {
        self.count_sent(host, packet);
        let nic_queue = &mut self.shared.nic_queues[host.ix()];
        let held = nic_queue.is_held() && nic_queue.is_paused(self.net.class(packet));
        if !held && nic_queue.is_free(self.now) && nic_queue.is_empty() {
            return self.put_on_wire(host, packet, ext.map(|ext| *ext));
        }
        nic_queue.push_control(packet, ext);
        self.serve_nic_queue(host);
    }

    /// Takes the next packet or sender that may use the wire of a host.
    pub fn next_of_nic(&mut self, host: HostIx) -> Option<Next> {
        let (net, nic_queue) = (self.net, &mut self.shared.nic_queues[host.ix()]);
        if !nic_queue.is_held() {
            return nic_queue.next();
        }
        nic_queue.next_unpaused(|flow, control| {
            let flow = net.flow(flow);
            if control { flow.ack_class } else { flow.class }
        })
    }

    /// Pauses or resumes a class at the NIC of a host, as its port does.
    pub fn pause_nic(&mut self, host: HostIx, class: u8, pauses: bool) {
        self.shared.nic_queues[host.ix()].pause(class, pauses);
        if !pauses {
            self.await_tx_slot(host);
        }
    }

    /// Puts the next packets on the wire of a host while it is free, then awaits the end of the transmission.
    fn serve_nic_queue(&mut self, host: HostIx) {
        loop {
            let nic_queue = &mut self.shared.nic_queues[host.ix()];
            if !nic_queue.is_free(self.now) {
                break;
            }
            // a waiting sender gets its tx slot by an event: here it would send in the middle of another action
            if nic_queue.is_held() {
                break;
            }
            let Some((packet, ext)) = nic_queue.next_packet() else { break };
            self.put_on_wire(host, &packet, ext.map(|ext| *ext));
        }
        self.await_tx_slot(host);
    }

    /// Puts a packet on the wire of its host, which must be free.
    pub fn put_on_wire(&mut self, host: HostIx, packet: &Packet, mut ext: Option<Ext>) {
        let port = self.hosts[host].port;
        let p = &self.ports[port];
        let ends = if p.fails() { None } else { Some(self.now + p.serialization(packet.size as u64)) };
        self.transmit(port, packet, ext.as_mut());
        let ends = ends.unwrap_or_else(|| self.ports[port].free_at().max(self.now));
        self.shared.nic_queues[host.ix()].free_at = ends;
    }

    /// Sets an event at the end of the transmission in progress, if anything waits.
    pub fn await_tx_slot(&mut self, host: HostIx) {
        let nic_queue = &mut self.shared.nic_queues[host.ix()];
        if !nic_queue.event_pending && !nic_queue.is_empty() {
            nic_queue.event_pending = true;
            let (at, node) = (nic_queue.free_at.max(self.now), self.hosts[host].node);
            self.timer(at, Timer::NicSlot(node));
        }
    }

    /// Sends a packet of a sender that has its tx slot, or found the wire free.
    pub fn send_in_slot(&mut self, host: HostIx, packet: &Packet) {
        self.send_in_slot_with(host, packet, None);
    }

    /// [`NodeCtx::send_in_slot`] for a packet with an extension.
    pub fn send_in_slot_with(&mut self, host: HostIx, packet: &Packet, ext: Option<Ext>) {
        self.count_sent(host, packet);
        self.put_on_wire(host, packet, ext);
    }

    /// Counts a packet that the stack of a host hands over.
    fn count_sent(&mut self, host: HostIx, packet: &Packet) {
        self.counts.sent += 1;
        if packet.has(flag::SLOW_PATH) {
            let node = self.hosts[host].node;
            self.trace(packet, Happening::Send, Site::Node(node));
        }
    }

    /// Asks for the wire of a host, for a sender. Returns whether it is free; if not, the sender gets its tx slot
    /// later, before senders with more bytes `left` where it has some.
    pub fn request_tx_slot(&mut self, host: HostIx, flow: FlowId, left: Option<u64>) -> bool {
        let nic_queue = &mut self.shared.nic_queues[host.ix()];
        let held = nic_queue.is_held() && nic_queue.is_paused(self.net.flow(flow).class);
        if !held && nic_queue.is_free(self.now) && nic_queue.is_empty() {
            return true;
        }
        nic_queue.push_sender(flow, left);
        self.await_tx_slot(host);
        false
    }

    /// Sets the event at which a pacer of a host is due.
    pub fn pacer_timer(&mut self, host: HostIx, at: Time) {
        let node = self.hosts[host].node;
        self.timer(at, Timer::Pacer(node));
    }
}
