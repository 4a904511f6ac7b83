//! Parameters of pHost.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use crate::spec::words::words;

keys! {
    $ phost_keys
    /// pHost (Gao et al., CoNEXT 2015). Requests, tokens and acknowledgements have class 0, data has class 1, and data
    /// of large messages class 2. The unit of time is the transmission time of a full packet on the host's link.
    phost: PHost {
        /// Messages that have tokens from the start.
        free: Free as Word<Free>,
        /// Largest number of unscheduled packets of a message. (About a bandwidth-delay product.)
        #[schemars(range(max = 65535))]
        free_packets: u32,
        /// Time from one token of a host to its next. The authors' simulator has 1.027: a packet of 1500 bytes and a
        /// header of 40.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        gap: f64,
        /// Lifetime of a token after its arrival.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        expiry: f64,
        /// Largest number of tokens of a message not yet answered by data.
        #[schemars(range(min = 1))]
        window: u32,
        /// With `window` unanswered tokens a message gets one more token this long after its last.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        skip: f64,
        /// Time after the last token of a message at which tokens for missing packets are sent again, once all have
        /// been sent.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        reissue: f64,
        /// Number of priorities: control packets, data, and with 3 data of large messages.
        #[schemars(range(min = 2, max = 3))]
        levels: u8,
        /// Messages larger than this are large. `auto`: those above `free_packets`.
        large: Option<u64> as Auto<Size>,
    }
}

impl PHost {
    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        to.expect(self.large != Some(0), "large", 0, "expected at least 1B: no message is shorter");
    }

    /// Initial free tokens of a message of `packets` packets.
    pub fn free_of(&self, packets: u32) -> u32 {
        match self.free {
            Free::Short if packets > self.free_packets => 0,
            _ => packets.min(self.free_packets),
        }
    }

    /// Class of data packets of a message of `size` bytes, in packets of `mss`.
    pub fn class_of(&self, size: u64, mss: u32) -> u8 {
        let large = self.large.unwrap_or((self.free_packets as u64 * mss as u64).max(1));
        if size > large { self.lowest_level() } else { 1 }
    }

    /// Lowest class of all packets.
    pub fn lowest_level(&self) -> u8 {
        self.levels - 1
    }
}

words! {
    /// Messages of pHost that have tokens from the start.
    Free {
        /// Messages of up to `free_packets` packets, for all of them; others have none: as in the authors' simulator.
        Short = "short",
        /// All messages, for their first `free_packets` packets: as in the paper, at second hand.
        All = "all",
    }
}

impl PHost {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { lowest_class: Some(self.lowest_level()), has_ranks: true, ..Facts::of("phost") }
    }
}
