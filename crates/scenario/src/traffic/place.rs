//! Sources and destinations of flows, pattern by pattern.

use super::flows::Flows;
use super::roots;
use super::shuffle::shuffled;
use crate::document::app::App;
use crate::document::pattern::Pattern;
use crate::document::traffic::{HostRef, ToItself, Traffic};
use crate::text::problem::{Errors, Problem};
use incast_engine::hash::{self, purpose};

impl Traffic {
    /// Adds flows of the patterns whose ends come from [`place`].
    pub(crate) fn add_placed(&self, pattern: Pattern, entry: u32, flows: &mut Flows) -> Result<(), Errors> {
        // a connection with requests and responses is two flows
        let flows_each = 1 + u64::from(matches!(self.app, App::Query(_)));
        let hosts = flows.network.hosts;
        let n = match pattern {
            Pattern::PartitionAggregate { roots } => roots.workers().saturating_mul(roots.count.into()),
            Pattern::Pairs { flows: None } => flows.network.sides.map_or(hosts, |(senders, _)| senders).into(),
            _ => self.flows.unwrap_or(hosts.into()),
        };
        flows.reserve(n.saturating_mul(flows_each))?;
        let pairs = place(pattern, entry, n as u32, flows)?;
        let own = self.begin(entry, 0, flows)?;
        let mut connections = Vec::new();
        for (i, ends) in (0u64..).zip(pairs) {
            let start = self.opening(entry, i, flows.seed);
            self.check_stop(start, flows, format_args!("flow {i} of the entry opens"))?;
            let flow = self.paced(own.flow(ends, start), flows)?;
            if i == 0 {
                self.check_write(&flow, flows)?;
            }
            match &self.app {
                App::Query(_) => connections.push((flow, None)),
                _ => _ = flows.push(flow),
            }
        }
        Ok(self.add_queries(entry, connections, flows)?)
    }
}

/// Sender and receiver of every flow.
fn place(pattern: Pattern, entry: u32, n: u32, flows: &Flows) -> Result<Vec<(u32, u32)>, Problem> {
    let hosts = flows.network.hosts;
    let path = &flows.path;
    check_two_hosts(flows)?;
    let draw = |counter: u64, n: u32| hash::pick(hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, counter), n);
    // A draw among all hosts but one.
    let other = |counter: u64, not: u32| {
        let h = draw(counter, hosts - 1);
        h + u32::from(h >= not)
    };
    Ok(match pattern {
        Pattern::Hotspot { receiver, to_itself, .. } => {
            let to = resolve(receiver, flows, draw(0, hosts))?;
            let from = |i| match to_itself {
                _ if i % hosts != to => Some(i % hosts),
                ToItself::NextHost => Some((i + 1) % hosts),
                ToItself::Skip => None,
            };
            let flows: Vec<_> = (0..n).filter_map(from).map(|from| (from, to)).collect();
            if flows.is_empty() {
                let message = "no flow is left; expected more flows, or \"next-host\"";
                return Err(Problem::quoted(format!("{path}.to_itself"), "skip", message));
            }
            flows
        }
        Pattern::RandomHotspot { .. } => {
            let to = draw(0, hosts);
            (0..n).map(|i| (other(1 + i as u64, to), to)).collect()
        }
        Pattern::RandomPairs { .. } => (0..n as u64)
            .map(|i| {
                let to = draw(2 * i, hosts);
                (other(2 * i + 1, to), to)
            })
            .collect(),
        Pattern::Permutation { .. } => {
            let mut pairs = Vec::with_capacity(n as usize);
            for round in 0..n.div_ceil(hosts) as u64 {
                // Shuffles with a fixed point are rejected: the rest is uniform among those without, after e shuffles
                // on average.
                let to = (0u64..)
                    .map(|attempt| shuffled(hosts, |i, n| draw(((round << 20 | attempt) << 24) + i as u64, n)))
                    .find(|p| (0..hosts).zip(p).all(|(from, to)| from != *to))
                    .unwrap_or_default();
                pairs.extend((0..hosts).zip(to));
            }
            pairs.truncate(n as usize);
            pairs
        }
        Pattern::Incast { receiver, .. } => {
            let to = resolve(receiver, flows, draw(0, hosts))?;
            let order = shuffled(hosts - 1, |i, n| draw(1 + i as u64, n));
            (0..n).map(|i| order[(i % (hosts - 1)) as usize]).map(|h| (h + u32::from(h >= to), to)).collect()
        }
        Pattern::PartitionAggregate { roots } => roots::place(roots, entry, flows)?,
        Pattern::Pairs { .. } => match flows.network.sides {
            Some((senders, receivers)) => (0..n).map(|i| (i % senders, senders + i % receivers)).collect(),
            None => {
                let message = "expected a topology with senders and receivers: dumbbell or star";
                return Err(Problem::quoted(format!("{path}.pattern"), "pairs", message));
            }
        },
        _ => Vec::new(),
    })
}

/// Receiver named by the user; default: the last host.
fn resolve(named: Option<&HostRef>, flows: &Flows, drawn: u32) -> Result<u32, Problem> {
    let key = format!("{}.receiver", flows.path);
    match named {
        Some(HostRef::Number(h)) => host(&h.to_string(), flows, |m| Problem::with_value(&key, h, m)),
        Some(HostRef::Name(name)) if name == "random" => Ok(drawn),
        Some(HostRef::Name(name)) if name != "last" => host(name, flows, |m| Problem::quoted(&key, name, m)),
        _ => Ok(flows.network.hosts - 1),
    }
}

pub(crate) fn check_two_hosts(flows: &Flows) -> Result<(), Problem> {
    if flows.network.hosts < 2 {
        let message = "the topology has one host; expected at least two to send between";
        return Err(Problem::new(format!("{}.pattern", flows.path), message));
    }
    Ok(())
}

/// A host by name or number.
pub(crate) fn host(text: &str, flows: &Flows, wrong: impl Fn(String) -> Problem) -> Result<u32, Problem> {
    let hosts = flows.network.hosts;
    let found = flows.node(text).or_else(|| text.parse().ok());
    match found {
        Some(h) if h < hosts => Ok(h),
        _ => {
            let names = &flows.network.names[..hosts as usize];
            let last = names.last().map_or("", String::as_str);
            let p = wrong(format!("expected a host: {} to {last}, or a number from 0 to {}", names[0], hosts - 1));
            // For numbered names the nearest spelling is meaningless.
            let numbered = text.bytes().any(|b| b.is_ascii_digit());
            Err(if numbered { p } else { p.suggest(text, names.iter().take(1000).map(String::as_str)) })
        }
    }
}
