//! JSON schemas of the types that are read from files.

use crate::text::controller;
use serde_json::Value as Json;

/// Schema of a type in which objects accept only their own keys; `name` is the type's in `schemas.json`.
///
/// WebAssembly reads it there: the code that makes it would be a tenth of the engine.
pub fn root<T: schemars::JsonSchema>(name: &str) -> Json {
    if cfg!(target_arch = "wasm32") { filed(name) } else { made::<T>() }
}

fn made<T: schemars::JsonSchema>() -> Json {
    fn close(schema: &mut schemars::Schema) {
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
        schemars::transform::transform_subschemas(&mut close, schema);
    }
    let settings = schemars::generate::SchemaSettings::draft2020_12().with_transform(close);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// The schema of this name in `schemas.json`, which `UPDATE_SNAPSHOTS=1 cargo test -p incast-scenario` writes. That of
/// controllers is left out there: it is made of their declarations, which the engine has anyway.
pub fn filed(name: &str) -> Json {
    let mut roots: Json = serde_json::from_str(include_str!("schemas.json")).unwrap_or_default();
    let mut root = roots[name].take();
    if let Some(controller) = root.pointer_mut(CONTROLLER) {
        *controller = controller::schema();
    }
    root
}

/// Place of the schema of controllers.
pub const CONTROLLER: &str = "/$defs/Controller";
