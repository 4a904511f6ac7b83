//! Load of a switch's ports in coarse bands, as adaptive policies compare it.

use super::rule::Ctx;
use crate::event::packet::Packet;
use crate::hash;
use crate::ids::LinkId;
use crate::map::paths::Hops;
use crate::port::Port;
use crate::spec::{Adaptive, Gauged, Limit, Spec};
use incast_cc::{Rate, Time};

/// Load readings by local port. Data needed for every choice is packed: the readings of eight ports fit into two cache
/// lines.
#[derive(Clone, Debug)]
pub struct PortLoad {
    /// Expiry time of each port's reading.
    stale: Vec<Time>,
    /// Band of each port at its last reading.
    band: Vec<u8>,
    scales: Vec<Scale>,
    rule: Adaptive,
}

/// Mapping of a port's state to a band.
#[derive(Clone, Debug)]
struct Scale {
    /// Lower bounds of the bands.
    ends: Ends,
    /// Link rate in bytes per picosecond; 0 for an infinite rate.
    speed: f64,
    /// Time of the last reading, and the bytes transmitted until then.
    read: Option<Time>,
    sent: u64,
}

/// Minimum queue lengths of the bands above the first.
#[derive(Clone, Debug)]
enum Ends {
    Packets(Vec<u32>),
    Bytes(Vec<u64>),
}

/// Smallest positive integer whose share of `limit` is at least `band`.
fn min(band: f64, limit: u64) -> u64 {
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

impl PortLoad {
    /// Load of a switch whose ports feed `links`.
    pub fn new(rule: &Adaptive, spec: &Spec, links: &[LinkId]) -> PortLoad {
        let scale = |l: &LinkId| {
            let link = &spec.links[*l];
            let ends = match spec.queues[link.queue as usize].limit {
                Limit::Packets(n) => {
                    Ends::Packets(rule.bands.iter().map(|b| min(*b, n).min(u32::MAX as u64) as u32).collect())
                }
                Limit::Bytes(n) => Ends::Bytes(rule.bands.iter().map(|b| min(*b, n)).collect()),
                Limit::None => Ends::Bytes(Vec::new()),
            };
            let speed = if link.rate == Rate::INFINITE { 0.0 } else { link.rate.as_f64() / 8e12 };
            Scale { ends, speed, read: None, sent: 0 }
        };
        PortLoad {
            stale: vec![Time::ZERO; links.len()],
            band: vec![0; links.len()],
            scales: links.iter().map(scale).collect(),
            rule: rule.clone(),
        }
    }

    /// Band of a local port at its last reading.
    pub fn band(&self, port: u32) -> u8 {
        self.band[port as usize]
    }

    /// Returns the next hop in the lowest band; ties are broken by the packet's random number.
    #[inline]
    pub fn lowest(&mut self, ctx: &Ctx, packet: &Packet, hops: Hops) -> u32 {
        let now = packet.time;
        let draw = || ctx.draw(packet);
        match hops {
            Hops::Run(first, n) => {
                let run = first as usize..(first + n) as usize;
                for port in run.clone() {
                    if self.stale[port] <= now {
                        self.read(port, &ctx.ports[port], now);
                    }
                }
                lowest(&self.band[run], draw, |band| *band)
            }
            Hops::List(list) => {
                for port in list {
                    if self.stale[*port as usize] <= now {
                        self.read(*port as usize, &ctx.ports[*port as usize], now);
                    }
                }
                lowest(list, draw, |port| self.band[*port as usize])
            }
        }
    }

    /// Updates the reading of `port`.
    fn read(&mut self, i: usize, port: &Port, now: Time) {
        let scale = &mut self.scales[i];
        let band = match (self.rule.by, &scale.ends) {
            (Gauged::Queue, Ends::Packets(ends)) => ends.iter().take_while(|n| port.holds(**n, now)).count(),
            (Gauged::Queue, Ends::Bytes(ends)) => {
                let bytes = port.filling(now).1;
                ends.iter().take_while(|n| bytes >= **n).count()
            }
            (Gauged::Utilisation, _) => {
                let sent = port.sent(now);
                let could = scale.read.map_or(now, |t| now - t).0 as f64 * scale.speed;
                let share = if could > 0.0 { (sent - scale.sent) as f64 / could } else { 0.0 };
                scale.sent = sent;
                self.rule.bands.iter().filter(|b| share >= **b && share > 0.0).count()
            }
        };
        scale.read = Some(now);
        self.band[i] = band as u8;
        // a reading is valid for the refresh time, including its last instant
        self.stale[i] = now.saturating_add(self.rule.refresh).saturating_add(Time::ps(1));
    }
}

/// Index of an item in the lowest band; `draw` breaks ties.
#[inline]
fn lowest<T>(items: &[T], draw: impl Fn() -> u64, band: impl Fn(&T) -> u8) -> u32 {
    let (mut min, mut ties) = (u8::MAX, 0);
    for item in items {
        let band = band(item);
        ties = if band < min { 1 } else { ties + u32::from(band == min) };
        min = min.min(band);
    }
    let mut left = if ties == 1 { 0 } else { hash::pick(draw(), ties) };
    for (i, item) in (0..).zip(items) {
        if band(item) == min {
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
    use super::min;

    #[test]
    fn whole_numbers_bound_bands_as_shares_do() {
        for limit in (1..300).chain([4_000_000, u64::MAX]) {
            for band in [0.0, 0.05, 0.1, 0.2, 1.0 / 3.0, 0.5, 1.0] {
                let n = min(band, limit);
                let within = |n: u64| n > 0 && n as f64 / limit as f64 >= band;
                assert!(within(n) && !within(n - 1), "{n} of {limit} at {band}");
            }
        }
    }
}
