//! The transport and its switches.

use super::Protocol;
use incast_cc::{Ecn, Rate, Time};

/// Settings of the reliable transport. Sizes in bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportSpec {
    /// Which transport it is. The others than TCP have of what follows sizes, buffers and timeouts.
    pub protocol: Protocol,
    /// Classes of packets by a measure of their transfer, message or write: the i-th class below the i-th of these
    /// sizes, which rise, and the flow's class beyond the last. Empty: the flow's class for all.
    pub demotion: Vec<u64>,
    /// That measure: what goes before the packet (PIAS), all of it, or what is left of it.
    pub demotion_by: Rank,
    /// Data says how urgent it is, for ports that go by that ([`Discipline::Pfabric`](super::Discipline::Pfabric)).
    pub rank: Option<Rank>,
    /// After so many timeouts in a row without data acknowledged a sender sends headers alone, one a timeout, until
    /// something comes back (pFabric's probe mode); 0: never.
    pub probe_after: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// IP and transport header of a data segment.
    pub header: u32,
    /// Size of a pure ACK (IP and transport header).
    pub ack_size: u32,
    /// Size of SYN and SYN-ACK segments.
    pub syn_size: u32,
    /// Largest IP packet; larger segments travel as IP fragments. 0: no limit.
    pub mtu: u32,
    /// Open with SYN, SYN-ACK and close with FIN.
    pub handshake: bool,
    /// A flow whose application has closed sends FIN on its last data segment; the receiver
    /// acknowledges it and then sends a FIN of its own, on which no mark is echoed (ns-3). Otherwise
    /// FIN is a segment of its own, answered by one packet.
    pub fin_with_data: bool,
    /// The application closes behind its last write: what that sends at once leaves without FIN, which follows as a
    /// segment of its own (Linux, tcp_send_fin). With `fin_with_data`.
    pub close_after_write: bool,
    /// Without a handshake: the flow opens with a SYN of `syn_size` bytes, whose pure ACK lets data
    /// flow and is an ACK of one byte to the controller; no third packet, no FIN (htsim's TCP).
    pub lone_syn: bool,
    /// First retransmission of a SYN after this; doubles.
    pub syn_timeout: Time,
    /// SYN retransmissions before the flow gives up.
    pub syn_retries: u32,
    /// SYN-ACKs after the first, by the receiver's own timer of `syn_timeout`, which doubles, and as answers to SYNs
    /// that come again; 0: these alone.
    pub syn_ack_retries: u32,
    /// Timeouts in a row before the flow gives up (0: never).
    pub data_retries: u32,
    /// The timeout of a connection from which on its window is nothing in place of one segment (0: none). Without
    /// `least_segment` nothing is sent then, and no timer runs until an ACK comes; with it a timeout still sends one
    /// segment. For controllers with a window of Reno's.
    pub emptying_timeout: u32,
    /// Segments per ACK; 1 acknowledges every segment at once.
    pub delayed_ack: u32,
    /// Longest wait of a delayed ACK.
    pub delayed_ack_timeout: Time,
    /// Segments at the start of a connection that are acknowledged one by one (Linux: 16).
    pub quickack: u32,
    /// A segment that ends a write of the application (PSH) is acknowledged at once.
    pub push_ack: bool,
    /// A message on a two-way connection, or a one-way flow, says PSH on its last segment, and on those with which more
    /// than half of the largest window has been written since the last PSH (Linux, forced_push).
    pub push_half_window: bool,
    /// What the application reads at once is acknowledged at once if PSH came with it, or if it is shorter than the
    /// segments before (536 bytes at first): where the side is interactive the second time since the last ACK, else the
    /// first time (Linux, tcp_measure_rcv_mss and tcp_cleanup_rbuf). In place of `push_ack`.
    pub read_ack: bool,
    /// The host that data is for acknowledges each segment at once (Linux: `quickack` of a route); the one that
    /// requests are for does as `delayed_ack` says.
    pub quickack_route: bool,
    /// A segment on which the sender says that it reduced its window (CWR) is acknowledged at once.
    pub cwr_ack: bool,
    /// Linux: the receiver's window starts at the whole segments that fit into 65,535 bytes (65,160 with
    /// segments of 1448) and grows by two with every one that arrives, up to half of the receive buffer.
    /// A segment that makes it grow is acknowledged at once and does not count for `quickack`.
    pub window_growth: bool,
    /// Two-way connections, as Linux has it: a side that sends data within a delayed ACK's time of receiving
    /// some is interactive, and acknowledges nothing at once for `quickack` alone. A delayed ACK that is
    /// sent, a duplicate segment, or a mark (`mark_quickack`) ends that; duplicates, and a silence longer than the
    /// side's own retransmission timeout, begin `quickack` anew.
    pub pingpong: bool,
    /// ... a DCTCP receiver's first mark since the sender's last CWR does so, and two ACKs go at once. Linux 6.1 means
    /// to (__tcp_ecn_check_ce), but its DCTCP module has noted the mark by then, so that nothing happens.
    pub mark_quickack: bool,
    /// Linux with classic ECN: at the first mark since the sender's last CWR, and at a segment that is not ECN-capable
    /// after one that was, two segments are acknowledged at once. It does not look at one of which all has come before,
    /// and echoes no mark on it.
    pub classic_quickack: bool,
    /// Linux: a SYN that is sent again asks for no ECN, and a connection that it opens has none (tcp_ecn_fallback).
    pub ecn_fallback: bool,
    /// ... and how long its ACKs wait follows the times between segments that arrive in order, from half of
    /// `delayed_ack_timeout` up to that, and no longer than its own retransmission timeout where they are long.
    pub adaptive_ack: bool,
    /// An application that an arriving packet wakes writes once everything that arrives at the same instant
    /// has been taken in, as a process runs after the kernel is done with its packets; the first to be woken has
    /// sent a segment by then. Otherwise it writes within the arrival.
    pub wakeup: bool,
    /// Retransmission timers of one host, and delayed ACKs of its two-way connections, that fire on the same
    /// tick do so the last set first, as those in a slot of Linux' timer wheel do; one that is set again for the
    /// same tick keeps its place.
    /// Otherwise in the order of ties.
    pub last_set_first: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Of segments beyond a hole only the first three after the edge has moved are acknowledged at once;
    /// ACKs of the others wait for a twentieth of a round trip (the handshake's; of a two-way connection the
    /// smoothed one; at most 1 ms) and 100 us, or for 44 of them, or until a third SACK block begins; those of a
    /// host that wait for nothing but the 100 us any longer go with the first of them (Linux).
    pub sack_compression: bool,
    /// Duplicate ACKs (or segments SACKed above a hole) that signal a loss.
    pub dupthresh: u32,
    /// Without SACK, under [`Recovery::Linux`]: more duplicates than there are segments to account for are taken
    /// for reordering, and `dupthresh` becomes the number of segments outstanding (at most 300) for good.
    pub reordering: bool,
    /// Bytes that each SACK block adds to an ACK, whose options then end at 40 bytes: three blocks
    /// beside time stamps. 0: an ACK is of `ack_size` whatever it reports, up to four blocks.
    pub sack_block: u32,
    /// How SACKs and duplicates become losses and repairs.
    pub scoreboard: Rules,
    /// The bytes that count as in flight when a loss halves them.
    pub loss_flight: LossFlight,
    /// Window rule during fast recovery.
    pub recovery: Recovery,
    /// A reduction for ECN is spread over a round by PRR instead of taking effect at once.
    pub ecn_by_prr: bool,
    /// An ECN-Echo starts its reduction before anything else of its ACK is looked at, and in any
    /// state: it takes the place of a fast recovery or of the slow start after a timeout, and
    /// until it ends no other begins. Controllers see an ECN-Echo from an ACK that advances until
    /// CWR is sent or an ACK comes without (ns-3).
    pub ecn_preempts: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// A recovery that has no new data to send sends again what SACK neither reports nor proves lost
    /// (RFC 6675 NextSeg rules 3 and 4). Linux does not (since 4.15).
    pub forward_retransmit: bool,
    /// Tail-loss probes (RFC 8985 section 7, as Linux 6.1 has them, net.ipv4.tcp_early_retrans = 3): two smoothed round
    /// trips after the last sending or advancing ACK, and before the retransmission timeout, one segment of new data
    /// goes beyond the window, or the last segment again, so that its ACK tells what of the tail is lost. Only with
    /// `sack`, not under [`Rules::Ns3`].
    pub tail_loss_probe: bool,
    /// With [`Rules::Rack`]: what was overtaken but may be reordered is waited for by a timer (RFC 8985 section 6.2,
    /// step 5). Otherwise the next ACK looks at it again. RACK is Linux' then in four more respects: of an ACK that
    /// acknowledges and SACKs, SACKs are looked at first; segments that are SACKed are counted, not their bytes; the
    /// loss of what a timeout sent again begins a fast recovery; and sent again is what ever was, in the judgement of
    /// ACKs that come too soon and of reordering, not only what was since it was last given up.
    pub reordering_timer: bool,
    /// With [`Rules::Rack`]: once reordering was seen, a reordering window stays at all times, and duplicate SACKs
    /// widen it (RFC 8985 section 6.2, steps 3 and 4). Otherwise reordering is never seen.
    pub adaptive_reordering: bool,
    /// Added to the waits of probes of more than one segment and of RACK's timer (Linux: TCP_TIMEOUT_MIN, 2 ms).
    pub timeout_min: Time,
    /// CWR follows reductions for losses and timeouts too, that of a SYN included, not only those for ECN-Echo
    /// (RFC 3168 section 6.1.2).
    pub cwr_after_loss: bool,
    /// F-RTO (RFC 5682): after a timeout, once an ACK advances, new data goes first; what the ACKs of it say
    /// decides whether the timeout was spurious and is undone.
    pub frto: bool,
    /// A SACK receiver reports what came again (RFC 2883).
    pub dsack: bool,
    /// A reduction is undone when everything that was sent again turns out to have arrived before: duplicate
    /// SACKs report all of it, or an ACK that advances echoes a time stamp older than the first of it
    /// (RFC 3708, RFC 4015).
    pub undo: bool,
    /// Echoed time stamps: every ACK gives an RTT sample (otherwise Karn: one timed segment, or with
    /// [`Rules::Ns3`] each ACK of segments none of which was sent again).
    pub timestamps: bool,
    /// With `timestamps`, and not under [`Rules::Ns3`], RTT samples as Linux takes them: of the segments that
    /// an ACK covers, if none was sent again, otherwise of those that SACK newly reports, and only otherwise
    /// of the time stamp, in whole milliseconds. What SACK reports ends the timer's back-off too, and starts
    /// the timer anew if it was sent before the first outstanding segment was sent last.
    pub segment_rtt: bool,
    /// Tick of the clock that RTT samples and RACK's send times are of; zero is exact. Of time stamps a coarse one
    /// floors samples at 1 us. With `segment_rtt` a divisor of the time stamps' 1 ms. Delivery rates are exact.
    pub timestamp_clock: Time,
    /// How the retransmission timeout follows from the samples.
    pub rto_rule: RtoRule,
    /// Tick of a kernel's timers; zero is exact. Timers then fire on a tick, later than asked for: Linux'
    /// timer wheel, whose slots are 1 tick wide for waits below 63 ticks, 8 below 504, and so on.
    pub timer_tick: Time,
    /// Retransmission timers are looked at in this interval only, from time zero; zero is exact. One that is over
    /// then fires a two-hundredth of what is left until the next look later (htsim: 10 ms).
    pub timer_scan: Time,
    /// Segments sent after a timeout, beyond the first, are new data under the old sequence numbers: the data lost
    /// there is never sent again, and the flow does not finish (htsim's Swift).
    pub timeout_renumbers: bool,
    /// After a timeout, what goes again beyond the first segment takes a new path value each, as new data does; what
    /// a fast retransmission sends takes the current one (smcclure20/csg-htsim, send_next_packet). Counts under
    /// `routing.by = "counter"`.
    pub go_back_n_new_path: bool,
    /// The inflation that duplicates have added to the window of a fast recovery stays after a timeout, until the next
    /// recovery ends (htsim's Swift: a timeout does not change its inflation). Only with `recovery = "htsim"`.
    pub inflation_survives_timeout: bool,
    /// With `timestamps`, duplicate ACKs give RTT samples too: the controller sees them, and the timeout is computed
    /// anew from them, without the back-off (htsim's Swift, receivePacket and update_rtt).
    pub duplicate_rtt: bool,
    /// While go-back-N repairs a timeout, the recovery point of a further timeout or of a fast recovery is the end of
    /// what it has sent again, not the highest segment ever sent (htsim's Swift). Only with `recovery = "htsim"`.
    pub go_back_n_point: bool,
    /// Floor of the retransmission timeout.
    pub rto_min: Time,
    /// Ceiling.
    pub rto_max: Time,
    /// Timeout before the first RTT sample.
    pub rto_initial: Time,
    /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar).
    pub rto_granularity: Time,
    /// Initial window in segments.
    pub initial_window: f64,
    /// After an idle time of more than one RTO the controller is told, whose rule it then is to lower the window.
    pub idle_restart: bool,
    /// With nothing in flight one segment goes whatever the window. Without, a window below a
    /// segment sends nothing until the retransmission timer fires (ns-3).
    pub least_segment: bool,
    /// Windows grow only while they limit sending.
    pub cwnd_limited: bool,
    /// Send buffer: unacknowledged plus unsent bytes.
    pub send_buffer: u64,
    /// A bulk application's write waits until the send buffer takes all of it (ns-3); one without end whose writes it
    /// can never take closes at once. Otherwise as much is taken as there is room for.
    pub whole_writes: bool,
    /// Receive buffer.
    pub receive_buffer: u64,
    /// Window scaling; without it the advertised window ends at 65535.
    pub window_scaling: bool,
    /// Unsent bytes at which a bulk application stops writing until half of them are sent; 0: the send buffer
    /// alone holds it.
    pub notsent_lowat: u64,
    /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
    pub sws_avoidance: bool,
    /// The segments that change the window which the peer offers.
    pub window_update: WindowUpdate,
    /// No segment is cut short for the peer's window: it goes whole or waits. The persist timer alone sends what the
    /// window takes, until it has room for the rest of that segment, which goes (Linux). `sws_avoidance` has no say
    /// then.
    pub whole_segments: bool,
    /// Segments have at most half of the window that the handshake offers, or all of a window of 536 bytes at most; so
    /// it stays (Linux, tcp_bound_to_half_wnd).
    pub half_window_mss: bool,
    /// First probe of a zero window after this; doubles up to 60 s.
    pub persist_timeout: Time,
    /// ECN; `None` takes what the controller's profile asks for.
    pub ecn: Option<Ecn>,
    /// DCTCP receiver: acknowledge at once the packet that changes the CE state.
    pub ecn_change_ack: bool,
    /// DCTCP receiver: what the ACK covers that a change of the CE state flushes.
    pub ecn_flush: Flush,
    /// A CE mark counts only on a segment beyond all whose mark counted before, so that no
    /// retransmission below them is echoed (ns-3). The last ACK of the handshake has the number of
    /// the first segment, whose mark counts only if that ACK's did not.
    pub ce_must_advance: bool,
    /// ACKs of what a timeout declared lost are RTT samples too. Without it the next sample is of
    /// a segment sent for the first time after the timeout (ns-3, whose record of what was sent
    /// when is emptied then).
    pub rtt_after_timeout: bool,
    /// Also SYN, ACK, FIN and retransmissions are ECN-capable (ns-3's DCTCP; ECN++).
    pub ect_control: bool,
    /// Pacing.
    pub pacing: PacingSpec,
    /// Segments sent after the flow's bytes that the flow also waits for (htsim sends one
    /// packet more than the size asks for).
    pub extra_packets: u32,
}

impl TransportSpec {
    /// Sizes of [`TransportSpec::demotion`] at most: a packet has room for so many classes.
    pub const MOST_SIZES: usize = 7;

    /// The lowest class of its packets, where it gives them classes by itself.
    pub fn lowest_class(&self) -> Option<u8> {
        match &self.protocol {
            Protocol::Homa(homa) => Some(homa.levels.saturating_sub(1)),
            Protocol::PHost(own) => Some(own.lowest_class()),
            _ => (!self.demotion.is_empty()).then_some(self.demotion.len() as u8),
        }
    }
}

impl TransportSpec {
    /// SYN-ACKs echo the first SYN, whichever they answer, and are RTT samples also where a SYN was sent again (ns-3).
    pub fn repeats_first_stamp(&self) -> bool {
        self.syn_ack_retries > 0 && self.scoreboard == Rules::Ns3
    }

    /// `now` on the clock that times segments.
    #[inline]
    pub fn clock(&self, now: Time) -> Time {
        if self.timestamp_clock == Time::ZERO { now } else { now - now % self.timestamp_clock }
    }
}

/// How urgent data is by its transfer, message or write: bytes, the least being the most urgent (pFabric, section 4.1;
/// the schemes of its authors' ns-2 code).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// What is neither acknowledged nor SACKed of it as the packet leaves. Without an end: the greatest.
    Remaining,
    /// What goes before the packet in it: nobody needs to know its size.
    Sent,
    /// All of it. Without an end: the greatest.
    Size,
}

/// Window rule during fast recovery, for controllers without a recovery of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// RFC 6582: inflate by duplicates, deflate by partial ACKs (with SACK: RFC 6675 pipe under
    /// the fixed ssthresh).
    NewReno,
    /// NewReno as htsim's Swift has it: the controller's window goes on moving, and what it is inflated by begins at
    /// nothing, is at most the window itself, and shrinks by what a partial ACK covers, to grow by one segment. Every
    /// partial ACK restarts the retransmission timer. After a timeout the first segment goes alone. With SACK: as
    /// `NewReno`.
    Htsim,
    /// RFC 6937 proportional rate reduction.
    Prr,
    /// Proportional rate reduction as ns-3.43 does it: every duplicate ACK counts one segment
    /// more than it delivers, an ACK that advances counts only when it makes a whole segment with
    /// what earlier ones left over, a partial ACK sends one segment beyond the window, and the
    /// product of delivered bytes and ssthresh has 32 bits.
    PrrNs3,
    /// RFC 6937 as Linux has it: in whole segments, in proportion to the window before the reduction, one
    /// segment more only on ACKs that advance and find nothing new lost; without SACK too, where
    /// a duplicate ACK stands for a segment that arrived.
    Linux,
}

/// The segments that change the window which the peer offers. An ACK of less than was acknowledged before does not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum WindowUpdate {
    /// Every ACK. On a two-way connection data that acknowledges something new or moves the window's edge ahead, so
    /// that a smaller window waits for that.
    #[default]
    News,
    /// RFC 9293 3.10.7.4: each whose SEQ is not older than that of the latest that changed it.
    Rfc9293,
    /// Linux: each whose SEQ or ACK is newer; one that has neither only by a larger window.
    Linux,
}

impl WindowUpdate {
    /// The sequence number counts.
    #[inline(always)]
    pub fn looks_at_seq(self) -> bool {
        self != WindowUpdate::News
    }
}

/// How the retransmission timeout follows from RTT samples.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum RtoRule {
    /// RFC 6298: max(floor, srtt + max(G, 4 rttvar)).
    #[default]
    Rfc6298,
    /// Linux: srtt + max(floor, 4 mdev), where mdev is the largest mean deviation of the round trip and the
    /// one before it, and falls slowly.
    Linux,
}

/// The data that the ACK covers which a DCTCP receiver flushes when the CE state changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
    Pending,
    /// All that had arrived before the latest segment, which the next ACK covers with the new state: ns-3 notes the
    /// edge at the arrival of a segment, before it takes it.
    Prior,
}

/// How the scoreboard finds losses, where references differ from RFC 6675.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// RFC 6675.
    Rfc6675,
    /// ns-3.43: `dupthresh` SACKed *segments* above make a loss, whatever their size; an ACK that
    /// advances and SACKs counts as a duplicate; losses below the highest SACKed segment only are
    /// repaired, by segments cut anew up to the full size; a retransmission counts once, and as in
    /// flight until it is acknowledged, whatever SACK says of it; without new data all that fits
    /// of what is not proven lost goes; no rescue retransmission; only the first partial ACK restarts the timer.
    Ns3,
    /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; so are lost
    /// retransmissions found. What waits inside the reordering window: see `reordering_timer`.
    Rack,
}

/// Bytes in flight that a controller is told of at a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossFlight {
    /// All that is outstanding (RFC 5681's FlightSize, less limited transmit's segments).
    Outstanding,
    /// The estimate of the bytes in the network: without those that SACKs or duplicates report to have left it and,
    /// with SACK, without lost ones (ns-3).
    Pipe,
}

/// Pacing of sent packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacingSpec {
    /// Only what the controller asks for.
    Controller,
    /// factor * max(cwnd, in flight) / srtt, at most `max`; the initial window is not paced
    /// (ns-3, Linux). What goes in spite of pacing, a fast retransmission, puts nothing off.
    Window {
        /// Factor in slow start.
        slow_start: f64,
        /// Factor afterwards.
        avoidance: f64,
        /// Upper bound.
        max: Rate,
        /// After the first segment of a fast recovery or after a timeout, the next waits as if the rate were `max`.
        restart_at_max: bool,
    },
}
