//! Schemas in a file, for WebAssembly: `UPDATE_SNAPSHOTS=1 cargo test -p incast-scenario schemas` writes it.

use incast_scenario::document;
use incast_scenario::text::root_schema::{CONTROLLER, filed};
use incast_scenario::topology::graph;
use serde_json::Value;
use std::path::Path;

/// A schema, with a line for each of its definitions.
fn text_of(mut schema: Value) -> String {
    let definitions = schema.as_object_mut().and_then(|parts| parts.remove("$defs")).unwrap_or_default();
    let lines: Vec<String> =
        definitions.as_object().into_iter().flatten().map(|(name, one)| format!("\"{name}\":{one}")).collect();
    let whole = schema.to_string();
    format!("{},\"$defs\":{{\n{}\n}}}}", whole.strip_suffix('}').unwrap(), lines.join(",\n"))
}

#[test]
fn schemas_in_the_file_are_those_of_the_types() {
    let schemas = [("Document", document::schema()), ("File", graph::schema())];
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/schemas.json");
        let texts = schemas.map(|(name, schema)| {
            let mut schema = schema.clone();
            if let Some(controller) = schema.pointer_mut(CONTROLLER) {
                *controller = Value::Null;
            }
            format!("\"{name}\":{}", text_of(schema))
        });
        return std::fs::write(place, format!("{{\n{}\n}}\n", texts.join(",\n"))).unwrap();
    }
    for (name, schema) in schemas {
        // the order of keys too: forms and errors have it
        let same = text_of(filed(name)) == text_of(schema.clone());
        assert!(same, "{name} in schemas.json differs; UPDATE_SNAPSHOTS=1 cargo test writes it");
    }
}
