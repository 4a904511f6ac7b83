//! Warnings about valid scenarios.

use super::*;

/// Queues whose limits drop packets despite flow control; a limit of the buffer's size drops nothing at a switch.
#[test]
fn limits_beside_priority_flow_control_are_noted() {
    let notes = |switch: &str, host: &str, pfc: &str| {
        let host = format!("[queue.host]\nkind = \"drop-tail\"\nlimit = \"{host}\"");
        let text = format!("{host}\n[buffer]\nsize = \"4MB\"\n{pfc}\n[routing]");
        let toml = GOOD.replace("limit = \"100p\"", &format!("limit = \"{switch}\"")).replace("[routing]", &text);
        Scenario::from_toml(&toml, Path::new("."), "test").unwrap().notes().unwrap()
    };
    assert_eq!(notes("none", "none", "pfc = {}"), [""; 0]);
    assert_eq!(notes("4MB", "none", "pfc = {}"), [""; 0]);
    assert_eq!(notes("100p", "100p", ""), [""; 0]);
    let limited = |ports: u32, first: &str| {
        format!(
            "{ports} ports, the first of them {first}, have queues with a limit: packets beyond it are dropped, \
             although buffer.pfc pauses their class; limit = \"none\" avoids this (docs/queues/pfc.md)"
        )
    };
    assert_eq!(notes("none", "4MB", "pfc = {}"), [limited(16, "h0>edge0")]);
    assert_eq!(notes("3MB", "none", "pfc = {}"), [limited(80, "agg0>core0")]);
    assert_eq!(notes("100p", "9p", "pfc = {}"), [limited(96, "agg0>core0")]);
}

/// A link of 400 Gb/s and 2 us each way: 200,000 B over both delays; a packet of 1500 B is 1538 B on the wire.
#[test]
fn a_headroom_below_what_links_need_and_a_threshold_that_leaves_ports_idle_are_noted() {
    let notes = |key: &str, value: &str| {
        let mut s = Scenario::load("pfc-incast").unwrap();
        s.set("buffer.size", "8MB").unwrap();
        s.set(key, value).unwrap();
        s.notes().unwrap()
    };
    for good in ["link", "300kB", "204565B"] {
        assert_eq!(notes("buffer.pfc.headroom", good), [""; 0], "{good}");
    }
    let one = "buffer.pfc.headroom = \"204.564kB\" is less than 2 links, the first of them right>left, need: it holds \
               204,564 B of the 204,565 B that right>left may still bring after the decision to pause it, 200,000 B \
               over both delays (4us) and 4,565 B for the pause frame, the packet it waits for and two packets of the \
               link; packets beyond the headroom are dropped (docs/queues/pfc.md)";
    assert_eq!(notes("buffer.pfc.headroom", "204564B"), [one]);
    assert!(notes("buffer.pfc.headroom", "20kB")[0].contains("is less than 13 links, the first of them right>left"));
    // hosts take 100 Gb/s from it: 50,000 B in 4 us, of which reserve and offset leave 48,976 B
    assert_eq!(notes("buffer.pfc.threshold", "48976B"), [""; 0]);
    let idle = "buffer.pfc.threshold = 48,975 B lets right>left go on when the switch has at most 49,999 B of it, and \
                packets come again 4us later, in which a port sends 50,000 B: the port may idle after every pause \
                (docs/queues/pfc.md)";
    assert_eq!(notes("buffer.pfc.threshold", "48975B"), [idle]);
}

/// RDMA on `pfc-incast`: links of 100 Gb/s.
fn rdma(changes: &[(&str, &str)]) -> Scenario {
    let mut s = Scenario::load("pfc-incast").unwrap();
    for (key, value) in [("transport.preset", "rdma"), ("traffic.victim.app", "{ kind = \"bulk\" }")] {
        s.set(key, value).unwrap();
    }
    changes.iter().for_each(|(key, value)| s.set(key, value).unwrap());
    s
}

/// A buffer of 100 kB to share is little for 400 Gb/s and 4 us, one of 8 MB is not, whatever stands on top.
#[test]
fn thresholds_count_the_whole_buffer_where_headrooms_are_on_top() {
    let notes = |size: &str| {
        let on_top = ("buffer.pfc.on_top", "true");
        rdma(&[on_top, ("buffer.size", size), ("buffer.pfc.headroom", "9MB")]).notes().unwrap()
    };
    assert_eq!(notes("8MB"), [""; 0]);
    assert!(notes("100kB")[0].starts_with("buffer.pfc.alpha lets "), "{:?}", notes("100kB"));
}

#[test]
fn an_egress_pool_without_pauses_is_noted() {
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("buffer", "{ size = \"4MB\", egress = \"2MB\" }").unwrap();
    let note = "buffer.egress = \"2MB\" does nothing: without buffer.pfc no class is lossless (docs/queues/pfc.md)";
    assert_eq!(s.notes().unwrap(), [note]);
}

/// T of 8 us at 100 Gb/s: 100 packets of 1000 bytes.
#[test]
fn receivers_that_acknowledge_after_more_than_a_window_are_noted() {
    let notes = |every: &str, timeout: &str| {
        let base = [("transport.rdma.window", "rate"), ("transport.rdma.base_rtt", "8us"), ("buffer.size", "8MB")];
        let own = [("transport.rdma.ack_every", every), ("transport.rdma.timeout", timeout)];
        rdma(&[base.as_slice(), own.as_slice()].concat()).notes().unwrap()
    };
    assert_eq!(notes("100", "4ms"), [""; 0]);
    let all = "transport.rdma.ack_every = 101 is more than the window of flow 0, about 100 packets: the sender waits \
               for an ACK until transport.rdma.timeout = 4ms has passed";
    assert_eq!(notes("101", "4ms"), [all]);
    assert!(notes("101", "0s")[0].ends_with(" for ever, with transport.rdma.timeout = 0s"));
    let ack_every = ("transport.rdma.ack_every", "101");
    assert_eq!(rdma(&[ack_every, ("buffer.size", "8MB")]).notes().unwrap(), [""; 0], "DCQCN has windows of its own");
}

#[test]
fn telemetry_over_several_paths_and_rdma_in_a_radio_cell_are_noted() {
    let sprayed = |controller: &str, routing: &str| {
        let mut s = Scenario::load("permutation").unwrap();
        [("controller", controller), ("routing.kind", routing)].iter().for_each(|(key, to)| s.set(key, to).unwrap());
        s.notes().unwrap().into_iter().filter(|note| note.contains("hop by hop")).count()
    };
    assert_eq!([sprayed("hpcc", "spray"), sprayed("hpcc", "ecmp"), sprayed("swift", "spray")], [1, 0, 0]);
    let cell = |preset: &str| {
        let mut s = Scenario::load("wireless-cell").unwrap();
        let own = [("transport.preset", preset), ("transport.mss", "1000"), ("controller", "dcqcn")];
        own.iter().for_each(|(key, to)| s.set(key, to).unwrap());
        s.notes().unwrap().into_iter().filter(|note| note.contains("RDMA in a radio cell")).count()
    };
    assert_eq!([cell("rdma"), cell("linux")], [1, 0]);
}

#[test]
fn a_form_beside_the_transport_of_another_reference_is_noted() {
    let notes = |changes: &[(&str, &str)]| {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        for (key, value) in changes {
            s.set(key, value).unwrap();
        }
        s.notes().unwrap()
    };
    assert_eq!(
        notes(&[("controller", "swift:form=yasomam")]),
        ["controller.form = \"yasomam\" belongs beside transport.preset = \"ns3\", here it is \"linux\": the result \
          matches neither reference (docs/forms.md)"]
    );
    assert_eq!(
        notes(&[("traffic.controller", "dctcp:form=linux"), ("traffic.transport.preset", "htsim")]),
        ["traffic.load.controller.form = \"linux\" belongs beside traffic.load.transport.preset = \"linux\", here it \
          is \"htsim\": the result matches neither reference (docs/forms.md)"]
    );
    for (controller, preset) in [
        ("swift:form=yasomam", "ns3"),
        ("swift:form=cse322", "ns3"),
        ("swift:form=cse322-text", "ns3"),
        ("westwood:form=ns3-35", "ns3"),
        ("dctcp:form=htsim", "htsim"),
        ("newreno:form=linux", "linux"),
        ("swift", "ns3"),
    ] {
        assert_eq!(notes(&[("transport.preset", preset), ("controller", controller)]), [""; 0], "{controller}");
    }
}

#[test]
fn timeouts_that_empty_no_window_are_noted() {
    let notes = |controller: &str| {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        s.set("transport.emptying_timeout", "4").unwrap();
        s.set("controller", controller).unwrap();
        s.notes().unwrap()
    };
    for obeys in ["newreno", "cubic", "gcn", "vegas", "dx", "westwood-plus", "d2tcp", "swift:form=cse322"] {
        assert!(notes(obeys).iter().all(|note| !note.contains("emptying_timeout")), "{obeys}");
    }
    let said = "traffic.load: transport.emptying_timeout = 4 does nothing: swift reacts to timeouts in its own way";
    assert_eq!(notes("swift"), [said]);
}

#[test]
fn writes_that_are_meant_to_be_refused_and_fit_are_noted() {
    let notes = |transport: &str, app: &str| {
        let bulk = "kind = \"bulk\", size = \"1MB\"";
        let transport = format!("preset = \"linux\"\n{transport}");
        let app = format!("kind = \"bulk\", refused = true{app}");
        let toml = GOOD.replacen("preset = \"linux\"", &transport, 1).replacen(bulk, &app, 1);
        Scenario::from_toml(&toml, Path::new("."), "test").unwrap().notes().unwrap()
    };
    let does_nothing = "traffic.load.app.refused = true does nothing: ";
    let parts = [format!("{does_nothing}without transport.whole_writes writes go in parts")];
    assert_eq!(notes("send_buffer = \"20kB\"", ""), parts);
    let small = "whole_writes = true\nsend_buffer = \"20kB\"";
    assert_eq!(notes(small, ""), [""; 0], "64 kB are refused");
    let takes = [format!("{does_nothing}transport.send_buffer, 20kB, takes writes of 10kB")];
    assert_eq!(notes(small, ", write = \"10kB\""), takes);
}

#[test]
fn a_form_that_goes_with_its_controller_is_noted() {
    let htsim = ("controller", "swift:form=htsim,max_cwnd=50,target=min-rtt");
    let preset = ("transport.preset", "htsim");
    assert_eq!(
        notes(&[htsim, preset, ("controller.kind", "dctcp")]),
        ["controller.kind = \"dctcp\" drops the parameters set for swift: form = \"htsim\"; to keep them for dctcp \
             set controller.form too"]
    );
    assert_eq!(notes(&[htsim, preset, ("controller.kind", "dctcp"), ("controller.form", "htsim")]), [""; 0]);
    assert_eq!(notes(&[htsim, preset, ("controller.kind", "dctcp"), ("controller", "newreno")]), [""; 0]);
    assert_eq!(notes(&[htsim, preset, ("controller.kind", "swift")]), [""; 0], "it is swift already");
    assert_eq!(notes(&[("controller", "swift:max_cwnd=50"), ("controller.kind", "dctcp")]), [""; 0], "dctcp has none");
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.controller", "dctcp:form=linux").unwrap();
    s.set("traffic.controller.kind", "swift").unwrap();
    assert_eq!(
        s.set("traffic.controller.form", "linux").unwrap_err().to_string(),
        "traffic.controller.form = \"linux\": expected one of: \"standard\" \"yasomam\" \"cse322\" \"cse322-text\" \
         \"htsim\""
    );
    assert!(
        s.notes().unwrap()[0].starts_with("traffic.controller.kind = \"swift\" drops the parameters set for dctcp")
    );
}

#[test]
fn values_without_effect_are_noted() {
    let without = ("transport.sack", "false");
    assert_eq!(notes(&[without]), [""; 0], "what the preset alone says is not");
    assert_eq!(
        notes(&[
            without,
            ("transport.dsack", "true"),
            ("transport.sack_compression", "true"),
            ("transport.sack_block", "8"),
            ("traffic.transport.segment_rtt", "true"),
            ("traffic.transport.timestamps", "false"),
        ]),
        [
            "transport.dsack = true does nothing with sack = false",
            "transport.sack_compression = true does nothing with sack = false",
            "transport.sack_block = 8 does nothing with sack = false",
            "traffic.load.transport.segment_rtt = true does nothing with timestamps = false",
        ]
    );
    let asked = [("transport.dsack", "true"), ("transport.segment_rtt", "true"), ("transport.fin_with_data", "true")];
    assert_eq!(notes(&asked), [""; 0]);
    assert_eq!(
        notes(&[asked[1], asked[2], ("transport.scoreboard", "ns3"), ("transport.handshake", "false")]),
        [
            "transport.fin_with_data = true does nothing with handshake = false",
            "transport.segment_rtt = true does nothing with scoreboard = \"ns3\"",
        ]
    );
    let probes = ("transport.tail_loss_probe", "true");
    let rack = [("transport.reordering_timer", "true"), ("transport.adaptive_reordering", "true")];
    assert_eq!(
        notes(&[without, probes, rack[0], rack[1]]),
        [
            "transport.tail_loss_probe = true does nothing with sack = false",
            "transport.reordering_timer = true does nothing unless scoreboard = \"rack\"",
            "transport.adaptive_reordering = true does nothing unless scoreboard = \"rack\"",
        ]
    );
    assert_eq!(notes(&[rack[0], rack[1], probes, ("transport.scoreboard", "rack")]), [""; 0]);
    assert_eq!(
        notes(&[probes, ("transport.scoreboard", "ns3")]),
        ["transport.tail_loss_probe = true does nothing with scoreboard = \"ns3\""]
    );
    let fallback = [("transport.ecn_fallback", "true"), ("transport.duplicate_rtt", "true")];
    assert_eq!(notes(&fallback), [""; 0]);
    assert_eq!(notes(&[("transport.handshake", "false"), ("transport.timestamps", "false")]), [""; 0], "the preset's");
    assert_eq!(
        notes(&[fallback[0], fallback[1], ("transport.handshake", "false"), ("transport.timestamps", "false")]),
        [
            "transport.duplicate_rtt = true does nothing with timestamps = false",
            "transport.ecn_fallback = true does nothing with handshake = false",
        ]
    );
}

#[test]
fn values_of_emulation_and_routing_without_effect_are_noted() {
    let without = ("transport.sack", "false");
    let inflation = ("transport.inflation_survives_timeout", "true");
    let go_back_n = [("transport.go_back_n_point", "true"), ("transport.go_back_n_new_path", "true")];
    let by_counter = [("routing.kind", "spray"), ("routing.by", "counter")];
    let htsim = ("transport.recovery", "htsim");
    assert_eq!(notes(&[inflation, go_back_n[0], go_back_n[1], without, htsim, by_counter[0], by_counter[1]]), [""; 0]);
    assert_eq!(
        notes(&[inflation, go_back_n[0], go_back_n[1], without, by_counter[0]]),
        [
            "transport.inflation_survives_timeout = true does nothing unless recovery = \"htsim\"",
            "transport.go_back_n_point = true does nothing unless recovery = \"htsim\"",
            "transport.go_back_n_new_path = true does nothing unless routing.by = \"counter\"",
        ]
    );
    assert_eq!(
        notes(&[inflation, go_back_n[0], htsim]),
        [
            "transport.inflation_survives_timeout = true does nothing with sack = true",
            "transport.go_back_n_point = true does nothing with sack = true",
        ]
    );
    let default = ("transport.preset", "linux-default");
    assert_eq!(notes(&[default, ("controller.form", "linux")]), [""; 0], "the same reference");
    let robin = |at: &str, rounds: u32| {
        let routing = format!("{{ kind = \"round-robin\", at = \"{at}\", rounds = {rounds} }}");
        notes(&[("routing", &routing)])
    };
    assert_eq!(robin("source", 7), ["routing.rounds = 7 does nothing with at = \"source\""]);
    assert_eq!((robin("source", 5), robin("switch", 7)), (vec![], vec![]));
    let used = ("routing", "{ kind = \"adaptive\", by = \"utilisation\" }");
    let endless = |link: &str| notes(&[used, (link, "{ rate = \"inf\" }")]);
    assert_eq!((endless("topology.host_link"), endless("topology.core_link")), (vec![], vec![]));
    assert_eq!(
        notes(&[used, ("topology.link.rate", "inf"), ("topology.host_link", "{ rate = \"1Gbps\" }")]),
        ["routing.by = \"utilisation\" compares nothing: no link between switches has a finite rate"]
    );
    assert_eq!(
        notes(&[("links", "[{ link = \"agg0>core0\", delay = \"1us\" }, { link = \"agg0>core1\" }]")]),
        ["links.1 changes nothing: it names agg0>core1 alone"]
    );
}

#[test]
fn failures_that_change_nothing_are_noted() {
    let failures = |list: &str| notes(&[("failures", &format!("[{list}]"))]);
    // the links of GOOD
    let same = r#"{ kind = "degraded", link = "agg0>core0", at = "1ms", rate = "1Gbps", delay = "10us", loss = 0 }"#;
    assert_eq!(
        failures(same),
        ["failures.0 (rate = \"1Gbps\", delay = \"10us\", loss = 0) changes nothing: agg0>core0 is the same without \
             it"]
    );
    for other in [("1Gbps", "999Mbps"), ("10us", "11us"), ("loss = 0", "loss = 0.1")] {
        assert_eq!(failures(&same.replace(other.0, other.1)), [""; 0], "{other:?}");
    }
    let tier = r#"{ kind = "degraded", between = ["core", "agg"], share = 0.5, at = "1ms", rate = "1Gbps" }"#;
    let other = same.replace("loss = 0", "loss = 0.1").replace("agg0>core0", "edge0>agg0");
    let found = failures(&format!("{other}, {tier}"));
    assert!(
        found.len() == 1 && found[0].starts_with("failures.1 (rate = \"1Gbps\") changes nothing: agg"),
        "{found:?}"
    );
    assert!(found[0].ends_with(" and the 7 others are the same without it"), "{found:?}");
    let one_is_slower = ("links", r#"[{ link = "agg0>core0", rate = "500Mbps" }]"#);
    let all = tier.replace("0.5", "1");
    assert_eq!(notes(&[one_is_slower, ("failures", &format!("[{all}]"))]), [""; 0]);
    // a link has two names
    let back = same.replace("agg0>core0", "core0>agg0");
    assert_eq!(failures(&back), [failures(same)[0].replace("agg0>core0", "core0>agg0")]);
}

/// Entries that do the same at the same time to other links of the same kind are distinguished.
#[test]
fn a_note_on_a_failure_is_about_its_own_links() {
    let some = r#"{ kind = "degraded", between = ["core", "agg"], share = 0.125, at = "1ms", rate = "1Gbps" }"#;
    let link = |of: &str| some.replace(r#"between = ["core", "agg"], share = 0.125"#, &format!("link = \"{of}\""));
    let found = |of: &str, links: &str| notes(&[("links", links), ("failures", &format!("[{some}, {}]", link(of)))]);
    let failing = |failures: &str| {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        s.set("failures", failures).unwrap();
        let spec = s.build().unwrap();
        spec.failures.iter().step_by(2).map(|f| spec.links[f.link as usize].name.clone()).collect::<Vec<_>>()
    };
    let own = failing(&format!("[{some}]"));
    assert_eq!(own.len(), 2, "an eighth of 16");
    let other = ["agg0>core0", "agg0>core1", "agg1>core2"].into_iter().find(|l| !own.iter().any(|o| o == l)).unwrap();
    let first =
        format!("failures.0 (rate = \"1Gbps\") changes nothing: {} and the other one are the same without it", own[0]);
    let second = format!("failures.1 (rate = \"1Gbps\") changes nothing: {other} is the same without it");
    assert_eq!(found(other, "[]"), [first.clone(), second.clone()]);
    let slower = |link: &str| format!("[{{ link = \"{link}\", rate = \"500Mbps\" }}]");
    assert_eq!(found(other, &slower(other)), [first]);
    assert_eq!(found(other, &slower(&own[1])), [second]);
}

#[test]
fn what_a_buffer_has_for_queues_is_noted_where_links_have_accounts() {
    let found = |buffer: &str, queue: &str| notes(&[("buffer", buffer), ("queue", queue)]);
    let one = r#"{ kind = "drop-tail", limit = "none" }"#;
    assert_eq!(found(r#"{ size = "4MB", alpha = 0.5, reserve = "2kB" }"#, one), [""; 0]);
    assert_eq!(found(r#"{ size = "4MB", pfc = {} }"#, one), [""; 0]);
    assert_eq!(
        found(r#"{ size = "4MB", alpha = 0.5, reserve = "2kB", pfc = {} }"#, one),
        [
            "buffer.alpha = 0.5 does nothing beside buffer.pfc, which limits every class per link by buffer.pfc.alpha",
            "buffer.reserve = \"2kB\" does nothing beside buffer.pfc, which limits every class per link by \
             buffer.pfc.reserve",
        ]
    );
    let queue = r#"{ kind = "drop-tail", limit = "none" }"#;
    let two = format!(r#"{{ kind = "strict-priority", classes = [{queue}, {queue}] }}"#);
    assert_eq!(found(r#"{ size = "4MB", alpha = 0.5, pfc = { classes = [1] } }"#, &two), [""; 0]);
    assert_eq!(found(r#"{ size = "4MB", alpha = 0.5, pfc = { classes = [0, 1] } }"#, &two).len(), 1);
}

#[test]
fn flows_that_never_start_are_noted() {
    let short = ("run.duration", "1ms");
    let warm = ("run.warmup", "0s");
    assert_eq!(notes(&[warm, short]), [""; 0]);
    assert_eq!(
        notes(&[warm, short, ("traffic.stagger", "200us")]),
        ["traffic.load: 5 of its 10 flows never start: the first of those would open at 1ms, and the run ends at \
          run.duration, 1ms"]
    );
    assert_eq!(
        notes(&[warm, short, ("traffic.start", "2s")]),
        ["traffic.load: none of its 10 flows starts: the first would open at 2s, and the run ends at run.duration, \
          1ms"]
    );
    assert_eq!(
        notes(&[warm, short, ("traffic.start", "2s"), ("traffic.flows", "1")]),
        ["traffic.load: its flow never starts: it would open at 2s, and the run ends at run.duration, 1ms"]
    );
    let query = ("traffic.app", "{ kind = \"query\", total = \"1MB\" }");
    assert_eq!(
        notes(&[warm, short, query, ("traffic.stagger", "200us")]),
        ["traffic.load: 5 of its 10 connections never start: the first of those would open at 1ms, and the run ends \
          at run.duration, 1ms"]
    );
}

#[test]
fn forms_of_a_flow_file_are_noted() {
    let dir = folder("forms");
    let csv = "start,source,destination,size,controller\n0s,h0,h1,1MB,dctcp:form=linux\n0s,h0,h1,1MB,\n\
               0s,h1,h2,1MB,swift:form=htsim\n0s,h2,h3,1MB,swift:form=htsim\n";
    std::fs::write(dir.join("flows.csv"), csv).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let mut s = Scenario::from_toml(&text, &dir, "test").unwrap();
    let foreign = "flows.csv, column controller: form = \"htsim\" belongs beside transport.preset = \"htsim\", here it \
                   is \"linux\": the result matches neither reference (docs/forms.md)";
    assert_eq!(s.notes().unwrap(), [foreign]);
    // the lines without a controller have the scenario's
    s.set("controller", "dctcp:form=ns3").unwrap();
    let own = "controller.form = \"ns3\" belongs beside transport.preset = \"ns3\", here it is \"linux\": the result \
               matches neither reference (docs/forms.md)";
    assert_eq!(s.notes().unwrap(), [own, foreign]);
    // the first line alone is at home, and nobody has the scenario's
    s.set("traffic.flows", "1").unwrap();
    assert_eq!(s.notes().unwrap(), [""; 0]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_host_that_loses_its_own_window_is_noted() {
    let notes = |queue: &str| {
        let hosts = format!("[hosts]\nsend = {{ packet_time = \"300ns\", queue = \"{queue}\" }}\n[[traffic]]");
        Scenario::from_toml(&GOOD.replace("[[traffic]]", &hosts), Path::new("."), "test").unwrap().notes().unwrap()
    };
    let short = "hosts.send.queue = \"1p\" holds less than an initial window, 10 packets: packets sent at once beyond \
                 it are lost at their own host";
    assert_eq!(notes("1p"), [short]);
    assert_eq!((notes("10p"), notes("none")), (vec![], vec![]));
}

/// Two controllers compared under such a transport would give equal results.
#[test]
fn a_controller_beside_a_transport_that_sets_the_pace_is_noted() {
    let noted = |preset: &str| {
        let found = notes(&[("transport.preset", preset), ("controller", "dctcp")]);
        found.into_iter().filter(|note| note.contains("has no effect: ")).collect::<Vec<_>>()
    };
    assert_eq!(noted("linux"), [""; 0]);
    assert_eq!(
        noted("homa"),
        ["traffic.load: its controller, dctcp, has no effect: homa controls the rate of its flows \
          (docs/receiver-driven.md)"]
    );
    let datagrams = "\n[[traffic]]\nname = \"datagrams\"\npattern = \"hotspot\"\nflows = 1\n\
                     app = { kind = \"udp\", rate = \"1Mbps\" }\n";
    let text = GOOD.replace("preset = \"linux\"", "preset = \"homa\"") + datagrams;
    let found = Scenario::from_toml(&text, Path::new("."), "test").unwrap().notes().unwrap();
    let whose: Vec<&String> = found.iter().filter(|note| note.contains("has no effect: ")).collect();
    assert!(whose.len() == 1 && whose[0].starts_with("traffic.load"), "datagrams have no controller: {found:?}");
}

#[test]
fn a_controller_that_goes_by_deadlines_without_any_and_deadlines_that_nothing_meets_are_noted() {
    let said = "traffic.load: d2tcp uses deadlines, and its flows have none: traffic.load.deadline gives them one \
                (docs/controllers/d2tcp.md)";
    assert_eq!(notes(&[("controller", "d2tcp")]), [said]);
    let d3 = notes(&[("controller", "d3"), ("program", "[{ kind = \"d3\" }]")]);
    assert!(d3[0].ends_with("(docs/controllers/d3.md)"), "{d3:?}");
    assert_eq!(notes(&[("controller", "d2tcp"), ("traffic.deadline", "100ms")]), [""; 0]);
    assert_eq!(notes(&[("traffic.deadline", "100ms")]), [""; 0]);
    // 1 MB at 1 Gb/s take 8 ms
    let said = "traffic.load: the deadlines of 10 of its 10 flows are shorter than the transmission time of their \
                bytes on their host's link: they cannot be met";
    assert_eq!(notes(&[("traffic.deadline", "7999us")]), [said]);
    assert_eq!(notes(&[("traffic.deadline", "8ms")]), [""; 0]);
    assert_eq!(notes(&[("traffic.deadline", "7ms"), ("traffic.deadline_draw", "exponential")]), [""; 0]);
}
