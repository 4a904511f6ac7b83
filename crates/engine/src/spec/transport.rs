//! Transport settings.

use super::Protocol;
use incast_cc::{Ecn, Rate, Time};

/// Settings of the reliable transport. Sizes are in bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportSpec {
    /// Transport protocol. Protocols other than TCP use only the sizes, buffers and timeouts below.
    pub protocol: Protocol,
    /// Size thresholds of traffic classes, rising: a packet has class i while its `demotion_by` measure is below the
    /// i-th size, and the flow's class beyond the last. Empty: the flow's class for all packets.
    pub demotion: Vec<u64>,
    /// Measure of a transfer, message or write for `demotion`: bytes before the packet (PIAS), total bytes, or
    /// remaining bytes.
    pub demotion_by: Rank,
    /// Rank of data packets, for ports that schedule by rank ([`Discipline::Pfabric`](super::Discipline::Pfabric)).
    pub rank: Option<Rank>,
    /// Number of consecutive timeouts after which a sender sends only headers, one per timeout, until it receives
    /// something (pFabric's probe mode); 0: never.
    pub probe_after: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// IP and transport header of a data segment.
    pub header: u32,
    /// Size of a pure ACK (IP and transport header).
    pub ack_size: u32,
    /// Size of SYN and SYN-ACK segments.
    pub syn_size: u32,
    /// Maximum size of an IP packet; larger segments travel as IP fragments. 0: no limit.
    pub mtu: u32,
    /// Open with SYN and SYN-ACK, close with FIN.
    pub handshake: bool,
    /// Send FIN on the last data segment of a flow whose application has closed; the receiver acknowledges it and then
    /// sends its own FIN, which echoes no mark (ns-3). Otherwise FIN is a separate segment, answered by one packet.
    pub fin_with_data: bool,
    /// The application closes after its last write: segments that this write sends at once carry no FIN, which follows
    /// as a separate segment (Linux, tcp_send_fin). With `fin_with_data`.
    pub close_after_write: bool,
    /// Without `handshake`: the flow opens with a SYN of `syn_size` bytes. Its pure ACK starts the data, and the
    /// controller sees an ACK of one byte. No third packet, no FIN (htsim's TCP).
    pub lone_syn: bool,
    /// Timeout of the first SYN retransmission; doubles each time.
    pub syn_timeout: Time,
    /// SYN retransmissions before the flow gives up.
    pub syn_retries: u32,
    /// SYN-ACK retransmissions by the receiver's own timer, which starts at `syn_timeout` and doubles, and in response
    /// to repeated SYNs; 0: only in response to repeated SYNs.
    pub syn_ack_retries: u32,
    /// Consecutive timeouts before the flow gives up; 0: never.
    pub data_retries: u32,
    /// Number of the connection's timeout from which on the window is zero instead of one segment; 0: never. Without
    /// `least_segment` nothing is sent then, and no timer runs until an ACK arrives; with it a timeout still sends one
    /// segment. For controllers with Reno's window.
    pub emptying_timeout: u32,
    /// Segments per ACK; 1 acknowledges every segment at once.
    pub delayed_ack: u32,
    /// Maximum delay of an ACK.
    pub delayed_ack_timeout: Time,
    /// Number of initial segments of a connection that are acknowledged one by one (Linux: 16).
    pub quickack: u32,
    /// Acknowledge at once a segment that ends a write of the application (PSH).
    pub push_ack: bool,
    /// Set PSH on the last segment of a one-way flow or of a message on a two-way connection, and whenever more than
    /// half of the largest window has been written since the last PSH (Linux, forced_push).
    pub push_half_window: bool,
    /// Acknowledge at once a segment that the application reads at once, if it carries PSH or is shorter than the
    /// previous segments (536 bytes at first). An interactive endpoint does so the second time since the last ACK,
    /// others the first time (Linux, tcp_measure_rcv_mss and tcp_cleanup_rbuf). Replaces `push_ack`.
    pub read_ack: bool,
    /// The receiver of data acknowledges each segment at once (Linux: `quickack` of a route); the receiver of requests
    /// follows `delayed_ack`.
    pub quickack_route: bool,
    /// Acknowledge at once a segment with CWR, by which the sender reports a reduction.
    pub cwr_ack: bool,
    /// Linux: the receive window starts at the whole segments that fit into 65,535 bytes (65,160 with segments of 1448)
    /// and grows by two segments with every arriving one, up to half of the receive buffer. A segment that makes it
    /// grow is acknowledged at once and does not count for `quickack`.
    pub window_growth: bool,
    /// Interactive mode of two-way connections in Linux: an endpoint that sends data within the delayed ACK time of
    /// receiving some is interactive, and `quickack` alone no longer makes it acknowledge at once. A delayed ACK that
    /// is sent, a duplicate segment, or a mark (`mark_quickack`) ends the mode. Duplicates, and a silence longer than
    /// the endpoint's own retransmission timeout, restart `quickack`.
    pub pingpong: bool,
    /// The first mark since the sender's last CWR ends a DCTCP receiver's interactive mode, and two segments are
    /// acknowledged at once. Linux 6.1 intends this (__tcp_ecn_check_ce), but its DCTCP module has recorded the mark
    /// before, so that nothing happens.
    pub mark_quickack: bool,
    /// Linux with classic ECN: two segments are acknowledged at once after the first mark since the sender's last CWR,
    /// and after a segment that is not ECN-capable and follows one that was. Complete duplicates are ignored, and their
    /// marks are not echoed.
    pub classic_quickack: bool,
    /// Linux: a retransmitted SYN does not request ECN, and a connection that it opens has none (tcp_ecn_fallback).
    pub ecn_fallback: bool,
    /// Adaptive delayed ACK timeout of two-way connections: follows the intervals between segments that arrive in
    /// order, from half of `delayed_ack_timeout` up to all of it. With long intervals it is at most the endpoint's own
    /// retransmission timeout.
    pub adaptive_ack: bool,
    /// An application that an arriving packet wakes writes after all packets of the same instant have been received, as
    /// a process runs after the kernel has handled its packets; the first application to be woken has sent one segment
    /// by then. Otherwise it writes within the arrival.
    pub wakeup: bool,
    /// Retransmission timers and delayed ACK timers of two-way connections that expire at one host on the same tick
    /// fire last set first, as in a slot of Linux' timer wheel. A timer set again for the same tick keeps its place.
    /// Otherwise they fire in the order of ties.
    pub last_set_first: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// SACK compression (Linux): only the first three segments beyond a hole after the edge has moved are acknowledged
    /// at once. Further ACKs wait for a twentieth of a round trip (of the handshake; the smoothed one on a two-way
    /// connection; at most 1 ms) plus 100 us, for 44 ACKs, or for a third SACK block. ACKs of a host that wait only for
    /// the 100 us leave together with the first of them.
    pub sack_compression: bool,
    /// Duplicate ACKs (or segments SACKed above a hole) that signal a loss.
    pub dupthresh: u32,
    /// Without SACK, under [`Recovery::Linux`]: more duplicate ACKs than outstanding segments beyond the holes count as
    /// reordering, and permanently set `dupthresh` to the number of outstanding segments (at most 300).
    pub reordering: bool,
    /// Bytes that each SACK block adds to an ACK, with at most 40 bytes of options: three blocks with time stamps. 0:
    /// every ACK has `ack_size` bytes and up to four blocks.
    pub sack_block: u32,
    /// Loss detection by SACKs and duplicate ACKs.
    pub scoreboard: Rules,
    /// Definition of bytes in flight at a loss.
    pub loss_flight: LossFlight,
    /// Window rule during fast recovery.
    pub recovery: Recovery,
    /// Spread a reduction for ECN over a round by PRR instead of applying it at once.
    pub ecn_by_prr: bool,
    /// An ECN-Echo starts its reduction before the rest of its ACK is processed, and in any state: it replaces a fast
    /// recovery or the slow start after a timeout, and no other reduction begins until it ends. Controllers see an
    /// ECN-Echo from an ACK that advances until CWR is sent or an ACK arrives without it (ns-3).
    pub ecn_preempts: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// A recovery without new data retransmits segments that are neither SACKed nor proven lost (RFC 6675 NextSeg rules
    /// 3 and 4). Linux does not (since 4.15).
    pub forward_retransmit: bool,
    /// Tail-loss probes (RFC 8985 section 7, as in Linux 6.1, net.ipv4.tcp_early_retrans = 3): two smoothed round trips
    /// after the last transmission or advancing ACK, and before the retransmission timeout, the sender sends one new
    /// segment beyond the window, or the last segment again, so that its ACK reveals losses at the tail. Only with
    /// `sack`, not under [`Rules::Ns3`].
    pub tail_loss_probe: bool,
    /// With [`Rules::Rack`]: a timer waits for overtaken segments that may be reordered (RFC 8985 section 6.2, step 5).
    /// Otherwise the next ACK checks them again. With the timer, RACK follows Linux in four more respects: an ACK that
    /// acknowledges and SACKs has its SACKs processed first; SACKed segments are counted, not their bytes; the loss of
    /// a segment that a timeout retransmitted begins a fast recovery; and for ACKs that arrive too early and for
    /// reordering, a segment counts as retransmitted if it ever was, not only since it was last declared lost.
    pub reordering_timer: bool,
    /// With [`Rules::Rack`]: once reordering was detected, the reordering window always applies, and duplicate SACKs
    /// widen it (RFC 8985 section 6.2, steps 3 and 4). Otherwise reordering is never detected.
    pub adaptive_reordering: bool,
    /// Time added to RACK's timer and to the tail-loss probe timer with more than one segment outstanding (Linux:
    /// TCP_TIMEOUT_MIN, 2 ms).
    pub timeout_min: Time,
    /// Send CWR after reductions for losses and timeouts too, including a SYN timeout, not only after those for
    /// ECN-Echo (RFC 3168 section 6.1.2).
    pub cwr_after_loss: bool,
    /// F-RTO (RFC 5682): after a timeout, once an ACK advances, the sender sends new data first. The ACKs of this data
    /// decide whether the timeout was spurious and is undone.
    pub frto: bool,
    /// A SACK receiver reports duplicate segments (RFC 2883).
    pub dsack: bool,
    /// Undo a reduction when all retransmissions turn out to be unnecessary: duplicate SACKs report all of them, or an
    /// ACK that advances echoes a time stamp older than the first retransmission (RFC 3708, RFC 4015).
    pub undo: bool,
    /// Time stamps: every ACK gives an RTT sample. Otherwise Karn's algorithm: one timed segment, or with
    /// [`Rules::Ns3`] each ACK that covers no retransmitted segment.
    pub timestamps: bool,
    /// RTT samples as in Linux, with `timestamps` and not under [`Rules::Ns3`]: from the segments that an ACK covers,
    /// if none was retransmitted; otherwise from newly SACKed segments; otherwise from the time stamp, in whole
    /// milliseconds. A newly SACKed segment also ends the timer's back-off, and restarts the timer if it was sent
    /// before the last transmission of the first outstanding segment.
    pub segment_rtt: bool,
    /// Clock tick of RTT samples and of RACK's send times; zero is exact. With time stamps, a coarse clock gives
    /// samples of at least 1 us. With `segment_rtt` it divides the 1 ms of time stamps. Delivery rates are exact.
    pub timestamp_clock: Time,
    /// Retransmission timeout computation from RTT samples.
    pub rto_rule: RtoRule,
    /// Tick of the kernel's timers; zero is exact. Otherwise timers fire on a tick, later than requested, as in Linux'
    /// timer wheel: slots are 1 tick wide for waits below 63 ticks, 8 ticks below 504, and so on.
    pub timer_tick: Time,
    /// Scan interval of retransmission timers, from time zero; zero is exact. An expired timer fires after a scan,
    /// delayed by a two-hundredth of the time left until the next scan (htsim: 10 ms).
    pub timer_scan: Time,
    /// After a timeout, segments beyond the first carry new data under the old sequence numbers: the lost data is never
    /// retransmitted, and the flow does not finish (htsim's Swift).
    pub timeout_renumbers: bool,
    /// After a timeout, each retransmission beyond the first segment takes a new path value, as new data does; a fast
    /// retransmission takes the current one (smcclure20/csg-htsim, send_next_packet). Used with `routing.by =
    /// "counter"`.
    pub go_back_n_new_path: bool,
    /// The window inflation of a fast recovery survives a timeout until the next recovery ends (htsim's Swift). Only
    /// with `recovery = "htsim"`.
    pub inflation_survives_timeout: bool,
    /// With `timestamps`, duplicate ACKs give RTT samples too: the controller sees them, and the timeout is recomputed
    /// from them without back-off (htsim's Swift, receivePacket and update_rtt).
    pub duplicate_rtt: bool,
    /// During go-back-N after a timeout, the recovery point of a further timeout or fast recovery is the end of the
    /// retransmitted data, not the highest segment ever sent (htsim's Swift). Only with `recovery = "htsim"`.
    pub go_back_n_point: bool,
    /// Minimum retransmission timeout.
    pub rto_min: Time,
    /// Maximum retransmission timeout.
    pub rto_max: Time,
    /// Retransmission timeout before the first RTT sample.
    pub rto_initial: Time,
    /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar).
    pub rto_granularity: Time,
    /// Initial window in segments.
    pub initial_window: f64,
    /// Notify the controller after an idle time of more than one RTO, so that it can lower the window.
    pub idle_restart: bool,
    /// With nothing in flight, send one segment regardless of the window. Otherwise a window below one segment sends
    /// nothing until the retransmission timer fires (ns-3).
    pub least_segment: bool,
    /// Grow the window only while it limits sending.
    pub cwnd_limited: bool,
    /// Send buffer, for unacknowledged and unsent bytes.
    pub send_buffer: u64,
    /// A write of a bulk application waits until it fits into the send buffer as a whole (ns-3); an endless application
    /// whose writes never fit closes at once. Otherwise the buffer takes as much as fits.
    pub whole_writes: bool,
    /// Receive buffer.
    pub receive_buffer: u64,
    /// Window scaling; without it the advertised window is at most 65535.
    pub window_scaling: bool,
    /// Unsent bytes at which a bulk application stops writing until half of them are sent; 0: only the send buffer
    /// limits it.
    pub notsent_lowat: u64,
    /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
    pub sws_avoidance: bool,
    /// Rule by which segments update the peer's advertised window.
    pub window_update: WindowUpdate,
    /// Never shorten a segment to fit the peer's window: it is sent whole or waits. Only the persist timer sends the
    /// part that fits; the rest follows when the window has room for it (Linux). Overrides `sws_avoidance`.
    pub whole_segments: bool,
    /// Limit segments permanently to half of the window that the handshake offers, or to all of it if it is at most 536
    /// bytes (Linux, tcp_bound_to_half_wnd).
    pub half_window_mss: bool,
    /// Timeout of the first zero-window probe; doubles up to 60 s.
    pub persist_timeout: Time,
    /// ECN mode; `None`: from the controller's profile.
    pub ecn: Option<Ecn>,
    /// DCTCP receiver: acknowledge at once when a packet changes the CE state.
    pub ecn_change_ack: bool,
    /// DCTCP receiver: data covered by the ACK that a change of the CE state flushes.
    pub ecn_flush: Flush,
    /// Count a CE mark only on a segment beyond all segments whose marks counted before, so that marks of earlier
    /// retransmissions are not echoed (ns-3). The last ACK of the handshake has the sequence number of the first
    /// segment, whose mark counts only if that ACK's did not.
    pub ce_must_advance: bool,
    /// Take RTT samples from ACKs of segments that a timeout declared lost. Otherwise the next sample is of a segment
    /// first sent after the timeout (ns-3 clears its record of send times then).
    pub rtt_after_timeout: bool,
    /// Make SYN, ACK, FIN and retransmissions ECN-capable too (ns-3's DCTCP; ECN++).
    pub ect_control: bool,
    /// Pacing.
    pub pacing: PacingSpec,
    /// Extra segments after the flow's bytes, which the flow also waits for (htsim sends one packet more than the size
    /// needs).
    pub extra_packets: u32,
}

impl TransportSpec {
    /// Maximum number of sizes in [`TransportSpec::demotion`], given by the class field of a packet.
    pub const MAX_SIZES: usize = 7;

    /// Lowest class of its packets, if the transport assigns classes.
    pub fn lowest_class(&self) -> Option<u8> {
        self.protocol.facts().lowest_class.or_else(|| (!self.demotion.is_empty()).then_some(self.demotion.len() as u8))
    }
}

impl TransportSpec {
    /// True if SYN-ACKs always echo the first SYN and are RTT samples even after a SYN retransmission (ns-3).
    pub fn repeats_first_stamp(&self) -> bool {
        self.syn_ack_retries > 0 && self.scoreboard == Rules::Ns3
    }

    /// `now` on the clock that times segments.
    #[inline]
    pub fn clock(&self, now: Time) -> Time {
        if self.timestamp_clock == Time::ZERO { now } else { now - now % self.timestamp_clock }
    }
}

/// Rank of data within its transfer, message or write, in bytes; the lowest is the most urgent (pFabric, section 4.1;
/// the schemes of its authors' ns-2 code).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// Bytes neither acknowledged nor SACKed when the packet leaves. Endless flows: the maximum.
    Remaining,
    /// Bytes before the packet; needs no knowledge of the size.
    Sent,
    /// Total bytes. Endless flows: the maximum.
    Size,
}

/// Window rule during fast recovery, for controllers without a recovery of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// RFC 6582: inflate by duplicates, deflate by partial ACKs (with SACK: RFC 6675 pipe under
    /// the fixed ssthresh).
    NewReno,
    /// NewReno of htsim's Swift: the controller's window keeps changing. Its inflation begins at zero and is at most
    /// the window itself; a partial ACK shrinks it by the bytes it covers and adds one segment. Every partial ACK
    /// restarts the retransmission timer. After a timeout the first segment is sent alone. With SACK: as `NewReno`.
    Htsim,
    /// RFC 6937 proportional rate reduction.
    Prr,
    /// Proportional rate reduction of ns-3.43: every duplicate ACK counts one segment more than it delivers; ACKs that
    /// advance count in whole segments, the remainder is carried over; a partial ACK sends one segment beyond the
    /// window; and the product of delivered bytes and ssthresh has 32 bits.
    PrrNs3,
    /// RFC 6937 as in Linux: in whole segments, in proportion to the window before the reduction, with one extra
    /// segment only on ACKs that advance and detect no new loss. Also without SACK, where a duplicate ACK stands for
    /// one arrived segment.
    Linux,
}

/// Rule by which segments update the peer's advertised window. An ACK below an earlier one never does.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum WindowUpdate {
    /// Every ACK. On a two-way connection, data updates it only if it acknowledges new data or advances the window's
    /// edge, so that a smaller window waits for that.
    #[default]
    News,
    /// RFC 9293 3.10.7.4: segments whose SEQ is not older than that of the last update.
    Rfc9293,
    /// Linux: segments with a newer SEQ or ACK; others only with a larger window.
    Linux,
}

impl WindowUpdate {
    /// True if the sequence number matters.
    #[inline(always)]
    pub fn looks_at_seq(self) -> bool {
        self != WindowUpdate::News
    }
}

/// Retransmission timeout computation from RTT samples.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum RtoRule {
    /// RFC 6298: max(floor, srtt + max(G, 4 rttvar)).
    #[default]
    Rfc6298,
    /// Linux: srtt + max(floor, 4 mdev), where mdev is the largest mean deviation in this round trip and the previous
    /// one, and decreases slowly.
    Linux,
}

/// Data covered by the ACK that a DCTCP receiver flushes when the CE state changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
    Pending,
    /// Data that arrived before the latest segment, which the next ACK covers with the new state: ns-3 records the edge
    /// when a segment arrives, before it accepts it.
    Prior,
}

/// Loss detection of the scoreboard, where references differ from RFC 6675.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// RFC 6675.
    Rfc6675,
    /// ns-3.43. A segment is lost when `dupthresh` *segments* above it are SACKed, whatever their size; an ACK that
    /// advances and SACKs counts as a duplicate. Only losses below the highest SACKed segment are repaired, by segments
    /// re-cut to the full size. A retransmission counts once, and as in flight until it is acknowledged, regardless of
    /// SACKs. Without new data, segments not proven lost are retransmitted as far as they fit. There is no rescue
    /// retransmission, and only the first partial ACK restarts the timer.
    Ns3,
    /// RFC 8985 (RACK): a segment is lost when a segment sent after it has arrived, which also detects lost
    /// retransmissions. Segments within the reordering window: see `reordering_timer`.
    Rack,
}

/// Definition of the bytes in flight that a controller sees at a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossFlight {
    /// All outstanding bytes (RFC 5681's FlightSize, without segments sent by limited transmit).
    Outstanding,
    /// Estimate of the bytes in the network: outstanding bytes without those that SACKs or duplicates report as
    /// delivered and, with SACK, without lost ones (ns-3).
    Pipe,
}

/// Pacing of sent packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacingSpec {
    /// Pacing only by the controller's rate.
    Controller,
    /// factor * max(cwnd, in flight) / srtt, at most `max`; the initial window is not paced (ns-3, Linux). A fast
    /// retransmission is not paced and does not delay later packets.
    Window {
        /// Factor in slow start.
        slow_start: f64,
        /// Factor in congestion avoidance.
        avoidance: f64,
        /// Maximum pacing rate.
        max: Rate,
        /// Space the packet after the first segment of a fast recovery, or after a timeout, as if the rate were `max`.
        restart_at_max: bool,
    },
}
