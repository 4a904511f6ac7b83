//! The interface of a controller to its transport: the trait [`Controller`], the facts of the network that it gets when
//! a flow opens ([`Env`]), and the events.

use crate::units::{Bytes, Rate, Time};

/// The phase of the transport at an event, as a controller sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nothing is known to be lost, no reduction is under way.
    Open,
    /// A window reduction for ECN is under way (until the data outstanding at its start is acked).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout, until the data outstanding at the timeout is acked.
    Loss,
}

/// How far a flow has come when an ACK arrives: bytes counted from the flow's beginning, each when it is first sent.
///
/// With it a controller acts once a round trip: it keeps [`Round::sent`] of the ACK with which the round trip begins,
/// and the round trip ends at the first ACK that [is past](Round::is_past) that count, which acknowledges something
/// sent later. A TCP fills in SND.UNA and SND.NXT, less the initial sequence number. A QUIC stack counts the payload
/// of its packets in the order of their numbers: in `sent` of all, in `acked` of those below the first that is neither
/// acknowledged nor given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Acknowledged without a gap, after this ACK.
    pub acked: u64,
    /// Sent for the first time.
    pub sent: u64,
}

impl Round {
    /// Something is acknowledged that was sent after the first `end` bytes.
    #[inline]
    pub fn is_past(&self, end: u64) -> bool {
        self.acked > end
    }

    /// The first `end` bytes are acknowledged.
    #[inline]
    pub fn has_reached(&self, end: u64) -> bool {
        self.acked >= end
    }
}

/// Facts of an ACK that only a TCP has, for controllers that repeat another TCP's behaviour to the byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpAck {
    /// End of the segment sent last, be it a retransmission, counted as [`Round::sent`] is; equal to that where no
    /// loss was repaired.
    pub sent_to: u64,
}

/// One acknowledgement, as the sender's transport understood it. Sizes in bytes of payload.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time at which the sender processes the ACK.
    pub now: Time,
    /// Bytes newly covered by the cumulative acknowledgement (0 for a duplicate).
    pub acked: u64,
    /// Bytes newly known to have arrived: cumulatively acked or SACKed now for the first time.
    pub delivered: u64,
    /// Round-trip time of the packet that caused this ACK, from its echoed time stamp.
    pub rtt: Option<Time>,
    /// Smoothed RTT of the transport (RFC 6298), after this ACK; zero before the first sample.
    pub srtt: Time,
    /// Part of `rtt` spent in the fabric (links and switch queues). Equals `rtt` where hosts are
    /// not modelled.
    pub fabric_delay: Option<Time>,
    /// The rest of `rtt`, spent in hosts: in the receiver from the arrival at its NIC until the ACK was
    /// ready, in the sender from the ACK's arrival at the NIC until now. Zero where hosts are not modelled.
    pub endpoint_delay: Option<Time>,
    /// Links the data packet crossed from sender to receiver.
    pub hops: u32,
    /// The ACK carries ECN-Echo.
    pub ece: bool,
    /// Bytes in flight before this ACK was processed.
    pub in_flight: u64,
    /// Bytes found to be lost since the ACK before, by this ACK or by a timer of the loss detection, with SACK or
    /// without; not those of a retransmission timeout, which supposes everything lost ([`Timeout`]), nor what a queue
    /// has cut to its header (trimming), which goes again without being a loss.
    pub lost_bytes: u64,
    /// Where the flow is in its round trips.
    pub round: Round,
    /// Facts that only a TCP has.
    pub tcp: TcpAck,
    /// The window, not the application or the receiver, limited sending (always true when the
    /// transport's `cwnd_limited` test is off).
    pub cwnd_limited: bool,
    /// State of the transport.
    pub phase: Phase,
}

/// A duplicate that says nothing, at time zero, of an open transport which the window limits: for
/// callers that know only some of an ACK's facts.
impl Default for Ack {
    fn default() -> Ack {
        Ack {
            now: Time::ZERO,
            acked: 0,
            delivered: 0,
            rtt: None,
            srtt: Time::ZERO,
            fabric_delay: None,
            endpoint_delay: None,
            hops: 0,
            ece: false,
            in_flight: 0,
            lost_bytes: 0,
            round: Round::default(),
            tcp: TcpAck::default(),
            cwnd_limited: true,
            phase: Phase::Open,
        }
    }
}

/// A congestion event that is not a timeout: fast retransmit, or the first ECN-Echo of a window.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Time of the event.
    pub now: Time,
    /// Bytes in flight (outstanding, by the transport's account) when it was noticed.
    pub in_flight: u64,
    /// Congestion window in force, bytes: `cwnd()`, or the transport's recovery window in its place.
    pub window: f64,
    /// Latest RTT sample, zero before the first.
    pub rtt: Time,
    /// Smoothed RTT, zero before the first sample.
    pub srtt: Time,
}

/// A retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Time of the event.
    pub now: Time,
    /// Bytes in flight when the timer fired.
    pub in_flight: u64,
    /// Congestion window in force, bytes: `cwnd()`, or the transport's recovery window in its place.
    pub window: f64,
    /// Latest RTT sample, zero before the first.
    pub rtt: Time,
    /// Bytes sent so far, as [`Round::sent`] counts them: those that are not acknowledged count as lost.
    pub sent: u64,
    /// Timeouts in a row without a new acknowledgement, this one included (1 for the first).
    pub consecutive: u32,
    /// The timeout of the connection's life from which on the window is nothing in place of one segment; 0: none.
    /// Controllers that keep a [`RenoWindow`](crate::reno_window::RenoWindow) obey.
    pub emptying: u32,
    /// State of the transport when the timer fired.
    pub phase: Phase,
}

/// Nothing was in flight and nothing sent for longer than the retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Time of the event: data is about to be sent again.
    pub now: Time,
    /// Whole retransmission timeouts since the last packet, at least 1.
    pub timeouts: u32,
}

/// The stamp of a port on a packet's way (in-band telemetry, as Li et al., HPCC, SIGCOMM 2019, section 3.1, have
/// it).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Time of the stamp: the packet's arrival at the port.
    pub time: Time,
    /// Bytes that the port has transmitted since the run began, link overhead included.
    pub tx_bytes: Bytes,
    /// Bytes that it still has to transmit before the packet.
    pub queue: Bytes,
    /// Rate of its link.
    pub rate: Rate,
}

/// A change of a flow's rate that switches have allowed (XCP).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback {
    /// Bytes of payload per second, more or less than zero.
    pub change: f64,
    /// The round-trip time that the packet told the switches.
    pub rtt: Time,
}

/// A port of a packet's way has a queue, and says so (Bolt).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backlog {
    /// Now.
    pub now: Time,
    /// When the packet was sent that met it.
    pub sent: Time,
    /// Packets that wait there, of the size of a full one.
    pub packets: f64,
    /// Rate of its link.
    pub rate: Rate,
}

/// What the application has to send by a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// Byte after its last, counted as [`Round::acked`] and [`Round::sent`] are.
    pub end: u64,
    /// When it is to be there.
    pub at: Time,
}

/// A sample of the delivery rate (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation-00; Linux,
/// net/ipv4/tcp_rate.c): what arrived between the sending of the packet that an ACK reports and this ACK. Of several
/// packets the one counts at whose sending the most had been delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Bytes delivered in the interval.
    pub delivered: Bytes,
    /// How long it took: the longer of sending and of acknowledging them.
    pub interval: Time,
    /// Bytes that had been delivered when the packet was sent.
    pub prior: u64,
    /// Bytes delivered so far.
    pub total: u64,
    /// The sender had run out of data when the packet was sent.
    pub app_limited: bool,
}

impl Delivery {
    /// The rate, bytes a picosecond; `None` where the interval is nothing.
    pub fn rate(&self) -> Option<f64> {
        (self.interval > Time::ZERO).then(|| self.delivered.0 as f64 / self.interval.0 as f64)
    }
}

/// How fast a controller wants packets to leave, beyond what its window says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pacing {
    /// As fast as the window allows.
    None,
    /// At this rate, in bits per second of payload.
    Rate(f64),
    /// One packet, then this pause since its sending (windows below one packet).
    Gap(Time),
}

/// The ECN signal a controller was designed for; what `transport.ecn = "auto"` resolves to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes until CWR arrives; one reduction a window.
    Classic,
    /// DCTCP's two-state receiver: every ACK tells the mark of the data it covers.
    Dctcp,
}

/// What the packets of a flow ask of the switches on their way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Asks {
    /// Nothing.
    #[default]
    Nothing,
    /// A rate (RCP): the controller gets the least granted by [`Controller::on_rate`].
    Rate,
    /// By how much the window is to change (XCP): the controller gets the least by [`Controller::on_feedback`].
    Window,
    /// Room for one more packet (Bolt): the controller gets it by [`Controller::on_room`], and what ports say of their
    /// queues by [`Controller::on_backlog`].
    Room,
}

/// Requirements of a controller on its transport; the transport's `auto` settings become these values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// ECN signal.
    pub ecn: Ecn,
    /// The controller reacts to losses entirely by itself: the transport retransmits by SACK
    /// under `cwnd()`, with no recovery window of its own, and calls `on_loss` at every ACK that
    /// uncovers new holes. Otherwise `on_loss` is called once, when fast recovery begins. A loss that a tail-loss
    /// probe repaired is one too, unless the controller asks for `late` or `delivery`: then it is told nothing (a
    /// single segment is no run; Linux leaves the window of such controllers alone).
    pub own_recovery: bool,
    /// Receivers acknowledge every packet at once.
    pub ack_every_packet: bool,
    /// With `own_recovery` and SACK: packets that others have overtaken are waited for. `on_loss` is then called
    /// for runs of them only.
    pub late: Option<Late>,
    /// Receivers acknowledge data with a CE mark at once, other data as the transport does (GCN: Swift's
    /// paper, section 4.1).
    pub ack_marked_at_once: bool,
    /// Ports stamp its data packets, and receivers return the stamps with their ACKs: the controller gets them by
    /// [`Controller::on_telemetry`].
    pub telemetry: bool,
    /// Receivers of marked data notify the sender by packets of their own (CNPs), at most one each such time; the
    /// controller gets them by [`Controller::on_cnp`].
    pub cnp: Option<Time>,
    /// What its packets ask of the switches of their way; receivers return the answers.
    pub asks: Asks,
    /// The transport samples delivery rates: the controller gets them by [`Controller::on_delivery`].
    pub delivery: bool,
    /// It is told the deadlines of what it sends, by [`Controller::on_deadline`].
    pub deadlines: bool,
}

impl Profile {
    /// A conventional TCP without ECN.
    pub const TCP: Profile = Profile {
        ecn: Ecn::Off,
        own_recovery: false,
        ack_every_packet: false,
        late: None,
        ack_marked_at_once: false,
        telemetry: false,
        asks: Asks::Nothing,
        cnp: None,
        delivery: false,
        deadlines: false,
    };
}

/// How a transport waits for packets that others have overtaken (Zhang, Zhang and Huang, Computer Communications 62,
/// 2015, as Gerstein et al. apply it, arXiv 2025). A packet is late when at least `dupthresh` packets sent after it
/// were acknowledged and it was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// So many consecutive late packets are a loss: `on_loss` is called and they are sent again.
    pub trigger: u32,
    /// A packet that was late for so long is sent again, without a call; `None`: the smoothed RTT when it became late.
    pub wait: Option<Time>,
}

impl Late {
    /// As LSwift has it.
    pub const LSWIFT: Late = Late { trigger: 5, wait: None };
}

/// Facts about a flow and its path which a controller may derive defaults from.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Number of the flow.
    pub flow: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Initial window in bytes.
    pub initial_window: f64,
    /// Time to serialize one full packet (headers and link overhead included) at the slowest
    /// link of the path.
    pub packet_time: Time,
    /// Idle round-trip time of the shortest host-to-host path of the fabric.
    pub shortest_rtt: Time,
    /// Links on that shortest path, one way.
    pub shortest_hops: u32,
    /// Idle round-trip time which one more link adds (delay both ways and serialization of the
    /// packet and of its ACK).
    pub hop_rtt: Time,
    /// Idle round-trip time of this flow's own path, of a full packet and its ACK.
    pub base_rtt: Time,
    /// Rate of the sending host's link, bits per second on the wire; where that is infinite, of the slowest link of the
    /// flow's path.
    pub line_rate: Rate,
    /// Time to serialize one full packet (headers and link overhead included) at the sending host's link; zero where
    /// its rate is infinite.
    pub line_packet_time: Time,
}

/// A congestion controller of one flow.
///
/// The methods that one arriving ACK causes are called in this order: [`on_recovered`](Controller::on_recovered)
/// if the ACK ends a reduction or recovery; [`on_ack`](Controller::on_ack), with the phase in
/// which that leaves the transport; then at most one of [`on_loss`](Controller::on_loss), if the
/// ACK reveals a loss to react to, and [`on_ecn`](Controller::on_ecn), if it carries the first
/// ECN-Echo since the data of the previous reduction was acknowledged. So an average over marks
/// is up to date when `on_ecn` cuts by it (RFC 8257 section 3.3 has this order too), and `on_ack`
/// must not grow the window on an ACK with [`Ack::ece`] in [`Phase::Open`].
pub trait Controller {
    /// An acknowledgement arrived. It comes before the `on_loss` or `on_ecn` that it may cause.
    fn on_ack(&mut self, ack: &Ack);
    /// With [`Profile::telemetry`]: stamps of the ports that the packet crossed which caused an ACK, in its order.
    /// Comes before the `on_ack` of that ACK, and not for ACKs that bring none.
    fn on_telemetry(&mut self, _hops: &[Hop]) {}
    /// With [`Asks::Rate`]: the least rate that the switches of a packet's way have granted, bits per
    /// second of payload; infinite where none has. Comes with the answer to the SYN, and before the `on_ack` of an ACK
    /// that brings one.
    fn on_rate(&mut self, _granted: f64) {}
    /// With [`Asks::Rate`]: the rate that a packet asks for which leaves now, bits per second of payload; infinite
    /// where it takes what there is. Switches that grant all flows one rate do not look at it.
    fn wants(&self, _now: Time) -> f64 {
        f64::INFINITY
    }
    /// With [`Asks::Window`]: the change that the switches of a packet's way have allowed it, or of several packets
    /// that one ACK acknowledges. Comes before the `on_ack` of that ACK.
    fn on_feedback(&mut self, _feedback: &Feedback) {}
    /// With [`Asks::Room`]: the switches have let so many of the packets that an ACK acknowledges add one each to the
    /// window. Comes before the `on_ack` of that ACK.
    fn on_room(&mut self, _packets: u32) {}
    /// With [`Asks::Room`]: a port has a queue. Comes as soon as the port's own packet does, or before the `on_ack` of
    /// the ACK that tells of a port which has sent none.
    fn on_backlog(&mut self, _backlog: &Backlog) {}
    /// With [`Profile::delivery`] and a scoreboard that is not ns-3's: a sample of the delivery rate. Comes before the
    /// `on_ack` of the ACK that reports the delivery, and not for ACKs that report none.
    fn on_delivery(&mut self, _sample: &Delivery) {}
    /// With [`Profile::deadlines`]: what the application has to send now, up to where and by when. Comes when the
    /// connection opens, when a message or a write follows another, and not for what has no deadline.
    fn on_deadline(&mut self, _deadline: &Deadline) {}
    /// With [`Profile::cnp`]: a notification of the receiver arrived. Its timers, which [`Controller::wake_at`] tells,
    /// are looked at afterwards, and after every [`Controller::on_wake`].
    fn on_cnp(&mut self, _now: Time) {}
    /// When the controller's next timer fires; [`Time::NEVER`] without one.
    fn wake_at(&self) -> Time {
        Time::NEVER
    }
    /// The time that [`Controller::wake_at`] told has come. What it tells next is later.
    fn on_wake(&mut self, _now: Time) {}
    /// Fast retransmit (see [`Profile::own_recovery`] for when). Reduces the window.
    fn on_loss(&mut self, event: &Congestion);
    /// A marked ACK calls for [`on_ecn`](Controller::on_ecn), by the ACKs heard so far. With `transport.ecn_preempts`
    /// the marked one itself is not yet among them. Asked before `on_ecn`; without a call no reduction begins. True
    /// unless a controller says otherwise.
    fn heeds_mark(&self) -> bool {
        true
    }
    /// The first ECN-Echo since the data of the previous reduction was acknowledged; or, without
    /// [`Profile::own_recovery`], a loss that a tail-loss probe repaired (RFC 8985 section 7.4.2, as Linux has it). The
    /// default reacts as to a loss (RFC 3168). Called after the `on_ack` of the ACK that carries it, at
    /// most once a window; the transport may spread the cut over a round trip.
    fn on_ecn(&mut self, event: &Congestion) {
        self.on_loss(event);
    }
    /// The retransmission timer fired.
    fn on_timeout(&mut self, event: &Timeout);
    /// Fast recovery or a reduction for ECN ended; `in_flight` bytes are outstanding.
    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {}
    /// The latest `on_loss` or `on_timeout` proved to be a mistake: what was taken for lost had
    /// arrived. The default lets the reduction stand.
    fn on_undo(&mut self) {}
    /// Nothing was sent for longer than the retransmission timeout, and the transport restarts
    /// after idle times (RFC 5681 section 4.1): what the window knew of the path is stale.
    fn on_idle(&mut self, _idle: &Idle) {}
    /// Congestion window in bytes; may be below one segment where [`Controller::pacing`] then
    /// gives a [`Pacing::Gap`].
    fn cwnd(&self) -> f64;
    /// Slow-start threshold in bytes; infinite where the controller has none.
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    /// Whether the window grows as at a flow's beginning, before the controller has found how much the path takes. The
    /// default: below a threshold that is known.
    fn in_slow_start(&self) -> bool {
        self.ssthresh().is_finite() && self.cwnd() < self.ssthresh()
    }
    /// Pacing, after the latest event.
    fn pacing(&self) -> Pacing {
        Pacing::None
    }
    /// Names and values of the state worth tracing (beyond `cwnd` and `ssthresh`), e.g.
    /// `("alpha", 0.25)` or `("target_delay_s", 4.1e-5)`; times in seconds, not-a-number for what
    /// is not known yet. The same names in the same order at every call, those of
    /// [`Kind::state`](crate::registry::Kind::state).
    fn state(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

// The worked example of the documentation is a test of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/controllers/adding.md")]
struct Adding;
