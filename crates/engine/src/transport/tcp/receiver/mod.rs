//! TCP receiver: reassembly, acknowledgements, ECN echo, advertised window. This file has its state, grouped by
//! mechanism, and the path of a segment. Each neighbouring file is one mechanism.

use crate::event::metadata::Metadata;
use crate::event::order::Timer;
use crate::event::packet::{Ext, Kind, Packet, flag};
use crate::host::messages::NO_TCB;
use crate::ids::{FlowId, HostIx, NodeId};
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Done, TransportSpec};
use crate::transport::ip::IpSink;
use crate::transport::ranges::Ranges;
use crate::transport::reordering::Reordering;
use incast_cc::{Ecn, Time};
use incast_record::FlowRecord;
use sack::SackBlocks;
use std::mem::offset_of;
pub use window::UNSCALED;
use window::Window;

mod ack_policy;
mod answer;
mod compression;
mod connection;
mod ecn;
mod prediction;
mod read_ack;
mod reconnect;
mod sack;
mod window;

const NEVER: Time = Time::NEVER;
/// Assumed segment size of a sender before its first segment (TCP_MSS_DEFAULT).
const DEFAULT_MSS: u32 = 536;

/// Delayed and quick ACKs.
#[derive(Clone, Debug)]
struct AckPolicy {
    /// Number of segments after which an ACK is due.
    every: u32,
    /// Number of quick ACKs left.
    quick: u32,
    /// In-order segments not yet acknowledged.
    pending: u32,
    /// Segments since the latest ACK that ask for one when read.
    pushed: u8,
    /// Set if marked data is acknowledged at once.
    marked_at_once: bool,
    /// Number of the latest ACK.
    acked: u64,
    /// Echo of the next ACK: send time and hops of the earliest segment that it covers, and its arrival time at the
    /// host's NIC.
    echo: Option<(Time, u8, Time)>,
    /// Deadline of the delayed ACK.
    deadline: Time,
}

/// Segment lengths.
#[derive(Clone, Debug)]
struct Lengths {
    /// Segment size: the longest so far, or the length of two shorter ones in a row; and the length of the latest
    /// segment, if shorter.
    segment: u32,
    shorter: u32,
}

/// Timer of the delayed ACK.
#[derive(Clone, Debug)]
struct AckTimer {
    /// Time of the timer's event.
    at: Time,
    /// If timers of a tick fire in reverse order of setting: tick of the delayed ACK, [`NEVER`] if not set, and its
    /// number among the host's timers.
    slot: Time,
    setting: u64,
}

/// SACK compression.
#[derive(Clone, Default, Debug)]
struct Compression {
    /// Edge at which segments beyond a hole are counted, number of them acknowledged at once since the edge moved
    /// there, and number of waiting ones.
    stuck_at: u64,
    duplicates: u32,
    waiting: u32,
}

/// ECN echo.
#[derive(Clone, Default, Debug)]
struct EcnEcho {
    /// Negotiated mode.
    mode: Ecn,
    /// CE state of DCTCP's machine, or the latch of classic ECN.
    ce: bool,
    /// Set by a mark until the sender announces a reduction.
    marked: bool,
    /// Set once a segment was ECN-capable.
    capable: bool,
    /// In-order bytes before the latest data segment.
    prior: u64,
}

/// Congestion notifications.
#[derive(Clone, Default, Debug)]
struct Notifications {
    /// Shortest time between two notifications, 0 for none; and time from which the next may go.
    interval: Time,
    from: Time,
}

/// Progress of the flow's data.
#[derive(Clone, Debug)]
struct Taken {
    /// Size of the flow, with and without extra packets.
    size: u64,
    app_size: u64,
    /// Arrival time of the latest in-order byte.
    fresh_at: Time,
    /// First-time bytes inside the measured interval.
    delivered_m: u64,
}

/// Receiving application.
#[derive(Clone, Debug)]
struct Sink {
    closed: bool,
    /// Set if the timer of [`FlowSpec::sink_stop`](crate::spec::FlowSpec::sink_stop) is set, or none is needed.
    stop_planned: bool,
    /// Byte after the current message, for two-way connections, and message size in bytes.
    message_end: u64,
    message_size: u64,
    /// Bytes of former connections.
    earlier: u64,
    /// Time at which the whole transfer had arrived.
    complete: Option<Time>,
}

/// TCP receiver. Fields of a [predicted](prediction) segment come first, rarer ones last.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Receiver {
    /// Flow.
    pub flow: FlowId,
    src: NodeId,
    transport: u32,
    packets: u32,
    base_flags: u16,
    /// Entropy of the latest packet.
    entropy: u16,
    /// Set if [`Receiver::is_in_order`] is known to hold.
    in_order: bool,
    /// First byte that has not arrived.
    next: u64,
    acks: AckPolicy,
    window: Window,
    ecn: EcnEcho,
    taken: Taken,
    /// IP layer below.
    pub ip: IpSink,

    /// Set if the rules allow segments to be [predicted](prediction).
    predictable: bool,
    /// Index of the control block of a two-way connection, or [`NO_TCB`].
    tcb: u32,
    /// Data beyond the first missing byte, and the number of the FIN.
    ooo: Ranges,
    fin_at: Option<u64>,
    /// Reordering statistics, if data arrived out of order.
    reordering: Option<Box<Reordering>>,
    sack: SackBlocks,
    ack_timer: AckTimer,
    lengths: Lengths,
    compression: Compression,
    /// First sequence number whose CE mark counts, if marks have to advance.
    ce_from: u64,
    cnp: Notifications,
    sink: Sink,
    /// Time of the latest SYN-ACK, and the time from then to the sender's next packet.
    syn_acked_at: Time,
    handshake_rtt: Time,
    /// Unanswered SYN-ACK, if it is repeated.
    syn_ack: Option<Box<SynAck>>,
    /// Port stamps of the latest data packet, or answers of switches, until an ACK returns them.
    metadata: Option<Box<Metadata>>,
}

/// Cache lines of a receiver that a predicted segment reads and writes.
pub const HOT: usize = 4;
/// Offsets of fields that [`Receiver::delivered_in_all`] reads beyond these lines.
pub const DELIVERED: [usize; 2] =
    [offset_of!(Receiver, fin_at), offset_of!(Receiver, sink) + offset_of!(Sink, earlier)];

const _: () = assert!(offset_of!(Receiver, ip) + IpSink::HOT <= HOT * 64);

/// Unanswered SYN-ACK.
#[derive(Clone, Debug)]
struct SynAck {
    /// Echo of the SYN: send time, hops, and arrival time at the host's NIC.
    echo: Option<(Time, u8, Time)>,
    /// Number of transmissions.
    sent: u32,
    /// Time of the next transmission.
    at: Time,
}

impl Receiver {
    /// Receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: FlowId, host: HostIx) -> Receiver {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let profile = net.spec.controllers[spec.controller as usize].profile();
        let observe = &net.spec.observe;
        let traced = observe.acks || observe.trace.contains(&flow.0);
        let path = if spec.reverse_path.is_some() { flag::PATH } else { 0 };
        let app_size = spec.app.size().unwrap_or(u64::MAX);
        let size = app_size.saturating_add(t.output.extra_packets as u64 * t.sizes.mss as u64);
        let asked = net.duplex(flow).is_some_and(|duplex| !duplex.response);
        Receiver {
            flow,
            ip: IpSink::new(net, flow, host),
            transport: spec.transport,
            src: NodeId(spec.src),
            base_flags: flag::ACK | flag::REVERSE | path | if traced { flag::SLOW_PATH } else { 0 },
            packets: 0,
            in_order: false,
            predictable: Receiver::is_predictable(&t.acks),
            tcb: NO_TCB,
            next: 0,
            ooo: Ranges::default(),
            fin_at: None,
            reordering: None,
            sack: SackBlocks::default(),
            acks: AckPolicy {
                marked_at_once: profile.ack_marked_at_once,
                every: if t.acks.quickack_route && !asked { 1 } else { t.acks.delayed_ack.max(1) },
                quick: t.acks.quickack,
                pending: 0,
                pushed: 0,
                acked: 0,
                echo: None,
                deadline: NEVER,
            },
            ack_timer: AckTimer { at: NEVER, slot: NEVER, setting: 0 },
            lengths: Lengths { segment: t.sizes.mss.min(DEFAULT_MSS), shorter: 0 },
            compression: Compression::default(),
            ecn: EcnEcho { mode: t.marks.ecn.unwrap_or(profile.ecn), ..EcnEcho::default() },
            ce_from: 0,
            cnp: Notifications { interval: profile.cnp.unwrap_or_default(), from: Time::ZERO },
            taken: Taken { size, app_size, fresh_at: Time::ZERO, delivered_m: 0 },
            window: Window::new(t, spec.read_rate),
            sink: Sink {
                closed: false,
                stop_planned: spec.sink_stop == Time::NEVER,
                message_end: u64::MAX,
                message_size: 0,
                earlier: 0,
                complete: None,
            },
            syn_acked_at: NEVER,
            syn_ack: None,
            handshake_rtt: Time::ZERO,
            metadata: None,
            entropy: 0,
        }
    }

    /// Makes the flow one direction of a two-way connection. `tcb`: index of the control block; `size`: bytes of an
    /// arriving message. Returns the offered window.
    pub fn make_duplex(&mut self, net: &FabricMap, tcb: u32, size: u64) -> u32 {
        self.tcb = tcb;
        self.sink.message_size = size;
        self.sink.message_end = size;
        self.base_flags |= flag::DUPLEX;
        self.window.offer(self.next, net.transport(self.transport))
    }

    /// Takes a complete message. Returns whether there was one.
    pub fn take_message(&mut self) -> bool {
        let whole = self.delivered() >= self.sink.message_end;
        if whole {
            self.sink.message_end += self.sink.message_size;
        }
        whole
    }

    /// Application bytes received, in order or not, without bytes beyond the flow's size and the FIN's number.
    fn counted(&self) -> u64 {
        let end = self.taken.app_size.min(self.fin_at.unwrap_or(u64::MAX));
        self.next.min(end) + self.ooo.bytes_below(end)
    }

    /// Packets to the sender so far.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Returns whether all that has arrived is in order, read and acknowledged.
    pub fn is_at_rest(&self) -> bool {
        let acknowledged = self.acks.pending == 0 && self.acks.deadline == NEVER && self.compression.waiting == 0;
        acknowledged && self.ooo.is_empty() && self.window.is_read_at_once()
    }

    /// Adds the receiver's fields to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        record.delivered = self.delivered_in_all();
        record.delivered_m = self.taken.delivered_m;
        record.received_ps = self.sink.complete.map(|t| t.0);
        if let Some(order) = &self.reordering {
            record.late = order.late;
            record.extents = order.extents;
            record.extent_sum = order.extent_sum;
            record.extent_max = order.extent_max;
            record.reordering_buffer = order.buffer;
        }
    }

    /// In-order bytes received, former connections of the flow included.
    pub fn delivered_in_all(&self) -> u64 {
        self.sink.earlier + self.delivered()
    }

    /// In-order bytes received.
    pub fn delivered(&self) -> u64 {
        self.next - u64::from(self.fin_at.is_some_and(|f| self.next > f))
    }

    /// Handles a packet of the data direction.
    #[inline]
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&mut Ext>) {
        let t = ctx.net.transport(self.transport);
        if self.in_order && ext.is_none() && self.predicts(p) {
            debug_assert!(self.is_in_order());
            self.entropy = p.entropy();
            self.ip.count(ctx, &t.sizes, p);
            return self.on_predicted(ctx, t, p);
        }
        self.in_order = false;
        self.on_other_packet(ctx, t, p, ext);
        self.in_order = self.is_in_order();
    }

    /// Handles a packet that was not predicted.
    #[inline(never)]
    fn on_other_packet(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        t: &TransportSpec,
        p: &Packet,
        ext: Option<&mut Ext>,
    ) {
        if p.len > p.size && p.is_trimmed() {
            return self.answer_trimmed(ctx, p);
        }
        if let Some(ext) = ext.filter(|_| p.is(Kind::Data) || p.is(Kind::Syn)) {
            self.hold(ctx, ext);
        }
        if !self.ip.is_whole(ctx, p) {
            return;
        }
        if !self.sink.stop_planned {
            self.sink.stop_planned = true;
            let stop = ctx.net.flow(self.flow).sink_stop;
            if stop >= ctx.now {
                ctx.timer(stop, Timer::SinkStop(self.flow));
            }
        }
        self.entropy = p.entropy();
        self.ip.count(ctx, &t.sizes, p);
        if p.has(flag::CE) && self.cnp.interval > Time::ZERO {
            self.notify(ctx);
        }
        if self.tcb != NO_TCB {
            self.collect(ctx);
        }
        if self.handshake_rtt == Time::ZERO && self.syn_acked_at != NEVER {
            self.handshake_rtt = ctx.now - self.syn_acked_at;
        }
        if p.is(Kind::Rst) {
            self.sink.closed = true;
        } else if p.is(Kind::Syn) {
            // ns-3 echoes the first SYN in every SYN-ACK (ProcessOptionTimestamp: later SYNs are not in order)
            let first = self.syn_ack.as_ref().filter(|_| t.repeats_first_stamp()).and_then(|own| own.echo);
            self.acks.echo = first.or(Some((p.sent_at(), p.hop, ctx.now - ctx.held)));
            if t.acks.ecn_fallback {
                self.negotiate_ecn(ctx, &t.connection, p);
            }
            self.syn_acked_at = ctx.now;
            let echo = self.acks.echo;
            self.acknowledge(
                ctx,
                Kind::Syn,
                0,
                if t.connection.lone_syn { t.sizes.ack_size } else { t.sizes.syn_size },
            );
            if t.connection.syn_ack_retries > 0 {
                self.await_answer(ctx, &t.connection, echo);
            }
        } else if p.is(Kind::Data) && !self.sink.closed {
            self.data(ctx, t, p);
            if self.tcb != NO_TCB {
                self.publish(ctx);
            }
        } else {
            self.syn_ack = None;
            if t.marks.ce_must_advance && p.has(flag::CE) {
                // the last ACK of the handshake has the number of the first byte: its mark counts, and the first
                // segment's does not
                self.ce_from = self.ce_from.max(p.seq() + 1);
            }
        }
    }

    /// Notes a packet up to `end` that is late, overtakes others, or is in order.
    #[inline(never)]
    fn note_order(&mut self, p: &Packet, end: u64) {
        let top = self.ooo.as_slice().last().map_or(self.next, |r| r.1);
        if end > top {
            self.reordering.get_or_insert_default().overtake(end, self.ip.arrived);
        } else if end < top && p.len > 0 && p.has(flag::MEASURED) && !p.has(flag::RETX) {
            self.reordering.get_or_insert_default().late(end, self.ip.arrived, self.next);
        }
    }

    /// Updates the largest number of bytes kept beyond a hole.
    fn note_kept(&mut self, measured: bool) {
        if measured && let Some(reordering) = &mut self.reordering {
            reordering.buffer = reordering.buffer.max(self.ooo.bytes());
        }
    }

    fn data(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let in_order = self.predictable && self.tcb == NO_TCB && self.ooo.is_empty() && self.fin_at.is_none();
        if in_order && p.seq() == self.next && p.len > 0 && !p.has(flag::FIN) {
            self.on_predicted(ctx, t, p);
        } else {
            self.on_other_data(ctx, t, p);
        }
    }

    /// Handles a data segment that was not predicted.
    #[inline(never)]
    fn on_other_data(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let end = p.seq() + p.len as u64 + u64::from(p.has(flag::FIN));
        let (marked, mut now_ack) = self.take_ecn(ctx, t, p);
        // earliest segment not acknowledged, in its latest copy (RFC 7323 4.3)
        if self.acks.echo.is_none() || p.seq() <= self.acks.acked {
            self.acks.echo = Some((p.sent_at(), p.hop, ctx.now - ctx.held));
        }
        let quick = (self.tcb != NO_TCB || t.acks.classic_quickack) && self.interact(ctx, t, p);
        if p.has(flag::FIN) {
            self.fin_at = Some(end - 1);
        }
        now_ack |= t.acks.cwr_ack && p.has(flag::CWR) || self.acks.marked_at_once && marked;
        if p.len > 0 && self.window.is_growing(t) {
            // repeated data does not grow the window; without SACK neither does data out of order, because its ACKs
            // would not be duplicates
            let fresh = end > self.next && self.ooo.find(p.seq()).is_none_or(|held| end > held.1);
            if fresh && (t.loss.sack || p.seq() <= self.next) {
                self.window.grow(t);
                self.acks.quick |= 1;
            }
        }
        let measured = ctx.measured();
        let held = if measured { self.counted() } else { 0 };
        if end <= self.next || (p.seq() < self.next && p.len == 0) {
            // nothing new: a duplicate, or a probe
            now_ack = true;
            self.acks.quick = self.acks.quick.max(t.acks.quickack);
            self.note_order(p, end);
            self.sack.note_duplicate(&t.loss, p.seq(), end);
        } else if p.seq() > self.next {
            self.note_order(p, end);
            if self.compression.waiting > 0 {
                self.release(ctx, &t.sizes, p.seq(), end);
            }
            if self.ooo.find(p.seq()).is_some_and(|held| end <= held.1) {
                self.sack.note_duplicate(&t.loss, p.seq(), end);
            }
            self.ooo.add(p.seq(), end, |_, _| {});
            self.note_kept(measured);
            self.sack.remember(&self.ooo, self.next, p.seq());
        } else {
            now_ack |= self.deliver(ctx, t, p, end);
        }
        if measured {
            // bytes count when they first arrive, in order or not: a hole filled late brings no
            // burst of old bytes with it, and goodput never exceeds the line
            self.taken.delivered_m += self.counted() - held;
        }
        if self.acks.quick > 0 && (self.tcb == NO_TCB || quick) {
            self.acks.quick -= u32::from(self.tcb == NO_TCB);
            now_ack = true;
        }
        self.acknowledge_in_time(ctx, p, now_ack);
    }

    /// Takes in a segment up to `end` that is next in order. Returns whether it is acknowledged at once.
    fn deliver(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet, end: u64) -> bool {
        let before = self.delivered();
        let had_gap = !self.ooo.is_empty();
        if had_gap {
            self.note_order(p, end);
        }
        self.next = self.ooo.reach_from(end);
        self.ooo.cut_below(self.next);
        let whole = self.ooo.is_empty();
        if had_gap && let Some(reordering) = &mut self.reordering {
            reordering.reached(self.next, !whole);
        }
        let now_ack = match whole {
            true if t.acks.read_ack && p.len > 0 => had_gap | self.is_read(ctx, &t.sizes, p),
            true => had_gap || t.acks.push_ack && p.has(flag::PSH),
            false => self.next - self.acks.acked > t.sizes.mss as u64,
        };
        let fresh = self.delivered() - before;
        self.window.read(ctx.now, fresh);
        if fresh > 0 {
            self.taken.fresh_at = ctx.now;
        }
        let whole = self.fin_at.unwrap_or(self.taken.size);
        if self.sink.complete.is_none() && self.next >= whole {
            self.complete(ctx);
        }
        self.acks.pending += 1;
        now_ack
    }

    /// Notes the completion of the transfer once the sender's last byte has arrived, unless its stop cut it short.
    #[cold]
    fn complete(&mut self, ctx: &mut NodeCtx<impl Effects>) {
        let flow = ctx.net.flow(self.flow);
        let whole = self.delivered() >= flow.app.end().unwrap_or(0);
        if !whole || ctx.net.duplex(self.flow).is_some_and(|duplex| duplex.close.is_some()) {
            // other connections follow if each query has its own
            return;
        }
        // a FIN may come long after the last byte
        self.sink.complete = Some(self.taken.fresh_at.max(flow.start));
        ctx.announce(self.flow, Done::Received);
    }

    /// Handles one of the flow's timers.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, timer: Timer) {
        let t = ctx.net.transport(self.transport);
        if self.tcb != NO_TCB {
            self.collect(ctx);
        }
        match timer {
            Timer::DelayedAck(_) if self.ack_timer.at == ctx.now => {
                self.ack_timer.at = NEVER;
                let other = ctx.net.duplex(self.flow).map(|duplex| duplex.other);
                if self.acks.deadline <= ctx.now {
                    match other {
                        Some(other) if self.ack_timer.slot == ctx.now => {
                            self.ack_timer.slot = NEVER;
                            ctx.hosts[self.ip.host].run_queue.due.push((self.ack_timer.setting, other, true));
                            ctx.timer(ctx.now, Timer::RunQueue(other));
                        }
                        _ => self.expire(ctx),
                    }
                } else if self.acks.deadline != NEVER {
                    self.ack_timer.at = self.acks.deadline;
                    ctx.timer(self.acks.deadline, Timer::DelayedAck(self.flow));
                }
            }
            Timer::SynAck(_) => self.repeat_syn_ack(ctx, t),
            Timer::SinkStop(_) if !self.sink.closed && self.fin_at.is_none_or(|f| self.next <= f) => {
                if self.ooo.is_empty() {
                    self.acknowledge(ctx, Kind::Ack, flag::FIN, t.sizes.syn_size);
                } else {
                    // unread data at a close: a reset (RFC 2525 section 2.17)
                    (self.sink.closed, self.in_order) = (true, false);
                    self.acknowledge(ctx, Kind::Rst, 0, t.sizes.ack_size);
                }
            }
            Timer::WindowUpdate(_) if self.window.is_update_due(ctx.now) && !self.sink.closed => {
                let before = self.window.edge;
                self.window.read(ctx.now, 0);
                self.window.offer(self.next, t);
                if self.window.edge > before {
                    self.acknowledge(ctx, Kind::Ack, 0, t.sizes.ack_size);
                } else {
                    self.watch_window(ctx, t);
                }
            }
            _ => {}
        }
    }
}
