//! Transport settings.

use super::keys::keys;
use super::words::words;
use super::{Protocol, Rdma};
use incast_cc::{Ecn, Rate, Time};

/// Settings of the reliable transport. Sizes are in bytes. A field has the name of its key in scenarios, and its text.
#[derive(Clone, PartialEq, Debug)]
pub struct TransportSpec {
    /// Transport protocol. Protocols other than TCP use only sizes, buffers and timeouts of the groups.
    pub protocol: Protocol,
    /// Sizes of packets.
    pub sizes: Sizes,
    /// Opening, end and failure of a connection.
    pub connection: ConnectionRules,
    /// Acknowledgements by a receiver, and the timers of hosts.
    pub acks: AckRules,
    /// Loss detection, and the reduction that follows.
    pub loss: LossRules,
    /// RTT samples, and the clocks of time stamps and timers.
    pub timing: Timing,
    /// Differences of htsim's Swift after a timeout.
    pub emulation: Emulation,
    /// Bounds of the retransmission timeout.
    pub rto: RtoLimits,
    /// Congestion window, buffers, and the windows that receivers offer.
    pub windows: Windows,
    /// ECN.
    pub marks: MarkRules,
    /// Pace, classes and ranks of sent packets.
    pub output: OutputRules,
}

keys! {
    $ transport_keys
    /// Sizes of packets.
    sizes: Sizes {
        /// Payload of a full segment, in bytes.
        #[schemars(range(min = 1, max = 65535))]
        mss: u32,
        /// IP and transport header of a data segment, in bytes.
        #[schemars(range(max = 1000))]
        header: u32,
        /// Size of a pure ACK, IP and transport header, in bytes.
        #[schemars(range(min = 1, max = 65535))]
        ack_size: u32,
        /// Size of SYN and SYN-ACK, in bytes.
        #[schemars(range(min = 1, max = 65535))]
        syn_size: u32,
        /// Largest IP packet in bytes; larger segments travel as IP fragments. 0: no limit.
        #[schemars(range(max = 65535))]
        mtu: u32,
    }
    /// Opening, end and failure of a connection.
    connection: ConnectionRules {
        /// A flow opens with SYN and SYN-ACK and closes with FIN.
        handshake: bool,
        /// Sends FIN on the last data segment if the application has closed by then. The receiver answers with an ACK
        /// and its own FIN, on which no mark is echoed (ns-3). Otherwise FIN is a separate segment with one answer.
        fin_with_data: bool,
        /// The application closes after its last write, not with it: if the windows allow all of that write to be sent
        /// at once, no data waits that could carry FIN, and FIN is a separate segment (Linux: `write()`, then
        /// `shutdown()`; tcp_send_fin). With `fin_with_data`.
        close_after_write: bool,
        /// Without `handshake`: a flow opens with a SYN of `syn_size` bytes. Data flows after its pure ACK, which
        /// counts as an ACK of one byte for the controller. There is no third packet and no FIN (htsim's TCP).
        lone_syn: bool,
        /// Time until the first retransmission of a SYN; doubles.
        syn_timeout: Time,
        /// SYN retransmissions before the flow gives up.
        syn_retries: u32,
        /// Number of SYN-ACKs after the first, sent by the receiver on a timer like that of SYNs or in answer to
        /// repeated SYNs, until anything else arrives; 0: no timer. With `scoreboard = "ns3"` each of them echoes the
        /// first SYN's time stamp, which is an RTT sample also if a SYN was retransmitted (ns-3).
        syn_ack_retries: u32,
        /// Consecutive timeouts before the flow gives up; 0: never.
        data_retries: u32,
        /// Number of the timeout, counted over the life of a connection, from which on the congestion window is 0
        /// instead of one segment; 0: never. With `least_segment = false`, as in ns-3, nothing is sent and no timer
        /// runs until an ACK arrives; otherwise a timeout still sends one segment. For controllers with NewReno's
        /// window (others cause a warning), and Swift's form cse322, which restarts the count with every ACK. 4 in the
        /// ns-3 of a report of CSE 322
        /// (github.com/Mushtari-Sadia/TCPSwift-A-Congestion-Control-Algorithm-For-Datacenters, commit 91178fc,
        /// tcp-socket-base.cc).
        emptying_timeout: u32,
    }
    /// Acknowledgements by a receiver, and the timers of hosts.
    acks: AckRules {
        /// Segments per ACK; 1 acknowledges every segment at once. `auto`: 1 for controllers that require it (Swift),
        /// otherwise the preset's number.
        delayed_ack: u32 as Auto<NonZeroU32>,
        /// Longest wait of a delayed ACK.
        delayed_ack_timeout: Time,
        /// Segments at the start of a connection that are acknowledged one by one.
        quickack: u32,
        /// Acknowledges a segment that ends a write of the application (PSH) at once: Linux, once the receiver has read
        /// it.
        push_ack: bool,
        /// A message on a two-way connection, or a one-way flow, sets PSH on its last segment, and on every segment
        /// with which more than half of the largest offered window has been written since the last PSH (Linux,
        /// forced_push).
        push_half_window: bool,
        /// The application reads at once, and data that it reads is acknowledged at once if it came with PSH or in a
        /// segment shorter than those before (than 536 bytes at first). On an interactive side (`pingpong`) only the
        /// second short segment since the last ACK does so (Linux, tcp_measure_rcv_mss and tcp_cleanup_rbuf). Replaces
        /// `push_ack`.
        read_ack: bool,
        /// The root of a query, and the receiver of a one-way flow, acknowledge every segment at once; workers
        /// acknowledge requests by `delayed_ack` (Linux: a route with `quickack` at the receiving host).
        quickack_route: bool,
        /// A segment with CWR (the sender has reduced its window) is acknowledged at once.
        cwr_ack: bool,
        /// The receiver's window starts at the whole segments that fit into 65535 bytes (65160 with segments of 1448).
        /// It grows by two segments with every segment that arrives, up to half of the receive buffer. A segment that
        /// makes it grow is acknowledged at once and does not count for `quickack`: a Linux connection acknowledges its
        /// first megabytes segment by segment.
        window_growth: bool,
        /// A side of a two-way connection that answers within the delayed ACK's time sends no immediate ACKs for
        /// `quickack`, until a delayed ACK is sent, a duplicate arrives, or a mark arrives (`mark_quickack`; Linux'
        /// interactive mode); duplicates and long silences restart `quickack`.
        pingpong: bool,
        /// With `pingpong`: the first mark since the sender's last CWR ends the interactive mode of a DCTCP receiver,
        /// and two ACKs are sent at once. Linux 6.1 intends this (__tcp_ecn_check_ce), but its DCTCP module has noted
        /// the mark by then, and nothing happens.
        mark_quickack: bool,
        /// Classic ECN: two segments are acknowledged at once at the first mark since the sender's last CWR, and at a
        /// segment that is not ECN-capable after one that was, as retransmissions are (Linux, __tcp_ecn_check_ce).
        /// Segments received completely before are excepted; their marks are not echoed either. On one-way connections
        /// too; on two-way ones this ends the interactive mode.
        classic_quickack: bool,
        /// A retransmitted SYN does not request ECN, and the connection that it opens runs without (Linux,
        /// net.ipv4.tcp_ecn_fallback). If the first SYN arrived and only its answer was lost, ECN stays. Only with
        /// `handshake`.
        ecn_fallback: bool,
        /// With `pingpong`: the delay of an ACK of such a connection follows the times between segments, up to
        /// `delayed_ack_timeout`; after a pause longer than half of that it is at most the side's own retransmission
        /// timeout. A segment that finds an ACK about to be sent triggers it (Linux, tcp_event_data_recv and
        /// tcp_send_delayed_ack).
        adaptive_ack: bool,
        /// A worker that a request wakes writes its response after all packets of that instant have been received and
        /// acknowledged: the kernel processes its packets first (Linux). Only the first worker woken has sent a segment
        /// by then: it begins at once, and the next arrival interrupts it. Otherwise workers write during the arrival.
        wakeup: bool,
        /// Retransmission timers of one host, and delayed ACKs of its two-way connections, that expire on the same tick
        /// fire in reverse order of their setting (a slot of Linux' timer wheel). A timer set again for the same tick
        /// keeps its place. Otherwise they fire in the order of `run.ties`.
        last_set_first: bool,
    }
    /// Loss detection, and the reduction that follows.
    loss: LossRules {
        /// Selective acknowledgements (RFC 2018, 6675).
        sack: bool,
        /// Number of duplicate ACKs, or of segments SACKed above a hole, that signal a loss.
        #[schemars(range(min = 1))]
        dupthresh: u32,
        /// Treats more duplicates than the outstanding segments can cause as reordering: without `sack`, under the
        /// recovery `linux`, `dupthresh` becomes the number of outstanding segments, at most 300, and stays so (Linux,
        /// tcp_check_reno_reordering).
        reordering: bool,
        /// Bytes that each SACK block adds to an ACK, which then reports at most three besides time stamps (40 bytes of
        /// TCP options). 0: every ACK has `ack_size`. Only with `sack`.
        #[schemars(range(max = 40))]
        sack_block: u32,
        /// Of the segments beyond a hole only the first three after the edge has moved are acknowledged at once. The
        /// others share an ACK. It leaves after a twentieth of a round trip (that of the handshake; on a two-way
        /// connection the smoothed one; at most 1 ms) plus 100 us, after 44 segments, or for a third SACK block. ACKs
        /// of a host for which only the 100 us remain leave with the first of them (Linux: the timer's slack). Growing
        /// windows and `quickack` acknowledge all.
        sack_compression: bool,
        /// Rules for losses and retransmissions from SACKs and duplicate ACKs. Without `sack`, duplicate ACKs indicate
        /// losses under each.
        scoreboard: Rules as Word<Rules>,
        /// Bytes that count as in flight when a loss halves them.
        loss_flight: LossFlight as Word<LossFlight>,
        /// Window rule during fast recovery, for controllers without their own.
        recovery: Recovery as Word<Recovery>,
        /// Spreads a reduction for ECN over a round trip by PRR instead of applying it at once.
        ecn_by_prr: bool,
        /// An ECN-Echo starts its reduction before the rest of its ACK is processed and in any state. It therefore
        /// replaces a fast recovery or the slow start after a timeout, and no fast recovery begins until it ends.
        /// Controllers see an ECN-Echo from an ACK that advances until CWR is sent or an ACK comes without; that of a
        /// mere duplicate does not count (ns-3).
        ecn_preempts: bool,
        /// The first two duplicate ACKs each release a new segment (RFC 3042).
        limited_transmit: bool,
        /// Without new data to send, a recovery retransmits the segments that SACK neither reports nor proves lost (RFC
        /// 6675 NextSeg rules 3 and 4). Linux has not done so since 4.15.
        forward_retransmit: bool,
        /// Tail-loss probes (RFC 8985 section 7). A probe is due two smoothed round trips and `timeout_min` after the
        /// last new segment or advancing ACK (with a single segment outstanding `rto_min` instead of `timeout_min`),
        /// but no later than the retransmission timeout. It is one segment of new data, for any congestion window, or
        /// without new data the last segment again. Its ACK shows which segments of the tail are lost. There is one
        /// probe at a time; none while losses are repaired, nor while segments are SACKed, except during a reduction
        /// for ECN. A loss repaired by the probe itself reduces the window as ECN does. Controllers that recover by
        /// themselves see it as a loss, except those that sample delivery rates or wait for late segments, which are
        /// not told. net.ipv4.tcp_early_retrans = 3. Only with `sack`, not under the scoreboard `ns3`.
        tail_loss_probe: bool,
        /// Under the scoreboard `rack`: a segment that others have overtaken but that may be reordered is lost once its
        /// time and `timeout_min` are over (RFC 8985 section 6.2, step 5). Otherwise it waits for the next ACK. With
        /// this key RACK follows Linux in four more rules: of an ACK that acknowledges and SACKs, the SACKs are
        /// processed first; SACKed segments are counted, not their bytes; the loss of a segment retransmitted after a
        /// timeout begins a fast recovery; for ACKs that come too soon and for reordering, a segment counts as
        /// retransmitted if it ever was, not only if it was since it was last declared lost.
        reordering_timer: bool,
        /// Under the scoreboard `rack`: once a segment that was sent only once arrives after a later one, the
        /// reordering window stays, also while losses are repaired. Each round trip with a duplicate SACK widens it by
        /// a quarter of the shortest round trip, up to the smoothed one, for 16 recoveries (RFC 8985 section 6.2, steps
        /// 3 and 4). Otherwise it is a quarter until three segments are SACKed or losses are repaired, and zero
        /// afterwards.
        adaptive_reordering: bool,
        /// Added to the waits of tail-loss probes and of `reordering_timer` (Linux: TCP_TIMEOUT_MIN; RFC 8985 leaves it
        /// to the clock).
        timeout_min: Time,
        /// The first new data after a reduction for a loss or a timeout carries CWR too (RFC 3168 section 6.1.2), not
        /// only that after a reduction for ECN; a timeout of the SYN counts.
        cwr_after_loss: bool,
        /// F-RTO (RFC 5682): after a timeout the sender retransmits one segment and, once an ACK advances, sends new
        /// data. The ACKs show whether the timeout was spurious and is undone. net.ipv4.tcp_frto.
        frto: bool,
        /// The receiver reports a segment that arrived twice as a first SACK block (RFC 2883). Only with `sack`.
        dsack: bool,
        /// Undoes a reduction when all retransmitted segments turn out to have arrived before: duplicate SACKs report
        /// it (RFC 3708), or, with `timestamps`, an ACK echoes a time stamp older than the first retransmission (RFC
        /// 4015).
        undo: bool,
    }
    /// RTT samples, and the clocks of time stamps and timers.
    timing: Timing {
        /// Time stamps: every ACK gives an RTT sample. Without them: one timed segment at a time (Karn), or under the
        /// scoreboard `ns3` each ACK of segments that were all sent only once.
        timestamps: bool,
        /// With `timestamps`, and not under the scoreboard `ns3`: an RTT sample is that of the segments covered by the
        /// ACK, if none was retransmitted; otherwise that of the segments newly reported by SACK; otherwise that of the
        /// time stamp, in whole milliseconds. The smallest RTT and the controller use the last of those segments, the
        /// estimator the first. A SACK report also ends the timer's back-off, and restarts the timer if its segment was
        /// sent before the latest transmission of the first outstanding segment (Linux, tcp_ack_update_rtt and
        /// tcp_clean_rtx_queue). If off, samples are those of the time stamps of ACKs that advance.
        segment_rtt: bool,
        /// Tick of the clock of RTT samples and of RACK's send times; 0 is exact. ns-3's is 1 ms, and a sample of zero
        /// ticks counts 1 us; Linux times segments in whole microseconds. With `segment_rtt` it must divide 1 ms.
        /// Delivery rates are exact.
        timestamp_clock: Time,
        /// Computation of the retransmission timeout from the samples.
        rto_rule: RtoRule as Word<RtoRule>,
        /// Tick of the kernel's timers; 0 is exact. A timer fires on a tick, later than its time: on Linux' timer wheel
        /// a wait below 63 ticks by one tick, below 504 by up to 8, and so on.
        timer_tick: Time,
        /// Interval between checks of retransmission timers, from time zero; 0 is exact. A timer that has expired fires
        /// at the next check, and later by a two-hundredth of the time from the previous check to its expiry. htsim's
        /// Swift and its family: 10 ms (SwiftRtxTimerScanner).
        timer_scan: Time,
    }
    /// Differences of htsim's Swift after a timeout.
    emulation: Emulation {
        /// Segments sent after a timeout, beyond the first, are new data under the old sequence numbers. The data lost
        /// there is never retransmitted: the flow ends that much earlier and never finishes. A bug of htsim's Swift
        /// (doNextEvent and send_next_packet), to reproduce its hung flows. Only for bulk flows, without SACK.
        timeout_renumbers: bool,
        /// After a timeout every retransmitted segment beyond the first takes a new path value, as new data does; a
        /// fast retransmission takes the current one (smcclure20/csg-htsim, send_next_packet). Has an effect under
        /// `routing.by = "counter"`.
        go_back_n_new_path: bool,
        /// Keeps the inflation added by duplicates to the window of a fast recovery after a timeout, until the next
        /// recovery ends (htsim's Swift: a timeout does not change its inflation). Only with `recovery = "htsim"`.
        inflation_survives_timeout: bool,
        /// With `timestamps`, duplicate ACKs give RTT samples too: the controller sees them, and the timeout is
        /// computed from them again, without the back-off (htsim's Swift, receivePacket and update_rtt).
        duplicate_rtt: bool,
        /// While go-back-N repairs a timeout, the recovery point of a further timeout or of a fast recovery is the end
        /// of the retransmitted data, not the highest segment ever sent (htsim's Swift). Only with `recovery =
        /// "htsim"`.
        go_back_n_point: bool,
    }
    /// Bounds of the retransmission timeout.
    rto: RtoLimits {
        /// Floor of the retransmission timeout.
        rto_min: Time,
        /// Ceiling of the retransmission timeout.
        rto_max: Time,
        /// Retransmission timeout before the first RTT sample.
        rto_initial: Time,
        /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar). The rule `linux` uses its floor instead.
        rto_granularity: Time,
    }
    /// Congestion window, buffers, and the windows that receivers offer.
    windows: Windows {
        /// Initial window in segments.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000))]
        initial_window: f64,
        /// After an idle time of more than one RTO the controller's rule for idle times applies: `idle` of NewReno and
        /// DCTCP is to restart from the initial window (RFC 5681 4.1), or to halve the window once for each RTO
        /// (Linux); Swift has none. Otherwise idle times do not change windows.
        idle_restart: bool,
        /// Sends one segment for any window if nothing is in flight. Otherwise a window below one segment sends nothing
        /// until the retransmission timer fires (ns-3), except under controllers that pace such windows (Swift).
        least_segment: bool,
        /// Windows grow only while they limit sending (RFC 7661).
        cwnd_limited: bool,
        /// Send buffer: bytes unacknowledged or unsent.
        send_buffer: u64 as Size,
        /// A bulk application's write waits until the send buffer can take all of it (ns-3's TcpTxBuffer). Otherwise
        /// the buffer takes the part that fits.
        whole_writes: bool,
        /// Receive buffer.
        receive_buffer: u64 as Size,
        /// Window scaling (RFC 7323); without it the advertised window is at most 65535 bytes.
        window_scaling: bool,
        /// Unsent bytes at which a bulk application stops writing until fewer than half of them are left
        /// (TCP_NOTSENT_LOWAT); 0: only the send buffer stops it.
        notsent_lowat: u64 as Size,
        /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
        sws_avoidance: bool,
        /// Never shortens a segment to fit the peer's window: it is sent whole or waits, so the part of a window above
        /// whole segments stays unused. With nothing outstanding the persist timer sends as much as the window allows,
        /// and again, until an ACK leaves room for the rest of that segment, which is sent at once. Replaces
        /// `sws_avoidance` (Linux, tcp_snd_wnd_test and tcp_write_wakeup).
        whole_segments: bool,
        /// Limits segments, for the life of the connection, to half of the window offered by the packet that completes
        /// the handshake, if that is more than 536 bytes, else to all of it; the controller's window counts such
        /// segments too (Linux, tcp_bound_to_half_wnd).
        half_window_mss: bool,
        /// Segments that change the window offered by the peer.
        window_update: WindowUpdate as Word<WindowUpdate>,
        /// Time until the first probe of a zero window; doubles up to 60 s.
        persist_timeout: Time,
    }
    /// ECN.
    marks: MarkRules {
        /// ECN; `auto`: the signal that the controller was designed for.
        ecn: Option<Ecn> as Word<Option<Ecn>>,
        /// DCTCP receiver: acknowledges the packet that changes the mark's state at once (RFC 8257 3.2, Linux), in
        /// addition to flushing the pending ACK (DCTCP paper, ns-3).
        ecn_change_ack: bool,
        /// DCTCP receiver: data covered by the ACK flushed at a change of the mark's state.
        ecn_flush: Flush as Word<Flush>,
        /// A CE mark counts only on a segment beyond all segments whose mark counted before: marks on retransmissions
        /// below them are not echoed, nor is that of the first segment if the handshake's last ACK, which has its
        /// number, was marked (ns-3).
        ce_must_advance: bool,
        /// Takes RTT samples also from ACKs of segments declared lost by a timeout. ns-3 takes its next sample from a
        /// segment first sent after the timeout.
        rtt_after_timeout: bool,
        /// SYN, ACK, FIN and retransmissions are ECN-capable too.
        ect_control: bool,
    }
    /// Pace, classes and ranks of sent packets.
    output: OutputRules {
        /// Pacing of sent packets.
        pacing: Option<WindowPacing> as Pacing,
        /// Rank of data, in bytes, the most urgent lowest, for ports that use it (`queue.kind = "pfabric"`).
        rank: Option<Rank> as Word<Option<Rank>>,
        /// Measure compared with the sizes of `demotion`: bytes sent before the packet, or, for known sizes, the whole
        /// transfer, message or write, or its remaining bytes.
        demotion_by: Rank as Word<Rank>,
        /// Number of consecutive timeouts without acknowledged data after which a sender sends only headers, one per
        /// timeout, until it gets an answer (pFabric's probe mode); 0: never.
        probe_after: u32,
        /// Full segments sent after the flow's bytes, for which the flow waits too: htsim's TCP sends one more than the
        /// size requires.
        #[schemars(range(max = 1000))]
        extra_packets: u32,
        /// Priorities by bytes sent (PIAS). Packets of a transfer, message or write have class 0 while fewer bytes than
        /// the first size were sent before them, class 1 below the second size, and so on; beyond the last size the
        /// next class. Sizes rise, at most 7. Default: none; packets have the class of their traffic entry.
        /// `demotion_by` selects other measures.
        demotion: Vec<u64> as Vec<Size>,
    }
}

impl TransportSpec {
    /// Maximum number of sizes in [`OutputRules::demotion`], given by the class field of a packet.
    pub const MAX_SIZES: usize = 7;

    /// Bytes of a data packet beside its payload, at most: headers, and telemetry where the transport adds any.
    pub fn overhead(&self) -> u32 {
        self.sizes.header + self.protocol.of::<Rdma>().map_or(0, |rdma| rdma.metadata(true))
    }

    /// Lower bound of the IP bytes of its packets.
    pub fn least_packet(&self) -> u32 {
        let Sizes { header, ack_size, syn_size, mtu, .. } = self.sizes;
        let fragments = mtu > 0 && self.sizes.mss + self.overhead() > mtu;
        match self.protocol {
            Protocol::Rdma(_) | Protocol::Tcp if !fragments => header.min(ack_size).min(syn_size).max(1),
            _ => 1,
        }
    }

    /// Key and value of the time after which data is sent again that no feedback has reported lost; 0 if never.
    pub fn timeout(&self) -> (&'static str, Time) {
        match self.protocol.of::<Rdma>() {
            Some(rdma) => ("rdma.timeout", rdma.timeout),
            None => ("rto_min", self.rto.rto_min),
        }
    }

    /// Lowest class of its packets, if the transport assigns classes.
    pub fn lowest_class(&self) -> Option<u8> {
        self.protocol
            .facts()
            .lowest_class
            .or_else(|| (!self.output.demotion.is_empty()).then_some(self.output.demotion.len() as u8))
    }
}

impl TransportSpec {
    /// True if SYN-ACKs always echo the first SYN and are RTT samples even after a SYN retransmission (ns-3).
    pub fn repeats_first_stamp(&self) -> bool {
        self.connection.syn_ack_retries > 0 && self.loss.scoreboard == Rules::Ns3
    }

    /// `now` on the clock that times segments.
    #[inline]
    pub fn clock(&self, now: Time) -> Time {
        if self.timing.timestamp_clock == Time::ZERO { now } else { now - now % self.timing.timestamp_clock }
    }
}

words! {
    /// Measure of data within its transfer, message or write, in bytes; the lowest is the most urgent (pFabric, section
    /// 4.1; the schemes of its authors' ns-2 code).
    Rank {
        /// Bytes of the transfer, message or write neither acknowledged nor SACKed when the packet leaves (pFabric).
        /// The highest value if endless.
        Remaining = "remaining",
        /// Bytes sent before the packet in the transfer, message or write (PIAS): no size has to be known.
        Sent = "sent",
        /// Size of the transfer, message or write: all its packets have one value. The highest if endless.
        Size = "size",
    }
}

words! {
    /// Window rule during fast recovery.
    Recovery {
        /// RFC 6582: inflated by duplicates, deflated by partial ACKs.
        NewReno = "newreno",
        /// htsim's Swift: as newreno, but the inflation is added to the controller's window, which continues to
        /// change; it begins at zero and is at most the window; every partial ACK restarts the retransmission timer;
        /// after a timeout the first segment is sent alone. With a controller that reduces when recovery ends
        /// (`swift:recovery=at-exit`), without SACK.
        Htsim = "htsim",
        /// RFC 6937, proportional rate reduction.
        Prr = "prr",
        /// Proportional rate reduction as in ns-3.43: a duplicate counts one segment more than it delivers, other
        /// ACKs count only if they make a whole segment, a partial ACK sends one segment beyond the window, 32-bit
        /// products.
        PrrNs3 = "prr-ns3",
        /// Proportional rate reduction as in Linux: whole segments, in proportion to the window before the reduction,
        /// one more only on ACKs that advance and find nothing newly lost; without SACK too, where a duplicate ACK
        /// stands for a segment that arrived.
        Linux = "linux",
    }
}

words! {
    /// Peer's window.
    WindowUpdate {
        /// Every ACK of a flow. On a two-way connection, data that acknowledges something new or advances the
        /// window's right edge: a smaller window waits for that.
        News = "news",
        /// RFC 9293 section 3.10.7.4: each segment whose SEQ is not older than that of the segment that changed it
        /// last (SND.WL1, SND.WL2).
        Rfc9293 = "rfc9293",
        /// Linux: each segment whose SEQ or ACK is newer; with neither, only one with a larger window, so that the
        /// first request, which has the SEQ of the handshake's last ACK, does not shrink the window of that. Nothing
        /// is retransmitted beyond a window that shrank, except the first segment (tcp_may_update_window,
        /// tcp_retransmit_skb).
        Linux = "linux",
    }
}

impl WindowUpdate {
    /// True if the sequence number matters.
    #[inline(always)]
    pub fn looks_at_seq(self) -> bool {
        self != WindowUpdate::News
    }
}

words! {
    /// Retransmission timeout.
    RtoRule {
        /// RFC 6298: the floor, or srtt + max(G, 4 rttvar).
        Rfc6298 = "rfc6298",
        /// Linux: srtt + max(floor, 4 times the largest recent mean deviation).
        Linux = "linux",
    }
}

words! {
    /// Data covered by the ACK flushed at a change of the mark's state.
    Flush {
        /// All segments waiting for an ACK (DCTCP paper, RFC 8257).
        Pending = "pending",
        /// The segments that arrived before the latest of them; the next ACK covers the latest with the new state
        /// (ns-3.43).
        Prior = "prior",
    }
}

words! {
    /// Loss detection by the scoreboard.
    Rules {
        /// RFC 6675.
        Rfc6675 = "rfc6675",
        /// ns-3.43: `dupthresh` SACKed segments above make a loss, whatever their size; an ACK that advances and
        /// SACKs counts as a duplicate; only losses below the highest SACKed segment are repaired, by segments split
        /// anew up to the full size; a retransmission counts as in flight until it is acknowledged, SACKed or not;
        /// without new data everything that fits and is not proven lost is sent; no rescue retransmission.
        Ns3 = "ns3",
        /// RFC 8985 (RACK): a segment is lost when one that was sent after it has arrived; lost retransmissions are
        /// found too.
        Rack = "rack",
    }
}

words! {
    /// Bytes in flight reported to a controller at a loss.
    LossFlight {
        /// Outstanding bytes, minus limited transmit's segments (RFC 5681).
        Outstanding = "outstanding",
        /// Bytes estimated to be in the network, without those that SACKs or duplicates report as having left it
        /// (ns-3).
        Pipe = "pipe",
    }
}

keys! { $ window_pacing_keys
    /// Pacing at a multiple of cwnd, or of the bytes in flight if larger, over srtt (Linux and ns-3: 2 in slow start,
    /// 1.2 afterwards). The initial window is not paced, nor is a fast retransmission, which does not delay later
    /// packets.
    window: WindowPacing {
        /// Windows per round trip in slow start (Linux and ns-3: 2).
        #[schemars(extend("exclusiveMinimum" = 0))]
        slow_start: f64,
        /// Windows per round trip after slow start (Linux and ns-3: 1.2).
        #[schemars(extend("exclusiveMinimum" = 0))]
        avoidance: f64,
        /// Highest rate.
        max: Rate as Rate = "crate::text::default::infinite",
        /// Paces after the first segment of a fast recovery, or after a timeout, as if the rate were `max`, as in the
        /// Swift of an ns-3 study (omarghara/DCTCP-SWIFT-YASOMAM).
        restart_at_max: bool = "bool::default",
    }
}
