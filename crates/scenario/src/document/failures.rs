//! Links that fail, work otherwise for some time, and are repaired: `[[failures]]`.

use crate::text::problem::Problem;
use crate::text::quantity::{Rate, Time};
use incast_cc as cc;
use incast_engine::spec::Effect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One failure, of one link or of some, both directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What happens.
    #[serde(default)]
    pub kind: Kind,
    /// The link, named as a port of it: `"agg0>core0"`. Both directions fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Instead of one link: some of those between two kinds of nodes, by their names without the number, such as
    /// `["agg", "core"]`. Which ones, the seed decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// With `between`: which share of them, rounded to whole links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: Option<f64>,
    /// When it begins.
    pub at: Time,
    /// When it is repaired; never where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// With `kind = "down"`: switches route around the link so long after it fails, and over it again so long after it
    /// is repaired; `0s` where it is not given. What is over by then they never see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection: Option<Time>,
    /// With `kind = "degraded"`: rate in the meantime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// With `kind = "degraded"`: propagation delay in the meantime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// With `kind = "degraded"`: probability that a packet is lost, beside what the link loses otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: Option<f64>,
    /// Where, of one that a connection matrix has.
    #[serde(skip)]
    pub(crate) listed: Option<Listed>,
}

/// A failure's line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    /// File and line.
    pub(crate) place: String,
    /// What the line says of the link.
    pub(crate) words: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing gets through, and switches route around it.
    #[default]
    Down,
    /// The link has another rate or delay, or loses packets; switches do not mind.
    Degraded,
}

impl Failure {
    /// A link that is down all the time, on a line of a file.
    pub(crate) fn from_the_beginning(link: String, listed: Listed) -> Failure {
        let at = Time(cc::Time::ZERO);
        let (until, detection, rate, delay, loss) = (None, None, None, None, None);
        Failure {
            kind: Kind::Down,
            link: Some(link),
            between: None,
            share: None,
            at,
            until,
            detection,
            rate,
            delay,
            loss,
            listed: Some(listed),
        }
    }

    /// Where its links are named: its number, unless a file has it.
    fn links_key(&self, entry: usize) -> String {
        let key = if self.link.is_some() { "link" } else { "between" };
        self.listed.as_ref().map_or_else(|| format!("failures.{entry}.{key}"), |line| line.place.clone())
    }

    /// A problem with the links that it names.
    pub(crate) fn wrong_links(&self, entry: usize, message: impl Into<String>) -> Problem {
        let value = match (&self.listed, &self.link, &self.between) {
            (Some(line), ..) => line.words.clone(),
            (None, Some(link), _) => format!("\"{link}\""),
            (None, None, between) => format!("{:?}", between.clone().unwrap_or_default()),
        };
        Problem::with_value(self.links_key(entry), value, message)
    }

    /// Why it cannot be about a link that `other` is about at the same time.
    pub(crate) fn meets(&self, other: &Failure) -> String {
        match (&self.listed, &other.listed) {
            (Some(line), Some(other)) if line == other => {
                "another entry of traffic reads this line too; expected one that has the failures of a file".into()
            }
            (Some(_), Some(other)) => format!("{} has this link; expected one line for a link", other.place),
            (Some(_), None) => "an entry of failures is about this link; expected one or the other".into(),
            (None, _) => "another entry is about this link at the same time; expected one after the other".into(),
        }
    }

    /// Contradictions between keys; `entry` is its number.
    pub(crate) fn check(&self, entry: usize, duration: cc::Time, out: &mut Vec<Problem>) {
        let key = |key: &str| format!("failures.{entry}.{key}");
        let quoted = |t: Time| format!("\"{t}\"");
        match (&self.link, &self.between, self.share) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => {}
            (None, Some(_), None) => {
                out.push(Problem::new(key("share"), "missing; expected with between, from 0 to 1"));
            }
            (_, None, Some(share)) => {
                out.push(Problem::with_value(
                    key("share"),
                    share,
                    "expected with between only, such as [\"agg\", \"core\"]",
                ));
            }
            (Some(link), Some(_), _) => {
                let message = "expected either a link or links between two kinds of nodes";
                out.push(Problem::with_value(key("link"), format!("\"{link}\""), message));
            }
            (None, None, None) => {
                out.push(Problem::new(
                    key("link"),
                    "missing; expected a link such as \"agg0>core0\", or between and share",
                ));
            }
        }
        if self.at.0 >= duration {
            let message = format!("expected a time before the run's end, {duration}");
            out.push(Problem::with_value(key("at"), quoted(self.at), message));
        }
        if let Some(until) = self.until.filter(|until| until.0 <= self.at.0) {
            let message = format!("expected a time after the failure begins, {}", self.at);
            out.push(Problem::with_value(key("until"), quoted(until), message));
        }
        let changes = self.changes();
        match self.kind {
            Kind::Down => {
                for (name, value) in changes {
                    let message =
                        "expected none with kind = \"down\": nothing gets through; kind = \"degraded\" has it";
                    out.push(Problem::with_value(key(name), value, message));
                }
            }
            Kind::Degraded => {
                if let Some(detection) = self.detection {
                    let message = "expected none with kind = \"degraded\": switches do not route around what works";
                    out.push(Problem::with_value(key("detection"), quoted(detection), message));
                }
                if changes.is_empty() {
                    let message = "expected at least one of rate, delay and loss with kind = \"degraded\"";
                    out.push(Problem::new(format!("failures.{entry}"), message));
                }
            }
        }
    }

    /// What it gives a degraded link, as the user wrote it.
    pub(crate) fn changes(&self) -> Vec<(&'static str, String)> {
        let rate = self.rate.map(|r| ("rate", format!("\"{r}\"")));
        let delay = self.delay.map(|d| ("delay", format!("\"{d}\"")));
        let loss = self.loss.map(|p| ("loss", p.to_string()));
        [rate, delay, loss].into_iter().flatten().collect()
    }

    pub(crate) fn effect(&self) -> Effect {
        match self.kind {
            Kind::Down => Effect::Down { detection: self.detection.map_or(cc::Time::ZERO, |t| t.0) },
            Kind::Degraded => Effect::Degraded {
                rate: self.rate.map(|r| r.0),
                delay: self.delay.map(|d| d.0),
                loss: self.loss.unwrap_or(0.0),
            },
        }
    }

    pub(crate) fn over(&self) -> cc::Time {
        self.until.map_or(cc::Time::NEVER, |t| t.0)
    }
}
