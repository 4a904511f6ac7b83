//! Tables as bytes: column after column, each at a multiple of eight bytes.

use incast_record::table::{Column, Values};
use serde_json::{Value, json};

/// Columns of a table, and the bytes of their values. A column says `kind` (`u64`, `u32`, `f64`, `text`), `at`, the
/// offset of its values, and `valid`, that of a byte for each value, if some may be missing. A text is an index (`u32`)
/// into its `names`.
pub(crate) fn packed(columns: Vec<Column>) -> (Value, Vec<u8>) {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut bytes = Vec::new();
    let columns: Vec<Value> = columns
        .into_iter()
        .map(|Column { name, unit, doc, values }| {
            let mut head = json!({ "name": name, "unit": unit, "doc": doc });
            head["at"] = bytes.len().into();
            let (kind, valid, names) = pack(&mut bytes, values);
            head["kind"] = kind.into();
            aligned(&mut bytes);
            if let Some(valid) = valid {
                head["valid"] = bytes.len().into();
                bytes.extend(valid.into_iter().map(u8::from));
                aligned(&mut bytes);
            }
            if let Some(names) = names {
                head["names"] = names.into();
            }
            head
        })
        .collect();
    (json!({ "rows": rows, "columns": columns }), bytes)
}

fn aligned(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// Kind, whether each value exists, and the names of codes.
type Packed = (&'static str, Option<Vec<bool>>, Option<Vec<String>>);

fn pack(bytes: &mut Vec<u8>, values: Values) -> Packed {
    match values {
        Values::U64(values) => {
            bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
            ("u64", None, None)
        }
        Values::U32(values) => {
            bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
            ("u32", None, None)
        }
        Values::F64(values) => {
            bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
            ("f64", None, None)
        }
        Values::OptU64(values) => {
            bytes.extend(values.iter().flat_map(|v| v.unwrap_or_default().to_le_bytes()));
            ("u64", Some(values.iter().map(Option::is_some).collect()), None)
        }
        Values::OptF64(values) => {
            bytes.extend(values.iter().flat_map(|v| v.unwrap_or_default().to_le_bytes()));
            ("f64", Some(values.iter().map(Option::is_some).collect()), None)
        }
        Values::Str(values) => {
            bytes.extend((0..values.len() as u32).flat_map(u32::to_le_bytes));
            ("text", None, Some(values))
        }
        Values::Dict { codes, names } => {
            bytes.extend(codes.iter().flat_map(|v| v.to_le_bytes()));
            ("text", None, Some(names))
        }
    }
}
