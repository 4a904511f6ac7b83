//! Links, NICs and nodes that fail or degrade for some time: `[[failures]]`.

use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Rate, Time};
use incast_cc as cc;
use incast_engine::spec::Effect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failure of one link or of several, in both directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Kind of failure.
    #[serde(default)]
    pub kind: Kind,
    /// The link, by the name of one of its ports: `"agg0>core0"`. Both directions fail.
    pub link: Option<String>,
    /// Replaces `link`: all links of a node, by its name: a switch such as `"leaf3"`, a host, or a server of a topology
    /// with servers, such as `"server3"`.
    pub node: Option<String>,
    /// Replaces `link`: the link of a host, by its name; of a GPU, `"server3gpu5"`, its links in all planes.
    pub nic: Option<String>,
    /// Replaces `link`: some of the links between two kinds of nodes, by their names without the number, such as
    /// `["agg", "core"]`. The seed selects the links.
    pub between: Option<[String; 2]>,
    /// With `between`: share of these links, rounded to whole links.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: Option<f64>,
    /// Start of the failure.
    pub at: Time,
    /// Time of the repair; default: never.
    pub until: Option<Time>,
    /// With `kind = "down"`, required: time from the failure until switches route around the link, and from the repair
    /// until they use it again. Fast local repair takes about `"1ms"`, BFD with three hellos of 50 ms `"150ms"`; `"0s"`
    /// is the ideal. A failure shorter than `detection` is never noticed: packets are lost, routes stay.
    pub detection: Option<Time>,
    /// With `kind = "degraded"`: rate during the failure.
    pub rate: Option<Rate>,
    /// With `kind = "degraded"`: propagation delay during the failure.
    pub delay: Option<Time>,
    /// With `kind = "degraded"`: probability of losing a packet, in addition to the link's other losses.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: Option<f64>,
}

/// Message for a dead link whose detection is not given: results depend on it by orders of magnitude.
const WITHOUT_DETECTION: &str = "missing; expected the time until switches route around the link, such as \"1ms\" \
                                 (fast local repair), \"150ms\" (BFD, three hellos of 50 ms) or \"0s\" (ideal)";

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Every packet is lost, and switches route around the link.
    #[default]
    Down,
    /// The link has another rate or delay, or loses packets; routes stay.
    Degraded,
}

/// The links of a failure.
#[derive(Clone, PartialEq, Debug)]
pub enum Links {
    /// One link, by its name.
    One(String),
    /// All links of a node, by its name.
    Node(String),
    /// The links of a NIC, by the name of its host.
    Nic(String),
    /// A share of the links between two kinds of nodes.
    Between([String; 2], f64),
    /// One link, by its name, from a line of a connection matrix.
    Listed(String, Line),
}

/// Line of a file that describes a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// File and line.
    pub place: String,
    /// Names in the line.
    pub words: String,
}

/// A failure with the keys of its links and its kind.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkFailure {
    /// Links that fail.
    pub links: Links,
    /// Begin of the failure.
    pub at: cc::Time,
    /// End of the failure.
    pub until: cc::Time,
    /// Effect on the links.
    pub effect: Effect,
    /// Changes of a degraded link: keys, and values as written by the user.
    pub changes: Vec<(&'static str, String)>,
}

impl Failure {
    /// Reads which links fail.
    fn links(&self, at: &mut Report) -> Option<Links> {
        let named = [("link", &self.link), ("node", &self.node), ("nic", &self.nic)];
        let mut given = named.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?)));
        let (first, second) = (given.next(), given.next());
        match (first, &self.between, self.share) {
            (Some((key, name)), None, None) if second.is_none() => Some(match key {
                "node" => Links::Node(name.clone()),
                "nic" => Links::Nic(name.clone()),
                _ => Links::One(name.clone()),
            }),
            (None, Some(kinds), Some(share)) => Some(Links::Between(kinds.clone(), share)),
            (None, Some(_), None) => {
                at.key("share", "missing; expected with between, from 0 to 1");
                None
            }
            (_, None, Some(share)) => {
                at.value("share", share, "expected with between only, such as [\"agg\", \"core\"]");
                None
            }
            (Some((key, name)), ..) => {
                let message = match second {
                    Some((other, _)) => format!("expected none beside {other}: an entry is about one of them"),
                    None => "expected either a link or links between two kinds of nodes".to_owned(),
                };
                at.text(key, name, message);
                None
            }
            (None, None, None) => {
                at.key("link", "missing; expected a link such as \"agg0>core0\", or node, nic, or between and share");
                None
            }
        }
    }

    /// Reads the failure of an entry; contradictions between its keys go to `at`.
    pub(crate) fn read(&self, duration: cc::Time, at: &mut Report) -> Option<LinkFailure> {
        let links = self.links(at);
        if self.at.0 >= duration {
            at.text("at", self.at, format!("expected a time before the run's end, {duration}"));
        }
        if let Some(until) = self.until.filter(|until| until.0 <= self.at.0) {
            at.text("until", until, format!("expected a time after the failure begins, {}", self.at));
        }
        let rate = self.rate.map(|r| ("rate", format!("\"{r}\"")));
        let delay = self.delay.map(|d| ("delay", format!("\"{d}\"")));
        let loss = self.loss.map(|p| ("loss", p.to_string()));
        let changes: Vec<_> = [rate, delay, loss].into_iter().flatten().collect();
        let effect = match self.kind {
            Kind::Down => {
                for (key, value) in &changes {
                    let message =
                        "expected none with kind = \"down\": nothing gets through; kind = \"degraded\" has it";
                    at.value(key, value, message);
                }
                if self.detection.is_none() {
                    at.key("detection", WITHOUT_DETECTION);
                }
                Effect::Down { detection: self.detection.map_or(cc::Time::ZERO, |t| t.0) }
            }
            Kind::Degraded => {
                if let Some(detection) = self.detection {
                    let message = "expected none with kind = \"degraded\": switches do not route around what works";
                    at.text("detection", detection, message);
                }
                if changes.is_empty() {
                    at.key("", "expected at least one of rate, delay and loss with kind = \"degraded\"");
                }
                let (rate, delay) = (self.rate.map(|r| r.0), self.delay.map(|d| d.0));
                Effect::Degraded { rate, delay, loss: self.loss.unwrap_or(0.0) }
            }
        };
        let until = self.until.map_or(cc::Time::NEVER, |t| t.0);
        Some(LinkFailure { links: links?, at: self.at.0, until, effect, changes })
    }
}

impl LinkFailure {
    /// A link that is down all the time, from a line of a file.
    pub fn from_the_beginning(link: String, line: Line) -> LinkFailure {
        LinkFailure {
            links: Links::Listed(link, line),
            at: cc::Time::ZERO,
            until: cc::Time::NEVER,
            effect: Effect::Down { detection: cc::Time::ZERO },
            changes: Vec::new(),
        }
    }

    /// Line of the file, if it comes from one.
    pub fn line(&self) -> Option<&Line> {
        if let Links::Listed(_, line) = &self.links { Some(line) } else { None }
    }

    /// Problem with its links; `entry` is its number.
    pub(crate) fn wrong_links(&self, entry: usize, message: impl Into<String>) -> Problem {
        match &self.links {
            Links::Listed(_, line) => Problem::with_value(&line.place, &line.words, message),
            Links::One(link) => Problem::quoted(format!("failures.{entry}.link"), link, message),
            Links::Node(node) => Problem::quoted(format!("failures.{entry}.node"), node, message),
            Links::Nic(host) => Problem::quoted(format!("failures.{entry}.nic"), host, message),
            Links::Between(kinds, _) => {
                Problem::with_value(format!("failures.{entry}.between"), format!("{kinds:?}"), message)
            }
        }
    }

    /// Message for a link that `other` affects at the same time.
    pub(crate) fn meets(&self, other: &LinkFailure) -> String {
        match (self.line(), other.line()) {
            (Some(line), Some(other)) if line == other => {
                "another entry of traffic reads this line too; expected one that has the failures of a file".into()
            }
            (Some(_), Some(other)) => format!("{} has this link; expected one line for a link", other.place),
            (Some(_), None) => "an entry of failures is about this link; expected one or the other".into(),
            (None, _) => "another entry is about this link at the same time; expected one after the other".into(),
        }
    }
}
