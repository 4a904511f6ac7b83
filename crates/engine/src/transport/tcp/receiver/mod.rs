//! The receiving half of a flow: reassembly, acknowledgements, ECN echo, advertised window.

use crate::event::order::TimerKind;
use crate::event::packet::{Ext, NO_EXT, Packet, Telemetry, flag};
use crate::host::RunQueue;
use crate::host::messages::NO_HALF;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::spec::{Done, Flush, TransportSpec};
use crate::transport::Turn;
use crate::transport::ip::IpSink;
use crate::transport::ranges::Ranges;
use crate::transport::reordering::Reordering;
use crate::transport::timer::fires_at;
use incast_cc::{Ecn, Rate, Time};
use incast_record::FlowRecord;

mod ack_policy;
mod answer;
mod compression;
mod connection;
mod ecn;
mod sack;
mod window;

use compression::COMPRESSION_SLACK;
use sack::lay_out;
use window::{UNSCALED, first_window, scale};

const NEVER: u64 = u64::MAX;

/// A receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: u32,
    /// What arrives.
    pub(in crate::transport) ip: IpSink,
    transport: u32,
    src: u32,
    base_flags: u16,
    packets: u32,
    ecn: Ecn,
    /// Marked data is acknowledged at once.
    ack_marked: bool,
    delayed_ack: u32,
    read_rate: Rate,
    next: u64,
    /// `next` when the latest data segment arrived, before it was taken.
    prior: u64,
    ooo: Ranges,
    /// Segments that arrived out of order lately, newest first (RFC 2018's order of blocks).
    recent: [u64; 4],
    /// What came again, for the next ACK to report; empty where nothing has.
    again: (u64, u64),
    /// CE state of DCTCP's machine, or the latch of classic ECN.
    ce: bool,
    /// First sequence number whose CE mark counts, where marks have to advance.
    ce_from: u64,
    /// In-order segments not yet acknowledged.
    pending: u32,
    /// What the latest ACK said.
    acked: u64,
    /// What the next ACK echoes: send time and hops of the earliest segment it covers, and when that came to
    /// the host's NIC.
    echo: Option<(u64, u8, u64)>,
    quick: u32,
    /// When SYN was last answered, ps, and the time until the sender's next packet.
    syn_acked_at: u64,
    handshake_rtt: u64,
    /// Edge at which segments beyond a hole are counted, how many of them were acknowledged at once since
    /// it moved there, and how many wait to be.
    stuck_at: u64,
    duplicates: u32,
    compressed: u32,
    /// The window that may be offered, where it grows.
    window: u64,
    fin_at: Option<u64>,
    size: u64,
    /// Without extra packets.
    app_size: u64,
    closed: bool,
    /// Whether the timer of [`FlowSpec::sink_stop`](crate::spec::FlowSpec::sink_stop) is set, or
    /// none is needed.
    stop_planned: bool,
    /// When the latest in-order byte came.
    fresh_at: u64,
    /// Byte after the last of the message under way, for two-way connections.
    message_end: u64,
    message_size: u64,
    /// Its host's side of a two-way connection, or [`NO_HALF`].
    half: u32,
    /// Marked since the sender last said that it reduced its window.
    marked: bool,
    /// Unread bytes at `read_at`.
    unread: u64,
    read_at: u64,
    edge: u64,
    /// Units of the window that is offered: two to this power (RFC 7323).
    scale: u8,
    ack_at: u64,
    ack_timer_at: u64,
    /// Where timers of a tick fire in the reverse of their order: the tick of the delayed ACK's, [`NEVER`] if it is not
    /// set, and its number among its host's.
    slot: u64,
    setting: u64,
    update_at: u64,
    /// Shortest time between notifications of marks, ps; 0 sends none. When the next may go.
    cnp_interval: u64,
    cnp_from: u64,
    /// Stamps of the data packet that came last, until an ACK has returned them.
    telemetry: Option<Box<Telemetry>>,
    /// Entropy of the packet that came last.
    entropy: u16,
    /// What has come out of order, if something has.
    reordering: Option<Box<Reordering>>,
    /// Bytes that arrived for the first time inside the measured interval.
    delivered_m: u64,
    /// The whole transfer had arrived, ps.
    complete: Option<u64>,
}

impl Receiver {
    /// The receiver of flow `flow` on domain-local host `host`.
    pub fn new(net: &FabricMap, flow: u32, host: u32) -> Receiver {
        let spec = net.flow(flow);
        let t = net.transport(spec.transport);
        let profile = net.spec.controllers[spec.controller as usize].profile();
        let traced = net.spec.observe.trace.contains(&flow);
        let path = if spec.reverse_path.is_some() { flag::PATH } else { 0 };
        let size = match spec.app {
            crate::spec::App::Bulk { size: Some(size), .. } => size + t.extra_packets as u64 * t.mss as u64,
            _ => u64::MAX,
        };
        Receiver {
            flow,
            ip: IpSink::new(net, flow, host),
            transport: spec.transport,
            src: spec.src,
            base_flags: flag::ACK | flag::REVERSE | path | if traced { flag::TRACED } else { 0 },
            packets: 0,
            ecn: t.ecn.unwrap_or(profile.ecn),
            ack_marked: profile.ack_marked_at_once,
            delayed_ack: t.delayed_ack.max(1),
            read_rate: spec.read_rate,
            next: 0,
            prior: 0,
            ooo: Ranges::default(),
            recent: [0; 4],
            again: (0, 0),
            ce: false,
            ce_from: 0,
            pending: 0,
            acked: 0,
            echo: None,
            quick: t.quickack,
            syn_acked_at: NEVER,
            handshake_rtt: 0,
            stuck_at: 0,
            duplicates: 0,
            compressed: 0,
            window: if t.window_growth { first_window(t) } else { u64::MAX },
            fin_at: None,
            size,
            app_size: match spec.app {
                crate::spec::App::Bulk { size: Some(size), .. } => size,
                _ => u64::MAX,
            },
            closed: false,
            stop_planned: spec.sink_stop == Time::NEVER,
            fresh_at: 0,
            message_end: u64::MAX,
            message_size: 0,
            half: NO_HALF,
            marked: false,
            unread: 0,
            read_at: 0,
            edge: 0,
            scale: scale(t),
            ack_at: NEVER,
            ack_timer_at: NEVER,
            slot: NEVER,
            setting: 0,
            update_at: NEVER,
            cnp_interval: profile.cnp.map_or(0, |interval| interval.0),
            cnp_from: 0,
            telemetry: None,
            entropy: 0,
            reordering: None,
            delivered_m: 0,
            complete: None,
        }
    }

    /// Makes it half of a two-way connection: `half` is its host's side, `size` the bytes of the
    /// messages that arrive.
    pub fn join(&mut self, net: &FabricMap, half: u32, size: u64) -> u32 {
        self.half = half;
        self.message_size = size;
        self.message_end = size;
        self.base_flags |= flag::JOINED;
        self.offer(net.transport(self.transport))
    }

    /// Whether another whole message has come.
    pub fn take_message(&mut self) -> bool {
        let whole = self.delivered() >= self.message_end;
        if whole {
            self.message_end += self.message_size;
        }
        whole
    }

    /// Application bytes received, in order or not: neither segments beyond the flow's size nor FIN's number.
    fn counted(&self) -> u64 {
        let end = self.app_size.min(self.fin_at.unwrap_or(u64::MAX));
        self.next.min(end) + self.ooo.bytes_below(end)
    }

    /// Adds what it knows to the flow's record.
    pub fn record(&self, record: &mut FlowRecord) {
        self.ip.record(record);
        record.delivered = self.delivered();
        record.delivered_m = self.delivered_m;
        record.received_ps = self.complete;
        if let Some(order) = &self.reordering {
            record.late = order.late;
            record.extents = order.extents;
            record.extent_sum = order.extent_sum;
            record.extent_max = order.extent_max;
            record.reordering_buffer = order.buffer;
        }
    }

    /// In-order bytes received.
    pub fn delivered(&self) -> u64 {
        self.next - u64::from(self.fin_at.is_some_and(|f| self.next > f))
    }

    /// A packet of the data direction arrived.
    pub fn on_packet(&mut self, ctx: &mut NodeCtx<impl Effects>, p: &Packet, ext: Option<&mut Ext>) {
        let t = ctx.net.transport(self.transport);
        if p.len > p.size && p.is_trimmed() {
            return self.answer_trimmed(ctx, p);
        }
        if let Some(ext) = ext.filter(|_| p.has(flag::DATA)) {
            self.hold(ext);
        }
        if !self.ip.is_whole(ctx, p) {
            return;
        }
        if !self.stop_planned {
            self.stop_planned = true;
            let stop = ctx.net.flow(self.flow).sink_stop;
            if stop.0 >= ctx.now {
                ctx.timer(stop.0, TimerKind::SinkStop, self.flow);
            }
        }
        self.entropy = p.entropy();
        self.ip.count(ctx, t, p);
        if p.has(flag::CE) && self.cnp_interval > 0 {
            self.notify(ctx);
        }
        if self.half != NO_HALF {
            self.collect(ctx);
        }
        if self.handshake_rtt == 0 && self.syn_acked_at != NEVER {
            self.handshake_rtt = ctx.now - self.syn_acked_at;
        }
        if p.has(flag::RST) {
            self.closed = true;
        } else if p.has(flag::SYN) {
            self.echo = Some((p.ts, p.hop, ctx.now - ctx.held));
            self.syn_acked_at = ctx.now;
            self.acknowledge(ctx, flag::SYN, if t.lone_syn { t.ack_size } else { t.syn_size });
        } else if p.has(flag::DATA) && !self.closed {
            self.data(ctx, t, p);
            if self.half != NO_HALF {
                self.publish(ctx);
            }
        } else if t.ce_must_advance && p.has(flag::CE) {
            // the handshake's last ACK has the number of the first byte: its mark counts, and the
            // first segment's does not
            self.ce_from = self.ce_from.max(p.seq + 1);
        }
    }

    /// A packet that ends at `end` is late, or overtakes others, or is in order beyond what has come.
    #[inline(never)]
    fn note_order(&mut self, p: &Packet, end: u64) {
        let top = self.ooo.as_slice().last().map_or(self.next, |r| r.1);
        if end > top {
            self.reordering.get_or_insert_default().overtake(end, self.ip.arrived);
        } else if end < top && p.len > 0 && p.has(flag::MEASURED) && !p.has(flag::RETX) {
            self.reordering.get_or_insert_default().late(end, self.ip.arrived, self.next);
        }
    }

    /// So much is kept beyond a hole now.
    fn note_kept(&mut self, measured: bool) {
        if measured && let Some(reordering) = &mut self.reordering {
            reordering.buffer = reordering.buffer.max(self.ooo.bytes());
        }
    }

    fn data(&mut self, ctx: &mut NodeCtx<impl Effects>, t: &TransportSpec, p: &Packet) {
        let end = p.seq + p.len as u64 + u64::from(p.has(flag::FIN));
        let (marked, mut now_ack) = self.take_ecn_field(ctx, t, p);
        // the earliest segment not acknowledged, in its latest copy (RFC 7323 4.3)
        if self.echo.is_none() || p.seq <= self.acked {
            self.echo = Some((p.ts, p.hop, ctx.now - ctx.held));
        }
        let quick = self.half != NO_HALF && self.interact(ctx, t, p);
        if p.has(flag::FIN) {
            self.fin_at = Some(end - 1);
        }
        now_ack |= t.cwr_ack && p.has(flag::CWR) || self.ack_marked && marked;
        self.grow_window(t, p, end);
        let measured = ctx.measured();
        let held = if measured { self.counted() } else { 0 };
        if end <= self.next || (p.seq < self.next && p.len == 0) {
            // nothing new: a duplicate, or a probe
            now_ack = true;
            self.quick = self.quick.max(t.quickack);
            self.note_order(p, end);
            self.came_again(t, p.seq, end);
        } else if p.seq > self.next {
            self.note_order(p, end);
            if self.compressed > 0 {
                self.release(ctx, t, p.seq, end);
            }
            if self.ooo.find(p.seq).is_some_and(|held| end <= held.1) {
                self.came_again(t, p.seq, end);
            }
            self.ooo.add(p.seq, end, |_, _| {});
            self.note_kept(measured);
            self.remember(p.seq);
        } else {
            now_ack |= self.deliver(ctx, t, p, end);
        }
        if measured {
            // bytes count when they first arrive, in order or not: a hole filled late brings no
            // burst of old bytes with it, and goodput never exceeds the line
            self.delivered_m += self.counted() - held;
        }
        self.acknowledge_in_time(ctx, t, p, now_ack, quick);
    }

    /// A segment up to `end` is the next in order. Whether it is acknowledged at once.
    #[inline(always)]
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
            true => had_gap || t.push_ack && p.has(flag::PSH),
            false => self.next - self.acked > t.mss as u64,
        };
        let fresh = self.delivered() - before;
        self.read(ctx.now);
        self.unread += if self.read_rate == Rate::INFINITE { 0 } else { fresh };
        if fresh > 0 {
            self.fresh_at = ctx.now;
        }
        let whole = self.fin_at.unwrap_or(self.size);
        if self.complete.is_none() && self.next >= whole {
            // a FIN may come long after the last byte
            self.complete = Some(self.fresh_at.max(ctx.net.flow(self.flow).start.0));
            ctx.announce(self.flow, Done::Received);
        }
        self.pending += 1;
        now_ack
    }

    /// One of the receiver's timers fired.
    pub fn on_timer(&mut self, ctx: &mut NodeCtx<impl Effects>, kind: TimerKind) {
        let t = ctx.net.transport(self.transport);
        if self.half != NO_HALF {
            self.collect(ctx);
        }
        match kind {
            TimerKind::DelayedAck if self.ack_timer_at == ctx.now => {
                self.ack_timer_at = NEVER;
                let other = ctx.net.join(self.flow).map(|join| join.other);
                if self.ack_at <= ctx.now {
                    match other {
                        Some(other) if self.slot == ctx.now => {
                            self.slot = NEVER;
                            ctx.hosts[self.ip.host as usize].turns.due.push((self.setting, other, true));
                            ctx.timer(ctx.now, TimerKind::Turn, other);
                        }
                        _ => self.expire(ctx),
                    }
                } else if self.ack_at != NEVER {
                    self.ack_timer_at = self.ack_at;
                    ctx.timer(self.ack_at, TimerKind::DelayedAck, self.flow);
                }
            }
            TimerKind::SinkStop if !self.closed && self.fin_at.is_none_or(|f| self.next <= f) => {
                if self.ooo.is_empty() {
                    self.acknowledge(ctx, flag::FIN, t.syn_size);
                } else {
                    // unread data at a close: a reset (RFC 2525 section 2.17)
                    self.closed = true;
                    self.acknowledge(ctx, flag::RST, t.ack_size);
                }
            }
            TimerKind::WindowUpdate if self.update_at == ctx.now => {
                self.update_at = NEVER;
                if !self.closed {
                    let before = self.edge;
                    self.read(ctx.now);
                    self.offer(t);
                    if self.edge > before {
                        self.acknowledge(ctx, 0, t.ack_size);
                    } else {
                        self.watch_window(ctx, t);
                    }
                }
            }
            _ => {}
        }
    }
}
