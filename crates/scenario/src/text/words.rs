//! Words: a value of the engine that a user writes as one of a few words. Each type has one table of words, values
//! and meanings, used to read, write and describe them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// A value written as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Word<T>(pub T);

/// A type whose values have words.
pub trait Words: Copy + PartialEq + 'static {
    /// Name of the type in the schema.
    const NAME: &'static str;
    /// Description, one sentence.
    const DOC: &'static str;
    /// All words with their values and meanings.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// Declares the words of a type.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:literal $type:ty {
        $($(#[doc = $what:literal])+ $word:literal => $value:expr,)+
    }) => {
        impl $crate::text::words::Words for $type {
            const NAME: &'static str = $name;
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const WORDS: &'static [(&'static str, $type, &'static str)] =
                &[$(($word, $value, concat!($($what, "\n"),+))),+];
        }

        impl From<$crate::text::words::Word<$type>> for $type {
            fn from(word: $crate::text::words::Word<$type>) -> $type {
                word.0
            }
        }
    };
}
pub(crate) use words;

/// Declares an enum of kinds: each by its documentation, its struct of keys and its word. Every struct implements
/// `$answers`, and the enum reaches it by [`Deref`](std::ops::Deref).
macro_rules! kinds {
    ($(#[$about:meta])+ $name:ident: $answers:ident { $($(#[$doc:meta])+ $kind:ident = $word:literal,)+ }) => {
        $(#[$about])+
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum $name {
            $($(#[$doc])+ #[serde(rename = $word)] $kind($kind),)+
        }

        impl $name {
            /// Word of its kind.
            #[allow(dead_code, reason = "some kinds are never told")]
            pub fn word(&self) -> &'static str {
                match self {
                    $($name::$kind(_) => $word,)+
                }
            }
        }

        impl std::ops::Deref for $name {
            type Target = dyn $answers;
            fn deref(&self) -> &(dyn $answers + 'static) {
                match self {
                    $($name::$kind(queue) => queue,)+
                }
            }
        }
    };
}
pub(crate) use kinds;

impl<T: Words> Word<T> {
    /// Word of the value.
    pub fn word(self) -> &'static str {
        T::WORDS.iter().find(|w| w.1 == self.0).map_or("", |w| w.0)
    }
}

impl<T: Words> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.word())
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Word<T>, D::Error> {
        let text = String::deserialize(d)?;
        let known = T::WORDS.iter().find(|w| w.0 == text);
        known.map(|w| Word(w.1)).ok_or_else(|| serde::de::Error::custom(format!("no such word: {text}")))
    }
}

impl<T: Words> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = |doc: &str| doc.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let word = |w: &(&str, T, &str)| json!({ "type": "string", "const": w.0, "description": text(w.2) });
        let words: Vec<Json> = T::WORDS.iter().map(word).collect();
        json_schema!({ "oneOf": words, "description": text(T::DOC) })
    }
}

/// Word of a value that serde writes as one.
pub(crate) fn word_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
