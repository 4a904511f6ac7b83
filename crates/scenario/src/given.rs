//! Keys that a scenario gives, with what the schema says of them: a form is made from these.

use crate::catalogue::{Key, keys_of};
use crate::document::edit::{NAMED, name_of};
use crate::text::schema::Schema;
use serde::Serialize;
use toml::Value as Toml;

/// A key that a scenario gives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Given {
    /// Path, as [`Scenario::set`](crate::Scenario::set) takes it.
    pub path: String,
    /// Value, as `set` takes it.
    pub value: String,
    /// Name, condition, words, default and meaning.
    pub key: Key,
}

/// Keys of a document, in its order. Controllers are left out, and lists other than of traffic and jobs.
pub(crate) fn given(document: &Toml, schema: Schema) -> Vec<Given> {
    let mut found = Vec::new();
    let Some(table) = document.as_table() else { return found };
    for (name, value) in table {
        match value.as_array().filter(|_| NAMED.contains(&name.as_str())) {
            Some(entries) => entries.iter().for_each(|entry| of_entry(name, entry, schema.items(name), &mut found)),
            None if value.is_table() => within(document, schema, &mut vec![name], "", &mut found),
            None => {}
        }
    }
    found
}

fn of_entry(list: &str, entry: &Toml, schema: Schema, found: &mut Vec<Given>) {
    let Some(table) = entry.as_table() else { return };
    let prefix = format!("{list}.{}.", name_of(list, table));
    for key in table.keys().filter(|key| *key != "name") {
        within(entry, schema, &mut vec![key], &prefix, found);
    }
}

/// Keys of `document` at and below `path`.
fn within<'d>(document: &'d Toml, schema: Schema, path: &mut Vec<&'d str>, prefix: &str, found: &mut Vec<Given>) {
    let Some(value) = path.iter().try_fold(document, |at, part| at.get(part)) else { return };
    if path.last() == Some(&"controller") || value.is_array() {
        return;
    }
    if let Some(table) = value.as_table() {
        for key in table.keys() {
            path.push(key);
            within(document, schema, path, prefix, found);
            path.pop();
        }
        return;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    found.push(Given { path: format!("{prefix}{}", path.join(".")), value: text, key: key(document, schema, path) });
}

/// Name, condition, words, default and meaning of a key.
fn key(document: &Toml, schema: Schema, path: &[&str]) -> Key {
    let (name, above) = path.split_last().map_or(("", path), |(name, above)| (*name, above));
    let table = schema.find(above, Some(document));
    let own = above.iter().try_fold(document, |at, part| at.get(part));
    let variants = table.and_then(|table| table.variants()).unwrap_or_default();
    let tag = variants.first().map(|(tag, ..)| *tag);
    if tag == Some(name) {
        let words = variants.iter().map(|(_, word, s)| ((*word).to_owned(), s.doc().to_owned())).collect();
        return Key { name: name.to_owned(), words, ..Key::default() };
    }
    let word = tag.and_then(|tag| own?.get(tag)?.as_str());
    let chosen = variants.iter().find(|(_, own, _)| Some(*own) == word).map(|(.., s)| *s).or(table);
    let known = chosen.map(keys_of).unwrap_or_default().into_iter().find(|key| key.name == name);
    known.unwrap_or_else(|| Key { name: name.to_owned(), ..Key::default() })
}
