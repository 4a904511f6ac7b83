//! Messages of RoCE, and the packets that carry them.

use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// All before the first missing packet has arrived. Send time of the packet that asked, if it was sent once.
    Ack = Ack { sent_at: Option<Time> = stamp },
    /// A packet has arrived before the first missing one: PSN sequence error.
    Nack = Nack {},
}
