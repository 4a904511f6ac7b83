//! JSON schemas of the types that are read from files.

use crate::text::controller;
use serde_json::Value as Json;

/// Schema of a type. WebAssembly reads it in `schemas.json`: there 460 kB of code that makes schemas are left out.
pub(crate) fn root<T: schemars::JsonSchema>() -> Json {
    if cfg!(target_arch = "wasm32") { filed(&T::schema_name()) } else { made::<T>() }
}

/// Schema made of a type, in which objects accept only their own keys.
pub(crate) fn made<T: schemars::JsonSchema>() -> Json {
    fn close(schema: &mut schemars::Schema) {
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
        schemars::transform::transform_subschemas(&mut close, schema);
    }
    let settings = schemars::generate::SchemaSettings::draft2020_12().with_transform(close);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// Schema in `schemas.json`, which `UPDATE_SNAPSHOTS=1 cargo test -p incast-scenario` writes, of the type of this name.
/// That of controllers is not there: it is made of their declarations, which the engine has anyway.
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
