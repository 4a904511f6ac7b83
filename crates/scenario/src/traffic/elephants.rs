//! Elephants: flows of another entry that become long flows on a single path and obstruct all others.
//!
//! They keep their ends and their numbers, so that under one seed the other flows are the same with and without them.
//! Labels show where a flow shares switches with them.

use super::flows::Flows;
use super::near::{ElephantPlacement, NEAR, Near, rank};
use super::shuffle::drawn;
use crate::document::app::App;
use crate::document::traffic::{PatternName, Placement, Traffic};
use crate::text::problem::Problem;
use crate::topology::network::Network;
use incast_engine::hash::{self, purpose};
use incast_engine::spec::{FlowSpec, Label};

use std::collections::HashMap;

/// Largest number of draws before a placement is given up.
const MAX_DRAWS: u64 = 10_000;

/// Places shared by the most affected flows with this many elephants, from the paper on MSwift.
fn published(elephants: u64) -> Option<(Near, Near)> {
    match elephants {
        1 => Some((Near::Leaf, Near::None)),
        2 | 3 => Some((Near::Leaf, Near::Pod)),
        6 => Some((Near::Leaf, Near::Leaf)),
        _ => None,
    }
}

/// A class of flows, in words.
fn words((near, far): (Near, Near)) -> String {
    let name = |near: Near| NEAR[near as usize];
    match far {
        Near::None => format!("a {} at one end and nothing at the other", name(near)),
        _ if far == near => format!("a {} at both ends", name(near)),
        _ => format!("a {} at one end and a {} at the other", name(near), name(far)),
    }
}

/// Labels of flows: the places shared with elephants.
pub(crate) fn labels(entries: &[Traffic], network: &Network, flows: &[FlowSpec]) -> Vec<Label> {
    let is_one = |f: &FlowSpec| entries.get(f.group as usize).is_some_and(|t| t.pattern == PatternName::Elephants);
    let ends = |f: &FlowSpec| (f.src, f.dst);
    let placement = ElephantPlacement::new(network, flows.iter().filter(|f| is_one(f)).map(ends));
    let shared = flows.iter().map(|f| placement.sharing(ends(f), is_one(f)));
    let (sources, destinations) = shared.map(|(source, destination)| (source as u32, destination as u32)).unzip();
    let label = |name, definition, of| Label { name, definition, values: &NEAR, of };
    let of_sources = "Nearest source of an elephant to the flow's source: on its leaf, in its pod, or none. An \
                      elephant is compared with the others.";
    vec![
        label("shared_source", of_sources, sources),
        label("shared_destination", "As shared_source, of the destinations.", destinations),
    ]
}

impl Traffic {
    /// Turns `n` flows of the entry `of` into flows of this one.
    pub(crate) fn add_elephants(
        &self,
        of: &str,
        n: u64,
        placement: Placement,
        entry: u32,
        flows: &mut Flows,
    ) -> Result<(), Problem> {
        let path = flows.path.clone();
        let wrong = |message: String| Problem::quoted(format!("{path}.of"), of, message);
        let before: Vec<String> = flows.entries[..entry as usize].iter().map(Traffic::name).collect();
        let Some(group) = before.iter().position(|name| name == of) else {
            let message = match before[..] {
                [] => "no entry comes before this one; expected one whose flows become elephants".to_owned(),
                _ => format!("no entry before this one has this name; expected one of {}", before.join(", ")),
            };
            return Err(wrong(message).suggest(of, before.iter().map(String::as_str)));
        };
        if matches!(flows.entries[group].app, App::Query(_)) {
            return Err(wrong("its flows are two-way connections; expected an entry of another app than query".into()));
        }
        if n == 0 {
            return Ok(());
        }
        let of_group = (0u32..).zip(&flows.flows).filter(|(_, flow)| flow.group == group as u32);
        let numbers: Vec<u32> = of_group.map(|(number, _)| number).collect();
        if let Some(i) = numbers.iter().position(|f| flows.flows[*f as usize].trigger.is_some()) {
            return Err(wrong(format!("its flow {i} waits for another; expected an entry whose flows wait for none")));
        }
        if n >= numbers.len() as u64 {
            let message = format!("expected fewer than the flows of {of}, of which there are {}", numbers.len());
            return Err(Problem::with_value(format!("{path}.flows"), n, message));
        }
        let chosen = choose(placement, entry, &numbers, n as u32, flows)?;
        let own = self.begin(entry, 0, flows)?;
        for (i, number) in (0u64..).zip(chosen) {
            let start = self.opening(entry, i, flows.seed);
            self.check_stop(start, flows, format_args!("elephant {i} opens"))?;
            let flow = self.paced(own.flow(flows.ends(number), start), flows)?;
            self.check_write(&flow, flows)?;
            flows.flows[number as usize] = flow;
        }
        Ok(())
    }
}

/// Selects `n` of the flows `numbers`.
fn choose(placement: Placement, entry: u32, numbers: &[u32], n: u32, flows: &Flows) -> Result<Vec<u32>, Problem> {
    let all = numbers.len() as u32;
    let draws = |attempt: u64| {
        let bits = |i: u32| hash::bits(flows.seed, purpose::PLACEMENT, entry as u64, attempt << 24 | i as u64);
        let chosen = drawn(n, all, |i, below| hash::pick(bits(i), below));
        chosen.into_iter().map(|i| numbers[i as usize]).collect::<Vec<u32>>()
    };
    let Some(wanted) = published(n as u64).filter(|_| placement == Placement::Paper) else {
        return Ok(draws(0));
    };
    let wrong = |message| Problem::quoted(format!("{}.placement", flows.path), "paper", message);
    if wanted.1 == Near::Pod && flows.network.hosts_per_pod == 0 {
        let message =
            format!("asks for flows that share {}: the topology has no pods; expected \"random\"", words(wanted));
        return Err(wrong(message));
    }
    let affected = (numbers.len() - n as usize).div_ceil(100);
    // every flow as affected as this shares a leaf at one end, and these are few
    let racks = &flows.network.racks;
    let mut by_leaf: HashMap<(bool, u32), Vec<u32>> = HashMap::new();
    for number in numbers {
        let (src, dst) = flows.ends(*number);
        by_leaf.entry((false, racks[src as usize])).or_default().push(*number);
        by_leaf.entry((true, racks[dst as usize])).or_default().push(*number);
    }
    for attempt in 0..MAX_DRAWS {
        let elephants = draws(attempt);
        let ends = || elephants.iter().map(|f| flows.ends(*f));
        let placed = ElephantPlacement::new(flows.network, ends());
        let leaves = ends().flat_map(|(src, dst)| [(false, racks[src as usize]), (true, racks[dst as usize])]);
        let mut near: Vec<u32> = leaves.filter_map(|leaf| by_leaf.get(&leaf)).flatten().copied().collect();
        near.sort_unstable();
        near.dedup();
        let (mut as_wanted, mut more) = (0, 0);
        for flow in near.into_iter().filter(|f| !elephants.contains(f)) {
            let rank = rank(placed.sharing(flows.ends(flow), false));
            as_wanted += usize::from(rank == wanted);
            more += usize::from(rank > wanted);
        }
        if more < affected && more + as_wanted >= affected {
            return Ok(elephants);
        }
    }
    let message = format!(
        "in {MAX_DRAWS} draws of {n} of the {} flows, the most affected {affected} of the others never shared {}: \
         impossible in this topology; expected \"random\", or a larger network",
        numbers.len(),
        words(wanted)
    );
    Err(wrong(message))
}
