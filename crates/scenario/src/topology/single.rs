//! Single links that differ from all others of their kind: `[[links]]`.

use super::link::{ErrorUnit, Link, LinkChange};
use super::network::Network;
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Rate, Size, Time};
use incast_cc as cc;
use incast_engine::spec::{Loss, Name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// One link, and what is different there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SingleLink {
    /// Its name, as that of a port: sending and receiving node, such as `"agg0>core0"`. Forward is the direction named.
    pub link: String,
    #[serde(flatten)]
    change: LinkChange,
}

/// Changes the links that are named; what is wrong goes to `out`.
pub(crate) fn apply(singles: &[SingleLink], network: &mut Network, out: &mut Vec<Problem>) {
    if singles.is_empty() {
        return;
    }
    let numbers: HashMap<Name, usize> = network.links.iter().map(|l| l.name.clone()).zip(0..).collect();
    let mut changed = HashMap::new();
    for (i, single) in singles.iter().enumerate() {
        let named = |message: String| Problem::quoted(format!("links.{i}.link"), &single.link, message);
        let Some(&forward) = numbers.get(&Name::from(single.link.as_str())) else {
            let names = || network.links.iter().map(|l| &*l.name);
            let first = names().next().unwrap_or_default();
            let problem = named(format!("no such link; expected a name such as \"{first}\""));
            out.push(problem.suggest(&single.link, names().take(10_000)));
            continue;
        };
        // both directions of a link lie side by side
        let back = forward ^ 1;
        if let Some(before) = changed.insert(forward.min(back), i) {
            out.push(named(format!("links.{before} is about the same link; expected one entry a link")));
            continue;
        }
        single.change_pair(&format!("links.{i}"), forward, back, network, out);
    }
}

impl SingleLink {
    /// It names its link, and that is all.
    pub(crate) fn changes_nothing(&self) -> bool {
        self.change == LinkChange::default()
    }

    /// Size of the token bucket, where it is given here.
    pub(crate) fn burst(&self) -> Option<Size> {
        self.change.burst
    }

    fn change_pair(&self, key: &str, forward: usize, back: usize, network: &mut Network, out: &mut Vec<Problem>) {
        let (ahead, behind) = (&network.links[forward], &network.links[back]);
        let (error_rate, error_unit, lose) = match &ahead.loss {
            Loss::None => (0.0, ErrorUnit::Packet, Vec::new()),
            Loss::Packet(p) => (*p, ErrorUnit::Packet, Vec::new()),
            Loss::Byte(p) => (*p, ErrorUnit::Byte, Vec::new()),
            Loss::List(list) => (0.0, ErrorUnit::Packet, list.clone()),
        };
        let link = Link {
            rate: Rate(ahead.rate),
            delay: Time(ahead.delay),
            overhead: ahead.overhead,
            burst: (ahead.bucket > 0).then_some(Size(cc::Bytes(ahead.bucket as u64))),
            back_rate: (behind.rate != ahead.rate).then_some(Rate(behind.rate)),
            back_delay: (behind.delay != ahead.delay).then_some(Time(behind.delay)),
            error_rate,
            error_unit,
            lose,
        };
        let link = link.with(&Some(self.change.clone()));
        let before = out.len();
        link.check(&mut Report::new(key, out));
        if out.len() > before {
            return;
        }
        let LinkChange { error_rate, error_unit, lose, .. } = &self.change;
        let keeps_losses = error_rate.is_none() && error_unit.is_none() && lose.is_none();
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
