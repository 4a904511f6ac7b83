//! Text files: those that a scenario names, from its folder or from those that come with the program.

use crate::files::builtin;
use crate::text::problem::Problem;
use std::path::Path;

/// A whole text file that a scenario in the folder `dir` names at `key`.
pub(crate) fn read_named(key: &str, dir: &Path, file: &str) -> Result<String, Problem> {
    if let Some(name) = file.strip_prefix(builtin::PREFIX) {
        return builtin::file(name).map(str::to_owned).ok_or_else(|| {
            let known = builtin::files().collect::<Vec<_>>().join(", ");
            let message =
                format!("no file of this name comes with the program; expected {} and one of {known}", builtin::PREFIX);
            Problem::with_value(key, format!("\"{file}\""), message).suggest(name, builtin::files())
        });
    }
    let path = dir.join(file);
    read_file(key, &path).map_err(|mut p| {
        if !path.exists() {
            p.message += "; file names start from the folder of the scenario file";
        }
        p
    })
}

/// A whole text file, without the mark that some programs put before its first byte; `key` is what names it.
pub(crate) fn read_file(key: &str, path: &Path) -> Result<String, Problem> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        let reason = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            _ if path.is_dir() => "is a folder; expected a file".to_owned(),
            std::io::ErrorKind::InvalidData => "not a text file (UTF-8)".to_owned(),
            _ => e.to_string(),
        };
        let shown = path.display().to_string();
        if shown == key { Problem::new(key, reason) } else { Problem::with_value(key, format!("\"{shown}\""), reason) }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
