//! Messages of UET, and the packets that carry them.

use crate::transport::packet::message::to_sender;

to_sender! {
    /// Packets of a bitmap that begins with packet `from` have arrived, and so far `received` first-time bytes, modulo
    /// 2^32. `answers`: number of the answered packet or probe, and packets received out of order. `marked`, `again`,
    /// `probe`: the answered packet had a mark, was a retransmission, is a probe.
    Ack = Ack { from: u32 = number, map: u64 = map, received: u32 = count, answers: (u32, u32) = stamp }
        [marked = ECE, again = RETX, probe = CWR],
    /// Packet `number` has arrived trimmed, perhaps at the last hop.
    Nack = Nack { number: u32 = number, received: u32 = count } [marked = ECE, at_last_hop = PSH],
    /// Quanta of credit given so far.
    Pull = Pull { credit: u32 = count },
}
