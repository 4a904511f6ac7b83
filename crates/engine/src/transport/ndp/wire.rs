//! Messages of NDP, and the packets that carry them.

use crate::event::packet::{Kind, Packet, flag};
use crate::transport::packet::message::{Encoded, when};
use incast_cc::Time;

/// Message of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToSender {
    /// A packet has arrived complete, or had arrived before.
    Ack(Answer),
    /// A packet has arrived trimmed.
    Nack(Answer),
    /// Data may go: packets pulled so far.
    Pull(u32),
}

/// Answer to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Number of the packet.
    pub number: u32,
    /// Time at which it was sent.
    pub sent_at: Time,
    /// Packets pulled so far.
    pub pulls: u32,
    /// Set if the answer is a pull, too.
    pub is_pull: bool,
}

impl ToSender {
    /// Message as a packet.
    pub fn encode(self) -> Encoded {
        let (kind, answer) = match self {
            ToSender::Ack(answer) => (Kind::Ack, answer),
            ToSender::Nack(answer) => (Kind::Nack, answer),
            ToSender::Pull(pulls) => return Encoded { count: pulls, ..Encoded::of(Kind::Pull) },
        };
        let Answer { number, sent_at, pulls, is_pull } = answer;
        Encoded { flags: when(is_pull, flag::PSH), number, count: pulls, stamp: sent_at.0, ..Encoded::of(kind) }
    }

    /// Message of a packet.
    pub fn decode(p: &Packet) -> Option<ToSender> {
        let m = Encoded::read(p);
        let (number, sent_at, pulls) = (m.number, Time(m.stamp), m.count);
        let answer = Answer { number, sent_at, pulls, is_pull: m.has(flag::PSH) };
        match m.kind {
            Kind::Ack => Some(ToSender::Ack(answer)),
            Kind::Nack => Some(ToSender::Nack(answer)),
            Kind::Pull => Some(ToSender::Pull(pulls)),
            _ => None,
        }
    }

    /// Packets pulled so far, if the message pulls.
    pub fn pulls(&self) -> Option<u32> {
        match self {
            ToSender::Ack(answer) | ToSender::Nack(answer) => answer.is_pull.then_some(answer.pulls),
            ToSender::Pull(pulls) => Some(*pulls),
        }
    }
}
