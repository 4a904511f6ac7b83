//! Sent packets by number: outstanding ones, and ones to be retransmitted.

use incast_cc::Time;
use std::collections::{BTreeSet, VecDeque};

/// State of a sent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Outstanding.
    InFlight,
    /// To be retransmitted.
    Lost,
    /// Arrived.
    Arrived,
}

/// A sent packet.
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// Time of the last transmission.
    pub at: Time,
    /// Payload in bytes.
    pub len: u16,
    /// Number of transmissions.
    pub times: u8,
    /// Set if the packet is the last of what was written.
    pub last: bool,
    /// State of the packet.
    pub state: State,
}

/// Packets from the first that has not arrived on.
#[derive(Debug, Default)]
pub struct Outstanding {
    base: u32,
    packets: VecDeque<SentPacket>,
    lost: BTreeSet<u32>,
    /// Number and time of every transmission, in order. Entries of packets that were retransmitted or have arrived
    /// since are dropped at the front.
    order: VecDeque<(Time, u32)>,
    /// Set if nobody asks for the oldest packet: that order is not kept.
    unordered: bool,
}

impl Outstanding {
    /// Packets of a sender that never asks for the [oldest](Outstanding::oldest).
    pub fn unordered() -> Outstanding {
        Outstanding { unordered: true, ..Outstanding::default() }
    }

    /// Notes a transmission.
    #[inline]
    fn note(&mut self, now: Time, number: u32) {
        if !self.unordered {
            self.order.push_back((now, number));
        }
    }

    /// First packet that has not arrived.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Number of the next new packet.
    pub fn next(&self) -> u32 {
        self.base + self.packets.len() as u32
    }

    /// Returns whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns an outstanding packet.
    pub fn get(&self, number: u32) -> Option<&SentPacket> {
        self.packets.get(number.checked_sub(self.base)? as usize)
    }

    /// Adds a new packet that is sent now. Returns its number.
    pub fn push(&mut self, now: Time, len: u32, last: bool) -> u32 {
        let number = self.next();
        self.packets.push_back(SentPacket { at: now, len: len as u16, times: 1, last, state: State::InFlight });
        self.note(now, number);
        number
    }

    /// Adds a new packet that waits to be sent. Returns its number.
    pub fn push_waiting(&mut self, now: Time, len: u32, last: bool) -> u32 {
        let number = self.next();
        self.packets.push_back(SentPacket { at: now, len: len as u16, times: 0, last, state: State::Lost });
        self.lost.insert(number);
        number
    }

    /// Sends or retransmits this packet, unless its number is no longer outstanding. Not for senders that use
    /// [`Outstanding::oldest`].
    pub fn send(&mut self, now: Time, number: u32) -> Option<SentPacket> {
        let packet = self.packets.get_mut(number.checked_sub(self.base)? as usize)?;
        if packet.state == State::Lost {
            self.lost.remove(&number);
        }
        packet.times = packet.times.saturating_add(1);
        (packet.at, packet.state) = (now, State::InFlight);
        Some(*packet)
    }

    /// Takes the first packet to be retransmitted and marks it as sent.
    pub fn resend(&mut self, now: Time) -> Option<(u32, SentPacket)> {
        let number = *self.lost.first()?;
        self.resend_first(now, number);
        Some((number, self.packets[(number - self.base) as usize]))
    }

    /// Retransmits packet `number` before the others.
    fn resend_first(&mut self, now: Time, number: u32) {
        if self.lost.remove(&number) {
            let packet = &mut self.packets[(number - self.base) as usize];
            packet.times = packet.times.saturating_add(1);
            (packet.at, packet.state) = (now, State::InFlight);
            self.note(now, number);
        }
    }

    /// Sends a request, unless the `last` one is outstanding: repeats it if it was lost, else makes a new one. Returns
    /// its number, and whether it is a repetition.
    pub fn send_request(&mut self, now: Time, last: Option<u32>) -> Option<(u32, bool)> {
        match last.and_then(|number| Some((number, self.get(number)?.state))) {
            Some((_, State::InFlight)) => None,
            Some((number, State::Lost)) => {
                self.resend_first(now, number);
                Some((number, true))
            }
            _ => Some((self.push(now, 0, false), false)),
        }
    }

    /// First packet to be retransmitted.
    pub fn first_lost(&self) -> Option<SentPacket> {
        self.get(*self.lost.first()?).copied()
    }

    /// Number of the first packet to be retransmitted.
    pub fn first_lost_number(&self) -> Option<u32> {
        self.lost.first().copied()
    }

    /// Number of packets to be retransmitted.
    pub fn lost(&self) -> usize {
        self.lost.len()
    }

    /// Returns whether packets are to be retransmitted.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Marks a packet as arrived. Returns its former entry, if it had not arrived before.
    pub fn mark_arrived(&mut self, number: u32) -> Option<SentPacket> {
        let packet = self.packets.get_mut(number.checked_sub(self.base)? as usize)?;
        let before = *packet;
        packet.state = State::Arrived;
        self.lost.remove(&number);
        (before.state != State::Arrived).then_some(before)
    }

    /// Marks a packet for retransmission. Returns whether it was outstanding.
    pub fn mark_lost(&mut self, number: u32) -> bool {
        let Some(packet) = number.checked_sub(self.base).and_then(|i| self.packets.get_mut(i as usize)) else {
            return false;
        };
        let was_in_flight = packet.state == State::InFlight;
        if was_in_flight {
            packet.state = State::Lost;
            self.lost.insert(number);
        }
        was_in_flight
    }

    /// Removes all packets before `next`, which have arrived. Returns their bytes; calls `newly_acked` for each packet
    /// not known to have arrived.
    pub fn acknowledge_before(&mut self, next: u32, mut newly_acked: impl FnMut(SentPacket)) -> u64 {
        let mut bytes = 0;
        while self.base < next
            && let Some(packet) = self.packets.pop_front()
        {
            if packet.state != State::Arrived {
                self.lost.remove(&self.base);
                newly_acked(packet);
            }
            bytes += packet.len as u64;
            self.base += 1;
        }
        bytes
    }

    /// Drops the [`Outstanding::oldest`] packet from the timeout order.
    pub fn forget_oldest(&mut self) {
        if self.oldest().is_some() {
            self.order.pop_front();
        }
    }

    /// Packet that has been outstanding for the longest time, with its time.
    pub fn oldest(&mut self) -> Option<(Time, u32)> {
        while let Some((at, number)) = self.order.front().copied() {
            match self.get(number) {
                Some(packet) if packet.state == State::InFlight && packet.at == at => return Some((at, number)),
                _ => self.order.pop_front(),
            };
        }
        None
    }
}
