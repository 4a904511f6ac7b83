//! Flowlet switching: a packet that follows the previous one of its flow by more than a gap may take another next hop
//! (LetFlow, CONGA).

use crate::event::packet::Packet;
use crate::hash;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::spec::{self, Spec};
use crate::switch::port_load::PortLoad;
use crate::switch::rule::{Ctx, Rule, chance};
use incast_cc::Time;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Number of gaps after which a switch forgets an idle flow, so that ended flows take no memory.
const GAPS_REMEMBERED: u64 = 1000;

/// Minimum gap used for forgetting flows.
const MIN_GAP_REMEMBERED: Time = Time::us(1);

/// Flowlet switching.
#[derive(Clone, Debug)]
pub struct Flowlet {
    gap: Time,
    /// Probability that a flowlet looks for another next hop.
    probability: f64,
    /// Load by which the next hop is chosen; `None`: random.
    load: Option<PortLoad>,
    table: Table,
}

/// Flowlets by flow and direction.
#[derive(Clone, Debug, Default)]
struct Table {
    entries: HashMap<u64, Entry, BuildHasherDefault<Mixer>>,
    /// Number of entries at which forgotten ones are removed.
    max: usize,
}

/// Flowlet of a flow.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Arrival time of its latest packet.
    last: Time,
    /// Local port; `None` for a new flow.
    port: Option<u32>,
}

/// [`hash::mix`] as the hash of a map, whose iteration order is never used.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(*b as u64));
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = hash::mix(self.0 ^ word);
    }
}

impl Flowlet {
    /// Policy of a switch whose ports feed `links`.
    pub fn new(rule: &spec::Flowlet, spec: &Spec, links: &[LinkId]) -> Flowlet {
        let load = rule.by.as_ref().map(|by| PortLoad::new(by, spec, links));
        Flowlet { gap: rule.gap, probability: rule.probability, load, table: Table::default() }
    }
}

impl Rule for Flowlet {
    const PURE: bool = false;

    fn next(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let now = packet.time;
        let key = (packet.flow.0 as u64) << 1 | packet.is_reverse() as u64;
        let kept = self.gap.max(MIN_GAP_REMEMBERED).saturating_mul(GAPS_REMEMBERED);
        let entry = self.table.entry(key, kept, now);
        let had = entry.port.and_then(|had| hops.iter().position(|port| port == had).map(|i| i as u32));
        let i = match had {
            Some(i) if now - entry.last <= self.gap || !chance(ctx.draw(packet), self.probability) => i,
            _ => match &mut self.load {
                None => hash::pick(ctx.draw(packet), hops.len()),
                Some(load) => {
                    let best = load.lowest(ctx, packet, hops);
                    had.filter(|had| load.band(hops.get(*had)) <= load.band(hops.get(best))).unwrap_or(best)
                }
            },
        };
        *entry = Entry { last: now, port: Some(hops.get(i)) };
        i
    }
}

impl Table {
    /// Entry of the flow and direction `key`, whose packet arrives `now`; without a port if the previous packet arrived
    /// more than `kept` ago.
    fn entry(&mut self, key: u64, kept: Time, now: Time) -> &mut Entry {
        if self.entries.len() >= self.max {
            self.entries.retain(|_, entry| now - entry.last <= kept);
            self.max = (2 * self.entries.len()).max(64);
        }
        let entry = self.entries.entry(key).or_insert(Entry { last: now, port: None });
        if now - entry.last > kept {
            entry.port = None;
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Table};
    use incast_cc::Time;

    /// One packet per microsecond, each of a new flow, and another packet of it 50 us later: ended flows are not kept.
    #[test]
    fn switches_forget_flows_that_have_ended() {
        let mut flowlets = Table::default();
        let kept = Time(100);
        for now in 0..100_000u64 {
            let entry = flowlets.entry(now, kept, Time(now));
            assert_eq!(entry.port, None, "flow {now} is new");
            *entry = Entry { last: Time(now), port: Some(3) };
            if let Some(before) = now.checked_sub(50) {
                let entry = flowlets.entry(before, kept, Time(now));
                assert_eq!((entry.last, entry.port), (Time(before), Some(3)), "flow {before} is known at {now}");
                entry.last = Time(now);
            }
            assert!(flowlets.entries.len() <= 310, "{} flows kept of about 150", flowlets.entries.len());
        }
        let left = *flowlets.entries.keys().min().unwrap();
        assert_eq!(
            flowlets.entry(left, Time::ZERO, Time::NEVER).port,
            None,
            "forgotten, whether or not it was taken out"
        );
    }
}
