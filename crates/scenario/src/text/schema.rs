//! Checks a TOML document against the schema of the Rust types and reports all errors, not only the first.
//!
//! The schema comes from the same types that hold the values (`root_schema.rs`), so names, bounds and words exist once.
//! Supported is the output of `schemars` for our types: objects, tagged unions (`oneOf` with a constant), words,
//! numbers with bounds, lists, optional values, references, and our string formats with units.

use crate::text::problem::{self, Problem};
use crate::text::{controller, quantity};
use serde_json::Value as Json;
use toml::Value as Toml;

/// A JSON schema with its definitions.
#[derive(Clone, Copy)]
pub struct Schema<'a> {
    root: &'a Json,
    node: &'a Json,
}

/// Values allowed at a place of a document.
#[derive(Clone)]
pub enum Shape<'a> {
    /// A controller, in either form.
    Controller,
    /// One of a few words.
    Words(Vec<&'a str>),
    /// A table of one of several kinds: the key with the kind, its word, the schema of the other keys.
    Variants(Vec<(&'a str, &'a str, Schema<'a>)>),
    /// One of several shapes.
    Either(Vec<Schema<'a>>),
    /// A text, with the name of its format; empty without a format.
    Text(&'a str),
    /// A whole number.
    Integer {
        /// Smallest value.
        least: i64,
        /// Largest value.
        most: i64,
        /// Step of the allowed values.
        multiple: i64,
    },
    /// A number, between optional bounds.
    Number {
        /// Lower bound, included or not.
        least: Option<f64>,
        /// Upper bound, included or not.
        most: Option<f64>,
    },
    /// True or false.
    Flag,
    /// A list, of a fixed length if given.
    List {
        /// Schema of the entries.
        of: Schema<'a>,
        /// Number of entries.
        length: Option<u64>,
    },
    /// A table of these keys: [`Schema::keys`].
    Table(Schema<'a>),
    /// A table with names chosen by users.
    Names(Schema<'a>),
}

impl<'a> Schema<'a> {
    /// The whole schema.
    pub fn new(root: &'a Json) -> Schema<'a> {
        Schema { root, node: root }.resolved()
    }

    fn at(self, node: &'a Json) -> Schema<'a> {
        Schema { node, ..self }.resolved()
    }

    /// Follows references and skips "or null" of optional keys.
    fn resolved(mut self) -> Schema<'a> {
        loop {
            if let Some(name) = self.node["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
                self.node = &self.root["$defs"][name];
            } else if let Some([only]) = self.branches("anyOf").as_deref() {
                self.node = only;
            } else {
                return self;
            }
        }
    }

    fn branches(&self, key: &str) -> Option<Vec<&'a Json>> {
        Some(self.node[key].as_array()?.iter().filter(|b| b["type"] != "null").collect())
    }

    fn types(&self) -> Vec<&'a str> {
        match &self.node["type"] {
            Json::String(t) => vec![t.as_str()],
            Json::Array(ts) => ts.iter().filter_map(Json::as_str).filter(|t| *t != "null").collect(),
            _ => Vec::new(),
        }
    }

    fn format(&self) -> &'a str {
        self.node["format"].as_str().unwrap_or("")
    }

    /// Allowed words, with their documentation, if the value is one of a few words.
    pub fn words(&self) -> Option<Vec<(&'a str, &'a str)>> {
        if let Some(word) = self.node["const"].as_str() {
            return Some(vec![(word, self.doc())]);
        }
        if let Some(list) = self.node["enum"].as_array() {
            return Some(list.iter().filter_map(Json::as_str).map(|w| (w, "")).collect());
        }
        let mut words = Vec::new();
        for branch in self.branches("oneOf")? {
            words.extend(self.at(branch).words()?);
        }
        Some(words)
    }

    /// Allowed words with their meanings, if these are documented.
    pub fn meanings(self) -> Vec<(String, String)> {
        let words = self.resolved().words().filter(|words| words.len() > 1).unwrap_or_default();
        let one_line = |doc: &str| doc.split_whitespace().collect::<Vec<_>>().join(" ");
        words.into_iter().filter(|(_, doc)| !doc.is_empty()).map(|(w, doc)| (w.to_owned(), one_line(doc))).collect()
    }

    /// Documentation.
    pub fn doc(&self) -> &'a str {
        self.node["description"].as_str().unwrap_or("")
    }

    /// Variants of a tagged union: (tag key, word, schema).
    pub fn variants(&self) -> Option<Vec<(&'a str, &'a str, Schema<'a>)>> {
        self.branches("oneOf")?
            .into_iter()
            .map(|b| {
                let variant = self.at(b);
                let (tag, constant) =
                    variant.node["properties"].as_object()?.iter().find(|(_, p)| p["const"].is_string())?;
                Some((tag.as_str(), constant["const"].as_str()?, variant))
            })
            .collect()
    }

    /// Keys of an object with their schema as written (with default and documentation) and whether they are required;
    /// without the tag of a union.
    pub fn keys(&self) -> Vec<(&'a str, Schema<'a>, bool)> {
        let required = |k: &str| self.node["required"].as_array().is_some_and(|r| r.iter().any(|x| x == k));
        self.node["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, p)| p["const"].is_null())
            .map(|(k, p)| (k.as_str(), Schema { node: p, ..*self }, required(k)))
            .collect()
    }

    /// Schema of the table that a value may be; `None` if it is no table, one of several by a word, or a controller.
    pub fn table(self) -> Option<Schema<'a>> {
        let s = self.resolved();
        if s.is_controller() || s.variants().is_some() {
            return None;
        }
        match s.branches("anyOf") {
            Some(branches) => branches.into_iter().find_map(|b| s.at(b).table()),
            None => (!s.keys().is_empty()).then_some(s),
        }
    }

    /// Schema of the table that a value may be, or that each entry of a list may be.
    pub fn entry(self) -> Option<Schema<'a>> {
        let s = self.resolved();
        if s.is_list() { s.at(&s.node["items"]).table() } else { s.table() }
    }

    /// Default of a key as written in TOML; `None` without a default, or for a table of many keys, which have their
    /// own defaults.
    pub fn default(&self) -> Option<String> {
        const FEW: usize = 3;
        match &self.node["default"] {
            Json::Null => None,
            Json::Object(table) if table.len() > FEW => None,
            v => Some(Toml::try_from(v).map_or_else(|_| v.to_string(), |v| v.to_string())),
        }
    }

    /// Default kind of the table `first` of this one, as tag and word, if that kind has `key`.
    pub fn usual_kind(self, first: &str, key: &str) -> Option<(&'a str, &'a str)> {
        let keys = self.resolved().keys();
        let (_, written, _) = keys.iter().find(|(name, ..)| *name == first)?;
        let usual = |(tag, word, _): &(&str, &str, Schema)| written.node["default"][*tag].as_str() == Some(*word);
        let (tag, word, variant) = written.resolved().variants()?.into_iter().find(usual)?;
        variant.keys().iter().any(|(name, ..)| *name == key).then_some((tag, word))
    }

    /// True for a number from 0 to 1, or one that counts as such, which may be written as a percentage.
    pub fn is_fraction(self) -> bool {
        let s = self.resolved();
        let bounds = |keys: [&str; 2]| keys.iter().find_map(|key| s.node[*key].as_f64());
        let least = bounds(["minimum", "exclusiveMinimum"]);
        s.format() == FRACTION
            || (least >= Some(0.0) && bounds(["maximum", "exclusiveMaximum"]).is_some_and(|m| m <= 1.0))
    }

    /// True for the place of a list.
    pub fn is_list(self) -> bool {
        self.resolved().types() == ["array"]
    }

    /// True for the place of a controller, in either form.
    pub fn is_controller(self) -> bool {
        self.resolved().format() == "controller"
    }

    /// Values allowed at this place, with the cases in the same order as in [`Schema::check`].
    pub fn shape(self) -> Shape<'a> {
        let s = self.resolved();
        if s.is_controller() {
            return Shape::Controller;
        }
        if let Some(words) = s.words() {
            return Shape::Words(words.into_iter().map(|(word, _)| word).collect());
        }
        if let Some(variants) = s.variants() {
            return Shape::Variants(variants);
        }
        if let Some(branches) = s.branches("anyOf") {
            return Shape::Either(branches.into_iter().map(|branch| s.at(branch)).collect());
        }
        let bound = |key: &str| s.node[key].as_f64();
        match s.types().first().copied() {
            Some("string") => Shape::Text(s.format()),
            Some("integer") => Shape::Integer {
                least: s.node["minimum"].as_i64().unwrap_or(0),
                most: s.node["maximum"].as_i64().unwrap_or(i64::MAX),
                multiple: s.node["multipleOf"].as_i64().unwrap_or(1),
            },
            Some("number") => Shape::Number {
                least: bound("minimum").or(bound("exclusiveMinimum")),
                most: bound("maximum").or(bound("exclusiveMaximum")),
            },
            Some("boolean") => Shape::Flag,
            Some("array") => Shape::List { of: s.at(&s.node["items"]), length: s.length() },
            _ => s.named_values().map_or(Shape::Table(s), Shape::Names),
        }
    }

    /// Condition on a value, in words.
    pub fn expected(self) -> String {
        let s = self.resolved();
        if let Some(words) = quantity::expected(s.format()) {
            return words.into();
        }
        if s.format() == "controller" {
            return "a controller such as \"swift:target=min-rtt\" or { kind = \"swift\", target = \"min-rtt\" }"
                .into();
        }
        if let Some(words) = s.words() {
            let quoted: Vec<String> = words.iter().map(|(w, _)| format!("\"{w}\"")).collect();
            return if quoted.len() == 1 { quoted[0].clone() } else { format!("one of {}", quoted.join(", ")) };
        }
        if let Some(branches) = s.branches("anyOf") {
            return branches.iter().map(|b| s.at(b).expected()).collect::<Vec<_>>().join(" or ");
        }
        if let Some(variants) = s.variants() {
            let words: Vec<String> = variants.iter().map(|v| format!("\"{}\"", v.1)).collect();
            return format!("a table with {} = {}", variants[0].0, words.join(" or "));
        }
        if let Some(values) = s.named_values() {
            return format!("a table of names with {}", values.expected());
        }
        let keys: Vec<&str> = s.keys().iter().map(|k| k.0).collect();
        match s.types().first().copied() {
            Some("object") if (1..=12).contains(&keys.len()) => format!("a table of {}", keys.join(", ")),
            Some("integer") => s.number(if s.node["multipleOf"] == 2 { "an even number" } else { "a whole number" }),
            Some("number") if s.is_fraction() => format!("{}, such as 0.6 or \"60%\"", s.number("a number")),
            Some("number") => s.number("a number"),
            Some("boolean") => "true or false".into(),
            Some("string") => "a text in quotes".into(),
            Some("array") => {
                let items = plural(&s.at(&s.node["items"]).expected());
                s.length().map_or(format!("a list of {items}"), |n| format!("a list of {n} {items}"))
            }
            _ => "a table".into(),
        }
    }

    fn number(&self, what: &str) -> String {
        self.number_to(what, &self.node["maximum"])
    }

    fn number_to(&self, what: &str, high: &Json) -> String {
        let low = &self.node["minimum"];
        // Integers as they are: a float would round large ones.
        let text = |v: &Json| {
            if v.is_u64() || v.is_i64() {
                return v.to_string();
            }
            v.as_f64().map_or(v.to_string(), |x| if x.fract() == 0.0 { format!("{x:.0}") } else { x.to_string() })
        };
        if let Some(above) = self.node["exclusiveMinimum"].as_f64() {
            let most = if high.is_null() { String::new() } else { format!(", at most {}", text(high)) };
            return format!("{what} above {above}{most}");
        }
        if let Some(below) = self.node["exclusiveMaximum"].as_f64() {
            let least = if low.is_null() { String::new() } else { format!(" >= {},", text(low)) };
            return format!("{what}{least} below {below}");
        }
        match (low.is_null(), high.is_null()) {
            (true, true) => what.into(),
            (false, true) => format!("{what} >= {}", text(low)),
            (true, false) => format!("{what} <= {}", text(high)),
            (false, false) => format!("{what} from {} to {}", text(low), text(high)),
        }
    }

    /// Schema of a key path below this one. `document` is the current value there: if it selects a variant of a
    /// union, only that variant's keys are found, and for a list only its existing entries.
    pub fn find(self, path: &[&str], document: Option<&Toml>) -> Option<Schema<'a>> {
        let s = self.resolved();
        let Some((key, rest)) = path.split_first() else { return Some(s) };
        let key_of = |v: Schema<'a>| {
            if let Some(values) = v.named_values() {
                return values.find(rest, document.and_then(|d| d.get(key)));
            }
            let node = &v.node["properties"][*key];
            (!node.is_null()).then(|| v.at(node)).and_then(|n| n.find(rest, document.and_then(|d| d.get(key))))
        };
        if s.is_list() {
            return s.at(&s.node["items"]).find(rest, Some(below(document?, key)?));
        }
        if let Some(variants) = s.variants() {
            let tag = document.and_then(|d| d.get(variants[0].0)).and_then(Toml::as_str);
            if *key == variants[0].0 && rest.is_empty() {
                return Some(Schema { node: s.node, ..s });
            }
            return variants
                .into_iter()
                .filter(|(_, word, _)| tag.is_none_or(|t| t == *word))
                .find_map(|(_, _, v)| key_of(v));
        }
        if let Some(branches) = s.branches("anyOf") {
            return branches.into_iter().find_map(|b| s.at(b).find(path, document));
        }
        key_of(s)
    }

    /// Schema of the entries of a list.
    pub fn items(self, key: &str) -> Schema<'a> {
        self.at(&self.at(&self.node["properties"][key]).node["items"])
    }

    /// Keys allowed at this place, for suggestions.
    pub fn key_names(self, document: Option<&Toml>) -> Vec<&'a str> {
        let s = self.resolved();
        if let Some(variants) = s.variants() {
            let tag = document.and_then(|d| d.get(variants[0].0)).and_then(Toml::as_str);
            let mut names = vec![variants[0].0];
            names
                .extend(variants.iter().filter(|(_, w, _)| tag == Some(w)).flat_map(|(_, _, v)| v.keys()).map(|k| k.0));
            return names;
        }
        if let Some(branches) = s.branches("anyOf") {
            return branches.into_iter().flat_map(|b| s.at(b).key_names(document)).collect();
        }
        s.keys().into_iter().map(|k| k.0).collect()
    }

    /// Reads a value given as bare text (`--set key=value`): as the expected type if it is one of TOML's, as a string
    /// otherwise.
    pub fn read(self, text: &str) -> Toml {
        let s = self.resolved();
        let parsed = toml::from_str::<toml::Table>(&format!("v = {text}")).ok().and_then(|mut t| t.remove("v"));
        match parsed {
            Some(v) if s.takes(&v) => v,
            _ => Toml::String(text.to_owned()),
        }
    }

    fn takes(&self, v: &Toml) -> bool {
        if let Some(branches) = self.branches("anyOf") {
            return branches.iter().any(|b| self.at(b).takes(v));
        }
        let types = self.types();
        let of = |t: &str| types.contains(&t);
        match v {
            Toml::String(_) => true,
            Toml::Integer(_) => of("integer") || of("number"),
            Toml::Float(_) => of("number"),
            Toml::Boolean(_) => of("boolean"),
            Toml::Array(_) => of("array"),
            Toml::Table(_) => !of("string") || of("object"),
            Toml::Datetime(_) => false,
        }
    }

    /// Message for a word that names an item of another kind instead of a controller, with the keys that take it.
    fn no_controller(self, word: &str) -> Option<String> {
        if controller::kind_of(&Toml::String(word.to_owned())).is_some() {
            return None;
        }
        let root = Schema::new(self.root);
        let traffic = root.items("traffic");
        let places = [
            ("a program of switches and hosts", Some(root.items("program")), "program = [{ kind = ", " }]"),
            ("a transport", root.find(&["transport", "preset"], None), "transport.preset = ", ""),
            ("a queue", root.find(&["queue"], None), "queue.kind = ", ""),
            ("a routing policy", root.find(&["routing"], None), "routing.kind = ", ""),
            ("a topology", root.find(&["topology"], None), "topology.kind = ", ""),
            ("a traffic pattern", traffic.find(&["pattern"], None), "traffic.pattern = ", ""),
            ("an application", traffic.find(&["app"], None), "traffic.app.kind = ", ""),
        ];
        let has = |s: &Schema| {
            s.words().is_some_and(|words| words.iter().any(|(w, _)| *w == word))
                || s.variants().is_some_and(|variants| variants.iter().any(|(_, w, _)| *w == word))
        };
        let found: Vec<(&str, String)> = places
            .into_iter()
            .filter(|(_, place, ..)| place.as_ref().is_some_and(has))
            .map(|(what, _, before, after)| (what, format!("{before}\"{word}\"{after}")))
            .collect();
        let (whats, keys): (Vec<&str>, Vec<String>) = found.into_iter().unzip();
        let shown = || format!("is {}, and no controller; expected {}", whats.join(" and "), keys.join(" and "));
        (!whats.is_empty()).then(shown)
    }

    /// Reports everything wrong in `value`, which is at `path`.
    pub fn check(self, value: &Toml, path: &str, out: &mut Vec<Problem>) {
        let s = self.resolved();
        if s.format() == "controller" {
            if let Err(mut problems) = controller::parse(value, path) {
                if let Some(shown) = controller::word_of(value).and_then(|word| s.no_controller(word)) {
                    problems.truncate(1);
                    problems.iter_mut().for_each(|p| {
                        *p = Problem { message: shown.clone(), suggestion: None, names: None, ..p.clone() }
                    });
                }
                out.extend(problems);
            }
            return;
        }
        let wrong = |s: &Schema| s.misfit(value, path);
        if let Some(words) = s.words() {
            let word = value.as_str();
            if !words.iter().any(|(w, _)| word == Some(*w)) {
                out.push(wrong(&s).suggest(word.unwrap_or(""), words.iter().map(|w| w.0)));
            }
            return;
        }
        if let Some(variants) = s.variants() {
            return s.check_union(&variants, value, path, out);
        }
        if let Some(branches) = s.branches("anyOf") {
            return s.check_any(&branches, value, path, out);
        }
        let types = s.types();
        match (types.first().copied().unwrap_or("object"), value) {
            ("string", Toml::String(text)) => {
                if let Err(message) = quantity::check_format(s.format(), text) {
                    let mut problem = Problem::with_value(path, value, message);
                    problem.suggestion = quantity::suggestion(s.format(), text);
                    out.push(problem);
                }
            }
            ("string", Toml::Integer(0)) if s.format() == "time" => {}
            ("integer", Toml::Integer(n)) => {
                let odd = s.node["multipleOf"].as_i64().is_some_and(|m| n % m != 0);
                // The range of the type is a bound too, named only if a value exceeds it.
                if s.format() == "uint32" && s.node["maximum"].is_null() && *n > u32::MAX as i64 {
                    let what = if s.node["multipleOf"] == 2 { "an even number" } else { "a whole number" };
                    let message = format!("expected {}", s.number_to(what, &Json::from(u32::MAX)));
                    out.push(Problem::with_value(path, value, message));
                } else if odd || !s.within(*n as f64) {
                    out.push(wrong(&s));
                }
            }
            ("number", Toml::Integer(n)) if s.within(*n as f64) => {}
            ("number", Toml::Float(x)) if x.is_finite() && s.within(*x) => {}
            ("boolean", Toml::Boolean(_)) => {}
            ("array", Toml::Array(items)) if s.length().is_some_and(|n| n != items.len() as u64) => out.push(wrong(&s)),
            ("array", Toml::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    // Tables of a list are reported by name if they have one.
                    let name = item.get("name").and_then(Toml::as_str).map_or_else(|| i.to_string(), str::to_owned);
                    s.at(&s.node["items"]).check(item, &format!("{path}.{name}"), out);
                }
            }
            ("object", Toml::Table(table)) => s.check_keys(table, None, path, out),
            _ => out.push(wrong(&s)),
        }
    }

    /// Problem for a value of no expected form.
    fn misfit(&self, value: &Toml, path: &str) -> Problem {
        let expected = self.expected();
        // a bound already given is not repeated
        let why = Some(unreadable(value)).filter(|why| !(why.contains(" end at ") && expected.contains(MAX)));
        let why = why.unwrap_or_default();
        let message = format!("expected {expected}{why}");
        match value {
            Toml::Float(x) if x.abs() >= 1e16 => Problem::with_value(path, problem::number(*x), message),
            other => Problem::with_value(path, other, message),
        }
    }

    /// Fixed length of a list, if it has one.
    fn length(&self) -> Option<u64> {
        self.node["minItems"].as_u64().filter(|n| self.node["maxItems"].as_u64() == Some(*n))
    }

    fn within(&self, x: f64) -> bool {
        self.node["minimum"].as_f64().is_none_or(|m| x >= m)
            && self.node["maximum"].as_f64().is_none_or(|m| x <= m)
            && self.node["exclusiveMinimum"].as_f64().is_none_or(|m| x > m)
            && self.node["exclusiveMaximum"].as_f64().is_none_or(|m| x < m)
    }

    fn check_union(&self, variants: &[(&str, &str, Schema)], value: &Toml, path: &str, out: &mut Vec<Problem>) {
        let Some(table) = value.as_table() else {
            let (tag, word) = (variants[0].0, value.as_str());
            let such = variants.iter().find(|v| word == Some(v.1));
            let such = such.map_or(String::new(), |v| format!(", such as {{ {tag} = \"{}\" }}", v.1));
            let message = format!("expected a table with the key {tag}{such}{}", unreadable(value));
            out.push(Problem::with_value(path, value, message));
            return;
        };
        let tag = variants[0].0;
        let words: Vec<&str> = variants.iter().map(|v| v.1).collect();
        let one_of =
            format!("expected one of {}", words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "));
        match table.get(tag) {
            None => out.push(Problem::new(join(path, tag), format!("missing; {one_of}"))),
            Some(word) => match variants.iter().find(|v| word.as_str() == Some(v.1)) {
                Some((_, _, variant)) => {
                    let before = out.len();
                    variant.check_keys(table, Some(tag), path, out);
                    out[before..].iter_mut().for_each(|problem| of_another(variants, word, path, problem));
                }
                None => out.push(
                    Problem::with_value(join(path, tag), word, one_of).suggest(word.as_str().unwrap_or(""), words),
                ),
            },
        }
    }

    fn check_any(&self, branches: &[&'a Json], value: &Toml, path: &str, out: &mut Vec<Problem>) {
        let mut fits = false;
        let mut inside = None;
        let mut nearer = None;
        for branch in branches {
            let branch = self.at(branch);
            let mut problems = Vec::new();
            branch.check(value, path, &mut problems);
            fits |= problems.is_empty();
            if value.is_table() && branch.types() == ["object"] {
                inside = Some(problems);
            } else if quantity::expected(branch.format()).is_some() && value.is_str() {
                // More specific than the expectation of all branches together.
                let general = format!("expected {}", branch.expected());
                nearer = problems.into_iter().find(|p| p.message != general || p.suggestion.is_some()).map(|mut p| {
                    if p.message == general {
                        p.message = format!("expected {}", self.expected());
                    }
                    p
                });
            }
        }
        match inside {
            _ if fits => {}
            Some(problems) => out.extend(problems),
            None if nearer.is_some() => out.extend(nearer),
            None => out.push(self.misfit(value, path)),
        }
    }

    /// Problem for a key that a table does not have; `known` are its possible keys, and `held` is its content.
    pub fn unknown(self, at: String, key: &str, known: &[&str], held: Option<&toml::Table>) -> Problem {
        let problem = Problem::new(at, "unknown key").suggest(key, known.iter().copied());
        if problem.suggestion.is_some() {
            return problem;
        }
        // a table in it may have the key
        let inside = known.iter().find(|name| {
            let table = held.and_then(|held| held.get(**name)).filter(|t| t.is_table());
            table.is_some_and(|t| self.find(&[name], None).and_then(|s| s.find(&[key], Some(t))).is_some())
        });
        let message = match inside {
            Some(_) => problem.message.clone(),
            None => format!("unknown key; expected one of {}", known.join(", ")),
        };
        Problem { message, suggestion: inside.map(|table| format!("{table}.{key}")), ..problem }
    }

    /// Schema of the values of a table whose keys are names chosen by users.
    fn named_values(&self) -> Option<Schema<'a>> {
        let values = &self.node["additionalProperties"];
        values.is_object().then(|| self.at(values))
    }

    fn check_keys(&self, table: &toml::Table, tag: Option<&str>, path: &str, out: &mut Vec<Problem>) {
        if let Some(values) = self.named_values() {
            return table.iter().for_each(|(key, value)| values.check(value, &join(path, key), out));
        }
        let keys = self.keys();
        for (key, value) in table {
            match keys.iter().find(|k| k.0 == key) {
                Some((_, schema, _)) => schema.check(value, &join(path, key), out),
                None if Some(key.as_str()) == tag => {}
                None => {
                    let known: Vec<&str> = tag.into_iter().chain(keys.iter().map(|k| k.0)).collect();
                    out.push(self.unknown(join(path, key), key, &known, Some(table)));
                }
            }
        }
        for (key, schema, required) in keys {
            if required && !table.contains_key(key) {
                out.push(Problem::new(join(path, key), format!("missing; expected {}", schema.expected())));
            }
        }
    }
}

/// Adds to the problem of an unknown key without a likelier name the words with which it is known.
fn of_another(variants: &[(&str, &str, Schema)], word: &Toml, path: &str, problem: &mut Problem) {
    let Some(rest) = problem.message.strip_prefix("unknown key; ").filter(|_| problem.suggestion.is_none()) else {
        return;
    };
    let has = |schema: &Schema| schema.keys().iter().any(|(key, ..)| join(path, key) == problem.key);
    let words: Vec<String> = variants.iter().filter(|v| has(&v.2)).map(|v| format!("\"{}\"", v.1)).collect();
    if !words.is_empty() {
        let (tag, words) = (variants[0].0, words.join(" or "));
        problem.message = format!("unknown key with {tag} = {word}; it is a key of {tag} = {words}; {rest}");
    }
}

/// Part of a value at a key; the key of a list entry is its number.
pub fn below<'d>(value: &'d Toml, key: &str) -> Option<&'d Toml> {
    match value {
        Toml::Array(list) => list.get(number(key)?),
        other => other.get(key),
    }
}

/// Number of a list entry, if a part of a key path is one, as written by [`Schema::check`].
pub fn number(key: &str) -> Option<usize> {
    key.parse().ok().filter(|n: &usize| n.to_string() == key)
}

/// Format of a fraction that may exceed 1, such as a load.
const FRACTION: &str = "fraction";

/// TOML's largest whole number.
const MAX: &str = "9223372036854775807";

/// Reason why a value given as bare text was not read as the number, list or table that it resembles.
fn unreadable(value: &Toml) -> String {
    let text = value.as_str().map_or("", str::trim);
    let looks = text.starts_with(['{', '[']) || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let Some(error) = toml::from_str::<toml::Table>(&format!("v = {text}")).err().filter(|_| looks) else {
        return String::new();
    };
    let too_large = |digits: &str| digits.len() > 18 && digits.parse::<i64>().is_err();
    if text.split(|c: char| !c.is_ascii_digit()).any(too_large) {
        return format!("; whole numbers end at {MAX}");
    }
    format!("; as TOML: {}", error.message().trim())
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// "a whole number >= 0" as what a list holds.
fn plural(expected: &str) -> String {
    match expected {
        "a text in quotes" => "texts in quotes".into(),
        "a table" => "tables".into(),
        other => match other.strip_prefix("a whole number") {
            Some(rest) => format!("whole numbers{rest}"),
            None => other.to_owned(),
        },
    }
}
