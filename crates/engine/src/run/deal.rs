//! The packets of a window that opens: dealt out to their domains by counting, and ordered within a domain.

use crate::event::order::Order;
use crate::event::packet::Packet;
use crate::ids::DomainId;
use crate::switch::route::Planned;
use std::cmp::Ordering;

/// Bits of a sort key that hold the index of a packet's plan.
pub const INDEX_BITS: u32 = 32;
pub const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// The packets of an open window by domain.
pub struct Deal {
    /// Where in `index` those of each domain lie, from and to; empty for all between windows.
    runs: Vec<(u32, u32)>,
    /// Their places in the bucket, in the order of sending.
    index: Vec<u32>,
}

impl Deal {
    /// Nothing is dealt out to `domains` domains.
    pub fn new(domains: usize) -> Deal {
        Deal { runs: vec![(0, 0); domains], index: Vec::new() }
    }

    /// Deals packets out to `domains`, and adds those that get some to `todo`.
    pub fn out(&mut self, domains: &[DomainId], todo: &mut Vec<DomainId>) {
        for d in domains {
            let run = &mut self.runs[*d];
            if run.1 == 0 {
                todo.push(*d);
            }
            run.1 += 1;
        }
        let mut sum = 0;
        for d in todo.iter() {
            let run = &mut self.runs[*d];
            let count = run.1;
            *run = (sum, sum);
            sum += count;
        }
        self.index.resize(domains.len(), 0);
        for (i, d) in (0u32..).zip(domains) {
            let end = &mut self.runs[*d].1;
            self.index[*end as usize] = i;
            *end += 1;
        }
    }

    /// Places of the packets of `domain`.
    pub fn of(&self, domain: DomainId) -> &[u32] {
        let (from, to) = self.runs[domain];
        &self.index[from as usize..to as usize]
    }

    /// Takes back what was dealt out to the domains of `todo`.
    pub fn clear(&mut self, todo: &[DomainId]) {
        todo.iter().for_each(|d| self.runs[*d] = (0, 0));
    }
}

/// The knowledge of a domain about a packet as its window opens.
#[derive(Clone, Copy, Default, Debug)]
pub struct Plan {
    /// Its place among the packets of the window.
    pub packet: u32,
    /// The next hop, where the look ahead has found it (`Domain::plan`).
    pub route: Planned,
}

/// Orders a domain's packets by (time, tie key, link, order of sending on the link). An entry is the
/// offset into the window above the index of the packet's plan, in one word; they come in the order of sending.
#[inline]
pub fn sort(packets: &[Packet], plans: &[Plan], rule: Order, order: &mut [u64]) {
    order.sort_unstable();
    // equal times on different links: by tie key
    let mut i = 1;
    while i < order.len() {
        if order[i] >> INDEX_BITS == order[i - 1] >> INDEX_BITS {
            i += order_ties(packets, plans, rule, &mut order[i - 1..]);
        } else {
            i += 1;
        }
    }
}

/// Orders the run of equal offsets at the head of `order`; its length.
#[cold]
fn order_ties(packets: &[Packet], plans: &[Plan], rule: Order, order: &mut [u64]) -> usize {
    let offset = order[0] >> INDEX_BITS;
    let run = order.partition_point(|o| o >> INDEX_BITS == offset);
    let order = &mut order[..run];
    let packet = |o: u64| &packets[plans[(o & INDEX_MASK) as usize].packet as usize];
    // for the time of this sort the key stands where the offset does: a word tells most packets apart
    for o in order.iter_mut() {
        *o = (rule.tie_of(packet(*o)) as u64) << INDEX_BITS | *o & INDEX_MASK;
    }
    order.sort_unstable_by(|a, b| match (a >> INDEX_BITS).cmp(&(b >> INDEX_BITS)) {
        Ordering::Equal => (packet(*a).link, a).cmp(&(packet(*b).link, b)),
        unequal => unequal,
    });
    for o in order.iter_mut() {
        *o = offset << INDEX_BITS | *o & INDEX_MASK;
    }
    run
}
