//! Tests of the fuzzer: what it draws, what it finds, and a smoke of the hunt.

use incast_fuzz::grammar::{self, Around, Draw, Level};
use incast_fuzz::random::Random;
use incast_scenario::schema;
use incast_scenario::text::schema::{Schema, Shape};
use std::collections::BTreeSet;
use toml::{Table, Value};

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
