//! A controller in a scenario: `{ kind = "swift", target = "min-rtt" }`, or in one text
//! `"swift:target=min-rtt,epsilon=100us"`. Kinds and parameters are those of the controllers' own declarations.

use crate::text::external;
use crate::text::problem::Problem;
use incast_cc::{Config, KINDS, Kind, ParamError, ValueKind};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use toml::Value as Toml;

/// A controller and its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Controller(pub Config);

/// Word for a kind in a value of either form.
pub fn word_of(value: &Toml) -> Option<&str> {
    let word = match value {
        Toml::String(text) => text.split(':').next(),
        other => other.get("kind").and_then(Toml::as_str),
    };
    word.map(str::trim)
}

/// Kind named by a value of either form, if any.
pub fn kind_of(value: &Toml) -> Option<&'static Kind> {
    let word = word_of(value)?;
    KINDS.iter().find(|k| k.name == word).copied()
}

/// Problem for `key`, which sets `name`, a parameter that a controller of this kind does not have.
pub fn no_parameter(key: String, kind: &Kind, name: &str) -> Problem {
    let known: Vec<&str> = kind.params.iter().map(|p| p.name).collect();
    let others: Vec<&str> = KINDS.iter().filter(|k| k.params.iter().any(|p| p.name == name)).map(|k| k.name).collect();
    let elsewhere = if others.is_empty() { String::new() } else { format!(", which is one of {}", others.join(", ")) };
    let message = format!("the controller {} has no parameter {name}{elsewhere}", kind.name);
    let mut problem = Problem::new(key, message).suggest(name, known.iter().copied());
    if problem.suggestion.is_none() {
        problem.message +=
            &if known.is_empty() { "; it has none".into() } else { format!("; it has {}", known.join(", ")) };
    }
    problem
}

/// Parameters and their values, as written.
type Written<'t> = Vec<(&'t str, &'t str)>;

/// Kind and parameters of the short form.
fn words(text: &str) -> Result<(&str, Written<'_>), String> {
    let (kind, rest) = match external::split(text) {
        Some((kind, params)) => (kind, params),
        None => text.split_once(':').map_or((text, None), |(kind, params)| (kind, Some(params))),
    };
    if rest.is_some_and(|rest| rest.trim().is_empty()) {
        return Err("expected key=value after the colon, or no colon".into());
    }
    let mut params = Vec::new();
    for part in rest.unwrap_or("").split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (k, v) =
            part.split_once('=').ok_or_else(|| format!("expected key=value after the colon, found \"{part}\""))?;
        params.push((k.trim(), v.trim()));
    }
    Ok((kind.trim(), params))
}

/// Short form as a table with the explicit values only; `None` if it names no controller.
pub fn table(text: &str) -> Option<toml::Table> {
    let (kind, params) = words(text).ok()?;
    KINDS.iter().find(|k| k.name == kind)?;
    let pairs = [("kind", kind)].into_iter().chain(params);
    Some(pairs.map(|(k, v)| (k.to_owned(), Toml::String(v.to_owned()))).collect())
}

/// Changes a controller's kind and drops its parameters. Returns those that the new kind has too and that differ from
/// the old kind's form, as written.
pub fn change_kind(table: &mut toml::Table, to: &str) -> Vec<(String, String)> {
    let Some(new) = KINDS.iter().find(|k| k.name == to) else { return Vec::new() };
    let standard = table.get("kind").and_then(Toml::as_str).and_then(Config::new);
    let form = form_of(table);
    let own = |k: &str, v: &Toml| {
        let of = if k == "form" { &standard } else { &form };
        new.params.iter().any(|p| p.name == k) && !of.as_ref().is_some_and(|c| repeats(c, k, v))
    };
    let shared = table.iter().filter(|(k, v)| own(k, v)).map(|(k, v)| (k.clone(), v.to_string())).collect();
    table.retain(|k, _| k == "kind");
    shared
}

/// Changes a controller's form and drops parameters that only repeat the old form's values.
pub fn change_form(table: &mut toml::Table, to: &str) {
    if let Some(old) = form_of(table).filter(|old| old.get("form").is_none_or(|f| f.to_string() != to)) {
        table.retain(|k, v| k == "form" || !repeats(&old, k, v));
    }
}

/// Kind and form of a controller's table, without its other parameters.
fn form_of(table: &toml::Table) -> Option<Config> {
    let mut config = table.get("kind").and_then(Toml::as_str).and_then(Config::new)?;
    match table.get("form") {
        Some(form) => config.set("form", &text_of(form)).ok().map(|()| config),
        None => Some(config),
    }
}

/// True if a parameter has the value of `config`.
fn repeats(config: &Config, key: &str, value: &Toml) -> bool {
    let mut same = config.clone();
    same.set(key, &text_of(value)).is_ok() && same == *config
}

/// Reads either form; every problem is reported with its key below `path`.
pub fn parse(value: &Toml, path: &str) -> Result<Config, Vec<Problem>> {
    let of_kinds = |problem: Problem, word: &str| {
        let known: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
        vec![problem.among(word, "expected one of", &known, "incast list controllers")]
    };
    let (key, word, mut params): (String, Toml, Vec<(String, String, String)>) = match value {
        Toml::String(text) => {
            let (kind, params) = words(text).map_err(|message| vec![Problem::with_value(path, value, message)])?;
            let params = params.into_iter().map(|(k, v)| (k.into(), v.into(), format!("\"{v}\""))).collect();
            (path.into(), Toml::String(kind.into()), params)
        }
        Toml::Table(table) => {
            let key = format!("{path}.kind");
            let Some(kind) = table.get("kind") else {
                return Err(of_kinds(Problem::new(key, "missing"), ""));
            };
            let params =
                table.iter().filter(|(k, _)| *k != "kind").map(|(k, v)| (k.clone(), text_of(v), v.to_string()));
            (key, kind.clone(), params.collect())
        }
        _ => {
            let message =
                "expected a controller such as \"swift:target=min-rtt\" or { kind = \"swift\", target = \"min-rtt\" }";
            return Err(vec![Problem::with_value(path, value, message)]);
        }
    };
    if let Some(name) = word.as_str().filter(|word| external::is_name(word)) {
        return resolve(name, params, &key, path);
    }
    let Some(mut config) = word.as_str().and_then(Config::new) else {
        let problem = Problem::with_value(key, &word, "no such controller");
        return Err(of_kinds(problem, word.as_str().unwrap_or("")));
    };
    let mut problems = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    // the form sets every parameter; explicit ones override it, wherever they are
    params.sort_by_key(|(k, ..)| k != "form");
    for (k, v, shown) in params {
        if seen.contains(&k) {
            problems.push(Problem::with_value(format!("{path}.{k}"), shown, "given twice; expected once"));
            continue;
        }
        seen.push(k.clone());
        match config.set(&k, &v) {
            Ok(()) => {}
            Err(ParamError::UnknownKey) => {
                problems.push(no_parameter(format!("{path}.{k}"), config.kind(), &k));
            }
            Err(e @ ParamError::BadValue { .. }) => {
                let choices = config.kind().params.iter().find(|p| p.name == k).map_or(&[][..], |p| p.choices);
                let problem = Problem::with_value(format!("{path}.{k}"), shown, e.to_string());
                problems.push(problem.suggest(&v, choices.iter().copied()));
            }
        }
    }
    if problems.is_empty() {
        if let Err(conflict) = config.check() {
            let value = config.get(conflict.key).map_or(String::new(), |v| v.to_string());
            problems.push(Problem::with_value(
                format!("{path}.{}", conflict.key),
                value,
                format!("expected {}", conflict.expected),
            ));
        }
    }
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

/// Resolves an external controller; `params` are names, values, and values as written.
fn resolve(name: &str, params: Vec<(String, String, String)>, key: &str, path: &str) -> Result<Config, Vec<Problem>> {
    let mut given: Vec<(String, String)> = Vec::new();
    for (k, v, shown) in params {
        if given.iter().any(|(known, _)| *known == k) {
            return Err(vec![Problem::with_value(format!("{path}.{k}"), shown, "given twice; expected once")]);
        }
        given.push((k, v));
    }
    external::resolve(name, given, key, path).map(Config::External).map_err(|problem| vec![problem])
}

fn text_of(value: &Toml) -> String {
    match value {
        Toml::String(s) => s.clone(),
        Toml::Float(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}

impl Controller {
    /// The controller in one text, with the parameters that differ from their defaults: `"swift:target=min-rtt"`.
    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

impl Serialize for Controller {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let kind = self.0.kind();
        let mut map = s.serialize_map(None)?;
        if let Config::External(external) = &self.0 {
            map.serialize_entry("kind", external.0.name())?;
            map.serialize_entry(external::SOURCE, external.0.source())?;
            external.0.params().iter().try_for_each(|(k, v)| map.serialize_entry(k, v))?;
            return map.end();
        }
        map.serialize_entry("kind", kind.name)?;
        for p in kind.params {
            let Some(text) = self.0.get(p.name).map(|v| v.to_string()) else { continue };
            match p.kind {
                ValueKind::OptionalNumber if text == "none" => map.serialize_entry(p.name, &text)?,
                ValueKind::Number | ValueKind::OptionalNumber => {
                    map.serialize_entry(p.name, &text.parse::<f64>().unwrap_or(f64::NAN))?
                }
                ValueKind::Integer => map.serialize_entry(p.name, &text.parse::<u64>().unwrap_or(0))?,
                ValueKind::Flag => map.serialize_entry(p.name, &(text == "true"))?,
                _ => map.serialize_entry(p.name, &text)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Controller {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Controller, D::Error> {
        let value = Toml::deserialize(d)?;
        parse(&value, "controller").map(Controller).map_err(|p| serde::de::Error::custom(&p[0]))
    }
}

impl JsonSchema for Controller {
    fn schema_name() -> Cow<'static, str> {
        "Controller".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(schema()).expect("an object is a schema")
    }
}

/// Schema of controllers, made of their declarations.
pub(super) fn schema() -> Json {
    let kinds: Vec<Json> = KINDS.iter().map(|k| kind_schema(k)).collect();
    let short = json!({
        "type": "string",
        "description": "Short form: a kind, and after a colon its parameters: \
                        \"swift:target=min-rtt,epsilon=100us\".",
    });
    let external = json!({
        "type": "object",
        "title": "A controller of one's own",
        "description": "A class in a Python module or file, and the arguments it is made with.",
        "properties": {
            "kind": {
                "type": "string",
                "pattern": "^[^:]+:[A-Za-z_][A-Za-z0-9_]*$",
                "description": "Module or file, a colon, and the class: \"mymodule:MyController\".",
            },
            "source": {
                "type": "string",
                "description": "Fingerprint of its code; another one is refused.",
            },
        },
        "required": ["kind"],
        "additionalProperties": true,
    });
    json!({ "format": "controller", "anyOf": [short, { "oneOf": kinds }, external] })
}

fn kind_schema(kind: &Kind) -> Json {
    let mut properties = serde_json::Map::new();
    properties.insert("kind".into(), json!({ "const": kind.name, "type": "string" }));
    for p in kind.params {
        let mut schema = match p.kind {
            ValueKind::Number => json!({ "type": "number" }),
            ValueKind::OptionalNumber => json!({ "anyOf": [{ "type": "number" }, { "const": "none" }] }),
            ValueKind::Integer => json!({ "type": "integer", "minimum": 0 }),
            ValueKind::Flag => json!({ "type": "boolean" }),
            ValueKind::Choice => json!({ "enum": p.choices }),
            ValueKind::Time | ValueKind::AutoTime => json!({ "type": "string" }),
        };
        let unit = if p.unit.is_empty() { String::new() } else { format!(" Unit: {}.", p.unit) };
        schema["description"] =
            json!(format!("{}{unit} Expected: {}. Source of the default: {}.", p.doc, p.expected, p.source));
        schema["default"] = match p.kind {
            ValueKind::Number | ValueKind::Integer | ValueKind::Flag => {
                serde_json::from_str(p.default).unwrap_or(json!(p.default))
            }
            _ => json!(p.default),
        };
        properties.insert(p.name.into(), schema);
    }
    json!({
        "type": "object",
        "title": kind.title,
        "description": kind.what,
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": false,
    })
}
