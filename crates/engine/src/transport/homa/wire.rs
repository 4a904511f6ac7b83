//! Messages of Homa, and the packets that carry them.

use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// All before the first missing packet has arrived. Send time of the last packet, if it was sent once.
    Ack = Ack { sent_at: Option<Time> = stamp },
    /// Packets before `end` may go, at priority `level`.
    Grant = Pull { end: u32 = number, level: u8 = map },
    /// Packets from `from` to before `to` are missing.
    Resend = Nack { from: u32 = number, to: u32 = count },
}
