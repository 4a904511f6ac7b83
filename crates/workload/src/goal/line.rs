//! Words of one line of GOAL text, with their columns.

use crate::finding::Place;

/// Most characters of a word that a finding quotes.
const SHOWN: usize = 24;

/// Reader of the words of a line.
pub struct Line<'a> {
    text: &'a [u8],
    /// Number of the line, from 1.
    pub number: u64,
    /// Byte of the next word.
    pub at: usize,
}

/// An integer as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Int {
    /// Value.
    Value(u64),
    /// Digits of a number above 2^64 - 1.
    TooLarge,
    /// `-1`, which stands for any.
    Any,
}

impl<'a> Line<'a> {
    /// A line without its end.
    pub fn new(text: &'a [u8], number: u64) -> Line<'a> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        Line { text: text.strip_suffix(b"\r").unwrap_or(text), number, at: 0 }
    }

    /// Skips blanks and tabs; returns the next character.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Rest of the line from the next word on.
    pub fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// A word `[A-Za-z][A-Za-z0-9_]*`, empty where there is none.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        if self.peek().is_none_or(|c| !c.is_ascii_alphabetic()) {
            return &[];
        }
        let rest = self.rest();
        let length = rest.iter().position(|c| !(c.is_ascii_alphanumeric() || *c == b'_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes this character if it comes next.
    #[inline]
    pub fn take(&mut self, sign: u8) -> bool {
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    /// An integer; `None` where there is none.
    #[inline]
    pub fn int(&mut self) -> Option<Int> {
        self.peek();
        if self.rest().starts_with(b"-1") && !self.rest().get(2).is_some_and(u8::is_ascii_digit) {
            self.at += 2;
            return Some(Int::Any);
        }
        let from = self.at;
        let mut value = Some(0u64);
        while let Some(c @ b'0'..=b'9') = self.text.get(self.at) {
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(u64::from(c - b'0')));
            self.at += 1;
        }
        (self.at > from).then(|| value.map_or(Int::TooLarge, Int::Value))
    }

    /// Place of a byte of the line.
    pub fn place(&self, at: usize) -> Place {
        Place::Line(self.number, at as u64 + 1)
    }

    /// The word at the current place, as a finding quotes it.
    pub fn found(&mut self) -> String {
        let Some(first) = self.peek() else { return "the line ends here".into() };
        let rest = self.rest();
        let part_of_word = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
        let length = if part_of_word(&first) { rest.iter().take_while(|c| part_of_word(c)).count() } else { 1 };
        let shown = String::from_utf8_lossy(&rest[..length.min(SHOWN)]).escape_debug().to_string();
        format!("\"{shown}{}\"", if length > SHOWN { "..." } else { "" })
    }
}
