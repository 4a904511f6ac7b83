//! What a program is, and what it sees.

use crate::event::packet::Packet;
use crate::ids::{LinkId, NodeId};
use crate::port::Port;
use crate::spec::{FlowSpec, Spec};
use incast_cc::{Rate, Time};
use incast_record::EntryRecord;

/// What a program sees at a node.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Now.
    pub now: Time,
    /// The node.
    pub node: NodeId,
    /// Its ports, as they are now.
    pub ports: &'a [Port],
    /// Flows of the run: far away in memory, for what the packet does not say itself.
    pub flows: &'a [FlowSpec],
    /// The port that the packet came in by: that of the link back to where it came from. `None` where it comes from
    /// the node's own stack, or no link leads back.
    pub ingress: Option<usize>,
    /// The port that it will leave by; `None` where it goes to the node's own stack.
    pub egress: Option<usize>,
}

impl At<'_> {
    /// Rate of the link of a port.
    pub fn rate(&self, port: usize) -> Rate {
        self.ports[port].rate()
    }

    /// Bytes that a packet takes on the link of a port, with what the link adds.
    pub fn bytes(&self, port: usize, packet: &Packet) -> u64 {
        packet.size as u64 + self.ports[port].framing() as u64
    }

    /// The end of the transmission of a packet that the FIFO queue of a port takes now.
    pub fn departure(&self, port: usize, packet: &Packet) -> Time {
        let port = &self.ports[port];
        port.free_at().max(self.now) + port.serialization(packet.size as u64)
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes no further.
    Drop,
    /// It leaves by another port; what is at its host stays there.
    To(usize),
}

/// A program: state of one node, changed in the order of the packets at that node.
pub trait SwitchProgram {
    /// Its node has ports that feed `links`, in the order of ports.
    fn placed(&mut self, _spec: &Spec, _links: &[LinkId]) {}

    /// A packet is at the node, its way is known, and its queue has not seen it. The program may change it.
    fn ingress(&mut self, at: &At, packet: &mut Packet) -> Verdict;

    /// It is told what becomes of packets at the queue.
    fn asks_queue(&self) -> bool {
        false
    }

    /// The queue of the port that the packet leaves by has taken it, or has refused it.
    fn queued(&mut self, _at: &At, _packet: &Packet, _accepted: bool) {}

    /// Shows its state at a port, for time series.
    fn observe(&self, _at: &At, _port: usize, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// Shows what its entries have counted up to `end`, where it has some. The caller fills in node and program.
    fn report(&self, _end: Time, _visit: &mut dyn FnMut(EntryRecord)) {}
}
