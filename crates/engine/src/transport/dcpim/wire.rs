//! Messages between hosts that match, and the packets that carry them. Tokens are those of
//! [`tokens::wire`](crate::transport::packet::tokens::wire).

use crate::event::packet::{Kind, Packet};
use crate::transport::packet::message::Encoded;

/// Channels that one host asks another for, grants it, accepts from it or takes back from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    /// Low bits of the number of the epoch.
    pub epoch: u32,
    /// Round, from 0.
    pub round: u8,
    /// Number of channels.
    pub channels: u8,
    /// Number of channels among them that may be used at once.
    pub prompt: u8,
    /// Missing packets of the shortest message, in requests and grants.
    pub left: u32,
}

impl Channels {
    /// Numbers of one word, below `tag`.
    fn word(self, tag: u8) -> u32 {
        u32::from_be_bytes([tag, self.round, self.channels, self.prompt])
    }

    /// Tag and numbers of a word.
    fn of_word(word: u32, epoch: u32, left: u32) -> (u8, Channels) {
        let [tag, round, channels, prompt] = word.to_be_bytes();
        (tag, Channels { epoch, round, channels, prompt, left })
    }
}

/// Message of a receiver's host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// Channels that the receiver could use.
    Request(Channels),
    /// Channels that it takes of those granted.
    Accept(Channels),
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        let (tag, channels) = match self {
            ToSender::Request(channels) => (0, channels),
            ToSender::Accept(channels) => (1, channels),
        };
        let Channels { epoch, left, .. } = channels;
        Encoded { number: epoch, map: left as u64, count: channels.word(tag), ..Encoded::of(Kind::Rts) }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        let (tag, channels) = Channels::of_word(m.count, m.number, m.map as u32);
        match (m.kind, tag) {
            (Kind::Rts, 0) => Some(ToSender::Request(channels)),
            (Kind::Rts, _) => Some(ToSender::Accept(channels)),
            _ => None,
        }
    }
}

/// Message of a sender's host, in a packet whose number is the epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToReceiver {
    /// Channels granted.
    Grant(Channels),
    /// Accepted channels that the sender no longer had.
    TakeBack(Channels),
}

impl ToReceiver {
    /// Kind of the packets.
    pub const KIND: Kind = Kind::Probe;

    /// Number of the epoch.
    pub fn epoch(self) -> u32 {
        let (ToReceiver::Grant(channels) | ToReceiver::TakeBack(channels)) = self;
        channels.epoch
    }

    /// Writes the message to a packet.
    pub fn write(self, packet: &mut Packet) {
        let (tag, channels) = match self {
            ToReceiver::Grant(channels) => (0, channels),
            ToReceiver::TakeBack(channels) => (1, channels),
        };
        (packet.wnd, packet.ack) = (channels.word(tag), channels.left as u64);
    }

    /// Message of a packet.
    pub fn read(p: &Packet) -> Option<ToReceiver> {
        let (tag, channels) = Channels::of_word(p.wnd, p.seq() as u32, p.ack as u32);
        match (p.is(ToReceiver::KIND), tag) {
            (true, 0) => Some(ToReceiver::Grant(channels)),
            (true, _) => Some(ToReceiver::TakeBack(channels)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, NodeId};
    use incast_cc::Time;

    #[test]
    fn messages_come_back_as_they_went() {
        let channels = Channels { epoch: u32::MAX - 1, round: 63, channels: 64, prompt: 2, left: 1 << 31 };
        for message in [ToSender::Request(channels), ToSender::Accept(channels)] {
            let packet = Packet::answer(Kind::Rts, FlowId(3), NodeId(4), message.encode().words(77));
            assert_eq!(ToSender::decode(&packet), Some(message));
        }
        for message in [ToReceiver::Grant(channels), ToReceiver::TakeBack(channels)] {
            let number = message.epoch() as u64;
            let mut packet = Packet::forward(ToReceiver::KIND, FlowId(3), NodeId(4), number, 0, Time::ZERO);
            message.write(&mut packet);
            assert_eq!(ToReceiver::read(&packet), Some(message));
        }
    }
}
