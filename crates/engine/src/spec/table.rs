//! Match-action tables of switches and hosts, as data (`docs/programs/table.md`).

use incast_cc::{Rate, Time};
use std::sync::Arc;

/// Pipeline of tables, with the registers and meters of each node.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Registers.
    pub registers: Arc<[Register]>,
    /// Meters.
    pub meters: Vec<Meter>,
    /// Tables in processing order: ingress tables, then egress tables.
    pub stages: Arc<[Stage]>,
    /// Controller that answers packets without a matching entry.
    pub controller: Option<Controller>,
}

/// Controller as seen by one node: every node has its own channel and server.
#[derive(Clone, PartialEq, Debug)]
pub struct Controller {
    /// One-way latency of the channel.
    pub latency: Time,
    /// Added latency of the path to the controller's node, by requesting node, sorted; empty if the controller has no
    /// place in the network.
    pub ways: Vec<(u32, Time)>,
    /// Processing time per packet; the packets of a node are processed one after another.
    pub processing: Time,
    /// Maximum number of packets that wait at a node; further packets are dropped.
    pub buffer: Option<u32>,
    /// Drop a packet that no entry matches after its answer; otherwise it continues with the next table.
    pub drops: bool,
    /// Templates of the entries it installs.
    pub install: Arc<[Template]>,
}

/// Template of an entry that the controller installs for a packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Template {
    /// Number of the table.
    pub stage: usize,
    /// Entry. It is installed for packets that it matches.
    pub entry: Entry,
    /// Parts that must equal those of the requesting packet, too.
    pub exact: Vec<Exact>,
}

/// Part of a packet that an installed entry copies from the requesting packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exact {
    /// All bits of a field.
    Field(Field),
    /// Port.
    Port(Side),
}

/// Integer that entries read and write.
#[derive(Clone, PartialEq, Debug)]
pub struct Register {
    /// Name, also of its time series.
    pub name: &'static str,
    /// One per port; otherwise one per node.
    pub per_port: bool,
}

/// Meter: a token bucket.
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// Fill rate, above 0.
    pub rate: Rate,
    /// Bucket size, in bytes.
    pub burst: u64,
    /// Treatment of packets above the meter.
    pub above: Above,
}

/// Treatment of packets above a meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Above {
    /// Drop.
    Drop,
    /// ECN mark.
    Mark,
}

/// Match-action table.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// Name.
    pub name: String,
    /// Entries, the highest priority first.
    pub entries: Vec<Entry>,
    /// Treatment of packets that no entry matches.
    pub miss: Miss,
    /// Egress table: processes packets at the end of their transmission, at ports with explicit queues.
    pub egress: bool,
}

/// Treatment of packets that no entry of a table matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Miss {
    /// Continue with the next table.
    Pass,
    /// Drop.
    Drop,
    /// Wait at the node until the controller answers.
    Controller,
}

/// Entry of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Name, in results.
    pub name: String,
    /// Priority: of several matching entries, the one with the highest priority applies.
    pub priority: u16,
    /// Packets that the entry matches.
    pub matches: Match,
    /// Condition of a match.
    pub when: Option<Formula>,
    /// Actions, in order.
    pub actions: Vec<Action>,
    /// Idle timeout: the entry expires after this time without a packet.
    pub idle: Option<Time>,
    /// Hard timeout: the entry expires this long after its installation.
    pub hard: Option<Time>,
}

/// Bits of [`Field::Flags`], as in the TCP header (RFC 9293 3.1).
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
    /// All flags.
    pub const ALL: u32 = FIN | SYN | RST | PSH | ACK | ECE | CWR;
}

/// Packet field that entries match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Field {
    /// Flow number.
    Flow,
    /// Source host.
    Source,
    /// Destination host.
    Destination,
    /// Bits of [`tcp_flag`]; 0 for packets other than TCP segments. Fragments after the first have no FIN, SYN and RST.
    Flags,
    /// Bit 4: TCP segment. Lower bits: kind, by [`KindOf`].
    Kind,
    /// Traffic class.
    Class,
    /// Bit 0: ECN-capable; bit 1: congestion experienced.
    Ecn,
    /// IP bytes.
    Size,
    /// Payload bytes of the segment.
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
    /// TCP segment that aborts a connection.
    Rst,
    /// UDP datagram.
    Datagram,
    /// Congestion notification packet.
    Cnp,
    /// Negative acknowledgement of trimmed data.
    Nack,
    /// Notification of a host that its flow is idle.
    Idle,
    /// Notification of a host that its flow has resumed.
    Resumed,
    /// Other packet of the simulator.
    Other,
}

impl KindOf {
    /// Bit of [`Field::Kind`] set for TCP segments.
    pub const TCP: u32 = 16;

    /// Value of [`Field::Kind`].
    pub fn bits(self) -> u32 {
        let tcp = matches!(self, KindOf::Data | KindOf::Ack | KindOf::Syn | KindOf::Rst);
        self as u32 | if tcp { KindOf::TCP } else { 0 }
    }
}

/// Masked match: the field has `value` in the bits of `mask`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masked {
    /// Field.
    pub field: Field,
    /// Value, without bits outside the mask.
    pub value: u32,
    /// Bits to compare.
    pub mask: u32,
}

/// Match of an entry; the default matches all packets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Match {
    /// Field matches, each field at most once.
    pub fields: Vec<Masked>,
    /// Ingress port.
    pub ingress: Option<Way>,
    /// Egress port.
    pub egress: Option<Way>,
}

/// Port of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// The node's own stack.
    Stack,
    /// Port that feeds one of these links; at most one of them starts at the node.
    Links(Vec<u32>),
}

/// Port to which a register or another port value belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Ingress port of the packet.
    Ingress,
    /// Egress port of the packet.
    Egress,
}

/// Target of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Advertised window of a TCP segment, in bytes.
    Window,
    /// CE mark of an ECN-capable packet: 0, or any other number.
    Mark,
    /// Register of the node, by number.
    Node(u16),
    /// Register of a port.
    Port(u16, Side),
}

/// Action on a packet. If a value is undefined (division by 0, no such port), the action has no effect.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Adds the value to the target.
    Add(Target, Formula),
    /// Sets the target to the value.
    Set(Target, Formula),
    /// Lowers the target to the value if it is larger.
    Lower(Target, Formula),
    /// Raises the target to the value if it is smaller.
    Raise(Target, Formula),
    /// Marks the packet if it is ECN-capable.
    Mark,
    /// Drops the packet.
    Drop,
    /// Sends the packet back by its ingress port.
    Back,
    /// Sends the packet by the port that feeds one of these links; at most one of them starts at the node.
    Output(Vec<u32>),
    /// Sets the traffic class of the packet from here on.
    Class(u8),
    /// Continues with a later table, by number.
    Goto(usize),
    /// Applies a meter, by number.
    Meter(usize),
}

/// Integer expression in postfix order, with at most [`DEPTH`] values on the stack.
pub type Formula = Arc<[Op]>;

/// Maximum stack depth of a formula.
pub const DEPTH: usize = 16;

/// Operation of a formula. True is 1, false is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Constant.
    Number(i64),
    /// Advertised window, in bytes.
    Window,
    /// IP bytes.
    Size,
    /// Payload bytes.
    Len,
    /// Flow number.
    Flow,
    /// Current time, in ps.
    Now,
    /// Link rate of a port, in bit/s.
    Rate(Side),
    /// Bytes in the queue of a port.
    Queue(Side),
    /// Bytes that a port has sent since the run began.
    Sent(Side),
    /// A register of the node.
    Node(u16),
    /// Register of a port.
    Port(u16, Side),
    /// Negation of the top value.
    Negate,
    /// True if the top value is 0.
    Not,
    /// Sum of the two top values.
    Add,
    /// Lower value minus top value.
    Subtract,
    /// Product of the two top values.
    Multiply,
    /// Number of bits sent at a rate (bit/s) in a time (ps), rounded down.
    Bits,
    /// Lower value divided by top value, rounded down; undefined for a divisor of 0.
    Divide,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// True if the lower value is less than the top value.
    Less,
    /// True if the lower value is at most the top value.
    AtMost,
    /// True if both values are equal.
    Equal,
    /// If the top value is 0, keeps it and skips this many operations; otherwise pops it.
    UnlessFalse(u16),
    /// If the top value is not 0, keeps it and skips this many operations; otherwise pops it.
    UnlessTrue(u16),
}
