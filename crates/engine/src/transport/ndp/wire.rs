//! Messages of NDP, and the packets that carry them.

use crate::event::packet::{Kind, Packet, Words, flag};
use crate::transport::packet::message::Encoded;
use incast_cc::Time;

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// A packet has arrived complete, or had arrived before.
    Ack(Answer),
    /// A packet has arrived trimmed.
    Nack(Answer),
    /// Data may go.
    Pull {
        /// First missing packet.
        next: u32,
        /// Packets pulled so far.
        pulls: u32,
    },
}

/// Answer to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Number of the packet.
    pub number: u32,
    /// Time at which it was sent.
    pub sent_at: Time,
    /// First missing packet.
    pub next: u32,
    /// Packets pulled so far.
    pub pulls: u32,
    /// Set if the answer is a pull, too.
    pub is_pull: bool,
}

impl Answer {
    fn encode(self, kind: Kind) -> Encoded {
        let words = Words { ack: [self.next, self.number], wnd: self.pulls, stamp: self.sent_at.0, number: 0 };
        Encoded { kind, flags: if self.is_pull { flag::PSH } else { 0 }, words }
    }
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        match self {
            ToSender::Ack(answer) => answer.encode(Kind::Ack),
            ToSender::Nack(answer) => answer.encode(Kind::Nack),
            ToSender::Pull { next, pulls } => {
                let words = Words { ack: [next, 0], wnd: pulls, ..Words::default() };
                Encoded { kind: Kind::Pull, flags: 0, words }
            }
        }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let Words { ack: [next, number], wnd: pulls, stamp, .. } = p.words();
        let answer = Answer { number, sent_at: Time(stamp), next, pulls, is_pull: p.has(flag::PSH) };
        match p.kind() {
            Kind::Ack => Some(ToSender::Ack(answer)),
            Kind::Nack => Some(ToSender::Nack(answer)),
            Kind::Pull => Some(ToSender::Pull { next, pulls }),
            _ => None,
        }
    }

    /// First missing packet.
    pub fn next(&self) -> u32 {
        match self {
            ToSender::Ack(answer) | ToSender::Nack(answer) => answer.next,
            ToSender::Pull { next, .. } => *next,
        }
    }

    /// Packets pulled so far, if the message pulls.
    pub fn pulls(&self) -> Option<u32> {
        match self {
            ToSender::Ack(answer) | ToSender::Nack(answer) => answer.is_pull.then_some(answer.pulls),
            ToSender::Pull { pulls, .. } => Some(*pulls),
        }
    }
}
