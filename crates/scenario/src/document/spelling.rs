//! Spellings that users may choose, in the one form that documents keep: `"60%"` is 0.6, `"websearch"` is
//! `"builtin:websearch"`.

use crate::files::builtin;
use crate::text::schema::{Schema, Shape};
use serde_json::{Value as Json, json};
use std::path::Path;
use toml::Value as Toml;

/// Brings the values of a document, or of a part of it, into the form that documents keep. A file in `dir` has
/// precedence over a table of sizes that comes with the program. Values that are wrong stay as they are.
pub(crate) fn canonical(value: &mut Toml, schema: Schema, dir: &Path) {
    match schema.shape() {
        Shape::Number { .. } if schema.is_fraction() => {
            if let Some(part) = value.as_str().and_then(percentage) {
                *value = Toml::Float(part);
            }
        }
        Shape::Text("sizes") => {
            let is_table = |name: &&str| builtin::sizes().any(|known| known == *name) && !dir.join(name).is_file();
            if let Some(name) = value.as_str().filter(is_table) {
                *value = Toml::String(format!("{}{name}", builtin::PREFIX));
            }
        }
        Shape::Either(branches) => branches.into_iter().for_each(|branch| canonical(value, branch, dir)),
        Shape::Variants(variants) => {
            let chosen = |(tag, word, _): &&(&str, &str, Schema)| value.get(*tag).and_then(Toml::as_str) == Some(*word);
            let variant = variants.iter().find(chosen).map(|found| found.2);
            value.as_table_mut().zip(variant).into_iter().for_each(|(table, keys)| canonical_table(table, keys, dir));
        }
        Shape::List { of, .. } => {
            value.as_array_mut().into_iter().flatten().for_each(|item| canonical(item, of, dir));
        }
        Shape::Table(keys) => value.as_table_mut().into_iter().for_each(|table| canonical_table(table, keys, dir)),
        Shape::Names(values) => {
            value.as_table_mut().into_iter().flatten().for_each(|(_, item)| canonical(item, values, dir));
        }
        _ => {}
    }
}

/// As [`canonical`], for a table.
pub(crate) fn canonical_table(table: &mut toml::Table, schema: Schema, dir: &Path) {
    for (key, own, _) in schema.keys() {
        if let Some(item) = table.get_mut(key) {
            canonical(item, own, dir);
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
