//! The receiving half of a flow: reassembly, acknowledgements, ECN echo, advertised window.

use crate::event::order::TimerKind;
use crate::event::outbox::Outbox;
use crate::event::packet::{Ext, NO_EXT, Packet, Telemetry, flag};
use crate::host::messages::NO_HALF;
use crate::map::fabric::FabricMap;
use crate::node::io::{Io, Turns};
use crate::spec::{Done, Flush, TransportSpec};
use crate::transport::Turn;
use crate::transport::ip::IpSink;
use crate::transport::ranges::Ranges;
use crate::transport::reordering::Reordering;
use crate::transport::timer::fires_at;
use incast_cc::{Ecn, Rate, Time};
use incast_record::{FlowRecord, Recorder};

const NEVER: u64 = u64::MAX;
/// The most that a window field without scaling can say; in whole segments, where a window that grows begins.
const UNSCALED: u64 = 65_535;

/// Linux' compression of SACKs: longest delay, how much later its timer may fire (it does where no other
/// timer of its kind is due), segments.
const COMPRESSION_DELAY: u64 = 1_000_000_000;
const COMPRESSION_SLACK: u64 = 100_000_000;
const COMPRESSED_AT_MOST: u32 = 44;

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

/// Bytes of options after a TCP header, and of a time-stamp option without its padding.
const OPTIONS: u32 = 40;
const TIMESTAMPS: u32 = 10;

/// What a window that grows begins with: 65,160 bytes with segments of 1448.
fn first_window(t: &TransportSpec) -> u64 {
    let mss = t.mss as u64;
    (UNSCALED / mss * mss).max(mss).min(t.receive_buffer / 2)
}

/// Keeps the blocks of an ACK that its options have room for; returns the bytes they add.
#[cold]
fn lay_out(ext: &mut Ext, t: &TransportSpec) -> u32 {
    let room = (OPTIONS - 2 - if t.timestamps { TIMESTAMPS } else { 0 }) / 8;
    let mut count = 0;
    for (i, block) in ext.sack.iter_mut().enumerate() {
        if i as u32 >= room {
            *block = (0, 0);
        }
        count += u32::from(block.0 < block.1);
    }
    count * t.sack_block
}

/// The least window scale that lets the whole buffer be offered.
fn scale(t: &TransportSpec) -> u8 {
    let enough = (0..14).find(|s| t.receive_buffer >> s <= UNSCALED).unwrap_or(14);
    if t.window_scaling { enough } else { 0 }
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

    /// Two-way connections: data of the other half has carried the acknowledgement that was owed.
    fn collect<O, R>(&mut self, io: &mut Io<O, R>) {
        if let Some(half) = io.halves.get_mut(self.half as usize) {
            let (owed, carried) = (half.owed, std::mem::take(&mut half.carried));
            if !owed {
                self.pending = 0;
                self.acked = self.next;
                self.ack_at = NEVER;
                self.echo = None;
                self.uncompress(io);
            }
            for _ in 0..carried {
                self.spend_quick(io);
            }
        }
    }

    /// Two-way connections: an acknowledgement of data was sent, one of those that `quickack` counts.
    fn spend_quick<O, R>(&mut self, io: &mut Io<O, R>) {
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0
                && let Some(half) = io.halves.get_mut(self.half as usize)
            {
                half.ack_wait = io.net.transport(self.transport).delayed_ack_timeout.0;
            }
        }
    }

    /// Two-way connections: brings the interactive state up to date with an arriving segment. Whether
    /// the segment is acknowledged at once.
    fn interact<O, R>(&mut self, io: &mut Io<O, R>, t: &TransportSpec, p: &Packet) -> bool {
        let Some(half) = io.halves.get_mut(self.half as usize).filter(|_| t.pingpong) else { return self.quick > 0 };
        if p.seq + (p.len as u64) <= self.next {
            self.quick = self.quick.max(t.quickack);
            half.pingpong = false;
            half.ack_wait = t.delayed_ack_timeout.0;
        } else if p.seq <= self.next {
            let predicted = p.seq == self.next && self.ooo.is_empty() && !(p.has(flag::CWR) || p.has(flag::ECE));
            if half.hear(t, io.now, predicted) {
                self.quick = self.quick.max(t.quickack);
            }
        }
        if t.mark_quickack && self.ecn == Ecn::Dctcp {
            // marks call for the window's being small: two ACKs at once until the sender has reduced it
            if p.has(flag::CWR) {
                self.marked = false;
            }
            if p.has(flag::CE) && !self.marked {
                self.marked = true;
                self.quick = self.quick.max(2);
                half.pingpong = false;
                half.ack_wait = t.delayed_ack_timeout.0;
            }
        }
        self.quick > 0 && !half.pingpong
    }

    /// Two-way connections: what data of the other half is to acknowledge.
    fn publish<O, R>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        let wnd = self.offer(t);
        let blocks = if t.sack && !self.ooo.is_empty() { self.blocks() } else { Ext::default() };
        let half = &mut io.halves[self.half as usize];
        let (ts, hops, came) = self.echo.unwrap_or((half.ext.ts, half.ext.hops, half.came));
        half.ext = Ext { ts, hops, ..blocks };
        half.came = came;
        half.ack = self.next;
        half.wnd = wnd;
        half.ece = self.ce;
        half.owed = self.pending > 0 || self.ack_at != NEVER;
        half.open = true;
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
    pub fn on_packet<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet, ext: Option<&mut Ext>) {
        let t = io.net.transport(self.transport);
        if p.len > p.size && p.is_trimmed() {
            return self.answer_trimmed(io, p);
        }
        if let Some(ext) = ext.filter(|_| p.has(flag::DATA)) {
            self.hold(ext);
        }
        if !self.ip.is_whole(io, p) {
            return;
        }
        if !self.stop_planned {
            self.stop_planned = true;
            let stop = io.net.flow(self.flow).sink_stop;
            if stop.0 >= io.now {
                io.timer(stop.0, TimerKind::SinkStop, self.flow);
            }
        }
        self.entropy = p.entropy();
        self.ip.count(io, t, p);
        if p.has(flag::CE) && self.cnp_interval > 0 {
            self.notify(io);
        }
        if self.half != NO_HALF {
            self.collect(io);
        }
        if self.handshake_rtt == 0 && self.syn_acked_at != NEVER {
            self.handshake_rtt = io.now - self.syn_acked_at;
        }
        if p.has(flag::RST) {
            self.closed = true;
        } else if p.has(flag::SYN) {
            self.echo = Some((p.ts, p.hop, io.now - io.held));
            self.syn_acked_at = io.now;
            self.acknowledge(io, flag::SYN, if t.lone_syn { t.ack_size } else { t.syn_size });
        } else if p.has(flag::DATA) && !self.closed {
            self.data(io, t, p);
            if self.half != NO_HALF {
                self.publish(io);
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

    /// The header of a segment whose payload a queue has cut off: the sender is told at once which it is.
    #[cold]
    fn answer_trimmed<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, p: &Packet) {
        self.ip.count_trimmed(io, p);
        self.entropy = p.entropy();
        self.tell(io, p.seq, 0);
    }

    /// Marked data: the sender is notified, unless it was lately.
    #[cold]
    fn notify<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        if io.now < self.cnp_from {
            return;
        }
        self.cnp_from = io.now + self.cnp_interval;
        self.tell(io, self.next, flag::ECE);
    }

    /// Sends a control packet that acknowledges nothing: with ECE a notification of marks, without it one of a
    /// trimmed segment that begins at `seq`.
    fn tell<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, seq: u64, ece: u16) {
        let size = io.net.transport(self.transport).ack_size;
        let flags = self.base_flags & !flag::ACK | ece;
        let packet = Packet { ack: seq, ts: io.now, ..self.answer(io, flags, size) };
        io.send(self.ip.host, &packet, None);
    }

    /// The next packet back.
    #[inline(always)]
    fn answer<O, R>(&mut self, io: &Io<O, R>, flags: u16, size: u32) -> Packet {
        let id = self.packets as u16;
        self.packets = self.packets.wrapping_add(1);
        Packet {
            time: 0,
            seq: 0,
            ack: self.next,
            ts: 0,
            link: 0,
            flow: self.flow,
            dst: self.src,
            wnd: 0,
            id,
            turn: if io.net.entropy { self.entropy } else { io.cause },
            ext: NO_EXT,
            size: size as u16,
            len: 0,
            flags,
            hop: 0,
            aux: 0,
        }
    }

    /// The next ACK returns these stamps.
    #[cold]
    fn hold(&mut self, ext: &mut Ext) {
        if let Some(telemetry) = ext.telemetry.take() {
            self.telemetry = Some(telemetry);
        }
    }

    fn data<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec, p: &Packet) {
        let end = p.seq + p.len as u64 + u64::from(p.has(flag::FIN));
        let mut now_ack = false;
        let mut marked = p.has(flag::CE);
        if marked && t.ce_must_advance {
            marked = p.seq >= self.ce_from;
            self.ce_from = self.ce_from.max(p.seq + 1);
        }
        match self.ecn {
            Ecn::Off => {}
            Ecn::Classic => {
                if p.has(flag::CWR) {
                    self.ce = false;
                }
                self.ce |= marked;
            }
            Ecn::Dctcp if p.len > 0 => {
                if marked != self.ce {
                    if self.pending > 0 {
                        self.flush(io, t);
                    }
                    self.ce = marked;
                    now_ack = t.ecn_change_ack;
                }
                self.prior = self.next;
            }
            Ecn::Dctcp => {}
        }
        // the earliest segment not acknowledged, in its latest copy (RFC 7323 4.3)
        if self.echo.is_none() || p.seq <= self.acked {
            self.echo = Some((p.ts, p.hop, io.now - io.held));
        }
        let quick = self.half != NO_HALF && self.interact(io, t, p);
        if p.has(flag::FIN) {
            self.fin_at = Some(end - 1);
        }
        now_ack |= t.cwr_ack && p.has(flag::CWR) || self.ack_marked && marked;
        // what comes again leaves the window alone, and without SACK so does what arrives out of order: else
        // its ACKs would be no duplicates
        let fresh = end > self.next && self.ooo.find(p.seq).is_none_or(|held| end > held.1);
        let grows = t.window_growth && p.len > 0 && fresh && (t.sack || p.seq <= self.next);
        if grows && self.window < t.receive_buffer / 2 {
            self.window = (self.window + 2 * t.mss as u64).min(t.receive_buffer / 2);
            self.quick |= 1;
        }
        let measured = io.measured();
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
                self.release(io, t, p.seq, end);
            }
            if self.ooo.find(p.seq).is_some_and(|held| end <= held.1) {
                self.came_again(t, p.seq, end);
            }
            self.ooo.add(p.seq, end, |_, _| {});
            self.note_kept(measured);
            self.remember(p.seq);
        } else {
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
            now_ack |= whole && (had_gap || t.push_ack && p.has(flag::PSH));
            now_ack |= !whole && self.next - self.acked > t.mss as u64;
            let fresh = self.delivered() - before;
            self.read(io.now);
            self.unread += if self.read_rate == Rate::INFINITE { 0 } else { fresh };
            if fresh > 0 {
                self.fresh_at = io.now;
            }
            let whole = self.fin_at.unwrap_or(self.size);
            if self.complete.is_none() && self.next >= whole {
                // a FIN may come long after the last byte
                self.complete = Some(self.fresh_at.max(io.net.flow(self.flow).start.0));
                io.announce(self.flow, Done::Received);
            }
            self.pending += 1;
        }
        if measured {
            // bytes count when they first arrive, in order or not: a hole filled late brings no
            // burst of old bytes with it, and goodput never exceeds the line
            self.delivered_m += self.counted() - held;
        }
        if self.quick > 0 && (self.half == NO_HALF || quick) {
            self.quick -= u32::from(self.half == NO_HALF);
            now_ack = true;
        }
        if !now_ack && !self.ooo.is_empty() {
            now_ack = !t.sack_compression || !t.sack || self.is_not_compressed(io);
            if !now_ack {
                return;
            }
        }
        if now_ack || self.pending >= self.delayed_ack || p.has(flag::FIN) {
            let fin = self.fin_at.is_some_and(|f| self.next > f);
            if fin {
                if t.fin_with_data && p.len > 0 && (now_ack || self.pending >= self.delayed_ack) {
                    self.acknowledge(io, 0, t.ack_size);
                }
                self.acknowledge(io, flag::FIN, t.ack_size);
            } else {
                self.acknowledge(io, 0, t.ack_size);
                if self.half != NO_HALF {
                    self.spend_quick(io);
                }
            }
        } else {
            let half = io.halves.get(self.half as usize);
            let wait = half.map_or(t.delayed_ack_timeout.0, |half| half.ack_wait(t));
            let soon = half.is_some() && t.adaptive_ack;
            if soon && self.ack_at <= fires_at(t.timer_tick.0, io.now, wait / 4) {
                self.acknowledge(io, 0, t.ack_size);
                self.spend_quick(io);
            } else {
                let at = self.ack_at.min(fires_at(t.timer_tick.0, io.now, wait));
                if t.last_set_first && at != self.slot {
                    let turns = &mut io.hosts[self.ip.host as usize].turns;
                    turns.settings += 1;
                    (self.slot, self.setting) = (at, turns.settings);
                }
                self.acknowledge_at(io, at);
            }
        }
    }

    fn acknowledge_at<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, at: u64) {
        self.ack_at = at;
        if self.ack_timer_at > at {
            self.ack_timer_at = at;
            io.timer(at, TimerKind::DelayedAck, self.flow);
        }
    }

    /// Whether a segment beyond a hole is acknowledged at once although SACKs are compressed: the first
    /// three after the edge has moved are, and one after 44 that waited.
    fn is_not_compressed<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) -> bool {
        if self.compressed >= COMPRESSED_AT_MOST {
            return true;
        }
        if self.stuck_at != self.next {
            (self.stuck_at, self.duplicates) = (self.next, 0);
        }
        if self.duplicates < 3 {
            self.duplicates += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed == 1 {
            let rtt = io.halves.get(self.half as usize).map_or(self.handshake_rtt, |half| half.srtt);
            let at = io.now + (rtt / 20).min(COMPRESSION_DELAY);
            self.acknowledge_at(io, at + COMPRESSION_SLACK);
            io.hosts[self.ip.host as usize].turns.compressed.push((at, self.flow));
        }
        false
    }

    /// No SACKs wait any more.
    #[inline]
    fn uncompress<O, R>(&mut self, io: &mut Io<O, R>) {
        if self.compressed > 0 {
            self.compressed = 0;
            io.hosts[self.ip.host as usize].turns.compressed.retain(|timer| timer.1 != self.flow);
        }
    }

    /// SACKs that wait go out before a segment begins a third block, or adds to a later one.
    fn release<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec, seq: u64, end: u64) {
        let blocks = self.blocks().sack;
        let count = blocks.iter().take_while(|b| b.0 < b.1).count();
        let place = blocks[..count].iter().position(|b| b.0 <= end && seq <= b.1).unwrap_or(count);
        if place >= 2 {
            self.acknowledge(io, 0, t.ack_size);
        }
    }

    /// The CE state changes while segments wait for an ACK.
    fn flush<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        match t.ecn_flush {
            Flush::Pending => self.acknowledge(io, 0, t.ack_size),
            Flush::Prior => {
                let (next, echo) = (self.next, self.echo);
                self.next = self.prior;
                self.acknowledge(io, 0, t.ack_size);
                (self.next, self.echo) = (next, echo);
            }
        }
    }

    /// The application has read since the last look.
    fn read(&mut self, now: u64) {
        if self.unread > 0 {
            let bits = (now - self.read_at) as u128 * self.read_rate.0 as u128 / 1_000_000_000_000;
            let bytes = (bits / 8) as u64;
            if bytes >= self.unread {
                self.unread = 0;
                self.read_at = now;
            } else {
                self.unread -= bytes;
                // keep the remainder of a byte for the next look
                self.read_at += self.read_rate.serialize(bytes).0;
            }
        } else {
            self.read_at = now;
        }
    }

    /// The window offered now, bytes: the buffer less what the application has not read (bytes
    /// beyond a hole lie inside the window), in units of the scale, never below what was offered
    /// before.
    fn offer(&mut self, t: &TransportSpec) -> u32 {
        let free = t.receive_buffer.saturating_sub(self.unread).min(self.window);
        let wnd = (free >> self.scale).min(UNSCALED) << self.scale;
        // receiver silly-window avoidance: move the edge by a segment or half the buffer at least
        let right = self.next + wnd;
        let step = (t.mss as u64).min(t.receive_buffer / 2);
        if right < self.edge || (wnd < t.receive_buffer / 2 && right < self.edge + step) {
            return self.edge.saturating_sub(self.next) as u32;
        }
        self.edge = right;
        wnd as u32
    }

    fn acknowledge<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, extra: u16, size: u32) {
        let t = io.net.transport(self.transport);
        if self.read_rate != Rate::INFINITE {
            self.read(io.now);
        }
        // the window field of a SYN is not scaled (RFC 7323)
        let most = if extra & flag::SYN != 0 && !t.lone_syn { UNSCALED as u32 } else { u32::MAX };
        let wnd = self.offer(t).min(most);
        let (ts, hops, came) = self.echo.take().unwrap_or((io.now, 0, io.now));
        if self.half != NO_HALF {
            // data of the other half goes on echoing what was echoed last (RFC 7323 4.3, TS.Recent)
            let half = &mut io.halves[self.half as usize];
            (half.ext.ts, half.ext.hops, half.came) = (ts, hops, came);
        }
        let mut flags = self.base_flags | extra;
        let silent = if t.fin_with_data { flag::SYN | flag::FIN } else { flag::SYN };
        if self.ce && extra & silent == 0 {
            flags |= flag::ECE;
        }
        if t.ect_control && self.ecn == Ecn::Dctcp {
            flags |= flag::ECT;
        }
        let mut size = size;
        let mut ext = (t.sack && (!self.ooo.is_empty() || self.again.0 < self.again.1)).then(|| self.blocks());
        self.again = (0, 0);
        if t.sack_block > 0
            && extra == 0
            && let Some(ext) = &mut ext
        {
            size += lay_out(ext, t);
        }
        if self.half != NO_HALF && extra & flag::SYN != 0 {
            // the passive side takes its first RTT sample from the answer to this
            ext = Some(Ext { ts: io.now, ..Ext::default() });
        }
        if let Some(held) = self.telemetry.take() {
            ext.get_or_insert_default().telemetry = Some(held);
        }
        // how long the host has had what it acknowledges
        let host = if io.net.hosts_cost { io.now - came } else { 0 };
        let packet = Packet { seq: host, ts, wnd, aux: hops, ..self.answer(io, flags, size) };
        self.pending = 0;
        self.uncompress(io);
        self.acked = self.next;
        self.ack_at = NEVER;
        io.send(self.ip.host, &packet, ext.as_mut());
        self.watch_window(io, t);
    }

    /// `seq` arrived beyond a hole: its block comes first now, and counts once (RFC 2018 section 4).
    fn remember(&mut self, seq: u64) {
        let (start, end) = self.ooo.find(seq).unwrap_or((seq, seq + 1));
        let same = |at: u64| (start..end).contains(&at) || at < self.next;
        let gone = self.recent.iter().position(|at| same(*at)).unwrap_or(self.recent.len() - 1);
        self.recent.copy_within(0..gone, 1);
        self.recent[0] = seq;
        for at in &mut self.recent[1..] {
            // a second block that grew into this one
            *at = if (start..end).contains(at) { 0 } else { *at };
        }
    }

    /// The next ACK is to report that these bytes came again (RFC 2883).
    fn came_again(&mut self, t: &TransportSpec, start: u64, end: u64) {
        if t.dsack && t.sack {
            self.again = (start, end);
        }
    }

    /// SACK blocks, the newest first, after what came again.
    fn blocks(&self) -> Ext {
        let mut ext = Ext::default();
        let mut n = 0;
        let mut recent = &self.recent[..];
        if self.again.0 < self.again.1 {
            ext.sack[0] = self.again;
            n = 1;
            recent = &recent[..3];
        }
        for at in recent.iter().copied() {
            if let Some(block) = self.ooo.find(at).filter(|_| at >= self.next)
                && !ext.sack[usize::from(self.again.0 < self.again.1)..n].contains(&block)
            {
                ext.sack[n] = block;
                n += 1;
            }
        }
        ext
    }

    /// With a slow reader and a shut window, plans the update that opens it again.
    fn watch_window<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, t: &TransportSpec) {
        if self.read_rate == Rate::INFINITE || self.update_at != NEVER {
            return;
        }
        let step = (t.mss as u64).min(t.receive_buffer / 2);
        if self.edge.saturating_sub(self.next) < step && self.unread > 0 {
            let need = step.min(self.unread);
            self.update_at = (self.read_at + self.read_rate.serialize(need).0).max(io.now + 1);
            io.timer(self.update_at, TimerKind::WindowUpdate, self.flow);
        }
    }

    /// The turn of its timer, or of that of another receiver's compressed SACKs, with which those of this one go.
    pub fn on_turn<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, turn: Turn) {
        if let Turn::Compressed(at) = turn {
            if self.compressed == 0 || self.ack_at != at + COMPRESSION_SLACK {
                return;
            }
            self.ack_at = io.now;
        }
        self.expire(io);
    }

    /// An ACK has waited long enough, unless something made it go at the last moment.
    fn expire<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>) {
        let t = io.net.transport(self.transport);
        if self.half != NO_HALF {
            self.collect(io);
        }
        if self.ack_at > io.now {
            return;
        }
        let missed = self.compressed == 0;
        if !missed {
            // a timer of the kernel that fires takes those along that are due but for their slack
            let now = io.now;
            let Turns { compressed, released, .. } = &mut io.hosts[self.ip.host as usize].turns;
            compressed.retain(|timer| {
                if timer.0 <= now {
                    released.push(*timer);
                }
                timer.0 > now
            });
        }
        self.acknowledge(io, 0, t.ack_size);
        if let Some(half) = io.halves.get_mut(self.half as usize) {
            if missed {
                half.miss(t);
            }
            self.spend_quick(io);
            self.publish(io);
        }
    }

    /// One of the receiver's timers fired.
    pub fn on_timer<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, kind: TimerKind) {
        let t = io.net.transport(self.transport);
        if self.half != NO_HALF {
            self.collect(io);
        }
        match kind {
            TimerKind::DelayedAck if self.ack_timer_at == io.now => {
                self.ack_timer_at = NEVER;
                let other = io.net.join(self.flow).map(|join| join.other);
                if self.ack_at <= io.now {
                    match other {
                        Some(other) if self.slot == io.now => {
                            self.slot = NEVER;
                            io.hosts[self.ip.host as usize].turns.due.push((self.setting, other, true));
                            io.timer(io.now, TimerKind::Turn, other);
                        }
                        _ => self.expire(io),
                    }
                } else if self.ack_at != NEVER {
                    self.ack_timer_at = self.ack_at;
                    io.timer(self.ack_at, TimerKind::DelayedAck, self.flow);
                }
            }
            TimerKind::SinkStop if !self.closed && self.fin_at.is_none_or(|f| self.next <= f) => {
                if self.ooo.is_empty() {
                    self.acknowledge(io, flag::FIN, t.syn_size);
                } else {
                    // unread data at a close: a reset (RFC 2525 section 2.17)
                    self.closed = true;
                    self.acknowledge(io, flag::RST, t.ack_size);
                }
            }
            TimerKind::WindowUpdate if self.update_at == io.now => {
                self.update_at = NEVER;
                if !self.closed {
                    let before = self.edge;
                    self.read(io.now);
                    self.offer(t);
                    if self.edge > before {
                        self.acknowledge(io, 0, t.ack_size);
                    } else {
                        self.watch_window(io, t);
                    }
                }
            }
            _ => {}
        }
    }
}
