//! Messages of NDP, and the packets that carry them.

use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// Packet `number`, sent at `sent_at`, has arrived complete, or had arrived before. The answer may be a pull, too.
    Ack = Ack { number: u32 = number, sent_at: Time = stamp, pulls: u32 = count } [is_pull = PSH],
    /// Packet `number` has arrived trimmed.
    Nack = Nack { number: u32 = number, sent_at: Time = stamp, pulls: u32 = count } [is_pull = PSH],
    /// Data may go: packets pulled so far.
    Pull = Pull { pulls: u32 = count },
}

impl ToSender {
    /// Packets pulled so far, if the message pulls.
    pub fn pulls(&self) -> Option<u32> {
        match *self {
            ToSender::Ack { pulls, is_pull, .. } | ToSender::Nack { pulls, is_pull, .. } => is_pull.then_some(pulls),
            ToSender::Pull { pulls } => Some(pulls),
        }
    }
}
