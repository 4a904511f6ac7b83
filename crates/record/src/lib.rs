//! Results of a run: one record per flow and per port, time series, packet traces, and the summary computed from
//! them.
//!
//! The engine fills the structs below through the small [`Recorder`] trait; it knows nothing of files or formats. All
//! times in records are integer picoseconds (`*_ps`) and sizes are bytes, unless a name says otherwise.

mod collectives;
mod collector;
mod entries;
mod figure;
mod flow_end;
mod flow_frame;
mod flows;
mod histogram;
mod hosts;
mod job_records;
mod job_tasks;
mod jobs;
mod messages;
mod name;
pub mod packed;
mod pause_event;
mod pauses;
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

use std::collections::BTreeMap;
use std::sync::Arc;

pub use collector::Collector;
pub use flow_frame::{FlowFrame, FlowState};
pub use histogram::Histogram;
pub use job_records::{
    CollectiveFacts, CollectiveRecord, JobRecord, PartRecord, RankRecord, TaskRecord, TransferRecord,
};
pub use name::Name;
use packed::FrameTable;
pub use pause_event::{PauseEvent, PauseEvents, PauseKey, PauseRequest, PauseRow, PauseStep, Pauses, Waiting};
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
    /// Number of samples taken of every queue.
    pub queue_samples: u64,
    /// Packets accepted by ports, whole run: the unit of work. Excludes packets waiting in a host's fair NIC.
    pub hops: u64,
    /// IP packets (fragments counted each) that hosts handed to their NICs, whole run. Bytes and
    /// packets are conserved: sent = delivered + dropped + in flight.
    pub packets_sent: u64,
    /// IP packets that reached their host, whole run.
    pub packets_delivered: u64,
    /// IP packets dropped by a queue, lost on a link, or without a route, whole run.
    pub packets_dropped: u64,
    /// IP packets in flight at the end.
    pub packets_in_flight: u64,
    /// Names of the traffic entries; `FlowRecord::group` indexes them.
    pub groups: Vec<String>,
    /// Names of the controllers with their parameters; `FlowRecord::controller` indexes them.
    pub controllers: Vec<String>,
    /// One record per flow, in flow order.
    pub flows: Vec<FlowRecord>,
    /// Names of the links that failed during the run, one direction of each.
    pub failed_links: Vec<Name>,
    /// Labels that the traffic gives the flows.
    pub labels: Vec<Label>,
    /// One record per directed link, in link order.
    pub ports: Vec<PortRecord>,
    /// One record per engine of a host with processing times, by host, receiving side first; empty if no host has
    /// them.
    pub engines: Vec<EngineRecord>,
    /// Entries of tables, by node, program and table; empty if no node runs tables.
    pub entries: Vec<EntryRecord>,
    /// One record per station of a radio cell.
    pub radios: Vec<RadioRecord>,
    /// Number of FlowMonitor entries that its figures cover, in the order of their first packets; `None`: all.
    pub monitored: Option<u32>,
    /// Queries and writes, ordered by (kind, group, host, flow, number).
    pub messages: Vec<MessageRecord>,
    /// Jobs.
    pub jobs: Vec<JobRecord>,
    /// Iterations of ranks of jobs, ordered by (job, iteration, rank).
    pub ranks: Vec<RankRecord>,
    /// Collectives of jobs that a rank has started, by job, iteration and index.
    pub collectives: BTreeMap<(u32, u32, u32), CollectiveRecord>,
    /// Messages of jobs that have arrived, ordered by (job, start, from, to).
    pub transfers: Vec<TransferRecord>,
    /// Tasks of ranks, if requested, ordered by (job, rank, iteration, task).
    pub tasks: Vec<TaskRecord>,
    /// One-way delays (picoseconds) of delivered data packets, one histogram a group.
    pub delay: Vec<Histogram>,
    /// Round-trip times (picoseconds) sampled at senders, one histogram a group.
    pub rtt: Vec<Histogram>,
    /// Requested time series, ordered by (series, time).
    pub samples: Vec<Sample>,
    /// Port records in frames of a timeline, by (frame, port); only where something happened.
    pub port_frames: FrameTable<PortFrame>,
    /// Flow records in frames of a timeline.
    pub flow_frames: FrameTable<FlowFrame>,
    /// Events of the timeline, by (time, kind, subject).
    pub timeline_events: Vec<TimelineEvent>,
    /// Ports that flows pass, by (flow, position, port), if there is a timeline or a record of pauses.
    pub paths: Vec<PathPort>,
    /// Pauses of priority flow control with their causes, if requested.
    pub pauses: Pauses,
    /// Frame length of the timeline, if there is one.
    pub frame_ps: Option<u64>,
    /// Packet events of traced flows, ordered by (time, order of happening).
    pub trace: Vec<PacketEvent>,
}

impl Outcome {
    /// Length of the measured interval.
    pub(crate) fn interval_ps(&self) -> u64 {
        self.measure_to_ps.saturating_sub(self.measure_from_ps)
    }

    /// Message for the user if rows of the timeline could not be read again, so that tables made so far lack some.
    pub fn unreadable(&self) -> Option<String> {
        self.port_frames.unreadable().or_else(|| self.flow_frames.unreadable())
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
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$enum] = &[$($enum::$value),*];

            /// Name in tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$value => $name,)*
                }
            }

            /// Names of all values, by their numbers.
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

named! {
    /// Kind of a task of a job.
    #[derive(Default)]
    TaskKind {
        /// Calculation.
        #[default]
        Calc "calc",
        /// Message to another rank.
        Send "send",
        /// Message from another rank.
        Recv "recv",
        /// Collective of a group of ranks.
        Collective "collective",
    }
}

/// Label of flows: a column of `flows.parquet`. Its meaning is known only to the code that creates the traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// Name of the column.
    pub name: &'static str,
    /// Definition of the column.
    pub definition: &'static str,
    /// Names of the values that a flow can have.
    pub values: &'static [&'static str],
    /// Number of each flow's value, in flow order.
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
    /// The flow of the write; for a query, the flow of its first response.
    pub flow: u32,
    /// Number among the queries of this root, or the writes of this flow, from 0.
    pub number: u64,
    /// Number of connections taking part: the workers of a query, 1 for a write.
    pub workers: u32,
    /// Bytes of the write, or of all responses of the query.
    pub bytes: u64,
    /// Begin.
    pub start_ps: u64,
    /// Time of completion; `None` if the run ended before.
    pub finish_ps: Option<u64>,
    /// Retransmission timeouts of its connections between its beginning and its end.
    pub timeouts: u64,
    /// Deadline: time from the beginning until it must be complete, if any.
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
    /// Role of the flow in its connection.
    pub role: Role,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Time at which the flow was opened; the earliest possible time for a flow that never opened.
    pub start_ps: u64,
    /// True if the flow never opened: its start, or a trigger it waits for, did not come.
    pub unopened: bool,
    /// Time at which the last byte was acknowledged at the sender; `None` for flows that did not finish.
    pub finish_ps: Option<u64>,
    /// Time at which a stopped flow ended: its written data was acknowledged, or it was reset.
    pub stopped_ps: Option<u64>,
    /// Arrival time of the last byte at the receiver.
    pub received_ps: Option<u64>,
    /// True if the flow crossed a failure of a link.
    pub crossed_failure: bool,
    /// Bytes the application asked for; `None` for a flow without an end.
    pub size: Option<u64>,
    /// Deadline: time from its opening until the receiver must have the last byte, if any.
    pub deadline_ps: Option<u64>,
    /// Time on the empty network until the receiver has the last byte, by the quickest path that routing may use:
    /// handshake (if any), serialization and propagation. A lower bound if segment boundaries may differ. `None` if
    /// `size` is.
    pub ideal_delivery_ps: Option<u64>,
    /// Completion time on the empty network by the same path, and back for the last ACK. `None` if `size` is.
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
    /// Data packets dropped because a host's engine was full, measured interval.
    pub host_dropped_m: u64,
    /// Segments retransmitted, measured interval.
    pub retransmissions: u64,
    /// Retransmission timeouts, measured interval.
    pub timeouts: u64,
    /// Data segments that arrived with a CE mark, measured interval.
    pub marked: u64,
    /// Headers of trimmed segments that arrived, measured interval.
    pub trimmed: u64,
    /// True for datagrams: their order is not tracked, so the figures of late packets do not apply.
    pub datagrams: bool,
    /// Data packets, not retransmissions, that arrived after bytes with higher sequence numbers; measured interval.
    pub late: u64,
    /// Late packets that ended beyond the data received in order at their arrival.
    pub extents: u64,
    /// Sum of their extents: number of arrivals from the first packet that overtook it to the packet itself.
    pub extent_sum: u64,
    /// Largest extent.
    pub extent_max: u64,
    /// Most bytes that the receiver buffered beyond a hole, caused by reordering or loss, inside the measured
    /// interval.
    pub reordering_buffer: u64,
    /// Sum of one-way delays of arrived data segments (sent by IP to received), measured interval.
    pub delay_sum_ps: u64,
    /// Largest one-way delay of arrived data segments, measured interval.
    pub delay_max_ps: u64,
    /// Number of RTT samples, measured interval.
    pub rtt_count: u64,
    /// Sum of the RTT samples, measured interval.
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
    /// FlowMonitor: the ACK direction, an entry of its own; `None` if not asked for, and for a two-way connection,
    /// whose directions are both flows here.
    pub fm_acks: Option<Box<MonitorEntry>>,
    /// FlowMonitor: lost packets of the data direction by its own rule; `None` without such a rule: packets dropped
    /// by a queue or a host, or lost on a link.
    pub fm_lost_packets: Option<u64>,
}

impl FlowRecord {
    /// Replaces FlowMonitor's figures of the data direction.
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

/// FlowMonitor's entry of one direction of a flow: packets sent in the measured interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorEntry {
    /// IP packets sent.
    pub tx_packets: u64,
    /// IP packets received.
    pub rx_packets: u64,
    /// IP bytes of the received packets, headers included.
    pub rx_bytes: u64,
    /// IP packets lost.
    pub lost_packets: u64,
    /// Sum of delays of the received packets.
    pub delay_sum_ps: u64,
    /// First transmission.
    pub first_tx_ps: Option<u64>,
    /// Last reception.
    pub last_rx_ps: Option<u64>,
}

/// FlowMonitor's rule for received and lost packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonitorRule {
    /// Age at which a packet that has not arrived counts as lost; FlowMonitor checks every second and at the end.
    /// `None`: packets dropped by a queue or a host, or lost on a link, count at once.
    pub lost_after_ps: Option<u64>,
    /// True if packets that their station gets back as unreachable count as received: ns-3's probe follows the packet
    /// within the ICMPv6 error.
    pub undeliverable_received: bool,
}

/// Step of a packet whose direction has an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MonitorStep {
    /// Sent, inside the measured interval or not.
    Sent {
        /// True inside the measured interval.
        measured: bool,
    },
    /// Arrived at its destination.
    Arrived,
    /// Lost.
    Lost,
    /// Lost, and its sender is told so.
    Unreachable,
}

/// Event of a packet whose direction has an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MonitorEvent {
    /// Flow number.
    pub flow: u32,
    /// True for the ACK direction.
    pub reverse: bool,
    /// Time of the step.
    pub time_ps: u64,
    /// Step.
    pub step: MonitorStep,
    /// Number of the packet in its direction, in 16 bits.
    pub id: u16,
    /// IP bytes of the packet.
    pub size: u16,
}

/// One directed link with the queue at its sending end.
#[derive(Clone, Debug, Default)]
pub struct PortRecord {
    /// Name, such as `"edge0>host1"`.
    pub name: Name,
    /// Bits per second; 0 stands for an infinite rate.
    pub rate_bps: u64,
    /// Packets whose transmission ended in the measured interval.
    pub packets: u64,
    /// Bytes sent in the measured interval, link overhead included: of packets being sent at its limits, the part
    /// inside.
    pub bytes: u64,
    /// Packets that arrived to wait or to be sent, measured interval. Together with those held at its start they are:
    /// sent, held at the end, or dropped, trimmed or returned while they waited.
    pub accepted: u64,
    /// Bytes of the accepted packets on the wire, as they arrived.
    pub accepted_bytes: u64,
    /// Time the transmitter was busy inside the measured interval.
    pub busy_ps: u64,
    /// Packets dropped by the queue, measured interval.
    pub drops: u64,
    /// Packets trimmed to their headers, measured interval.
    pub trimmed: u64,
    /// Headers returned to their senders because the queue was full, measured interval.
    pub returned: u64,
    /// Packets lost on the link (error rate, failures), measured interval.
    pub losses: u64,
    /// Packets CE-marked, measured interval.
    pub marks: u64,
    /// Time-averaged packets in the queue (as the discipline counts them), measured interval.
    pub queue_mean_packets: f64,
    /// 99th percentile (nearest rank) of the sampled queue length; `None` without a sample.
    pub queue_p99_packets: Option<f64>,
    /// Largest queue length seen, an arriving packet included once accepted.
    pub queue_max_packets: u64,
    /// As `queue_mean_packets`, in bytes.
    pub queue_mean_bytes: f64,
    /// As `queue_max_packets`, in bytes.
    pub queue_max_bytes: u64,
    /// Largest possible queue, for a limit in packets.
    pub limit_packets: Option<u64>,
    /// Largest possible queue, for a limit in bytes.
    pub limit_bytes: Option<u64>,
    /// Number of pauses by the neighbour, counted while no class was paused, measured interval.
    pub pauses: u64,
    /// Time in which at least one class was paused, measured interval.
    pub paused_ps: u64,
    /// Start of a deadlock that lasts until the end of the run: a class is paused by a neighbour that waits, over
    /// others, for this very port.
    pub deadlocked_ps: Option<u64>,
    /// As `packets`, whole run.
    pub packets_total: u64,
    /// As `accepted`, whole run.
    pub accepted_total: u64,
    /// Drops and losses, whole run.
    pub lost_total: u64,
    /// Traffic classes, in order; empty if one queue serves all.
    pub classes: Vec<ClassRecord>,
}

/// A traffic class at a port, over the measured interval.
#[derive(Clone, Debug, Default)]
pub struct ClassRecord {
    /// Packets accepted.
    pub packets: u64,
    /// Bytes accepted, as the queue counts them.
    pub bytes: u64,
    /// Packets dropped by the queue of the class.
    pub drops: u64,
    /// Packets CE-marked.
    pub marks: u64,
    /// Time-averaged packets in the queue of the class.
    pub queue_mean_packets: f64,
    /// Largest queue length seen, an arriving packet included once accepted.
    pub queue_max_packets: u64,
    /// As `queue_mean_packets`, in bytes.
    pub queue_mean_bytes: f64,
    /// As `queue_max_packets`, in bytes.
    pub queue_max_bytes: u64,
    /// Number of pauses by the neighbour.
    pub pauses: u64,
    /// Time paused.
    pub paused_ps: u64,
}

/// One engine of a host's own processing, over the measured interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineRecord {
    /// `"h3.rx0"`: host, side and number.
    pub name: String,
    /// Packets served.
    pub packets: u64,
    /// Packets dropped because the engine was full.
    pub drops: u64,
    /// Time busy.
    pub busy_ps: u64,
    /// Time-averaged packets in the engine, the one in service included.
    pub queue_mean_packets: f64,
    /// 99th percentile (nearest rank) of the packets in the engine, sampled; `None` without a sample.
    pub queue_p99_packets: Option<f64>,
    /// Most packets in the engine.
    pub queue_max_packets: u64,
    /// Time from the arrival at the engine to the end of the service, summed over `packets`.
    pub wait_sum_ps: u64,
    /// Longest time from the arrival at the engine to the end of the service.
    pub wait_max_ps: u64,
}

/// Entry of a table at a node that runs a program with tables; whole run.
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
    /// Installation time.
    pub installed_ps: u64,
    /// Expiry time; `None` if still installed at the end.
    pub ended_ps: Option<u64>,
    /// Packets matched.
    pub packets: u64,
    /// IP bytes of the matched packets.
    pub bytes: u64,
}

/// Counters of a station of a radio cell over the measured interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RadioRecord {
    /// Name of the node.
    pub station: String,
    /// Name of the cell.
    pub cell: String,
    /// Horizontal position, in metres.
    pub x: f64,
    /// Vertical position, in metres.
    pub y: f64,
    /// Counters of its MAC.
    pub counts: RadioCounts,
    /// Time spent receiving frames.
    pub receiving_ps: u64,
    /// Time in which the channel of its cell was busy.
    pub channel_busy_ps: u64,
    /// Power in mW while transmitting, receiving and listening.
    pub power_mw: [f64; 3],
}

/// One point of a time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// `"flow 3"`, or the name of a port; shared by all samples of one entity.
    pub entity: Arc<str>,
    /// `"cwnd_bytes"`, `"rtt_s"`, `"alpha"`, `"queue_packets"` ...
    pub name: &'static str,
    /// Time of the point.
    pub time_ps: u64,
    /// Value; the unit is in the name.
    pub value: f64,
}

named! {
    /// An event of a traced packet.
    Happening {
        /// Handed by the transport to the host's NIC.
        Send "send",
        /// Accepted by a port.
        Enqueue "enqueue",
        /// Accepted by a port, and CE set.
        Mark "mark",
        /// Dropped by a queue.
        Drop "drop",
        /// Lost on a link.
        Loss "loss",
        /// Given up by a radio station: no neighbour answers.
        Unreachable "unreachable",
        /// Reached the far end of a link.
        Arrive "arrive",
        /// Taken by the receiving transport.
        Receive "receive",
        /// Transmission of one of its radio frames begins.
        Transmit "transmit",
        /// One of its radio frames was received by a station.
        Hear "hear",
    }
}

/// One line of a packet trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketEvent {
    /// Time of the event.
    pub time_ps: u64,
    /// Flow number.
    pub flow: u32,
    /// Node or port of the event.
    pub place: String,
    /// Event.
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

/// Receiver of the engine's observations during a run. Histograms merge exactly, so the order of calls between flows
/// does not affect the result.
pub trait Recorder {
    /// A data segment of a flow of `group` arrived after `delay_ps`.
    fn delay(&mut self, group: u32, delay_ps: u64);
    /// A sender of `group` took an RTT sample.
    fn rtt(&mut self, group: u32, rtt_ps: u64);
    /// A point of a time series.
    fn sample(&mut self, sample: Sample);
    /// A step of a packet whose direction has a FlowMonitor entry.
    fn monitor(&mut self, event: MonitorEvent);
    /// A traced packet.
    fn packet(&mut self, event: PacketEvent);
    /// A query or write is complete, or the run ended before. Its `timeouts` are counted later.
    fn message(&mut self, message: MessageRecord);
    /// The retransmission timer of a flow fired. Called if the flow carries messages or there is a timeline.
    fn timeout(&mut self, flow: u32, time_ps: u64);
    /// A step of a pause of priority flow control, of which at most `most` are kept.
    fn pause(&mut self, event: PauseEvent, most: u32);
    /// A host's engine was full and dropped a data packet of a flow, in the measured interval.
    fn host_drop(&mut self, flow: u32);
    /// An iteration of a rank of a job has ended, or the run ended before.
    fn rank(&mut self, record: RankRecord);
    /// A rank has ended its part in a collective, or the run ended before.
    fn part(&mut self, record: PartRecord);
    /// A message of a job has arrived.
    fn transfer(&mut self, record: TransferRecord);
    /// A recorded task of a job has ended, or the run ended before.
    fn task(&mut self, record: TaskRecord);
    /// A flow with an end, the last query of a limited number, or a rank of a job has finished.
    fn finish(&mut self, time_ps: u64);
}
