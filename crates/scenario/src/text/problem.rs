//! Errors in a scenario, in the user's terms: the key, the value, the expected value.

use std::borrow::Cow;
use std::fmt;

/// One error.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Problem {
    /// Place: a key path (`topology.k`), or file, line and column (`flows.csv, line 3, column size`).
    pub key: String,
    /// Value as written by the user, if any.
    pub value: Option<String>,
    /// Expected value, or description of the error.
    pub message: String,
    /// The word that the user probably meant.
    pub suggestion: Option<String>,
    /// Possible names.
    pub names: Option<Names>,
}

/// Possible names, printed after the suggestion.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Names {
    /// Words before them: `expected one of`.
    lead: &'static str,
    known: Vec<String>,
    /// Command that prints all of them.
    command: String,
}

impl Names {
    /// Most names that are all printed.
    const MOST: usize = 15;
    /// Names of a longer list that are printed before the rest is counted.
    const SHOWN: usize = 12;
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.known.len() <= Names::MOST {
            return write!(f, "; {} {}", self.lead, self.known.join(", "));
        }
        let (shown, more) = self.known.split_at(Names::SHOWN);
        write!(f, "; {} {} and {} more ({} names all)", self.lead, shown.join(", "), more.len(), self.command)
    }
}

impl Problem {
    /// `key: message`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { key: key.into(), value: None, message: message.into(), suggestion: None, names: None }
    }

    /// `key = value: message`.
    pub fn with_value(key: impl Into<String>, value: impl fmt::Display, message: impl Into<String>) -> Problem {
        Problem { value: Some(value.to_string()), ..Problem::new(key, message) }
    }

    /// `key = "value": message`.
    pub fn quoted(key: impl Into<String>, value: impl fmt::Display, message: impl Into<String>) -> Problem {
        Problem::with_value(key, format_args!("\"{value}\""), message)
    }

    /// Adds the nearest of `known` to `word`, if one is close.
    pub fn suggest<'a>(mut self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        self.suggestion = nearest(word, known).map(str::to_owned);
        self
    }

    /// Lists the `known` names, after the one of them nearest to `word`. The first names are printed; `command` prints
    /// all.
    pub fn among<S: AsRef<str>>(self, word: &str, lead: &'static str, known: &[S], command: &str) -> Problem {
        let problem = self.suggest(word, known.iter().map(AsRef::as_ref));
        let known = known.iter().map(|name| name.as_ref().to_owned()).collect();
        Problem { names: Some(Names { lead, known, command: command.to_owned() }), ..problem }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.key))?;
        if let Some(value) = &self.value {
            write!(f, " = {}", visible(value))?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(s) = &self.suggestion {
            write!(f, " (did you mean \"{s}\"?)")?;
        }
        self.names.as_ref().map_or(Ok(()), |names| names.fmt(f))
    }
}

/// Number of characters shown of a key or a value: the first ones, and the last ones, where a path has its file.
const SHOWN_LETTERS: [usize; 2] = [200, 100];

/// Text of a file without control characters, which could move the cursor or worse. The middle of a long text is left
/// out.
fn visible(text: &str) -> Cow<'_, str> {
    let [first, last] = SHOWN_LETTERS;
    if text.len() > first + last && text.chars().count() > first + last {
        let begins: String = text.chars().take(first).collect();
        let ends: Vec<char> = text.chars().rev().take(last).collect();
        let whole = format!("{begins}...{}", ends.iter().rev().collect::<String>());
        return Cow::Owned(escaped(&whole).into_owned());
    }
    escaped(text)
}

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Collects the problems of one table.
pub struct Report<'a> {
    path: String,
    out: &'a mut Vec<Problem>,
}

impl<'a> Report<'a> {
    /// Report for the table at `path`; problems go to `out`.
    pub(crate) fn new(path: impl Into<String>, out: &'a mut Vec<Problem>) -> Report<'a> {
        Report { path: path.into(), out }
    }

    /// Report for the table at a key of this one.
    pub(crate) fn below(&mut self, key: impl fmt::Display) -> Report<'_> {
        Report { path: self.path_of(key), out: self.out }
    }

    /// Path of a key; of the table itself if the key is empty.
    pub(crate) fn path_of(&self, key: impl fmt::Display) -> String {
        let key = key.to_string();
        if key.is_empty() { self.path.clone() } else { format!("{}.{key}", self.path) }
    }

    /// Reports a key that is missing or not allowed.
    pub(crate) fn key(&mut self, key: impl fmt::Display, message: impl Into<String>) {
        self.out.push(Problem::new(self.path_of(key), message));
    }

    /// Reports a wrong value that is written without quotes.
    pub(crate) fn value(&mut self, key: impl fmt::Display, value: impl fmt::Display, message: impl Into<String>) {
        self.out.push(Problem::with_value(self.path_of(key), value, message));
    }

    /// Reports a wrong value that is written in quotes.
    pub(crate) fn text(&mut self, key: impl fmt::Display, value: impl fmt::Display, message: impl Into<String>) {
        self.out.push(Problem::quoted(self.path_of(key), value, message));
    }
}

/// All errors, one per line. At most [`Errors::SHOWN`] are printed, all are kept.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Errors(pub Vec<Problem>);

impl Errors {
    /// Problems printed before the rest is counted.
    pub const SHOWN: usize = 20;

    /// Returns the value if there are no problems.
    pub(crate) fn unless_none<T>(problems: Vec<Problem>, value: T) -> Result<T, Errors> {
        if problems.is_empty() { Ok(value) } else { Err(Errors(problems)) }
    }
}

impl std::error::Error for Errors {}

impl From<Problem> for Errors {
    fn from(p: Problem) -> Errors {
        Errors(vec![p])
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, p) in self.0.iter().take(Errors::SHOWN).enumerate() {
            write!(f, "{}{p}", if i > 0 { "\n" } else { "" })?;
        }
        match self.0.len().saturating_sub(Errors::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n... and {more} more"),
        }
    }
}

/// A number as a user would write it: without hundreds of digits.
pub fn number(x: f64) -> String {
    let text = x.to_string();
    if text.len() > 20 { format!("{x:e}") } else { text }
}

/// The candidate nearest to the word, at a distance of at most about one edit per three letters; an edit inserts,
/// removes or replaces a letter or swaps two neighbours.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = ((word.chars().count() + 1) / 3).max(1);
    known.into_iter().map(|k| (distance(word, k), k)).filter(|(d, _)| *d <= allowed).min().map(|(_, k)| k)
}

/// Optimal string alignment distance, letters of either case equal.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    // The first row and column are right from the start; the rest is computed below.
    let mut d: Vec<Vec<usize>> = (0..=a.len()).map(|i| (i..=i + b.len()).collect()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let differ = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + differ);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let p = Problem::with_value("m.csv, column a\rb", "1\u{1b}[31m\t2", "unknown");
        assert_eq!(p.to_string(), "m.csv, column a\\rb = 1\\u{1b}[31m\\t2: unknown");
        assert_eq!(Problem::with_value("k\u{e4}", "\u{b5}s", "x").to_string(), "k\u{e4} = \u{b5}s: x");
    }

    #[test]
    fn edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("dealy", "delay"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(nearest("swfit", ["swift", "dctcp"]), Some("swift"));
        assert_eq!(nearest("bbr", ["swift", "dctcp"]), None);
    }
}
