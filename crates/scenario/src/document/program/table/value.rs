//! Values of entries: numbers, numbers with a mask, ports and hosts by name.

use crate::document::program::kind::Around;
use crate::text::pattern::fits;
use crate::text::problem::Report;
use incast_engine::spec::table::Way;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A number, or a text with a number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => write!(f, "{n}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl Value {
    /// Reports a problem with it.
    pub(super) fn wrong(&self, key: &str, message: impl Into<String>, at: &mut Report) {
        match self {
            Value::Number(n) => at.value(key, n, message),
            Value::Text(text) => at.text(key, text, message),
        }
    }
}

/// Decimal, or hexadecimal after `0x`.
fn whole(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Value and mask of a field with the bits of `all`: `7`, `"7"`, `"0x4/0x6"`. Names are looked up in `names`.
pub(super) fn masked(value: &Value, all: u32, names: &[String], key: &str, at: &mut Report) -> Option<(u32, u32)> {
    let number = |text: &str| whole(text).or_else(|| Some(names.iter().position(|name| name == text.trim())? as u32));
    let what = if names.is_empty() { "a number" } else { "a host's name or number" };
    let expected = || format!("expected {what} up to {all}, or a value and a mask such as \"0x2/0x3\"");
    let (value_of, mask) = match value {
        Value::Number(n) => (u32::try_from(*n).ok(), Some(all)),
        Value::Text(text) => match text.split_once('/') {
            Some((value, mask)) => (number(value), whole(mask)),
            None => (number(text), Some(all)),
        },
    };
    let (Some(value_of), Some(mask)) = (value_of, mask) else {
        value.wrong(key, expected(), at);
        return None;
    };
    if mask > all || value_of > all {
        value.wrong(key, expected(), at);
        return None;
    }
    outside(value_of, mask, || value.wrong(key, outside_words(value_of & !mask), at)).then_some((value_of, mask))
}

/// Number of a value without a mask; `None` for a name.
pub(super) fn exact(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => u64::try_from(*n).ok(),
        Value::Text(text) => whole(text).map(u64::from),
    }
}

/// True if a value has no bits outside its mask; otherwise calls `report`.
pub(super) fn outside(value: u32, mask: u32, report: impl FnOnce()) -> bool {
    let fits = value & !mask == 0;
    if !fits {
        report();
    }
    fits
}

fn outside_words(bits: u32) -> String {
    format!("has bits outside its mask ({bits:#x}), which no packet matches; expected a mask that covers the value")
}

/// Port named by its link (`"s>h3"`), by the node at its end (`"h3"`), with `*` for any text; or `"stack"`.
pub(super) fn way(text: &str, key: &str, around: &Around, at: &mut Report) -> Option<Way> {
    if text == "stack" {
        return Some(Way::Stack);
    }
    let Around { network, nodes, .. } = around;
    let mut links: Vec<u32> = Vec::new();
    let mut doubled = None;
    for (number, link) in (0..).zip(&network.links) {
        let named = fits(text, &link.name) || fits(text, &network.names[link.to as usize]);
        if !named || nodes.binary_search(&link.from).is_err() {
            continue;
        }
        if links.iter().any(|other| network.links[*other as usize].from == link.from) {
            doubled = Some(&network.names[link.from as usize]);
        }
        links.push(number);
    }
    if let Some(node) = doubled {
        at.text(key, text, format!("names several ports of {node}; expected one a node, such as the name of a link"));
    } else if links.is_empty() {
        let some = network.links.iter().find(|link| nodes.binary_search(&link.from).is_ok());
        let (link, to) = some.map_or(("s>h0", "h0"), |l| (&*l.name, network.names[l.to as usize].as_str()));
        let own = if key == "output" { "or ingress" } else { "or stack" };
        let message = format!(
            "no port of these nodes has this name; expected a link such as {link}, the node that it leads to ({to}), \
             {own}"
        );
        at.text(key, text, message);
    }
    Some(Way::Links(links))
}
