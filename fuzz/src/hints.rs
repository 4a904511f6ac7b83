//! Hints beyond the schema: names that exist, numbers that keep a network small, formulas. A key without a hint is
//! drawn by its type.

use crate::grammar::Draw;
use toml::Value as Toml;

/// Ranges of keys that set sizes of networks and of traffic, so that a scenario takes milliseconds.
const COUNTS: &[(&str, i64, i64)] = &[
    ("topology<fat-tree>.k", 1, 2),
    ("topology<dumbbell>.senders", 1, 5),
    ("topology<dumbbell>.receivers", 1, 4),
    ("topology<star>.sources", 1, 8),
    ("topology<leaf-spine>.leaves", 1, 4),
    ("topology<leaf-spine>.spines", 1, 4),
    ("topology<leaf-spine>.hosts_per_leaf", 1, 4),
    ("topology<rail-optimised>.servers", 1, 4),
    ("topology<rail-optimised>.gpus", 1, 3),
    ("topology<rail-optimised>.servers_per_segment", 1, 4),
    ("topology<rail-optimised>.spines", 1, 3),
    ("topology<rail-optimised>.planes", 1, 2),
    ("topology<rail-only>.servers", 1, 4),
    ("topology<rail-only>.gpus", 1, 3),
    ("topology<rail-only>.planes", 1, 2),
    ("job[].ranks_per_host", 1, 2),
    ("job[].scale_up.gpus", 2, 4),
    ("topology<three-tier>.cores", 1, 3),
    ("topology<three-tier>.aggregations", 1, 4),
    ("topology<three-tier>.racks", 1, 4),
    ("topology<three-tier>.servers_per_rack", 1, 4),
    ("topology<cell>.sources", 1, 6),
    ("topology<cell>.cells", 1, 2),
    ("topology<cell>.servers", 0, 3),
    (".overhead", 0, 60),
    (".lose[]", 0, 60),
    (".members", 2, 8),
    (".flows", 1, 10),
    (".roots.count", 1, 3),
    (".roots.racks", 1, 3),
    (".roots.in_rack", 0, 3),
    (".roots.in_pod", 0, 3),
    (".roots.elsewhere", 0, 3),
    ("traffic[].class", 0, 3),
    ("traffic[].ack_class", 0, 3),
    ("job[].class", 0, 3),
    ("job[].ack_class", 0, 3),
    (".qps", 1, 4),
    (".outstanding", 1, 6),
    (".count", 1, 6),
    ("measure.trace[]", 0, 4),
    ("measure.series.flows[]", 0, 4),
    (".pfc.classes[]", 0, 3),
    ("transport.header", 20, 80),
    ("transport.ack_size", 1, 120),
    ("transport.syn_size", 1, 120),
];

/// Share of the scenarios that have a key, if it differs from the default of a few keys per table.
const CHANCES: &[(&str, f64)] = &[
    ("name", 0.05),
    ("description", 0.02),
    ("controller", 0.95),
    ("links", 0.25),
    ("failures", 0.2),
    ("buffer", 0.15),
    ("hosts", 0.15),
    ("program", 0.2),
    ("routing", 0.7),
    ("transport", 0.85),
    ("measure", 0.4),
    ("run.until", 0.5),
    ("run.measure_until", 0.1),
    ("run.tick", 0.1),
    ("transport.preset", 0.9),
    ("traffic", 0.95),
    ("job", 0.1),
    ("job[].name", 0.9),
    ("job[].collective", 1.0),
    ("job[].workload", 0.004),
    ("job[].hosts", 0.004),
    ("job[].controller", 0.2),
    ("job[].transport", 0.1),
    ("traffic[].name", 0.7),
    ("traffic[].transport", 0.1),
    ("traffic[].transport.preset", 0.6),
    ("traffic[].controller", 0.2),
    ("traffic[].app", 0.9),
    ("traffic[].deadline_draw", 0.01),
    ("job[].scale_up", 0.5),
    ("job[].planes", 0.2),
    ("job[].pxn", 0.15),
    ("job[].ranks_per_host", 0.2),
    ("job[].by", 0.3),
    ("job[].by.all-reduce", 0.5),
    ("job[].by.all-to-all", 0.5),
    ("traffic[].app<query>.count", 0.6),
    ("traffic[].app<query>.response", 0.9),
    ("traffic[].app<query>.total", 0.03),
    ("traffic[].roots.in_rack", 0.6),
    ("traffic[].roots.in_pod", 0.1),
    ("traffic[].roots.elsewhere", 0.5),
    ("failures[].link", 0.8),
    ("failures[].node", 0.1),
    ("failures[].nic", 0.1),
    ("failures[].between", 0.1),
    ("failures[].share", 0.1),
    ("measure.entries", 0.02),
    ("measure.lost_after", 0.02),
    ("topology<graph>.link.lose", 0.03),
    ("traffic[].app<closed-loop>.count", 0.6),
    ("topology<three-tier>.cores", 1.0),
    ("topology<three-tier>.aggregations", 1.0),
    ("topology<three-tier>.racks", 1.0),
    ("topology<three-tier>.servers_per_rack", 1.0),
    ("topology<graph>.link", 1.0),
    ("topology<graph>.link.rate", 1.0),
    ("topology<graph>.link.delay", 1.0),
];

/// Places that are not drawn. The queue of a host's NIC has host queues of its own, which the schema allows and the
/// checks refuse. Messages of a kind have the transport of their job. The caller sets the scenario's own seed and
/// threads.
pub fn is_left_out(path: &str) -> bool {
    if path.contains(".by.") && path.ends_with(".transport") {
        return true;
    }
    let nested = |key: &str| path.split(['.', '<', '>', '[']).filter(|part| *part == key).count() > 1;
    let of_another = path.contains("classes[]") || path.starts_with("links[]");
    nested("host") || of_another && path.contains(".host")
}

/// Patterns with a number of flows, or (`poisson`) a largest number.
const FLOWS: &[&str] = &["hotspot", "random-hotspot", "random-pairs", "incast", "elephants", "poisson"];

/// Keys valid only with some words of another key, with the share of the scenarios with such a word that have the
/// key.
const OF: &[(&str, &str, &[&str], f64)] = &[
    ("traffic[].of", "traffic[].pattern", &["elephants"], 1.0),
    ("traffic[].placement", "traffic[].pattern", &["elephants"], 0.3),
    ("traffic[].members", "traffic[].pattern", &["all-to-all", "ring-allreduce"], 0.5),
    ("traffic[].order", "traffic[].pattern", &["all-to-all"], 0.5),
    ("traffic[].receiver", "traffic[].pattern", &["hotspot", "incast"], 0.5),
    ("traffic[].to_itself", "traffic[].pattern", &["hotspot"], 0.5),
    ("traffic[].file", "traffic[].pattern", &["file", "matrix", "connection-matrix"], 1.0),
    ("traffic[].start_unit", "traffic[].pattern", &["connection-matrix"], 1.0),
    ("traffic[].arrivals", "traffic[].pattern", &["poisson"], 1.0),
    ("traffic[].roots", "traffic[].pattern", &["partition-aggregate"], 1.0),
    ("traffic[].flows", "traffic[].pattern", FLOWS, 1.0),
    ("traffic[].app<query>.close", "traffic[].app<query>.connections", &["per-query"], 0.4),
    ("failures[].detection", "failures[].kind", &["down"], 1.0),
    ("failures[].rate", "failures[].kind", &["degraded"], 0.5),
    ("failures[].delay", "failures[].kind", &["degraded"], 0.5),
    ("failures[].loss", "failures[].kind", &["degraded"], 0.5),
    ("transport.ndp", "transport.preset", &["ndp"], 0.5),
    ("transport.eqds", "transport.preset", &["eqds"], 0.5),
    ("transport.uet", "transport.preset", &["uet"], 0.6),
    ("transport.homa", "transport.preset", &["homa"], 0.5),
    ("transport.expresspass", "transport.preset", &["expresspass"], 0.5),
    ("transport.phost", "transport.preset", &["phost"], 0.5),
    ("transport.roce", "transport.preset", &["roce"], 0.5),
    ("transport.dcpim", "transport.preset", &["dcpim"], 0.5),
    ("transport.rdma", "transport.preset", &["rdma", "rdma-hpcc", "rdma-ns3-datacenter"], 0.6),
];

/// Keys that are valid everywhere but rare, because they exclude most keys beside them.
const RARE: &[&str] = &[".burst", ".lose", ".device", ".count_in_service", ".count_overhead"];

/// Words of a key that fit another word or kind, the last one drawn.
const WITH: &[(&str, &str, &[&str])] = &[
    ("transport.preset", "queue<trimming>", &["ndp", "eqds", "uet"]),
    ("transport.preset", "queue<credit-shaping>", &["expresspass"]),
    ("transport.preset", "queue<strict-priority>", &["homa", "phost", "dcpim", "linux", "ns3", "htsim"]),
    ("transport.preset", "topology<cell>", &["ns3-ipv6"]),
    ("program[]", "controller<rcp>", &["rcp"]),
    ("program[]", "controller<d3>", &["d3"]),
    ("program[]", "controller<xcp>", &["xcp"]),
    ("program[]", "controller<bolt>", &["bolt"]),
    ("traffic[].app", "traffic[].pattern=matrix", &["bulk"]),
    ("traffic[].app", "traffic[].pattern=connection-matrix", &["bulk"]),
    ("traffic[].app", "traffic[].pattern=poisson", &["bulk"]),
    ("traffic[].app", "traffic[].pattern=all-to-all", &["bulk"]),
    ("traffic[].app", "traffic[].pattern=ring-allreduce", &["bulk"]),
    ("traffic[].app", "traffic[].pattern=partition-aggregate", &["query"]),
];

/// Preferred words of a key, given earlier draws.
pub fn goes_with(path: &str, said: &[String]) -> Option<&'static [&'static str]> {
    let fits = |word: &&String| WITH.iter().find(|(key, with, _)| *key == path && with == word).map(|row| row.2);
    // of each entry of traffic the last word counts
    let last = |word: &&String| !word.starts_with("traffic[].pattern");
    let pattern = said.iter().rev().find(|word| !last(word));
    said.iter().filter(last).chain(pattern).find_map(|word| fits(&word))
}

/// Probability of an optional key.
pub fn chance(path: &str, said: &[String]) -> Option<f64> {
    if is_left_out(path) {
        return Some(0.0);
    }
    let end = path.strip_prefix("traffic[].transport.").map(|key| format!("transport.{key}"));
    if let Some((key, of, words, chance)) = OF.iter().find(|row| row.0 == end.as_deref().unwrap_or(path)) {
        let above = path.strip_suffix(key).unwrap_or_default();
        let of = format!("{above}{of}=");
        let word = said.iter().rev().find_map(|word| word.strip_prefix(&of));
        return Some(if word.is_some_and(|word| words.contains(&word)) { *chance } else { 0.01 });
    }
    let asks = |word: &String| {
        ["controller<rcp>", "controller<d3>", "controller<xcp>", "controller<bolt>"].contains(&word.as_str())
    };
    match path {
        "program" if said.iter().any(asks) => return Some(0.95),
        "transport.mss" if said.iter().any(|word| word == "topology<cell>") => return Some(0.95),
        "traffic[].app<bulk>.size" => {
            let pattern = said.iter().rev().find_map(|word| word.strip_prefix("traffic[].pattern="));
            return Some(match pattern {
                Some("matrix" | "connection-matrix" | "poisson") => 0.01,
                Some("all-to-all" | "ring-allreduce") => 1.0,
                _ => 0.8,
            });
        }
        _ => {}
    }
    if path.contains("classes[]") && RARE.iter().any(|key| path.ends_with(key)) {
        return Some(0.01);
    }
    if RARE.iter().any(|key| path.ends_with(key)) {
        return Some(0.06);
    }
    CHANCES.iter().find(|(key, _)| *key == path).map(|(_, chance)| *chance)
}

/// A value for a place with a hint.
pub fn value(draw: &mut Draw, path: &str) -> Option<Toml> {
    let ends = |key: &str| path == key || path.ends_with(key) && (key.starts_with('.') || path.len() == key.len());
    if let Some((_, least, most)) = COUNTS.iter().find(|(key, ..)| ends(key)) {
        let n = draw.random.between(*least, *most);
        return Some(Toml::Integer(if ends("topology<fat-tree>.k") { 2 * n } else { n }));
    }
    if ends("transport.mss") && draw.said.iter().any(|word| word == "topology<cell>") {
        return Some(Toml::Integer(draw.random.scaled(1.0, 900.0) as i64));
    }
    if path.contains(".by.") && path.ends_with("class") {
        return Some(Toml::Integer(draw.random.between(0, 3)));
    }
    if path == "run.duration" {
        return Some(Toml::String(format!("{}ns", draw.around.run.round())));
    }
    if path.ends_with("error_rate") || path.ends_with("failures[].loss") {
        let rate = if draw.random.chance(0.05) { 1.0 } else { draw.random.scaled(1e-5, 0.1) };
        return Some(Toml::Float((rate * 1e6).round() / 1e6));
    }
    if path.starts_with("topology<cell>") {
        return radio(draw, path);
    }
    names(draw, path).or_else(|| formula(draw, path)).map(Toml::String)
}

/// Places in metres, and powers near those of the standard.
fn radio(draw: &mut Draw, path: &str) -> Option<Toml> {
    let number = |draw: &mut Draw, least: f64, most: f64| {
        Some(Toml::Float((draw.random.scaled(least, most) * 100.0).round() / 100.0))
    };
    match path.rsplit('.').next()? {
        "radius" | "step" | "side" | "distance" => number(draw, 2.0, 90.0),
        "range" => number(draw, 10.0, 150.0),
        "exponent" => number(draw, 1.5, 4.0),
        "power_dbm" => Some(Toml::Float(draw.random.between(-10, 10) as f64)),
        "noise_dbm" => Some(Toml::Float(draw.random.between(-110, -95) as f64)),
        "busy_from_dbm" => Some(Toml::Float(draw.random.between(-100, -70) as f64)),
        "rate" if path.contains(".radio.") => Some(Toml::String("250kbps".into())),
        "file" => Some(Toml::String(draw.file("places")?)),
        _ => None,
    }
}

/// Names of things in the scenario.
fn names(draw: &mut Draw, path: &str) -> Option<String> {
    let patterns = ["*>*", "*>h*", "h*>*", "*>sink", "*"];
    let link = |draw: &mut Draw| {
        if draw.around.links.is_empty() || draw.random.chance(0.1) {
            return (*draw.random.one(&patterns)).to_owned();
        }
        draw.random.one(&draw.around.links).clone()
    };
    Some(match path {
        "links[].link" | "failures[].link" => link(draw),
        "measure.series.ports[]" if !draw.around.links.is_empty() => draw.random.one(&draw.around.links).clone(),
        "measure.series.cells[]" => "air".to_owned(),
        "failures[].between[]" | "failures[].node" => draw.node(0..),
        "hosts.only[]" | "failures[].nic" => draw.node(..draw.around.hosts),
        "topology<graph>.file" => draw.file("graph")?,
        "traffic[].file" => {
            let pattern = draw.said.iter().rev().find_map(|word| word.strip_prefix("traffic[].pattern="));
            let what = match pattern.unwrap_or_default() {
                "matrix" => "matrix",
                "connection-matrix" => "connections",
                "poisson" => "parts",
                _ => "flows",
            };
            draw.file(what)?
        }
        "traffic[].of" => (*draw.random.one(&["e0", "e1"])).to_owned(),
        "traffic[].name" => {
            let before = draw.said.iter().filter(|word| word.starts_with("traffic[].pattern=")).count();
            format!("e{before}")
        }
        "traffic[].receiver" if draw.random.chance(0.5) => {
            (*draw.random.one(&["last", "random", "h0", "sink", "r0"])).to_owned()
        }
        "traffic[].arrivals.sizes" if draw.random.chance(0.4) => draw.file("sizes")?,
        "traffic[].arrivals.sizes" => {
            let names: Vec<&str> = incast_scenario::builtin::sizes().collect();
            format!("builtin:{}", draw.random.one(&names))
        }
        _ if path.starts_with("program[]<") && path.ends_with(">.on") => match draw.random.below(4) {
            0 => "switches".to_owned(),
            1 => "hosts".to_owned(),
            2 => "*".to_owned(),
            _ => draw.node(0..),
        },
        _ => return None,
    })
}

/// Formulas, matches and names of match-action tables.
fn formula(draw: &mut Draw, path: &str) -> Option<String> {
    if !path.starts_with("program[]<table>") {
        return None;
    }
    const NUMBERS: &[&str] = &[
        "1",
        "0",
        "-1",
        "wnd / 2",
        "max(rate[ingress] * 300us / 8 / (flows[ingress] + 1), 1B)",
        "size",
        "len + 1",
        "flows[egress]",
        "queue[egress]",
        "sent[egress]",
        "seen + 1",
        "min(wnd, 4kB)",
        "now / 1us",
        "flow",
        "9223372036854775807 * 2",
        "1 / 0",
    ];
    const CONDITIONS: &[&str] = &[
        "flows[egress] > 0",
        "flows[ingress] > 0",
        "size > 100B",
        "len == 0",
        "seen < 5",
        "queue[egress] > 3kB",
        "now > 10us and size < 1kB",
        "not (flow == 0)",
        "wnd > 2kB or len > 0",
    ];
    const FLAGS: &[&str] =
        &["SYN/SYN", "FIN/FIN", "ACK/ACK+RST", "SYN/SYN+ACK", "ACK", "PSH/PSH", "ECE/ECE", "RST/RST"];
    let last = path.rsplit('.').next()?;
    // a number, or a text, drawn on demand
    if ["to", "add", "source", "destination"].contains(&last) && draw.random.chance(0.25) {
        return None;
    }
    let list = match last {
        "when" => CONDITIONS,
        "to" if draw.random.chance(0.5) => &["flows", "seen"],
        "to" | "add" => NUMBERS,
        "set" | "lower" | "raise" => &["wnd", "ce", "flows", "seen"],
        "flags" => FLAGS,
        "goto" => &["end", "t1", "t2"],
        "meter" => &["m"],
        "table" => &["t0", "t1"],
        "source" | "destination" => return Some(draw.node(..draw.around.hosts)),
        "ingress" | "egress" | "output" if draw.random.chance(0.3) => &["ingress", "stack"],
        "ingress" | "egress" | "output" => return Some(draw.node(0..)),
        "node" => return Some(draw.node(0..)),
        "name" if path.contains(".meters") => &["m"],
        "name" if path.ends_with("tables[].name") => &["t0", "t1", "t2"],
        _ => return None,
    };
    Some((*draw.random.one(list)).to_owned())
}

impl Draw<'_> {
    /// Name of one of these nodes.
    fn node(&mut self, of: impl std::slice::SliceIndex<[String], Output = [String]>) -> String {
        match self.around.nodes.get(of) {
            Some(nodes) if !nodes.is_empty() => self.random.one(nodes).clone(),
            _ => "h0".to_owned(),
        }
    }

    fn file(&mut self, what: &str) -> Option<String> {
        self.any_file(&[what])
    }

    fn any_file(&mut self, what: &[&str]) -> Option<String> {
        let files: Vec<&String> = self.around.files.iter().filter(|f| what.contains(&f.0)).map(|f| &f.1).collect();
        if files.is_empty() { None } else { Some((*self.random.one(&files)).clone()) }
    }
}
