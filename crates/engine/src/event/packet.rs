//! The packet that travels: 64 bytes, `Copy`, one cache line.

use crate::event::aside::Aside;
use crate::ids::{FlowId, LinkId, NodeId};
use incast_cc::Time;

/// The kind of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// TCP segment of the data direction: payload, a FIN, or a window probe.
    Data,
    /// UDP datagram.
    Datagram,
    /// Acknowledgement without data; with FIN the receiving application closes.
    Ack,
    /// Opens a connection; from the receiver it acknowledges, too.
    Syn,
    /// Aborts a connection.
    Rst,
    /// Congestion notification packet: data arrived marked.
    Cnp,
    /// Negative acknowledgement: a queue has trimmed the segment that begins at [`Packet::ack`].
    Nack,
    /// Pause frame of priority flow control, from a switch to the neighbour.
    Pause,
    /// A host tells the programs on a flow's way that it is idle, or no longer.
    Idle,
    /// Data of a transport that receivers drive, whose packets have numbers.
    Numbered,
    /// A receiver asks for data.
    Pull,
    /// A sender asks to be pulled.
    Rts,
    /// A sender asks what has come.
    Probe,
    /// A port tells the sender of data that it has a queue.
    Backlog,
    /// Numbered data, cut to its header, that goes back to its sender.
    Returned,
    /// The acknowledgement that data of a two-way connection carries, as the sender reads it. Never on a wire.
    Piggyback,
}

impl Kind {
    const ALL: [Kind; 16] = {
        use Kind::*;
        [
            Data, Datagram, Ack, Syn, Rst, Cnp, Nack, Pause, Idle, Numbered, Pull, Rts, Probe, Backlog, Returned,
            Piggyback,
        ]
    };
}

/// Flag bits of a [`Packet`]: first those of its headers, then what the simulator knows of it.
pub mod flag {
    /// Carries an acknowledgement.
    pub const ACK: u16 = 1;
    /// Ends a connection.
    pub const FIN: u16 = 1 << 1;
    /// ECN-capable transport.
    pub const ECT: u16 = 1 << 2;
    /// Congestion experienced.
    pub const CE: u16 = 1 << 3;
    /// ECN-Echo.
    pub const ECE: u16 = 1 << 4;
    /// Congestion window reduced.
    pub const CWR: u16 = 1 << 5;
    /// The sender has nothing more to say for now: a write ends here.
    pub const PSH: u16 = 1 << 6;
    /// Travels towards the flow's source.
    pub const REVERSE: u16 = 1 << 7;
    /// Sent inside the measured interval.
    pub const MEASURED: u16 = 1 << 8;
    /// A segment sent before.
    pub const RETX: u16 = 1 << 9;
    /// Follows the flow's prescribed path.
    pub const PATH: u16 = 1 << 10;
    /// Hosts and ports take the slow path with it, which can trace it, stamp it, or read it as a pause frame.
    pub const SLOW_PATH: u16 = 1 << 11;
    /// Belongs to a two-way connection.
    pub const DUPLEX: u16 = 1 << 12;
    /// Three bits: the traffic class that a program has given it, and one; 0 where its flow says which.
    pub const CLASS: u16 = 7 << 13;
}

/// Tie rank of packets of links that may deliver two at one instant: none is told apart.
pub const NO_TIE_RANK: u16 = u16::MAX;

/// IP bytes of the cause of a packet that a timer sent.
pub const TIMER: u16 = u16::MAX;

/// A packet on its way over `link`. Private fields are read and written by methods that say what they hold.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Arrival at the far end of `link`.
    pub time: Time,
    /// Data direction: sequence number. ACK direction: delay of the receiving host. Pause frame: what is asked.
    number: u64,
    /// Acknowledgement number: cumulative, also where data carries it; of a NACK, the segment that it reports.
    pub ack: u64,
    /// Data direction, pause frame: when it was sent. ACK direction: that time of the packet that it echoes.
    stamp: Time,
    /// Link it travels on.
    pub link: LinkId,
    /// Flow.
    pub flow: FlowId,
    /// Destination host.
    pub dst: NodeId,
    /// Advertised window, bytes. Data of a one-way flow: its [rank](Packet::rank).
    pub wnd: u32,
    /// Counts the IP packets of a flow and direction (fragments share theirs), in 16 bits as IP has it.
    pub id: u16,
    /// A run has one of the two: entropy ([`PathChoice::Entropy`](crate::spec::PathChoice::Entropy)), or tie ranks
    /// ([`Ties::Scheduled`](crate::spec::Ties::Scheduled)), which follow at the first port from the packet's cause.
    choice: u16,
    /// Upper 24 bits: index of the extension where the packet waits, or all ones. Lower 8 bits: kind.
    ext_kind: u32,
    /// IP bytes.
    pub size: u16,
    /// Payload bytes of the whole segment.
    pub len: u16,
    /// [`flag`] bits.
    pub flags: u16,
    /// Links crossed so far.
    pub hop: u8,
    /// Data direction: fragment number (lower half) and last fragment's (upper half). ACK direction: hops echoed.
    part: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

/// What a receiver says that drives its sender. Packets have numbers from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// Everything before this number has come.
    pub next: u32,
    /// The packet that it answers.
    pub number: u32,
    /// Which of 64 packets have come, where that is told.
    pub map: u64,
    /// What has been granted, or has come, so far.
    pub count: u32,
    /// When the packet was sent, ps, or what else is returned.
    pub echo: u64,
}

const NO_EXT: u32 = 0xff_ffff << 8;

/// IP bytes of a packet that tells of an idle flow.
pub const IDLE_PACKET: u16 = 64;

/// Bytes of a pause frame on a wire without overhead; Ethernet's makes them 64 and what goes around a frame.
pub const PAUSE_FRAME: u16 = 46;

impl Packet {
    /// A packet of the data direction of `flow` to host `dst`: `len` bytes of payload from `seq` on, sent `now`.
    #[inline(always)]
    pub fn forward(kind: Kind, flow: FlowId, dst: NodeId, seq: u64, len: u32, now: Time) -> Packet {
        Packet {
            time: Time::ZERO,
            number: seq,
            ack: 0,
            stamp: now,
            link: LinkId(0),
            flow,
            dst,
            wnd: 0,
            id: 0,
            choice: NO_TIE_RANK,
            ext_kind: NO_EXT | kind as u32,
            size: 0,
            len: len as u16,
            flags: 0,
            hop: 0,
            part: 0,
        }
    }

    /// A packet of the ACK direction of `flow` to its source `dst`, with acknowledgement number `ack`.
    #[inline(always)]
    pub fn reverse(kind: Kind, flow: FlowId, dst: NodeId, ack: u64) -> Packet {
        Packet { ack, flags: flag::REVERSE, ..Packet::forward(kind, flow, dst, 0, 0, Time::ZERO) }
    }

    /// An answer of a receiver that drives its sender.
    pub fn answer(kind: Kind, flow: FlowId, dst: NodeId, answer: &Answer) -> Packet {
        let Answer { next, number, map, count, echo } = *answer;
        let numbers = next as u64 | (number as u64) << 32;
        Packet { number: map, stamp: Time(echo), wnd: count, ..Packet::reverse(kind, flow, dst, numbers) }
    }

    /// Whether it asks for an acknowledgement at once, of numbered data.
    pub fn ask_for_ack(&mut self, asks: bool) {
        debug_assert!(self.is(Kind::Numbered));
        self.wnd = asks as u32;
    }

    /// See [`Packet::ask_for_ack`].
    pub fn asks_for_ack(&self) -> bool {
        self.wnd & 1 > 0
    }

    /// A queue cuts it to so many bytes. Numbered data knows where.
    pub fn cut(&mut self, size: u16) {
        self.size = size;
        if self.is(Kind::Numbered) {
            self.wnd |= (self.hop as u32 + 1) << 1;
        }
    }

    /// Links that numbered data had crossed when it was cut.
    pub fn cut_after(&self) -> Option<u32> {
        // the first bit says whether it asks for an ACK, the last whether it may go back
        (self.wnd << 1 >> 2).checked_sub(1)
    }

    /// What an answer says.
    pub fn answered(&self) -> Answer {
        debug_assert!(self.is_reverse());
        let (next, number) = (self.ack as u32, (self.ack >> 32) as u32);
        Answer { next, number, map: self.number, count: self.wnd, echo: self.stamp.0 }
    }

    /// Fragment `number` of it, of `size` IP bytes, when `last` is the last one's number.
    #[inline]
    pub fn fragment(&self, number: u32, last: u32, size: u32) -> Packet {
        Packet { size: size as u16, part: (number | last << 4) as u8, ..*self }
    }

    /// A frame of a switch to the neighbour that `of` came from: to pause `class`, or to resume it. It travels over one
    /// link and no further. Its flow is that of `of` in the other direction, of which the neighbour, if it is a host,
    /// has an end.
    pub fn pause_frame(of: &Packet, class: u8, pause: bool, now: Time) -> Packet {
        let reverse = !of.flags & flag::REVERSE;
        Packet {
            // no path has so many links
            hop: u8::MAX - 1,
            flags: flag::PATH | flag::SLOW_PATH | reverse,
            size: PAUSE_FRAME,
            ..Packet::forward(Kind::Pause, of.flow, of.dst, class as u64 | (pause as u64) << 8, 0, now)
        }
    }

    /// A packet on the way of packets like `of`, in whose flow and direction nothing is sent for now (`idle`), or
    /// something is again. Hosts take no notice of it.
    pub fn idle_packet(of: &Packet, idle: bool, now: Time) -> Packet {
        let number = if of.is_reverse() { 0 } else { of.number };
        Packet {
            flags: of.flags & (flag::REVERSE | flag::PATH),
            size: IDLE_PACKET,
            id: of.id,
            choice: of.choice,
            // numbers tell which connection of the flow it is
            ack: of.ack,
            part: (idle as u8) << 4,
            ..Packet::forward(Kind::Idle, of.flow, of.dst, number, 0, now)
        }
    }

    /// Whether a flow is idle from here on, by a packet that tells.
    pub fn is_idle(&self) -> bool {
        debug_assert!(self.is(Kind::Idle));
        self.part > 0
    }

    /// Adds to its sequence number, if it has one, and to its acknowledgement number, modulo 2^64.
    pub fn shift(&mut self, seq: u64, ack: u64) {
        let seq = if self.is_reverse() { 0 } else { seq };
        (self.number, self.ack) = (self.number.wrapping_add(seq), self.ack.wrapping_add(ack));
    }

    /// The acknowledgement that it carries beside data, as the sender reads it.
    pub fn piggyback(&self, ext: &Ext) -> Packet {
        let kind = if self.kind() == Kind::Data { Kind::Piggyback } else { self.kind() };
        let ext_kind = self.ext_kind & NO_EXT | kind as u32;
        Packet { number: ext.host.0, stamp: ext.ts, part: ext.hops, ext_kind, ..*self }
    }

    /// Its kind.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        Kind::ALL[(self.ext_kind as u8) as usize]
    }

    /// Whether it is of `kind`.
    #[inline(always)]
    pub fn is(&self, kind: Kind) -> bool {
        self.ext_kind as u8 == kind as u8
    }

    /// Whether all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Whether it travels towards the flow's source.
    #[inline(always)]
    pub fn is_reverse(&self) -> bool {
        self.has(flag::REVERSE)
    }

    /// Sequence number of the first payload byte.
    #[inline(always)]
    pub fn seq(&self) -> u64 {
        debug_assert!(!self.is_reverse() && !self.is(Kind::Pause));
        self.number
    }

    /// When the sending IP layer sent it; a pause frame: when the switch asked.
    #[inline(always)]
    pub fn sent_at(&self) -> Time {
        debug_assert!(!self.is_reverse() || self.is(Kind::Pause));
        self.stamp
    }

    /// It leaves its host `now`.
    #[inline]
    pub fn set_sent_at(&mut self, now: Time) {
        self.stamp = now;
    }

    /// Fragment number, and the last fragment's.
    #[inline(always)]
    pub fn part(&self) -> (u8, u8) {
        debug_assert!(!self.is_reverse());
        (self.part & 15, self.part >> 4)
    }

    /// Echo of the acknowledged segment: it was sent at `ts`, came over `hops` links, and has been in the host for
    /// `delay`.
    #[inline(always)]
    pub fn set_echo(&mut self, ts: Time, hops: u8, delay: Time) {
        (self.stamp, self.part, self.number) = (ts, hops, delay.0);
    }

    /// When what is acknowledged was sent.
    #[inline(always)]
    pub fn echo(&self) -> Time {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        self.stamp
    }

    /// Links that what is acknowledged crossed.
    #[inline(always)]
    pub fn echoed_hops(&self) -> u8 {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        self.part
    }

    /// How long the host that answers has had it: what is acknowledged, and the answer.
    #[inline(always)]
    pub fn host_delay(&self) -> Time {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        Time(self.number)
    }

    /// Its host takes so much longer.
    #[inline]
    pub fn add_host_delay(&mut self, took: Time) {
        debug_assert!(self.is_reverse());
        self.number += took.0;
    }

    /// Class that a pause frame is about.
    pub fn paused_class(&self) -> u8 {
        debug_assert!(self.is(Kind::Pause));
        self.number as u8
    }

    /// Whether a pause frame pauses its class; else it resumes it.
    pub fn pauses(&self) -> bool {
        debug_assert!(self.is(Kind::Pause));
        self.number >> 8 > 0
    }

    /// Identity of a packet or fragment in its flow and direction, for random numbers: number, part, time.
    #[inline(always)]
    pub fn identity(&self) -> (u16, u8, Time) {
        (self.id, self.part, self.stamp)
    }

    /// Entropy: what switches hash to choose among next hops. An ACK has that of the data packet that came last.
    #[inline]
    pub fn entropy(&self) -> u16 {
        self.choice
    }

    /// Sets the entropy.
    #[inline]
    pub fn set_entropy(&mut self, entropy: u16) {
        self.choice = entropy;
    }

    /// Tie rank among those that arrive together, the least first, once a port has sent it.
    #[inline]
    pub fn tie_rank(&self) -> u16 {
        self.choice
    }

    /// A port has sent it with this tie rank.
    #[inline]
    pub fn set_tie_rank(&mut self, rank: u16) {
        self.choice = rank;
    }

    /// IP bytes of the packet that it answers, or [`TIMER`], until a port has sent it.
    #[inline]
    pub fn cause(&self) -> u16 {
        self.choice
    }

    /// Sets what it answers.
    #[inline]
    pub fn set_cause(&mut self, bytes: u16) {
        self.choice = bytes;
    }

    /// Index of its extension where it waits, if it has one.
    #[inline(always)]
    pub fn ext(&self) -> Option<u32> {
        (self.ext_kind < NO_EXT).then_some(self.ext_kind >> 8)
    }

    /// Where it waits its extension is number `index`. A packet without an extension has none from the beginning.
    #[inline]
    pub fn set_ext(&mut self, index: usize) {
        assert!(index < (NO_EXT >> 8) as usize, "extensions that wait in one place have numbers of 24 bits");
        self.ext_kind = self.ext_kind & !NO_EXT | (index as u32) << 8;
    }

    /// A queue has cut it to its header: less is left than it carried.
    #[inline]
    pub fn is_trimmed(&self) -> bool {
        self.len > self.size && self.part == 0
    }
}

/// The sequence number nearest to `number` that has these lowest 32 bits.
pub fn nearest(number: u64, low: u32) -> u64 {
    number.wrapping_add_signed(low.wrapping_sub(number as u32) as i32 as i64)
}

/// Up to four SACK blocks `[start, end)`, newest first. Their numbers have 32 bits, as on the wire (RFC 2018), and
/// stand for those nearest to the packet's acknowledgement number: no window is larger than 2^30 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocks([(u32, u32); 4]);

impl Blocks {
    /// These, of which empty ones have `start == end`.
    pub fn of(blocks: &[(u64, u64); 4]) -> Blocks {
        Blocks(blocks.map(|(start, end)| (start as u32, end as u32)))
    }

    /// The blocks of a packet that acknowledges up to `ack`.
    pub fn near(&self, ack: u64) -> [(u64, u64); 4] {
        self.0.map(|(start, end)| if start == end { (0, 0) } else { (nearest(ack, start), nearest(ack, end)) })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|(start, end)| start != end).count()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].0 == self.0[0].1
    }

    /// Keeps the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.0[count..].fill((0, 0));
    }
}

/// Fields that only few packets carry: SACK blocks, and the second time stamp of packets of a two-way connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ext {
    /// Blocks.
    pub sack: Blocks,
    /// Data that acknowledges: the time stamp it echoes. SYN-ACK: when it was sent.
    pub ts: Time,
    /// Data that acknowledges: links that the packet it echoes crossed.
    pub hops: u8,
    /// Data that acknowledges: how long the receiving host has had the packet it echoes; 0 where hosts cost
    /// nothing.
    pub host: Time,
    /// Pure ACK: low bits of its own number, one more than SEQ, where [`WindowUpdate`](crate::spec::WindowUpdate) asks.
    pub number: u32,
    /// For controllers that ask for it; aside, since all who do not carry this too.
    pub aside: Option<Box<Aside>>,
}

const _: () = assert!(size_of::<Ext>() <= 64);
