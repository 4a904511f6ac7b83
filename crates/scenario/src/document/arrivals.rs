//! Poisson arrivals in a scenario: a load, and a table of sizes.

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
    #[schemars(extend("format" = "fraction"))]
    pub load: f64,
    /// Bytes counted in the load.
    #[serde(default)]
    pub load_of: LoadOf,
    /// Sizes of flows: a table that comes with the program, such as `websearch` or `builtin:websearch`, or a CSV file
    /// with the columns `size` or `packets`, and `cumulative`.
    #[schemars(extend("format" = "sizes"))]
    pub sizes: String,
    /// Rule for drawing sizes; default: the rule of the table's source, `linear` for a CSV file.
    pub rule: Option<Interpolation>,
    /// Payload of a packet, for tables in packets; default: 1460 B.
    pub packet: Option<Size>,
    /// End of arrivals; default: the end of the run.
    pub until: Option<Time>,
}

/// Bytes counted in a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOf {
    /// Payload: headers and ACKs are additional.
    #[default]
    Payload,
    /// Data on the wire of the sending host: payload, `transport.header` of each segment of `transport.mss` bytes,
    /// and the `overhead` of the host's link. ACKs and retransmissions are additional.
    Wire,
}

/// Payload of a full packet in the published tables that count packets.
pub(crate) const PACKET: u64 = 1_460;

/// Highest load: a higher one says nothing about a network.
pub(crate) const MAX_LOAD: f64 = 10.0;

impl Arrivals {
    /// Reports values that are invalid for any network.
    pub(crate) fn check(&self, start: Time, duration: cc::Time, at: &mut Report) {
        if !(self.load > 0.0 && self.load <= MAX_LOAD) {
            at.value("load", self.load, format!("expected a number above 0, at most {MAX_LOAD}"));
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
