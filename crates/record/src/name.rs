//! Names of ports.

use std::fmt;
use std::ops::Deref;

/// Longest name, in bytes, that is stored inline.
const SHORT: usize = 22;

/// A name. A large network has hundreds of thousands of links and ports; their names, nearly all short, are stored in
/// the records themselves.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Name(Kept);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Kept {
    /// Length and bytes of an inline name.
    Here(u8, [u8; SHORT]),
    Apart(Box<str>),
}

const _: () = assert!(size_of::<Name>() == 24);

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            // the bytes came from text: the fallback is never used
            Kept::Here(length, bytes) => str::from_utf8(&bytes[..*length as usize]).unwrap_or_default(),
            Kept::Apart(text) => text,
        }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(here) => {
                here.copy_from_slice(text.as_bytes());
                Name(Kept::Here(text.len() as u8, bytes))
            }
            None => Name(Kept::Apart(text.into())),
        }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        text.as_str().into()
    }
}

impl Default for Name {
    fn default() -> Name {
        "".into()
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, SHORT};

    #[test]
    fn a_name_of_any_length_reads_back() {
        for length in 0..=3 * SHORT {
            let text = "port\u{e9}".chars().cycle().take(length).collect::<String>();
            let name = Name::from(text.as_str());
            assert_eq!((&*name, name.to_string(), format!("{name:?}")), (&*text, text.clone(), format!("{text:?}")));
            assert!(name == *text && name.clone() == name);
        }
        assert_eq!(&*Name::default(), "");
    }
}
