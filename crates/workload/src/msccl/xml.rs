//! Tags of XML, as far as files of MSCCL have it: elements with attributes, comments, no text and no entities.

use crate::finding::{Code, Place};

/// A mistake that ends the reading: code, place, what is wrong, what was expected.
pub(super) type Stop = (Code, Place, String, String);

/// An element's beginning.
#[derive(Clone, Debug)]
pub(super) struct Tag<'t> {
    pub place: Place,
    pub name: &'t str,
    pub attributes: Vec<(&'t str, &'t str)>,
}

/// Part of a file.
#[derive(Clone, Debug)]
pub(super) enum Part<'t> {
    /// An element begins; true if it has no parts.
    Begins(Tag<'t>, bool),
    /// The element of this name ends.
    Ends(&'t str, Place),
}

impl Tag<'_> {
    /// Value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }
}

/// A text, read tag by tag.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    /// Beginning of the line.
    begin: usize,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, at: 0, line: 1, begin: 0 }
    }

    pub fn place(&self) -> Place {
        Place::Line(self.line, (self.at - self.begin) as u64 + 1)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Goes on by so many bytes, which end a character.
    fn skip(&mut self, bytes: usize) {
        for (i, _) in self.text[self.at..self.at + bytes].match_indices('\n') {
            self.line += 1;
            self.begin = self.at + i + 1;
        }
        self.at += bytes;
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.skip(rest.len() - rest.trim_ascii_start().len());
    }

    fn stop<T>(&self, what: &str, expected: &str) -> Result<T, Stop> {
        Err((Code::E00, self.place(), what.to_string(), expected.to_string()))
    }

    fn name(&mut self) -> Result<&'t str, Stop> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_-:.".contains(c))).unwrap_or(rest.len());
        if length == 0 {
            return self.stop("no name", "expected letters");
        }
        self.skip(length);
        Ok(&rest[..length])
    }

    /// The next element's beginning or end; `None` behind the last.
    pub fn next(&mut self) -> Result<Option<Part<'t>>, Stop> {
        loop {
            self.blanks();
            let rest = self.rest();
            let end = match rest {
                "" => return Ok(None),
                _ if rest.starts_with("<!--") => "-->",
                _ if rest.starts_with("<?") => "?>",
                _ if rest.starts_with('<') => break,
                _ => return self.stop("text between elements", "expected <"),
            };
            match rest.find(end) {
                Some(length) => self.skip(length + end.len()),
                None => return self.stop("no end of a comment", &format!("expected {end}")),
            }
        }
        let place = self.place();
        self.skip(1);
        if self.rest().starts_with('/') {
            self.skip(1);
            let name = self.name()?;
            self.blanks();
            return self.closed(">").map(|()| Some(Part::Ends(name, place)));
        }
        let mut tag = Tag { place, name: self.name()?, attributes: Vec::new() };
        loop {
            self.blanks();
            let rest = self.rest();
            if rest.starts_with("/>") {
                return self.closed("/>").map(|()| Some(Part::Begins(tag, true)));
            }
            if rest.starts_with('>') {
                return self.closed(">").map(|()| Some(Part::Begins(tag, false)));
            }
            let name = self.name()?;
            self.blanks();
            self.closed("=")?;
            self.blanks();
            let rest = self.rest();
            let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
            let Some(length) = quote.and_then(|quote| rest[1..].find(quote)) else {
                return self.stop("no value in quotes", "expected name=\"value\"");
            };
            self.skip(length + 2);
            tag.attributes.push((name, &rest[1..=length]));
        }
    }

    fn closed(&mut self, by: &str) -> Result<(), Stop> {
        if !self.rest().starts_with(by) {
            return self.stop("an element without its end", &format!("expected {by}"));
        }
        self.skip(by.len());
        Ok(())
    }
}
