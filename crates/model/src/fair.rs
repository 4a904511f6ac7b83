//! Max-min fair shares of links (Bertsekas and Gallager, Data Networks, section 6.5.2): no flow can get more without
//! taking from one that has no more.
//!
//! Rates rise together until a link is full or a flow reaches its demand. The flows of that link, or that flow, keep
//! their rates, and the others continue to rise. A flow may use any share of a link per unit of its rate; this covers
//! headers and flows spread over many paths.

use crate::declaration::{Invalid, Quantity};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Links used by a flow, and its demand.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    /// Links, by index, each with the capacity used per unit of the flow's rate; at least 0.
    pub takes: Vec<(usize, f64)>,
    /// Demand; infinite for a flow that always has data.
    pub most: f64,
}

impl Demand {
    /// A flow that always has data and uses its rate on every one of these links.
    pub fn over(links: &[usize]) -> Demand {
        Demand { takes: links.iter().map(|l| (*l, 1.0)).collect(), most: f64::INFINITY }
    }
}

/// Level at which a link is full or a demand is met.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Reached {
    level: f64,
    /// Links come before demands of the same level, each in their order.
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    Link(usize),
    Flow(usize),
}

impl Eq for Reached {}
impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        self.level.total_cmp(&other.level).then(self.what.cmp(&other.what))
    }
}

/// Max-min fair rates of `flows` over links of these capacities, in the unit of the capacities; infinite for a flow
/// that nothing limits. Costs O(n log n) for n entries in the lists of all flows.
///
/// Errors: a capacity, a demand or a share of a link that is below 0 or not a number; a link that does not exist.
pub fn max_min(capacity: &[f64], flows: &[Demand]) -> Result<Vec<f64>, Invalid> {
    let refuse = |parameter, value, expected: &'static str| {
        Err(Invalid { parameter, quantity: Quantity::Number, value, expected: expected.into() })
    };
    if let Some(c) = capacity.iter().find(|c| c.is_nan() || **c < 0.0) {
        return refuse("capacity", *c, "a number of at least 0");
    }
    let mut users: Vec<Vec<(usize, f64)>> = vec![Vec::new(); capacity.len()];
    for (i, flow) in flows.iter().enumerate() {
        if flow.most.is_nan() || flow.most < 0.0 {
            return refuse("most", flow.most, "a number of at least 0");
        }
        for &(link, part) in &flow.takes {
            if !(part >= 0.0 && part.is_finite()) {
                return refuse("takes", part, "a number of at least 0");
            }
            match users.get_mut(link) {
                Some(users) if part > 0.0 => users.push((i, part)),
                Some(_) => {}
                None => return refuse("takes", link as f64, "the index of a link"),
            }
        }
    }
    // capacity used on a link by frozen flows, and per unit of level by the others
    let mut taken = vec![0.0; capacity.len()];
    let mut rising: Vec<f64> = users.iter().map(|users| users.iter().map(|u| u.1).sum()).collect();
    let mut left: Vec<usize> = users.iter().map(Vec::len).collect();
    let level = |taken: f64, rising: f64, link: usize| {
        if rising > 0.0 { ((capacity[link] - taken) / rising).max(0.0) } else { f64::INFINITY }
    };
    let mut next: BinaryHeap<Reverse<Reached>> = BinaryHeap::new();
    next.extend((0..users.len()).map(|l| Reverse(Reached { level: level(0.0, rising[l], l), what: What::Link(l) })));
    next.extend(flows.iter().enumerate().map(|(i, f)| Reverse(Reached { level: f.most, what: What::Flow(i) })));
    let mut rates: Vec<Option<f64>> = vec![None; flows.len()];
    while let Some(Reverse(reached)) = next.pop() {
        let frozen: Vec<usize> = match reached.what {
            What::Flow(flow) => vec![flow],
            What::Link(link) => {
                let now = level(taken[link], rising[link], link);
                if now > reached.level {
                    // other flows have stopped rising since: the link is full later
                    next.push(Reverse(Reached { level: now, what: reached.what }));
                    continue;
                }
                if left[link] == 0 || now.is_infinite() {
                    continue;
                }
                users[link].iter().map(|u| u.0).collect()
            }
        };
        for flow in frozen {
            if rates[flow].is_some() {
                continue;
            }
            rates[flow] = Some(reached.level);
            for &(link, part) in flows[flow].takes.iter().filter(|t| t.1 > 0.0) {
                taken[link] += part * reached.level;
                left[link] -= 1;
                // exactly zero once the last flow has stopped, despite rounding
                rising[link] = if left[link] == 0 { 0.0 } else { (rising[link] - part).max(f64::MIN_POSITIVE) };
            }
        }
    }
    Ok(rates.into_iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect())
}
