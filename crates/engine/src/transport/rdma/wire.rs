//! Messages of an RDMA receiver, and the packets that carry them.

use crate::transport::packet::message::to_sender;
use incast_cc::Time;

to_sender! {
    /// All before the first missing packet has arrived. Send time and links of the packet that caused it; `marked`: it
    /// was marked.
    Ack = Ack { sent_at: Time = stamp, hops: u32 = map } [marked = ECE],
    /// A packet has arrived before the first missing one: its number, and its send time.
    Nack = Nack { number: u32 = number, sent_at: Time = stamp, hops: u32 = map } [marked = ECE],
    /// Marked packets have arrived.
    Cnp = Cnp {},
}
