//! The text of an error for the user: key, value, what was expected, and a suggestion.

mod controllers;
mod credits;
mod files;
mod keys;
mod matching;
mod notes;
mod ports;
mod refusals;
mod roce;
mod tokens;
mod traffic;

use crate::wording::said;
use incast_scenario::{Errors, Scenario};
use std::path::{Path, PathBuf};

const GOOD: &str = r#"
controller = "dctcp"
[run]
duration = "10ms"
warmup = "1ms"
[topology]
kind = "fat-tree"
k = 4
link = { rate = "1Gbps", delay = "10us" }
[queue]
kind = "ecn-threshold"
limit = "100p"
mark = "20p"
[routing]
kind = "ecmp"
[transport]
preset = "linux"
[measure]
trace = [0]
[[traffic]]
name = "load"
pattern = "hotspot"
flows = 10
app = { kind = "bulk", size = "1MB" }
"#;

fn check(text: &str) -> Result<(), Errors> {
    Scenario::from_toml(text, Path::new("."), "test")?.build().map(drop)
}

/// The message for `GOOD` with one piece of text replaced by another.
fn message(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the scenario");
    check(&GOOD.replacen(from, to, 1)).expect_err(to).to_string()
}

fn set(key: &str, value: &str) -> String {
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    match s.set(key, value) {
        Ok(()) => s.build().map(drop).expect_err(key).to_string(),
        Err(e) => {
            assert_eq!(
                s,
                Scenario::from_toml(GOOD, Path::new("."), "test").unwrap(),
                "a refused value changes nothing"
            );
            e.to_string()
        }
    }
}

const TIME: &str = "expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"";
const RATE: &str = "expected a rate with a unit (bps, kbps, Mbps, Gbps, Tbps; k, M, G, T for short) or \"inf\", such \
                    as \"10Gbps\"";
const LIMIT: &str = "expected a limit in packets such as \"250p\", in bytes such as \"1MB\", or \"none\"";

/// The error of an unknown controller.
fn no_controller(suggestion: &str) -> String {
    let names: Vec<_> = incast_cc::KINDS.iter().map(|kind| kind.name).collect();
    let (shown, more) = names.split_at(12);
    let (shown, more) = (shown.join(", "), more.len());
    format!(
        "no such controller{suggestion}; expected one of {shown} and {more} more (incast list controllers names all)"
    )
}

/// DCTCP's parameters, as an error lists them.
fn dctcp_has() -> String {
    let dctcp = incast_cc::KINDS.iter().find(|k| k.name == "dctcp").unwrap();
    assert!(dctcp.params.iter().any(|p| p.name == "initial_alpha"));
    dctcp.params.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// A separate folder for a test's files.
fn folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("incast-scenario-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn flows(name: &str, csv: &str) -> Result<incast_engine::spec::Spec, Errors> {
    let dir = folder(name);
    std::fs::write(dir.join("flows.csv"), csv).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let result = Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build());
    std::fs::remove_dir_all(&dir).unwrap();
    result
}

/// Notes on the good scenario after changes.
fn notes(changes: &[(&str, &str)]) -> Vec<String> {
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    for (key, value) in changes {
        s.set(key, value).unwrap();
    }
    s.notes().unwrap()
}

/// Messages for `GOOD` with another traffic entry after its own.
fn and_more(entry: &str) -> String {
    check(&format!("{GOOD}[[traffic]]\nname = \"more\"\n{entry}")).expect_err(entry).to_string()
}
