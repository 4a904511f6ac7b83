//! Interface between a controller and its transport: the trait [`Controller`], the network facts a controller gets
//! when a flow opens ([`Env`]), and the events.

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

/// Progress of a flow when an ACK arrives: bytes counted from the flow's beginning, each when it is first sent.
///
/// With it a controller acts once a round trip: it keeps [`Round::sent`] of the ACK with which the round trip begins,
/// and the round trip ends at the first ACK that [is past](Round::is_past) that count, because that ACK acknowledges
/// bytes sent later. A TCP fills in SND.UNA and SND.NXT, less the initial sequence number. A QUIC stack counts the
/// payload of its packets in the order of their numbers: `sent` counts all packets, `acked` those below the first
/// that is neither acknowledged nor given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Bytes acknowledged without a gap, after this ACK.
    pub acked: u64,
    /// Bytes sent, without retransmissions.
    pub sent: u64,
}

impl Round {
    /// True if bytes beyond the first `end` are acknowledged.
    #[inline]
    pub fn is_past(&self, end: u64) -> bool {
        self.acked > end
    }

    /// True if the first `end` bytes are acknowledged.
    #[inline]
    pub fn has_reached(&self, end: u64) -> bool {
        self.acked >= end
    }
}

/// Facts of an ACK that only a TCP has, for controllers that reproduce another TCP's behaviour to the byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpAck {
    /// End of the segment sent last, which may be a retransmission, counted as [`Round::sent`] is; equal to that if
    /// no loss was repaired.
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
    /// The rest of `rtt`, spent in hosts: in the receiver from the arrival at its NIC until the ACK was ready, in the
    /// sender from the ACK's arrival at the NIC until now. Zero if hosts are not modelled.
    pub endpoint_delay: Option<Time>,
    /// Links the data packet crossed from sender to receiver.
    pub hops: u32,
    /// The ACK carries ECN-Echo.
    pub ece: bool,
    /// Bytes in flight before this ACK was processed.
    pub in_flight: u64,
    /// Bytes found lost since the previous ACK, by this ACK or by a timer of the loss detection, with SACK or
    /// without. Excludes the bytes that a retransmission timeout assumes lost ([`Timeout`]), and packets trimmed by a
    /// queue, which are retransmitted without counting as lost.
    pub lost_bytes: u64,
    /// Progress of the flow, for counting round trips.
    pub round: Round,
    /// Facts that only a TCP has.
    pub tcp: TcpAck,
    /// True if the window, not the application or the receiver, limited sending (always true if the transport's
    /// `cwnd_limited` test is off).
    pub cwnd_limited: bool,
    /// State of the transport.
    pub phase: Phase,
}

/// A duplicate without information, at time zero, of an open transport limited by its window: for callers that know
/// only some of an ACK's facts.
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
    /// Bytes sent so far, as [`Round::sent`] counts them: bytes not acknowledged count as lost.
    pub sent: u64,
    /// Timeouts in a row without a new acknowledgement, this one included (1 for the first).
    pub consecutive: u32,
    /// Number of the timeout, over the connection's life, from which on the window is empty instead of one segment;
    /// 0: never. Controllers with a [`RenoWindow`](crate::reno_window::RenoWindow) obey.
    pub emptying: u32,
    /// State of the transport when the timer fired.
    pub phase: Phase,
}

/// The flow was idle: nothing in flight and nothing sent for longer than the retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Time of the event: data is about to be sent again.
    pub now: Time,
    /// Whole retransmission timeouts since the last packet, at least 1.
    pub timeouts: u32,
}

/// Stamp of a port on the path of a packet (in-band telemetry, as in Li et al., HPCC, SIGCOMM 2019, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Time of the stamp: the packet's arrival at the port.
    pub time: Time,
    /// Bytes that the port has transmitted since the run began, link overhead included.
    pub tx_bytes: Bytes,
    /// Bytes queued at the port before the packet.
    pub queue: Bytes,
    /// Rate of its link.
    pub rate: Rate,
}

/// Change of a flow's rate allowed by switches (XCP).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback {
    /// Bytes of payload per second, more or less than zero.
    pub change: f64,
    /// Round-trip time that the packet carried to the switches.
    pub rtt: Time,
}

/// Notice of a queue at a port on a packet's path (Bolt).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backlog {
    /// Time of the notice.
    pub now: Time,
    /// Time at which the packet was sent that met the queue.
    pub sent: Time,
    /// Queue length at the port, in full-size packets.
    pub packets: f64,
    /// Rate of its link.
    pub rate: Rate,
}

/// Deadline of data of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// End of the data: byte after its last, counted as [`Round::acked`] and [`Round::sent`] are.
    pub end: u64,
    /// Time of the deadline.
    pub at: Time,
}

/// A sample of the delivery rate (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation-00; Linux,
/// net/ipv4/tcp_rate.c): the bytes delivered between the sending of the packet that an ACK reports and this ACK. If
/// the ACK reports several packets, the sample is that of the packet sent with the most bytes delivered before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Bytes delivered in the interval.
    pub delivered: Bytes,
    /// Length of the interval: the longer of the times to send and to acknowledge these bytes.
    pub interval: Time,
    /// Bytes that had been delivered when the packet was sent.
    pub prior: u64,
    /// Bytes delivered so far.
    pub total: u64,
    /// True if the sender had run out of data when the packet was sent.
    pub app_limited: bool,
}

impl Delivery {
    /// Delivery rate, in bytes per picosecond; `None` for an empty interval.
    pub fn rate(&self) -> Option<f64> {
        (self.interval > Time::ZERO).then(|| self.delivered.0 as f64 / self.interval.0 as f64)
    }
}

/// Pacing of packets, in addition to the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pacing {
    /// As fast as the window allows.
    None,
    /// At this rate, in bits per second of payload.
    Rate(f64),
    /// One packet, then this pause since its sending (windows below one packet).
    Gap(Time),
}

/// ECN signal that a controller was designed for; `transport.ecn = "auto"` selects it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// RFC 3168: the receiver echoes until CWR arrives; one reduction a window.
    Classic,
    /// DCTCP's two-state receiver: every ACK reports the mark of the data it covers.
    Dctcp,
}

/// Request that a flow's packets carry to the switches on their path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Asks {
    /// Nothing.
    #[default]
    Nothing,
    /// A rate (RCP): the controller gets the smallest granted rate by [`Controller::on_rate`].
    Rate,
    /// A change of the window (XCP): the controller gets the smallest allowed change by [`Controller::on_feedback`].
    Window,
    /// Room for one more packet (Bolt): the controller gets it by [`Controller::on_bolt_grant`], and notices of queues
    /// by [`Controller::on_backlog`].
    Bolt,
}

/// Requirements of a controller on its transport; the transport's `auto` settings become these values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// ECN signal.
    pub ecn: Ecn,
    /// The controller reacts to losses entirely by itself: the transport retransmits by SACK under `cwnd()`, without
    /// a recovery window of its own, and calls `on_loss` at every ACK that uncovers new holes. Otherwise `on_loss` is
    /// called once, when fast recovery begins. A loss repaired by a tail-loss probe counts too, unless the controller
    /// asks for `late` or `delivery`: then it is not reported (a single segment is no run; Linux leaves the window of
    /// such controllers alone).
    pub own_recovery: bool,
    /// Receivers acknowledge every packet at once.
    pub ack_every_packet: bool,
    /// With `own_recovery` and SACK: the transport waits for packets that others have overtaken. `on_loss` is then
    /// called for runs of such packets only.
    pub late: Option<Late>,
    /// Receivers acknowledge data with a CE mark at once, other data as the transport does (GCN: Swift's paper,
    /// section 4.1).
    pub ack_marked_at_once: bool,
    /// Ports stamp data packets, and receivers return the stamps with their ACKs: the controller gets them by
    /// [`Controller::on_telemetry`].
    pub telemetry: bool,
    /// Receivers of marked data notify the sender by packets of their own (CNPs), at most one per this interval; the
    /// controller gets them by [`Controller::on_cnp`].
    pub cnp: Option<Time>,
    /// Request that packets carry to the switches on their path; receivers return the answers.
    pub asks: Asks,
    /// The transport samples delivery rates for [`Controller::on_delivery`].
    pub delivery: bool,
    /// The transport reports the deadlines of data to send by [`Controller::on_deadline`].
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

/// Rule for packets that others have overtaken (Zhang, Zhang and Huang, Computer Communications 62, 2015, as applied
/// by Gerstein et al., arXiv 2025). A packet is late if at least `dupthresh` packets sent after it were acknowledged
/// and it was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Late {
    /// Number of consecutive late packets that count as a loss: `on_loss` is called and they are retransmitted.
    pub trigger: u32,
    /// Time after which a late packet is retransmitted, without a call; `None`: the smoothed RTT when it became late.
    pub wait: Option<Time>,
}

impl Late {
    /// LSwift's values.
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
    /// Rate of the sending host's link, bits per second on the wire; if infinite, that of the slowest link of the
    /// flow's path.
    pub line_rate: Rate,
    /// Time to serialize one full packet (headers and link overhead included) at the sending host's link; zero if its
    /// rate is infinite.
    pub line_packet_time: Time,
}

/// A congestion controller of one flow.
///
/// The methods called for one arriving ACK have this order: [`on_recovered`](Controller::on_recovered) if the ACK
/// ends a reduction or recovery; [`on_ack`](Controller::on_ack), with the resulting phase of the transport; then at
/// most one of [`on_loss`](Controller::on_loss), if the ACK reveals a loss to react to, and
/// [`on_ecn`](Controller::on_ecn), if it carries the first ECN-Echo since the data of the previous reduction was
/// acknowledged. So an average over marks is up to date when `on_ecn` uses it for a reduction (RFC 8257 section 3.3
/// has this order too), and `on_ack` must not grow the window on an ACK with [`Ack::ece`] in [`Phase::Open`].
pub trait Controller {
    /// An acknowledgement arrived. It comes before the `on_loss` or `on_ecn` that it may cause.
    fn on_ack(&mut self, ack: &Ack);
    /// With [`Profile::telemetry`]: stamps of the ports crossed by the packet that caused an ACK, in order. Called
    /// before the `on_ack` of that ACK, and not for ACKs without stamps.
    fn on_telemetry(&mut self, _hops: &[Hop]) {}
    /// With [`Asks::Rate`]: the smallest rate granted by the switches on a packet's path, bits per second of payload;
    /// infinite if no switch granted one. Called with the answer to the SYN, and before the `on_ack` of an ACK that
    /// carries a rate.
    fn on_rate(&mut self, _granted: f64) {}
    /// With [`Asks::Rate`]: the rate requested by a packet sent now, bits per second of payload; infinite for as much
    /// as possible. Switches that grant all flows one rate ignore it.
    fn wants(&self, _now: Time) -> f64 {
        f64::INFINITY
    }
    /// With [`Asks::Window`]: the change that the switches on the path allowed to a packet, or to several packets
    /// that one ACK acknowledges. Called before the `on_ack` of that ACK.
    fn on_feedback(&mut self, _feedback: &Feedback) {}
    /// With [`Asks::Bolt`]: number of acknowledged packets to which the switches granted one more packet of window.
    /// Called before the `on_ack` of that ACK.
    fn on_bolt_grant(&mut self, _packets: u32) {}
    /// With [`Asks::Bolt`]: a port has a queue. Called when the port's own packet arrives, or before the `on_ack` of
    /// the ACK that reports a port which sent none.
    fn on_backlog(&mut self, _backlog: &Backlog) {}
    /// With [`Profile::delivery`] and a scoreboard that is not ns-3's: a sample of the delivery rate. Called before
    /// the `on_ack` of the ACK that reports the delivery, and not for ACKs that report none.
    fn on_delivery(&mut self, _sample: &Delivery) {}
    /// With [`Profile::deadlines`]: end and deadline of the data that the application has to send next. Called when
    /// the connection opens and when a message or a write follows another; not called for data without a deadline.
    fn on_deadline(&mut self, _deadline: &Deadline) {}
    /// With [`Profile::cnp`]: a notification of the receiver arrived. The transport reads [`Controller::wake_at`]
    /// afterwards, and after every [`Controller::on_wake`].
    fn on_cnp(&mut self, _now: Time) {}
    /// Time of the controller's next timer; [`Time::NEVER`] without one.
    fn wake_at(&self) -> Time {
        Time::NEVER
    }
    /// The timer of [`Controller::wake_at`] fires. The next value of `wake_at` is later.
    fn on_wake(&mut self, _now: Time) {}
    /// Fast retransmit (see [`Profile::own_recovery`] for when). Reduces the window.
    fn on_loss(&mut self, event: &Congestion);
    /// Returns whether a marked ACK shall cause [`on_ecn`](Controller::on_ecn), from the ACKs seen so far. With
    /// `transport.ecn_preempts` these do not yet include the marked one. Called before `on_ecn`; false prevents the
    /// reduction. The default is true.
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
    /// The latest `on_loss` or `on_timeout` was spurious: the data assumed lost had arrived. The default keeps the
    /// reduction.
    fn on_undo(&mut self) {}
    /// Nothing was sent for longer than the retransmission timeout, and the transport restarts after idle times (RFC
    /// 5681 section 4.1): the window no longer reflects the path.
    fn on_idle(&mut self, _idle: &Idle) {}
    /// Congestion window in bytes; may be below one segment if [`Controller::pacing`] then gives a [`Pacing::Gap`].
    fn cwnd(&self) -> f64;
    /// Slow-start threshold in bytes; infinite where the controller has none.
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    /// Returns whether the flow is in slow start. The default: below a known threshold.
    fn in_slow_start(&self) -> bool {
        self.ssthresh().is_finite() && self.cwnd() < self.ssthresh()
    }
    /// Pacing, after the latest event.
    fn pacing(&self) -> Pacing {
        Pacing::None
    }
    /// Passes names and values of the state worth tracing (beyond `cwnd` and `ssthresh`) to the visitor, e.g.
    /// `("alpha", 0.25)` or `("target_delay_s", 4.1e-5)`; times in seconds, not-a-number for values not known yet.
    /// Names and order are those of [`Kind::state`](crate::registry::Kind::state) at every call.
    fn state(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

// The worked example of the documentation is a test of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/controllers/adding.md")]
struct Adding;
