//! Registers of a node and of its ports.

use crate::event::packet::{Packet, flag};
use crate::program::rule::At;
use crate::spec::table::{Register, Side, Target};

/// Port on a side, if any.
#[inline]
pub fn port(at: &At, side: Side) -> Option<usize> {
    match side {
        Side::Ingress => at.ingress,
        Side::Egress => at.egress,
    }
}

/// Values of the registers at one node.
#[derive(Clone, Debug)]
pub struct Registers {
    /// Values of the node, then of port 0, port 1 and so on, `count` values each.
    values: Vec<i64>,
    count: usize,
}

impl Registers {
    /// Registers of a node with this number of ports, all 0.
    pub fn new(count: usize, ports: usize) -> Registers {
        Registers { values: vec![0; count * (ports + 1)], count }
    }

    /// Register of the node.
    #[inline]
    pub fn node(&self, register: u16) -> i64 {
        self.values[register as usize]
    }

    /// Register of a port.
    #[inline]
    pub fn port(&self, register: u16, port: usize) -> i64 {
        self.values[self.count * (port + 1) + register as usize]
    }

    /// Visits the registers at a port.
    pub fn observe(&self, list: &[Register], at: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        for (register, i) in list.iter().zip(0..) {
            let value = if register.per_port { self.port(i, at) } else { self.node(i) };
            visit(register.name, value as f64);
        }
    }

    /// Value of a target, if it exists.
    fn read(&self, target: Target, at: &At, packet: &Packet) -> Option<i128> {
        Some(match target {
            Target::Window => packet.wnd as i128,
            Target::Mark => packet.has(flag::CE) as i128,
            Target::Node(register) => self.node(register) as i128,
            Target::Port(register, side) => self.port(register, port(at, side)?) as i128,
        })
    }

    /// Applies `change` to a target and saturates the result.
    #[inline]
    pub fn change(&mut self, target: Target, at: &At, packet: &mut Packet, change: impl FnOnce(i128) -> i128) {
        let Some(old) = self.read(target, at, packet) else { return };
        let new = change(old);
        let whole = new.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
        match target {
            Target::Window => packet.wnd = new.clamp(0, u32::MAX as i128) as u32,
            Target::Mark if new != 0 => mark(packet),
            Target::Mark => packet.flags &= !flag::CE,
            Target::Node(register) => self.values[register as usize] = whole,
            Target::Port(register, side) => self.set(register, port(at, side), whole),
        }
    }

    fn set(&mut self, register: u16, port: Option<usize>, value: i64) {
        if let Some(port) = port {
            self.values[self.count * (port + 1) + register as usize] = value;
        }
    }
}

/// Marks a packet, if it is ECN-capable.
pub fn mark(packet: &mut Packet) {
    if packet.has(flag::ECT) {
        packet.flags |= flag::CE;
    }
}
