//! Programs of switches and hosts.

use super::table::Table;
use incast_cc::{Rate, Time};

/// The list of programs, given to the macro `$to`: each with its parameters, and with its rule in
/// [`program`](crate::program).
macro_rules! programs {
    ($to:ident) => {
        $to! {
            /// Windows set by switches that count flows.
            Sccp => sccp::Counts,
            /// Hosts that tell switches of idle flows.
            Idle => idle::Flows,
            /// Marks by queues that no packet waits in.
            Phantom => phantom::Queues,
            /// Hosts that pace what is told of congestion.
            Pacer => pacer::Pace,
            /// Levels of which hosts may send so much an epoch.
            Qjump => qjump::Levels,
            /// Rates that switches grant to flows.
            Rcp => rcp::Rates,
            /// Rates that switches allocate by deadlines.
            D3 => d3::Allocations,
            /// Changes of windows that switches allow.
            Xcp => xcp::Shares,
            /// Room for packets, and news of queues.
            Bolt => bolt::Rooms,
            /// Match-action tables.
            Table => table::Pipeline,
        }
    };
}
pub(crate) use programs;

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $file:ident::$rule:ident,)+) => {
        /// What a program does.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Program {
            $($(#[$doc])+ $name($name),)+
        }
    };
}
programs!(list);

/// A program, and the nodes that run it, each with a state of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramSpec {
    /// Nodes, rising.
    pub nodes: Vec<u32>,
    /// What it does.
    pub program: Program,
}

/// Windows set by switches: each port counts the flows that have opened and not closed through it, and lowers the
/// windows of segments that come in by it to an equal share of what the link holds in a round trip
/// (`docs/programs/sccp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Sccp {
    /// The round trip that all flows are taken to have.
    pub common_rtt: Time,
    /// No window is set below it, bytes.
    pub floor: u64,
    /// A flow counts only once the queue has taken its SYN, or its FIN.
    pub accepted: bool,
    /// RST takes a flow from the ports of both directions.
    pub reset: bool,
    /// A SYN or a FIN that is sent again counts once: the switch remembers flows.
    pub remembers: bool,
    /// Windows of segments without SYN count in units of two to this power (RFC 7323).
    pub scale: u8,
    /// A window that is no whole number of units is rounded up.
    pub up: bool,
    /// The switch does not know of the scale: it writes bytes where units belong.
    pub ignorant: bool,
}

/// Phantom queues (HULL): a port counts what waits for a link that is slower than its own, and marks packets by that
/// (`docs/programs/phantom.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Phantom {
    /// Rate of that link, as a share of the port's.
    pub drain: f64,
    /// A packet with which the queue is longer than this is marked, bytes.
    pub mark: u64,
}

/// A pacer (HULL): packets of flows that hear of marks leave their host at a rate that follows what these flows send
/// (`docs/programs/pacer.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Pacer {
    /// The rate changes once in this time.
    pub period: Time,
    /// Weight of what came in it.
    pub eta: f64,
    /// Gain of what waits, bits per second for each byte.
    pub beta: f64,
    /// Tokens at most, bytes; `None`: a full packet.
    pub burst: Option<u64>,
    /// Least rate.
    pub least: Rate,
    /// Share of the echoes of marks by which a flow comes to be paced.
    pub share: f64,
    /// A flow that has heard of no mark for so long is paced no more.
    pub timeout: Time,
}

/// Levels (QJUMP): a host may send so much of a traffic class in an epoch (`docs/programs/qjump.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Qjump {
    /// Full packets an epoch, by traffic class from 0 on; classes beyond are not limited.
    pub factors: Vec<f64>,
    /// Hosts that may send to one at once; `None`: all.
    pub hosts: Option<u32>,
    /// A full packet, bytes on a link; `None`: that of the run's transports.
    pub packet: Option<u64>,
    /// Time that switches take, added to an epoch.
    pub processing: Time,
    /// Rate of the slowest link; `None`: of the host's own.
    pub rate: Option<Rate>,
    /// How long an epoch is; `None`: as hosts, packet and rate have it.
    pub epoch: Option<Time>,
}

/// Idle flows: the host of a direction of a connection tells the programs on its way when nothing has been sent in it
/// for a time, and when something is again (`docs/programs/idle.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Idle {
    /// A direction is idle when nothing has been sent in it for so long.
    pub timeout: Time,
}

/// Explicit rates (RCP): a port grants one rate to all flows that leave by it, and finds it from what came and what
/// waits (`docs/programs/rcp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Rcp {
    /// Gain of the rate that is left over.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// Share of the link's rate that is granted.
    pub utilisation: f64,
    /// The rate changes once in the mean round-trip time, or once in this time where that is shorter.
    pub period: Time,
    /// Mean round-trip time at the beginning; `None`: the first that a packet tells.
    pub rtt: Option<Time>,
    /// Rate at the beginning, as a share of the link's.
    pub initial: f64,
    /// Least rate, bytes a round trip.
    pub least: u64,
}

/// Rates for deadlines (D3): a port gives each flow the rate that it asks for, and a share of what is left
/// (`docs/programs/d3.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct D3 {
    /// Gain of the rate that is left over.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// What is given away changes once in this time.
    pub period: Time,
    /// Least rate, bytes a round trip.
    pub least: u64,
    /// A flow that has not asked for so long is over.
    pub forget: Time,
}

/// Explicit windows (XCP): a port shares out what its link has left over among the packets that leave by it, or takes
/// from them what waits (`docs/programs/xcp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Xcp {
    /// Gain of the rate that is left over.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// Share of the traffic that goes from flow to flow in a round trip.
    pub shuffle: f64,
    /// Share of the link's rate that is given away.
    pub utilisation: f64,
    /// Shortest control interval; else it is the mean round-trip time.
    pub interval: Time,
    /// The shortest queue of this share of a round trip counts, without what packets wait there,
    pub queue_share: f64,
    /// ... but over no shorter time than this.
    pub queue_interval: Time,
    /// Mean round-trip time at the beginning; `None`: the first that a packet tells.
    pub rtt: Option<Time>,
}

/// Sub-RTT control (Bolt): a port tells senders of its queue by packets of its own, and says which packets may add one
/// to their windows (`docs/programs/bolt.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Bolt {
    /// A port with so many bytes has a queue; `None`: two full packets.
    pub threshold: Option<u64>,
    /// Bytes that a link is taken to have room for at most; `None`: two full packets.
    pub supply: Option<u64>,
    /// Packets at most for which room is kept that flows about to end leave.
    pub tokens: u32,
    /// Ports tell senders by packets of their own (SRC); else ACKs do.
    pub src: bool,
    /// Room that flows about to end leave is given away ahead (PRU).
    pub pru: bool,
    /// Room that the link has is given away (SM).
    pub sm: bool,
}
