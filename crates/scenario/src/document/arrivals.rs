//! Poisson arrivals as a user writes them: a load, and a table of sizes.

use crate::files::sizes::Interpolation;
use crate::text::problem::Report;
use crate::text::quantity::{Size, Time};
use incast_cc as cc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arrivals of the pattern `poisson`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Arrivals {
    /// Bytes that a host sends, over the rate of its links: mean size over mean gap. Above 0, at most 10.
    pub load: f64,
    /// Bytes that count for the load.
    #[serde(default)]
    pub load_of: LoadOf,
    /// Sizes of flows: `builtin:` and the name of a table that comes with the program, or a CSV file with the columns
    /// `size` or `packets`, and `cumulative`.
    pub sizes: String,
    /// How sizes are drawn; as where the table comes from unless given, `linear` for a file of one's own.
    pub rule: Option<Interpolation>,
    /// Payload of a packet, for tables in packets; 1460 B unless given.
    pub packet: Option<Size>,
    /// When arrivals end; with the run unless given.
    pub until: Option<Time>,
}

/// What counts for a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOf {
    /// Payload: headers and ACKs come on top.
    #[default]
    Payload,
    /// Data on the wire of the sending host: payload, `transport.header` of each segment of `transport.mss` bytes, and
    /// the `overhead` of the host's link. ACKs and what is sent again come on top.
    Wire,
}

/// Payload of a full packet in the published tables that count packets.
pub(crate) const PACKET: u64 = 1_460;

/// Highest load: beyond it the table of flows says nothing of a network.
pub(crate) const MOST_LOAD: f64 = 10.0;

impl Arrivals {
    /// Values that are wrong whatever the network is.
    pub(crate) fn check(&self, start: Time, duration: cc::Time, at: &mut Report) {
        if !(self.load > 0.0 && self.load <= MOST_LOAD) {
            at.value("load", self.load, format!("expected a number above 0, at most {MOST_LOAD}"));
        }
        if let Some(packet) = self.packet.filter(|p| p.0.0 == 0 || p.0.0 > 65_535) {
            at.text("packet", packet, "expected 1 to 65535 bytes");
        }
        if let Some(until) = self.until.filter(|t| *t <= start || t.0 > duration) {
            let message = format!("expected a time after start, {start}, and at most run.duration, {duration}");
            at.text("until", until, message);
        }
    }
}
