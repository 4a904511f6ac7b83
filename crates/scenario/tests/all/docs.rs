//! The pages agree with the declarations, and their examples are scenarios.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p incast-scenario docs` brings the tables up to date.

use incast_record::Outcome;
use incast_record::summary::figures;
use incast_record::table::{Column, TABLES};
use incast_scenario::catalogue::Key;
use incast_scenario::text::schema::Schema;
use incast_scenario::{Scenario, builtin, catalogue, describe, list};
use std::path::{Path, PathBuf};

const RESULTS: &str = include_str!("../../../../docs/results.md");
const PRESETS: [&str; 6] = ["linux", "linux-default", "ns3", "ns3-ipv6", "htsim", "swift"];

fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages: Vec<PathBuf> = [
        "scenario",
        "failures",
        "hosts",
        "routing",
        "traffic",
        "jobs",
        "transport",
        "receiver-driven",
        "rdma",
        "source-parameters",
    ]
    .iter()
    .map(|n| docs.join(format!("{n}.md")))
    .collect();
    for folder in ["topologies", "queues", "programs"] {
        pages.extend(std::fs::read_dir(docs.join(folder)).unwrap().map(|f| f.unwrap().path()));
    }
    pages.sort();
    pages
}

fn table(keys: &[Key]) -> String {
    let mut text = String::from("| key | default | value | meaning |\n|---|---|---|---|\n");
    for k in keys {
        let default = match &k.default {
            Some(d) => format!("`{d}`"),
            None if k.required => "required".into(),
            None => String::new(),
        };
        text += &format!("| `{}` | {default} | {} | {} |\n", k.name, k.expected, k.doc);
    }
    text
}

fn words(items: &[(String, String)]) -> String {
    let rows = items
        .iter()
        .map(|(name, what)| format!("| `{name}` | {} |\n", what.split_whitespace().collect::<Vec<_>>().join(" ")));
    format!("| name | what it is |\n|---|---|\n{}", rows.collect::<String>())
}

/// The text between a marker and its end.
fn generated(marker: &str) -> String {
    let parts: Vec<&str> = marker.split_whitespace().collect();
    let root = Schema::new(incast_scenario::schema());
    let app = root.items("traffic").find(&["app"], None).unwrap();
    match parts[..] {
        ["keys:", "document", "links"] => table(&catalogue::keys_of(root.items("links"))),
        ["keys:", "document", "failures"] => table(&catalogue::keys_of(root.items("failures"))),
        ["keys:", "document", "job"] => table(&catalogue::keys_of(root.items("job"))),
        ["keys:", "document", path] => {
            let at = root.find(&path.split('.').collect::<Vec<_>>(), None).unwrap();
            table(&catalogue::keys_of(at))
        }
        ["keys:", "app", name] => {
            table(&catalogue::keys_of(app.variants().unwrap().into_iter().find(|v| v.1 == name).unwrap().2))
        }
        ["keys:", "arrivals"] => table(&catalogue::keys_of(root.items("traffic").find(&["arrivals"], None).unwrap())),
        ["keys:", "roots"] => table(&catalogue::keys_of(root.items("traffic").find(&["roots"], None).unwrap())),
        ["keys:", kind, name, path] => {
            let tables = describe(kind, name).unwrap().tables;
            table(&tables.iter().find(|t| t.of.iter().any(|of| of == path)).unwrap().keys)
        }
        ["keys:", kind, name] => table(&describe(kind, name).unwrap().keys),
        ["list:", "app"] => {
            words(&app.variants().unwrap().iter().map(|v| (v.1.to_owned(), v.2.doc().to_owned())).collect::<Vec<_>>())
        }
        ["list:", "sizes"] => words(&list("sizes").unwrap().into_iter().map(|i| (i.name, i.what)).collect::<Vec<_>>()),
        ["list:", kind] => {
            let item = |i: catalogue::Item| (i.name.clone(), describe(kind, &i.name).unwrap().what);
            words(&list(kind).unwrap().into_iter().map(item).collect::<Vec<_>>())
        }
        ["presets"] => {
            let presets: Vec<_> = PRESETS.map(|p| describe("transport", p).unwrap().keys).into();
            let mut text =
                format!("| key | {} | meaning |\n|---|{}---|\n", PRESETS.join(" | "), "---|".repeat(PRESETS.len()));
            // tables of transports that receivers drive stand on a page of their own
            let receiver_driven = ["ndp", "eqds", "uet", "homa", "expresspass", "phost", "roce", "dcpim"];
            for (i, k) in presets[0].iter().enumerate().filter(|(_, k)| !receiver_driven.contains(&k.name.as_str())) {
                let values: Vec<String> = presets
                    .iter()
                    .map(|p| p[i].default.clone().unwrap_or_default().trim_matches('"').to_owned())
                    .collect();
                text += &format!("| `{}` | {} | {} |\n", k.name, values.join(" | "), k.doc);
            }
            text
        }
        _ => panic!("no such marker: {marker}"),
    }
}

#[test]
fn tables_are_up_to_date() {
    let mut tables = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let (mut done, mut rest) = (String::new(), text.as_str());
        while let Some((head, tail)) = rest.split_once("<!-- ") {
            let (marker, tail) = tail.split_once(" -->\n").expect("a marker ends its line");
            let (_, tail) = tail.split_once("<!-- end -->\n").expect("a marker has an end");
            done += &format!("{head}<!-- {marker} -->\n\n{}\n<!-- end -->\n", generated(marker));
            rest = tail;
            tables += 1;
        }
        done += rest;
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&page, done).unwrap();
        } else {
            assert_eq!(text, done, "{} is not what the declarations say; see the head of this test", page.display());
        }
    }
    assert!(tables >= 20, "{tables}");
}

/// A ```toml block replaces the parts of `hotspot` that it has, or of `sccp-incast` if it has a program, and is then a
/// scenario.
#[test]
fn examples_are_scenarios() {
    let mut examples = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1).map(|b| b.split("```").next().unwrap()) {
            let base = if block.contains("[[program]]") { "sccp-incast" } else { "hotspot" };
            let mut base: toml::Table = builtin::text(base).unwrap().parse().unwrap();
            let example: toml::Table = block.parse().unwrap_or_else(|e| panic!("{}: {e}", page.display()));
            if example.contains_key("job") {
                base.remove("traffic");
            }
            base.extend(example);
            let built = Scenario::from_toml(&base.to_string(), Path::new("."), "example").and_then(|s| s.build());
            built.unwrap_or_else(|e| panic!("{}\n{block}\n{e}", page.display()));
            examples += 1;
        }
    }
    assert!(examples >= 12, "{examples}");
}

/// Every `--set key=value` of the pages is accepted by the scenario it is for, or by its topology with a job.
#[test]
fn commands_are_accepted() {
    let mut sets = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for command in text.split("incast run ").skip(1) {
            let command = command.split(['`']).next().unwrap();
            let mut words = command.split_whitespace();
            let Ok(mut s) = Scenario::load(words.next().unwrap()) else { continue };
            while let Some(word) = words.next() {
                if word == "--workload" {
                    s.set("traffic", "[]").unwrap();
                    s.set("job", "[{ collective = { kind = \"all-reduce\", size = \"1MB\" } }]").unwrap();
                } else if word == "--set" {
                    let (key, value) = words.next().unwrap().trim_matches('\'').split_once('=').unwrap();
                    s.set(key, value).unwrap_or_else(|e| panic!("{}: {command}: {e}", page.display()));
                    sets += 1;
                }
            }
            s.build().unwrap_or_else(|e| panic!("{}: {command}: {e}", page.display()));
        }
    }
    assert!(sets >= 20, "{sets}");
}

#[test]
fn everything_has_a_page() {
    let pages = pages();
    for (kind, folder) in [("topologies", "topologies"), ("queues", "queues")] {
        for item in list(kind).unwrap() {
            assert!(pages.iter().any(|p| p.ends_with(format!("docs/{folder}/{}.md", item.name))), "{}", item.name);
        }
    }
}

/// The part of the page under the heading of `file`.
fn section(file: &str) -> Vec<&'static str> {
    let heading = format!("## {file}");
    let mut lines = RESULTS.lines().skip_while(|l| *l != heading);
    assert!(lines.next().is_some(), "docs/results.md has no heading \"{heading}\"");
    lines.take_while(|l| !l.starts_with("## ")).filter(|l| l.starts_with("| `")).collect()
}

fn row(name: &str, unit: &str, doc: &str) -> String {
    format!("| `{name}` | {} | {doc} |", if unit.is_empty() { "-" } else { unit })
}

/// Whoever adds a figure, a column or a label runs this test with `UPDATE_SNAPSHOTS=1` set, which puts the program's
/// rows into the page.
#[test]
fn the_page_on_results_lists_every_figure_and_column_as_the_program_states_it() {
    let mut page = RESULTS.to_owned();
    let mut differ = Vec::new();
    let figures = figures().map(|f| row(f.key, f.unit, f.definition)).collect();
    let columns = |columns: Vec<Column>| columns.iter().map(|c| row(c.name, c.unit, c.doc)).collect();
    let labels = Scenario::load("hotspot").unwrap().build().unwrap().labels;
    let outcome = Outcome { labels, ..Outcome::default() };
    let tables = TABLES.iter().map(|(name, make)| (format!("{name}.parquet"), columns(make(&outcome))));
    for (file, rows) in [("summary.json".to_owned(), figures)].into_iter().chain(tables) {
        let (stated, rows): (String, Vec<String>) = (section(&file).join("\n"), rows);
        if stated != rows.join("\n") {
            page = page.replacen(&stated, &rows.join("\n"), 1);
            differ.push(file);
        }
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results.md"), page).unwrap();
    } else {
        assert!(differ.is_empty(), "docs/results.md differs in {differ:?}: run this test with UPDATE_SNAPSHOTS=1");
    }
}
