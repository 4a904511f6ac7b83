//! What is recorded of packets and ports: lines of the packet trace, time series of queues.

use crate::event::packet::{Packet, flag};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::port::{Port, Sent};
use incast_record::{Happening, PacketEvent, Recorder, Sample};
use std::sync::Arc;

impl<E: Effects> NodeCtx<'_, E> {
    /// Adds what happened at a port up to now to its time series, if it has one.
    pub fn watch(&mut self, port: u32) {
        if self.net.pfc.is_some() {
            self.counts.last = self.counts.last.max(self.now);
        }
        let p = &mut self.ports[port as usize];
        if p.is_probed() {
            observe_port(p, self.now, self.net, self.rec);
        }
    }

    /// Leaves the lines of what a port has made of a packet.
    #[cold]
    pub fn trace_sent(&mut self, packet: &Packet, sent: Sent, link: u32) {
        match sent {
            Sent::Dropped => self.trace(packet, Happening::Drop, true, link),
            Sent::Arrives { marked: true, .. } => {
                self.trace(&Packet { flags: packet.flags | flag::CE, ..*packet }, Happening::Mark, true, link);
            }
            Sent::Arrives { .. } => self.trace(packet, Happening::Enqueue, true, link),
            Sent::Lost { at } => {
                self.trace(packet, Happening::Enqueue, true, link);
                self.trace_at(at, packet, Happening::Loss, true, link);
            }
        }
    }

    /// Leaves a line in the packet trace, if its flow is traced.
    pub fn trace(&mut self, packet: &Packet, event: Happening, at_port: bool, place: u32) {
        self.trace_at(self.now, packet, event, at_port, place);
    }

    /// ... of what happens at `time`, ps: a run that ends before it takes the line back.
    #[cold]
    fn trace_at(&mut self, time: u64, packet: &Packet, event: Happening, at_port: bool, place: u32) {
        let spec = self.net.spec;
        if !spec.observe.trace.contains(&packet.flow) {
            return; // a packet that ports stamp
        }
        let place =
            if at_port { spec.links[place as usize].name.clone() } else { spec.node_names[place as usize].clone() };
        let mut flags = String::new();
        for (bit, name) in flag::NAMES {
            if packet.flags & bit != 0 {
                if !flags.is_empty() {
                    flags.push('|');
                }
                flags.push_str(name);
            }
        }
        self.rec.packet(PacketEvent {
            time_ps: time,
            flow: packet.flow,
            place,
            event,
            // an ACK has its host's delay there
            seq: if packet.has(flag::REVERSE) { 0 } else { packet.seq },
            ack: packet.ack,
            payload: packet.len as u32,
            size: packet.size as u32,
            flags,
        });
    }
}

/// Adds what happened at a probed port up to `now` to its time series.
#[cold]
pub fn observe_port<R: Recorder>(port: &mut Port, now: u64, net: &FabricMap, rec: &mut R) {
    let name: Arc<str> = net.spec.links[port.link as usize].name.as_str().into();
    port.observe(now, &net.interval, net.spec.observe.interval.map(|t| t.0), &mut |time_ps, value| {
        rec.sample(Sample { entity: name.clone(), name: "queue_packets", time_ps, value: value as f64 });
    });
}
