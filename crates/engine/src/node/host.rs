//! A packet inside a host: from the stack through the host's engines and its NIC to the port, and back.

use crate::event::order::Timer;
use crate::event::packet::{Ext, Packet, flag};
use crate::host::nic::Served;
use crate::host::processing::{Full, Held};
use crate::ids::{EngineId, FlowId, HostIx, Side};
use crate::node::context::{Effects, NodeCtx};
use crate::node::trace::Site;
use incast_record::{Happening, Recorder};
use std::mem::take;

impl<E: Effects> NodeCtx<'_, E> {
    /// True if the host's NIC accepts another data packet of `flow`.
    #[inline]
    pub fn has_room(&self, host: HostIx, flow: FlowId) -> bool {
        self.hosts[host].nic.as_ref().is_none_or(|nic| nic.has_room(flow, self.now))
    }

    /// Hands a packet to the host's NIC.
    #[inline(never)]
    pub fn send(&mut self, host: HostIx, packet: &Packet, ext: Option<&mut Ext>) {
        self.counts.sent += 1;
        if packet.has(flag::SLOW_PATH) {
            let node = self.hosts[host].node;
            self.trace(packet, Happening::Send, Site::Node(node));
        }
        if self.net.hosts_cost && self.hosts[host].send.is_some() {
            return self.process(host, Side::Send, packet, ext);
        }
        self.hand_over(host, packet, ext);
    }

    /// Passes a packet to one of its host's engines on this side. It may be lost there.
    #[cold]
    pub fn process(&mut self, host: HostIx, side: Side, packet: &Packet, ext: Option<&mut Ext>) {
        let h = &mut self.hosts[host];
        let node = h.node;
        let own = if side == Side::Send { &mut h.send } else { &mut h.receive };
        let Some(own) = own else { return };
        let engine = own.engine_of(self.net.spec.seed, packet);
        let held = Held { packet: *packet, ext: ext.map(take), since: self.now };
        match own.offer(engine, held, &self.net.interval) {
            Ok(Some(ends)) => self.timer(ends, Timer::Process(EngineId::new(node, side, engine))),
            Ok(None) => {}
            Err(Full) => {
                self.counts.drop_at(self.now);
                if packet.len > 0 && self.measured() {
                    self.rec.host_drop(packet.flow.0);
                }
                if packet.has(flag::SLOW_PATH) {
                    self.trace(packet, Happening::Drop, Site::Node(node));
                }
            }
        }
    }

    /// Takes a finished packet from an engine, which starts the next one.
    pub fn processed(&mut self, host: HostIx, id: EngineId) -> Option<Held> {
        let h = &mut self.hosts[host];
        let own = if id.side() == Side::Send { &mut h.send } else { &mut h.receive };
        let (held, next) = own.as_mut()?.finish(id.engine(), self.now, &self.net.interval)?;
        self.counts.happened(self.now);
        if let Some(ends) = next {
            self.timer(ends, Timer::Process(id));
        }
        Some(held)
    }

    /// Passes a packet from the host's engines to its NIC. For an ACK, the time taken adds to the host delay; data is
    /// stamped when it leaves the host.
    pub fn leave_host(&mut self, host: HostIx, held: Held) {
        let took = self.now - held.since;
        let (mut packet, mut ext) = (held.packet, held.ext);
        if packet.is_reverse() {
            packet.add_host_delay(took);
        } else {
            packet.set_sent_at(self.now);
            if let Some(ext) = &mut ext {
                ext.host += took;
            }
        }
        self.hand_over(host, &packet, ext.as_mut());
    }

    /// Passes a packet from the stack to the host's NIC.
    #[inline(always)]
    fn hand_over(&mut self, host: HostIx, packet: &Packet, ext: Option<&mut Ext>) {
        let h = &mut self.hosts[host];
        let Some(nic) = &mut h.nic else {
            let port = h.port;
            return self.transmit(port, packet, ext);
        };
        if nic.is_idle(self.now) {
            nic.begin(packet);
            self.transmit_from(host, packet, ext);
        } else {
            self.nic_changes(host, false);
            let h = &mut self.hosts[host];
            let Some(nic) = &mut h.nic else { return };
            nic.push(packet, ext, self.now);
            self.ports[h.port].holds_ahead(&nic.ahead(), self.now, || nic.whole_ahead(false));
            self.nic_changed(host);
            self.watch_nic(host);
        }
    }

    /// Makes the end of the transmission at the host's fair NIC an event, because something waits for it.
    #[inline(never)]
    pub fn watch_nic(&mut self, host: HostIx) {
        let h = &mut self.hosts[host];
        if let Some(done) = h.nic.as_mut().and_then(|nic| nic.end_event(self.now)) {
            let link = self.ports[h.port].link;
            self.timer(done, Timer::Departure(link));
        }
    }

    /// Lets a fair NIC take its next packet into service.
    pub fn serve(&mut self, host: HostIx) {
        self.nic_changes(host, true);
        let Some(nic) = &mut self.hosts[host].nic else { return };
        let Some(Served { mut packet, mut ext }) = nic.serve_next(self.now) else { return };
        if !packet.has(flag::ACK) {
            packet.set_sent_at(self.now);
        }
        self.transmit_from(host, &packet, ext.as_mut());
        self.nic_changed(host);
    }

    /// Called before the queues of a host's fair NIC change. Adds the packets that waited until now to the port's
    /// account. `moves`: the port takes the next packet.
    #[inline(always)]
    fn nic_changes(&mut self, host: HostIx, moves: bool) {
        let h = &self.hosts[host];
        let Some(nic) = &h.nic else { return };
        let port = &mut self.ports[h.port];
        if port.has_features() {
            port.set_ahead(nic.whole_ahead(moves));
            self.watch(h.port);
        }
        let Some(nic) = &self.hosts[host].nic else { return };
        let port = &mut self.ports[self.hosts[host].port];
        port.passes_ahead(&nic.ahead(), self.now, &self.net.interval, || nic.whole_ahead(moves));
    }

    /// Called after the queues have changed. Updates the port's view of them.
    #[inline(always)]
    fn nic_changed(&mut self, host: HostIx) {
        let h = &self.hosts[host];
        let Some(nic) = &h.nic else { return };
        let port = &mut self.ports[h.port];
        if port.has_features() {
            port.set_ahead(nic.whole_ahead(false));
            self.watch(h.port);
        }
    }

    /// Transmits a packet that the host's fair NIC has taken into service.
    #[inline(always)]
    fn transmit_from(&mut self, host: HostIx, packet: &Packet, ext: Option<&mut Ext>) {
        let port = self.hosts[host].port;
        let p = &self.ports[port];
        let (link, fails) = (p.link, p.fails());
        let done = self.now + p.serialization(packet.size as u64);
        self.transmit(port, packet, ext);
        // the link may have another rate: done when the port has sent the packet that it has just taken
        let done = if fails { self.ports[port].free_at().max(self.now) } else { done };
        if self.hosts[host].nic.as_mut().is_some_and(|nic| nic.ends(done, self.now)) {
            self.timer(done, Timer::Departure(link));
        }
    }
}
