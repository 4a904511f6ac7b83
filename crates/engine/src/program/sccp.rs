//! Windows set by switches that count flows: SCCP (section III and table I of its paper; `docs/programs/sccp.md`).

use super::rule::{At, Direction, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Kind, Packet, flag};
use crate::spec::Sccp;
use incast_cc::Rate;
use std::collections::BTreeSet;

/// Flow counts of the ports of a node.
#[derive(Clone, Debug)]
pub struct Counts {
    rule: Sccp,
    /// Flow counts by local port.
    ports: Vec<Count>,
    /// Counted directions of flows with their egress port, if repeated SYNs and FINs count once.
    known: BTreeSet<(Direction, usize)>,
}

/// Flow count of a port.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// Number of flows that have opened and not closed.
    flows: u64,
    /// Share of each flow, in bytes, which limits windows; no limit without flows.
    share: u64,
}

/// Effect of a segment on the flow count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Opens,
    Closes,
    Aborts,
}

/// Effect of a segment on the flow count, if any.
#[inline]
fn says(packet: &Packet) -> Option<Says> {
    if !packet.is_reverse() && packet.part().0 > 0 {
        // a later fragment has no TCP header
        return None;
    }
    match packet.kind() {
        Kind::Syn => Some(Says::Opens),
        Kind::Rst => Some(Says::Aborts),
        Kind::Data | Kind::Ack if packet.has(flag::FIN) => Some(Says::Closes),
        Kind::Idle if packet.is_idle() => Some(Says::Closes),
        Kind::Idle => Some(Says::Opens),
        _ => None,
    }
}

impl Counts {
    /// Program of a node with this number of ports.
    pub fn new(rule: &Sccp, ports: usize) -> Counts {
        Counts { rule: rule.clone(), ports: vec![Count { flows: 0, share: u64::MAX }; ports], known: BTreeSet::new() }
    }

    /// Bytes that each of `flows` flows through a link of this rate may have in flight.
    fn share(&self, rate: Rate, flows: u64) -> u64 {
        if flows == 0 {
            return u64::MAX;
        }
        let held = rate.0 as u128 * self.rule.common_rtt.0 as u128 / 8_000_000_000_000;
        ((held / flows as u128) as u64).max(self.rule.floor)
    }

    /// Window to write in place of `wnd` bytes; `opens`: the segment is a SYN.
    fn window(&self, wnd: u32, share: u64, opens: bool) -> u32 {
        // the window of a SYN is never scaled (RFC 7323 2.2)
        let unit = if opens { 1 } else { 1u64 << self.rule.scale };
        let units = match (self.rule.ignorant, self.rule.up) {
            (true, _) => share,
            (false, true) => share.div_ceil(unit),
            // a floor must not be rounded down; one byte means no floor
            (false, false) if self.rule.floor > 1 => (share / unit).max(self.rule.floor.div_ceil(unit)),
            (false, false) => share / unit,
        };
        wnd.min(units.saturating_mul(unit).min(u32::MAX as u64) as u32)
    }

    /// Share to which the window of a packet that arrived by this port is lowered, if any.
    #[inline]
    fn lowers(&self, ingress: Option<usize>, packet: &Packet) -> Option<u64> {
        let share = self.ports[ingress?].share;
        let lowers = share < packet.wnd as u64
            && packet.has(flag::ACK)
            && matches!(packet.kind(), Kind::Data | Kind::Ack | Kind::Syn);
        lowers.then_some(share)
    }

    fn add(&mut self, at: &At, direction: Direction, port: usize) {
        if !self.rule.remembers || self.known.insert((direction, port)) {
            self.set(at, port, self.ports[port].flows + 1);
        }
    }

    fn take(&mut self, at: &At, direction: Direction, port: usize) {
        if !self.rule.remembers || self.known.remove(&(direction, port)) {
            self.set(at, port, self.ports[port].flows.saturating_sub(1));
        }
    }

    fn set(&mut self, at: &At, port: usize, flows: u64) {
        self.ports[port] = Count { flows, share: self.share(at.rate(port), flows) };
    }

    /// Counts a segment at its egress port.
    #[cold]
    fn count(&mut self, at: &At, packet: &Packet, says: Says) {
        let Some(egress) = at.egress else { return };
        let direction = at.direction(packet);
        match says {
            Says::Opens => self.add(at, direction, egress),
            Says::Closes => self.take(at, direction, egress),
            Says::Aborts if self.rule.reset => {
                self.take(at, direction, egress);
                if let Some(ingress) = at.ingress {
                    self.take(at, Direction { back: !direction.back, ..direction }, ingress);
                }
            }
            Says::Aborts => {}
        }
    }
}

impl SwitchProgram for Counts {
    #[inline]
    fn ignores(&self, ingress: Option<usize>, packet: &Packet) -> bool {
        says(packet).is_none() && self.lowers(ingress, packet).is_none()
    }

    fn ingress(&mut self, at: &At, packet: &mut Packet, _effects: &mut SideEffects) -> Verdict {
        if !self.rule.accepted
            && let Some(says) = says(packet)
        {
            self.count(at, packet, says);
        }
        if let Some(share) = self.lowers(at.ingress, packet) {
            packet.wnd = self.window(packet.wnd, share, packet.is(Kind::Syn));
        }
        Verdict::Pass
    }

    fn asks_queue(&self) -> bool {
        self.rule.accepted
    }

    fn queued(&mut self, at: &At, packet: &Packet, accepted: bool) {
        if accepted && let Some(says) = says(packet) {
            self.count(at, packet, says);
        }
    }

    fn observe(&self, _at: &At, port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        let Count { flows, share } = self.ports[port];
        visit("flows", flows as f64);
        visit("share_bytes", if flows == 0 { f64::NAN } else { share as f64 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_cc::Time;

    fn counts(rule: impl FnOnce(&mut Sccp)) -> Counts {
        let mut sccp = Sccp {
            common_rtt: Time::us(300),
            floor: 1,
            accepted: false,
            reset: false,
            remembers: false,
            scale: 0,
            up: false,
            ignorant: false,
        };
        rule(&mut sccp);
        Counts::new(&sccp, 2)
    }

    #[test]
    fn shares_are_whole_bytes_of_what_the_link_holds() {
        let (gigabit, plain) = (Rate(1_000_000_000), counts(|_| {}));
        for (flows, share) in [(1, 37_500), (10, 3_750), (25, 1_500), (400, 93)] {
            assert_eq!(plain.share(gigabit, flows), share);
        }
        // figure 2 of the paper: 25,000 bytes in 200 us, shared by 5, 10 and 4 flows
        let figure = counts(|s| s.common_rtt = Time::us(200));
        assert_eq!([5, 10, 4].map(|n| figure.share(gigabit, n)), [5_000, 2_500, 6_250]);
        assert_eq!(counts(|s| s.floor = 1_448).share(gigabit, 400), 1_448);
    }

    #[test]
    fn windows_are_written_in_units_of_the_scale() {
        // SCCP on Linux, measured: 1875 B at scale 7 is 1792 B, at scale 11 nothing
        let scaled = |scale, up| counts(|s| (s.scale, s.up) = (scale, up));
        assert_eq!(scaled(7, false).window(1 << 20, 1_875, false), 1_792);
        assert_eq!(scaled(11, false).window(1 << 20, 1_875, false), 0);
        let floor = |scale| counts(|s| (s.scale, s.floor) = (scale, 1_448));
        assert_eq!(floor(7).window(1 << 20, 1_448, false), 1_536, "a floor is rounded up");
        assert_eq!(floor(11).window(1 << 20, 1_875, false), 2_048);
        assert_eq!(scaled(11, true).window(1 << 20, 1_875, false), 2_048);
        assert_eq!(scaled(11, false).window(65_535, 1_875, true), 1_875, "a SYN's window is not scaled");
        let ignorant = counts(|s| (s.scale, s.ignorant) = (11, true));
        assert_eq!(ignorant.window(1 << 20, 1_875, false), 1 << 20, "bytes where units belong limit nothing");
        assert_eq!(scaled(0, false).window(900, 1_875, false), 900, "a smaller window stays");
    }
}
