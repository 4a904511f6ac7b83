//! Nodes of an execution trace.

use super::wire::{Fields, Value, varint};

/// Types of nodes, as numbers of the schema.
pub(super) mod kinds {
    pub const METADATA: u64 = 1;
    pub const LOAD: u64 = 2;
    pub const STORE: u64 = 3;
    pub const CALC: u64 = 4;
    pub const SEND: u64 = 5;
    pub const RECV: u64 = 6;
    pub const COLLECTIVE: u64 = 7;
}

/// A node, as far as a graph needs it. Integers of any type are read.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Node {
    pub id: u64,
    pub kind: u64,
    pub control: Vec<u64>,
    pub data: Vec<u64>,
    pub duration_us: u64,
    pub is_cpu: bool,
    pub comm_type: Option<u64>,
    pub comm_size: Option<u64>,
    pub comm_src: Option<u64>,
    pub comm_dst: Option<u64>,
    pub comm_tag: Option<u64>,
    pub stream: u64,
    pub group: String,
    /// Values of the inputs: JSON of process groups in a node of type 1.
    pub inputs: String,
}

impl Node {
    /// Reads a message; `None` where it is broken.
    pub fn read(bytes: &[u8]) -> Option<Node> {
        let mut node = Node::default();
        for field in Fields(bytes) {
            match field? {
                (1, Value::Number(id)) => node.id = id,
                (3, Value::Number(kind)) => node.kind = kind,
                (4, value) => numbers(value, &mut node.control)?,
                (5, value) => numbers(value, &mut node.data)?,
                (7, Value::Number(duration)) => node.duration_us = duration,
                (8, Value::Part(inputs)) => {
                    for field in Fields(inputs) {
                        if let (1, Value::Part(values)) = field? {
                            node.inputs = text(values);
                        }
                    }
                }
                (10, Value::Part(attribute)) => node.attribute(attribute)?,
                _ => {}
            }
        }
        Some(node)
    }

    /// Reads what a message says of dependencies, without attributes.
    pub fn dependencies(bytes: &[u8]) -> Option<Node> {
        let mut node = Node::default();
        for field in Fields(bytes) {
            match field? {
                (1, Value::Number(id)) => node.id = id,
                (4, value) => numbers(value, &mut node.control)?,
                (5, value) => numbers(value, &mut node.data)?,
                _ => {}
            }
        }
        Some(node)
    }

    fn attribute(&mut self, bytes: &[u8]) -> Option<()> {
        let (mut name, mut number, mut word) = (&b""[..], None, None);
        for field in Fields(bytes) {
            match field? {
                (1, Value::Part(given)) => name = given,
                (3, Value::Eight(bits)) => number = whole(f64::from_bits(bits)),
                (5, Value::Four(bits)) => number = whole(f32::from_bits(bits).into()),
                // zigzag
                (15 | 17, Value::Number(value)) => number = Some((value >> 1) ^ (value & 1).wrapping_neg()),
                (7 | 9 | 11 | 13 | 27, Value::Number(value)) => number = Some(value),
                (19 | 23, Value::Four(value)) => number = Some(value.into()),
                (21 | 25, Value::Eight(value)) => number = Some(value),
                (29, Value::Part(value)) => word = Some(text(value)),
                _ => {}
            }
        }
        match name {
            b"is_cpu_op" => self.is_cpu = number.unwrap_or(0) != 0,
            b"comm_type" => self.comm_type = number,
            b"comm_size" => self.comm_size = number,
            b"comm_src" => self.comm_src = number,
            b"comm_dst" => self.comm_dst = number,
            b"comm_tag" => self.comm_tag = number,
            b"stream" => self.stream = number.unwrap_or(0),
            b"pg_name" => self.group = word.or(number.map(|n| n.to_string())).unwrap_or_default(),
            _ => {}
        }
        Some(())
    }
}

/// A float that is a whole number of at least 0.
fn whole(value: f64) -> Option<u64> {
    ((0.0..1.8e19).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Adds one number, or packed numbers.
fn numbers(value: Value, to: &mut Vec<u64>) -> Option<()> {
    match value {
        Value::Number(number) => to.push(number),
        Value::Part(mut bytes) => {
            while !bytes.is_empty() {
                let (number, rest) = varint(bytes)?;
                to.push(number);
                bytes = rest;
            }
        }
        _ => return None,
    }
    Some(())
}
