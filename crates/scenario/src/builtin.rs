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
    "coexistence",
    "two-senders",
    "star",
    "incast",
    "ns3-hotspot",
    "ns3-random-hotspot",
    "ns3-random-pairs",
    "ns3-star",
    "linux-dumbbell",
    "linux-incast",
    "permutation",
    "leaf-spine",
    "htsim-permutation",
);

/// What a file's name begins with that comes with the program.
pub const PREFIX: &str = "builtin:";

/// Files that built-in scenarios name, as [`PREFIX`] and this name.
const FILES: &[(&str, &str)] = &[
    ("ns3-random-hotspot", include_str!("../../../scenarios/ns3-random-hotspot.csv")),
    ("ns3-random-pairs", include_str!("../../../scenarios/ns3-random-pairs.csv")),
    ("htsim-permutation-swift", include_str!("../../../scenarios/htsim-permutation-swift.csv")),
    ("htsim-permutation-dctcp", include_str!("../../../scenarios/htsim-permutation-dctcp.csv")),
];

/// The text of a file that comes with the program, by its name after [`PREFIX`].
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Names of those files.
pub fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
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
