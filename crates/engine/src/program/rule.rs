//! What a program is, and what it sees.

use crate::event::packet::{Ext, Packet};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::port::Port;
use crate::spec::{FlowSpec, Spec};
use incast_cc::{Rate, Time};
use incast_record::EntryRecord;
use std::mem::take;

/// What a program sees at a node.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Now.
    pub now: Time,
    /// The node.
    pub node: NodeId,
    /// Its ports, as they are now.
    pub ports: &'a [Port],
    /// The port that the packet came in by: that of the link back to where it came from. `None` where it comes from
    /// the node's own stack, or no link leads back.
    pub ingress: Option<usize>,
    /// The port that it will leave by; `None` where it goes to the node's own stack.
    pub egress: Option<usize>,
    /// Tells connections apart.
    pub connections: &'a dyn Connections,
}

/// Tells which connection a packet belongs to.
pub trait Connections {
    /// The connection of a packet, and the way it goes.
    fn direction(&self, packet: &Packet) -> Direction;
    /// A flow as asked for: far away in memory, for what its packets do not say.
    fn flow(&self, flow: FlowId) -> &FlowSpec;
}

/// A direction of a connection, as packets of either of its flows tell it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Direction {
    /// The flow that opens the connection.
    pub flow: FlowId,
    /// Towards the host that opens it.
    pub back: bool,
    /// Which of the flow's connections, one after the other.
    pub number: u64,
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
        let (bytes, port) = (self.bytes(port, packet), &self.ports[port]);
        let begins = port.free_at().max(self.now);
        begins + port.wire_from(begins, bytes)
    }

    /// Bytes that a port has still to transmit, with what its link adds to them.
    pub fn queue(&self, port: usize) -> u64 {
        self.ports[port].stamp(self.now).queue as u64
    }

    /// The connection that a packet belongs to, and the way it goes.
    pub fn direction(&self, packet: &Packet) -> Direction {
        self.connections.direction(packet)
    }
}

/// A packet that a program sends.
#[derive(Clone, Debug)]
pub struct Sending {
    /// The packet.
    pub packet: Packet,
    /// Its extension.
    pub ext: Option<Ext>,
    /// The port that it came in by, where it has waited at the node.
    pub ingress: Option<usize>,
    /// The port that it leaves by; `None`: it is dropped, or where the program has made it is for the node's own stack.
    pub egress: Option<usize>,
    /// The program has made it; else it has kept it.
    pub made: bool,
}

/// What there is beside the packet at work: its extension, and packets that the program sends.
#[derive(Debug)]
pub struct Beside<'a> {
    /// Its extension, if it has one.
    pub ext: Option<&'a mut Ext>,
    sends: &'a mut Vec<Sending>,
}

impl<'a> Beside<'a> {
    /// With this extension; what is sent goes to `sends`.
    pub fn new(ext: Option<&'a mut Ext>, sends: &'a mut Vec<Sending>) -> Beside<'a> {
        Beside { ext, sends }
    }

    /// Sends a packet that the program has made, before the one at work. Programs of the node that come after this one
    /// see it.
    pub fn send(&mut self, packet: Packet, egress: usize) {
        self.sends.push(Sending { packet, ext: None, ingress: None, egress: Some(egress), made: true });
    }

    /// A packet that the program has made is for its host's own stack, as if it came over `link`, which leads there.
    pub fn tell_stack(&mut self, mut packet: Packet, link: LinkId) {
        packet.link = link;
        self.sends.push(Sending { packet, ext: None, ingress: None, egress: None, made: true });
    }

    /// Sends a packet that the program has kept, as [`Beside::send`] does; without `egress` it is dropped.
    pub fn release(&mut self, (packet, ext): (Packet, Option<Ext>), ingress: Option<usize>, egress: Option<usize>) {
        self.sends.push(Sending { packet, ext, ingress, egress, made: false });
    }

    /// Takes the extension of the packet at work, which the program keeps ([`Verdict::Keep`]).
    pub fn take_ext(&mut self) -> Option<Ext> {
        self.ext.as_deref_mut().map(take)
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
    /// The program has copied it, and will send it later.
    Keep,
}

/// A program: state of one node, changed in the order of the packets at that node.
pub trait SwitchProgram {
    /// Its node has ports that feed `links`, in the order of ports.
    fn placed(&mut self, _spec: &Spec, _links: &[LinkId]) {}

    /// [`SwitchProgram::ingress`] would leave all as it is: of the packet, which came in by port `ingress`, and of the
    /// program. Most packets are no more than this question where a program has a short answer.
    fn ignores(&self, _ingress: Option<usize>, _packet: &Packet) -> bool {
        false
    }

    /// A packet is at the node, its way is known, and its queue has not seen it. The program may change it.
    fn ingress(&mut self, at: &At, packet: &mut Packet, beside: &mut Beside) -> Verdict;

    /// It is told what becomes of packets at the queue.
    fn asks_queue(&self) -> bool {
        false
    }

    /// The queue of the port that the packet leaves by has taken it, or has refused it.
    fn queued(&mut self, _at: &At, _packet: &Packet, _accepted: bool) {}

    /// It sees packets that leave.
    fn asks_egress(&self) -> bool {
        false
    }

    /// The transmission of a packet ends at port [`At::egress`], whose queue is explicit. The program may change it.
    fn egress(&mut self, _at: &At, _packet: &mut Packet, _ext: Option<&mut Ext>) {}

    /// It has a timer.
    fn has_timer(&self) -> bool {
        false
    }

    /// When its timer is due; [`Time::NEVER`] where it is not set.
    fn due(&self) -> Time {
        Time::NEVER
    }

    /// Its timer is due.
    fn timer(&mut self, _at: &At, _beside: &mut Beside) {}

    /// Shows the packets that it keeps.
    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}

    /// Shows its state at a port, for time series.
    fn observe(&self, _at: &At, _port: usize, _visit: &mut dyn FnMut(&'static str, f64)) {}

    /// Shows what its entries have counted up to `end`, where it has some. The caller fills in node and program.
    fn report(&self, _end: Time, _visit: &mut dyn FnMut(EntryRecord)) {}
}
