//! Match-action tables of switches and hosts, as data (`docs/programs/table.md`).

use incast_cc::{Rate, Time};
use std::sync::Arc;

/// A pipeline of tables, with the state that each node has for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its registers.
    pub registers: Arc<[Register]>,
    /// Its meters.
    pub meters: Vec<Meter>,
    /// Its tables, in the order in which packets meet them: those of arriving packets, then those of leaving ones.
    pub stages: Arc<[Stage]>,
    /// What answers packets that tables send to the controller.
    pub controller: Option<Controller>,
}

/// A controller, as one node sees it: every node has a channel and a server there of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Controller {
    /// Of the channel, each way.
    pub latency: Time,
    /// What the way to the controller's node adds to that, by node that asks, rising; empty where it is at none.
    pub ways: Vec<(u32, Time)>,
    /// What the controller needs for a packet; the packets of a node one after another.
    pub processing: Time,
    /// Packets that wait at a node at most; more are dropped.
    pub buffer: Option<u32>,
    /// A packet that no entry matches after its answer is dropped; else it goes on to the next table.
    pub drops: bool,
    /// What it installs.
    pub install: Arc<[Template]>,
}

/// An entry that the controller installs for a packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Template {
    /// Number of the table.
    pub stage: usize,
    /// It is installed for packets that this matches, and matches such packets, ...
    pub entry: Entry,
    /// ... of which these parts are as in the packet that asked.
    pub exact: Vec<Exact>,
}

/// A part of a packet that an installed entry takes from the one that asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exact {
    /// A field, all its bits.
    Field(Field),
    /// A port.
    Port(Side),
}

/// An integer that entries read and write.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Name, of its time series too.
    pub name: &'static str,
    /// Every port has one; else the node has one.
    pub per_port: bool,
}

/// A token bucket that packets are held against.
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// Rate at which it fills, above 0.
    pub rate: Rate,
    /// Bytes that it holds.
    pub burst: u64,
    /// What becomes of packets above it.
    pub above: Above,
}

/// What becomes of packets above a meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    /// They go no further.
    Drop,
    /// They are marked.
    Mark,
}

/// One table.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// Name.
    pub name: String,
    /// Its entries, the highest priority first.
    pub entries: Vec<Entry>,
    /// What becomes of packets that no entry matches.
    pub miss: Miss,
    /// It meets packets at the end of their transmission, at ports with explicit queues.
    pub egress: bool,
}

/// What becomes of packets that no entry of a table matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Miss {
    /// They go on to the next table.
    Pass,
    /// They go no further.
    Drop,
    /// They wait at the node until the controller answers.
    Controller,
}

/// One entry of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Name, in results.
    pub name: String,
    /// Of several that match a packet the one of the highest priority counts.
    pub priority: u16,
    /// The packets that it matches.
    pub matches: Match,
    /// ... where this holds.
    pub when: Option<Formula>,
    /// What is done with them, in order.
    pub actions: Vec<Action>,
    /// It is no longer there after so long without a packet.
    pub idle: Option<Time>,
    /// It is no longer there so long after it was installed.
    pub hard: Option<Time>,
}

/// Bits of [`Field::Flags`], as TCP's header has them (RFC 9293 3.1).
pub mod tcp_flag {
    /// FIN.
    pub const FIN: u32 = 1;
    /// SYN.
    pub const SYN: u32 = 1 << 1;
    /// RST.
    pub const RST: u32 = 1 << 2;
    /// PSH.
    pub const PSH: u32 = 1 << 3;
    /// ACK.
    pub const ACK: u32 = 1 << 4;
    /// ECE.
    pub const ECE: u32 = 1 << 6;
    /// CWR.
    pub const CWR: u32 = 1 << 7;
    /// All of them.
    pub const ALL: u32 = FIN | SYN | RST | PSH | ACK | ECE | CWR;
}

/// A part of a packet that entries match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Field {
    /// Number of its flow.
    Flow,
    /// Host that sent it.
    Source,
    /// Host that it is for.
    Destination,
    /// Bits of [`tcp_flag`]; 0 of what is no TCP segment. Fragments after the first have no FIN, SYN and RST.
    Flags,
    /// Bit 4: it is of TCP. Lower bits: kind, by [`KindOf`].
    Kind,
    /// Traffic class.
    Class,
    /// Bit 0: ECN-capable; bit 1: congestion experienced.
    Ecn,
    /// IP bytes.
    Size,
    /// Payload bytes of its segment.
    Len,
}

/// Lower bits of [`Field::Kind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindOf {
    /// TCP segment of the data direction.
    Data,
    /// TCP segment that acknowledges and carries no data.
    Ack,
    /// TCP segment that opens a connection.
    Syn,
    /// TCP segment that aborts one.
    Rst,
    /// UDP datagram.
    Datagram,
    /// Congestion notification packet.
    Cnp,
    /// Negative acknowledgement of trimmed data.
    Nack,
    /// A host says that its flow is idle.
    Idle,
    /// A host says that its flow is so no longer.
    Resumed,
    /// Something else of the simulator.
    Other,
}

impl KindOf {
    /// The bit of [`Field::Kind`] that segments of TCP have.
    pub const TCP: u32 = 16;

    /// The value of [`Field::Kind`].
    pub fn bits(self) -> u32 {
        let tcp = matches!(self, KindOf::Data | KindOf::Ack | KindOf::Syn | KindOf::Rst);
        self as u32 | if tcp { KindOf::TCP } else { 0 }
    }
}

/// A field has `value` in the bits of `mask`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masked {
    /// Which.
    pub field: Field,
    /// No bits outside the mask.
    pub value: u32,
    /// Bits that count.
    pub mask: u32,
}

/// Packets that an entry matches: all, where nothing is said.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Match {
    /// Each field once at most.
    pub fields: Vec<Masked>,
    /// The port that they came in by.
    pub ingress: Option<Way>,
    /// The port that they will leave by.
    pub egress: Option<Way>,
}

/// A port of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// None: the node's own stack.
    Stack,
    /// The one that feeds one of these links, of which a node has one at most.
    Links(Vec<u32>),
}

/// Whose a register, or a port's value, is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Of the port that the packet came in by.
    Ingress,
    /// Of the port that it will leave by.
    Egress,
}

/// What actions write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The window that a TCP segment advertises, bytes.
    Window,
    /// The mark of congestion of an ECN-capable packet: 0 or another number.
    Mark,
    /// A register of the node, by its number.
    Node(u16),
    /// A register of a port.
    Port(u16, Side),
}

/// What is done with a packet. Where a value has no meaning (a division by 0, a port that is none) nothing is done.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// The target becomes so much larger.
    Add(Target, Formula),
    /// The target becomes this.
    Set(Target, Formula),
    /// The target becomes this where it is more.
    Lower(Target, Formula),
    /// The target becomes this where it is less.
    Raise(Target, Formula),
    /// Marks it, if it is ECN-capable.
    Mark,
    /// It goes no further.
    Drop,
    /// It leaves by the port that it came in by.
    Back,
    /// It leaves by the port that feeds one of these links, of which a node has one at most.
    Output(Vec<u32>),
    /// It has this traffic class from here on.
    Class(u8),
    /// It goes to a later table, by its number.
    Goto(usize),
    /// It is held against a meter, by its number.
    Meter(usize),
}

/// An integer expression in postfix order. It needs at most [`DEPTH`] values at once.
pub type Formula = Arc<[Op]>;

/// Most values that a formula holds at once.
pub const DEPTH: usize = 16;

/// A step of a formula. Truth is 1, falsehood 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A number.
    Number(i64),
    /// Advertised window, bytes.
    Window,
    /// IP bytes.
    Size,
    /// Payload bytes.
    Len,
    /// Flow number.
    Flow,
    /// Now, ps.
    Now,
    /// Rate of the link of a port, bit/s.
    Rate(Side),
    /// Bytes in the queue of a port.
    Queue(Side),
    /// Bytes that a port has sent since the run began.
    Sent(Side),
    /// A register of the node.
    Node(u16),
    /// A register of a port.
    Port(u16, Side),
    /// Minus the top.
    Negate,
    /// Whether the top is 0.
    Not,
    /// Of the two on top: their sum.
    Add,
    /// The lower less the upper.
    Subtract,
    /// Their product.
    Multiply,
    /// Bits that a rate (bit/s) makes in a time (ps), rounded down.
    Bits,
    /// The lower over the upper, rounded down; no value where that is 0.
    Divide,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Whether the lower is less.
    Less,
    /// Whether the lower is not greater.
    AtMost,
    /// Whether they are equal.
    Equal,
    /// Where the top is 0 it stays and so many steps are left out; else it is taken off.
    UnlessFalse(u16),
    /// Where the top is not 0 it stays and so many steps are left out; else it is taken off.
    UnlessTrue(u16),
}
