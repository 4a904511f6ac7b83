//! `[routing]`: refusals, and a complete run under every policy.

use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{Adaptive, Entropy, Flowlet, Gauged, PathChoice, Recycled};
use incast_engine::{FlowId, LinkId};
use incast_scenario::{Scenario, list};
use std::collections::BTreeSet;

fn load(sets: &[(&str, &str)]) -> Result<incast_engine::spec::Spec, String> {
    let mut s = Scenario::load("permutation").unwrap();
    sets.iter().try_for_each(|(k, v)| s.set(k, v)).map_err(|e| e.to_string())?;
    s.build().map_err(|e| e.to_string())
}

#[test]
fn bad_values_are_refused() {
    let bands = "expected 1 to 16 shares from 0 to 1, each above the one before, such as [0.05, 0.1, 0.2]";
    let adaptive = |key: &str, value: &str| load(&[("routing", "{ kind = \"adaptive\" }"), (key, value)]).unwrap_err();
    for wrong in ["[0.2, 0.1]", "[]", "[0.5, 1.5]", "[-0.1]", "[0.1, 0.1]"] {
        let said = adaptive("routing.bands", wrong);
        assert!(said.starts_with("routing.bands = [") && said.ends_with(bands), "{said}");
    }
    let none = [("routing.kind", "adaptive"), ("queue", "{ kind = \"drop-tail\", limit = \"none\" }")];
    let said = load(&none).unwrap_err();
    assert!(said.starts_with("routing.by = \"queue\": bands are shares of the queue's limit"), "{said}");
    let still = "{ kind = \"adaptive\", by = \"utilisation\", refresh = \"0s\" }";
    let said = load(&[("routing", still)]).unwrap_err();
    assert!(said.starts_with("routing.refresh = \"0s\": utilisation is measured over this time"), "{said}");
    let said = load(&[("routing", "{ kind = \"spray\", acks = \"none\" }")]).unwrap_err();
    assert_eq!(said, "routing.acks = \"none\": expected one of \"as-data\", \"ecmp\"");
    assert!(load(&[("routing", "{ kind = \"round-robin\", rounds = -1 }")]).unwrap_err().contains("routing.rounds"));
    for wrong in ["-0.1", "1.5"] {
        let flowlet = format!("{{ kind = \"flowlet\", probability = {wrong} }}");
        let said = load(&[("routing", &flowlet)]).unwrap_err();
        assert_eq!(said, format!("routing.probability = {wrong}: expected a number from 0 to 1"));
        let escape = flowlet.replace("flowlet", "ecmp-adaptive");
        assert_eq!(load(&[("routing", &escape)]).unwrap_err(), said);
    }
    let said = load(&[("routing", "{ kind = \"flowlet\", bands = [0.5] }")]).unwrap_err();
    assert!(said.starts_with("routing.bands = [0.5]: bands are of ports, and by = \"hash\" looks at none"), "{said}");
    let said = load(&[("routing", "{ kind = \"flowlet\", refresh = \"1us\" }")]).unwrap_err();
    let expected = "routing.refresh = \"1us\": readings are of ports, and by = \"hash\" looks at none";
    assert!(said.starts_with(expected), "{said}");
    let classes = "{ kind = \"strict-priority\", classes = [{ kind = \"drop-tail\", limit = \"9p\" }, \
                   { kind = \"drop-tail\", limit = \"none\" }] }";
    for (limit, why) in
        [("none", "queue.classes.1.limit is \"none\""), ("9kB", "the limits of queue.classes are not of one")]
    {
        let classes = classes.replace("none", limit);
        let said = load(&[none[0], ("queue", &classes)]).unwrap_err();
        assert!(said.contains(&format!("and {why}")) && said.starts_with("routing.by = \"queue\""), "{said}");
    }
    load(&[none[0], ("queue", &classes.replace("none", "20p"))]).unwrap();
    for (kind, by) in [("flowlet\", by = \"adaptive", "adaptive"), ("ecmp-adaptive", "queue")] {
        let said = load(&[("routing", &format!("{{ kind = \"{kind}\", bands = [2.0] }}"))]).unwrap_err();
        assert!(said.starts_with("routing.bands = [2.0]: expected 1 to 16 shares"), "{said}");
        let said = load(&[("routing", &format!("{{ kind = \"{kind}\" }}")), none[1]]).unwrap_err();
        assert!(said.starts_with(&format!("routing.by = \"{by}\": bands are shares")), "{said}");
    }
    let said = load(&[("routing", "{ kind = \"flowcell\", cell = \"0B\" }")]).unwrap_err();
    assert_eq!(said, "routing.cell = \"0B\": expected at least 1B");
    for (key, wrong) in [("ring", "0"), ("ring", "1025"), ("values", "0"), ("values", "65537")] {
        let said = load(&[("routing", &format!("{{ kind = \"reps\", {key} = {wrong} }}"))]).unwrap_err();
        assert!(said.starts_with(&format!("routing.{key} = {wrong}: expected")), "{said}");
    }
    let said = load(&[("routing", "{ kind = \"reps\", rings = 4 }")]).unwrap_err();
    assert!(said.contains("did you mean \"ring\""), "{said}");
    for kind in ["reps", "spray\", by = \"counter"] {
        let sets = [("routing", format!("{{ kind = \"{kind}\" }}")), ("run.ties", "scheduled".to_string())];
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let said = load(&sets).unwrap_err();
        assert!(said.starts_with("run.ties = \"scheduled\": packets carry what scheduled ties ask"), "{said}");
    }
    // what bounds the queue policy does not bind the others
    load(&[("routing", "{ kind = \"adaptive\", by = \"utilisation\" }"), none[1]]).unwrap();
}

#[test]
fn defaults_are_htsims() {
    let built = |routing: &str| load(&[("routing", routing)]).unwrap().choice;
    let adaptive = |by, bands: &[f64], ns| {
        PathChoice::Adaptive(Adaptive { by, bands: bands.to_vec(), refresh: incast_cc::Time::ns(ns) })
    };
    assert_eq!(built("{ kind = \"adaptive\" }"), adaptive(Gauged::Queue, &[0.05, 0.1, 0.2], 100));
    let by = built("{ kind = \"adaptive\", by = \"utilisation\" }");
    assert_eq!(by, adaptive(Gauged::Utilisation, &[0.0, 0.15, 0.5], 30_000));
    let own = built("{ kind = \"adaptive\", bands = [0.5], refresh = \"1us\" }");
    assert_eq!(own, adaptive(Gauged::Queue, &[0.5], 1000));
    assert_eq!(built("{ kind = \"round-robin\", at = \"switch\" }"), PathChoice::RoundRobin(5));
    assert_eq!(built("{ kind = \"round-robin\" }"), PathChoice::RoundRobinSource);
    assert_eq!(built("{ kind = \"ns3-per-packet\" }"), PathChoice::Spray);
    assert_eq!(built("{ kind = \"flowcell\" }"), PathChoice::Flowcell(65_536));
    assert!(load(&[("routing", "{ kind = \"spray\", acks = \"ecmp\" }")]).unwrap().acks_by_flow);
    assert_eq!(built("{ kind = \"spray\", by = \"counter\" }"), PathChoice::Entropy(Entropy::Counter));
    let bands = Adaptive { by: Gauged::Queue, bands: vec![0.05, 0.1, 0.2], refresh: incast_cc::Time::ns(100) };
    let flowlet = |by| PathChoice::Flowlet(Flowlet { gap: incast_cc::Time::us(10), by, probability: 1.0 });
    assert_eq!(built("{ kind = \"flowlet\" }"), flowlet(None));
    assert_eq!(built("{ kind = \"flowlet\", by = \"adaptive\" }"), flowlet(Some(bands.clone())));
    assert_eq!(built("{ kind = \"ecmp-adaptive\" }"), PathChoice::EcmpAdaptive(bands, 0.5));
    let reps = Recycled { ring: 8, values: 65_536, explore: 16, freeze: incast_cc::Time::ms(10) };
    assert_eq!(built("{ kind = \"reps\" }"), PathChoice::Entropy(Entropy::Recycled(reps)));
}

#[test]
fn every_policy_finishes_a_permutation() {
    for kind in list("routing").unwrap() {
        let mut sets = vec![("routing.kind", kind.name.as_str()), ("topology.k", "4"), ("traffic.app.size", "400kB")];
        if kind.name == "transport" {
            // its endpoints choose the paths
            let queue = "{ kind = \"trimming\", limit = \"8p\", host = { kind = \"drop-tail\", limit = \"none\" } }";
            sets.extend([("transport", "{ preset = \"ndp\" }"), ("queue", queue), ("routing.by", "path")]);
        }
        let outcome = incast_engine::run(&load(&sets).unwrap(), &mut |_| true).unwrap();
        assert!(outcome.flows.iter().all(|f| f.finish_ps.is_some()), "{}", kind.name);
    }
}

/// Links used by data of flow `f`, and by its ACKs, by name.
fn passed(o: &incast_record::Outcome, f: u32) -> [BTreeSet<String>; 2] {
    [false, true].map(|ack| {
        let of = o.trace.iter().filter(|e| e.flow == f && (e.payload == 0) == ack && e.place.contains('>'));
        of.map(|e| e.place.clone()).collect()
    })
}

fn turned(links: &BTreeSet<String>) -> BTreeSet<String> {
    links.iter().map(|l| l.split_once('>').map(|(a, b)| format!("{b}>{a}")).unwrap()).collect()
}

/// On every topology with several paths, and on those with one.
#[test]
fn symmetric_routing_sends_acks_over_the_links_of_their_data() {
    let topologies = [
        ("{ kind = \"fat-tree\", k = 6, link = LINK }", true),
        ("{ kind = \"leaf-spine\", leaves = 4, spines = 3, hosts_per_leaf = 4, link = LINK }", true),
        ("{ kind = \"three-tier\", cores = 3, aggregations = 4, racks = 8, servers_per_rack = 2 }", true),
        ("{ kind = \"dumbbell\", senders = 4, receivers = 4, access_link = LINK, bottleneck_link = LINK }", false),
        ("{ kind = \"star\", sources = 5, source_link = LINK, sink_link = LINK }", false),
    ];
    for (topology, several) in topologies {
        let topology = topology.replace("LINK", "{ rate = \"10Gbps\", delay = \"1us\" }");
        let trace = format!("{:?}", (0..40).collect::<Vec<u32>>());
        let asymmetric = |symmetric: &str| {
            let traffic = "[{ pattern = \"random-pairs\", flows = 40, app = { kind = \"bulk\", size = \"3kB\" } }]";
            let spec = load(&[
                ("topology", &topology),
                ("routing", &format!("{{ kind = \"ecmp\", symmetric = {symmetric} }}")),
                ("traffic", traffic),
                ("transport", "{ preset = \"linux\", handshake = false }"),
                ("measure.trace", &trace),
            ]);
            let spec = spec.unwrap();
            // ideal times are those of the same paths
            let fabric = Fabric::new(&spec);
            let back = |f| fabric.path(f, false).into_iter().rev().map(|l| LinkId(l.0 ^ 1)).collect::<Vec<_>>();
            assert!(symmetric == "false" || (0..40).map(FlowId).all(|f| fabric.path(f, true) == back(f)));
            let o = incast_engine::run(&spec, &mut |_| true).unwrap();
            (0..40)
                .filter(|f| {
                    let [data, acks] = passed(&o, *f);
                    assert!(!data.is_empty());
                    turned(&data) != acks
                })
                .count()
        };
        assert_eq!(asymmetric("true"), 0, "{topology}");
        assert_eq!(asymmetric("false") > 0, several, "{topology}");
    }
}

#[test]
fn symmetric_routing_is_of_ecmp_alone() {
    for kind in ["spray", "round-robin", "flowlet", "first-path"] {
        let said = load(&[("routing", &format!("{{ kind = \"{kind}\", symmetric = true }}"))]).unwrap_err();
        let expected =
            format!("routing.symmetric: unknown key with kind = \"{kind}\"; it is a key of kind = \"ecmp\"; ");
        assert!(said.starts_with(&expected), "{said}");
    }
    assert_eq!(load(&[("routing", "{ kind = \"ecmp\", symmetric = true }")]).unwrap().choice, PathChoice::Symmetric);
    assert_eq!(load(&[("routing", "{ kind = \"ecmp\", symmetric = false }")]).unwrap().choice, PathChoice::Ecmp);
    assert_eq!(load(&[("routing.symmetric", "true"), ("routing.kind", "ecmp")]).unwrap().choice, PathChoice::Symmetric);
    // a scenario that says nothing of routing has ecmp
    let mut s = Scenario::load("three-tier-incast").unwrap();
    s.set("routing.symmetric", "true").unwrap();
    assert_eq!(s.build().unwrap().choice, PathChoice::Symmetric);
    s.set("routing.kind", "spray").unwrap();
    assert_eq!(s.build().unwrap().choice, PathChoice::Spray);
}

#[test]
fn a_given_path_has_its_mirror_image() {
    let dir = std::env::temp_dir().join(format!("incast-symmetric-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let build = |row: &str| {
        std::fs::write(dir.join("f.csv"), format!("start,source,destination,size,path,reverse_path\n{row}\n")).unwrap();
        let text = "controller = \"newreno\"\n[run]\nduration = \"1ms\"\n[queue]\nkind = \"drop-tail\"\n\
                    limit = \"9p\"\n\
                    [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 2\n\
                    link = { rate = \"1Gbps\", delay = \"1us\" }\n[routing]\nkind = \"ecmp\"\nsymmetric = true\n\
                    [[traffic]]\nname = \"f\"\npattern = \"file\"\nfile = \"f.csv\"\n";
        Scenario::from_toml(text, &dir, "f").unwrap().build().map_err(|e| e.to_string())
    };
    let names = |spec: &incast_engine::spec::Spec| {
        let path = |path: &Option<Vec<u32>>| {
            let links = path.iter().flatten().map(|l| spec.links[*l as usize].name.to_string());
            links.collect::<Vec<_>>().join(" ")
        };
        (path(&spec.flows[0].path), path(&spec.flows[0].reverse_path))
    };
    let both = ("h0>leaf0 leaf0>spine2 spine2>leaf1 leaf1>h3", "h3>leaf1 leaf1>spine2 spine2>leaf0 leaf0>h0");
    let rows = [
        "0s,h0,h3,1000,leaf0 spine2 leaf1,",
        "0s,h0,h3,1000,,leaf1 spine2 leaf0",
        "0s,h0,h3,1000,leaf0 spine2 leaf1,leaf1 spine2 leaf0",
    ];
    for row in rows {
        assert_eq!(names(&build(row).unwrap()), (both.0.into(), both.1.into()), "{row}");
    }
    assert_eq!(names(&build("0s,h0,h3,1000,,").unwrap()), (String::new(), String::new()));
    let said = build("0s,h0,h3,1000,leaf0 spine2 leaf1,leaf1 spine1 leaf0").unwrap_err();
    assert!(
        said.starts_with("routing.symmetric = true: flow 0, of traffic.f, has a path and a reverse_path"),
        "{said}"
    );
    std::fs::remove_dir_all(&dir).unwrap();
}
