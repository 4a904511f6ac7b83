//! Settings of the reliable transport, and the presets: four worlds' transports as sets of
//! values.
//!
//! Every key of [`Transport`] replaces one value of the preset. `incast describe transport ns3`
//! prints a preset's values.

use crate::text::problem::Problem;
use crate::text::quantity::{Auto, Rate, Size, Time};
use incast_cc as cc;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Transport of flows: a preset, and the values that differ from it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Transport {
    /// The world whose transport this is; `linux` where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Payload of a full segment, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub mss: Option<u32>,
    /// IP and transport header of a data segment, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub header: Option<u32>,
    /// Size of a pure ACK, IP and transport header, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub ack_size: Option<u32>,
    /// Size of SYN and SYN-ACK, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub syn_size: Option<u32>,
    /// Largest IP packet in bytes; larger segments travel as IP fragments. 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 65535))]
    pub mtu: Option<u32>,
    /// A flow opens with SYN and SYN-ACK and closes with FIN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// FIN travels on the last data segment where the application has closed by then, and the receiver answers with an
    /// ACK and a FIN of its own, on which no mark is echoed (ns-3). Otherwise FIN is a segment of its own with one
    /// answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin_with_data: Option<bool>,
    /// Without `handshake`: a flow opens with a SYN of `syn_size` bytes, whose pure ACK lets data flow and is an ACK of
    /// one byte to the controller; no third packet, no FIN (htsim's TCP).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lone_syn: Option<bool>,
    /// First retransmission of a SYN after this; doubles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_timeout: Option<Time>,
    /// SYN retransmissions before the flow gives up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<u32>,
    /// Timeouts in a row before the flow gives up; 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_retries: Option<u32>,
    /// Segments per ACK; 1 acknowledges every segment at once. `auto` is 1 under a controller that asks for it (Swift),
    /// otherwise the preset's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Auto<NonZeroU32>>,
    /// Longest wait of a delayed ACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack_timeout: Option<Time>,
    /// Segments at the start of a connection that are acknowledged one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack: Option<u32>,
    /// A segment that ends a write of the application (PSH) is acknowledged at once: Linux, once the receiver has read
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_ack: Option<bool>,
    /// A segment that says the sender reduced its window (CWR) is acknowledged at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwr_ack: Option<bool>,
    /// The receiver's window starts at the whole segments that fit into 65535 bytes (65160 with segments of 1448) and
    /// grows by two segments with every one that arrives, up to half of the receive buffer. What makes it grow is
    /// acknowledged at once and does not count for `quickack`: a Linux connection acknowledges its first megabytes
    /// segment by segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_growth: Option<bool>,
    /// A side of a two-way connection that answers within the delayed ACK's time acknowledges nothing at once for
    /// `quickack`, until a delayed ACK is sent, a duplicate comes, or a mark (`mark_quickack`; Linux' interactive
    /// mode); duplicates and long silences begin `quickack` anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pingpong: Option<bool>,
    /// With `pingpong`: the first mark since the sender's last CWR ends the interactive mode of a DCTCP receiver, and
    /// two ACKs go at once. Linux 6.1 means to (__tcp_ecn_check_ce), but its DCTCP module has noted the mark by then,
    /// and nothing happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_quickack: Option<bool>,
    /// With `pingpong`: how long an ACK of such a connection waits follows the times between segments, up to
    /// `delayed_ack_timeout`; after a pause longer than half of that it is no longer than the side's own retransmission
    /// timeout. A segment that finds an ACK about to go makes it go at once (Linux, tcp_event_data_recv and
    /// tcp_send_delayed_ack).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_ack: Option<bool>,
    /// A worker that a request wakes writes its response once everything that arrives at that instant has been taken in
    /// and acknowledged: the kernel deals with its packets first (Linux). Only the first to be woken has sent a segment
    /// by then: it begins at once, and the next arrival interrupts it. Otherwise workers write within the arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakeup: Option<bool>,
    /// Retransmission timers of one host, and delayed ACKs of its two-way connections, that fire on the same tick do so
    /// the last set first (a slot of Linux' timer wheel); one that is set again for the same tick keeps its place.
    /// Otherwise in the order that `run.ties` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_set_first: Option<bool>,
    /// Selective acknowledgements (RFC 2018, 6675).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Duplicate ACKs, or segments SACKed above a hole, that signal a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub dupthresh: Option<u32>,
    /// More duplicates than there are segments to account for are taken for reordering: without `sack`, under the
    /// recovery `linux`, `dupthresh` becomes the number of segments outstanding, at most 300, for good (Linux,
    /// tcp_check_reno_reordering).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<bool>,
    /// Bytes that each SACK block adds to an ACK, which then reports at most three beside time stamps (40 bytes of TCP
    /// options). 0: every ACK is of `ack_size`. Only with `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 40))]
    pub sack_block: Option<u32>,
    /// Of the segments beyond a hole only the first three after the edge has moved are acknowledged at once; the others
    /// wait, together, for a twentieth of a round trip (the handshake's; of a two-way connection the smoothed one; at
    /// most 1 ms) and 100 us, for 44 of them, or for a third SACK block; those of a host that wait for nothing but the
    /// 100 us any longer go with the first of them (Linux: the timer's slack). Growing windows and `quickack`
    /// acknowledge all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack_compression: Option<bool>,
    /// How SACKs and duplicates become losses and repairs. Without `sack`, duplicate ACKs tell of losses under each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoreboard: Option<Rules>,
    /// What counts as in flight when a loss halves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_flight: Option<LossFlight>,
    /// Window rule during fast recovery, for controllers that have none of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// A reduction for ECN is spread over a round trip by PRR instead of taking effect at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_by_prr: Option<bool>,
    /// An ECN-Echo starts its reduction before anything else of its ACK is looked at and in any state, so that it
    /// replaces a fast recovery or the slow start after a timeout, and no fast recovery begins until it ends.
    /// Controllers see an ECN-Echo from an ACK that advances until CWR is sent or an ACK comes without; that of a mere
    /// duplicate does not count (ns-3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_preempts: Option<bool>,
    /// The first two duplicate ACKs each release a new segment (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// With no new data to send, a recovery sends again what SACK neither reports nor proves lost (RFC 6675 NextSeg
    /// rules 3 and 4). Linux has not done so since 4.15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_retransmit: Option<bool>,
    /// Tail-loss probes (RFC 8985 section 7): two smoothed round trips and `timeout_min` after the last new segment or
    /// advancing ACK (with a single segment outstanding `rto_min` in place of `timeout_min`), but no later than the
    /// retransmission timeout, one segment of new data goes whatever the congestion window, or where there is none the
    /// last segment again, so that its ACK tells what of the tail is lost; one probe at a time, none while losses are
    /// repaired or, but for a reduction for ECN, something is SACKed. A loss that the probe itself repaired reduces the
    /// window as ECN does; of the controllers that recover by themselves those that sample delivery rates or wait for
    /// late segments hear nothing of it, the others take it for a loss. net.ipv4.tcp_early_retrans = 3. Only with
    /// `sack`, not under the scoreboard `ns3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_loss_probe: Option<bool>,
    /// Under the scoreboard `rack`: a segment that others have overtaken, but which may be reordered, is lost when its
    /// time is over and `timeout_min` more (RFC 8985 section 6.2, step 5). Otherwise it waits for the next ACK. With it
    /// RACK is Linux' in four more respects: of an ACK that acknowledges and SACKs, SACKs are looked at first; segments
    /// that are SACKed are counted, not their bytes; the loss of what a timeout sent again begins a fast recovery; sent
    /// again is what ever was, in the judgement of ACKs that come too soon and of reordering, not only what was since
    /// it was last given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering_timer: Option<bool>,
    /// Under the scoreboard `rack`: once a segment that was sent once arrives after one behind it, the reordering
    /// window stays, also while losses are repaired, and each round trip with a duplicate SACK widens it by a quarter
    /// of the shortest round trip, up to the smoothed one, for 16 recoveries (RFC 8985 section 6.2, steps 3 and 4).
    /// Otherwise it is a quarter until three segments are SACKed or losses are repaired, and nothing afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_reordering: Option<bool>,
    /// Added to the waits of tail-loss probes and of `reordering_timer` (Linux: TCP_TIMEOUT_MIN; RFC 8985 leaves it to
    /// the clock).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_min: Option<Time>,
    /// The first new data after a reduction for a loss or a timeout says CWR too (RFC 3168 section 6.1.2), not only
    /// that after one for ECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwr_after_loss: Option<bool>,
    /// F-RTO (RFC 5682): after a timeout one segment goes again, then, once an ACK advances, new data; their ACKs tell
    /// whether the timeout was spurious and is undone. net.ipv4.tcp_frto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frto: Option<bool>,
    /// The receiver reports what came again as a first SACK block (RFC 2883). Only with `sack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// A reduction is undone when all that was sent again turns out to have arrived before: duplicate SACKs report it
    /// (RFC 3708), or, with `timestamps`, an ACK echoes a time stamp older than the first retransmission (RFC 4015).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// Time stamps: every ACK gives an RTT sample. Without: one timed segment at a time (Karn), or under the scoreboard
    /// `ns3` each ACK of segments none of which was sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// With `timestamps`, and not under the scoreboard `ns3`: RTT samples are of the segments that an ACK covers, if
    /// none was sent again, otherwise of those that SACK newly reports, and only otherwise of the time stamp, in whole
    /// milliseconds; the smallest RTT and the controller go by the last of those segments, the estimator by the first.
    /// What SACK reports ends the timer's back-off too, and starts the timer anew if it was sent before the first
    /// outstanding segment was sent last (Linux, tcp_ack_update_rtt and tcp_clean_rtx_queue). Otherwise of the time
    /// stamp of ACKs that advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_rtt: Option<bool>,
    /// Tick of the clock that RTT samples and RACK's send times are of; 0 is exact. ns-3's is 1 ms, and a sample of
    /// zero ticks counts 1 us; Linux times segments in whole microseconds. With `segment_rtt` whole ticks make 1 ms.
    /// Delivery rates are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_clock: Option<Time>,
    /// How the retransmission timeout follows from the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_rule: Option<RtoRule>,
    /// Tick of the kernel's timers; 0 is exact. They fire on a tick, later than asked for: on Linux' timer wheel waits
    /// below 63 ticks one tick, below 504 up to 8, and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_tick: Option<Time>,
    /// Retransmission timers are looked at in this interval only, counted from time zero; 0 is exact. One that is over
    /// then fires a two-hundredth of what is left until the next look later. htsim's Swift and its kin: 10 ms
    /// (SwiftRtxTimerScanner).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_scan: Option<Time>,
    /// What goes again after a timeout, beyond the first segment, is new data under the old sequence numbers: what was
    /// lost there is never sent again, the flow ends so much earlier and never finishes. A bug of htsim's Swift
    /// (doNextEvent and send_next_packet), for those who meet its hung flows. Only for bulk flows, without SACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_renumbers: Option<bool>,
    /// Floor of the retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Time>,
    /// Ceiling of the retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_max: Option<Time>,
    /// Retransmission timeout before the first RTT sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_initial: Option<Time>,
    /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar). The rule `linux` has none: its floor stands
    /// there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<Time>,
    /// Initial window in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub initial_window: Option<f64>,
    /// After an idle time of more than one RTO the controller's rule for it applies: NewReno's and DCTCP's `idle` is to
    /// restart from the initial window (RFC 5681 4.1), or to halve the window once for each RTO (Linux); Swift has
    /// none. Otherwise windows survive idle times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// With nothing in flight one segment goes whatever the window. Otherwise a window below one segment sends nothing
    /// until the retransmission timer fires (ns-3); controllers that pace such windows (Swift) are not held to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_segment: Option<bool>,
    /// Windows grow only while they limit sending (RFC 7661).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_limited: Option<bool>,
    /// Send buffer: bytes unacknowledged or unsent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Size>,
    /// A bulk application's write waits until the send buffer takes all of it (ns-3's TcpTxBuffer). Otherwise as much
    /// is taken as there is room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_writes: Option<bool>,
    /// Receive buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Size>,
    /// Window scaling (RFC 7323); without it the advertised window ends at 65535 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Unsent bytes at which a bulk application stops writing until less than half of them are left
    /// (TCP_NOTSENT_LOWAT); 0: only the send buffer stops it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notsent_lowat: Option<Size>,
    /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sws_avoidance: Option<bool>,
    /// First probe of a zero window after this; doubles up to 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persist_timeout: Option<Time>,
    /// ECN; `auto` is what the controller was designed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<Ecn>,
    /// DCTCP receiver: the packet that changes the mark's state is acknowledged at once (RFC 8257 3.2, Linux), besides
    /// the flush of the pending ACK (DCTCP paper, ns-3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_change_ack: Option<bool>,
    /// DCTCP receiver: what the ACK covers that a change of the mark's state flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_flush: Option<Flush>,
    /// A CE mark counts only on a segment beyond all whose mark counted before: marks on retransmissions below them are
    /// not echoed, nor is that of the first segment if the handshake's last ACK, which has its number, was marked
    /// (ns-3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_must_advance: Option<bool>,
    /// ACKs of what a timeout declared lost are RTT samples too; ns-3 takes the next of a segment sent for the first
    /// time after the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_after_timeout: Option<bool>,
    /// SYN, ACK, FIN and retransmissions are ECN-capable too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ect_control: Option<bool>,
    /// Pacing of sent packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Full segments sent after the flow's bytes that it also waits for: htsim sends one more than the size asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub extra_packets: Option<u32>,
}

/// A named set of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Linux 6.1 as measured: quick ACKs for 16 segments, then one ACK per 2 segments or 40 ms;
    /// SACK, PRR also for ECN reductions, minimum RTO of 200 ms. Loss detection is the textbook's
    /// (no RACK, no tail-loss probe); `linux-default` has them.
    #[default]
    Linux,
    /// Linux 6.1 as it comes: `linux`, but RACK with its timer tells losses, and tail-loss probes find
    /// them (net.ipv4.tcp_recovery = 1, tcp_early_retrans = 3).
    LinuxDefault,
    /// ns-3.43's TCP: buffers of 128 KiB, minimum RTO of 1 s, PRR. Without what decides published
    /// ns-3 results by accident: the time-stamp clock is exact, and a full segment fits the MTU.
    Ns3,
    /// htsim's TCP family: 4000-byte packets with no header, 40-byte ACKs, no handshake, 15
    /// packets of initial window, an ACK per packet, NewReno recovery without SACK, one packet
    /// more than the size asks for.
    Htsim,
    /// A transport as Swift's paper describes it (SIGCOMM 2020, section 3.6): SACK, an ACK per
    /// packet, RTO from the RTT with a floor of 100 us, no handshake. Sizes are our choice.
    Swift,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 5] = [Preset::Linux, Preset::LinuxDefault, Preset::Ns3, Preset::Htsim, Preset::Swift];

    /// Name as in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Linux => "linux",
            Preset::LinuxDefault => "linux-default",
            Preset::Ns3 => "ns3",
            Preset::Htsim => "htsim",
            Preset::Swift => "swift",
        }
    }

    /// The transport that a controller's form belongs beside; `None` for what is of no world.
    pub fn of_form(form: &str) -> Option<Preset> {
        match form {
            "linux" => Some(Preset::Linux),
            "ns3" | "seed-000" => Some(Preset::Ns3),
            "htsim" => Some(Preset::Htsim),
            _ => None,
        }
    }

    /// The world whose transport it is, with such switches or others.
    pub fn world(self) -> Preset {
        if self == Preset::LinuxDefault { Preset::Linux } else { self }
    }

    /// Segments per ACK where the controller does not ask for an ACK per packet.
    fn delayed_ack(self) -> u32 {
        match self {
            Preset::Linux | Preset::LinuxDefault | Preset::Ns3 => 2,
            Preset::Htsim | Preset::Swift => 1,
        }
    }

    /// Every value of the preset.
    pub fn values(self) -> Transport {
        let us = |n| Time(cc::Time::us(n));
        if self == Preset::LinuxDefault {
            return Transport {
                preset: Some(self),
                scoreboard: Some(Rules::Rack),
                timestamp_clock: Some(us(1)),
                tail_loss_probe: Some(true),
                reordering_timer: Some(true),
                adaptive_reordering: Some(true),
                ..Preset::Linux.values()
            };
        }
        const ZERO: Time = Time(cc::Time::ZERO);
        const CONTROLLER: Pacing = Pacing::Controller(ControllerPacing::Controller);
        let ms = |n| Time(cc::Time::ms(n));
        let s = |n| Time(cc::Time::s(n));
        let kib = |n: u64| Size(cc::Bytes(n << 10));
        let mib = |n: u64| Size(cc::Bytes(n << 20));
        let world = match self {
            Preset::Linux | Preset::LinuxDefault => 0,
            Preset::Ns3 => 1,
            Preset::Htsim => 2,
            Preset::Swift => 3,
        };
        // In this order.
        let of = |values: [u32; 4]| values[world];
        let yes = |values: [bool; 4]| values[world];
        let time = |values: [Time; 4]| values[world];
        let size = |values: [Size; 4]| values[world];
        Transport {
            preset: Some(self),
            mss: Some(of([1448, 1448, 4000, 4096])),
            header: Some(of([52, 52, 0, 64])),
            ack_size: Some(of([52, 52, 40, 64])),
            syn_size: Some(of([60, 56, 1, 64])),
            mtu: Some(of([1500, 1500, 0, 0])),
            handshake: Some(yes([true, true, false, false])),
            fin_with_data: Some(yes([false, true, false, false])),
            lone_syn: Some(false),
            syn_timeout: Some(time([s(1), s(3), ms(1), ms(1)])),
            syn_retries: Some(6),
            data_retries: Some(of([15, 6, 0, 0])),
            delayed_ack: Some(Auto::Auto),
            delayed_ack_timeout: Some(time([ms(40), ms(200), ms(1), ms(1)])),
            quickack: Some(of([16, 1, 0, 0])),
            push_ack: Some(yes([true, false, false, false])),
            cwr_ack: Some(yes([true, false, false, false])),
            window_growth: Some(yes([true, false, false, false])),
            pingpong: Some(yes([true, false, false, false])),
            wakeup: Some(yes([true, false, false, false])),
            mark_quickack: Some(false),
            adaptive_ack: Some(yes([true, false, false, false])),
            last_set_first: Some(yes([true, false, false, false])),
            sack: Some(yes([true, true, false, true])),
            dupthresh: Some(3),
            reordering: Some(yes([true, false, false, false])),
            sack_block: Some(of([0, 8, 0, 0])),
            sack_compression: Some(yes([true, false, false, false])),
            scoreboard: Some([Rules::Rfc6675, Rules::Ns3, Rules::Rfc6675, Rules::Rfc6675][world]),
            loss_flight: Some(
                [LossFlight::Outstanding, LossFlight::Pipe, LossFlight::Outstanding, LossFlight::Outstanding][world],
            ),
            recovery: Some([Recovery::Linux, Recovery::PrrNs3, Recovery::Newreno, Recovery::Prr][world]),
            ecn_by_prr: Some(yes([true, true, false, false])),
            ecn_preempts: Some(yes([false, true, false, false])),
            limited_transmit: Some(yes([true, true, false, true])),
            forward_retransmit: Some(yes([false, true, true, true])),
            tail_loss_probe: Some(false),
            reordering_timer: Some(false),
            adaptive_reordering: Some(false),
            timeout_min: Some(time([ms(2), ZERO, ZERO, ZERO])),
            cwr_after_loss: Some(yes([true, false, false, false])),
            frto: Some(yes([true, false, false, false])),
            dsack: Some(yes([true, false, false, false])),
            undo: Some(yes([true, false, false, false])),
            timestamps: Some(true),
            segment_rtt: Some(yes([true, false, false, false])),
            timestamp_clock: Some(ZERO),
            rto_rule: Some([RtoRule::Linux, RtoRule::Rfc6298, RtoRule::Rfc6298, RtoRule::Rfc6298][world]),
            timer_tick: Some(time([ms(1), ZERO, ZERO, ZERO])),
            timer_scan: Some(ZERO),
            timeout_renumbers: Some(false),
            rto_min: Some(time([ms(200), s(1), us(100), us(100)])),
            rto_max: Some(time([s(120), s(60), s(60), s(60)])),
            rto_initial: Some(time([s(1), s(1), ms(1), ms(1)])),
            rto_granularity: Some(time([ms(1), ms(1), ZERO, ZERO])),
            initial_window: Some([10.0, 10.0, 15.0, 10.0][world]),
            idle_restart: Some(yes([true, false, false, false])),
            least_segment: Some(yes([true, false, true, true])),
            cwnd_limited: Some(yes([true, false, false, true])),
            send_buffer: Some(size([mib(4), kib(128), mib(1024), mib(64)])),
            whole_writes: Some(yes([false, true, false, false])),
            receive_buffer: Some(size([mib(6), kib(128), mib(1024), mib(64)])),
            window_scaling: Some(true),
            notsent_lowat: Some(Size(cc::Bytes(0))),
            sws_avoidance: Some(yes([true, true, false, false])),
            persist_timeout: Some(time([ms(200), s(6), ms(1), ms(1)])),
            ecn: Some(Ecn::Auto),
            ecn_change_ack: Some(yes([true, false, false, false])),
            ecn_flush: Some([Flush::Pending, Flush::Prior, Flush::Pending, Flush::Pending][world]),
            ce_must_advance: Some(yes([false, true, false, false])),
            rtt_after_timeout: Some(yes([true, false, true, true])),
            ect_control: Some(yes([true, true, false, true])),
            pacing: Some(CONTROLLER),
            extra_packets: Some(of([0, 0, 1, 0])),
        }
    }
}

/// Window rule during fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// RFC 6582: inflated by duplicates, deflated by partial ACKs.
    Newreno,
    /// htsim's Swift: as newreno, but the inflation stands on the controller's window, which goes on moving, begins at
    /// nothing and is at most the window; every partial ACK restarts the retransmission timer; after a timeout the
    /// first segment goes alone. Beside a controller that cuts when recovery ends (`swift:recovery=at-exit`), without
    /// SACK.
    Htsim,
    /// RFC 6937, proportional rate reduction.
    Prr,
    /// Proportional rate reduction as ns-3.43 does it: a duplicate counts one segment more than it delivers, other ACKs
    /// only when they make a whole segment, a partial ACK sends one segment beyond the window, 32-bit products.
    PrrNs3,
    /// Proportional rate reduction as Linux does it: whole segments, in proportion to the window before the reduction,
    /// one more only on ACKs that advance and find nothing new lost; without SACK too, where a duplicate ACK stands for
    /// a segment that arrived.
    Linux,
}

/// Retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// RFC 6298: the floor, or srtt + max(G, 4 rttvar).
    Rfc6298,
    /// Linux: srtt + max(floor, 4 times the largest mean deviation of late).
    Linux,
}

/// What the ACK covers that a change of the mark's state flushes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
    Pending,
    /// What had arrived before the latest of them, which the next ACK covers with the new state (ns-3.43).
    Prior,
}

/// How the scoreboard finds losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// RFC 6675.
    Rfc6675,
    /// ns-3.43: `dupthresh` SACKed segments above make a loss, whatever their size; an ACK that advances and SACKs
    /// counts as a duplicate; only losses below the highest SACKed segment are repaired, by segments cut anew up to the
    /// full size; a retransmission counts as in flight until it is acknowledged, SACKed or not; without new data all
    /// that fits of what is not proven lost goes; no rescue retransmission.
    Ns3,
    /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; lost retransmissions are found
    /// too.
    Rack,
}

/// Bytes in flight that a controller is told of at a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossFlight {
    /// All that is outstanding, less limited transmit's segments (RFC 5681).
    Outstanding,
    /// What is believed to be in the network, without what SACKs or duplicates say has left it (ns-3).
    Pipe,
}

/// ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// What the controller was designed for.
    Auto,
    /// Packets are not ECN-capable.
    Off,
    /// RFC 3168: echoed until the sender says CWR; one reduction a window.
    Classic,
    /// DCTCP's receiver: every ACK tells the mark of the data it covers.
    Dctcp,
}

/// Pacing.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pacing {
    /// What the controller asks for.
    Controller(ControllerPacing),
    /// A multiple of cwnd / srtt.
    Window(WindowPacing),
}

/// The word `"controller"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ControllerPacing {
    /// What the controller asks for.
    Controller,
}

/// Pacing at a multiple of cwnd, or of what is in flight where that is more, over srtt (Linux and
/// ns-3: 2 in slow start, 1.2 afterwards). The initial window is not paced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct WindowPacing {
    /// Windows a round trip in slow start (Linux and ns-3: 2).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub slow_start: f64,
    /// Windows a round trip afterwards (Linux and ns-3: 1.2).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub avoidance: f64,
    /// Highest rate.
    #[serde(default = "no_bound")]
    pub max: Rate,
    /// What follows the first segment of a fast recovery or after a timeout waits as if the rate were `max`, as in the
    /// Swift of an ns-3 study (omarghara/DCTCP-SWIFT-YASOMAM).
    #[serde(default)]
    pub restart_at_max: bool,
}

fn no_bound() -> Rate {
    Rate(cc::Rate::INFINITE)
}

impl Recovery {
    fn spec(self) -> spec::Recovery {
        match self {
            Recovery::Newreno => spec::Recovery::NewReno,
            Recovery::Htsim => spec::Recovery::Htsim,
            Recovery::Prr => spec::Recovery::Prr,
            Recovery::PrrNs3 => spec::Recovery::PrrNs3,
            Recovery::Linux => spec::Recovery::Linux,
        }
    }
}

impl Flush {
    fn spec(self) -> spec::Flush {
        match self {
            Flush::Pending => spec::Flush::Pending,
            Flush::Prior => spec::Flush::Prior,
        }
    }
}

impl Rules {
    fn spec(self) -> spec::Rules {
        match self {
            Rules::Rfc6675 => spec::Rules::Rfc6675,
            Rules::Ns3 => spec::Rules::Ns3,
            Rules::Rack => spec::Rules::Rack,
        }
    }
}

impl LossFlight {
    fn spec(self) -> spec::LossFlight {
        match self {
            LossFlight::Outstanding => spec::LossFlight::Outstanding,
            LossFlight::Pipe => spec::LossFlight::Pipe,
        }
    }
}

impl Ecn {
    fn spec(self) -> Option<cc::Ecn> {
        match self {
            Ecn::Auto => None,
            Ecn::Off => Some(cc::Ecn::Off),
            Ecn::Classic => Some(cc::Ecn::Classic),
            Ecn::Dctcp => Some(cc::Ecn::Dctcp),
        }
    }
}

impl Pacing {
    fn spec(self) -> spec::PacingSpec {
        match self {
            Pacing::Controller(_) => spec::PacingSpec::Controller,
            Pacing::Window(w) => spec::PacingSpec::Window {
                slow_start: w.slow_start,
                avoidance: w.avoidance,
                max: w.max.0,
                restart_at_max: w.restart_at_max,
            },
        }
    }
}

impl Transport {
    /// Every value written out: those given here, the others from the preset named here, or where
    /// none is named from `base`.
    pub fn over(&self, base: &Transport) -> Transport {
        let base = self.preset.map_or_else(|| base.clone(), Preset::values);
        Transport {
            preset: self.preset.or(base.preset),
            mss: self.mss.or(base.mss),
            header: self.header.or(base.header),
            ack_size: self.ack_size.or(base.ack_size),
            syn_size: self.syn_size.or(base.syn_size),
            mtu: self.mtu.or(base.mtu),
            handshake: self.handshake.or(base.handshake),
            fin_with_data: self.fin_with_data.or(base.fin_with_data),
            lone_syn: self.lone_syn.or(base.lone_syn),
            syn_timeout: self.syn_timeout.or(base.syn_timeout),
            syn_retries: self.syn_retries.or(base.syn_retries),
            data_retries: self.data_retries.or(base.data_retries),
            delayed_ack: self.delayed_ack.or(base.delayed_ack),
            delayed_ack_timeout: self.delayed_ack_timeout.or(base.delayed_ack_timeout),
            quickack: self.quickack.or(base.quickack),
            push_ack: self.push_ack.or(base.push_ack),
            cwr_ack: self.cwr_ack.or(base.cwr_ack),
            window_growth: self.window_growth.or(base.window_growth),
            pingpong: self.pingpong.or(base.pingpong),
            wakeup: self.wakeup.or(base.wakeup),
            mark_quickack: self.mark_quickack.or(base.mark_quickack),
            adaptive_ack: self.adaptive_ack.or(base.adaptive_ack),
            last_set_first: self.last_set_first.or(base.last_set_first),
            sack: self.sack.or(base.sack),
            dupthresh: self.dupthresh.or(base.dupthresh),
            reordering: self.reordering.or(base.reordering),
            sack_block: self.sack_block.or(base.sack_block),
            sack_compression: self.sack_compression.or(base.sack_compression),
            scoreboard: self.scoreboard.or(base.scoreboard),
            loss_flight: self.loss_flight.or(base.loss_flight),
            recovery: self.recovery.or(base.recovery),
            ecn_by_prr: self.ecn_by_prr.or(base.ecn_by_prr),
            ecn_preempts: self.ecn_preempts.or(base.ecn_preempts),
            limited_transmit: self.limited_transmit.or(base.limited_transmit),
            forward_retransmit: self.forward_retransmit.or(base.forward_retransmit),
            tail_loss_probe: self.tail_loss_probe.or(base.tail_loss_probe),
            reordering_timer: self.reordering_timer.or(base.reordering_timer),
            adaptive_reordering: self.adaptive_reordering.or(base.adaptive_reordering),
            timeout_min: self.timeout_min.or(base.timeout_min),
            cwr_after_loss: self.cwr_after_loss.or(base.cwr_after_loss),
            frto: self.frto.or(base.frto),
            dsack: self.dsack.or(base.dsack),
            undo: self.undo.or(base.undo),
            timestamps: self.timestamps.or(base.timestamps),
            segment_rtt: self.segment_rtt.or(base.segment_rtt),
            timestamp_clock: self.timestamp_clock.or(base.timestamp_clock),
            rto_rule: self.rto_rule.or(base.rto_rule),
            timer_tick: self.timer_tick.or(base.timer_tick),
            timer_scan: self.timer_scan.or(base.timer_scan),
            timeout_renumbers: self.timeout_renumbers.or(base.timeout_renumbers),
            rto_min: self.rto_min.or(base.rto_min),
            rto_max: self.rto_max.or(base.rto_max),
            rto_initial: self.rto_initial.or(base.rto_initial),
            rto_granularity: self.rto_granularity.or(base.rto_granularity),
            initial_window: self.initial_window.or(base.initial_window),
            idle_restart: self.idle_restart.or(base.idle_restart),
            least_segment: self.least_segment.or(base.least_segment),
            cwnd_limited: self.cwnd_limited.or(base.cwnd_limited),
            send_buffer: self.send_buffer.or(base.send_buffer),
            whole_writes: self.whole_writes.or(base.whole_writes),
            receive_buffer: self.receive_buffer.or(base.receive_buffer),
            window_scaling: self.window_scaling.or(base.window_scaling),
            notsent_lowat: self.notsent_lowat.or(base.notsent_lowat),
            sws_avoidance: self.sws_avoidance.or(base.sws_avoidance),
            persist_timeout: self.persist_timeout.or(base.persist_timeout),
            ecn: self.ecn.or(base.ecn),
            ecn_change_ack: self.ecn_change_ack.or(base.ecn_change_ack),
            ecn_flush: self.ecn_flush.or(base.ecn_flush),
            ce_must_advance: self.ce_must_advance.or(base.ce_must_advance),
            rtt_after_timeout: self.rtt_after_timeout.or(base.rtt_after_timeout),
            ect_control: self.ect_control.or(base.ect_control),
            pacing: self.pacing.or(base.pacing),
            extra_packets: self.extra_packets.or(base.extra_packets),
        }
    }

    /// Every value written out, over the preset.
    pub fn resolved(&self) -> Transport {
        self.over(&Preset::default().values())
    }

    /// The engine's settings for flows under a controller of this profile. A value not given is
    /// the preset's.
    pub fn spec(&self, profile: &cc::Profile) -> spec::TransportSpec {
        let preset = self.preset.unwrap_or_default();
        let t = self.over(&preset.values());
        let all = preset.values();
        // `over` leaves nothing unset; the preset's value says the same again for the compiler.
        macro_rules! value {
            ($field:ident) => {
                match t.$field.or(all.$field) {
                    Some(v) => v,
                    None => unreachable!("a preset sets every value"),
                }
            };
        }
        spec::TransportSpec {
            mss: value!(mss),
            header: value!(header),
            ack_size: value!(ack_size),
            syn_size: value!(syn_size),
            mtu: value!(mtu),
            handshake: value!(handshake),
            fin_with_data: value!(fin_with_data),
            lone_syn: value!(lone_syn),
            syn_timeout: value!(syn_timeout).0,
            syn_retries: value!(syn_retries),
            data_retries: value!(data_retries),
            delayed_ack: match value!(delayed_ack) {
                Auto::Given(n) => n.get(),
                Auto::Auto if profile.ack_every_packet => 1,
                Auto::Auto => preset.delayed_ack(),
            },
            delayed_ack_timeout: value!(delayed_ack_timeout).0,
            quickack: value!(quickack),
            push_ack: value!(push_ack),
            cwr_ack: value!(cwr_ack),
            window_growth: value!(window_growth),
            pingpong: value!(pingpong),
            wakeup: value!(wakeup),
            mark_quickack: value!(mark_quickack),
            adaptive_ack: value!(adaptive_ack),
            last_set_first: value!(last_set_first),
            sack: value!(sack),
            dupthresh: value!(dupthresh),
            reordering: value!(reordering),
            sack_block: value!(sack_block),
            sack_compression: value!(sack_compression),
            scoreboard: value!(scoreboard).spec(),
            loss_flight: value!(loss_flight).spec(),
            recovery: value!(recovery).spec(),
            ecn_by_prr: value!(ecn_by_prr),
            ecn_preempts: value!(ecn_preempts),
            limited_transmit: value!(limited_transmit),
            forward_retransmit: value!(forward_retransmit),
            tail_loss_probe: value!(tail_loss_probe),
            reordering_timer: value!(reordering_timer),
            adaptive_reordering: value!(adaptive_reordering),
            timeout_min: value!(timeout_min).0,
            cwr_after_loss: value!(cwr_after_loss),
            frto: value!(frto),
            dsack: value!(dsack),
            undo: value!(undo),
            timestamps: value!(timestamps),
            segment_rtt: value!(segment_rtt),
            timestamp_clock: value!(timestamp_clock).0,
            rto_rule: match value!(rto_rule) {
                RtoRule::Rfc6298 => spec::RtoRule::Rfc6298,
                RtoRule::Linux => spec::RtoRule::Linux,
            },
            timer_tick: value!(timer_tick).0,
            timer_scan: value!(timer_scan).0,
            timeout_renumbers: value!(timeout_renumbers),
            rto_min: value!(rto_min).0,
            rto_max: value!(rto_max).0,
            rto_initial: value!(rto_initial).0,
            rto_granularity: value!(rto_granularity).0,
            initial_window: value!(initial_window),
            idle_restart: value!(idle_restart),
            least_segment: value!(least_segment),
            cwnd_limited: value!(cwnd_limited),
            send_buffer: value!(send_buffer).0.0,
            whole_writes: value!(whole_writes),
            receive_buffer: value!(receive_buffer).0.0,
            window_scaling: value!(window_scaling),
            notsent_lowat: value!(notsent_lowat).0.0,
            sws_avoidance: value!(sws_avoidance),
            persist_timeout: value!(persist_timeout).0,
            ecn: value!(ecn).spec(),
            ecn_change_ack: value!(ecn_change_ack),
            ecn_flush: value!(ecn_flush).spec(),
            ce_must_advance: value!(ce_must_advance),
            rtt_after_timeout: value!(rtt_after_timeout),
            ect_control: value!(ect_control),
            pacing: value!(pacing).spec(),
            extra_packets: value!(extra_packets),
        }
    }

    /// Contradictions between values.
    pub fn check(&self, path: &str, out: &mut Vec<Problem>) {
        let s = self.spec(&cc::Profile::TCP);
        let key = |k: &str| format!("{path}.{k}");
        if s.rto_min > s.rto_max {
            let message = format!("expected at most rto_max, {}", s.rto_max);
            out.push(Problem::with_value(key("rto_min"), format!("\"{}\"", s.rto_min), message));
        }
        if s.rto_initial == cc::Time::ZERO {
            out.push(Problem::with_value(key("rto_initial"), "\"0s\"", "expected a time above 0"));
        }
        let tick = s.timestamp_clock;
        let of_segments = s.segment_rtt && s.timestamps && s.scoreboard != spec::Rules::Ns3;
        if of_segments && tick > cc::Time::ZERO && cc::Time::ms(1).0 % tick.0 != 0 {
            let message = "expected 0s or a divisor of 1ms with segment_rtt = true: its time stamps count milliseconds";
            out.push(Problem::with_value(key("timestamp_clock"), format!("\"{tick}\""), message));
        }
        if s.handshake && s.lone_syn {
            let message = "expected false with handshake = true: the handshake has a SYN of its own";
            out.push(Problem::with_value(key("lone_syn"), "true", message));
        }
        if (s.handshake || s.lone_syn) && s.syn_timeout == cc::Time::ZERO {
            out.push(Problem::with_value(key("syn_timeout"), "\"0s\"", "expected a time above 0"));
        }
        if s.persist_timeout == cc::Time::ZERO {
            out.push(Problem::with_value(key("persist_timeout"), "\"0s\"", "expected a time above 0"));
        }
        for (name, bytes) in [("send_buffer", s.send_buffer), ("receive_buffer", s.receive_buffer)] {
            if bytes < s.mss as u64 {
                let message = format!("expected at least one segment, {}B", s.mss);
                out.push(Problem::with_value(key(name), format!("\"{}\"", Size(cc::Bytes(bytes))), message));
            }
        }
        // IPv4 asks every link for 68 bytes (RFC 791).
        if s.mtu != 0 && s.mtu < 68 {
            out.push(Problem::with_value(key("mtu"), s.mtu, "expected 0 for no limit, or at least 68"));
        }
    }
}
