//! Scenarios that come with the program.

use crate::files::sizes::Interpolation;
use crate::text::problem::Problem;

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        const ALL: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../../scenarios/", $name, ".toml")))),+];
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
    "incast-trimming",
    "sccp-incast",
    "rcp-processor-sharing",
    "sccp-table",
    "pfc-incast",
    "mixed-rdma-tcp",
    "two-jobs",
    "allreduce-rails",
    "moe-alltoall",
    "llm-3d",
    "ns3-hotspot",
    "ns3-random-hotspot",
    "ns3-random-pairs",
    "ns3-star",
    "linux-dumbbell",
    "linux-incast",
    "permutation",
    "permutation-elephants",
    "priority",
    "expresspass",
    "phost",
    "dcpim",
    "pfabric",
    "pias",
    "incast-50",
    "link-failure",
    "leaf-spine",
    "three-tier-incast",
    "websearch",
    "htsim-permutation",
    "wireless-cell",
    "wireless-mesh",
    "sensor-gateway",
);

/// Prefix of the name of a file that comes with the program.
pub const PREFIX: &str = "builtin:";

/// Files used by built-in scenarios, as [`PREFIX`] and this name.
const FILES: &[(&str, &str)] = &[
    ("ns3-random-hotspot", include_str!("../../../../scenarios/ns3-random-hotspot.csv")),
    ("ns3-random-pairs", include_str!("../../../../scenarios/ns3-random-pairs.csv")),
    ("pfc-incast-victim", include_str!("../../../../scenarios/pfc-incast-victim.csv")),
    ("htsim-permutation-swift", include_str!("../../../../scenarios/htsim-permutation-swift.csv")),
    ("htsim-permutation-dctcp", include_str!("../../../../scenarios/htsim-permutation-dctcp.csv")),
];

macro_rules! sizes {
    ($($name:literal $rule:ident),+ $(,)?) => {
        /// Tables of flow sizes, as [`PREFIX`] and this name, and the rule by which their source draws from them.
        const SIZES: &[(&str, Interpolation, &str)] =
            &[$(($name, Interpolation::$rule, include_str!(concat!("../../../../scenarios/sizes/", $name, ".csv")))),+];
    };
}

sizes!(
    "websearch" Linear,
    "alibaba-storage" Linear,
    "facebook-hadoop" Linear,
    "google-rpc" Linear,
    "datamining" Linear,
    "datamining-packets" Linear,
    "websearch-packets" Linear,
    "imc10-packets" Linear,
    "homa-w1" Upper,
    "homa-w2" Upper,
    "homa-w3" Upper,
    "homa-w4" Upper,
    "homa-w5-packets" Upper,
    "homa-w5-knots-packets" Upper,
    "facebook-web-server" Upper,
    "facebook-cache-follower" Upper,
    "pareto-packets" Linear,
);

/// Text of a file that comes with the program, by its name after [`PREFIX`].
pub fn file(name: &str) -> Option<&'static str> {
    let sizes = || SIZES.iter().map(|(n, _, text)| (*n, *text));
    FILES.iter().copied().chain(sizes()).find(|(n, _)| *n == name).map(|(_, text)| text)
}

/// Names of these files, without [`sizes()`].
pub fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Names of the files that are tables of flow sizes.
pub fn sizes() -> impl Iterator<Item = &'static str> {
    SIZES.iter().map(|(name, _, _)| *name)
}

/// Rule by which the source of a built-in table draws from it; linear for other tables.
pub fn usual_rule(file: &str) -> Interpolation {
    let name = file.strip_prefix(PREFIX);
    name.and_then(|n| SIZES.iter().find(|(known, _, _)| *known == n)).map_or(Interpolation::Linear, |t| t.1)
}

/// Names.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|(name, _)| *name).collect()
}

/// TOML text of a built-in scenario.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Problem of a name of no scenario, with those that there are.
pub fn unknown(name: &str, reason: &str) -> Problem {
    Problem::new(name, reason).among(name, "built in are", &names(), "incast list scenarios")
}

/// Comment at the top of a scenario's text: its purpose and source.
pub fn header(text: &str) -> String {
    let lines = text.lines().take_while(|l| l.starts_with('#'));
    lines.map(|l| l.trim_start_matches('#').trim_start()).collect::<Vec<_>>().join("\n").trim().to_owned()
}
