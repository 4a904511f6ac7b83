//! Built-in scenarios, changes, the resolved form, schema and catalogue.

use incast_cc::{Rate, Time};
use incast_engine::spec;
use incast_scenario::catalogue::{BESIDE, KINDS};
use incast_scenario::document::transport::Preset;
use incast_scenario::{Scenario, builtin, describe, list};
use std::path::Path;

fn changed(name: &str, sets: &[(&str, &str)]) -> Scenario {
    let mut s = Scenario::load(name).unwrap();
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    s
}

#[test]
fn built_in_scenarios_build() {
    for name in builtin::names() {
        let s = Scenario::load(name).unwrap();
        assert_eq!(s.name(), name);
        let spec = s.build().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!spec.flows.is_empty());
        let header = builtin::header(builtin::text(name).unwrap());
        assert!(header.len() > 100, "{name} says what it shows and where it comes from");
        assert!(s.document().unwrap().description.is_some());
        assert!(builtin::text(name).unwrap().lines().all(|l| l.len() <= 120));
    }
}

#[test]
fn every_built_in_is_registered() {
    let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut names = builtin::names();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn resolved_text_reads_back_to_the_same() {
    let mut all: Vec<Scenario> = builtin::names().into_iter().map(|n| Scenario::load(n).unwrap()).collect();
    all.push(changed(
        "hotspot",
        &[("controller", "swift:target=min-rtt,epsilon=100us"), ("transport.preset", "swift")],
    ));
    all.push(changed("hotspot", &[("traffic.transport", "{ mss = 1000 }"), ("traffic.controller", "newreno")]));
    all.push(changed("star", &[("queue", "{ kind = \"red\", limit = \"25p\", min_th = \"5p\", max_th = \"15p\" }")]));
    all.push(changed(
        "hotspot",
        &[
            ("measure.series", "{ flows = [0], ports = [\"edge0>h0\"], interval = \"1ms\" }"),
            ("run.measure_until", "1s"),
        ],
    ));
    all.push(changed("hotspot", &[("transport.pacing", "{ slow_start = 2.0, avoidance = 1.2, max = \"1Gbps\" }")]));
    for s in all {
        let text = s.resolved_toml().unwrap();
        let again = Scenario::from_toml(&text, Path::new("."), "other").unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again.resolved_toml().unwrap(), text);
        assert_eq!(again.hash().unwrap(), s.hash().unwrap());
        assert_eq!(again.name(), s.name());
        assert_eq!(format!("{:?}", again.build().unwrap()), format!("{:?}", s.build().unwrap()));
    }
}

#[test]
fn hashes() {
    let s = Scenario::load("hotspot").unwrap();
    let hash = s.hash().unwrap();
    assert_eq!(hash.len(), 16);
    assert_eq!(s.with_seed(99).hash().unwrap(), hash, "a seed is not part of it");
    assert_eq!(s.with_seed(99).seed(), 99);
    assert_eq!(
        changed("hotspot", &[("traffic.at_stop", "drain")]).hash().unwrap(),
        hash,
        "nor is a default written out"
    );
    for (k, v) in [
        ("topology.k", "6"),
        ("traffic.flows", "101"),
        ("controller.g", "0.125"),
        ("transport.mss", "1000"),
        ("run.duration", "4s"),
    ] {
        assert_ne!(changed("hotspot", &[(k, v)]).hash().unwrap(), hash, "{k}");
    }
    let hashes: std::collections::BTreeSet<String> =
        builtin::names().iter().map(|n| Scenario::load(n).unwrap().hash().unwrap()).collect();
    assert_eq!(hashes.len(), builtin::names().len());
}

#[test]
fn files_a_scenario_names_are_part_of_its_hash() {
    let dir = std::env::temp_dir().join(format!("incast-hash-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let text = "controller = \"dctcp\"\n[run]\nduration = \"1ms\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
                link = { rate = \"1Gbps\", delay = \"1us\" }\n\
                [queue]\nkind = \"drop-tail\"\nlimit = \"10p\"\n[[traffic]]\npattern = \"file\"\nfile = \"f.csv\"\n";
    std::fs::write(dir.join("s.toml"), text).unwrap();
    std::fs::write(dir.join("f.csv"), "start,source,destination,size\n0s,h0,h1,1000\n").unwrap();
    let s = Scenario::load(dir.join("s.toml").to_str().unwrap()).unwrap();
    assert_eq!(s.name(), "s");
    let first = s.hash().unwrap();
    // The resolved copy names the file as the scenario does, and no folder of this machine.
    let resolved = s.resolved_toml().unwrap();
    assert!(resolved.contains("file = \"f.csv\""), "{resolved}");
    assert!(!resolved.contains(dir.to_str().unwrap()), "{resolved}");
    let copy = Scenario::from_toml(&resolved, &dir, "copy").unwrap();
    assert_eq!((copy.hash().unwrap(), copy.build().unwrap().flows.len()), (first.clone(), 1));
    assert_eq!(s.files().unwrap(), [("f.csv".to_owned(), dir.join("f.csv"))]);
    // With the files it names beside it, a copy is the same scenario anywhere else.
    let other = dir.join("other");
    std::fs::create_dir_all(&other).unwrap();
    for (name, at) in s.files().unwrap() {
        std::fs::copy(at, other.join(name)).unwrap();
    }
    assert_eq!(Scenario::from_toml(&resolved, &other, "copy").unwrap().hash().unwrap(), first);
    // A path that is absolute in the scenario stays as it is.
    let mut whole = s.clone();
    whole.set("traffic.file", dir.join("f.csv").to_str().unwrap()).unwrap();
    assert_eq!(whole.resolved().unwrap().traffic[0].file.as_deref(), dir.join("f.csv").to_str());
    assert_eq!(whole.hash().unwrap(), first, "the content counts, not the name");
    std::fs::write(dir.join("f.csv"), "start,source,destination,size\n0s,h0,h1,2000\n").unwrap();
    assert_ne!(s.hash().unwrap(), first);
    // tables of sizes and places of stations are files too
    let table = |text: &str| std::fs::write(dir.join("t.csv"), text).unwrap();
    let named = format!("\"{}\"", dir.join("t.csv").to_str().unwrap());
    for (scenario, key, value, one, other) in [
        ("websearch", "traffic.arrivals.sizes", named.clone(), "size,cumulative\n1,1\n", "size,cumulative\n2,1\n"),
        (
            "wireless-cell",
            "topology.placement",
            format!("{{ kind = \"file\", file = {named} }}"),
            "x,y\n",
            "x,y\n1,2\n",
        ),
    ] {
        let mut s = Scenario::load(scenario).unwrap();
        table(one);
        s.set(key, &value).unwrap();
        assert_eq!(s.files().unwrap().len(), 1, "{key}");
        let first = s.hash().unwrap();
        table(other);
        assert_ne!(s.hash().unwrap(), first, "{key}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn tables_of_sizes_and_places_of_stations_are_files_too() {
    let dir = std::env::temp_dir().join(format!("incast-files-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let own = |scenario: &str, keys: &[(&str, &str)]| {
        let mut found = Scenario::load(scenario).unwrap();
        keys.iter().for_each(|(key, value)| found.set(key, value).unwrap());
        Scenario::from_toml(&found.resolved_toml().unwrap(), &dir, "own").unwrap()
    };
    let loaded = own("expresspass", &[("traffic.arrivals.sizes", "sizes.csv")]);
    let cell = own("wireless-cell", &[("topology.placement", r#"{ kind = "file", file = "places.csv" }"#)]);
    for (scenario, name) in [(loaded, "sizes.csv"), (cell, "places.csv")] {
        assert_eq!(scenario.files().unwrap(), [(name.to_owned(), dir.join(name))]);
        std::fs::write(dir.join(name), "one").unwrap();
        let one = scenario.hash().unwrap();
        std::fs::write(dir.join(name), "two").unwrap();
        assert_ne!(scenario.hash().unwrap(), one, "the content of {name} counts");
        let names = [(name.to_owned(), "elsewhere.csv".to_owned())].into();
        let other = scenario.resolved_toml_under(&names).unwrap();
        assert_eq!(other, scenario.resolved_toml().unwrap().replace(name, "elsewhere.csv"));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn set_reaches_every_key() {
    let s = changed(
        "hotspot",
        &[
            ("topology.link.delay", "0"),
            ("topology.link.rate", "inf"),
            ("topology.host_link.rate", "10Gbps"),
            ("queue.host.kind", "drop-tail"),
            ("queue.host.limit", "none"),
            ("routing.kind", "first-path"),
            ("traffic.load.app.rate", "1Gbps"),
            ("traffic.receiver", "3"),
            ("transport.delayed_ack", "1"),
            ("transport.ecn", "classic"),
            ("measure.series.ports", "[\"edge0>h0\"]"),
            ("measure.series.interval", "change"),
            ("name", "mine"),
        ],
    );
    let spec = s.build().unwrap();
    assert_eq!(spec.flows[0].dst, 3);
    assert_eq!(spec.transports[0].acks.delayed_ack, 1);
    assert_eq!(spec.transports[0].marks.ecn, Some(incast_cc::Ecn::Classic));
    assert_eq!(spec.queues.len(), 2);
    assert_eq!(spec.observe.ports.len(), 1);
    assert_eq!(spec.links.iter().filter(|l| l.rate == incast_cc::Rate::INFINITE).count(), 64);
}

#[test]
fn controllers_by_set() {
    let config = |s: &Scenario| s.build().unwrap().controllers[0].clone();
    let mut s = changed("hotspot", &[("controller", "swift:target=min-rtt,epsilon=100us")]);
    assert_eq!(config(&s).kind().name, "swift");
    assert_eq!(config(&s).get("epsilon").unwrap().to_string(), "100us");
    // A parameter of a controller given as one text.
    s.set("controller.target", "static").unwrap();
    assert_eq!(config(&s).get("target").unwrap().to_string(), "static");
    assert_eq!(config(&s).get("epsilon").unwrap().to_string(), "100us");
    // Another kind drops the parameters it does not have.
    s.set("controller", "{ kind = \"dctcp\", g = 0.5 }").unwrap();
    assert_eq!(config(&s).get("g").unwrap().to_string(), "0.5");
    s.set("traffic.controller", "newreno").unwrap();
    assert_eq!(config(&s).kind().name, "newreno");
    assert_eq!(config(&s.with_controller("swift").unwrap()).kind().name, "swift");
}

#[test]
fn another_kind_drops_keys_it_does_not_have() {
    let mut s =
        changed("hotspot", &[("topology.kind", "leaf-spine"), ("topology.leaves", "2"), ("topology.spines", "2")]);
    assert_eq!(s.build().unwrap_err().to_string(), "topology.hosts_per_leaf: missing; expected a whole number >= 1");
    s.set("topology.hosts_per_leaf", "4").unwrap();
    s.set("queue.kind", "drop-tail").unwrap();
    assert_eq!(s.build().unwrap().hosts, 8);
}

#[test]
fn another_preset_drops_what_only_repeated_the_old_one() {
    let resolved = changed("hotspot", &[("transport.delayed_ack", "1")]).resolved_toml().unwrap();
    let mut s = Scenario::from_toml(&resolved, Path::new("."), "r").unwrap();
    s.set("transport.preset", "htsim").unwrap();
    let t = s.build().unwrap().transports[0].clone();
    assert_eq!((t.sizes.mss, t.connection.handshake, t.acks.delayed_ack), (4000, false, 1));
    s.set("transport.preset", "linux").unwrap();
    let t = s.build().unwrap().transports[0].clone();
    assert_eq!(
        (t.sizes.mss, t.connection.handshake, t.acks.delayed_ack),
        (1448, true, 1),
        "a value of one's own stays"
    );
}

/// The values that decide a comparison, by the public source they are taken from.
#[test]
fn presets() {
    let of = |preset: &str| changed("hotspot", &[("transport.preset", preset)]).build().unwrap().transports[0].clone();
    let ms = incast_cc::Time::ms;
    let (linux, ns3, htsim, swift) = (of("linux"), of("ns3"), of("htsim"), of("swift"));
    // Linux 6.1: 1514 B frames of 14 B Ethernet, quick ACKs, RTO of at least 200 ms.
    assert_eq!((linux.sizes.mss, linux.sizes.header, linux.sizes.ack_size, linux.sizes.syn_size), (1448, 52, 52, 60));
    assert_eq!((linux.acks.delayed_ack, linux.acks.delayed_ack_timeout, linux.acks.quickack), (2, ms(40), 16));
    assert_eq!((linux.rto.rto_min, linux.loss.ecn_by_prr, linux.marks.ecn_change_ack), (ms(200), true, true));
    // ... and as it comes: tcp_recovery = 1, tcp_early_retrans = 3, TCP_TIMEOUT_MIN of 2 ms.
    let default = of("linux-default");
    assert!(default.loss.tail_loss_probe && default.loss.reordering_timer && default.loss.adaptive_reordering);
    assert_eq!((default.loss.scoreboard, default.loss.timeout_min), (spec::Rules::Rack, ms(2)));
    assert_eq!(
        (default.rto.rto_min, default.acks.delayed_ack, default.sizes.mss),
        (linux.rto.rto_min, linux.acks.delayed_ack, linux.sizes.mss)
    );
    assert!(
        !linux.loss.tail_loss_probe && !linux.loss.reordering_timer && linux.loss.scoreboard == spec::Rules::Rfc6675
    );
    // ns-3.43: 128 KiB buffers, 1 s of minimum RTO, SYN after 3 s, 6 tries.
    assert_eq!((ns3.windows.send_buffer, ns3.windows.receive_buffer, ns3.rto.rto_min), (131_072, 131_072, ms(1000)));
    assert_eq!(
        (ns3.connection.syn_timeout, ns3.connection.syn_retries, ns3.connection.data_retries, ns3.acks.delayed_ack),
        (ms(3000), 6, 6, 2)
    );
    assert_eq!(
        (ns3.timing.timestamp_clock, ns3.sizes.mss + ns3.sizes.header),
        (incast_cc::Time::ZERO, ns3.sizes.mtu),
        "without its artefacts"
    );
    // htsim: 4000 B packets, 40 B ACKs, 15 packets, P + 1 packets.
    assert_eq!(
        (
            htsim.sizes.mss,
            htsim.sizes.header,
            htsim.sizes.ack_size,
            htsim.connection.handshake,
            htsim.output.extra_packets
        ),
        (4000, 0, 40, false, 1)
    );
    assert_eq!((htsim.windows.initial_window, htsim.acks.delayed_ack, htsim.loss.sack), (15.0, 1, false));
    // Swift: SACK, no delayed ACK.
    assert_eq!((swift.loss.sack, swift.acks.delayed_ack, swift.rto.rto_min), (true, 1, incast_cc::Time::us(100)));
    // those of transports that receivers drive have a table of their own, and priorities have none unless given
    let own = ["ndp", "eqds", "uet", "homa", "expresspass", "phost", "roce", "dcpim", "rdma", "demotion"];
    let keys = describe("transport", "linux").unwrap().keys;
    let shared = keys.iter().filter(|key| !own.contains(&key.name.as_str())).count();
    for p in Preset::ALL {
        let table = toml::Table::try_from(p.values()).unwrap();
        // Every key of the transport has a value in every preset.
        assert_eq!(table.keys().filter(|key| !own.contains(&key.as_str())).count(), shared + 1, "{p:?}");
    }
}

#[test]
fn warm_up_and_queue_interval() {
    let spec = changed("hotspot", &[("run.measure_until", "1.1s")]).build().unwrap();
    assert_eq!((spec.measure_from, spec.measure_to), (incast_cc::Time::ms(100), incast_cc::Time::ms(1100)));
    assert_eq!(spec.observe.queue_interval, incast_cc::Time::ms(1));
    assert_eq!(Scenario::load("permutation").unwrap().build().unwrap().observe.queue_interval, incast_cc::Time::us(10));
    assert_eq!(
        changed("hotspot", &[("measure.queue_interval", "5us")]).build().unwrap().observe.queue_interval,
        incast_cc::Time::us(5)
    );
}

#[test]
fn schema_is_json_and_closed() {
    let schema: serde_json::Value = serde_json::from_str(&Scenario::schema()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut undocumented = Vec::new();
    let mut stack = vec![("".to_owned(), &schema)];
    while let Some((at, s)) = stack.pop() {
        if let Some(properties) = s["properties"].as_object() {
            // a class of the user's own has the arguments that it has
            let own = s["title"] == "A controller of one's own";
            assert_eq!(s["additionalProperties"], own, "{at}");
            for (k, v) in properties {
                if v["const"].is_null() && v["description"].as_str().is_none_or(str::is_empty) {
                    undocumented.push(format!("{at}.{k}"));
                }
            }
        }
        match s {
            serde_json::Value::Object(map) => stack.extend(map.iter().map(|(k, v)| (format!("{at}.{k}"), v))),
            serde_json::Value::Array(list) => stack.extend(list.iter().map(|v| (at.clone(), v))),
            _ => {}
        }
    }
    assert!(undocumented.is_empty(), "{undocumented:?}");
}

#[test]
fn everything_listed_is_described() {
    for kind in KINDS {
        let items = list(kind).unwrap();
        assert!(items.len() >= 2, "{kind}");
        for item in items {
            assert!(!item.what.is_empty(), "{kind} {}", item.name);
            let d = describe(kind, &item.name).unwrap();
            let text = d.to_string();
            assert!(text.contains(&item.name) && !d.what.is_empty(), "{text}");
            for key in &d.keys {
                assert!(
                    text.contains(&key.name) && !key.doc.is_empty() && !key.expected.is_empty(),
                    "{kind} {} {}",
                    item.name,
                    key.name
                );
            }
        }
    }
    assert_eq!(list("controller").unwrap(), list("controllers").unwrap());
    let names = |kind| list(kind).unwrap().into_iter().map(|i| i.name).collect::<Vec<_>>();
    let kinds = KINDS.into_iter().chain(BESIDE).collect::<Vec<_>>().join(", ");
    let kinds = format!("expected one of {kinds}");
    assert_eq!(
        list("queeus").unwrap_err().to_string(),
        format!("queeus: no such kind of thing (did you mean \"queues\"?); {kinds}")
    );
    assert_eq!(
        describe("topology", "fattree").unwrap_err().to_string(),
        format!("fattree: no such topology (did you mean \"fat-tree\"?); there are {}", names("topologies").join(", "))
    );
    assert_eq!(
        describe("failures", "x").unwrap_err().to_string(),
        format!(
            "failures: no such kind of thing; failures is one of the tables: incast describe table failures; {kinds}"
        )
    );
    let schema: serde_json::Value = serde_json::from_str(&Scenario::schema()).unwrap();
    assert!(names("tables").iter().all(|table| schema["properties"][table].is_object()));
    let shown = describe("table", "failures").unwrap().to_string();
    assert!(shown.contains("detection") && shown.contains("a list of 2 texts in quotes"), "{shown}");
    // what is listed is what may be written
    let offered = |key: &str| Scenario::load("hotspot").unwrap().set(key, "x").unwrap_err().to_string();
    for (kind, key) in [("applications", "traffic.app.kind"), ("queues", "queue.kind"), ("routing", "routing.kind")] {
        let words = names(kind).iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        assert!(offered(key).contains(&words), "{}: {words}", offered(key));
    }
    let on_off = describe("application", "on-off").unwrap();
    assert!(on_off.keys.iter().any(|k| k.name == "off_first") && on_off.to_string().contains("rate  (required)"));
    let swift = describe("controller", "swift").unwrap();
    assert!(swift.source.contains("SIGCOMM") && !swift.differences.is_empty() && swift.keys.len() > 5);
}

#[test]
fn values_that_are_described_load_in_a_scenario() {
    let mut values = 0;
    for (kind, table, word) in [
        ("topologies", "topology", "kind"),
        ("queues", "queue", "kind"),
        ("routing", "routing", "kind"),
        ("applications", "traffic.app", "kind"),
        ("programs", "program.0", "kind"),
        ("transports", "transport", "preset"),
        ("controllers", "controller", "kind"),
    ] {
        for item in list(kind).unwrap() {
            let start = if kind == "programs" { "sccp-incast" } else { "hotspot" };
            let mut scenario = changed(start, &[(&format!("{table}.{word}"), &item.name)]);
            for key in describe(kind, &item.name).unwrap().keys {
                let Some(value) = key.default else { continue };
                if let Err(error) = scenario.set(&format!("{table}.{}", key.name), &value) {
                    panic!("{kind} {}: {} = {value}: {error}", item.name, key.name);
                }
                values += 1;
            }
        }
    }
    assert!(values > 500, "{values}");
}

#[test]
fn a_transport_that_is_described_is_a_table_of_a_scenario() {
    let own = "preset = \"linux\"\nrto_min = \"10ms\"\n";
    for preset in Preset::ALL {
        let shown = describe("transport", preset.name()).unwrap().to_string();
        let (_, keys) = shown.split_once("\nKeys\n").unwrap();
        let (keys, _) = keys.split_once("\nKeys of ").unwrap();
        let values = keys.lines().filter(|line| !line.starts_with("   ") && line.contains(" = "));
        let values: Vec<&str> = values.map(str::trim).collect();
        assert!(values.len() > 80, "{values:?}");
        let table = format!("preset = \"{}\"\n{}\n", preset.name(), values.join("\n"));
        let text = builtin::text("incast").unwrap();
        assert!(text.contains(own), "{text}");
        let scenario = Scenario::from_toml(&text.replace(own, &table), Path::new("."), "told");
        let given = scenario.unwrap_or_else(|e| panic!("{}: {e}", preset.name())).document().unwrap().transport.clone();
        assert_eq!(given.over(&given), given, "it has every value");
        assert_eq!(given.spec(&incast_cc::Profile::TCP), preset.values().spec(&incast_cc::Profile::TCP), "{preset:?}");
    }
}

#[test]
fn a_delayed_ack_given_is_taken_as_it_is() {
    let acks = |sets: &[(&str, &str)]| changed("hotspot", sets).build().unwrap().transports[0].acks.delayed_ack;
    assert_eq!(acks(&[("controller", "swift")]), 1, "auto follows the controller");
    assert_eq!(acks(&[("controller", "swift"), ("transport.delayed_ack", "2")]), 2, "as docs/transport.md says");
}

#[test]
fn another_controller_or_form_brings_its_own_values() {
    let config = |s: &Scenario| s.build().unwrap().controllers[0].to_string();
    // a controller given as one text has only what it says
    assert_eq!(
        config(&changed("hotspot", &[("controller", "dctcp"), ("controller.form", "linux")])),
        "dctcp:form=linux"
    );
    let htsim = ("controller", "swift:form=htsim,max_cwnd=50");
    let other = [htsim, ("controller.form", "yasomam")];
    assert_eq!(config(&changed("hotspot", &other)), "swift:form=yasomam,max_cwnd=50.0");
    assert_eq!(config(&changed("hotspot", &[htsim, ("controller.kind", "dctcp")])), "dctcp");
    assert_eq!(config(&changed("htsim-permutation", &[("controller.kind", "newreno")])), "newreno");
    // what a resolved scenario writes out of a form goes with it
    let resolved = changed("hotspot", &[("controller", "dctcp:form=linux,g=0.5")]).resolved_toml().unwrap();
    let mut s = Scenario::from_toml(&resolved, Path::new("."), "r").unwrap();
    s.set("controller.form", "ns3").unwrap();
    assert_eq!(config(&s), "dctcp:form=ns3,g=0.5");
    s.set("controller.kind", "swift").unwrap();
    assert_eq!(config(&s), "swift");
}

#[test]
fn keys_of_links_and_of_pacing_are_described() {
    let tree = describe("topology", "fat-tree").unwrap().to_string();
    assert!(
        tree.contains("\nKeys of link, host_link, edge_link, core_link\n  rate  (required)\n      Rate; "),
        "{tree}"
    );
    assert_eq!(tree.matches("Numbers of packets that are lost").count(), 1, "once for all of them");
    let linux = describe("transport", "linux").unwrap().to_string();
    assert!(
        linux.contains(
            "\nKeys of pacing\n  slow_start  (required)\n      Windows per round trip in slow start \
                            (Linux and ns-3: 2).\n"
        ),
        "{linux}"
    );
    let word = "\n        \"prr\": RFC 6937, proportional rate reduction.\n";
    assert!(linux.contains(word), "words with their meanings: {linux}");
    assert!(linux.contains("  max = \"inf\"\n      Highest rate."), "{linux}");
}

#[test]
fn hosts_cost_what_a_scenario_says() {
    let mut scenario = Scenario::load("two-senders").unwrap();
    assert!(scenario.build().unwrap().host_costs.is_empty());
    scenario.set("hosts.receive", r#"{ engines = 3, packet_time = "300ns", rate = "40Gbps", queue = "64p" }"#).unwrap();
    scenario.set("hosts.send.ack_time", "50ns").unwrap();
    let spec = scenario.build().unwrap();
    assert_eq!(spec.host_costs.len(), spec.hosts as usize);
    let (receive, send) = (spec.host_costs[0].receive.clone().unwrap(), spec.host_costs[0].send.clone().unwrap());
    assert_eq!((receive.engines, receive.limit, receive.rate), (3, 64, Rate::gbps(40)));
    assert_eq!((receive.packet_time, receive.ack_time), (Time::ns(300), Time::ns(300)), "auto");
    assert_eq!((send.engines, send.limit, send.packet_time, send.ack_time), (1, 0, Time::ZERO, Time::ns(50)));
    scenario.set("hosts.only", r#"["source1"]"#).unwrap();
    let spec = scenario.build().unwrap();
    let costly: Vec<bool> = spec.host_costs.iter().map(|h| h.receive.is_some()).collect();
    assert_eq!(costly.iter().position(|c| *c), spec.node_names.iter().position(|n| n == "source1"));
    assert_eq!(costly.iter().filter(|c| **c).count(), 1);
    let shown = |key: &str, value: &str| {
        let mut wrong = scenario.clone();
        wrong.set(key, value).and_then(|_| wrong.build().map(drop)).unwrap_err().to_string()
    };
    assert_eq!(
        shown("hosts.receive.queue", "64kB"),
        r#"hosts.receive.queue = "64kB": expected a number of packets from 1 up, such as "64p", or "none""#
    );
    assert!(shown("hosts.receive.engines", "65").contains("64"), "{}", shown("hosts.receive.engines", "65"));
    assert!(shown("hosts.only", r#"["h9"]"#).contains("no such host"));
    let mut empty = Scenario::load("two-senders").unwrap();
    let error = empty.set("hosts", "{}").and_then(|_| empty.build().map(drop)).unwrap_err().to_string();
    assert!(error.starts_with("hosts: expected hosts.receive or hosts.send"), "{error}");
}

/// A stop is moved with its start; the entry's holds where it is earlier, or alone.
#[test]
fn flows_of_a_file_have_stops_of_their_own() {
    let dir = std::env::temp_dir().join(format!("incast-stops-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join("f.csv"),
        "start,stop,source,destination\n0s,1ms,h0,h1\n2ms,4ms,h2,h3\n2ms,9ms,h4,h5\n0s,,h6,h7\n",
    )
    .unwrap();
    let build = |keys: &str| {
        let text = format!(
            "controller = \"newreno\"\n[run]\nduration = \"10ms\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
             link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[queue]\nkind = \"drop-tail\"\nlimit = \"100p\"\n\
             [[traffic]]\npattern = \"file\"\nfile = \"f.csv\"\n{keys}\n"
        );
        Scenario::from_toml(&text, &dir, "f").unwrap().build().map_err(|e| e.to_string())
    };
    let spec = build("start = \"500us\"\nstop = \"8ms\"").unwrap();
    let stops: Vec<String> = spec.flows.iter().map(|f| f.stop.to_string()).collect();
    assert_eq!(stops, ["1.5ms", "4.5ms", "8ms", "8ms"]);
    let o = incast_engine::run(&build("at_stop = \"reset\"").unwrap(), &mut |_| true).unwrap();
    // more than half of what 1 Gb/s carries from start to stop; at most all of it, and a full queue
    for (flow, ms) in [(0, 1), (1, 2), (2, 7)] {
        let most = ms * 125_000;
        assert!((most / 2..=most + 150_000).contains(&o.flows[flow].delivered), "{flow}: {}", o.flows[flow].delivered);
    }
    let said = build("app = { kind = \"query\", response = \"1kB\" }").unwrap_err();
    assert!(said.starts_with("f.csv, line 2, column stop = 1ms: a two-way connection stops with its entry"), "{said}");
    std::fs::remove_dir_all(&dir).unwrap();
}
