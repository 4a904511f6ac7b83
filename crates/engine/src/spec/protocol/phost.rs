//! Parameters of pHost.

use super::facts::Facts;

/// pHost (Gao et al., CoNEXT 2015). Requests, tokens and acknowledgements have class 0, data has class 1, and data of
/// large messages class 2. The unit of time is the transmission time of a full packet on the host's link.
#[derive(Clone, PartialEq, Debug)]
pub struct PHost {
    /// Messages with initial free tokens.
    pub free: Free,
    /// Maximum number of initial free tokens per message.
    pub free_packets: u32,
    /// Interval between tokens of a host, above 0.
    pub gap: f64,
    /// Lifetime of a token at the sender, above 0.
    pub expiry: f64,
    /// Maximum number of outstanding tokens per message, at least 1.
    pub window: u32,
    /// Time after its last token for which a message with `window` outstanding tokens receives none, above 0.
    pub skip: f64,
    /// Time after the last token at which tokens for missing packets are reissued, above 0.
    pub reissue: f64,
    /// Message size, in bytes, above which data has class 2; `None`: no data has class 2.
    pub large: Option<u64>,
}

impl PHost {
    /// Maximum of counts in packets and of times in packet times.
    pub const MAX_PACKETS: u32 = 65_535;

    /// Initial free tokens of a message of `packets` packets.
    pub fn free_of(&self, packets: u32) -> u32 {
        match self.free {
            Free::Short if packets > self.free_packets => 0,
            _ => packets.min(self.free_packets),
        }
    }

    /// Class of data packets of a message of `size` bytes.
    pub fn class_of(&self, size: u64) -> u8 {
        if self.large.is_some_and(|large| size > large) { 2 } else { 1 }
    }

    /// Lowest class of all packets.
    pub fn lowest_level(&self) -> u8 {
        if self.large.is_some() { 2 } else { 1 }
    }
}

/// Messages of pHost with initial free tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Free {
    /// Messages that need no other tokens, as in the authors' simulator (NetSys/simulator 179b64e).
    Short,
    /// All messages, for their first packets, as other sources quote the paper.
    All,
}

impl PHost {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { lowest_class: Some(self.lowest_level()), has_ranks: true, ..Facts::of("phost") }
    }
}
