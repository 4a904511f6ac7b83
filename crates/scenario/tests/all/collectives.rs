//! All-to-all and ring all-reduce: sources, destinations, dependencies and duration.

use incast_engine::spec::{App, Bulk, Done, Spec};
use incast_record::Outcome;
use incast_record::summary::summarize;
use incast_scenario::{Scenario, builtin};
use std::collections::BTreeSet;

/// 16 hosts on one switch, 10 Gb/s, with an entry of this pattern.
fn scenario(entry: &str) -> Scenario {
    let text = builtin::text("permutation").unwrap();
    let head = &text[..text.find("[[traffic]]").unwrap()];
    let text = format!("{head}[[traffic]]\nname = \"c\"\n{entry}\n");
    let mut s = Scenario::from_toml(&text, std::path::Path::new("."), "c").unwrap();
    s.set("topology.k", "4").unwrap();
    s
}

fn run(spec: &Spec) -> Outcome {
    incast_engine::run(spec, &mut |_| true).unwrap()
}

fn size(app: App) -> u64 {
    if let App::Bulk(Bulk { size: Some(size), .. }) = app { size } else { panic!("{app:?}") }
}

#[test]
fn everyone_to_everyone_in_rounds() {
    let spec = scenario("pattern = \"all-to-all\"\napp = { kind = \"bulk\", size = \"40kB\" }").build().unwrap();
    let pairs: BTreeSet<_> = spec.flows.iter().map(|f| (f.src, f.dst)).collect();
    assert_eq!((spec.flows.len(), pairs.len()), (240, 240));
    for (i, f) in (0u32..).zip(&spec.flows) {
        assert_eq!((f.src, f.dst), (i % 16, (i % 16 + 1 + i / 16) % 16), "round by round");
        let after = f.trigger.map(|t| (t.activation, spec.triggers[t.trigger as usize].activations.clone()));
        assert_eq!(after, (i >= 16).then(|| (1, vec![(i - 16, Done::Sent)])));
    }
    let o = run(&spec);
    for (i, f) in o.flows.iter().enumerate().skip(16) {
        assert_eq!(Some(f.start_ps), o.flows[i - 16].finish_ps, "a member goes on by what it knows itself");
    }
    let summary = summarize(&o, "c", "");
    let last = o.flows.iter().map(|f| f.received_ps.unwrap()).max().unwrap();
    assert_eq!(summary["groups"]["c"]["fct"]["span_s"], last as f64 * 1e-12);
    assert!(
        scenario("pattern = \"all-to-all\"\napp = { kind = \"bulk\", size = \"40kB\" }").notes().unwrap().is_empty()
    );
}

#[test]
fn everyone_to_everyone_at_once() {
    let entry =
        "pattern = \"all-to-all\"\norder = \"at-once\"\nmembers = 6\napp = { kind = \"bulk\", size = \"40kB\" }";
    let members = |seed| {
        let spec = scenario(entry).with_seed(seed).build().unwrap();
        assert!(spec.flows.iter().all(|f| f.trigger.is_none()));
        let (from, to): (Vec<_>, Vec<_>) = spec.flows.iter().map(|f| (f.src, f.dst)).unzip();
        let members: BTreeSet<u32> = from.into_iter().collect();
        assert_eq!((spec.flows.len(), members.len()), (30, 6));
        assert_eq!(members, to.into_iter().collect());
        members
    };
    let drawn: BTreeSet<BTreeSet<u32>> = (1..=10).map(members).collect();
    assert!(drawn.len() >= 9, "of 8008 sets of six: {drawn:?}");
}

#[test]
fn a_ring_passes_on_what_it_has() {
    let spec =
        scenario("pattern = \"ring-allreduce\"\napp = { kind = \"bulk\", size = \"1000003B\" }").build().unwrap();
    assert_eq!(spec.flows.len(), 30 * 16);
    // in 15 steps every member sends all parts but one; twice
    for member in 0..16 {
        let own = || (member..480).step_by(16);
        let sent: u64 = own().map(|i| size(spec.flows[i].app)).sum();
        let part = |i: u64| 1_000_003 / 16 + u64::from(i % 16 < 1_000_003 % 16);
        let left_out = part(member as u64 + 1) + part(member as u64 + 2);
        assert_eq!(sent, 2 * 1_000_003 - left_out, "member {member}");
        assert!(own().all(|i| (spec.flows[i].src, spec.flows[i].dst) == (member as u32, (member as u32 + 1) % 16)));
    }
    let o = run(&spec);
    for i in 16..480 {
        let before = (i / 16 - 1) * 16 + (i + 15) % 16;
        assert_eq!(size(spec.flows[i].app), size(spec.flows[before].app), "the part that came");
        assert_eq!(Some(o.flows[i].start_ps), o.flows[before].received_ps, "as soon as it has come");
    }
    // a ring is no quicker than its steps of 62,501 bytes at 100 Gb/s
    let summary = summarize(&o, "c", "");
    let span = summary["fct"]["span_s"].as_f64().unwrap();
    assert!(span > 30.0 * 62_500.0 * 8e-11 && span < 2.0 * 30.0 * (62_500.0 * 8e-11 + 8e-6), "{span}");
}

#[test]
fn a_file_says_what_waits_for_what() {
    let dir = std::env::temp_dir().join(format!("incast-after-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let rows =
        "start,source,destination,size,after\n0s,h0,h1,40kB,\n0s,h0,h2,40kB,0\n1us,h1,h3,40kB,0:received 1:sent\n";
    std::fs::write(dir.join("flows.csv"), rows).unwrap();
    let text = builtin::text("permutation").unwrap();
    let head = &text[..text.find("[[traffic]]").unwrap()];
    // its numbers are those of the file, whatever comes before
    let first = "[[traffic]]\npattern = \"hotspot\"\nflows = 2\napp = { kind = \"bulk\", size = \"1kB\" }\n";
    let text = format!("{head}{first}[[traffic]]\npattern = \"file\"\nfile = \"flows.csv\"\n");
    let s = Scenario::from_toml(&text, &dir, "after").unwrap();
    let spec = s.build().unwrap();
    let after =
        |f: usize| spec.flows[f].trigger.map(|t| (t.activation, spec.triggers[t.trigger as usize].activations.clone()));
    assert_eq!([after(2), after(3)], [None, Some((1, vec![(2, Done::Sent)]))]);
    assert_eq!(after(4), Some((2, vec![(2, Done::Received), (3, Done::Sent)])));
    assert_eq!(
        s.notes().unwrap(),
        ["1 flow waits for an end at another host, and it learns of it the longest latency of a link later \
             (docs/traffic.md)"]
    );
    std::fs::remove_dir_all(&dir).unwrap();
}
