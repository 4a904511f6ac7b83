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
    "ns3-hotspot",
    "ns3-random-hotspot",
    "ns3-random-pairs",
    "ns3-star",
    "star",
    "incast",
    "linux-dumbbell",
    "linux-incast",
    "permutation",
    "leaf-spine",
);

/// Lists of flows that built-in scenarios name: found under these names by every scenario that has
/// no file of the name beside it.
const FLOWS: &[(&str, &str)] = &[
    ("ns3-random-hotspot.csv", include_str!("../../../scenarios/ns3-random-hotspot.csv")),
    ("ns3-random-pairs.csv", include_str!("../../../scenarios/ns3-random-pairs.csv")),
];

/// The text of a list of flows that comes with the program.
pub fn flows(name: &str) -> Option<&'static str> {
    FLOWS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

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
