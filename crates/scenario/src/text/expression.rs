//! Integer expressions of match-action tables (`docs/programs/table.md`): parsed once, with their units, into the
//! steps that the engine executes for every packet.
//!
//! ```text
//! either  = both { ("or" | "||") both }          sum     = product { ("+" | "-") product }
//! both    = denial { ("and" | "&&") denial }     product = signed { ("*" | "/") signed }
//! denial  = { "not" | "!" } compared             signed  = { "-" } value
//! compared = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! value   = number [ unit ] | "(" either ")" | ("min" | "max") "(" either { "," either } ")"
//!         | field | register | (port value | register) "[" ("ingress" | "egress") "]"
//! ```

use incast_cc as cc;
use incast_engine::spec::table::{DEPTH, Formula, Op, Register, Side};

/// Picoseconds per second: a rate times a time is a number of bits.
const SECOND: i64 = 1_000_000_000_000;

/// Deepest nesting of parentheses, signs and negations.
const MAX_NESTED: usize = 40;

/// Names known to expressions that are not registers.
pub const RESERVED: [&str; 15] = [
    "wnd", "size", "len", "flow", "now", "rate", "queue", "sent", "min", "max", "and", "or", "not", "ingress", "egress",
];

/// Unit of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// A number, of bytes or of anything.
    Number,
    Time,
    Rate,
    /// A condition.
    Truth,
}

impl Unit {
    fn words(self) -> &'static str {
        match self {
            Unit::Number => "a number",
            Unit::Time => "a time",
            Unit::Rate => "a rate",
            Unit::Truth => "a condition",
        }
    }
}

/// Steps of a part of an expression, and the unit of its value.
struct Part {
    ops: Vec<Op>,
    unit: Unit,
}

impl Part {
    /// True for the literal 0, which fits every unit.
    fn is_zero(&self) -> bool {
        self.ops == [Op::Number(0)]
    }

    fn then(mut self, other: Part, op: Op, unit: Unit) -> Part {
        self.ops.extend(other.ops);
        self.ops.push(op);
        Part { ops: self.ops, unit }
    }

    fn scaled(mut self, op: Op) -> Part {
        self.ops.extend([Op::Number(SECOND), op]);
        self
    }
}

/// Parses a numeric expression.
pub fn number(text: &str, registers: &[Register]) -> Result<Formula, String> {
    let part = read(text, registers)?;
    match part.unit {
        Unit::Number => finished(part),
        Unit::Truth => Err("is a condition; expected a number".into()),
        Unit::Time => Err("is a time; expected a number, such as it makes over another time (/ 1ns)".into()),
        Unit::Rate => Err("is a rate; expected a number, such as it makes over another rate, or times a time".into()),
    }
}

/// Parses a condition.
pub fn condition(text: &str, registers: &[Register]) -> Result<Formula, String> {
    let part = read(text, registers)?;
    match part.unit {
        Unit::Truth => finished(part),
        other => Err(format!("is {}; expected a condition, such as size > 100B", other.words())),
    }
}

fn finished(part: Part) -> Result<Formula, String> {
    let (mut held, mut most) = (0usize, 0);
    for op in &part.ops {
        held = match op {
            Op::Negate | Op::Not => held,
            Op::UnlessFalse(_) | Op::UnlessTrue(_) | Op::Add | Op::Subtract | Op::Multiply | Op::Bits => held - 1,
            Op::Divide | Op::Min | Op::Max | Op::Less | Op::AtMost | Op::Equal => held - 1,
            _ => held + 1,
        };
        most = most.max(held);
    }
    if most > DEPTH {
        return Err(format!("holds {most} values at once; expected at most {DEPTH}: set a register first"));
    }
    Ok(part.ops.into())
}

fn read(text: &str, registers: &[Register]) -> Result<Part, String> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, registers, nested: 0 };
    let part = reader.either()?;
    match reader.tokens {
        [] => Ok(part),
        [next, ..] => Err(format!("has {next} where an operator or its end was expected")),
    }
}

/// Words, numbers with their units, and signs.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if ["<=", ">=", "==", "!=", "&&", "||"].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else if "+-*/()[],<>!".contains(first) {
            1
        } else {
            return Err(format!("has {first:?}, which expressions do not know"));
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

struct Reader<'t> {
    tokens: &'t [&'t str],
    registers: &'t [Register],
    nested: usize,
}

impl<'t> Reader<'t> {
    fn take(&mut self, any: &[&str]) -> Option<&'t str> {
        let (first, rest) = self.tokens.split_first()?;
        any.contains(first).then(|| {
            self.tokens = rest;
            *first
        })
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match (self.take(&[sign]), self.tokens.first()) {
            (Some(_), _) => Ok(()),
            (None, Some(next)) => Err(format!("has {next} where {sign} was expected")),
            (None, None) => Err(format!("ends where {sign} was expected")),
        }
    }

    /// Reads a nested part.
    fn within(&mut self, part: impl FnOnce(&mut Self) -> Result<Part, String>) -> Result<Part, String> {
        self.nested += 1;
        if self.nested > MAX_NESTED {
            return Err(format!("has parts in parts, deeper than {MAX_NESTED}"));
        }
        let read = part(self);
        self.nested -= 1;
        read
    }

    fn either(&mut self) -> Result<Part, String> {
        let mut left = self.both()?;
        while let Some(sign) = self.take(&["or", "||"]) {
            let right = self.both()?;
            left = joined(left, right, sign, Op::UnlessTrue)?;
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Part, String> {
        let mut left = self.denial()?;
        while let Some(sign) = self.take(&["and", "&&"]) {
            let right = self.denial()?;
            left = joined(left, right, sign, Op::UnlessFalse)?;
        }
        Ok(left)
    }

    fn denial(&mut self) -> Result<Part, String> {
        let Some(sign) = self.take(&["not", "!"]) else { return self.compared() };
        let mut part = self.within(Self::denial)?;
        truth(&part, sign)?;
        part.ops.push(Op::Not);
        Ok(part)
    }

    fn compared(&mut self) -> Result<Part, String> {
        let left = self.sum()?;
        let Some(sign) = self.take(&["<", "<=", ">", ">=", "==", "!="]) else { return Ok(left) };
        let right = self.sum()?;
        alike(&left, &right, sign)?;
        let (op, not) = match sign {
            "<" => (Op::Less, false),
            "<=" => (Op::AtMost, false),
            ">" => (Op::AtMost, true),
            ">=" => (Op::Less, true),
            "==" => (Op::Equal, false),
            _ => (Op::Equal, true),
        };
        let mut part = left.then(right, op, Unit::Truth);
        part.ops.extend(not.then_some(Op::Not));
        Ok(part)
    }

    fn sum(&mut self) -> Result<Part, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            let right = self.product()?;
            let unit = alike(&left, &right, sign)?;
            left = left.then(right, if sign == "+" { Op::Add } else { Op::Subtract }, unit);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Part, String> {
        let mut left = self.signed()?;
        while let Some(sign) = self.take(&["*", "/"]) {
            let right = self.signed()?;
            left = if sign == "*" { times(left, right)? } else { over(left, right)? };
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Part, String> {
        let Some(sign) = self.take(&["-"]) else { return self.value() };
        let mut part = self.within(Self::signed)?;
        no_truth(&part, sign)?;
        part.ops.push(Op::Negate);
        Ok(part)
    }

    fn value(&mut self) -> Result<Part, String> {
        let Some((token, rest)) = self.tokens.split_first() else {
            return Err("ends where a value was expected".into());
        };
        self.tokens = rest;
        match *token {
            "(" => {
                let part = self.within(Self::either)?;
                self.expect(")")?;
                Ok(part)
            }
            "min" | "max" => self.extreme(token),
            word if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') => literal(word),
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => self.named(word),
            sign => Err(format!("has {sign} where a value was expected")),
        }
    }

    /// Smallest or largest of a list.
    fn extreme(&mut self, word: &str) -> Result<Part, String> {
        self.expect("(")?;
        let mut left = self.within(Self::either)?;
        no_truth(&left, word)?;
        self.expect(",")?;
        loop {
            let right = self.within(Self::either)?;
            let unit = alike(&left, &right, word)?;
            left = left.then(right, if word == "min" { Op::Min } else { Op::Max }, unit);
            if self.take(&[","]).is_none() {
                break;
            }
        }
        self.expect(")")?;
        Ok(left)
    }

    /// A field of the packet, a value of a port, or a register.
    fn named(&mut self, word: &str) -> Result<Part, String> {
        let one = |op, unit| Ok(Part { ops: vec![op], unit });
        match word {
            "wnd" => return one(Op::Window, Unit::Number),
            "size" => return one(Op::Size, Unit::Number),
            "len" => return one(Op::Len, Unit::Number),
            "flow" => return one(Op::Flow, Unit::Number),
            "now" => return one(Op::Now, Unit::Time),
            "rate" => return one(Op::Rate(self.side(word)?), Unit::Rate),
            "queue" => return one(Op::Queue(self.side(word)?), Unit::Number),
            "sent" => return one(Op::Sent(self.side(word)?), Unit::Number),
            _ => {}
        }
        match (0u16..).zip(self.registers).find(|(_, register)| register.name == word) {
            Some((i, register)) if register.per_port => one(Op::Port(i, self.side(word)?), Unit::Number),
            Some((i, _)) => one(Op::Node(i), Unit::Number),
            None => {
                let own = self.registers.iter().map(|register| register.name);
                let known: Vec<&str> = RESERVED[..8].iter().copied().chain(own).collect();
                Err(format!("has {word}, which is neither a field nor a register; there are {}", known.join(", ")))
            }
        }
    }

    /// Port of the value.
    fn side(&mut self, word: &str) -> Result<Side, String> {
        let which = format!("has {word} without its port; expected {word}[ingress] or {word}[egress]");
        self.take(&["["]).ok_or_else(|| which.clone())?;
        let side = match self.take(&["ingress", "egress"]) {
            Some("ingress") => Side::Ingress,
            Some(_) => Side::Egress,
            None => return Err(which),
        };
        self.expect("]")?;
        Ok(side)
    }
}

/// A number, a time, a rate or a size, as written by users.
fn literal(word: &str) -> Result<Part, String> {
    let whole = |value: u64, unit: Unit| match i64::try_from(value) {
        Ok(value) => Ok(Part { ops: vec![Op::Number(value)], unit }),
        Err(_) => Err(format!("has {word}, which is too large")),
    };
    let digits = word.replace('_', "");
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits
            .parse()
            .map_err(|_| format!("has {word}, which is too large"))
            .and_then(|n| whole(n, Unit::Number));
    }
    if let Ok(time) = word.parse::<cc::Time>() {
        return whole(time.0, Unit::Time);
    }
    if let Ok(rate) = word.parse::<cc::Rate>() {
        return whole(rate.0, Unit::Rate);
    }
    match word.parse::<cc::Bytes>() {
        Ok(size) => whole(size.0, Unit::Number),
        Err(_) => {
            Err(format!("has {word}; expected a whole number, or a time, rate or size such as 300us, 1Gbps, 2kB"))
        }
    }
}

fn truth(part: &Part, sign: &str) -> Result<(), String> {
    match part.unit {
        Unit::Truth => Ok(()),
        other => Err(format!("has {} beside {sign}; expected a condition", other.words())),
    }
}

fn no_truth(part: &Part, sign: &str) -> Result<(), String> {
    match part.unit {
        Unit::Truth => Err(format!("has a condition beside {sign}; expected a value")),
        _ => Ok(()),
    }
}

/// Joins two conditions; the second is evaluated only if the first does not decide.
fn joined(mut left: Part, right: Part, sign: &str, skip: fn(u16) -> Op) -> Result<Part, String> {
    truth(&left, sign)?;
    truth(&right, sign)?;
    let steps = u16::try_from(right.ops.len()).map_err(|_| format!("has too much behind {sign}; expected less"))?;
    left.ops.push(skip(steps));
    left.ops.extend(right.ops);
    Ok(left)
}

/// Common unit of both.
fn alike(left: &Part, right: &Part, sign: &str) -> Result<Unit, String> {
    no_truth(left, sign)?;
    no_truth(right, sign)?;
    if left.unit == right.unit || right.is_zero() {
        Ok(left.unit)
    } else if left.is_zero() {
        Ok(right.unit)
    } else {
        Err(format!("has {} and {} beside {sign}; expected two alike", left.unit.words(), right.unit.words()))
    }
}

fn times(left: Part, right: Part) -> Result<Part, String> {
    use Unit::{Number, Rate, Time};
    match (left.unit, right.unit) {
        (Number, unit @ (Number | Time | Rate)) | (unit @ (Time | Rate), Number) => {
            Ok(left.then(right, Op::Multiply, unit))
        }
        (Rate, Time) | (Time, Rate) => Ok(left.then(right, Op::Bits, Number)),
        (a, b) => Err(format!("multiplies {} by {}", a.words(), b.words())),
    }
}

fn over(left: Part, right: Part) -> Result<Part, String> {
    use Unit::{Number, Rate, Time};
    match (left.unit, right.unit) {
        (unit @ (Number | Time | Rate), Number) => Ok(left.then(right, Op::Divide, unit)),
        (Time, Time) | (Rate, Rate) => Ok(left.then(right, Op::Divide, Number)),
        // bits over a rate are a time, bits over a time a rate
        (Number, Rate) => Ok(left.scaled(Op::Multiply).then(right, Op::Divide, Time)),
        (Number, Time) => Ok(left.scaled(Op::Multiply).then(right, Op::Divide, Rate)),
        (a, b) => Err(format!("divides {} by {}", a.words(), b.words())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::*;

    const REGISTERS: [Register; 2] =
        [Register { name: "flows", per_port: true }, Register { name: "total", per_port: false }];

    fn ops(text: &str) -> Vec<Op> {
        number(text, &REGISTERS).unwrap_or_else(|e| panic!("{text} {e}")).to_vec()
    }

    fn refused(text: &str, word: &str) {
        let message = match (number(text, &REGISTERS), condition(text, &REGISTERS)) {
            (Err(message), Err(other)) => message + &other,
            _ => panic!("{text} is read"),
        };
        assert!(message.contains(word), "{text}: {message}");
    }

    #[test]
    fn products_come_before_sums_and_both_go_from_left_to_right() {
        assert_eq!(ops("1 + 2 * 3"), [Number(1), Number(2), Number(3), Multiply, Add]);
        assert_eq!(ops("8 / 4 / 2"), [Number(8), Number(4), Divide, Number(2), Divide]);
        assert_eq!(ops("5 - 2 - -1"), [Number(5), Number(2), Subtract, Number(1), Negate, Subtract]);
        assert_eq!(ops("2 * (size + len)"), [Number(2), Size, Len, Add, Multiply]);
        assert_eq!(ops("max(wnd, 1kB, total)"), [Window, Number(1_000), Max, Node(1), Max]);
    }

    #[test]
    fn a_rate_times_a_time_is_a_number_of_bits() {
        let share = ops("rate[ingress] * 300us / 8 / flows[ingress]");
        assert_eq!(share[..3], [Rate(Side::Ingress), Number(300_000_000), Bits]);
        assert_eq!(share[3..], [Number(8), Divide, Port(0, Side::Ingress), Divide]);
        let wait = ops("queue[egress] * 8 / rate[egress] / 1us");
        assert_eq!(wait[2..7], [Multiply, Number(SECOND), Multiply, Rate(Side::Egress), Divide]);
    }

    #[test]
    fn the_second_of_two_conditions_is_left_out_where_the_first_decides() {
        let both = condition("size > 40 and not len == 0", &REGISTERS).unwrap();
        let second = [Len, Number(0), Equal, Not];
        assert_eq!(both[..5], [Size, Number(40), AtMost, Not, UnlessFalse(4)]);
        assert_eq!(both[5..], second);
        assert_eq!(condition("now >= 1ms || wnd < 2", &REGISTERS).unwrap()[4], UnlessTrue(3));
        assert!(condition("rate[egress] > 0", &REGISTERS).is_ok(), "nothing has every unit");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        refused("", "ends");
        refused("1 +", "ends");
        refused("(1", ")");
        refused("1 2", "operator");
        refused("flows > 1", "flows[ingress]");
        refused("flows[core]", "flows[ingress]");
        refused("total[egress]", "operator");
        refused("flow_s + 1", "neither a field nor a register");
        refused("size + 1us", "a number and a time");
        refused("1us * 1us", "multiplies a time by a time");
        refused("1us / 1Gbps", "divides a time by a rate");
        refused("(size > 1) + 1", "a condition");
        refused("size and len", "expected a condition");
        refused("3 foo", "operator");
        refused("3parsecs", "300us");
        refused("1.5", "whole number");
        refused("99999999999999999999", "too large");
        refused("size % 2", "do not know");
        refused(&format!("{}1{}", "(".repeat(60), ")".repeat(60)), "deeper");
        refused(&format!("1{}", " + (1".repeat(20) + &")".repeat(20)), "at once");
        assert!(number("1us", &REGISTERS).unwrap_err().contains("expected a number"));
        assert!(number("size > 1", &REGISTERS).unwrap_err().contains("expected a number"));
        assert!(condition("size", &REGISTERS).unwrap_err().contains("expected a condition"));
    }
}
