//! Idle flows: a host notifies the switches on a flow's path that it sends nothing at present (section III.E of SCCP's
//! paper leaves this open; `docs/programs/idle.md`).

use super::rule::{At, Direction, SideEffects, SwitchProgram, Verdict};
use crate::event::packet::{Kind, Packet, flag};
use crate::spec::Idle;
use incast_cc::Time;
use std::collections::BTreeMap;

/// Open directions of connections in which a host sends.
#[derive(Clone, Debug)]
pub struct Flows {
    timeout: Time,
    open: BTreeMap<Direction, Flow>,
    /// Earliest time at which a direction can become idle.
    due: Time,
    /// Number of notifications sent.
    notifications: u64,
}

/// Direction of a connection.
#[derive(Clone, Debug)]
struct Flow {
    /// Time of the last transmission, and its packet.
    last: Time,
    packet: Packet,
    /// True if switches have been notified.
    idle: bool,
    /// True after a reset: no packet will follow.
    reset: bool,
}

impl Flows {
    /// Program of a host.
    pub fn new(rule: &Idle, _ports: usize) -> Flows {
        Flows { timeout: rule.timeout, open: BTreeMap::new(), due: Time::NEVER, notifications: 0 }
    }

    /// Notifies switches that the direction of `packet` becomes idle or resumes.
    fn notify(&mut self, at: &At, packet: &Packet, idle: bool, effects: &mut SideEffects) {
        self.notifications += 1;
        let packet = Packet::idle_packet(packet, idle, at.now);
        // a host has one port
        effects.send(packet, 0);
    }
}

impl SwitchProgram for Flows {
    fn ingress(&mut self, at: &At, packet: &mut Packet, effects: &mut SideEffects) -> Verdict {
        let own = at.ingress.is_none();
        let mut direction = at.direction(packet);
        if packet.is(Kind::Rst) {
            // nothing follows in the host's direction, whichever host resets
            direction.back ^= !own;
            self.open.get_mut(&direction).into_iter().for_each(|flow| flow.reset = true);
            return Verdict::Pass;
        }
        if !own || !matches!(packet.kind(), Kind::Syn | Kind::Data | Kind::Ack) {
            return Verdict::Pass;
        }
        let ends = at.now.saturating_add(self.timeout);
        let known = match packet.has(flag::FIN) {
            true => self.open.remove(&direction),
            false => self.open.get_mut(&direction).map(|flow| {
                let before = flow.clone();
                *flow = Flow { last: at.now, packet: *packet, idle: false, reset: false };
                before
            }),
        };
        match known {
            Some(before) if before.idle => {
                self.notify(at, packet, false, effects);
                self.due = self.due.min(ends);
            }
            None if packet.is(Kind::Syn) => {
                self.open.insert(direction, Flow { last: at.now, packet: *packet, idle: false, reset: false });
                self.due = self.due.min(ends);
            }
            _ => {}
        }
        Verdict::Pass
    }

    fn has_timer(&self) -> bool {
        true
    }

    fn due(&self) -> Time {
        self.due
    }

    fn timer(&mut self, at: &At, effects: &mut SideEffects) {
        let timeout = self.timeout;
        let ends = |flow: &Flow| flow.last.saturating_add(timeout);
        let over: Vec<Packet> = self
            .open
            .values_mut()
            .filter(|flow| !flow.idle && ends(flow) <= at.now)
            .map(|flow| {
                flow.idle = true;
                flow.packet
            })
            .collect();
        over.iter().for_each(|packet| self.notify(at, packet, true, effects));
        self.open.retain(|_, flow| !(flow.idle && flow.reset));
        self.due = self.open.values().filter(|flow| !flow.idle).map(ends).min().unwrap_or(Time::NEVER);
    }

    fn observe(&self, _at: &At, _port: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("idle_flows", self.open.values().filter(|flow| flow.idle).count() as f64);
        visit("idle_packets", self.notifications as f64);
    }
}
