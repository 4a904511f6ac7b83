//! Parameters of dcPIM.

use super::facts::Facts;
use incast_cc::Time;

/// dcPIM (Cai et al., SIGCOMM 2022). Control packets have class 0, data has classes from 1 on, by message size. The
/// unit of `window_timeout` and `reissue` is the transmission time of a full packet on the host's link.
#[derive(Clone, PartialEq, Debug)]
pub struct DcPim {
    /// Rounds of a matching, 1 to [`DcPim::MAX_ROUNDS`].
    pub rounds: u32,
    /// Channels of a host, 1 to [`DcPim::MAX_CHANNELS`]: each takes an equal share of its link.
    pub channels: u32,
    /// Round-trip time of control packets over the longest path, without queues. At least 1 ns.
    pub control_rtt: Time,
    /// Length of a round in `control_rtt`s, at least 1.
    pub beta: f64,
    /// Length of a data phase in matching phases, at least 1.
    pub alpha: f64,
    /// Maximum number of packets of a message that is sent without matching.
    pub short_packets: u32,
    /// First rounds in which the fewest missing packets decide; later ones are random.
    pub shortest_first: u32,
    /// Maximum number of outstanding tokens per message of a pair of hosts with all channels, at least 1.
    pub window: u32,
    /// Time after its last token for which a message with a full window receives none, above 0.
    pub window_timeout: f64,
    /// Time after the last token at which tokens for missing packets are reissued, above 0.
    pub reissue: f64,
    /// Number of priorities, 2 to 7.
    pub levels: u8,
}

impl DcPim {
    /// Maximum of counts in packets and of times in packet times.
    pub const MAX_PACKETS: u32 = 65_535;
    /// Maximum number of rounds.
    pub const MAX_ROUNDS: u32 = 64;
    /// Maximum number of channels.
    pub const MAX_CHANNELS: u32 = 64;
    /// Maximum of `alpha` and `beta`.
    pub const MAX_FACTOR: f64 = 1e6;

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
