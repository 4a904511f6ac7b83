//! Types read from a value of TOML, by serde.
//!
//! `toml::Value` offers each type every kind of value, and each type's code then refuses the kinds that it cannot take:
//! 180 kB in WebAssembly. Here a type is offered what it asks for, and one place refuses the rest. Errors do not name
//! keys, as the schema has been checked before.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Expected, IntoDeserializer, Unexpected, Visitor};
use toml::Value as Toml;
use toml::de::Error;

/// Reads a type; the error says what was expected.
pub(crate) fn read<T: DeserializeOwned>(value: Toml) -> Result<T, Error> {
    T::deserialize(Part(value))
}

/// A value within the one that is read.
struct Part(Toml);

impl IntoDeserializer<'_, Error> for Part {
    type Deserializer = Part;

    fn into_deserializer(self) -> Part {
        self
    }
}

fn entries<'de>(table: toml::Table) -> MapDeserializer<'de, impl Iterator<Item = (String, Part)>, Error> {
    MapDeserializer::new(table.into_iter().map(|(key, value)| (key, Part(value))))
}

/// The error for a kind of value that a type does not take.
fn refusal(value: &Toml, expected: &dyn Expected) -> Error {
    Error::invalid_type(
        match value {
            Toml::Boolean(value) => Unexpected::Bool(*value),
            Toml::Integer(value) => Unexpected::Signed(*value),
            Toml::Float(value) => Unexpected::Float(*value),
            Toml::String(value) => Unexpected::Str(value),
            Toml::Datetime(_) => Unexpected::Other("a time of day or date"),
            Toml::Array(_) => Unexpected::Seq,
            Toml::Table(_) => Unexpected::Map,
        },
        expected,
    )
}

/// Methods for types that take one kind of value.
macro_rules! takes {
    ($($pattern:pat => $visited:expr, $visitor:ident: $($method:ident($($more:ty),*))+;)+) => { $($(
        fn $method<V: Visitor<'de>>(self, $(_: $more,)* $visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                $pattern => $visited,
                other => Err(refusal(&other, &$visitor)),
            }
        }
    )+)+ };
}

impl<'de> Deserializer<'de> for Part {
    type Error = Error;

    takes! {
        Toml::Boolean(value) => visitor.visit_bool(value), visitor: deserialize_bool();
        Toml::Integer(value) => visitor.visit_i64(value), visitor:
            deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()
            deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64();
        Toml::String(value) => visitor.visit_string(value), visitor:
            deserialize_str() deserialize_string() deserialize_identifier();
        Toml::String(value) => visitor.visit_enum(value.into_deserializer()), visitor:
            deserialize_enum(&'static str, &'static [&'static str]);
        Toml::Array(list) => {
            let mut parts = SeqDeserializer::new(list.into_iter().map(Part));
            let made = visitor.visit_seq(&mut parts)?;
            parts.end().map(|()| made)
        }, visitor:
            deserialize_seq() deserialize_tuple(usize);
        Toml::Table(table) => visitor.visit_map(entries(table)), visitor:
            deserialize_map() deserialize_struct(&'static str, &'static [&'static str]);
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Toml::Float(value) => visitor.visit_f64(value),
            Toml::Integer(value) => visitor.visit_i64(value),
            other => Err(refusal(&other, &visitor)),
        }
    }

    // TOML has no null: the key of a `None` is absent
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    // types that take several kinds
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! { i128 u128 f32 char bytes byte_buf unit unit_struct tuple_struct ignored_any }
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde::Deserialize;

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(rename_all = "kebab-case")]
    enum Word {
        FirstOne,
    }

    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Numbers(Vec<u8>),
    }

    #[derive(Deserialize, PartialEq, Debug)]
    struct All {
        flag: bool,
        small: u8,
        real: f64,
        word: Word,
        either: Either,
        pair: (i64, String),
        absent: Option<u64>,
        #[serde(flatten)]
        more: std::collections::BTreeMap<String, f64>,
    }

    const TEXT: &str = r#"
        flag = true
        small = 3
        real = 4
        word = "first-one"
        either = [1, 2]
        pair = [-1, "b"]
        other = 0.5
    "#;

    fn told(change: &str, to: &str) -> Result<All, String> {
        let table: toml::Table = TEXT.replacen(change, to, 1).parse().unwrap();
        read(table.into()).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn kinds_of_values_are_those_that_types_ask_for() {
        let all = All {
            flag: true,
            small: 3,
            real: 4.0,
            word: Word::FirstOne,
            either: Either::Numbers(vec![1, 2]),
            pair: (-1, "b".into()),
            absent: None,
            more: [("other".into(), 0.5)].into(),
        };
        assert_eq!(told("", "").unwrap(), all);
        assert_eq!(told("[1, 2]", "\"c\"").unwrap().either, Either::Text("c".into()));
        assert_eq!(told("flag", "absent = 7\nflag").unwrap().absent, Some(7));
    }

    #[test]
    fn other_kinds_are_refused_with_what_was_expected() {
        let refused = |change, to| told(change, to).unwrap_err();
        assert_eq!(refused("true", "1"), "invalid type: integer `1`, expected a boolean");
        assert_eq!(refused("= 3", "= []"), "invalid type: sequence, expected u8");
        assert_eq!(refused("= 3", "= 256"), "invalid value: integer `256`, expected u8");
        assert_eq!(refused("= 4", "= \"x\""), "invalid type: string \"x\", expected f64");
        assert_eq!(refused("first-one", "second"), "unknown variant `second`, expected `first-one`");
        assert!(refused("[1, 2]", "{ a = 1 }").starts_with("data did not match any variant"));
        assert_eq!(
            refused("[-1, \"b\"]", "1979-05-27"),
            "invalid type: a time of day or date, expected a tuple of size 2"
        );
        assert_eq!(refused("[-1, \"b\"]", "[1]"), "invalid length 1, expected a tuple of size 2");
        assert_eq!(refused("[-1, \"b\"]", "[1, \"b\", 2]"), "invalid length 3, expected 2 elements in sequence");
        assert_eq!(refused("flag = true", ""), "missing field `flag`");
    }
}
