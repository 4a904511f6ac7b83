//! Tests of the fuzzer: its draws, its findings, and a smoke test of the hunt.

use incast_fuzz::case::{self, Case};
use incast_fuzz::grammar::{self, Around, Draw, Level};
use incast_fuzz::hunt;
use incast_fuzz::laws::Broken;
use incast_fuzz::random::Random;
use incast_fuzz::shrink;
use incast_fuzz::trial::{self, Verdict};
use incast_scenario::schema;
use incast_scenario::text::schema::{Schema, Shape};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use toml::Table;

#[test]
fn every_key_kind_and_word_of_the_schema_is_drawn() {
    let whole = Schema::new(schema());
    let text = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let around = Around {
        nodes: text(&["h0", "h1", "s"]),
        hosts: 2,
        links: text(&["h0>s", "s>h0"]),
        run: 1e6,
        duration: 1e6,
        rate: 1e10,
        files: Vec::new(),
    };
    let mut levels = Vec::new();
    grammar::levels(whole, "", &mut levels);
    assert!(levels.len() > 500, "{} levels", levels.len());
    let mut random = Random::new(1, 0);
    for Level { schema, path, mut below } in levels {
        for _ in 0..3_000 {
            let mut used = BTreeSet::new();
            let mut draw = Draw { random: &mut random, around: &around, said: Vec::new() };
            match schema.shape() {
                Shape::Table(of) => {
                    let mut table = Table::new();
                    draw.keys(of, &path, &mut table);
                    used.extend(table.keys().map(|key| grammar::key_path(&path, key)));
                }
                _ => grammar::used(schema, &draw.value(schema, &path, &[]), &path, &mut used),
            }
            below.retain(|place| !used.contains(place));
            if below.is_empty() {
                break;
            }
        }
        assert!(below.is_empty(), "never drawn: {below:?}");
    }
}

/// Folder of this test.
fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("incast-fuzz-{name}-{}", std::process::id()))
}

#[test]
fn a_scenario_is_always_the_same() {
    let dir = folder("same");
    let text = |number| case::draw(3, number, &dir).unwrap().case;
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn scenarios_of_a_hunt_keep_all_laws() {
    trial::keep_panics();
    let dir = folder("smoke");
    let (mut held, mut runs) = (0, 0);
    for number in 0..25 {
        let (_, case, verdict) = hunt::try_one(2, number, &dir).unwrap();
        match verdict {
            Verdict::Held { runs: more, .. } => (held, runs) = (held + 1, runs + more),
            Verdict::Refused => {}
            Verdict::Broken(broken) => {
                panic!("{number}: {broken:?}\n{}", case.map_or_else(String::new, |case| case.text()));
            }
        }
    }
    fs::remove_dir_all(&dir).unwrap();
    assert!(held >= 8 && runs >= 30, "{held} scenarios, {runs} runs");
}

#[test]
fn scenarios_that_broke_a_law_keep_it() {
    trial::keep_panics();
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut files: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    // others are files that a scenario names
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    assert!(files.len() >= 8);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let said = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap();
        let (law, draws) = (said("# Broken law: "), said("# Draws: ").parse().unwrap());
        let case = Case { table: text.parse().unwrap(), files: Vec::new() };
        let verdict = trial::of_case(&case, &dir, draws);
        let found = match verdict {
            Verdict::Held { .. } => "held",
            Verdict::Refused => "refused",
            Verdict::Broken(_) => "broken",
        };
        assert_eq!(found, said("# Verdict: "), "{}, which broke \"{law}\": {verdict:?}", file.display());
    }
}

#[test]
fn a_scenario_is_made_small_as_long_as_it_breaks_the_law() {
    let text = include_str!("../../../scenarios/pfabric.toml");
    let whole = Case { table: text.parse().unwrap(), files: vec![("unused.csv".into(), "a\nb".into())] };
    // every queue with a limit above 5 packets breaks this law
    let mut judge = |case: &Case| {
        let limit = case.table.get("queue")?.get("limit")?.as_str()?;
        let bytes = limit.strip_suffix("B").or(limit.strip_suffix("kB"))?.parse::<f64>().ok()?;
        (bytes > 5.0).then(|| Broken::new("law", format!("{bytes}")))
    };
    let broken = judge(&whole).unwrap();
    let (small, _) = shrink::smallest(whole, broken, &mut judge);
    let keys: Vec<&String> = small.table.keys().collect();
    assert_eq!(keys, ["queue"], "{}", small.text());
    assert!(small.files.is_empty() && small.text().lines().count() <= 2, "{}", small.text());
}
