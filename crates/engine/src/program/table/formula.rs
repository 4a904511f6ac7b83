//! Values of formulas: integers of 128 bits that keep to their range, and no value at all.

use super::registers::Registers;
use crate::event::packet::Packet;
use crate::program::rule::At;
use crate::spec::table::{DEPTH, Op, Side};

/// The port on a side, if there is one.
#[inline]
pub fn port(at: &At, side: Side) -> Option<usize> {
    match side {
        Side::Ingress => at.ingress,
        Side::Egress => at.egress,
    }
}

/// Down to a whole number; `None` over 0.
#[inline]
fn divide(a: i128, b: i128) -> Option<i128> {
    // the processor divides 64 bits several times faster than a routine divides 128
    if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
        return a.checked_div(b).map(i128::from);
    }
    if b == 0 {
        return None;
    }
    let whole = a.saturating_div(b);
    Some(if a % b != 0 && (a < 0) != (b < 0) { whole - 1 } else { whole })
}

/// Values under way, the latest on top.
struct Stack {
    values: [i128; DEPTH],
    count: usize,
}

impl Stack {
    #[inline]
    fn push(&mut self, value: i128) -> Option<()> {
        *self.values.get_mut(self.count)? = value;
        self.count += 1;
        Some(())
    }

    #[inline]
    fn pop(&mut self) -> Option<i128> {
        self.count = self.count.checked_sub(1)?;
        self.values.get(self.count).copied()
    }
}

/// The value of a formula for a packet; `None` where it divides by 0, or speaks of a port that is none.
pub fn value(formula: &[Op], at: &At, packet: &Packet, registers: &Registers) -> Option<i128> {
    let mut stack = Stack { values: [0; DEPTH], count: 0 };
    let mut next = 0;
    while let Some(op) = formula.get(next) {
        next += 1;
        let of_packet = match *op {
            Op::Number(n) => Some(n as i128),
            Op::Window => Some(packet.wnd as i128),
            Op::Size => Some(packet.size as i128),
            Op::Len => Some(packet.len as i128),
            Op::Flow => Some(packet.flow.0 as i128),
            Op::Now => Some(at.now.0 as i128),
            Op::Rate(side) => Some(at.rate(port(at, side)?).0 as i128),
            Op::Queue(side) => Some(at.ports[port(at, side)?].filling(at.now).1 as i128),
            Op::Sent(side) => Some(at.ports[port(at, side)?].sent(at.now) as i128),
            Op::Node(register) => Some(registers.node(register) as i128),
            Op::Port(register, side) => Some(registers.port(register, port(at, side)?) as i128),
            _ => None,
        };
        if let Some(value) = of_packet {
            stack.push(value)?;
            continue;
        }
        let top = stack.pop()?;
        let result = match *op {
            Op::Negate => top.saturating_neg(),
            Op::Not => (top == 0) as i128,
            Op::UnlessFalse(steps) | Op::UnlessTrue(steps) => {
                if (top == 0) == matches!(op, Op::UnlessFalse(_)) {
                    stack.push(top)?;
                    next += steps as usize;
                }
                continue;
            }
            _ => {
                let lower = stack.pop()?;
                match *op {
                    Op::Add => lower.saturating_add(top),
                    Op::Subtract => lower.saturating_sub(top),
                    Op::Multiply => lower.saturating_mul(top),
                    Op::Divide => divide(lower, top)?,
                    Op::Min => lower.min(top),
                    Op::Max => lower.max(top),
                    Op::Less => (lower < top) as i128,
                    Op::AtMost => (lower <= top) as i128,
                    _ => (lower == top) as i128,
                }
            }
        };
        stack.push(result)?;
    }
    stack.pop()
}

/// Why a formula cannot be computed, if so; `own` registers of the node and `ports` those of ports are known.
pub fn fault(formula: &[Op], known: impl Fn(u16, bool) -> bool) -> Option<&'static str> {
    let mut held = 0usize;
    for (i, op) in formula.iter().enumerate() {
        let (takes, gives) = match *op {
            Op::Negate | Op::Not => (1, 1),
            Op::UnlessFalse(steps) | Op::UnlessTrue(steps) => {
                if i + 1 + steps as usize > formula.len() {
                    return Some("it leaves out more steps than it has");
                }
                (1, 0)
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide => (2, 1),
            Op::Min | Op::Max | Op::Less | Op::AtMost | Op::Equal => (2, 1),
            Op::Node(register) if !known(register, false) => return Some("it reads a register that is none"),
            Op::Port(register, _) if !known(register, true) => return Some("it reads a register that is none"),
            _ => (0, 1),
        };
        let Some(left) = held.checked_sub(takes) else { return Some("a step lacks values") };
        held = left + gives;
        if held > DEPTH {
            return Some("it needs too many values at once");
        }
    }
    (held != 1).then_some("it leaves more or less than one value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_round_down_and_over_0_have_no_value() {
        assert_eq!(divide(7, 2), Some(3));
        assert_eq!(divide(-7, 2), Some(-4));
        assert_eq!(divide(7, -2), Some(-4));
        assert_eq!(divide(-7, -2), Some(3));
        assert_eq!(divide(-8, 2), Some(-4));
        assert_eq!(divide(1 << 100, 3), Some((1 << 100) / 3));
        assert_eq!(divide(1, 0), None);
        assert_eq!(divide(i128::MIN, -1), Some(i128::MAX));
        assert_eq!(divide(1 << 100, 0), None);
    }

    #[test]
    fn a_formula_that_cannot_be_computed_is_known() {
        let known = |register: u16, per_port: bool| register == 0 && per_port;
        let fault = |formula: &[Op]| fault(formula, known);
        assert_eq!(fault(&[Op::Number(1), Op::Port(0, Side::Egress), Op::Add]), None);
        assert!(fault(&[Op::Number(1), Op::Add]).is_some());
        assert!(fault(&[Op::Node(0)]).is_some());
        assert!(fault(&[Op::Port(1, Side::Ingress)]).is_some());
        assert!(fault(&[Op::Number(1), Op::Number(1)]).is_some());
        assert!(fault(&[]).is_some());
        assert!(fault(&[Op::Size, Op::UnlessTrue(2), Op::Len]).is_some());
        assert!(fault(&[Op::Number(1); DEPTH + 1]).is_some());
        assert_eq!(fault(&[Op::Size, Op::UnlessTrue(1), Op::Len]), None);
    }
}
