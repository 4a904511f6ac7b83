//! Scenarios that come with the program.

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        const ALL: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../scenarios/", $name, ".toml")))),+];
    };
}

// One line adds a scenario of the folder `scenarios`.
builtin!(
    "hotspot",
    "random-hotspot",
    "random-pairs",
    "dumbbell",
    "two-senders",
    "star",
    "incast",
    "linux-dumbbell",
    "linux-incast",
    "permutation",
    "leaf-spine",
);

/// Names.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|(name, _)| *name).collect()
}

/// The TOML text of a built-in scenario.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The comment at the top of a scenario's text: what it shows, and where it comes from.
pub fn header(text: &str) -> String {
    let lines = text.lines().take_while(|l| l.starts_with('#'));
    lines.map(|l| l.trim_start_matches('#').trim_start()).collect::<Vec<_>>().join("\n").trim().to_owned()
}
