//! Messages of EQDS, and the packets that carry them.

use crate::transport::packet::message::to_sender;

to_sender! {
    /// Packets of a bitmap that begins with packet `from` have arrived. `marked`: the answered packet had a mark.
    Ack = Ack { from: u32 = number, map: u64 = map } [marked = ECE],
    /// Packet `number` has arrived trimmed.
    Nack = Nack { number: u32 = number },
    /// Quanta of credit given so far.
    Pull = Pull { credit: u32 = count },
}
