//! Programs of switches and hosts.

use super::table::Table;
use incast_cc::{Rate, Time};

/// List of programs, passed to the macro `$to`: each with its parameters and its rule in [`program`](crate::program).
macro_rules! programs {
    ($to:ident) => {
        $to! {
            /// Windows set by switches that count flows.
            Sccp => sccp::Counts,
            /// Idle-flow notifications from hosts to switches.
            Idle => idle::Flows,
            /// Marking by phantom queues.
            Phantom => phantom::Queues,
            /// Host pacing of flows that receive congestion marks.
            Pacer => pacer::Pace,
            /// Rate limits of hosts per traffic class and epoch.
            Qjump => qjump::Levels,
            /// Rates that switches grant to flows.
            Rcp => rcp::Rates,
            /// Rates that switches allocate by deadlines.
            D3 => d3::Allocations,
            /// Window changes granted by switches.
            Xcp => xcp::Shares,
            /// Queue feedback to senders and supply tokens (Bolt).
            Bolt => bolt::BoltPorts,
            /// Match-action tables.
            Table => table::Pipeline,
        }
    };
}
pub(crate) use programs;

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $file:ident::$rule:ident,)+) => {
        /// Program of a switch or host.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Program {
            $($(#[$doc])+ $name($name),)+
        }
    };
}
programs!(list);

/// Program and the nodes that run it, each with its own state.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramSpec {
    /// Nodes, in ascending order.
    pub nodes: Vec<u32>,
    /// Program.
    pub program: Program,
}

/// Windows set by switches (SCCP): each port counts its open flows, and lowers the windows of segments that arrive by
/// it to an equal share of the link's bandwidth-delay product (`docs/programs/sccp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Sccp {
    /// Common round-trip time assumed for all flows.
    pub common_rtt: Time,
    /// Minimum window, in bytes.
    pub floor: u64,
    /// SYN and FIN count only once the queue has accepted them.
    pub accepted: bool,
    /// RST removes a flow from the ports of both directions.
    pub reset: bool,
    /// A retransmitted SYN or FIN counts once: the switch remembers flows.
    pub remembers: bool,
    /// Window scale: exponent of the unit of windows in segments without SYN (RFC 7323).
    pub scale: u8,
    /// A window that is not a whole number of units is rounded up.
    pub up: bool,
    /// The switch ignores window scaling and writes bytes instead of units.
    pub ignorant: bool,
}

/// Phantom queues (HULL): a port simulates the queue of a slower virtual link, and marks packets by its length
/// (`docs/programs/phantom.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Phantom {
    /// Rate of the virtual link as a share of the port's rate.
    pub drain: f64,
    /// Marking threshold of the virtual queue including the packet, in bytes.
    pub mark: u64,
}

/// Pacer (HULL): packets of flows that receive marks leave their host at a rate that follows the rate of these flows
/// (`docs/programs/pacer.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Pacer {
    /// Update interval of the rate.
    pub period: Time,
    /// Weight of the bytes that arrived in the last interval.
    pub eta: f64,
    /// Gain of the backlog, in bits per second per byte.
    pub beta: f64,
    /// Token bucket size, in bytes; `None`: a full packet.
    pub burst: Option<u64>,
    /// Minimum rate.
    pub least: Rate,
    /// Probability that an echoed mark starts pacing of its flow.
    pub share: f64,
    /// Time without a mark after which pacing of a flow ends.
    pub timeout: Time,
}

/// Levels (QJUMP): rate limit of a host per traffic class and epoch (`docs/programs/qjump.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Qjump {
    /// Full packets per epoch, by traffic class from 0 on; further classes are not limited.
    pub factors: Vec<f64>,
    /// Maximum number of hosts that send to one host at once; `None`: all.
    pub hosts: Option<u32>,
    /// Size of a full packet on a link, in bytes; `None`: from the transports of the run.
    pub packet: Option<u64>,
    /// Processing time of switches, added to an epoch.
    pub processing: Time,
    /// Rate of the slowest link; `None`: rate of the host's own link.
    pub rate: Option<Rate>,
    /// Length of an epoch; `None`: derived from `hosts`, `packet` and `rate`.
    pub epoch: Option<Time>,
}

/// Idle flows: the sending host of each direction of a connection notifies the programs on its path when the direction
/// becomes idle and when it resumes (`docs/programs/idle.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Idle {
    /// Time without a sent packet after which a direction is idle.
    pub timeout: Time,
}

/// Explicit rates (RCP): a port grants one rate to all its flows, computed from arrivals and queue length
/// (`docs/programs/rcp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Rcp {
    /// Gain of the spare rate.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// Target utilisation: share of the link's rate that is granted.
    pub utilisation: f64,
    /// Maximum update interval of the rate; the mean round-trip time if that is shorter.
    pub period: Time,
    /// Initial mean round-trip time; `None`: the first one that a packet reports.
    pub rtt: Option<Time>,
    /// Initial rate as a share of the link's rate.
    pub initial: f64,
    /// Minimum rate, in bytes per round trip.
    pub least: u64,
}

/// Deadline-driven rates (D3): a port grants each flow its requested rate, and a share of the spare rate
/// (`docs/programs/d3.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct D3 {
    /// Gain of the spare rate.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// Update interval of the allocation.
    pub period: Time,
    /// Minimum rate, in bytes per round trip.
    pub least: u64,
    /// Time without a request after which a flow is considered finished.
    pub forget: Time,
}

/// Explicit windows (XCP): a port distributes the spare bandwidth of its link among departing packets, or takes its
/// backlog back from them (`docs/programs/xcp.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Xcp {
    /// Gain of the spare rate.
    pub alpha: f64,
    /// Gain of the queue.
    pub beta: f64,
    /// Share of the traffic that is shuffled between flows in a round trip.
    pub shuffle: f64,
    /// Target utilisation of the link.
    pub utilisation: f64,
    /// Minimum control interval; otherwise the mean round-trip time.
    pub interval: Time,
    /// Interval of the minimum queue, as a share of a round trip; the queueing delay at this port is left out of the
    /// round trip.
    pub queue_share: f64,
    /// Lower bound of that interval.
    pub queue_interval: Time,
    /// Initial mean round-trip time; `None`: the first one that a packet reports.
    pub rtt: Option<Time>,
}

/// Sub-RTT control (Bolt): a port notifies senders of its queue by packets of its own, and grants window increments of
/// one packet (`docs/programs/bolt.md` has the source).
#[derive(Clone, PartialEq, Debug)]
pub struct Bolt {
    /// Queue length in bytes from which on a port is congested; `None`: two full packets.
    pub threshold: Option<u64>,
    /// Maximum supply tokens of a link, in bytes; `None`: two full packets.
    pub supply: Option<u64>,
    /// Maximum number of PRU tokens, in packets, left by flows about to end.
    pub tokens: u32,
    /// SRC: ports notify senders by packets of their own; otherwise by ACKs.
    pub src: bool,
    /// PRU: bandwidth of flows about to end is granted in advance.
    pub pru: bool,
    /// SM: spare bandwidth of the link is granted.
    pub sm: bool,
}
