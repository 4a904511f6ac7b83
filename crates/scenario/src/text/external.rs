//! External controllers: classes in the user's files, named in a scenario as
//! `"mymodule:MyController"` or `"path/mine.py:MyController"`.
//!
//! This crate knows only the names. The embedding program sets, once, how such a name becomes a controller
//! ([`resolve_with`]); the Python package imports the class.

use crate::text::problem::Problem;
use incast_cc::external::External;
use std::sync::OnceLock;

/// Creates the controller of that name with these parameters, or explains why it cannot. `key` is the scenario's key:
/// the embedding program may ask before it runs the code behind the name.
pub type Resolver = fn(name: &str, params: Vec<(String, String)>, key: &str) -> Result<External, String>;

/// Key of the code's fingerprint in resolved scenarios.
pub const SOURCE: &str = "source";

static RESOLVER: OnceLock<Resolver> = OnceLock::new();

/// Sets the resolver of names. Only the first call has an effect.
pub fn resolve_with(resolver: Resolver) {
    RESOLVER.get_or_init(|| resolver);
}

/// Splits `text` into the name of an external controller and the rest after its colon, if any.
pub fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let (place, rest) = text.split_once(':')?;
    let class = rest.split(':').next().unwrap_or("").trim();
    let place = place.trim();
    let identifier = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let file = place.len() > 3 && place.ends_with(".py");
    // `swift:target` lacks a value; it is not a class `target` of a module `swift`
    let built_in = incast_cc::KINDS.iter().any(|kind| kind.name == place);
    if built_in || !identifier(class) || !(file || place.split('.').all(identifier)) {
        return None;
    }
    let params = rest.split_once(':').map(|(_, params)| params);
    Some((text[..text.len() - params.map_or(0, |p| p.len() + 1)].trim(), params))
}

/// True if this names an external controller, without parameters.
pub fn is_name(word: &str) -> bool {
    split(word).is_some_and(|(_, params)| params.is_none())
}

/// Resolves a controller by name. `key` is its key in the scenario, `path` that of its parameters.
pub fn resolve(name: &str, params: Vec<(String, String)>, key: &str, path: &str) -> Result<External, Problem> {
    let mut params = params;
    let wanted = params.iter().position(|(k, _)| k == SOURCE).map(|at| params.remove(at).1);
    let quoted = |value: &str| format!("\"{value}\"");
    let Some(resolver) = RESOLVER.get() else {
        let message = "a user-defined controller needs the Python package: run the scenario with incast";
        return Err(Problem::with_value(key, quoted(name), message));
    };
    let found = resolver(name, params, key).map_err(|message| Problem::with_value(key, quoted(name), message))?;
    match wanted {
        Some(wanted) if wanted != found.0.source() => {
            let message = format!(
                "the code of {name} has changed, its fingerprint is now \"{}\"; leave this key out to run it as it is",
                found.0.source()
            );
            Err(Problem::with_value(format!("{path}.{SOURCE}"), quoted(&wanted), message))
        }
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_parameters() {
        assert_eq!(split("mine:My"), Some(("mine:My", None)));
        assert_eq!(split("a.b.mine:My_2:gain=2,x=y:z"), Some(("a.b.mine:My_2", Some("gain=2,x=y:z"))));
        assert_eq!(split("lib/mine.py:My:"), Some(("lib/mine.py:My", Some(""))));
        for other in [
            "swift",
            "swift:target",
            "swift:target=min-rtt",
            "swift:",
            ":My",
            "mine:",
            "mine:2fast",
            "a b:My",
            ".py:My",
            "a..b:My",
        ] {
            assert_eq!(split(other), None, "{other}");
        }
        assert!(is_name("mine:My") && !is_name("mine:My:gain=2"));
    }

    #[test]
    fn without_a_resolver_the_error_says_who_has_one() {
        let shown = resolve("mine:My", Vec::new(), "controller", "controller").unwrap_err().to_string();
        assert!(
            shown.starts_with("controller = \"mine:My\": a user-defined controller needs the Python package"),
            "{shown}"
        );
    }
}
