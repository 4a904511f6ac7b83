//! docs/models.md has every model, as declared: `UPDATE_SNAPSHOTS=1 cargo test -p incast-model docs` brings its
//! tables up to date.

use incast_model::{MODELS, Model};
use std::path::Path;

fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text between a model's marker and its end.
fn generated(model: &Model) -> String {
    let mut text = format!("{}\n\nSource: {}.\n\n", prose(model.what), prose(model.source));
    text += "| parameter | default | value | meaning |\n|---|---|---|---|\n";
    for p in model.parameters {
        let default = match p.required() {
            true => "required".into(),
            false => prose(&format!("`{}` {} ({})", p.quantity.write(p.default), p.unit, p.source)),
        };
        text += &format!("| `{}` | {} | {} | {} |\n", p.name, default, prose(p.expected), prose(p.doc));
    }
    text += "\n| figure | unit | meaning |\n|---|---|---|\n";
    for f in model.figures {
        text += &format!("| `{}` | {} | {} |\n", f.name, f.unit, prose(f.doc));
    }
    let list = |items: &[&str]| items.iter().map(|one| format!("- {}\n", prose(one))).collect::<String>();
    text + "\nAssumptions:\n\n" + &list(model.assumptions) + "\nLimits:\n\n" + &list(model.fails)
}

#[test]
fn the_page_has_every_model_as_declared() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let mut text = std::fs::read_to_string(&page).unwrap();
    let before = text.clone();
    for model in MODELS {
        let marker = format!("<!-- model: {} -->\n", model.name);
        let start = text.find(&marker).unwrap_or_else(|| panic!("no {marker}")) + marker.len();
        let end = start + text[start..].find("<!-- end -->").unwrap();
        text.replace_range(start..end, &format!("\n{}\n", generated(model)));
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(page, text).unwrap();
    } else {
        assert!(text == before, "docs/models.md is not what is declared: UPDATE_SNAPSHOTS=1 cargo test writes it");
    }
}
