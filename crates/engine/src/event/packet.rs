//! The packet that travels: 64 bytes, `Copy`, one cache line.

use crate::event::metadata::Metadata;
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
    /// Opens a connection. From the receiver: SYN-ACK.
    Syn,
    /// Aborts a connection.
    Rst,
    /// Congestion notification packet: marked data arrived.
    Cnp,
    /// Negative acknowledgement: a queue has trimmed the segment that begins at [`Packet::ack`].
    Nack,
    /// Pause frame of priority flow control, from a switch to the neighbour.
    Pause,
    /// Tells the programs on a flow's path that the flow has become idle or active.
    Idle,
    /// Data of a transport that numbers packets.
    Numbered,
    /// Request for data, from a receiver.
    Pull,
    /// Request to be pulled, from a sender.
    Rts,
    /// Question of a sender which packets have arrived.
    Probe,
    /// Notice of a queue, from a port to the sender of data.
    Backlog,
    /// Numbered data, trimmed to its header, on its way back to its sender.
    Returned,
    /// Acknowledgement carried by data of a two-way connection, as the sender reads it. Never on a wire.
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

/// Flag bits of a [`Packet`]: first those of its headers, then metadata of the simulator.
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
    /// Last packet of a write: the sender has nothing more to send for now.
    pub const PSH: u16 = 1 << 6;
    /// Travels towards the flow's source.
    pub const REVERSE: u16 = 1 << 7;
    /// Sent inside the measured interval.
    pub const MEASURED: u16 = 1 << 8;
    /// A retransmission.
    pub const RETX: u16 = 1 << 9;
    /// Follows the flow's prescribed path.
    pub const PATH: u16 = 1 << 10;
    /// Takes the slow path of hosts and ports, which can trace it, stamp it, or read it as a pause frame.
    pub const SLOW_PATH: u16 = 1 << 11;
    /// Belongs to a two-way connection.
    pub const DUPLEX: u16 = 1 << 12;
    /// Three bits: one plus the traffic class assigned by a program; 0: the class of its flow.
    pub const CLASS: u16 = 7 << 13;
}

/// Tie rank on links that may deliver two packets at one instant: all rank the same.
pub const NO_TIE_RANK: u16 = u16::MAX;

/// IP bytes of the cause of a packet sent by a timer.
pub const TIMER: u16 = u16::MAX;

/// A packet on its way over `link`. Each private field is accessed by the methods of its meanings.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// Arrival at the far end of `link`.
    pub time: Time,
    /// Data direction: sequence number. ACK direction: delay of the receiving host. Pause frame: the request.
    number: u64,
    /// Cumulative acknowledgement number, also of data that carries one. NACK: the reported segment.
    pub ack: u64,
    /// Data direction, pause frame: send time. ACK direction: send time of the echoed packet.
    stamp: Time,
    /// Link it travels on.
    pub link: LinkId,
    /// Flow.
    pub flow: FlowId,
    /// Destination host.
    pub dst: NodeId,
    /// Advertised window, bytes. Data of a one-way flow: its [rank](Packet::rank).
    pub wnd: u32,
    /// Number of the IP packet in its flow and direction, in 16 bits as in IP. Fragments share it.
    pub id: u16,
    /// A run has one of the two: entropy ([`PathChoice::Entropy`](crate::spec::PathChoice::Entropy)), or tie ranks
    /// ([`Ties::Scheduled`](crate::spec::Ties::Scheduled)), derived from the packet's cause at the first port.
    choice: u16,
    /// Upper 24 bits: index of the extension in the queue that holds the packet, or all ones. Lower 8 bits: kind.
    ext_kind: u32,
    /// IP bytes.
    pub size: u16,
    /// Payload bytes of the whole segment.
    pub len: u16,
    /// [`flag`] bits.
    pub flags: u16,
    /// Links crossed so far.
    pub hop: u8,
    /// Data direction: fragment number (lower half) and last fragment number (upper half). ACK direction: hops echoed.
    part: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

/// Header words of an answer. The sender's transport, or the program that asks, gives them their meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Words {
    /// Halves of [`Packet::ack`], the lower one first.
    pub ack: [u32; 2],
    /// Word of the sequence number.
    pub number: u64,
    /// Word of the advertised window.
    pub wnd: u32,
    /// Word of the time stamp.
    pub stamp: u64,
}

const NO_EXT: u32 = 0xff_ffff << 8;

/// IP bytes of a packet that reports an idle flow.
pub const IDLE_PACKET: u16 = 64;

/// Bytes of a pause frame on a wire without overhead. With Ethernet's overhead they make the minimum frame of 64 bytes.
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

    /// A packet of the ACK direction with these header words.
    pub fn answer(kind: Kind, flow: FlowId, dst: NodeId, words: Words) -> Packet {
        let Words { ack: [low, high], number, wnd, stamp } = words;
        let ack = low as u64 | (high as u64) << 32;
        Packet { number, stamp: Time(stamp), wnd, ..Packet::reverse(kind, flow, dst, ack) }
    }

    /// Sets whether numbered data asks for an immediate acknowledgement.
    pub fn ask_for_ack(&mut self, asks: bool) {
        debug_assert!(self.is(Kind::Numbered));
        self.wnd = asks as u32;
    }

    /// See [`Packet::ask_for_ack`].
    pub fn asks_for_ack(&self) -> bool {
        self.wnd & 1 > 0
    }

    /// Trims the packet to `size` bytes. Numbered data records the hop.
    pub fn trim(&mut self, size: u16) {
        self.size = size;
        if self.is(Kind::Numbered) {
            self.wnd |= (self.hop as u32 + 1) << 1;
        }
    }

    /// Links that numbered data had crossed when it was trimmed.
    pub fn trimmed_after(&self) -> Option<u32> {
        // lowest bit: asks for an ACK; highest bit: may be returned
        (self.wnd << 1 >> 2).checked_sub(1)
    }

    /// Header words of an answer.
    pub fn words(&self) -> Words {
        debug_assert!(self.is_reverse());
        let ack = [self.ack as u32, (self.ack >> 32) as u32];
        Words { ack, number: self.number, wnd: self.wnd, stamp: self.stamp.0 }
    }

    /// Fragment `number` of the packet, with `size` IP bytes. `last`: number of the last fragment.
    #[inline]
    pub fn fragment(&self, number: u32, last: u32, size: u32) -> Packet {
        Packet { size: size as u16, part: (number | last << 4) as u8, ..*self }
    }

    /// A frame that pauses or resumes `class`, from a switch to the neighbour that sent `of`. It crosses one link only.
    /// Its flow is that of `of` in the other direction, so a neighbour that is a host has an end of it.
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

    /// A packet that follows the path of packets like `of` and reports that their flow and direction is idle, or active
    /// again. Hosts ignore it.
    pub fn idle_packet(of: &Packet, idle: bool, now: Time) -> Packet {
        let number = if of.is_reverse() { 0 } else { of.number };
        Packet {
            flags: of.flags & (flag::REVERSE | flag::PATH),
            size: IDLE_PACKET,
            id: of.id,
            choice: of.choice,
            // numbers identify the connection of the flow
            ack: of.ack,
            part: (idle as u8) << 4,
            ..Packet::forward(Kind::Idle, of.flow, of.dst, number, 0, now)
        }
    }

    /// True if the packet reports its flow as idle, false if as active.
    pub fn is_idle(&self) -> bool {
        debug_assert!(self.is(Kind::Idle));
        self.part > 0
    }

    /// Adds to the sequence number, if there is one, and to the acknowledgement number, modulo 2^64.
    pub fn shift(&mut self, seq: u64, ack: u64) {
        let seq = if self.is_reverse() { 0 } else { seq };
        (self.number, self.ack) = (self.number.wrapping_add(seq), self.ack.wrapping_add(ack));
    }

    /// The acknowledgement carried beside data, as the sender reads it.
    pub fn piggyback(&self, ext: &Ext) -> Packet {
        let kind = if self.kind() == Kind::Data { Kind::Piggyback } else { self.kind() };
        let ext_kind = self.ext_kind & NO_EXT | kind as u32;
        Packet { number: ext.host.0, stamp: ext.ts, part: ext.hops, ext_kind, ..*self }
    }

    /// Kind of the packet.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        Kind::ALL[(self.ext_kind as u8) as usize]
    }

    /// True if the packet is of `kind`.
    #[inline(always)]
    pub fn is(&self, kind: Kind) -> bool {
        self.ext_kind as u8 == kind as u8
    }

    /// True if all of `flags` are set.
    #[inline]
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// True if the packet travels towards the flow's source.
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

    /// Time at which the sending IP layer sent the packet. Pause frame: time of the switch's request.
    #[inline(always)]
    pub fn sent_at(&self) -> Time {
        debug_assert!(!self.is_reverse() || self.is(Kind::Pause));
        self.stamp
    }

    /// Records that the packet leaves its host `now`.
    #[inline]
    pub fn set_sent_at(&mut self, now: Time) {
        self.stamp = now;
    }

    /// Fragment number, and number of the last fragment.
    #[inline(always)]
    pub fn part(&self) -> (u8, u8) {
        debug_assert!(!self.is_reverse());
        (self.part & 15, self.part >> 4)
    }

    /// Sets the echo of the acknowledged segment: send time `ts`, number of links `hops`, `delay` in the host.
    #[inline(always)]
    pub fn set_echo(&mut self, ts: Time, hops: u8, delay: Time) {
        (self.stamp, self.part, self.number) = (ts, hops, delay.0);
    }

    /// Send time of the acknowledged packet.
    #[inline(always)]
    pub fn echo(&self) -> Time {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        self.stamp
    }

    /// Number of links that the acknowledged packet crossed.
    #[inline(always)]
    pub fn echoed_hops(&self) -> u8 {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        self.part
    }

    /// Delay in the answering host, of the acknowledged packet and of the answer.
    #[inline(always)]
    pub fn host_delay(&self) -> Time {
        debug_assert!(self.is_reverse() || self.has(flag::ACK));
        Time(self.number)
    }

    /// Adds to the delay of the host.
    #[inline]
    pub fn add_host_delay(&mut self, took: Time) {
        debug_assert!(self.is_reverse());
        self.number += took.0;
    }

    /// Class of a pause frame.
    pub fn paused_class(&self) -> u8 {
        debug_assert!(self.is(Kind::Pause));
        self.number as u8
    }

    /// True if a pause frame pauses its class, false if it resumes it.
    pub fn pauses(&self) -> bool {
        debug_assert!(self.is(Kind::Pause));
        self.number >> 8 > 0
    }

    /// Identity of a packet or fragment in its flow and direction, for random numbers: number, part, send time.
    #[inline(always)]
    pub fn identity(&self) -> (u16, u8, Time) {
        (self.id, self.part, self.stamp)
    }

    /// Entropy that switches hash to choose a next hop. An ACK has that of the latest data packet.
    #[inline]
    pub fn entropy(&self) -> u16 {
        self.choice
    }

    /// Sets the entropy.
    #[inline]
    pub fn set_entropy(&mut self, entropy: u16) {
        self.choice = entropy;
    }

    /// Tie rank among packets that arrive together, lowest first. Set by the port that sends the packet.
    #[inline]
    pub fn tie_rank(&self) -> u16 {
        self.choice
    }

    /// Sets the tie rank, when a port sends the packet.
    #[inline]
    pub fn set_tie_rank(&mut self, rank: u16) {
        self.choice = rank;
    }

    /// IP bytes of the packet that caused this one, or [`TIMER`]. Replaced by the tie rank at the first port.
    #[inline]
    pub fn cause(&self) -> u16 {
        self.choice
    }

    /// Sets the size of the cause.
    #[inline]
    pub fn set_cause(&mut self, bytes: u16) {
        self.choice = bytes;
    }

    /// Index of the extension in the queue that holds the packet, if it has one.
    #[inline(always)]
    pub fn ext(&self) -> Option<u32> {
        (self.ext_kind < NO_EXT).then_some(self.ext_kind >> 8)
    }

    /// Sets the index of the extension in the queue that holds the packet. A packet without an extension is created so.
    #[inline]
    pub fn set_ext(&mut self, index: usize) {
        assert!(index < (NO_EXT >> 8) as usize, "extensions that wait in one place have numbers of 24 bits");
        self.ext_kind = self.ext_kind & !NO_EXT | (index as u32) << 8;
    }

    /// True if a queue has trimmed the packet to its header: fewer bytes are left than its payload had.
    #[inline]
    pub fn is_trimmed(&self) -> bool {
        self.len > self.size && self.part == 0
    }
}

/// The sequence number nearest to `number` whose lowest 32 bits are `low`.
pub fn nearest(number: u64, low: u32) -> u64 {
    number.wrapping_add_signed(low.wrapping_sub(number as u32) as i32 as i64)
}

/// Up to four SACK blocks `[start, end)`, newest first. Numbers have 32 bits, as on the wire (RFC 2018), and mean those
/// nearest to the packet's acknowledgement number: no window exceeds 2^30 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocks([(u32, u32); 4]);

impl Blocks {
    /// Packs four blocks. Empty ones have `start == end`.
    pub fn of(blocks: &[(u64, u64); 4]) -> Blocks {
        Blocks(blocks.map(|(start, end)| (start as u32, end as u32)))
    }

    /// Unpacks the blocks of a packet that acknowledges up to `ack`.
    pub fn near(&self, ack: u64) -> [(u64, u64); 4] {
        self.0.map(|(start, end)| if start == end { (0, 0) } else { (nearest(ack, start), nearest(ack, end)) })
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|(start, end)| start != end).count()
    }

    /// True if there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].0 == self.0[0].1
    }

    /// Keeps the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.0[count..].fill((0, 0));
    }
}

/// Fields that few packets carry: SACK blocks, and the second time stamp of packets of a two-way connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ext {
    /// SACK blocks.
    pub sack: Blocks,
    /// Data with an acknowledgement: the echoed time stamp. SYN-ACK: send time.
    pub ts: Time,
    /// Data with an acknowledgement: links crossed by the echoed packet.
    pub hops: u8,
    /// Data with an acknowledgement: delay of the echoed packet in the receiving host; 0 where hosts have no delay.
    pub host: Time,
    /// Pure ACK: low bits of its own number, one more than SEQ, if [`WindowUpdate`](crate::spec::WindowUpdate) uses it.
    pub number: u32,
    /// True for a packet of a radio cell that its host has received before.
    pub again: bool,
    /// Metadata for controllers that use it. Boxed, so that other packets with an extension stay small.
    pub metadata: Option<Box<Metadata>>,
}

const _: () = assert!(size_of::<Ext>() <= 64);
