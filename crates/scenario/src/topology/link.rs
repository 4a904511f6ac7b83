//! A link in a scenario: both directions, and changes for a tier.

use super::network::Network;
use crate::text::problem::Report;
use crate::text::quantity::{Rate, Size, Time};
use incast_cc as cc;
use incast_engine::spec::{LinkSpec, Loss, Name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time to fill a token bucket, half of the largest time: the engine adds it to the time of a run.
const LONGEST_FILL: cc::Time = cc::Time::s(9_000_000);
/// Longest delay: instants later by one delay still fit the clock of a run, which counts picoseconds in 64 bits.
const LONGEST_DELAY: cc::Time = cc::Time::s(9_223_372);

/// A link, both directions. "Forward" is away from senders: from hosts towards the core in a fat
/// tree, leaf-spine or three-tier tree, from the first-named node in a graph file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Rate; `inf`: no serialization time.
    pub rate: Rate,
    /// Propagation delay; 0 is allowed.
    pub delay: Time,
    /// Bytes added to every packet on the wire: 2 for ns-3's point-to-point links, 38 for Ethernet with preamble and
    /// gap.
    #[serde(default)]
    pub overhead: u32,
    /// Size of a token bucket in front of the link, as Linux' `tbf`: a packet leaves the queue as soon as the bucket
    /// holds its bytes and arrives after the delay alone. At least a full packet with its overhead. Default, and with
    /// 0B: a transmitter, in which a packet takes its serialization time.
    pub burst: Option<Size>,
    /// Rate of the other direction, if different.
    pub back_rate: Option<Rate>,
    /// Propagation delay of the other direction, if different.
    pub back_delay: Option<Time>,
    /// Probability of a loss on the link, either direction, per packet or byte.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: f64,
    /// Probability of a loss in the other direction, if different.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub back_error_rate: Option<f64>,
    /// Unit of `error_rate` and `back_error_rate`.
    #[serde(default)]
    pub error_unit: ErrorUnit,
    /// Numbers of packets that are lost, forward only: 0 is the first packet on the link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(max = 9_223_372_036_854_775_807i64)))]
    pub lose: Vec<u64>,
}

/// Unit of an error rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// Every packet is lost with the same probability.
    #[default]
    Packet,
    /// A packet of n bytes on the wire survives with probability (1 - p)^n.
    Byte,
}

/// Changes of a tier's link: only the keys that differ from `link`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinkChange {
    /// Rate; `inf`: no serialization time.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Option<Time>,
    /// Bytes added to every packet on the wire.
    pub overhead: Option<u32>,
    /// Size of a token bucket in front of the link.
    pub burst: Option<Size>,
    /// Rate of the other direction.
    pub back_rate: Option<Rate>,
    /// Propagation delay of the other direction.
    pub back_delay: Option<Time>,
    /// Probability of a loss on the link, either direction.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: Option<f64>,
    /// Probability of a loss in the other direction.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub back_error_rate: Option<f64>,
    /// Unit of `error_rate` and `back_error_rate`.
    pub error_unit: Option<ErrorUnit>,
    /// Numbers of packets that are lost, forward only.
    #[schemars(inner(range(max = 9_223_372_036_854_775_807i64)))]
    pub lose: Option<Vec<u64>>,
}

impl Link {
    /// Reports contradictions between keys.
    pub(crate) fn check(&self, at: &mut Report) {
        for (key, delay) in [("delay", Some(self.delay)), ("back_delay", self.back_delay)] {
            if let Some(delay) = delay.filter(|delay| delay.0 > LONGEST_DELAY) {
                at.text(key, delay, format!("expected at most {LONGEST_DELAY}"));
            }
        }
        let infinite = |rate: Rate| rate.0 == cc::Rate::INFINITE;
        if let Some(burst) = self.burst.filter(|b| b.0.0 > 0)
            && infinite(self.rate)
            && self.back_rate.is_none_or(infinite)
        {
            at.text("burst", burst, "expected none with rate = \"inf\": a token bucket fills at the link's rate");
        }
        if let Some(burst) = self.burst {
            let fills_late = |rate: Rate| rate.0.serialize(burst.0.0) > LONGEST_FILL;
            let rates = [("rate", self.rate), ("back_rate", self.back_rate.unwrap_or(self.rate))];
            if burst.0.0 > u32::MAX as u64 {
                at.text("burst", burst, format!("expected at most {}B", u32::MAX));
            } else if let Some((key, rate)) = rates.into_iter().find(|(_, rate)| fills_late(*rate)) {
                let message = format!(
                    "expected less with {key} = \"{rate}\": the bucket would take more than {LONGEST_FILL} to fill"
                );
                at.text("burst", burst, message);
            }
        }
        if self.error_rate > 0.0 && !self.lose.is_empty() {
            let message = "expected 0 with lose: a link loses packets either at a rate or by that list; error_rate = 0 \
                           keeps the list, lose = [] the rate";
            at.value("error_rate", self.error_rate, message);
        }
    }

    /// Both directions of this link between two nodes, forward, from `a` to `b`, first.
    pub(crate) fn directions(&self, a: u32, b: u32) -> [LinkSpec; 2] {
        let loss = |list: &[u64], rate: f64| match self.error_unit {
            _ if !list.is_empty() => {
                let mut list = list.to_vec();
                list.sort_unstable();
                list.dedup();
                Loss::List(list)
            }
            _ if rate == 0.0 => Loss::None,
            ErrorUnit::Packet => Loss::Packet(rate),
            ErrorUnit::Byte => Loss::Byte(rate),
        };
        // `check` refuses larger buckets
        let bucket = self.burst.map_or(0, |b| u32::try_from(b.0.0).unwrap_or(u32::MAX));
        let direction = |from: u32, to: u32, rate: Rate, delay: Time, loss: Loss| LinkSpec {
            from,
            to,
            rate: rate.0,
            delay: delay.0,
            tick: incast_cc::Time::ZERO,
            overhead: self.overhead,
            bucket,
            queue: 0,
            loss,
            cell: None,
            name: Name::default(),
        };
        let (back_rate, back_delay) = (self.back_rate.unwrap_or(self.rate), self.back_delay.unwrap_or(self.delay));
        let ahead = loss(&self.lose, self.error_rate);
        let behind = loss(&[], self.back_error_rate.unwrap_or(self.error_rate));
        [direction(a, b, self.rate, self.delay, ahead), direction(b, a, back_rate, back_delay, behind)]
    }

    /// This link with the changes of a tier.
    pub fn with(&self, change: &Option<LinkChange>) -> Link {
        let Some(c) = change else { return self.clone() };
        Link {
            rate: c.rate.unwrap_or(self.rate),
            delay: c.delay.unwrap_or(self.delay),
            overhead: c.overhead.unwrap_or(self.overhead),
            burst: c.burst.or(self.burst),
            back_rate: c.back_rate.or(self.back_rate),
            back_delay: c.back_delay.or(self.back_delay),
            error_rate: c.error_rate.unwrap_or(self.error_rate),
            back_error_rate: c.back_error_rate.or(self.back_error_rate),
            error_unit: c.error_unit.unwrap_or(self.error_unit),
            lose: c.lose.clone().unwrap_or_else(|| self.lose.clone()),
        }
    }
}

impl Network {
    /// Links `a` and `b`; forward is the direction from `a` to `b`.
    pub fn join(&mut self, a: u32, b: u32, link: &Link) {
        self.links.extend(link.directions(a, b));
    }
}
