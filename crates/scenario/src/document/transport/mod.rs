//! Settings of the reliable transport, and the presets: the transports of Linux, ns-3, htsim and Swift's paper as
//! sets of values.
//!
//! Every key is declared once, in the table below: type, bounds and documentation. A preset is a file of values,
//! `presets/NAME.toml` of this crate; explicit values of the user override it. `incast describe transport ns3` prints
//! a preset's values.

mod dcpim;
mod eqds;
mod expresspass;
mod homa;
mod ndp;
mod phost;
mod roce;
pub(crate) mod rule;
mod uet;
mod words;

use crate::document::demotion;
use crate::document::pacing::Pacing;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, Size, Time};
use crate::text::words::Word;
use dcpim::DcPim;
use eqds::Eqds;
use expresspass::ExpressPass;
use homa::Homa;
use incast_cc as cc;
use incast_engine::spec;
use ndp::Ndp;
use phost::PHost;
use roce::Roce;
use rule::{Around, PacketTransport, joined};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::OnceLock;
use uet::Uet;

/// Largest packet in bytes, its header included (IPv4, RFC 791).
const MAX_PACKET: u32 = 65_535;

/// Declares the keys of the transport: the table in the scenario, the merge with another, and the values that the
/// engine has under the same names.
macro_rules! keys {
    (
        $($(#[$about:meta])+ $key:ident: $type:ty,)+
        by packets { $($(#[$which:meta])+ $transport:ident: $table:ident,)+ }
    ) => {
        /// Transport of flows: a preset, and the values that differ from it.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        pub struct Transport {
            /// Reference whose transport this is; default: `linux`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<Preset>,
            $($(#[$about])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+
            /// Priorities by bytes sent (PIAS). Packets of a transfer, message or write have class 0 while fewer
            /// bytes than the first size were sent before them, class 1 below the second size, and so on; beyond the
            /// last size the next class. Sizes rise, at most 7. Default: none; packets have the class of their
            /// traffic entry. `demotion_by` selects other measures.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub demotion: Option<Vec<Size>>,
            $($(#[$which])+ #[serde(skip_serializing_if = "Option::is_none")] pub $transport: Option<$table>,)+
        }

        impl Transport {
            /// Returns these values, with missing ones from `base`.
            fn or(&self, base: &Transport) -> Transport {
                Transport {
                    preset: self.preset.or(base.preset),
                    $($key: self.$key.or(base.$key),)+
                    demotion: self.demotion.clone().or_else(|| base.demotion.clone()),
                    $($transport: joined(&self.$transport, &base.$transport, $table::or),)+
                }
            }

            /// All values for the engine; `None` if one is missing.
            fn engine(&self) -> Option<spec::TransportSpec> {
                let demotion = self.demotion.iter().flatten().map(|size| size.0.0).collect();
                Some(spec::TransportSpec { protocol: spec::Protocol::Tcp, demotion, $($key: self.$key?.into()),+ })
            }

            /// Transport of a preset, with the values given here; `None` if one is missing.
            fn protocol(&self, preset: Preset) -> Option<spec::Protocol> {
                let all = self.or(preset.values());
                match preset.name() {
                    $(stringify!($transport) => all.$transport?.spec(all.mss?),)+
                    _ => Some(spec::Protocol::Tcp),
                }
            }

            /// Reports tables of transports that are not those of the preset.
            fn check_tables(&self, at: &mut Report) {
                let tables = [$((stringify!($transport), self.$transport.is_some())),+];
                let found = self.preset.unwrap_or_default().name();
                for (name, _) in tables.into_iter().filter(|(name, given)| *given && *name != found) {
                    let message =
                        format!("is of {name} alone, and transport.preset is \"{found}\"; expected \"{name}\"");
                    at.key(name, message);
                }
            }

            /// Reports values in those tables that types do not refuse; `all` has every value.
            fn check_values(&self, all: &spec::TransportSpec, at: &mut Report) {
                $(if let Some(own) = &self.$transport {
                    own.check(all, &mut at.below(stringify!($transport)));
                })+
            }
        }

        /// Derives values of transports that are not given from the traffic.
        pub(crate) fn derive(
            transports: &mut [spec::TransportSpec],
            flows: &[spec::FlowSpec],
            queries: &[spec::QuerySpec],
            problems: &mut Vec<Problem>,
        ) {
            $($table::derive(transports, flows, queries, problems);)+
        }

        /// Reports a network that lacks what the transports of its flows need.
        pub(crate) fn check_network(around: &Around, problems: &mut Vec<Problem>) {
            $($table::check_network(around, problems);)+
        }

        /// Notes of transports on a run.
        pub(crate) fn notes(run: &spec::Spec) -> Vec<String> {
            [$($table::note(run)),+].into_iter().flatten().collect()
        }
    };
}

keys! {
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
    /// A flow opens with SYN and SYN-ACK and closes with FIN.
    handshake: bool,
    /// Sends FIN on the last data segment if the application has closed by then. The receiver answers with an ACK and
    /// its own FIN, on which no mark is echoed (ns-3). Otherwise FIN is a separate segment with one answer.
    fin_with_data: bool,
    /// The application closes after its last write, not with it: if the windows allow all of that write to be sent at
    /// once, no data waits that could carry FIN, and FIN is a separate segment (Linux: `write()`, then `shutdown()`;
    /// tcp_send_fin). With `fin_with_data`.
    close_after_write: bool,
    /// Without `handshake`: a flow opens with a SYN of `syn_size` bytes. Data flows after its pure ACK, which counts
    /// as an ACK of one byte for the controller. There is no third packet and no FIN (htsim's TCP).
    lone_syn: bool,
    /// Time until the first retransmission of a SYN; doubles.
    syn_timeout: Time,
    /// SYN retransmissions before the flow gives up.
    syn_retries: u32,
    /// Number of SYN-ACKs after the first, sent by the receiver on a timer like that of SYNs or in answer to repeated
    /// SYNs, until anything else arrives; 0: no timer. With `scoreboard = "ns3"` each of them echoes the first SYN's
    /// time stamp, which is an RTT sample also if a SYN was retransmitted (ns-3).
    syn_ack_retries: u32,
    /// Consecutive timeouts before the flow gives up; 0: never.
    data_retries: u32,
    /// Number of the timeout, counted over the life of a connection, from which on the congestion window is 0 instead
    /// of one segment; 0: never. With `least_segment = false`, as in ns-3, nothing is sent and no timer runs until an
    /// ACK arrives; otherwise a timeout still sends one segment. For controllers with NewReno's window (others cause
    /// a warning), and Swift's form cse322, which restarts the count with every ACK. 4 in the ns-3 of a report of CSE
    /// 322 (github.com/Mushtari-Sadia/TCPSwift-A-Congestion-Control-Algorithm-For-Datacenters, commit 91178fc,
    /// tcp-socket-base.cc).
    emptying_timeout: u32,
    /// Segments per ACK; 1 acknowledges every segment at once. `auto`: 1 for controllers that require it (Swift),
    /// otherwise the preset's number.
    delayed_ack: Auto<NonZeroU32>,
    /// Longest wait of a delayed ACK.
    delayed_ack_timeout: Time,
    /// Segments at the start of a connection that are acknowledged one by one.
    quickack: u32,
    /// Acknowledges a segment that ends a write of the application (PSH) at once: Linux, once the receiver has read
    /// it.
    push_ack: bool,
    /// A message on a two-way connection, or a one-way flow, sets PSH on its last segment, and on every segment with
    /// which more than half of the largest offered window has been written since the last PSH (Linux, forced_push).
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
    /// The receiver's window starts at the whole segments that fit into 65535 bytes (65160 with segments of 1448). It
    /// grows by two segments with every segment that arrives, up to half of the receive buffer. A segment that makes it
    /// grow is acknowledged at once and does not count for `quickack`: a Linux connection acknowledges its first
    /// megabytes segment by segment.
    window_growth: bool,
    /// A side of a two-way connection that answers within the delayed ACK's time sends no immediate ACKs for
    /// `quickack`, until a delayed ACK is sent, a duplicate arrives, or a mark arrives (`mark_quickack`; Linux'
    /// interactive mode); duplicates and long silences restart `quickack`.
    pingpong: bool,
    /// With `pingpong`: the first mark since the sender's last CWR ends the interactive mode of a DCTCP receiver, and
    /// two ACKs are sent at once. Linux 6.1 intends this (__tcp_ecn_check_ce), but its DCTCP module has noted the
    /// mark by then, and nothing happens.
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
    /// connection the smoothed one; at most 1 ms) plus 100 us, after 44 segments, or for a third SACK block. ACKs of
    /// a host for which only the 100 us remain leave with the first of them (Linux: the timer's slack). Growing
    /// windows and `quickack` acknowledge all.
    sack_compression: bool,
    /// Rules for losses and retransmissions from SACKs and duplicate ACKs. Without `sack`, duplicate ACKs indicate
    /// losses under each.
    scoreboard: Word<spec::Rules>,
    /// Bytes that count as in flight when a loss halves them.
    loss_flight: Word<spec::LossFlight>,
    /// Window rule during fast recovery, for controllers without their own.
    recovery: Word<spec::Recovery>,
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
    /// last new segment or advancing ACK (with a single segment outstanding `rto_min` instead of `timeout_min`), but
    /// no later than the retransmission timeout. It is one segment of new data, for any congestion window, or without
    /// new data the last segment again. Its ACK shows which segments of the tail are lost. There is one probe at a
    /// time; none while losses are repaired, nor while segments are SACKed, except during a reduction for ECN. A loss
    /// repaired by the probe itself reduces the window as ECN does. Controllers that recover by themselves see it as
    /// a loss, except those that sample delivery rates or wait for late segments, which are not told.
    /// net.ipv4.tcp_early_retrans = 3. Only with `sack`, not under the scoreboard `ns3`.
    tail_loss_probe: bool,
    /// Under the scoreboard `rack`: a segment that others have overtaken but that may be reordered is lost once its
    /// time and `timeout_min` are over (RFC 8985 section 6.2, step 5). Otherwise it waits for the next ACK. With this
    /// key RACK follows Linux in four more rules: of an ACK that acknowledges and SACKs, the SACKs are processed
    /// first; SACKed segments are counted, not their bytes; the loss of a segment retransmitted after a timeout
    /// begins a fast recovery; for ACKs that come too soon and for reordering, a segment counts as retransmitted if
    /// it ever was, not only if it was since it was last declared lost.
    reordering_timer: bool,
    /// Under the scoreboard `rack`: once a segment that was sent only once arrives after a later one, the reordering
    /// window stays, also while losses are repaired. Each round trip with a duplicate SACK widens it by a quarter of
    /// the shortest round trip, up to the smoothed one, for 16 recoveries (RFC 8985 section 6.2, steps 3 and 4).
    /// Otherwise it is a quarter until three segments are SACKed or losses are repaired, and zero afterwards.
    adaptive_reordering: bool,
    /// Added to the waits of tail-loss probes and of `reordering_timer` (Linux: TCP_TIMEOUT_MIN; RFC 8985 leaves it to
    /// the clock).
    timeout_min: Time,
    /// The first new data after a reduction for a loss or a timeout carries CWR too (RFC 3168 section 6.1.2), not only
    /// that after a reduction for ECN; a timeout of the SYN counts.
    cwr_after_loss: bool,
    /// F-RTO (RFC 5682): after a timeout the sender retransmits one segment and, once an ACK advances, sends new
    /// data. The ACKs show whether the timeout was spurious and is undone. net.ipv4.tcp_frto.
    frto: bool,
    /// The receiver reports a segment that arrived twice as a first SACK block (RFC 2883). Only with `sack`.
    dsack: bool,
    /// Undoes a reduction when all retransmitted segments turn out to have arrived before: duplicate SACKs report it
    /// (RFC 3708), or, with `timestamps`, an ACK echoes a time stamp older than the first retransmission (RFC 4015).
    undo: bool,
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
    /// ticks counts 1 us; Linux times segments in whole microseconds. With `segment_rtt` it must divide 1 ms. Delivery
    /// rates are exact.
    timestamp_clock: Time,
    /// Computation of the retransmission timeout from the samples.
    rto_rule: Word<spec::RtoRule>,
    /// Tick of the kernel's timers; 0 is exact. A timer fires on a tick, later than its time: on Linux' timer wheel a
    /// wait below 63 ticks by one tick, below 504 by up to 8, and so on.
    timer_tick: Time,
    /// Interval between checks of retransmission timers, from time zero; 0 is exact. A timer that has expired fires
    /// at the next check, and later by a two-hundredth of the time from the previous check to its expiry. htsim's
    /// Swift and its family: 10 ms (SwiftRtxTimerScanner).
    timer_scan: Time,
    /// Segments sent after a timeout, beyond the first, are new data under the old sequence numbers. The data lost
    /// there is never retransmitted: the flow ends that much earlier and never finishes. A bug of htsim's Swift
    /// (doNextEvent and send_next_packet), to reproduce its hung flows. Only for bulk flows, without SACK.
    timeout_renumbers: bool,
    /// After a timeout every retransmitted segment beyond the first takes a new path value, as new data does; a fast
    /// retransmission takes the current one (smcclure20/csg-htsim, send_next_packet). Has an effect under `routing.by
    /// = "counter"`.
    go_back_n_new_path: bool,
    /// Keeps the inflation added by duplicates to the window of a fast recovery after a timeout, until the next
    /// recovery ends (htsim's Swift: a timeout does not change its inflation). Only with `recovery = "htsim"`.
    inflation_survives_timeout: bool,
    /// With `timestamps`, duplicate ACKs give RTT samples too: the controller sees them, and the timeout is computed
    /// from them again, without the back-off (htsim's Swift, receivePacket and update_rtt).
    duplicate_rtt: bool,
    /// While go-back-N repairs a timeout, the recovery point of a further timeout or of a fast recovery is the end of
    /// the retransmitted data, not the highest segment ever sent (htsim's Swift). Only with `recovery = "htsim"`.
    go_back_n_point: bool,
    /// Floor of the retransmission timeout.
    rto_min: Time,
    /// Ceiling of the retransmission timeout.
    rto_max: Time,
    /// Retransmission timeout before the first RTT sample.
    rto_initial: Time,
    /// Clock granularity G of RFC 6298: RTO = srtt + max(G, 4 rttvar). The rule `linux` uses its floor instead.
    rto_granularity: Time,
    /// Initial window in segments.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000))]
    initial_window: f64,
    /// After an idle time of more than one RTO the controller's rule for idle times applies: `idle` of NewReno and
    /// DCTCP is to restart from the initial window (RFC 5681 4.1), or to halve the window once for each RTO (Linux);
    /// Swift has none. Otherwise idle times do not change windows.
    idle_restart: bool,
    /// Sends one segment for any window if nothing is in flight. Otherwise a window below one segment sends nothing
    /// until the retransmission timer fires (ns-3), except under controllers that pace such windows (Swift).
    least_segment: bool,
    /// Windows grow only while they limit sending (RFC 7661).
    cwnd_limited: bool,
    /// Send buffer: bytes unacknowledged or unsent.
    send_buffer: Size,
    /// A bulk application's write waits until the send buffer can take all of it (ns-3's TcpTxBuffer). Otherwise the
    /// buffer takes the part that fits.
    whole_writes: bool,
    /// Receive buffer.
    receive_buffer: Size,
    /// Window scaling (RFC 7323); without it the advertised window is at most 65535 bytes.
    window_scaling: bool,
    /// Unsent bytes at which a bulk application stops writing until fewer than half of them are left
    /// (TCP_NOTSENT_LOWAT); 0: only the send buffer stops it.
    notsent_lowat: Size,
    /// Sender silly-window avoidance (RFC 1122 4.2.3.4).
    sws_avoidance: bool,
    /// Never shortens a segment to fit the peer's window: it is sent whole or waits, so the part of a window above
    /// whole segments stays unused. With nothing outstanding the persist timer sends as much as the window allows,
    /// and again, until an ACK leaves room for the rest of that segment, which is sent at once. Replaces
    /// `sws_avoidance` (Linux, tcp_snd_wnd_test and tcp_write_wakeup).
    whole_segments: bool,
    /// Limits segments, for the life of the connection, to half of the window offered by the packet that completes
    /// the handshake, if that is more than 536 bytes, else to all of it; the controller's window counts such segments
    /// too (Linux, tcp_bound_to_half_wnd).
    half_window_mss: bool,
    /// Segments that change the window offered by the peer.
    window_update: Word<spec::WindowUpdate>,
    /// Time until the first probe of a zero window; doubles up to 60 s.
    persist_timeout: Time,
    /// ECN; `auto`: the signal that the controller was designed for.
    ecn: Word<Option<cc::Ecn>>,
    /// DCTCP receiver: acknowledges the packet that changes the mark's state at once (RFC 8257 3.2, Linux), in
    /// addition to flushing the pending ACK (DCTCP paper, ns-3).
    ecn_change_ack: bool,
    /// DCTCP receiver: data covered by the ACK flushed at a change of the mark's state.
    ecn_flush: Word<spec::Flush>,
    /// A CE mark counts only on a segment beyond all segments whose mark counted before: marks on retransmissions
    /// below them are not echoed, nor is that of the first segment if the handshake's last ACK, which has its number,
    /// was marked (ns-3).
    ce_must_advance: bool,
    /// Takes RTT samples also from ACKs of segments declared lost by a timeout. ns-3 takes its next sample from a
    /// segment first sent after the timeout.
    rtt_after_timeout: bool,
    /// SYN, ACK, FIN and retransmissions are ECN-capable too.
    ect_control: bool,
    /// Pacing of sent packets.
    pacing: Pacing,
    /// Rank of data, in bytes, the most urgent lowest, for ports that use it (`queue.kind = "pfabric"`).
    rank: Word<Option<spec::Rank>>,
    /// Measure compared with the sizes of `demotion`: bytes sent before the packet, or, for known sizes, the whole
    /// transfer, message or write, or its remaining bytes.
    demotion_by: Word<spec::Rank>,
    /// Number of consecutive timeouts without acknowledged data after which a sender sends only headers, one per
    /// timeout, until it gets an answer (pFabric's probe mode); 0: never.
    probe_after: u32,
    /// Full segments sent after the flow's bytes, for which the flow waits too: htsim's TCP sends one more than the
    /// size requires.
    #[schemars(range(max = 1000))]
    extra_packets: u32,
    by packets {
        /// Further settings of NDP; with `preset = "ndp"`.
        ndp: Ndp,
        /// Further settings of EQDS; with `preset = "eqds"`.
        eqds: Eqds,
        /// Further settings of UET; with `preset = "uet"`.
        uet: Uet,
        /// Further settings of Homa; with `preset = "homa"`.
        homa: Homa,
        /// Further settings of ExpressPass; with `preset = "expresspass"`.
        expresspass: ExpressPass,
        /// Further settings of pHost; with `preset = "phost"`.
        phost: PHost,
        /// Further settings of RoCE; with `preset = "roce"`.
        roce: Roce,
        /// Further settings of dcPIM; with `preset = "dcpim"`.
        dcpim: DcPim,
    }
}

/// List of the presets, each with its word. Its values are in the file `presets/WORD.toml`.
macro_rules! presets {
    ($($(#[$about:meta])+ $name:ident = $word:literal,)+) => {
        /// A named set of values.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        pub enum Preset {
            $($(#[$about])+ #[serde(rename = $word)] $name,)+
        }

        /// Names and files of the presets.
        const FILES: &[(&str, &str)] =
            &[$(($word, include_str!(concat!("../../../presets/", $word, ".toml")))),+];

        impl Preset {
            /// All of them.
            pub const ALL: &[Preset] = &[$(Preset::$name),+];
        }
    };
}

presets! {
    /// Linux 6.1 as measured: quick ACKs for 16 segments, then one ACK per 2 segments or 40 ms; SACK, PRR also for ECN
    /// reductions, minimum RTO of 200 ms. Loss detection is that of RFC 6675 (no RACK, no tail-loss probe);
    /// `linux-default` has both.
    #[default]
    Linux = "linux",
    /// Linux 6.1 with its default settings: `linux`, but RACK with its timer and tail-loss probes detect losses
    /// (net.ipv4.tcp_recovery = 1, tcp_early_retrans = 3).
    LinuxDefault = "linux-default",
    /// ns-3.43's TCP: buffers of 128 KiB, minimum RTO of 1 s, PRR. Without two accidents that decide published ns-3
    /// results: the time-stamp clock is exact, and a full segment fits the MTU.
    Ns3 = "ns3",
    /// `ns3` over IPv6, for radio cells: segments of 536 bytes, headers of 72.
    Ns3Ipv6 = "ns3-ipv6",
    /// htsim's TCP family: 4000-byte packets with no header, 40-byte ACKs, no handshake, 15
    /// packets of initial window, an ACK per packet, NewReno recovery without SACK, one packet
    /// more than the size asks for.
    Htsim = "htsim",
    /// A transport as Swift's paper describes it (SIGCOMM 2020, section 3.6): SACK, an ACK per
    /// packet, RTO from the RTT with a floor of 100 us, no handshake. Sizes are our choice.
    Swift = "swift",
    /// NDP (SIGCOMM 2017): packets of 4160 bytes, an initial unsolicited window of 15, then a packet per pull.
    Ndp = "ndp",
    /// EQDS (NSDI 2022): packets of 4160 bytes, a window of 50 on speculative credit, then on credit of the receiver.
    Eqds = "eqds",
    /// The transport of Ultra Ethernet: packets of 4160 bytes, NSCC at the sender, RCCC at the receiver, or both.
    Uet = "uet",
    /// Homa (SIGCOMM 2018): packets of 1500 bytes, 9328 unscheduled bytes of a message, then grants to the shortest;
    /// eight priorities.
    Homa = "homa",
    /// PIAS (NSDI 2015) as in its authors' simulations, beside `controller = "dctcp"`: packets of 1500 bytes, an
    /// initial window of 70, timeouts of at least 2 ms, and eight priorities by bytes sent, with the sizes for web
    /// search.
    Pias = "pias",
    /// pFabric (SIGCOMM 2013) as in its authors' simulations, beside `controller = "newreno"` and
    /// `queue.kind = "pfabric"`: packets of 1500 bytes, windows of 12 to 15, timeouts of 45 us, probes after five.
    Pfabric = "pfabric",
    /// ExpressPass (SIGCOMM 2017) as in its authors' simulations, beside `queue.kind = "credit-shaping"`: packets of
    /// 1538 bytes, each for a credit of 76 to 92 that its receiver sends.
    ExpressPass = "expresspass",
    /// pHost (CoNEXT 2015) as in its authors' simulator: packets of 1500 bytes, messages of up to eight at once, others
    /// for tokens of the receiver, one in the time of a packet.
    PHost = "phost",
    /// RoCEv2's reliable connection: packets of 1068 bytes, a window of 128 at the rate of the link, and go-back-N: a
    /// sender returns to the first missing packet.
    Roce = "roce",
    /// dcPIM (SIGCOMM 2022) as in its authors' simulator: packets of 1500 bytes, messages of up to 19 at once, others
    /// for tokens of the receiver, in four channels that hosts match in four rounds.
    DcPim = "dcpim",
}

/// File of a preset: the values that differ from its base, and the meaning of `auto`.
struct Values {
    transport: Transport,
    /// Segments per ACK if the controller does not require an ACK per packet.
    delayed_ack: u32,
}

impl Preset {
    /// Name as in scenarios.
    pub fn name(self) -> &'static str {
        FILES[self as usize].0
    }

    /// Transport that matches a controller's form; `None` for a form without a reference.
    pub fn of_form(form: &str) -> Option<Preset> {
        match form {
            "linux" => Some(Preset::Linux),
            "ns3" | "ns3-35" | "yasomam" | "cse322" | "cse322-text" => Some(Preset::Ns3),
            "htsim" => Some(Preset::Htsim),
            _ => None,
        }
    }

    /// Reference of the preset, ignoring its variants.
    pub fn reference(self) -> Preset {
        match self {
            Preset::LinuxDefault => Preset::Linux,
            Preset::Ns3Ipv6 => Preset::Ns3,
            _ => self,
        }
    }

    /// Every value of the preset.
    pub fn values(self) -> &'static Transport {
        &self.read().transport
    }

    /// The values of its file.
    fn read(self) -> &'static Values {
        static READ: [OnceLock<Values>; Preset::ALL.len()] = [const { OnceLock::new() }; Preset::ALL.len()];
        READ[self as usize].get_or_init(|| {
            let (name, text) = FILES[self as usize];
            let mut table: toml::Table = text.parse().unwrap_or_else(|e| panic!("presets/{name}.toml: {e}"));
            let base = table.remove("base").map(|base| base.try_into::<Preset>());
            let auto = table.remove("auto");
            let own: Transport = table.try_into().unwrap_or_else(|e| panic!("presets/{name}.toml: {e}"));
            let own = Transport { preset: Some(self), ..own };
            match base {
                Some(Ok(base)) => Values { transport: own.or(base.values()), delayed_ack: base.read().delayed_ack },
                _ => {
                    let ack = auto.as_ref().and_then(|auto| auto.get("delayed_ack")?.as_integer());
                    Values { transport: own, delayed_ack: ack.and_then(|n| u32::try_from(n).ok()).unwrap_or(1) }
                }
            }
        })
    }
}

/// 0 stands for `auto`, until the controller is known.
impl From<Auto<NonZeroU32>> for u32 {
    fn from(segments: Auto<NonZeroU32>) -> u32 {
        segments.given().map_or(0, NonZeroU32::get)
    }
}

impl Transport {
    /// Writes out every value: explicit ones, the others from the preset named here, or without one from `base`.
    pub fn over(&self, base: &Transport) -> Transport {
        self.or(self.preset.map_or(base, |preset| preset.values()))
    }

    /// Writes out every value, over the preset.
    pub fn resolved(&self) -> Transport {
        self.over(Preset::default().values())
    }

    /// Engine settings for flows under a controller of this profile. Missing values are the preset's.
    pub fn spec(&self, profile: &cc::Profile) -> spec::TransportSpec {
        let preset = self.preset.unwrap_or_default();
        let (spec, protocol) = (self.or(preset.values()).engine(), self.protocol(preset));
        let (Some(mut spec), Some(protocol)) = (spec, protocol) else {
            unreachable!("the file of a preset sets every value")
        };
        spec.protocol = protocol;
        if spec.delayed_ack == 0 {
            spec.delayed_ack = if profile.ack_every_packet { 1 } else { preset.read().delayed_ack };
        }
        spec
    }

    /// Reports contradictions between values.
    pub(crate) fn check(&self, at: &mut Report) {
        let s = self.spec(&cc::Profile::TCP);
        self.check_tables(at);
        demotion::check(&s, at);
        self.check_values(&s, at);
        let above_zero = "expected a time above 0";
        if s.rto_min > s.rto_max {
            at.text("rto_min", s.rto_min, format!("expected at most rto_max, {}", s.rto_max));
        }
        if s.rto_initial == cc::Time::ZERO {
            at.text("rto_initial", "0s", above_zero);
        }
        if s.rto_min == cc::Time::ZERO && s.protocol.numbers_packets() {
            let message = format!("expected a time above 0: {} repeats requests after it", s.protocol.name());
            at.text("rto_min", "0s", message);
        }
        let tick = s.timestamp_clock;
        let of_segments = s.segment_rtt && s.timestamps && s.scoreboard != spec::Rules::Ns3;
        if of_segments && tick > cc::Time::ZERO && cc::Time::ms(1).0 % tick.0 != 0 {
            let message = "expected 0s or a divisor of 1ms with segment_rtt = true: its time stamps count milliseconds";
            at.text("timestamp_clock", tick, message);
        }
        if s.handshake && s.lone_syn {
            at.value("lone_syn", true, "expected false with handshake = true: the handshake has a SYN of its own");
        }
        if (s.handshake || s.lone_syn) && s.syn_timeout == cc::Time::ZERO {
            at.text("syn_timeout", "0s", above_zero);
        }
        if s.persist_timeout == cc::Time::ZERO {
            at.text("persist_timeout", "0s", above_zero);
        }
        for (name, bytes) in [("send_buffer", s.send_buffer), ("receive_buffer", s.receive_buffer)] {
            if bytes < s.mss as u64 {
                at.text(name, Size(cc::Bytes(bytes)), format!("expected at least one segment, {}B", s.mss));
            }
        }
        let most = MAX_PACKET.saturating_sub(s.header);
        if s.mss > most {
            let message =
                format!("expected at most {most}: with its header of {}B a packet has {MAX_PACKET}B", s.header);
            at.value("mss", s.mss, message);
        }
        // IPv4 requires 68 bytes of every link (RFC 791).
        if s.mtu != 0 && s.mtu < 68 {
            at.value("mtu", s.mtu, "expected 0 for no limit, or at least 68");
        } else if s.mtu != 0 && s.mss <= most {
            let whole = s.mss + s.header;
            let fragments = whole.div_ceil((s.mtu - 20) / 8 * 8);
            if fragments > 16 {
                let message = format!("a segment of {whole}B makes {fragments} fragments; expected at most 16");
                at.value("mtu", s.mtu, message);
            }
        }
    }
}
