//! JSON, as far as process groups need it.

/// Deepest nesting.
const DEEPEST: usize = 16;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Json {
    /// Number, text, true, false or null, as written; texts without quotes.
    Word(String),
    /// List.
    List(Vec<Json>),
    /// Keys and values.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(pairs) => pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
    /// Numbers of a list of ranks.
    pub fn ranks(&self) -> Option<Vec<u32>> {
        let Json::List(values) = self else { return None };
        values.iter().map(|value| if let Json::Word(word) = value { word.parse().ok() } else { None }).collect()
    }
}

/// Reads a text; `None` where it is no JSON.
pub(super) fn parse(text: &str) -> Option<Json> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.blank();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, sign: char) -> bool {
        self.blank();
        let found = self.rest.strip_prefix(sign);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        if self.take('[') {
            let mut values = Vec::new();
            while !self.take(']') {
                if !values.is_empty() && !self.take(',') {
                    return None;
                }
                values.push(self.value(depth + 1)?);
            }
            return Some(Json::List(values));
        }
        if self.take('{') {
            let mut pairs = Vec::new();
            while !self.take('}') {
                if !pairs.is_empty() && !self.take(',') {
                    return None;
                }
                self.blank();
                let key = self.text()?;
                if !self.take(':') {
                    return None;
                }
                pairs.push((key, self.value(depth + 1)?));
            }
            return Some(Json::Object(pairs));
        }
        if self.rest.starts_with('"') {
            return self.text().map(Json::Word);
        }
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then(|| Json::Word(word.into()))
    }

    /// A text in quotes; an escaped character stands for itself.
    fn text(&mut self) -> Option<String> {
        let mut made = String::new();
        let mut signs = self.rest.strip_prefix('"')?.chars();
        loop {
            match signs.next()? {
                '"' => break,
                '\\' => made.push(signs.next()?),
                sign => made.push(sign),
            }
        }
        self.rest = signs.as_str();
        Some(made)
    }
}
