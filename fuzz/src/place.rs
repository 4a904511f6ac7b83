//! Places of problems in a document, and changes there.

use crate::grammar::{Draw, key_path, kind_path};
use incast_scenario::text::schema::{Schema, Shape};
use incast_scenario::{Problem, schema};
use toml::{Table, Value as Toml};

/// True if a problem says where it is: a key of the document, or a place in a file.
pub fn is_found(problem: &Problem) -> bool {
    let key = &problem.key;
    let first = key.split('.').next().unwrap_or_default();
    let of_file = [".csv", ".cm", ".toml"].iter().any(|end| key.contains(end));
    of_file || key.contains(", ") || known(&[Step::Key(first.to_owned())])
}

/// One step of the path to a value.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    Key(String),
    Entry(usize),
}

/// Path to a key, by name or by index of list entries; the last key may be missing.
fn steps(table: &Table, key: &str) -> Option<Vec<Step>> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let mut way = vec![Step::Key(first.to_owned())];
    let mut at = table.get(first);
    for part in rest.into_iter().flat_map(|rest| rest.split('.')) {
        // a missing key: it has a default, or is required, perhaps with keys of its own
        let Some(here) = at else { break };
        at = match here {
            Toml::Table(table) => {
                way.push(Step::Key(part.to_owned()));
                table.get(part)
            }
            Toml::Array(list) => {
                let named = |entry: &Toml| {
                    let word = |key: &str| entry.get(key).and_then(Toml::as_str);
                    word("name").or(word("pattern")) == Some(part)
                };
                let number = list.iter().position(named).or_else(|| part.parse().ok().filter(|n| *n < list.len()))?;
                way.push(Step::Entry(number));
                list.get(number)
            }
            _ => return None,
        };
    }
    known(&way).then_some(way)
}

/// True if the first step is a key of scenarios.
fn known(way: &[Step]) -> bool {
    matches!(way.first(), Some(Step::Key(key)) if Schema::new(schema()).keys().iter().any(|(name, ..)| name == key))
}

/// Changes the document at the place of `problem`; `often` counts its earlier occurrences.
pub fn mend(table: &mut Table, problem: &Problem, often: usize, draw: &mut Draw) {
    let Some(mut way) = steps(table, &problem.key).filter(|way| !way.is_empty()) else {
        return anything(table, draw);
    };
    // if a change at the key does not help, one around it may
    for _ in 0..often / 3 {
        if way.len() > 1 {
            way.pop();
        } else {
            return anything(table, draw);
        }
    }
    let named = words(&problem.message);
    let drop = !problem.message.starts_with("missing") && draw.random.chance(if often == 0 { 0.6 } else { 0.75 });
    let mut value = Toml::Table(std::mem::take(table));
    change(&mut value, Schema::new(schema()), "", &way, &Change { drop, named: &named }, draw);
    if let Toml::Table(changed) = value {
        *table = changed;
    }
}

/// Draws one of the document's own keys anew.
fn anything(table: &mut Table, draw: &mut Draw) {
    let keys: Vec<String> = table.keys().filter(|key| *key != "run" && *key != "topology").cloned().collect();
    if keys.is_empty() {
        return;
    }
    let way = [Step::Key(draw.random.one(&keys).clone())];
    let mut value = Toml::Table(std::mem::take(table));
    let drop = draw.random.chance(0.6);
    change(&mut value, Schema::new(schema()), "", &way, &Change { drop, named: &[] }, draw);
    if let Toml::Table(changed) = value {
        *table = changed;
    }
}

struct Change<'c> {
    drop: bool,
    named: &'c [String],
}

/// Follows the path, and drops or draws the value at its end.
fn change(value: &mut Toml, schema: Schema<'_>, path: &str, way: &[Step], how: &Change, draw: &mut Draw) {
    match (schema.shape(), value) {
        (Shape::Variants(variants), Toml::Table(table)) => {
            let word = |tag: &str| table.get(tag).and_then(Toml::as_str).map(str::to_owned);
            let found = variants.iter().find(|(tag, of, _)| word(tag).as_deref() == Some(of));
            let Some((tag, word, of)) = found else { return };
            // another kind means another table
            if matches!(way, [Step::Key(key)] if key == tag) {
                if let Toml::Table(new) = draw.value(schema, path, how.named) {
                    *table = new;
                }
                return;
            }
            change_key(table, *of, &kind_path(path, word), way, how, draw);
        }
        (Shape::Table(of), Toml::Table(table)) => change_key(table, of, path, way, how, draw),
        (Shape::Either(branches), value) => {
            let fits = |branch: &&Schema<'_>| match branch.shape() {
                Shape::Table(_) | Shape::Variants(_) | Shape::Names(_) => value.is_table(),
                Shape::List { .. } => value.is_array(),
                _ => false,
            };
            if let Some(branch) = branches.iter().find(fits) {
                change(value, *branch, path, way, how, draw);
            }
        }
        (Shape::Controller, Toml::Table(table)) => match way {
            [Step::Key(key)] if key != "kind" => drop(table.remove(key)),
            _ => {
                if let Toml::Table(new) = draw.value(schema, path, how.named) {
                    *table = new;
                }
            }
        },
        (Shape::List { of, .. }, Toml::Array(list)) => {
            let [Step::Entry(number), rest @ ..] = way else { return };
            let path = format!("{path}[]");
            match rest {
                [] if how.drop && list.len() > 1 => drop(list.remove(*number)),
                [] => list[*number] = draw.value(of, &path, how.named),
                rest => change(&mut list[*number], of, &path, rest, how, draw),
            }
        }
        (Shape::Names(_), Toml::Table(table)) => {
            if let [Step::Key(key), ..] = way {
                table.remove(key);
            }
        }
        _ => {}
    }
}

fn change_key(table: &mut Table, of: Schema<'_>, path: &str, way: &[Step], how: &Change, draw: &mut Draw) {
    let [Step::Key(key), rest @ ..] = way else { return };
    // existing words of the table count as drawn
    for (key, value) in table.iter() {
        let path = key_path(path, key);
        match value {
            Toml::String(word) => draw.said.push(format!("{path}={word}")),
            Toml::Table(table) => {
                let kind = table.get("kind").and_then(Toml::as_str);
                draw.said.extend(kind.map(|word| kind_path(&path, word)));
            }
            _ => {}
        }
    }
    let keys = of.keys();
    let Some((_, schema, required)) = keys.iter().find(|(name, ..)| name == key) else {
        table.remove(key);
        return;
    };
    let path = key_path(path, key);
    match (table.get_mut(key), rest) {
        (Some(value), [_, ..]) => change(value, *schema, &path, rest, how, draw),
        (Some(_), []) if how.drop && !required => drop(table.remove(key)),
        (Some(Toml::Array(list)), []) if how.drop && list.len() > 1 => {
            let number = draw.random.below(list.len() as u64) as usize;
            list.remove(number);
        }
        (_, _) => {
            let value = draw.value(*schema, &path, how.named);
            table.insert(key.clone(), value);
        }
    }
}

/// Words in quotes: the values that a message expects.
fn words(message: &str) -> Vec<String> {
    message.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
