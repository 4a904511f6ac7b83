//! Records of packets and ports: lines of the packet trace, and time series of queues.

use crate::event::packet::{Kind, Packet, flag};
use crate::ids::{LinkId, NodeId, PortIx};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::port::{Port, Sent};
use crate::radio::Cell;
use incast_cc::Time;
use incast_record::{Happening, MonitorEvent, MonitorStep, PacketEvent, Recorder, Sample};
use std::sync::Arc;

/// Names of flags.
const FLAGS: [(u16, &str); 8] = [
    (flag::FIN, "FIN"),
    (flag::ACK, "ACK"),
    (flag::ECT, "ECT"),
    (flag::CE, "CE"),
    (flag::ECE, "ECE"),
    (flag::CWR, "CWR"),
    (flag::RETX, "RETX"),
    (flag::PSH, "PSH"),
];

/// Place of a packet's event.
#[derive(Clone, Copy, Debug)]
pub enum Site {
    /// At the port of a link.
    Link(LinkId),
    /// At a host.
    Node(NodeId),
}

impl<E: Effects> NodeCtx<'_, E> {
    /// Adds the changes at a port up to now to its time series, if it has one.
    pub fn watch(&mut self, port: PortIx) {
        if self.net.pfc.is_some() {
            self.counts.happened(self.now);
        }
        let p = &mut self.ports[port];
        if p.is_probed() {
            observe_port(p, self.now, self.net, self.rec);
        }
    }

    /// Adds the lines for a packet offered to a port.
    #[cold]
    pub fn trace_sent(&mut self, packet: &Packet, sent: Sent, link: LinkId) {
        match sent {
            Sent::Dropped => self.trace(packet, Happening::Drop, Site::Link(link)),
            Sent::Arrives { marked: true, .. } => {
                let mut marked = *packet;
                marked.flags |= flag::CE;
                self.trace(&marked, Happening::Mark, Site::Link(link));
            }
            Sent::Arrives { .. } => self.trace(packet, Happening::Enqueue, Site::Link(link)),
            Sent::Lost { at } => {
                self.trace(packet, Happening::Enqueue, Site::Link(link));
                self.trace_at(at, packet, Happening::Loss, Site::Link(link));
            }
        }
    }

    /// Adds a line to the packet trace, if the packet's flow is traced.
    pub fn trace(&mut self, packet: &Packet, event: Happening, site: Site) {
        self.trace_at(self.now, packet, event, site);
    }

    /// Adds a line for an event at `time`. A run that ends earlier removes it.
    #[cold]
    fn trace_at(&mut self, time: Time, packet: &Packet, event: Happening, site: Site) {
        let spec = self.net.spec;
        if spec.observe.monitors() {
            self.monitor(time, packet, event, site);
        }
        if !spec.observe.trace.contains(&packet.flow.0) {
            return; // a packet that ports stamp or count
        }
        let place = match site {
            Site::Link(link) => spec.links[link].name.to_string(),
            Site::Node(node) => spec.node_names[node].clone(),
        };
        let kind = match packet.kind() {
            Kind::Syn => Some("SYN"),
            Kind::Rst => Some("RST"),
            Kind::Numbered => Some("NUMBERED"),
            Kind::Returned => Some("RETURNED"),
            _ => None,
        };
        let flags = FLAGS.iter().filter(|(bit, _)| packet.has(*bit)).map(|(_, name)| *name);
        let flags: Vec<&str> = kind.into_iter().chain(flags).collect();
        self.rec.packet(line(time, packet, event, (place, packet.size as u32, flags.join("|"))));
    }

    /// Adds a line for a radio frame of `packet` to the packet trace: station, bytes of the PSDU, flags.
    #[cold]
    pub fn trace_frame(
        &mut self,
        time: Time,
        packet: &Packet,
        event: Happening,
        (station, psdu, flags): (NodeId, u8, String),
    ) {
        let spec = self.net.spec;
        if spec.observe.trace.contains(&packet.flow.0) {
            let place = spec.node_names[station].clone();
            self.rec.packet(line(time, packet, event, (place, psdu as u32, flags)));
        }
    }
}

/// A line of the packet trace.
fn line(time: Time, packet: &Packet, event: Happening, (place, size, flags): (String, u32, String)) -> PacketEvent {
    PacketEvent {
        time_ps: time.0,
        flow: packet.flow.0,
        place,
        event,
        seq: if packet.is_reverse() { 0 } else { packet.seq() },
        // receiver-driven transports use the field otherwise
        ack: if packet.is(Kind::Numbered) || packet.is(Kind::Rts) { 0 } else { packet.ack },
        payload: packet.len as u32,
        size,
        flags,
    }
}

impl<E: Effects> NodeCtx<'_, E> {
    /// Records a step of a packet, if its direction has a FlowMonitor entry.
    fn monitor(&mut self, time: Time, packet: &Packet, event: Happening, site: Site) {
        let observe = &self.net.spec.observe;
        let reverse = packet.is_reverse();
        let control = packet.is(Kind::Ack) || packet.is(Kind::Syn) || packet.is(Kind::Rst);
        let counted =
            if reverse { observe.acks && control && !packet.has(flag::DUPLEX) } else { observe.monitors_data() };
        if !counted {
            return;
        }
        let number = if reverse { 0 } else { packet.part().0 };
        // data has arrived once the host has it as a whole: engines may drop it, and it may arrive without its payload
        let data = !reverse && packet.len > 0;
        let step = match (event, site) {
            (Happening::Send, _) if number == 0 => MonitorStep::Sent { measured: self.measured() },
            (Happening::Arrive, Site::Node(node)) if node == packet.dst && !data => MonitorStep::Arrived,
            (Happening::Receive, _) if data => MonitorStep::Arrived,
            (Happening::Drop | Happening::Loss, _) => MonitorStep::Lost,
            (Happening::Unreachable, _) => MonitorStep::Unreachable,
            _ => return,
        };
        let (flow, time_ps) = (packet.flow.0, time.0);
        self.rec.monitor(MonitorEvent { flow, reverse, time_ps, step, id: packet.id, size: packet.size });
    }
}

/// Adds the series of a cell's channel up to `end`, if it has one.
pub fn observe_cell<R: Recorder>(cell: &mut Cell, end: Time, net: &FabricMap, rec: &mut R) {
    let name: Arc<str> = net.spec.node_names[cell.channel_node()].as_str().into();
    cell.busy_series(net.spec.observe.interval, end, &mut |at, value| {
        rec.sample(Sample { entity: name.clone(), name: "channel_busy", time_ps: at.0, value });
    });
}

/// Adds the changes at a probed port up to `now` to its time series.
#[cold]
pub fn observe_port<R: Recorder>(port: &mut Port, now: Time, net: &FabricMap, rec: &mut R) {
    let name: Arc<str> = (*net.spec.links[port.link].name).into();
    port.observe(now, &net.interval, net.spec.observe.interval, &mut |at, value| {
        rec.sample(Sample { entity: name.clone(), name: "queue_packets", time_ps: at.0, value: value as f64 });
    });
}
