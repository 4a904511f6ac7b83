//! Changes of a document by keys, as `--set` makes them: the entry that a key refers to, the table that contains it,
//! and further changes when a `kind`, a `form` or a `preset` changes.

use crate::document::transport::Preset;
use crate::text::problem::{Errors, Problem};
use crate::text::reading::read;
use crate::text::schema::{Schema, below, number};
use crate::text::{controller, external};
use toml::Value as Toml;

/// Parameters dropped by a change of a controller's kind although controllers of the new kind have them too.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LeftOut {
    /// Key path of the controller.
    pub(crate) path: String,
    /// Old and new kind.
    pub(crate) from: String,
    pub(crate) to: String,
    /// Parameters with their values as written.
    pub(crate) had: Vec<(String, String)>,
}

/// Lists whose entries go by name, also without a number: `traffic.flows` and `traffic.NAME.flows`.
pub(crate) const NAMED: [&str; 2] = ["traffic", "job"];

/// Entry of a list of [`NAMED`] that `rest` (after `traffic.`) refers to, and the rest of the key.
pub(crate) fn entry<'t, 's, 'k>(
    table: &'t mut toml::Table,
    schema: Schema<'s>,
    list: &str,
    rest: &[&'k str],
) -> Result<(&'t mut toml::Table, Schema<'s>, Vec<&'k str>, String), Errors> {
    let items = schema.items(list);
    let keys = items.key_names(None);
    let entries: Vec<&mut toml::Table> =
        table.get_mut(list).and_then(Toml::as_array_mut).into_iter().flatten().filter_map(Toml::as_table_mut).collect();
    let names: Vec<String> = entries.iter().map(|t| name_of(list, t).to_owned()).collect();
    let entries_are = if list == "job" { "jobs" } else { "traffic entries" };
    let (at, parts) = match names.iter().position(|n| n == rest[0]) {
        Some(i) if rest.len() > 1 => (i, rest[1..].to_vec()),
        _ if names.len() == 1 && number(rest[0]).is_none() => (0, rest.to_vec()),
        _ => {
            let quoted: Vec<String> = names.iter().map(|n| format!("{list}.{n}.KEY")).collect();
            let key = format!("{list}.{}", rest.join("."));
            if quoted.is_empty() {
                return Err(
                    Problem::new(key, format!("there are no {entries_are}; expected a table [[{list}]]")).into()
                );
            }
            let expected = quoted.join(" or ");
            if number(rest[0]).is_some() {
                let message = format!("entries of {list} go by name; expected {expected}");
                return Err(Problem::new(key, message).into());
            }
            let message = format!("there are {} {entries_are}; expected {expected}", names.len());
            let known = keys.iter().copied().chain(names.iter().map(String::as_str));
            let problem = Problem::new(key, message);
            return Err(if keys.contains(&rest[0]) { problem } else { problem.suggest(rest[0], known) }.into());
        }
    };
    let path = if parts.len() < rest.len() { format!("{list}.{}.", names[at]) } else { format!("{list}.") };
    let none = || Problem::new(list, format!("empty; expected at least one [[{list}]] entry"));
    Ok((entries.into_iter().nth(at).ok_or_else(none)?, items, parts, path))
}

/// Name of an entry of a list of [`NAMED`].
pub(crate) fn name_of<'t>(list: &str, entry: &'t toml::Table) -> &'t str {
    let usual = if list == "job" { "job" } else { "" };
    entry.get("name").or(entry.get("pattern")).and_then(Toml::as_str).unwrap_or(usual)
}

/// Returns a key path with list entries by number, and the same path with their names if they have one, as used in
/// problems.
pub(crate) fn resolved(parts: &[&str], document: &Toml) -> (Vec<String>, Vec<String>) {
    let mut place = Some(document);
    let name = |item: &Toml| item.get("name").and_then(Toml::as_str).map(str::to_owned);
    let resolve = |part: &&str| {
        let list = place.and_then(Toml::as_array);
        let called = list.and_then(|list| list.iter().position(|item| name(item).as_deref() == Some(*part)));
        let key = called.map_or_else(|| (*part).to_owned(), |i| i.to_string());
        place = place.and_then(|place| below(place, &key));
        let spoken = place.filter(|_| list.is_some()).and_then(name).unwrap_or_else(|| key.clone());
        (key, spoken)
    };
    parts.iter().map(resolve).unzip()
}

/// Problem for the first part of a key path that does not exist, with a suggestion.
pub(crate) fn unknown_key(schema: Schema, parts: &[&str], document: &Toml, path: &str) -> Problem {
    let mut known = 0;
    while known < parts.len() && schema.find(&parts[..=known], Some(document)).is_some() {
        known += 1;
    }
    let above = schema.find(&parts[..known], Some(document)).unwrap_or(schema);
    let place = parts[..known].iter().try_fold(document, |d, k| below(d, k));
    let key = format!("{path}{}", parts[..=known].join("."));
    if above.is_list() {
        let list = format!("{path}{}", parts[..known].join("."));
        let message = match place.and_then(Toml::as_array).map_or(0, Vec::len) {
            0 => format!("there is no entry of {list}; expected the whole list, as {list}=[...]"),
            1 => format!("there is one entry of {list}; expected {list}.0"),
            n => format!("there are {n} entries of {list}; expected {list}.0 to {list}.{}", n - 1),
        };
        return Problem::new(key, message);
    }
    let external = place.and_then(|p| p.as_str().or_else(|| p.get("kind")?.as_str())).and_then(external::split);
    if let Some((name, _)) = external.filter(|_| known > 0 && above.is_controller()) {
        let message = format!("parameters of {name} are given with its name, as \"{name}:{}=...\"", parts[known]);
        return Problem::new(key, message);
    }
    if let Some(kind) = place.and_then(controller::kind_of).filter(|_| known > 0 && above.is_controller()) {
        return controller::no_parameter(key, kind, parts[known]);
    }
    above.unknown(key, parts[known], &above.key_names(place), place.and_then(Toml::as_table))
}

/// Sets a value at an existing key path, and creates tables on the way. Returns the previous kind of a controller
/// whose kind changed, and its parameters that the new kind has too.
pub(crate) fn insert(
    table: &mut toml::Table,
    parts: &[&str],
    value: Toml,
    found: Schema,
) -> Option<(String, Vec<(String, String)>)> {
    let (last, way) = parts.split_last()?;
    let Some((first, way)) = way.split_first() else { return put(table, last, value, found) };
    let mut at = table.entry(*first).or_insert_with(empty);
    for part in way {
        at = match at {
            Toml::Array(list) => list.get_mut(number(part)?)?,
            other => as_table(other)?.entry(*part).or_insert_with(empty),
        };
    }
    if let Toml::Array(list) = at {
        *list.get_mut(number(last)?)? = value;
        return None;
    }
    put(as_table(at)?, last, value, found)
}

fn empty() -> Toml {
    Toml::Table(toml::Table::new())
}

/// The value as a table: that of a controller written as text, else an empty one.
fn as_table(at: &mut Toml) -> Option<&mut toml::Table> {
    if let Some(written) = at.as_str().and_then(controller::table) {
        *at = Toml::Table(written);
    }
    if !at.is_table() {
        *at = empty();
    }
    at.as_table_mut()
}

/// Sets a value at a key of a table: [`insert`].
fn put(at: &mut toml::Table, last: &str, value: Toml, found: Schema) -> Option<(String, Vec<(String, String)>)> {
    let mut had = None;
    let kind = controller::kind_of(&Toml::Table(at.clone())).map(|k| k.name);
    match (last, kind, value.as_str()) {
        ("kind", Some(kind), Some(to)) if to != kind => had = Some((kind.to_owned(), controller::change_kind(at, to))),
        ("form", Some(_), Some(to)) => controller::change_form(at, to),
        _ => {}
    }
    let before = at.insert(last.to_owned(), value.clone());
    if let (Some(variants), Some(word)) = (found.variants(), value.as_str()) {
        let changed = |v: &&(&str, &str, Schema)| v.0 == last && v.1 == word && before.as_ref() != Some(&value);
        if let Some((_, _, variant)) = variants.iter().find(changed) {
            let keys: Vec<&str> = variant.keys().iter().map(|k| k.0).collect();
            at.retain(|k, _| k == last || keys.contains(&k));
        }
    }
    if last == "preset" {
        if let Some(old) = before.and_then(|b| read::<Preset>(b).ok()) {
            let old = Toml::try_from(old.values()).unwrap_or(Toml::Boolean(false));
            at.retain(|k, v| k == "preset" || old.get(k) != Some(v));
        }
    }
    had.filter(|(_, shared)| !shared.is_empty())
}
