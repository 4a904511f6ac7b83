//! Links that fail, work otherwise for some time, and are repaired: `[[failures]]`.

use crate::text::problem::Problem;
use crate::text::quantity::{Rate, Time};
use incast_cc as cc;
use incast_engine::event::hash::{bits, purpose};
use incast_engine::map::failover::{reroute, stranded};
use incast_engine::map::paths::Timetable;
use incast_engine::spec::{self, Effect, LinkSpec, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    fn wrong_links(&self, entry: usize, message: impl Into<String>) -> Problem {
        let value = match (&self.listed, &self.link, &self.between) {
            (Some(line), ..) => line.words.clone(),
            (None, Some(link), _) => format!("\"{link}\""),
            (None, None, between) => format!("{:?}", between.clone().unwrap_or_default()),
        };
        Problem::with_value(self.links_key(entry), value, message)
    }

    /// Why it cannot be about a link that `other` is about at the same time.
    fn meets(&self, other: &Failure) -> String {
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
    fn changes(&self) -> Vec<(&'static str, String)> {
        let rate = self.rate.map(|r| ("rate", format!("\"{r}\"")));
        let delay = self.delay.map(|d| ("delay", format!("\"{d}\"")));
        let loss = self.loss.map(|p| ("loss", p.to_string()));
        [rate, delay, loss].into_iter().flatten().collect()
    }

    fn effect(&self) -> Effect {
        match self.kind {
            Kind::Down => Effect::Down { detection: self.detection.map_or(cc::Time::ZERO, |t| t.0) },
            Kind::Degraded => Effect::Degraded {
                rate: self.rate.map(|r| r.0),
                delay: self.delay.map(|d| d.0),
                loss: self.loss.unwrap_or(0.0),
            },
        }
    }

    fn over(&self) -> cc::Time {
        self.until.map_or(cc::Time::NEVER, |t| t.0)
    }
}

/// What whole paths may take in memory in all states of the network together, in bytes.
const MOST_STATES: u64 = 4_000_000_000;

/// Why failures leave too many states for a routing that counts whole paths in each, if they do.
fn too_many_states(failures: &[Failure], spec: &Spec, most: u64) -> Option<Problem> {
    let size = if spec.choice.is_by_path() { Timetable::size(spec) } else { 0 };
    (size > most).then(|| {
        let message = format!(
            "routing by whole paths would count these in every state of the network, in {size} B of memory; expected \
             failures that need at most {most} B, or a routing that chooses at every switch, such as \"spray\""
        );
        let in_files = failures.iter().all(|f| f.listed.is_some());
        let first = failures.iter().find_map(|f| f.listed.as_ref()).filter(|_| in_files);
        Problem::new(first.map_or("failures", |line| line.place.as_str()), message)
    })
}

/// Adds the failures of a document to what it builds, and the ways around them; of which entry of `failures` each
/// failure of `spec` is.
pub(crate) fn apply(failures: &[Failure], spec: &mut Spec) -> Result<Vec<usize>, Vec<Problem>> {
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let mut problems = Vec::new();
    let mut entry_of = Vec::new();
    for (entry, failure) in failures.iter().enumerate() {
        match failed(entry, failure, spec, |place| &failures[entry_of[place]]) {
            Ok(links) => {
                // both directions of a link lie side by side
                for link in links.into_iter().flat_map(|l| [l, l ^ 1]) {
                    let effect = failure.effect();
                    let (from, until) = (failure.at.0, failure.over());
                    spec.failures.push(spec::Failure { link, from, until, effect });
                    entry_of.push(entry);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    reroute(spec);
    if let Some(problem) = too_many_states(failures, spec, MOST_STATES) {
        return Err(vec![problem]);
    }
    if let Some(lost) = stranded(spec) {
        let flow = &spec.flows[lost.flow as usize];
        let entry = entry_of[lost.failure];
        let name = |host: u32| &spec.node_names[host as usize];
        let message = format!(
            "leaves no path between {} and {} from {} on, where flow {} of traffic.{} may have traffic; expected a \
             path, or a flow that stops before or starts after",
            name(flow.src),
            name(flow.dst),
            cc::Time(lost.from),
            lost.flow,
            spec.groups[flow.group as usize],
        );
        return Err(vec![failures[entry].wrong_links(entry, message)]);
    }
    Ok(entry_of)
}

/// A note where a failure, number `entry` of its scenario, leaves all its links as they are without it; `entry_of` says
/// of which entry each failure of `spec` is.
pub(crate) fn changes_nothing(failure: &Failure, entry: usize, spec: &Spec, entry_of: &[usize]) -> Option<String> {
    let Effect::Degraded { rate, delay, loss } = failure.effect() else { return None };
    let own = spec.failures.iter().zip(entry_of).filter(|(_, of)| **of == entry);
    let links: Vec<&LinkSpec> = own.map(|(f, _)| &spec.links[f.link as usize]).collect();
    let same = |l: &LinkSpec| rate.is_none_or(|r| r == l.rate) && delay.is_none_or(|d| d == l.delay) && loss == 0.0;
    if !links.iter().all(|l| same(l)) {
        return None;
    }
    let changes: Vec<String> = failure.changes().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let forward = &links.first()?.name;
    let first = failure.link.as_ref().unwrap_or(forward);
    // a link has two directions
    let which = match links.len() / 2 {
        1 => format!("{first} is"),
        2 => format!("{first} and the other one are"),
        n => format!("{first} and the {} others are", n - 1),
    };
    Some(format!("failures.{entry} ({}) changes nothing: {which} the same without it", changes.join(", ")))
}

/// What kind of node it is: its name without the number.
fn kind(spec: &Spec, node: u32) -> &str {
    spec.node_names[node as usize].trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Whether a link joins nodes of these kinds, in either order.
fn joins(spec: &Spec, link: u32, [a, b]: &[String; 2]) -> bool {
    let link = &spec.links[link as usize];
    let ends = [kind(spec, link.from), kind(spec, link.to)];
    ends == [a.as_str(), b.as_str()] || ends == [b.as_str(), a.as_str()]
}

/// Forward directions of the links that fail; `of` says which failure one of `spec` is of.
fn failed<'f>(
    entry: usize,
    failure: &Failure,
    spec: &Spec,
    of: impl Fn(usize) -> &'f Failure,
) -> Result<Vec<u32>, Problem> {
    let at_that_time = |link: u32| {
        let meets = |f: &spec::Failure| f.link | 1 == link | 1 && f.from < failure.over() && failure.at.0 < f.until;
        spec.failures.iter().position(meets)
    };
    let wrong = |link: &u32| {
        let bucket = failure.rate.is_some() && spec.links[*link as usize].bucket > 0;
        bucket.then(|| {
            let (rate, name) = (failure.rate.unwrap_or(Rate(cc::Rate(0))), &spec.links[*link as usize].name);
            let message = format!("expected none for {name}, whose token bucket fills at its own rate");
            Problem::with_value(format!("failures.{entry}.rate"), format!("\"{rate}\""), message)
        })
    };
    let names = || spec.links.iter().map(|l| l.name.as_str());
    let links = if let Some(link) = &failure.link {
        let named = |message: String| failure.wrong_links(entry, message);
        let number = names().zip(0u32..).find(|(name, _)| name == link);
        let Some((_, number)) = number else {
            let problem = named(format!("no such link; expected a name such as \"{}\"", spec.links[0].name));
            return Err(problem.suggest(link, names().take(10_000)));
        };
        if let Some(other) = at_that_time(number) {
            return Err(named(failure.meets(of(other))));
        }
        vec![number & !1]
    } else {
        let kinds = failure.between.clone().unwrap_or_default();
        let named = |message: String| failure.wrong_links(entry, message);
        let forward = || (0..spec.links.len() as u32).step_by(2);
        let all: Vec<u32> = forward().filter(|l| joins(spec, *l, &kinds)).collect();
        if all.is_empty() {
            let ends = |l: u32| [kind(spec, spec.links[l as usize].from), kind(spec, spec.links[l as usize].to)];
            let kinds: BTreeSet<[&str; 2]> = forward().map(ends).collect();
            let kinds: Vec<String> = kinds.into_iter().take(20).map(|[a, b]| format!("[\"{a}\", \"{b}\"]")).collect();
            return Err(named(format!("no link joins such nodes; expected one of {}", kinds.join(", "))));
        }
        let share = failure.share.unwrap_or(0.0);
        let count = (share * all.len() as f64).round() as usize;
        let mut free: Vec<u32> = all.iter().copied().filter(|l| at_that_time(*l).is_none()).collect();
        if count == 0 || count > free.len() {
            let message = format!(
                "makes {count} of {} links, of which {} do not fail at that time already; expected at least one, and \
                 no more than these",
                all.len(),
                free.len()
            );
            return Err(Problem::with_value(format!("failures.{entry}.share"), share, message));
        }
        free.sort_by_key(|l| bits(spec.seed, purpose::FAILURE, (entry as u64) << 32 | *l as u64, u64::MAX));
        free.truncate(count);
        free.sort_unstable();
        free
    };
    match links.iter().flat_map(|l| [*l, *l ^ 1]).find_map(|l| wrong(&l)) {
        Some(problem) => Err(problem),
        None => Ok(links),
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Listed, Timetable, too_many_states};
    use crate::Scenario;

    #[test]
    fn whole_paths_are_counted_in_so_many_states_and_no_more() {
        let spec = |routing: &str| {
            let mut s = Scenario::load("link-failure").unwrap();
            s.set("routing.kind", routing).unwrap();
            s.build().unwrap()
        };
        let by_path = spec("spray-source");
        let size = Timetable::size(&by_path);
        assert_eq!(size, 2 * 4 * by_path.routers.len() as u64 * by_path.hosts as u64, "without the link, and with it");
        assert_eq!(too_many_states(&[], &by_path, size), None);
        let told = too_many_states(&[], &by_path, size - 1).unwrap().to_string();
        assert!(
            told.starts_with("failures: routing by whole paths") && told.contains(&format!("in {size} B")),
            "{told}"
        );
        assert_eq!(too_many_states(&[], &spec("spray"), size - 1), None);
        let listed = Listed { place: "m.cm, line 4".into(), words: "switch_id 0 link_id 0".into() };
        let of_a_file = Failure::from_the_beginning("agg0>core0".into(), listed);
        let of_the_scenario = Failure { listed: None, ..of_a_file.clone() };
        let key = |failures: &[Failure]| too_many_states(failures, &by_path, size - 1).unwrap().to_string();
        assert!(key(std::slice::from_ref(&of_a_file)).starts_with("m.cm, line 4: routing by whole paths"));
        assert!(key(&[of_a_file, of_the_scenario]).starts_with("failures: routing by whole paths"));
    }
}
