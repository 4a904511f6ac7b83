//! Settings of single links or of links matching a pattern, and queues of their ports: `[[links]]`.

use crate::document::queue::Queue;
use crate::text::pattern::fits;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Rate, Size, Time};
use crate::topology::link::{ErrorUnit, Link, LinkChange};
use crate::topology::network::Network;
use incast_cc as cc;
use incast_engine::spec::{Loss, Name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// One link, or the links of a pattern, and the settings that differ there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SingleLink {
    /// Name of the link, as that of a port: sending and receiving node, such as `"agg0>core0"`; or a pattern in which
    /// `*` stands for any part of a node's name, such as `"tor*>h*"`. Forward is the named direction.
    pub link: String,
    /// Queue of the named ports, not of those at the other end. Replaces `[queue]` or `[queue.host]` completely: no
    /// key of these applies.
    pub queue: Option<Queue>,
    #[serde(flatten)]
    change: LinkChange,
}

/// A queue of only some ports.
pub(crate) struct OwnQueue<'d> {
    /// Key of the queue.
    pub(crate) key: String,
    pub(crate) queue: &'d Queue,
    /// Links of the ports.
    pub(crate) links: Vec<usize>,
}

impl OwnQueue<'_> {
    /// True if some of its ports belong to switches.
    pub(crate) fn at_switches(&self, network: &Network) -> bool {
        self.links.iter().any(|l| network.links[*l].from >= network.hosts)
    }
}

/// Changes the named links; returns queues of their ports. Problems go to `out`.
pub(crate) fn apply<'d>(singles: &'d [SingleLink], network: &mut Network, out: &mut Vec<Problem>) -> Vec<OwnQueue<'d>> {
    let mut own = Vec::new();
    if singles.is_empty() {
        return own;
    }
    let numbers: HashMap<Name, usize> = network.links.iter().map(|l| l.name.clone()).zip(0..).collect();
    // for each link, the entry that changes it, and the entry with the queue of its port
    let (mut changed, mut queued) = (HashMap::new(), HashMap::new());
    for (i, single) in singles.iter().enumerate() {
        let named = |message: String| Problem::quoted(format!("links.{i}.link"), &single.link, message);
        let links = match numbers.get(&Name::from(single.link.as_str())) {
            Some(link) => vec![*link],
            None => (0..network.links.len()).filter(|l| matches(&single.link, &network.links[*l].name)).collect(),
        };
        if links.is_empty() {
            out.push(unknown(&single.link, network, named));
            continue;
        }
        // the directions of a link are adjacent; if a pattern matches both, forward is the topology's
        let pairs: Vec<usize> =
            links.iter().copied().filter(|l| l % 2 == 0 || links.binary_search(&(l ^ 1)).is_err()).collect();
        let is_change = single.change != LinkChange::default() || single.queue.is_none();
        let twice = pairs.iter().filter(|_| is_change).find_map(|l| Some((*l, changed.insert(l / 2, i)?)));
        if let Some((link, before)) = twice {
            let about =
                if links.len() == 1 { "the same link".into() } else { format!("{} too", network.links[link].name) };
            out.push(named(format!("links.{before} is about {about}; expected one entry a link")));
            continue;
        }
        let twice = links.iter().filter(|_| single.queue.is_some()).find_map(|l| Some((*l, queued.insert(*l, i)?)));
        if let Some((link, before)) = twice {
            let name = &network.links[link].name;
            out.push(named(format!("links.{before} has a queue for {name} too; expected one queue a port")));
            continue;
        }
        // a problem of several links of a pattern is reported once
        let before = out.len();
        for forward in pairs.into_iter().filter(|_| is_change) {
            single.change_pair(&format!("links.{i}"), forward, forward ^ 1, network, out);
            if out.len() > before {
                break;
            }
        }
        own.extend(single.queue.as_ref().map(|queue| OwnQueue { key: format!("links.{i}.queue"), queue, links }));
    }
    own
}

/// Problem with a name or pattern that matches no link.
fn unknown(name: &str, network: &Network, named: impl Fn(String) -> Problem) -> Problem {
    let names = || network.links.iter().map(|l| &*l.name);
    if !name.contains('*') {
        let first = names().next().unwrap_or_default();
        let problem =
            named(format!("no such link; expected a name such as \"{first}\", or a pattern such as \"h*>*\""));
        return problem.suggest(name, names().take(10_000));
    }
    let kind = |node: u32| network.names[node as usize].trim_end_matches(|c: char| c.is_ascii_digit());
    let kinds: BTreeSet<_> = network.links.iter().map(|l| (kind(l.from), kind(l.to))).collect();
    let kinds: Vec<String> = kinds.into_iter().take(20).map(|(a, b)| format!("\"{a}*>{b}*\"")).collect();
    named(format!("matches no link; expected a pattern of some, such as {}", kinds.join(", ")))
}

/// True if `name` matches a pattern: in the name of either end, `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let (Some((from, to)), Some((a, b))) = (pattern.split_once('>'), name.split_once('>')) else { return false };
    pattern.contains('*') && fits(from, a) && fits(to, b)
}

impl SingleLink {
    /// True if the entry names this link.
    pub(crate) fn names(&self, link: &Name) -> bool {
        self.link.as_str() == &**link || matches(&self.link, link)
    }

    /// True if the entry has only the name of its link.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.change == LinkChange::default() && self.queue.is_none()
    }

    /// Size of the token bucket, if given here.
    pub(crate) fn burst(&self) -> Option<Size> {
        self.change.burst
    }

    fn change_pair(&self, key: &str, forward: usize, back: usize, network: &mut Network, out: &mut Vec<Problem>) {
        let (ahead, behind) = (&network.links[forward], &network.links[back]);
        let lose = if let Loss::List(list) = &ahead.loss { list.clone() } else { Vec::new() };
        let probability = |loss: &Loss| if let Loss::Packet(p) | Loss::Byte(p) = loss { *p } else { 0.0 };
        let (error_rate, back_error_rate) = (probability(&ahead.loss), probability(&behind.loss));
        let by_byte = [ahead, behind].iter().any(|l| matches!(l.loss, Loss::Byte(_)));
        let link = Link {
            rate: Rate(ahead.rate),
            delay: Time(ahead.delay),
            overhead: ahead.overhead,
            burst: (ahead.bucket > 0).then_some(Size(cc::Bytes(ahead.bucket as u64))),
            back_rate: (behind.rate != ahead.rate).then_some(Rate(behind.rate)),
            back_delay: (behind.delay != ahead.delay).then_some(Time(behind.delay)),
            error_rate,
            back_error_rate: (back_error_rate != error_rate).then_some(back_error_rate),
            error_unit: if by_byte { ErrorUnit::Byte } else { ErrorUnit::Packet },
            lose,
        };
        let link = link.with(&Some(self.change.clone()));
        let before = out.len();
        link.check(&mut Report::new(key, out));
        if out.len() > before {
            return;
        }
        let LinkChange { error_rate, back_error_rate, error_unit, lose, .. } = &self.change;
        let keeps_losses = error_rate.or(*back_error_rate).is_none() && error_unit.is_none() && lose.is_none();
        let (from, to) = (ahead.from, ahead.to);
        for (place, mut direction) in [forward, back].into_iter().zip(link.directions(from, to)) {
            if keeps_losses {
                direction.loss = network.links[place].loss.clone();
            }
            direction.name = network.links[place].name.clone();
            network.links[place] = direction;
        }
    }
}
