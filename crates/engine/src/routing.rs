//! What a switch remembers to choose among equal next hops at the instant of an arrival.
//!
//! Choices that follow from the packet alone are made when a window looks ahead ([`crate::net::Switch::route`]).
//! The rest needs the switch as it is when the packet arrives: whose turn it is, or how full the ports are. It
//! is state of one switch, changed in the order of that switch's events, so it is the same under any partition.

use crate::hash::{self, purpose};
use crate::paths::Hops;
use crate::port::Port;
use crate::spec::{Adaptive, Gauged, Limit, PathChoice, Spec};

/// State of one switch.
#[derive(Clone, Debug, Default)]
pub struct Chooser {
    node: u32,
    /// Round robin, a rota for each set of next hops that has had a packet.
    rotas: Vec<Rota>,
    /// Adaptive routing, by local port.
    gauges: Vec<Gauge>,
}

#[derive(Clone, Debug, Default)]
struct Rota {
    /// Packets so far.
    packets: u64,
    /// The order of the next hops now.
    order: Vec<u32>,
}

/// What is known of a port.
#[derive(Clone, Debug)]
struct Gauge {
    /// Largest queue, in packets or bytes.
    limit: f64,
    in_packets: bool,
    /// Bytes that the link carries in a picosecond; 0 at an infinite rate.
    speed: f64,
    /// When it was read last, ps.
    read: Option<u64>,
    /// Bytes transmitted by then.
    sent: u64,
    /// Band by that reading.
    band: u32,
}

impl Chooser {
    /// The state that switch `node` needs under `spec`'s policy, its ports being `links`, in order; `None` where its
    /// choices follow from packets alone.
    pub fn new(spec: &Spec, node: u32, links: &[u32]) -> Option<Box<Chooser>> {
        let gauge = |l: &u32| {
            let link = &spec.links[*l as usize];
            let (limit, in_packets) = match spec.queues[link.queue as usize].limit {
                Limit::Packets(n) => (n as f64, true),
                Limit::Bytes(n) => (n as f64, false),
                Limit::None => (f64::INFINITY, false),
            };
            let endless = link.rate == incast_cc::Rate::INFINITE;
            let speed = if endless { 0.0 } else { link.rate.as_f64() / 8e12 };
            Gauge { limit, in_packets, speed, read: None, sent: 0, band: 0 }
        };
        let gauges = match spec.choice {
            PathChoice::Adaptive(_) => links.iter().map(gauge).collect(),
            PathChoice::PowerOfTwo | PathChoice::RoundRobin { .. } => Vec::new(),
            _ => return None,
        };
        Some(Box::new(Chooser { node, rotas: Vec::new(), gauges }))
    }

    /// Which of at least two next hops a packet takes at `now`. `set` numbers the set of next hops, `draw` is the
    /// packet's own random number, and `ports` are the switch's ports.
    pub fn choose(&mut self, spec: &Spec, set: u32, hops: Hops, draw: u64, ports: &[Port], now: u64) -> u32 {
        match &spec.choice {
            PathChoice::RoundRobin { rounds } => self.turn(spec.seed, set, hops.len(), *rounds),
            PathChoice::Adaptive(rule) => self.emptiest(rule, hops, draw, ports, now),
            PathChoice::PowerOfTwo => {
                let n = hops.len();
                let a = hash::pick(draw, n);
                let b = (a + 1 + hash::pick(hash::mix(draw), n - 1)) % n;
                let bytes = |i: u32| ports[hops.get(i) as usize].filling(now).1;
                if bytes(b) < bytes(a) { b } else { a }
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

    /// One of the ports in the lowest band.
    fn emptiest(&mut self, rule: &Adaptive, hops: Hops, draw: u64, ports: &[Port], now: u64) -> u32 {
        let (mut least, mut ties) = (u32::MAX, 0);
        for port in hops.iter() {
            let band = self.gauges[port as usize].band(rule, &ports[port as usize], now);
            if band < least {
                (least, ties) = (band, 1);
            } else if band == least {
                ties += 1;
            }
        }
        let mut left = hash::pick(draw, ties);
        for (i, port) in (0..).zip(hops.iter()) {
            if self.gauges[port as usize].band == least {
                if left == 0 {
                    return i;
                }
                left -= 1;
            }
        }
        0
    }
}

impl Gauge {
    /// The band of the port, read anew where the last reading is more than the refresh time old.
    #[inline]
    fn band(&mut self, rule: &Adaptive, port: &Port, now: u64) -> u32 {
        let age = self.read.map(|t| now - t);
        if age.is_none_or(|age| age > rule.refresh.0) {
            let share = match rule.by {
                Gauged::Queue => {
                    let (packets, bytes) = port.filling(now);
                    (if self.in_packets { packets as f64 } else { bytes as f64 }) / self.limit
                }
                Gauged::Utilisation => {
                    let sent = port.sent(now);
                    let could = age.unwrap_or(now) as f64 * self.speed;
                    let share = if could > 0.0 { (sent - self.sent) as f64 / could } else { 0.0 };
                    self.sent = sent;
                    share
                }
            };
            self.band = rule.bands.iter().filter(|b| share >= **b && share > 0.0).count() as u32;
            self.read = Some(now);
        }
        self.band
    }
}
