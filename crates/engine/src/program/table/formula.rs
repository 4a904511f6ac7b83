//! Evaluation of formulas: integers that saturate at 128 bits, or undefined.

use super::number::Number;
use super::registers::{Registers, port};
use crate::event::packet::Packet;
use crate::program::rule::At;
use crate::spec::table::{DEPTH, Op};

/// Value of a formula for a packet; `None` if it divides by 0 or refers to a port that does not exist.
#[inline]
pub fn value(formula: &[Op], at: &At, packet: &Packet, registers: &Registers) -> Option<i128> {
    match run::<i64>(formula, at, packet, registers) {
        Some(value) => Some(value.into()),
        None => wide(formula, at, packet, registers),
    }
}

/// [`value`] if 64 bits are too few for an intermediate result, or there is no value.
#[cold]
fn wide(formula: &[Op], at: &At, packet: &Packet, registers: &Registers) -> Option<i128> {
    run::<i128>(formula, at, packet, registers)
}

/// Evaluates a formula with one number type. [`fault`] has checked that its values fit on the stack.
#[inline]
fn run<N: Number>(formula: &[Op], at: &At, packet: &Packet, registers: &Registers) -> Option<N> {
    let (mut stack, mut top, mut below) = ([N::of(0); DEPTH], N::of(0), 0usize);
    let mut next = 0;
    while let Some(op) = formula.get(next) {
        next += 1;
        let pushed = match *op {
            Op::Number(n) => N::of(n),
            Op::Window => N::of(packet.wnd.into()),
            Op::Size => N::of(packet.size.into()),
            Op::Len => N::of(packet.len.into()),
            Op::Flow => N::of(packet.flow.0.into()),
            Op::Now => N::of_unsigned(at.now.0)?,
            Op::Rate(side) => N::of_unsigned(at.rate(port(at, side)?).0)?,
            Op::Queue(side) => N::of_unsigned(at.ports[port(at, side)?].filling(at.now).1)?,
            Op::Sent(side) => N::of_unsigned(at.ports[port(at, side)?].sent(at.now))?,
            Op::Node(register) => N::of(registers.node(register)),
            Op::Port(register, side) => N::of(registers.port(register, port(at, side)?)),
            Op::Negate => {
                top = N::of(0).less(top)?;
                continue;
            }
            Op::Not => {
                top = N::of((top == N::of(0)).into());
                continue;
            }
            Op::UnlessFalse(steps) | Op::UnlessTrue(steps) => {
                if (top == N::of(0)) == matches!(op, Op::UnlessFalse(_)) {
                    next += steps as usize;
                } else {
                    below = below.wrapping_sub(1);
                    top = stack[below % DEPTH];
                }
                continue;
            }
            _ => {
                below = below.wrapping_sub(1);
                let lower = stack[below % DEPTH];
                top = match *op {
                    Op::Add => lower.plus(top)?,
                    Op::Subtract => lower.less(top)?,
                    Op::Multiply => lower.times(top)?,
                    Op::Bits => lower.bits(top)?,
                    Op::Divide => lower.over(top)?,
                    Op::Min => lower.min(top),
                    Op::Max => lower.max(top),
                    Op::Less => N::of((lower < top).into()),
                    Op::AtMost => N::of((lower <= top).into()),
                    _ => N::of((lower == top).into()),
                };
                continue;
            }
        };
        // the slot written for the first value is never read
        stack[below % DEPTH] = top;
        below = below.wrapping_add(1);
        top = pushed;
    }
    Some(top)
}

/// Reason why a formula is invalid, if it is; `known(register, per_port)` returns whether a register exists.
pub fn fault(formula: &[Op], known: impl Fn(u16, bool) -> bool) -> Option<&'static str> {
    let mut held = 0usize;
    for (i, op) in formula.iter().enumerate() {
        let (takes, gives) = match *op {
            Op::Negate | Op::Not => (1, 1),
            Op::UnlessFalse(steps) | Op::UnlessTrue(steps) => {
                if i + 1 + steps as usize > formula.len() {
                    return Some("its formula skips beyond the end");
                }
                (1, 0)
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::Bits | Op::Divide => (2, 1),
            Op::Min | Op::Max | Op::Less | Op::AtMost | Op::Equal => (2, 1),
            Op::Node(register) if !known(register, false) => return Some("its formula reads an unknown register"),
            Op::Port(register, _) if !known(register, true) => return Some("its formula reads an unknown register"),
            _ => (0, 1),
        };
        let Some(left) = held.checked_sub(takes) else { return Some("its formula lacks operands") };
        held = left + gives;
        if held > DEPTH {
            return Some("its formula needs too many values at once");
        }
    }
    (held != 1).then_some("its formula does not yield exactly one value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::table::Side;

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
