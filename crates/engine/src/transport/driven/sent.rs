//! Packets that have been sent, by their numbers: which are on the way, which wait to be sent again.

use incast_cc::Time;
use std::collections::{BTreeSet, VecDeque};

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// On its way, as far as is known.
    Flying,
    /// It waits to be sent again.
    Lost,
    /// It has arrived.
    Arrived,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it was sent last.
    pub at: Time,
    /// Payload, bytes.
    pub len: u16,
    /// How often it was sent.
    pub times: u8,
    /// It is the last of what was written.
    pub last: bool,
    /// Where it is.
    pub state: State,
}

/// The packets from the first that has not arrived on.
#[derive(Debug, Default)]
pub struct Outstanding {
    base: u32,
    packets: VecDeque<Sent>,
    lost: BTreeSet<u32>,
    /// Number and time of every sending, in that order; what has been sent again or has arrived since is left out when
    /// it comes to the front.
    order: VecDeque<(Time, u32)>,
}

impl Outstanding {
    /// The first packet that has not arrived.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The number of the next new packet.
    pub fn next(&self) -> u32 {
        self.base + self.packets.len() as u32
    }

    /// Nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// A packet that is outstanding.
    pub fn get(&self, number: u32) -> Option<&Sent> {
        self.packets.get(number.checked_sub(self.base)? as usize)
    }

    /// A new packet is sent. Its number.
    pub fn push(&mut self, now: Time, len: u32, last: bool) -> u32 {
        let number = self.next();
        self.packets.push_back(Sent { at: now, len: len as u16, times: 1, last, state: State::Flying });
        self.order.push_back((now, number));
        number
    }

    /// A new packet waits to be sent. Its number.
    pub fn wait(&mut self, now: Time, len: u32, last: bool) -> u32 {
        let number = self.next();
        self.packets.push_back(Sent { at: now, len: len as u16, times: 0, last, state: State::Lost });
        self.lost.insert(number);
        number
    }

    /// Sends this packet, the first time or once more, unless it has arrived. Whoever sends so does not ask for the
    /// [oldest](Outstanding::oldest).
    pub fn send(&mut self, now: Time, number: u32) -> Option<Sent> {
        let packet = self.packets.get_mut(number.checked_sub(self.base)? as usize)?;
        if packet.state == State::Lost {
            self.lost.remove(&number);
        }
        packet.times = packet.times.saturating_add(1);
        (packet.at, packet.state) = (now, State::Flying);
        Some(*packet)
    }

    /// Takes the first packet that waits to be sent again, which it is now.
    pub fn resend(&mut self, now: Time) -> Option<(u32, Sent)> {
        let number = *self.lost.first()?;
        self.resend_first(now, number);
        Some((number, self.packets[(number - self.base) as usize]))
    }

    /// Takes packet `number`, which waits to be sent again, before the others.
    fn resend_first(&mut self, now: Time, number: u32) {
        if self.lost.remove(&number) {
            let packet = &mut self.packets[(number - self.base) as usize];
            packet.times = packet.times.saturating_add(1);
            (packet.at, packet.state) = (now, State::Flying);
            self.order.push_back((now, number));
        }
    }

    /// A question is sent, unless the `last` one is on its way: that again where it was lost, or a new one. Its number,
    /// and whether it goes again.
    pub fn ask(&mut self, now: Time, last: Option<u32>) -> Option<(u32, bool)> {
        match last.and_then(|number| Some((number, self.get(number)?.state))) {
            Some((_, State::Flying)) => None,
            Some((number, State::Lost)) => {
                self.resend_first(now, number);
                Some((number, true))
            }
            _ => Some((self.push(now, 0, false), false)),
        }
    }

    /// The first packet that waits to be sent again.
    pub fn first_lost(&self) -> Option<Sent> {
        self.get(*self.lost.first()?).copied()
    }

    /// Its number.
    pub fn first_lost_number(&self) -> Option<u32> {
        self.lost.first().copied()
    }

    /// Packets that wait to be sent again.
    pub fn lost(&self) -> usize {
        self.lost.len()
    }

    /// Packets wait to be sent again.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// A packet has arrived. Where it was taken to be before, if that is news.
    pub fn arrived(&mut self, number: u32) -> Option<Sent> {
        let packet = self.packets.get_mut(number.checked_sub(self.base)? as usize)?;
        let before = *packet;
        packet.state = State::Arrived;
        self.lost.remove(&number);
        (before.state != State::Arrived).then_some(before)
    }

    /// A packet did not arrive: it is to be sent again. Whether that is news.
    pub fn lose(&mut self, number: u32) -> bool {
        let Some(packet) = number.checked_sub(self.base).and_then(|i| self.packets.get_mut(i as usize)) else {
            return false;
        };
        let news = packet.state == State::Flying;
        if news {
            packet.state = State::Lost;
            self.lost.insert(number);
        }
        news
    }

    /// All before `next` have arrived. Their bytes, as far as they were outstanding; `news` is told of each that was
    /// not known to have.
    pub fn arrived_before(&mut self, next: u32, mut news: impl FnMut(Sent)) -> u64 {
        let mut bytes = 0;
        while self.base < next
            && let Some(packet) = self.packets.pop_front()
        {
            if packet.state != State::Arrived {
                self.lost.remove(&self.base);
                news(packet);
            }
            bytes += packet.len as u64;
            self.base += 1;
        }
        bytes
    }

    /// The [oldest](Outstanding::oldest) is no longer among those, however long it is on its way.
    pub fn forget_oldest(&mut self) {
        if self.oldest().is_some() {
            self.order.pop_front();
        }
    }

    /// The packet that is on its way for the longest time, and since when.
    pub fn oldest(&mut self) -> Option<(Time, u32)> {
        while let Some((at, number)) = self.order.front().copied() {
            match self.get(number) {
                Some(packet) if packet.state == State::Flying && packet.at == at => return Some((at, number)),
                _ => self.order.pop_front(),
            };
        }
        None
    }
}
