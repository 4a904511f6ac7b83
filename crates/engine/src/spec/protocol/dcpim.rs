//! Parameters of dcPIM.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use incast_cc::Time;

keys! {
    $ dcpim_keys
    /// dcPIM (Cai et al., SIGCOMM 2022). Control packets have class 0, data has classes from 1 on, by message size. The
    /// unit of `window_timeout` and `reissue` is the transmission time of a full packet on the host's link.
    dcpim: DcPim {
        /// Rounds of a matching.
        #[schemars(range(min = 1, max = 64))]
        rounds: u32,
        /// Channels of a host: each takes an equal share of its link.
        #[schemars(range(min = 1, max = 64))]
        channels: u32,
        /// Round-trip time of control packets over the longest path, without queues.
        control_rtt: Time,
        /// Length of a round in `control_rtt`s: what is above 1 is for waiting behind other packets.
        #[schemars(range(min = 1, max = 1_000_000))]
        beta: f64,
        /// Length of a data phase in matching phases.
        #[schemars(range(min = 1, max = 1_000_000))]
        alpha: f64,
        /// Largest number of packets of a message that goes without matching. (About a bandwidth-delay product.)
        #[schemars(range(max = 65535))]
        short_packets: u32,
        /// First rounds of a matching in which the message with the fewest missing packets comes first; the order of
        /// later ones is random.
        #[schemars(range(max = 64))]
        shortest_first: u32,
        /// Largest number of tokens of a message not yet answered by data, with all channels; a link of fewer has its
        /// share. (About a bandwidth-delay product.)
        #[schemars(range(min = 1, max = 65535))]
        window: u32,
        /// With a full window a message gets more tokens this long after its last.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        window_timeout: f64,
        /// Time after the last token of a message at which tokens for missing packets are sent again, once all have
        /// been sent.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 65535))]
        reissue: f64,
        /// Number of priorities: control packets, and data by message size.
        #[schemars(range(min = 2, max = 7))]
        levels: u8,
    }
}

impl DcPim {
    /// Refuses a length of rounds out of its bounds.
    pub(super) fn check(&self, to: &mut Refusals) {
        let (rtt, range) = (self.control_rtt, Time::ns(1)..=Time::s(1));
        to.expect(range.contains(&rtt), "control_rtt", rtt, "expected 1ns to 1s");
    }

    /// Length of a round.
    pub fn round(&self) -> Time {
        Time((self.control_rtt.0 as f64 * self.beta).round() as u64)
    }

    /// Length of a matching phase.
    pub fn matching(&self) -> Time {
        self.round().saturating_mul(self.rounds as u64)
    }

    /// Length of a data phase: the time from one matching to the next.
    pub fn phase(&self) -> Time {
        Time((self.matching().0 as f64 * self.alpha).round() as u64)
    }

    /// Class of data packets of a message of `packets` packets: it falls with each power of 7.
    pub fn class_of(&self, packets: u32) -> u8 {
        let sizes = [7u32, 49, 343, 2401, 16_807];
        (1 + sizes.partition_point(|size| *size < packets) as u8).min(self.levels - 1)
    }

    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { lowest_class: Some(self.levels.saturating_sub(1)), has_ranks: true, ..Facts::of("dcpim") }
    }
}
