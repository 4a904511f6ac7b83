//! What a switch remembers to choose among equal next hops at the instant of an arrival.
//!
//! Choices that follow from the packet alone are made when a window looks ahead ([`crate::map::fabric::Switch::route`]).
//! The rest needs the switch as it is when the packet arrives: whose turn it is, or how full the ports are. It
//! is state of one switch, changed in the order of that switch's events, so it is the same under any partition.

use crate::event::hash::{self, purpose};
use crate::map::paths::Hops;
use crate::port::Port;
use crate::spec::{Adaptive, Flowlet, Gauged, Limit, PathChoice, Spec};
use incast_cc::Time;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// State of one switch.
#[derive(Clone, Debug, Default)]
pub struct Chooser {
    node: u32,
    /// Round robin, a rota for each set of next hops that has had a packet.
    rotas: Vec<Rota>,
    /// Adaptive routing.
    gauges: Gauges,
    flowlets: Flowlets,
}

/// The ways of flows that pass, by flow and direction.
#[derive(Clone, Debug, Default)]
struct Flowlets {
    courses: HashMap<u64, Course, BuildHasherDefault<Mixer>>,
    /// With so many of them those go that are forgotten.
    most: usize,
}

/// After a pause of more gaps than this a flow is a new one to a switch, which then need not remember those that ended.
const GAPS_REMEMBERED: u64 = 1000;

/// Shorter gaps count as this one there.
const LEAST_GAP_REMEMBERED: Time = Time::us(1);

#[derive(Clone, Debug, Default)]
struct Rota {
    /// Packets so far.
    packets: u64,
    /// The order of the next hops now.
    order: Vec<u32>,
}

/// The way that a flow takes for now.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// When its latest packet came, ps.
    last: u64,
    /// Local port; none for a flow that is new.
    port: Option<u32>,
}

/// [`hash::mix`] as a map's hash: the order in a map is nowhere looked at.
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

/// What is known of the ports, by local port. What every choice looks at is packed: the readings of eight
/// ports lie in two cache lines.
#[derive(Clone, Debug, Default)]
struct Gauges {
    /// From when on a port's reading is too old, ps.
    stale: Vec<u64>,
    /// Band of each port by its reading.
    band: Vec<u8>,
    scales: Vec<Scale>,
}

/// What turns a port's state into a band.
#[derive(Clone, Debug)]
struct Scale {
    /// Ports of one class have their ends in common.
    ends: Ends,
    /// Bytes that the link carries in a picosecond; 0 at an infinite rate.
    speed: f64,
    /// When it was read last, ps, and the bytes transmitted by then.
    read: Option<u64>,
    sent: u64,
}

/// Least queues of the bands above the first.
#[derive(Clone, Debug)]
enum Ends {
    Packets(Vec<u32>),
    Bytes(Vec<u64>),
}

/// The least whole number that makes a share of `limit` of at least `band`, and is more than nothing.
fn least(band: f64, limit: u64) -> u64 {
    let reaches = |n: u64| n as f64 / limit as f64 >= band;
    let mut n = (band * limit as f64) as u64;
    while n > 1 && reaches(n - 1) {
        n -= 1;
    }
    while !reaches(n) {
        n += 1;
    }
    n.max(1)
}

impl Chooser {
    /// The state that switch `node` needs under `spec`'s policy, its ports being `links`, in order; `None` where its
    /// choices follow from packets alone.
    pub fn new(spec: &Spec, node: u32, links: &[u32]) -> Option<Box<Chooser>> {
        let gauges = match &spec.choice {
            PathChoice::Adaptive(rule)
            | PathChoice::EcmpAdaptive(rule, _)
            | PathChoice::Flowlet(Flowlet { by: Some(rule), .. }) => Gauges::new(rule, spec, links),
            PathChoice::PowerOfTwo | PathChoice::RoundRobin { .. } | PathChoice::Flowlet(_) => Gauges::default(),
            _ => return None,
        };
        Some(Box::new(Chooser { node, rotas: Vec::new(), gauges, flowlets: Flowlets::default() }))
    }

    /// Which of at least two next hops a packet of `flow` (and direction) takes at `now`. `set` numbers the set of next
    /// hops, `draw` gives the packet's own random number, and `ports` are the switch's ports.
    #[expect(clippy::too_many_arguments, reason = "what a switch knows of a packet; one caller")]
    pub fn choose(
        &mut self,
        spec: &Spec,
        flow: (u32, bool),
        set: u32,
        hops: Hops,
        draw: impl Fn() -> u64 + Copy,
        ports: &[Port],
        now: u64,
    ) -> u32 {
        match &spec.choice {
            PathChoice::RoundRobin { rounds } => self.turn(spec.seed, set, hops.len(), *rounds),
            PathChoice::Adaptive(rule) => self.gauges.lowest(rule, hops, draw, ports, now),
            PathChoice::PowerOfTwo => {
                let (n, draw) = (hops.len(), draw());
                let a = hash::pick(draw, n);
                let b = (a + 1 + hash::pick(hash::mix(draw), n - 1)) % n;
                let bytes = |i: u32| ports[hops.get(i) as usize].filling(now).1;
                if bytes(b) < bytes(a) { b } else { a }
            }
            PathChoice::EcmpAdaptive(rule, probability) => {
                let hashed = hash::pick(hash::ecmp(spec.seed, flow.0, flow.1, self.node), hops.len());
                if !chance(draw(), *probability) {
                    return hashed;
                }
                let best = self.gauges.lowest(rule, hops, draw, ports, now);
                let worst = hops.iter().map(|port| self.gauges.band[port as usize]).max();
                if worst == Some(self.gauges.band[hops.get(hashed) as usize]) { best } else { hashed }
            }
            PathChoice::Flowlet(rule) => {
                let key = (flow.0 as u64) << 1 | flow.1 as u64;
                let kept = rule.gap.max(LEAST_GAP_REMEMBERED).0.saturating_mul(GAPS_REMEMBERED);
                let course = self.flowlets.course(key, kept, now);
                let had = course.port.and_then(|had| hops.iter().position(|port| port == had).map(|i| i as u32));
                let i = match had {
                    Some(i) if now - course.last <= rule.gap.0 || !chance(draw(), rule.probability) => i,
                    _ => self.gauges.anew(rule, had, hops, draw, ports, now),
                };
                *course = Course { last: now, port: Some(hops.get(i)) };
                i
            }
            _ => 0,
        }
    }

    /// Whose turn it is among `n`; after `rounds` rounds (0: never) the order is drawn anew.
    fn turn(&mut self, seed: u64, set: u32, n: u32, rounds: u32) -> u32 {
        let set = set as usize;
        if self.rotas.len() <= set {
            self.rotas.resize(set + 1, Rota::default());
        }
        let rota = &mut self.rotas[set];
        let again = rounds as u64 * n as u64;
        if rota.order.is_empty() || (again > 0 && rota.packets % again == 0) {
            rota.order = (0..n).collect();
            let entity = (self.node as u64) << 32 | set as u64;
            for i in (1..n).rev() {
                let counter = (rota.packets << 16) + i as u64;
                let j = hash::pick(hash::bits(seed, purpose::ROTA, entity, counter), i + 1);
                rota.order.swap(i as usize, j as usize);
            }
        }
        let i = rota.order[(rota.packets % n as u64) as usize];
        rota.packets += 1;
        i
    }
}

impl Flowlets {
    /// What is known of the flow and direction `key`, whose packet comes `now`; nothing if the last came more than
    /// `kept` ps ago.
    fn course(&mut self, key: u64, kept: u64, now: u64) -> &mut Course {
        if self.courses.len() >= self.most {
            self.courses.retain(|_, course| now - course.last <= kept);
            self.most = (2 * self.courses.len()).max(64);
        }
        let course = self.courses.entry(key).or_insert(Course { last: now, port: None });
        if now - course.last > kept {
            course.port = None;
        }
        course
    }
}

impl Gauges {
    fn new(rule: &Adaptive, spec: &Spec, links: &[u32]) -> Gauges {
        let scale = |l: &u32| {
            let link = &spec.links[*l as usize];
            let ends = match spec.queues[link.queue as usize].limit {
                Limit::Packets(n) => {
                    Ends::Packets(rule.bands.iter().map(|b| least(*b, n).min(u32::MAX as u64) as u32).collect())
                }
                Limit::Bytes(n) => Ends::Bytes(rule.bands.iter().map(|b| least(*b, n)).collect()),
                Limit::None => Ends::Bytes(Vec::new()),
            };
            let endless = link.rate == incast_cc::Rate::INFINITE;
            let speed = if endless { 0.0 } else { link.rate.as_f64() / 8e12 };
            Scale { ends, speed, read: None, sent: 0 }
        };
        Gauges { stale: vec![0; links.len()], band: vec![0; links.len()], scales: links.iter().map(scale).collect() }
    }

    /// The next hop of a flowlet that begins, `had` being the flow's so far.
    fn anew(
        &mut self,
        rule: &Flowlet,
        had: Option<u32>,
        hops: Hops,
        draw: impl Fn() -> u64,
        ports: &[Port],
        now: u64,
    ) -> u32 {
        let Some(by) = &rule.by else { return hash::pick(draw(), hops.len()) };
        let best = self.lowest(by, hops, draw, ports, now);
        let band = |i: u32| self.band[hops.get(i) as usize];
        had.filter(|had| band(*had) <= band(best)).unwrap_or(best)
    }

    /// One of the ports in the lowest band.
    #[inline]
    fn lowest(&mut self, rule: &Adaptive, hops: Hops, draw: impl Fn() -> u64, ports: &[Port], now: u64) -> u32 {
        match hops {
            Hops::Run(first, n) => {
                let run = first as usize..(first + n) as usize;
                for port in run.clone() {
                    if self.stale[port] <= now {
                        self.read(rule, port, &ports[port], now);
                    }
                }
                lowest(&self.band[run], draw, |band| *band)
            }
            Hops::List(list) => {
                for port in list {
                    if self.stale[*port as usize] <= now {
                        self.read(rule, *port as usize, &ports[*port as usize], now);
                    }
                }
                lowest(list, draw, |port| self.band[*port as usize])
            }
        }
    }

    /// Reads `port` anew.
    fn read(&mut self, rule: &Adaptive, i: usize, port: &Port, now: u64) {
        let scale = &mut self.scales[i];
        let band = match (rule.by, &scale.ends) {
            (Gauged::Queue, Ends::Packets(ends)) => ends.iter().take_while(|n| port.holds(**n, now)).count(),
            (Gauged::Queue, Ends::Bytes(ends)) => {
                let bytes = port.filling(now).1;
                ends.iter().take_while(|n| bytes >= **n).count()
            }
            (Gauged::Utilisation, _) => {
                let sent = port.sent(now);
                let could = scale.read.map_or(now, |t| now - t) as f64 * scale.speed;
                let share = if could > 0.0 { (sent - scale.sent) as f64 / could } else { 0.0 };
                scale.sent = sent;
                rule.bands.iter().filter(|b| share >= **b && share > 0.0).count()
            }
        };
        scale.read = Some(now);
        self.band[i] = band as u8;
        // a reading serves for the refresh time, its last instant included
        self.stale[i] = now.saturating_add(rule.refresh.0).saturating_add(1);
    }
}

/// Whether what has this probability happens to the packet of random number `draw`.
fn chance(draw: u64, probability: f64) -> bool {
    (hash::mix(draw ^ 0x434f_494e) >> 11) as f64 * (1.0 / (1u64 << 53) as f64) < probability
}

/// One of the items in the lowest band: its place. Among several `draw` decides.
#[inline]
fn lowest<T>(items: &[T], draw: impl Fn() -> u64, band: impl Fn(&T) -> u8) -> u32 {
    let (mut least, mut ties) = (u8::MAX, 0);
    for item in items {
        let band = band(item);
        ties = if band < least { 1 } else { ties + u32::from(band == least) };
        least = least.min(band);
    }
    let mut left = if ties == 1 { 0 } else { hash::pick(draw(), ties) };
    for (i, item) in (0..).zip(items) {
        if band(item) == least {
            if left == 0 {
                return i;
            }
            left -= 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::{Course, Flowlets, least};

    /// A packet a microsecond, each of a new flow, and 50 us after it another one: what ended is not kept.
    #[test]
    fn switches_forget_flows_that_have_ended() {
        let mut flowlets = Flowlets::default();
        for now in 0..100_000u64 {
            let course = flowlets.course(now, 100, now);
            assert_eq!(course.port, None, "flow {now} is new");
            *course = Course { last: now, port: Some(3) };
            if let Some(before) = now.checked_sub(50) {
                let course = flowlets.course(before, 100, now);
                assert_eq!((course.last, course.port), (before, Some(3)), "flow {before} is known at {now}");
                course.last = now;
            }
            assert!(flowlets.courses.len() <= 310, "{} flows kept of about 150", flowlets.courses.len());
        }
        let left = *flowlets.courses.keys().min().unwrap();
        assert_eq!(flowlets.course(left, 0, u64::MAX).port, None, "forgotten, whether or not it was taken out");
    }

    #[test]
    fn whole_numbers_bound_bands_as_shares_do() {
        for limit in (1..300).chain([4_000_000, u64::MAX]) {
            for band in [0.0, 0.05, 0.1, 0.2, 1.0 / 3.0, 0.5, 1.0] {
                let n = least(band, limit);
                let within = |n: u64| n > 0 && n as f64 / limit as f64 >= band;
                assert!(within(n) && !within(n - 1), "{n} of {limit} at {band}");
            }
        }
    }
}
