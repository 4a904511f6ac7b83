//! Facts of transports, for those that place them in a network.

use std::fmt::Debug;

/// Facts of a transport that numbers packets.
pub trait PacketProtocol: Debug {
    /// Name in messages and scenarios.
    fn name(&self) -> &'static str;
    /// Name of the congestion control that governs its flows.
    fn control(&self) -> &'static str {
        self.name()
    }
    /// Share of data at a host NIC while control packets also wait: one packet in this many (EQDS: 20 to 1; UET: 10 to
    /// 1).
    fn data_slot_period(&self) -> u32 {
        21
    }
    /// True if senders wait for the NIC of their host and send when it becomes free.
    fn waits_for_nic(&self) -> bool {
        true
    }
    /// True if it detects losses by the headers of trimmed packets.
    fn needs_trimming(&self) -> bool {
        false
    }
    /// True if it also works at trimming queues that drop instead of trimming.
    fn works_without_trimming(&self) -> bool {
        false
    }
    /// True if it works only at trimming queues that drop instead of trimming.
    fn refuses_trimming(&self) -> bool {
        false
    }
    /// True if senders take back trimmed headers that switches return.
    fn takes_returned_headers(&self) -> bool {
        false
    }
    /// True if every packet needs a credit that ports shape.
    fn needs_credit_shaping(&self) -> bool {
        false
    }
    /// True if receivers send pulls, which may have a path of their own.
    fn has_pulls(&self) -> bool {
        false
    }
    /// True if packets have ranks for ports that schedule by rank.
    fn has_ranks(&self) -> bool {
        false
    }
    /// Lowest class of its packets, if it assigns classes.
    fn lowest_class(&self) -> Option<u8> {
        None
    }
    /// Bytes of a message after which a packet begins, whatever their number; `None`: none before the end.
    fn first_cut(&self) -> Option<u64> {
        None
    }
}
