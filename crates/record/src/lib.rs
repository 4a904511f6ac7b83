//! Results of a run: one record a flow, one a port, time series, packet traces, and the
//! summary computed from them.
//!
//! The engine fills these through the small [`Recorder`] trait and the plain structs below; it
//! knows nothing of files or formats. All times in records are integer picoseconds (`*_ps`),
//! sizes bytes, unless a name says otherwise.

mod collector;
mod entries;
mod figure;
mod flow_frame;
mod flows;
mod histogram;
mod hosts;
mod messages;
mod name;
pub mod packed;
mod port_frame;
mod ports;
mod radio_counts;
mod radios;
mod series;
pub mod statistics;
pub mod store;
pub mod summary;
pub mod table;
mod timeline;
mod timeline_event;

use std::sync::Arc;

pub use collector::Collector;
pub use flow_frame::{FlowFrame, FlowState};
pub use histogram::Histogram;
pub use name::Name;
use packed::Lanes;
pub use port_frame::PortFrame;
pub use radio_counts::RadioCounts;
pub use timeline_event::{EventKind, PathPort, Subject, TimelineEvent};

/// Everything one run produced, ready for tables and summary.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Seed of the run.
    pub seed: u64,
    /// Simulated end of the run.
    pub end_ps: u64,
    /// Start of the measured interval (the warm-up's end).
    pub measure_from_ps: u64,
    /// End of the measured interval.
    pub measure_to_ps: u64,
    /// Times that every queue was sampled.
    pub queue_samples: u64,
    /// Packets that ports have accepted, whole run: the unit of work. What waits in a host's fair NIC is not among
    /// them.
    pub hops: u64,
    /// IP packets (fragments counted each) that hosts handed to their NICs, whole run. Bytes and
    /// packets are conserved: sent = delivered + dropped + in flight.
    pub packets_sent: u64,
    /// ... that reached their host.
    pub packets_delivered: u64,
    /// ... refused by a queue, lost on a link, or without a route.
    pub packets_dropped: u64,
    /// ... still under way at the end.
    pub packets_in_flight: u64,
    /// Names of the traffic entries; `FlowRecord::group` indexes them.
    pub groups: Vec<String>,
    /// Names of the controllers with their parameters; `FlowRecord::controller` indexes them.
    pub controllers: Vec<String>,
    /// One a flow, in flow order.
    pub flows: Vec<FlowRecord>,
    /// What the traffic says of the flows.
    pub labels: Vec<Label>,
    /// One a directed link, in link order.
    pub ports: Vec<PortRecord>,
    /// One an engine of a host that processes its packets, by host, receiving side first; empty where
    /// hosts cost nothing.
    pub engines: Vec<EngineRecord>,
    /// Entries of tables, by node, program and table; empty where no node runs tables.
    pub entries: Vec<EntryRecord>,
    /// One a station of a radio cell.
    pub radios: Vec<RadioRecord>,
    /// Figures of FlowMonitor's entries are over so many of them, in the order of their first packets; `None`: all.
    pub monitored: Option<u32>,
    /// Queries and writes, ordered by (kind, group, host, flow, number).
    pub messages: Vec<MessageRecord>,
    /// One-way delays (picoseconds) of delivered data packets, one histogram a group.
    pub delay: Vec<Histogram>,
    /// Round-trip times (picoseconds) sampled at senders, one histogram a group.
    pub rtt: Vec<Histogram>,
    /// Time series asked for, ordered by (series, time).
    pub samples: Vec<Sample>,
    /// What ports did in frames of a timeline, by (frame, port); only where there was something.
    pub port_frames: Lanes<PortFrame>,
    /// What flows did in them.
    pub flow_frames: Lanes<FlowFrame>,
    /// Events of the timeline, by (time, kind, subject).
    pub timeline_events: Vec<TimelineEvent>,
    /// Ports that flows pass, by (flow, position, port), where there is a timeline.
    pub paths: Vec<PathPort>,
    /// Length of a frame of the timeline, if there is one.
    pub frame_ps: Option<u64>,
    /// Packet events of traced flows, ordered by (time, order of happening).
    pub trace: Vec<PacketEvent>,
}

impl Outcome {
    /// Length of the measured interval.
    pub(crate) fn interval_ps(&self) -> u64 {
        self.measure_to_ps.saturating_sub(self.measure_from_ps)
    }
}

/// An enum whose values have names in tables.
macro_rules! named {
    ($(#[$of_all:meta])* $enum:ident { $($(#[$of_one:meta])* $value:ident $name:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $enum {
            $($(#[$of_one])* $value,)*
        }

        impl $enum {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [$enum] = &[$($enum::$value),*];

            /// Its name in tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$value => $name,)*
                }
            }

            /// Names of all, by their numbers.
            pub(crate) fn names(_: &Outcome) -> Vec<String> {
                Self::ALL.iter().map(|value| value.name().to_owned()).collect()
            }
        }
    };
}

named! {
    /// The role of a flow in a connection.
    #[derive(Default)]
    Role {
        /// A connection of its own: data one way, acknowledgements back.
        #[default]
        Data "data",
        /// The half of a two-way connection that carries requests, from the root to a worker.
        Request "request",
        /// The half that carries responses back.
        Response "response",
    }
}

/// What the traffic says of its flows: a column of `flows.parquet`. Only who makes the traffic knows what it means.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// Name of the column.
    pub name: &'static str,
    /// Its definition.
    pub definition: &'static str,
    /// Names of the values that a flow can have.
    pub values: &'static [&'static str],
    /// The number of each flow's value, in flow order.
    pub of: Vec<u32>,
}

/// The kind of a recorded message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MessageKind {
    /// A query: from the instant its requests are written until the root has the last byte of the
    /// last response.
    Query,
    /// A closed-loop write: from the instant it is due until its last byte is acknowledged.
    Write,
}

/// One query or one closed-loop write.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageRecord {
    /// Kind.
    pub kind: MessageKind,
    /// Index into [`Outcome::groups`].
    pub group: u32,
    /// The root of the query, or the host that writes.
    pub host: u32,
    /// The flow of the write; of a query, the flow of its first response.
    pub flow: u32,
    /// Number among the queries of this root, or the writes of this flow, from 0.
    pub number: u64,
    /// Connections that take part: the workers of a query, 1 for a write.
    pub workers: u32,
    /// Bytes of all responses of the query, or of the write.
    pub bytes: u64,
    /// When it began.
    pub start_ps: u64,
    /// When it was complete; `None` if the run ended before.
    pub finish_ps: Option<u64>,
    /// Retransmission timeouts of its connections between its beginning and its end.
    pub timeouts: u64,
    /// Time from its beginning within which it was to be complete, if that mattered.
    pub deadline_ps: Option<u64>,
}

/// One flow. Counters named `*_m` count only what belongs to the measured interval: a packet
/// belongs to it when it was sent inside it, whenever it is delivered or dropped.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Flow number, from 0.
    pub flow: u32,
    /// Index into [`Outcome::groups`].
    pub group: u32,
    /// Index into [`Outcome::controllers`].
    pub controller: u32,
    /// Its role in its connection.
    pub role: Role,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// When the flow was opened; of one that was not, the earliest time at which it might have been.
    pub start_ps: u64,
    /// It was not: its start, or what it waits for, did not come.
    pub unopened: bool,
    /// When the last byte was acknowledged at the sender; `None` for flows that did not finish.
    pub finish_ps: Option<u64>,
    /// When what its stop cut short came to its end: what had been written was acknowledged, or it was reset.
    pub stopped_ps: Option<u64>,
    /// When the receiver had the last byte.
    pub received_ps: Option<u64>,
    /// Bytes the application asked for; `None` where it has no end.
    pub size: Option<u64>,
    /// Time from its opening within which the receiver was to have the last byte, if that mattered.
    pub deadline_ps: Option<u64>,
    /// Time on the empty network until the receiver has the last byte, by the quickest path that routing may use:
    /// handshake where there is one, serialization and propagation. Where segments may be cut elsewhere, a bound from
    /// below. `None` where size is.
    pub ideal_delivery_ps: Option<u64>,
    /// Completion time on the empty network by the same path, and back for the last ACK. `None` where size is.
    pub ideal_fct_ps: Option<u64>,
    /// Idle round-trip time of the flow's path.
    pub idle_rtt_ps: u64,
    /// Links on the forward path.
    pub hops: u32,
    /// Application bytes accepted from the application, whole run.
    pub written: u64,
    /// Application bytes delivered in order to the receiver, whole run.
    pub delivered: u64,
    /// Application bytes that reached the receiver for the first time inside the measured interval,
    /// in order or not.
    pub delivered_m: u64,
    /// Data segments sent (retransmissions included), whole run.
    pub sent: u64,
    /// Data segments that reached the receiver (duplicates included), whole run.
    pub arrived: u64,
    /// Data segments of which a packet was dropped, by the network or by a host, whole run.
    pub dropped: u64,
    /// As `sent`, measured interval.
    pub sent_m: u64,
    /// As `arrived`, measured interval.
    pub arrived_m: u64,
    /// As `dropped`, measured interval.
    pub dropped_m: u64,
    /// Data packets for which a host's engine had no room, measured interval.
    pub host_dropped_m: u64,
    /// Segments sent again, measured interval.
    pub retransmissions: u64,
    /// Retransmission timeouts, measured interval.
    pub timeouts: u64,
    /// Data segments that arrived with a CE mark, measured interval.
    pub marked: u64,
    /// Headers that arrived of segments whose payload queues had cut off, measured interval.
    pub trimmed: u64,
    /// It sends datagrams, whose order nobody follows: what is said of late packets says nothing of it.
    pub datagrams: bool,
    /// Data packets, none of them sent again, that bytes beyond their end had overtaken; measured interval.
    pub late: u64,
    /// Those of them that ended beyond what had come in order when they came.
    pub extents: u64,
    /// ... and the sum of their extents: arrivals from the first that overtook it to it.
    pub extent_sum: u64,
    /// Largest extent.
    pub extent_max: u64,
    /// Most bytes that the receiver kept beyond a hole, of reordering or of losses, inside the measured interval.
    pub reordering_buffer: u64,
    /// Sum of one-way delays of arrived data segments (sent by IP to received), measured.
    pub delay_sum_ps: u64,
    /// Largest of them.
    pub delay_max_ps: u64,
    /// Number of RTT samples and their sum, measured interval.
    pub rtt_count: u64,
    /// Sum of the RTT samples.
    pub rtt_sum_ps: u64,
    /// Smallest RTT sample of the whole run; `None` without a sample.
    pub rtt_min_ps: Option<u64>,
    /// FlowMonitor: IP bytes (headers included, no link overhead) received of packets that
    /// belong to the interval, SYN and FIN included.
    pub fm_rx_bytes: u64,
    /// FlowMonitor: IP packets sent (before fragmentation), SYN, FIN and pure ACKs of the data
    /// direction included.
    pub fm_tx_packets: u64,
    /// FlowMonitor: IP packets received (after reassembly).
    pub fm_rx_packets: u64,
    /// FlowMonitor: sum of delays of the received packets.
    pub fm_delay_sum_ps: u64,
    /// FlowMonitor: first transmission.
    pub fm_first_tx_ps: Option<u64>,
    /// FlowMonitor: last reception.
    pub fm_last_rx_ps: Option<u64>,
    /// FlowMonitor: the ACK direction, an entry of its own; `None` where it was not asked for, and of a two-way
    /// connection, each of whose directions is a flow here.
    pub fm_acks: Option<MonitorEntry>,
    /// FlowMonitor: packets of the data direction that it takes for lost, where it has a rule for that; `None`: those
    /// that a queue or a host dropped, or a link lost.
    pub fm_lost_packets: Option<u64>,
}

impl FlowRecord {
    /// FlowMonitor's figures of the data direction are these.
    pub(crate) fn take_monitored(&mut self, entry: MonitorEntry) {
        self.fm_tx_packets = entry.tx_packets;
        self.fm_rx_packets = entry.rx_packets;
        self.fm_rx_bytes = entry.rx_bytes;
        self.fm_delay_sum_ps = entry.delay_sum_ps;
        self.fm_first_tx_ps = entry.first_tx_ps;
        self.fm_last_rx_ps = entry.last_rx_ps;
        self.fm_lost_packets = Some(entry.lost_packets);
    }
}

/// FlowMonitor's entry of a direction of a flow: packets sent in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorEntry {
    /// IP packets sent.
    pub tx_packets: u64,
    /// Of them received.
    pub rx_packets: u64,
    /// IP bytes of those, headers included.
    pub rx_bytes: u64,
    /// Of them lost.
    pub lost_packets: u64,
    /// Sum of delays of the received packets.
    pub delay_sum_ps: u64,
    /// First transmission.
    pub first_tx_ps: Option<u64>,
    /// Last reception.
    pub last_rx_ps: Option<u64>,
}

/// Which packets FlowMonitor takes for received and for lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorRule {
    /// Those that have not arrived after this time, when it looks, which is every second and at the end. `None`: those
    /// that a queue or a host dropped, or a link lost, at once.
    pub lost_after_ps: Option<u64>,
    /// Those that their station gets back as unreachable are received: ns-3's probe follows the packet within the
    /// ICMPv6 error.
    pub undeliverable_received: bool,
}

/// What happened to a packet whose direction has an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MonitorStep {
    /// It was sent, inside the measured interval or not.
    Sent {
        /// Whether it was inside.
        measured: bool,
    },
    /// It came to its destination.
    Arrived,
    /// It never will.
    Lost,
    /// It never will, and its sender is told so.
    Unreachable,
}

/// A step of a packet whose direction has an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MonitorEvent {
    /// Flow number.
    pub flow: u32,
    /// Whether the packet is of the ACK direction.
    pub reverse: bool,
    /// When.
    pub time_ps: u64,
    /// What.
    pub step: MonitorStep,
    /// Number of the packet in its direction, in 16 bits.
    pub id: u16,
    /// IP bytes.
    pub size: u16,
}

/// One directed link with the queue at its sending end.
#[derive(Clone, Debug, Default)]
pub struct PortRecord {
    /// `"edge0>host1"`.
    pub name: Name,
    /// Bits per second; 0 stands for an infinite rate.
    pub rate_bps: u64,
    /// Packets whose transmission ended in the measured interval.
    pub packets: u64,
    /// Bytes that went onto the wire in it, overhead included: of packets under way at its ends the part inside.
    pub bytes: u64,
    /// Packets that came to wait or to be sent, measured interval. Those it held at the beginning and these are: sent,
    /// held at the end, or dropped, cut away or sent back while they waited.
    pub accepted: u64,
    /// Their bytes on the wire, as they came.
    pub accepted_bytes: u64,
    /// Time the transmitter was busy inside the measured interval.
    pub busy_ps: u64,
    /// Packets dropped by the queue, measured interval.
    pub drops: u64,
    /// Packets cut to their headers, measured interval.
    pub trimmed: u64,
    /// Headers without room that went back to their senders, measured interval.
    pub returned: u64,
    /// Packets lost on the link (error rate, failures), measured interval.
    pub losses: u64,
    /// Packets CE-marked, measured interval.
    pub marks: u64,
    /// Time-averaged packets in the queue (as the discipline counts them), measured interval.
    pub queue_mean_packets: f64,
    /// 99th percentile (nearest rank) of the queue length sampled at the stated interval; `None`
    /// where the interval holds no sample.
    pub queue_p99_packets: Option<f64>,
    /// Largest queue length seen, an arriving packet included once accepted.
    pub queue_max_packets: u64,
    /// As mean, in bytes.
    pub queue_mean_bytes: f64,
    /// As max, in bytes.
    pub queue_max_bytes: u64,
    /// Largest queue that it can have, where that is so many packets.
    pub limit_packets: Option<u64>,
    /// The same, where it is so many bytes.
    pub limit_bytes: Option<u64>,
    /// Times that the neighbour paused one of its classes while none was, measured interval.
    pub pauses: u64,
    /// Time that some of its classes was paused, measured interval.
    pub paused_ps: u64,
    /// Since when one of its classes is part of a deadlock at the end of the run: paused by a neighbour that waits,
    /// over others, for this very port.
    pub deadlocked_ps: Option<u64>,
    /// As `packets`, whole run.
    pub packets_total: u64,
    /// As `accepted`, whole run.
    pub accepted_total: u64,
    /// Drops and losses, whole run.
    pub lost_total: u64,
    /// Its traffic classes, in order; empty where one queue serves all.
    pub classes: Vec<ClassRecord>,
}

/// A traffic class at a port, over the measured interval.
#[derive(Clone, Debug, Default)]
pub struct ClassRecord {
    /// Packets accepted.
    pub packets: u64,
    /// Bytes of them, as the queue counts them.
    pub bytes: u64,
    /// Packets dropped by its queue.
    pub drops: u64,
    /// Packets CE-marked.
    pub marks: u64,
    /// Time-averaged packets in its queue.
    pub queue_mean_packets: f64,
    /// Largest queue length seen, an arriving packet included once accepted.
    pub queue_max_packets: u64,
    /// As mean, in bytes.
    pub queue_mean_bytes: f64,
    /// As max, in bytes.
    pub queue_max_bytes: u64,
    /// Times that the neighbour paused it.
    pub pauses: u64,
    /// Time that it was paused.
    pub paused_ps: u64,
}

/// One engine of a host's own processing, over the measured interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineRecord {
    /// `"h3.rx0"`: host, side and number.
    pub name: String,
    /// Packets it was done with.
    pub packets: u64,
    /// Packets that it had no room for.
    pub drops: u64,
    /// Time it was at work.
    pub busy_ps: u64,
    /// Time-averaged packets in it, the one in service included.
    pub queue_mean_packets: f64,
    /// 99th percentile (nearest rank) of their number sampled at the stated interval; `None` where the
    /// interval holds no sample.
    pub queue_p99_packets: Option<f64>,
    /// Most packets in it.
    pub queue_max_packets: u64,
    /// Time from the arrival at the engine to the end of the service, summed over `packets`.
    pub wait_sum_ps: u64,
    /// The longest of them.
    pub wait_max_ps: u64,
}

/// One entry of a table at a node that runs a program with tables; whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryRecord {
    /// Name of the node.
    pub node: String,
    /// Number of the program in the scenario.
    pub program: u32,
    /// Name of the table.
    pub table: String,
    /// Name of the entry.
    pub entry: String,
    /// Priority.
    pub priority: u32,
    /// When it was installed.
    pub installed_ps: u64,
    /// When its time was over; `None` where it was there at the end.
    pub ended_ps: Option<u64>,
    /// Packets that it matched.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

/// What a station of a radio cell counted in the measured interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadioRecord {
    /// Name of the node.
    pub station: String,
    /// Name of the cell.
    pub cell: String,
    /// Where it is, metres.
    pub x: f64,
    /// Where it is, metres.
    pub y: f64,
    /// What its MAC counted.
    pub counts: RadioCounts,
    /// Time in which it followed frames.
    pub receiving_ps: u64,
    /// Time in which something was on the air of its cell.
    pub channel_busy_ps: u64,
    /// Power, mW, while it transmits, receives, listens.
    pub power_mw: [f64; 3],
}

/// One point of a time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// `"flow 3"`, or the name of a port; the samples of one share it.
    pub entity: Arc<str>,
    /// `"cwnd_bytes"`, `"rtt_s"`, `"alpha"`, `"queue_packets"` ...
    pub name: &'static str,
    /// When.
    pub time_ps: u64,
    /// Value; the unit is in the name.
    pub value: f64,
}

named! {
    /// An event of a traced packet.
    Happening {
        /// The transport handed it to the host's NIC.
        Send "send",
        /// A port accepted it.
        Enqueue "enqueue",
        /// A port accepted it and set CE.
        Mark "mark",
        /// A queue refused it.
        Drop "drop",
        /// A link lost it.
        Loss "loss",
        /// A radio station gave it up, as no neighbour answers.
        Unreachable "unreachable",
        /// It reached the far end of a link.
        Arrive "arrive",
        /// The receiving transport took it.
        Receive "receive",
        /// A radio frame of it begins.
        Transmit "transmit",
        /// A station has received a radio frame of it.
        Hear "hear",
    }
}

/// One line of a packet trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketEvent {
    /// When.
    pub time_ps: u64,
    /// Flow number.
    pub flow: u32,
    /// Node or port where it happened.
    pub place: String,
    /// What.
    pub event: Happening,
    /// Data packets: first payload byte. ACKs: 0.
    pub seq: u64,
    /// Cumulative acknowledgement; 0 for data.
    pub ack: u64,
    /// Payload bytes.
    pub payload: u32,
    /// IP bytes.
    pub size: u32,
    /// `"SYN"`, `"ACK"`, `"ECE"`, `"CE"` ... joined by `|`.
    pub flags: String,
}

/// Where the engine leaves what it observes while it runs. Histograms are exact to merge, so
/// the order of calls between flows does not show in the result.
pub trait Recorder {
    /// A data segment of a flow of `group` arrived after `delay_ps`.
    fn delay(&mut self, group: u32, delay_ps: u64);
    /// A sender of `group` took an RTT sample.
    fn rtt(&mut self, group: u32, rtt_ps: u64);
    /// A point of a time series.
    fn sample(&mut self, sample: Sample);
    /// A step of a packet whose direction has an entry.
    fn monitor(&mut self, event: MonitorEvent);
    /// A traced packet.
    fn packet(&mut self, event: PacketEvent);
    /// A query or write is complete, or the run ended before it was. Its `timeouts` are counted
    /// later.
    fn message(&mut self, message: MessageRecord);
    /// The retransmission timer of a flow fired, where it carries messages or there is a timeline.
    fn timeout(&mut self, flow: u32, time_ps: u64);
    /// A host's engine had no room for a data packet of a flow, in the measured interval.
    fn host_drop(&mut self, flow: u32);
    /// A flow that ends by itself, or the last query of a number, has finished.
    fn finish(&mut self, time_ps: u64);
}
