//! What is worth knowing before a run although nothing is wrong: a form of a controller in a transport
//! of another world.

use crate::controller::Controller;
use crate::document::Document;
use crate::transport::Preset;

/// A sentence for each entry whose controller and transport belong to different worlds.
pub fn notes(doc: &Document) -> Vec<String> {
    let mut found = Vec::new();
    for t in &doc.traffic {
        let Some(Controller(config)) = t.controller.as_ref().or(doc.controller.as_ref()) else { continue };
        let transport = t.transport.as_ref().map_or_else(|| doc.transport.clone(), |own| own.over(&doc.transport));
        let preset = transport.preset.unwrap_or_default();
        let Some(form) = config.get("form").map(|form| form.to_string()) else { continue };
        let Some(own) = Preset::of_form(&form).filter(|own| *own != preset) else { continue };
        let name = |own: bool, key: &str| if own { format!("traffic.{}.{key}", t.name()) } else { key.to_owned() };
        let (own, preset) = (own.name(), preset.name());
        let note = format!(
            "{}.form = \"{form}\" belongs beside {}.preset = \"{own}\", here it is \"{preset}\": what runs is neither \
             world's (docs/forms.md)",
            name(t.controller.is_some(), "controller"),
            name(t.transport.as_ref().is_some_and(|own| own.preset.is_some()), "transport"),
        );
        if !found.contains(&note) {
            found.push(note);
        }
    }
    found
}
