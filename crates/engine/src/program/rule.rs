//! Interface of a program.

use crate::event::packet::{Ext, Packet};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::port::Port;
use crate::spec::{FlowSpec, Spec};
use incast_cc::{Rate, Time};
use incast_record::EntryRecord;
use std::mem::take;

/// Context of a program at a node.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Now.
    pub now: Time,
    /// The node.
    pub node: NodeId,
    /// Ports of the node in their current state.
    pub ports: &'a [Port],
    /// Ingress port of the packet: the port of the link back to the sending node. `None` if the packet comes from the
    /// node's own stack, or no link leads back.
    pub ingress: Option<usize>,
    /// Egress port of the packet; `None` if it goes to the node's own stack.
    pub egress: Option<usize>,
    /// Map of packets to connections.
    pub connections: &'a dyn Connections,
}

/// Map of packets to connections.
pub trait Connections {
    /// Connection and direction of a packet.
    fn direction(&self, packet: &Packet) -> Direction;
    /// Specification of a flow, for facts that packets do not carry. Access is slow: it lies elsewhere in memory.
    fn flow(&self, flow: FlowId) -> &FlowSpec;
}

/// Direction of a connection, known from packets of either of its flows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Direction {
    /// Flow that opens the connection.
    pub flow: FlowId,
    /// True towards the host that opens the connection.
    pub back: bool,
    /// Number of the connection among the successive connections of the flow.
    pub number: u64,
}

impl At<'_> {
    /// Link rate of a port.
    pub fn rate(&self, port: usize) -> Rate {
        self.ports[port].rate()
    }

    /// Bytes of a packet on the link of a port, including overhead.
    pub fn bytes(&self, port: usize, packet: &Packet) -> u64 {
        packet.size as u64 + self.ports[port].framing() as u64
    }

    /// End of the transmission of a packet that the FIFO queue of a port accepts now.
    pub fn departure(&self, port: usize, packet: &Packet) -> Time {
        let (bytes, port) = (self.bytes(port, packet), &self.ports[port]);
        let begins = port.free_at().max(self.now);
        begins + port.wire_from(begins, bytes)
    }

    /// Bytes that a port still has to transmit, including link overhead.
    pub fn queue(&self, port: usize) -> u64 {
        self.ports[port].stamp(self.now).queue as u64
    }

    /// Connection and direction of a packet.
    pub fn direction(&self, packet: &Packet) -> Direction {
        self.connections.direction(packet)
    }
}

/// Packet that a program sends.
#[derive(Clone, Debug)]
pub struct Sending {
    /// The packet.
    pub packet: Packet,
    /// Extension of the packet.
    pub ext: Option<Ext>,
    /// Ingress port, if the packet has waited at the node.
    pub ingress: Option<usize>,
    /// Egress port. `None`: the packet is dropped, or, if the program created it, goes to the node's own stack.
    pub egress: Option<usize>,
    /// True if the program created the packet; otherwise it has held it.
    pub made: bool,
}

/// Extension of the current packet, and packets that the program sends.
#[derive(Debug)]
pub struct SideEffects<'a> {
    /// Extension of the current packet, if any.
    pub ext: Option<&'a mut Ext>,
    sends: &'a mut Vec<Sending>,
}

impl<'a> SideEffects<'a> {
    /// Context with this extension; sent packets go to `sends`.
    pub fn new(ext: Option<&'a mut Ext>, sends: &'a mut Vec<Sending>) -> SideEffects<'a> {
        SideEffects { ext, sends }
    }

    /// Sends a packet that the program created, before the current one. Later programs of the node process it.
    pub fn send(&mut self, packet: Packet, egress: usize) {
        self.sends.push(Sending { packet, ext: None, ingress: None, egress: Some(egress), made: true });
    }

    /// Delivers a packet that the program created to the host's own stack, as if it arrived over `link`, which leads to
    /// the host.
    pub fn deliver_to_stack(&mut self, mut packet: Packet, link: LinkId) {
        packet.link = link;
        self.sends.push(Sending { packet, ext: None, ingress: None, egress: None, made: true });
    }

    /// Sends a packet that the program has held, as [`SideEffects::send`] does; without `egress` it is dropped.
    pub fn release(&mut self, (packet, ext): (Packet, Option<Ext>), ingress: Option<usize>, egress: Option<usize>) {
        self.sends.push(Sending { packet, ext, ingress, egress, made: false });
    }

    /// Takes the extension of the current packet, which the program holds ([`Verdict::Keep`]).
    pub fn take_ext(&mut self) -> Option<Ext> {
        self.ext.as_deref_mut().map(take)
    }
}

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Forward the packet.
    Pass,
    /// Drop the packet.
    Drop,
    /// Send the packet by another port. A packet at its destination host stays there.
    To(usize),
    /// Hold the packet: the program has copied it, and will send it later.
    Keep,
}

/// Program: state of one node, changed in the order of the packets at that node.
pub trait SwitchProgram {
    /// Initialises the program at a node whose ports feed `links`, in the order of ports.
    fn placed(&mut self, _spec: &Spec, _links: &[LinkId]) {}

    /// True if [`SwitchProgram::ingress`] would change neither the packet, which arrived by port `ingress`, nor the
    /// program. A quick answer makes this the only cost of most packets.
    fn ignores(&self, _ingress: Option<usize>, _packet: &Packet) -> bool {
        false
    }

    /// Handles a packet at the node after routing and before its queue. The program may change it.
    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict;

    /// True if the program observes whether the queue accepts packets.
    fn asks_queue(&self) -> bool {
        false
    }

    /// Observes whether the queue of the egress port has accepted or refused the packet.
    fn queued(&mut self, _at: &At, _packet: &Packet, _accepted: bool) {}

    /// True if the program processes departing packets.
    fn asks_egress(&self) -> bool {
        false
    }

    /// Handles the end of the transmission of a packet at port [`At::egress`], whose queue is explicit. The program may
    /// change the packet.
    fn egress(&mut self, _at: &At, _packet: &mut Packet, _ext: Option<&mut Ext>) {}

    /// True if the program has a timer.
    fn has_timer(&self) -> bool {
        false
    }

    /// Time at which its timer is due; [`Time::NEVER`] if not set.
    fn due(&self) -> Time {
        Time::NEVER
    }

    /// Handles the timer.
    fn timer(&mut self, _at: &At, _effects: &mut SideEffects) {}

    /// Visits the packets that the program holds.
    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}

    /// Visits its state at a port, for time series.
    fn observe(&self, _at: &At, _port: usize, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// Visits the counts of its entries up to `end`, if it has entries. The caller fills in node and program.
    fn report(&self, _end: Time, _visit: &mut dyn FnMut(EntryRecord)) {}
}
