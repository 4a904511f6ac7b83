//! Spellings that users may choose, in the one form that documents keep: `"60%"` is 0.6, `"websearch"` is
//! `"builtin:websearch"`.

use crate::files::{Beside, builtin};
use crate::text::schema::{Schema, Shape};
use serde_json::{Value as Json, json};
use toml::Value as Toml;

/// Brings the values of a document, or of a part of it, into the form that documents keep. A file of the
/// scenario has precedence over a table of sizes that comes with the program. Values that are wrong stay as they are.
pub(crate) fn canonical(value: &mut Toml, schema: Schema, beside: &Beside) {
    match schema.shape() {
        Shape::Number { .. } if schema.is_fraction() => {
            if let Some(part) = value.as_str().and_then(percentage) {
                *value = Toml::Float(part);
            }
        }
        Shape::Text("sizes") => {
            let is_table = |name: &&str| builtin::sizes().any(|known| known == *name) && !beside.has(name);
            if let Some(name) = value.as_str().filter(is_table) {
                *value = Toml::String(format!("{}{name}", builtin::PREFIX));
            }
        }
        Shape::Either(branches) => branches.into_iter().for_each(|branch| canonical(value, branch, beside)),
        Shape::Variants(variants) => {
            let chosen = |(tag, word, _): &&(&str, &str, Schema)| value.get(*tag).and_then(Toml::as_str) == Some(*word);
            let variant = variants.iter().find(chosen).map(|found| found.2);
            value
                .as_table_mut()
                .zip(variant)
                .into_iter()
                .for_each(|(table, keys)| canonical_table(table, keys, beside));
        }
        Shape::List { of, .. } => {
            value.as_array_mut().into_iter().flatten().for_each(|item| canonical(item, of, beside));
        }
        Shape::Table(keys) => value.as_table_mut().into_iter().for_each(|table| canonical_table(table, keys, beside)),
        Shape::Names(values) => {
            value.as_table_mut().into_iter().flatten().for_each(|(_, item)| canonical(item, values, beside));
        }
        _ => {}
    }
}

/// As [`canonical`], for a table.
pub(crate) fn canonical_table(table: &mut toml::Table, schema: Schema, beside: &Beside) {
    for (key, own, _) in schema.keys() {
        if let Some(item) = table.get_mut(key) {
            canonical(item, own, beside);
        }
    }
}

/// A number before a percent sign, over 100: the double nearest to the decimal.
fn percentage(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim();
    let is_plain = number.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    is_plain.then(|| format!("{number}e-2").parse().ok())?
}

/// The JSON schema with every spelling that [`canonical`] reads.
pub(crate) fn with_spellings(mut schema: Json) -> Json {
    fn widen(node: &mut Json) {
        if let Some(types) = node.get("type").cloned().filter(|_| Schema::new(node).is_fraction()) {
            let mut types: Vec<Json> = types.as_array().cloned().unwrap_or_else(|| vec![types]);
            types.push(json!("string"));
            node["type"] = json!(types);
            node["pattern"] = json!(r"^ *[0-9.]+ *% *$");
        }
        match node {
            Json::Object(parts) => parts.values_mut().for_each(widen),
            Json::Array(parts) => parts.iter_mut().for_each(widen),
            _ => {}
        }
    }
    widen(&mut schema);
    schema
}
