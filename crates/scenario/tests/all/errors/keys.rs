//! Errors in keys, words, quantities and controllers.

use super::*;
use incast_scenario::list;

#[test]
fn the_good_one_is_good() {
    check(GOOD).unwrap();
}

#[test]
fn a_line_that_nobody_could_read_is_not_shown() {
    let shown =
        |text: &str| Scenario::from_toml(text, Path::new("."), "test").map(drop).expect_err("no TOML").to_string();
    assert!(shown("a = \"b").contains("1 | a = \"b"));
    let endless = shown(&"\0".repeat(1_000_000));
    assert!(endless.starts_with("test: ") && endless.len() < 200, "{} bytes", endless.len());
}

#[test]
fn transports_that_receivers_drive_open_no_connection() {
    let to = |keys: &str| message("preset = \"linux\"", keys);
    for (preset, name) in [("ndp", "ndp"), ("homa", "homa")] {
        for key in ["handshake", "lone_syn"] {
            let shown = to(&format!("preset = \"{preset}\"\n{key} = true"));
            let expected = format!("transport.{key} = true: expected false: {name} opens no connection");
            assert!(shown.lines().any(|line| line == expected), "{shown}");
        }
    }
}

#[test]
fn no_message_is_shorter_than_a_byte() {
    let shown = message("preset = \"linux\"", "preset = \"homa\"\nhoma = { cutoffs = [\"0B\", \"1kB\"] }");
    assert!(shown.contains("transport.homa.cutoffs = [\"0B\", \"1kB\"]: expected sizes of at least 1B"), "{shown}");
}

#[test]
fn priorities_by_bytes_sent_have_sizes_that_rise_and_queues_for_all() {
    let shown = |demotion: &str| message("preset = \"linux\"", &format!("preset = \"linux\"\ndemotion = {demotion}"));
    said(shown("[\"2kB\", \"1kB\"]"), "transport.demotion = [\"2kB\", \"1kB\"]: expected ascending sizes");
    said(shown("[\"0B\", \"1kB\"]"), "transport.demotion = [\"0B\", \"1kB\"]: expected sizes of at least 1B");
    let eight: Vec<String> = (1..9).map(|i| format!("\"{i}kB\"")).collect();
    let eight = format!("[{}]", eight.join(", "));
    said(shown(&eight), &format!("transport.demotion = {eight}: has 8 sizes; expected at most 7"));
    let homa = message("preset = \"linux\"", "preset = \"homa\"\ndemotion = [\"1kB\"]");
    said(homa, "transport.demotion = [\"1kB\"]: applies to TCP only; expected no sizes with preset = \"homa\"");
    let by = message("preset = \"linux\"", "preset = \"linux\"\ndemotion_by = \"size\"");
    said(by, "transport.demotion_by = \"size\": is compared with the sizes of transport.demotion");

    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    let classes = |more: &str| {
        let of = "{ kind = \"drop-tail\", limit = \"none\" }";
        format!("kind = \"strict-priority\"\nclasses = [{of}, {of}]\n{more}")
    };
    let with = |more: &str, demotion: &str, class: &str| {
        let text = GOOD.replace(queue, &classes(more)).replace("preset = \"linux\"", demotion);
        check(&text.replace("flows = 10", &format!("flows = 10\n{class}"))).map_err(|e| e.to_string())
    };
    let two = "preset = \"linux\"\ndemotion = [\"20kB\"]";
    with("mark = \"20p\"\nlimit = \"100p\"", two, "").unwrap();
    said(with("", "preset = \"pias\"", "").unwrap_err(), "queue.classes: has 2 classes; expected 8, one more than");
    let given = "traffic.load.class: transport.demotion gives each packet its class, a priority; expected none here";
    said(with("", two, "class = 1").unwrap_err(), given);
    said(with("", two, "ack_class = 1").unwrap_err(), &given.replace(".class", ".ack_class"));
    said(with("", two, "class = 1\nack_class = 0").unwrap_err(), given);
    said(
        with("mark = \"20p\"\nlimit = \"10p\"", two, "").unwrap_err(),
        "queue.mark = \"20p\": expected at most the limit, 10p",
    );
    said(with("limit = \"0p\"", two, "").unwrap_err(), "queue.limit = \"0p\": expected room for at least one packet");
    let flat = GOOD.replace("preset = \"linux\"", two);
    let notes = Scenario::from_toml(&flat, Path::new("."), "test").unwrap().notes().unwrap();
    assert!(notes.len() == 1 && notes[0].starts_with("transport.demotion does nothing at "), "{notes:?}");

    let datagrams = |text: &str, more: &str| {
        let bulk = "kind = \"bulk\", size = \"1MB\"";
        let text = text.replace(bulk, "kind = \"udp\", rate = \"1Mbps\"") + more;
        Scenario::from_toml(&text, Path::new("."), "test").unwrap().notes().unwrap()
    };
    let served = GOOD.replace(queue, &classes("mark = \"20p\"\nlimit = \"100p\""));
    let all = served.replace("preset = \"linux\"", two);
    let said = "transport.demotion does nothing: the flows that have it are datagrams, which keep the class of their \
                flow (docs/queues/pias.md)";
    assert_eq!(datagrams(&all, ""), [said]);
    assert_eq!(datagrams(&flat, ""), [said]);
    let own = format!("\n[traffic.transport]\n{two}\n");
    assert_eq!(datagrams(&served, &own), [said.replace("transport.", "traffic.load.transport.")]);
    // one flow that is none is demoted
    assert_eq!(datagrams(&all, "\n[[traffic]]\nname = \"one\"\npattern = \"hotspot\"\nflows = 1\n"), [""; 0]);
}

#[test]
fn ranks_and_queues_that_go_by_them_belong_together() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    let by_rank = "kind = \"pfabric\"\nlimit = \"36864B\"";
    let preset = |text: &str| GOOD.replace("preset = \"linux\"", text);
    let notes = |text: &str| Scenario::from_toml(text, Path::new("."), "test").unwrap().notes().unwrap();
    let both = preset("preset = \"pfabric\"").replace(queue, by_rank);
    assert_eq!(notes(&both), Vec::<String>::new());
    let alone = notes(&preset("preset = \"linux\"\nrank = \"sent\""));
    assert!(alone.len() == 1 && alone[0].starts_with("transport.rank does nothing at "), "{alone:?}");
    let without = notes(&GOOD.replace(queue, by_rank));
    assert!(without.len() == 1 && without[0].contains("its packets have no rank (transport.rank)"), "{without:?}");

    said(message(queue, "kind = \"pfabric\""), "queue.limit: missing");
    said(message(queue, "kind = \"pfabric\"\nlimit = \"0p\""), "queue.limit = \"0p\": expected");
    said(message(queue, &format!("{by_rank}\ndevice = 3")), "queue.device: unknown key");
    said(
        message(queue, &format!("{by_rank}\n\n[buffer]\nsize = \"1MB\"\nalpha = 1.0")),
        "queue.kind = \"pfabric\": expected",
    );
    let bucket = GOOD.replace(queue, by_rank).replace("delay = \"10us\"", "delay = \"10us\", burst = \"10kB\"");
    said(check(&bucket).unwrap_err().to_string(), "queue.kind = \"pfabric\": expected one queue");
    said(message("preset = \"linux\"", "preset = \"linux\"\nrank = \"left\""), "transport.rank = \"left\": expected");
    let homa = |key: &str| message("preset = \"linux\"", &format!("preset = \"homa\"\n{key}"));
    said(
        homa("rank = \"size\""),
        "transport.rank = \"size\": applies to TCP only; expected \"none\" with preset = \"homa\"",
    );
    let uet = message(
        "preset = \"linux\"",
        "preset = \"uet\"\nuet = { control = \"rccc\", rtt = \"99ns\", oversubscription = 2.0 }",
    );
    said(uet, "transport.uet.rtt = \"99ns\": expected at least 100ns with oversubscription above 1");
    said(
        homa("extra_packets = 1"),
        "transport.extra_packets = 1: applies to TCP only; expected 0 with preset = \"homa\"",
    );
    said(homa("probe_after = 5"), "transport.probe_after = 5: applies to TCP only; expected 0 with preset = \"homa\"");
}

#[test]
fn who_needs_queues_that_cut_is_named() {
    let more = r#"
[[traffic]]
name = "more"
pattern = "hotspot"
flows = 1
app = { kind = "bulk", size = "1MB" }
transport = { preset = "ndp" }
"#;
    let text = GOOD.replace("preset = \"linux\"", "preset = \"homa\"") + more;
    let shown = check(&text).expect_err("no queue cuts").to_string();
    assert!(shown.contains("expected \"trimming\": ndp learns from trimmed headers"), "{shown}");
}

#[test]
fn keys_and_words() {
    let words = |kind: &str| {
        let quoted: Vec<String> = list(kind).unwrap().iter().map(|item| format!("{:?}", item.name)).collect();
        quoted.join(", ")
    };
    let [topologies, policies, patterns] = ["topologies", "routing", "traffic"].map(words);
    assert!(policies.starts_with("\"ecmp\", \"first-path\", ") && patterns.contains("\"poisson\""));
    let cases: &[(&str, &str, &str)] = &[
        (
            "k = 4",
            "kk = 4",
            "topology.kk: unknown key (did you mean \"k\"?)\ntopology.k: missing; expected an even number >= 2",
        ),
        ("[routing]", "[ruoting]", "ruoting: unknown key (did you mean \"routing\"?)"),
        ("warmup", "warm_up", "run.warm_up: unknown key (did you mean \"warmup\"?)"),
        (
            "duration = \"10ms\"",
            "",
            "run.duration: missing; expected a time with a unit (ps, ns, us, ms, s), such as \"10us\"",
        ),
        (
            "\"fat-tree\"",
            "\"fatree\"",
            &format!("topology.kind = \"fatree\": expected one of {topologies} (did you mean \"fat-tree\"?)"),
        ),
        ("kind = \"fat-tree\"", "", &format!("topology.kind: missing; expected one of {topologies}")),
        (
            "\"ecmp\"",
            "\"emcp\"",
            &format!("routing.kind = \"emcp\": expected one of {policies} (did you mean \"ecmp\"?)"),
        ),
        (
            "\"hotspot\"",
            "\"hotpsot\"",
            &format!("traffic.load.pattern = \"hotpsot\": expected one of {patterns} (did you mean \"hotspot\"?)"),
        ),
        (
            "\"linux\"",
            "\"lunix\"",
            "transport.preset = \"lunix\": expected one of \"linux\", \"linux-default\", \"ns3\", \"ns3-ipv6\", \
             \"htsim\", \"swift\", \"ndp\", \"eqds\", \"uet\", \"homa\", \"pias\", \
             \"pfabric\", \"expresspass\", \"phost\", \"roce\", \"dcpim\", \"rdma\", \"rdma-hpcc\", \
             \"rdma-ns3-datacenter\" (did you mean \"linux\"?)",
        ),
        ("flows = 10", "flow = 10", "traffic.load.flow: unknown key (did you mean \"flows\"?)"),
        ("flows = 10", "", "traffic.load.flows: missing; expected a whole number >= 1"),
        ("size = \"1MB\"", "sise = \"1MB\"", "traffic.load.app.sise: unknown key (did you mean \"size\"?)"),
    ];
    for (from, to, expected) in cases.iter().copied() {
        assert_eq!(message(from, to), expected, "{to}");
    }
}

#[test]
fn numbers_and_units() {
    let cases = [
        ("k = 4", "k = 5", "topology.k = 5: expected an even number >= 2".to_owned()),
        ("k = 4", "k = 0", "topology.k = 0: expected an even number >= 2".to_owned()),
        ("k = 4", "k = -4", "topology.k = -4: expected an even number >= 2".to_owned()),
        ("k = 4", "k = \"4\"", "topology.k = \"4\": expected an even number >= 2".to_owned()),
        ("k = 4", "k = 200", "topology.k = 200: makes 2000000 hosts; expected at most 1048576 in all".to_owned()),
        ("\"1Gbps\"", "\"0Gbps\"", "topology.link.rate = \"0Gbps\": expected a rate above 0".to_owned()),
        ("\"1Gbps\"", "\"-1Gbps\"", format!("topology.link.rate = \"-1Gbps\": {RATE}")),
        ("\"1Gbps\"", "\"1Gb/s\"", format!("topology.link.rate = \"1Gb/s\": {RATE}")),
        ("\"1Gbps\"", "1000000000", format!("topology.link.rate = 1000000000: {RATE}")),
        ("\"10us\"", "\"10\"", format!("topology.link.delay = \"10\": {TIME}")),
        ("\"10us\"", "10", format!("topology.link.delay = 10: {TIME}")),
        ("\"100p\"", "100", format!("queue.limit = 100: {LIMIT}")),
        ("\"100p\"", "\"100packets\"", format!("queue.limit = \"100packets\": {LIMIT}")),
        (
            "\"100p\"",
            "\"0p\"",
            "queue.limit = \"0p\": expected room for at least one packet\nqueue.mark = \"20p\": expected at most the \
             limit, 0p: a queue never grows beyond it"
                .to_owned(),
        ),
        (
            "\"20p\"",
            "\"200p\"",
            "queue.mark = \"200p\": expected at most the limit, 100p: a queue never grows beyond it".to_owned(),
        ),
        ("flows = 10", "flows = 0", "traffic.load.flows = 0: expected a whole number >= 1".to_owned()),
        ("flows = 10", "flows = -1", "traffic.load.flows = -1: expected a whole number >= 0".to_owned()),
        (
            "flows = 10",
            "flows = 5000000",
            "traffic.load.flows = 5000000: expected at most 4000000 flows in all: the state and the record of a flow \
             take about a kilobyte"
                .to_owned(),
        ),
        (
            "\"1MB\"",
            "\"1Mb\"",
            "traffic.load.app.size = \"1Mb\": expected a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \
             \"128kB\" (did you mean \"1MB\"?)"
                .to_owned(),
        ),
        ("\"1MB\"", "\"0B\"", "traffic.load.app.size = \"0B\": expected at least 1 byte".to_owned()),
        ("trace = [0]", "trace = [-1]", "measure.trace.0 = -1: expected a whole number >= 0".to_owned()),
        ("trace = [0]", "trace = 0", "measure.trace = 0: expected a list of whole numbers >= 0".to_owned()),
        ("trace = [0]", "trace = [10]", "measure.trace = 10: expected numbers of flows, from 0 to 9".to_owned()),
        (
            "trace = [0]",
            "series = { ports = [\"edge7>h16\"] }",
            "measure.series.ports = \"edge7>h16\": no such port; expected names such as \"agg0>core0\" (did you mean \
             \"edge7>h14\"?)"
                .to_owned(),
        ),
        (
            "preset = \"linux\"",
            "delayed_ack = 0",
            "transport.delayed_ack = 0: expected \"auto\" or a whole number >= 1".to_owned(),
        ),
        (
            "preset = \"linux\"",
            "initial_window = 0.0",
            "transport.initial_window = 0.0: expected a number above 0, at most 1000000".to_owned(),
        ),
        (
            "preset = \"linux\"",
            "initial_window = 1e300",
            "transport.initial_window = 1e300: expected a number above 0, at most 1000000".to_owned(),
        ),
        (
            "preset = \"linux\"",
            "rto_min = \"200s\"",
            "transport.rto_min = \"200s\": expected at most rto_max, 120s".to_owned(),
        ),
        (
            "preset = \"linux\"",
            "send_buffer = \"1kB\"",
            "transport.send_buffer = \"1kB\": expected at least one segment, 1448B".to_owned(),
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(message(from, to), expected, "{to}");
    }
}

#[test]
fn times_that_contradict() {
    said(message("warmup = \"1ms\"", "warmup = \"10ms\""), "run.warmup = \"10ms\": expected");
    said(message("duration = \"10ms\"", "duration = \"0s\""), "run.duration = \"0s\": expected");
    said(
        message("warmup = \"1ms\"", "warmup = \"1ms\"\nmeasure_until = \"11ms\""),
        "run.measure_until = \"11ms\": expected",
    );
    said(message("flows = 10", "flows = 10\nstart = \"2ms\"\nstop = \"1ms\""), "traffic.load.stop = \"1ms\": expected");
    said(message("flows = 10", "flows = 10\nstagger = \"1ms\"\nstop = \"5ms\""), "traffic.load.stop = \"5ms\": ");
}

#[test]
fn controllers() {
    assert_eq!(
        message("\"dctcp\"", "\"dctcpp\""),
        format!("controller = \"dctcpp\": {}", no_controller(" (did you mean \"dctcp\"?)"))
    );
    assert_eq!(
        message("\"dctcp\"", "{ kind = \"swfit\" }"),
        format!("controller.kind = \"swfit\": {}", no_controller(" (did you mean \"swift\"?)"))
    );
    said(message("\"dctcp\"", "\"swift:targt=min-rtt\""), "controller.targt: ");
    said(message("\"dctcp\"", "\"swift:target=minrtt\""), "controller.target = \"minrtt\": expected");
    said(message("\"dctcp\"", "\"swift:min-rtt\""), "controller = \"swift:min-rtt\": expected");
    said(message("controller = \"dctcp\"", ""), "traffic.load.controller: missing");
}

#[test]
fn all_problems_at_once() {
    let text = GOOD
        .replace("k = 4", "k = 3")
        .replace("\"1Gbps\"", "\"fast\"")
        .replace("flows = 10", "flws = 10")
        .replace("\"20p\"", "true");
    assert_eq!(
        check(&text).unwrap_err().to_string(),
        format!(
            "topology.k = 3: expected an even number >= 2\n\
             topology.link.rate = \"fast\": {RATE}\n\
             queue.mark = true: {LIMIT}\n\
             traffic.load.flws: unknown key (did you mean \"flows\"?)"
        )
    );
}

#[test]
fn a_set_is_checked_like_a_file() {
    said(set("topology.k", "5"), "topology.k = 5: expected");
    said(set("topology.kk", "4"), "topology.kk: unknown key");
    said(set("topolgy.k", "4"), "topolgy: unknown key");
    said(set("topology.link.dealy", "1us"), "topology.link.dealy: unknown key");
    assert_eq!(set("topology.link.delay", "10"), format!("topology.link.delay = \"10\": {TIME}"));
    said(set("traffic.flws", "4"), "traffic.flws: unknown key");
    // what a table in it has; else all that it can have
    said(set("traffic.size", "1MB"), "traffic.size: unknown key");
    said(set("traffic.load.size", "1MB"), "traffic.load.size: unknown key");
    let shown = set("run.length", "1ms");
    assert!(
        shown.starts_with("run.length: unknown key; expected one of duration, ") && shown.contains("warmup"),
        "{shown}"
    );
    assert!(message("size = \"1MB\" }", "}\nsize = \"1MB\"").ends_with("(did you mean \"app.size\"?)"));
    said(set("traffic.load.flows", "0"), "traffic.load.flows = 0: expected");
    said(set("traffic.flows", "ten"), "traffic.flows = \"ten\": expected");
    assert_eq!(set("controller", "hybla"), format!("controller = \"hybla\": {}", no_controller("")));
    assert_eq!(
        set("controller.targt", "static"),
        format!("controller.targt: the controller dctcp has no parameter targt; it has {}", dctcp_has())
    );
    said(set("", "1"), ": expected");
    said(set("run..seed", "1"), "run..seed: expected");
    said(set("run.seed", "-1"), "run.seed = -1: expected");
    let two = GOOD.to_owned() + "[[traffic]]\nname = \"more\"\npattern = \"incast\"\nflows = 3\n";
    let mut s = Scenario::from_toml(&two, Path::new("."), "test").unwrap();
    assert_eq!(
        s.set("traffic.flows", "4").unwrap_err().to_string(),
        "traffic.flows: there are 2 traffic entries; expected traffic.load.KEY or traffic.more.KEY"
    );
    assert_eq!(
        s.set("traffic.mroe.flows", "4").unwrap_err().to_string(),
        "traffic.mroe.flows: there are 2 traffic entries; expected traffic.load.KEY or traffic.more.KEY (did you mean \
         \"more\"?)"
    );
    s.set("traffic.more.flows", "4").unwrap();
    assert_eq!(s.build().unwrap().flows.len(), 14);
    let twice = two.replace("\"more\"", "\"load\"");
    said(check(&twice).unwrap_err().to_string(), "traffic.load.name = \"load\": ");
}

#[test]
fn entries_of_lists_are_set_by_number() {
    let failure = |at: &str| format!("[[failures]]\nlink = \"agg0>core0\"\nat = \"{at}\"\nuntil = \"3ms\"\n\n");
    let with = |more: &str| {
        let text = GOOD.replacen("[[traffic]]", &format!("{more}[[traffic]]"), 1);
        Scenario::from_toml(&text, Path::new("."), "test").unwrap()
    };
    let wrong = |s: &Scenario, key: &str, value: &str| {
        let mut other = s.clone();
        let shown = other.set(key, value).unwrap_err().to_string();
        assert_eq!(&other, s, "a refused value changes nothing");
        shown
    };
    let mut one = with(&failure("1ms"));
    one.set("failures.0.detection", "5us").unwrap();
    one.set("failures.0.at", "2ms").unwrap();
    one.set("failures.0.link", "agg1>core2").unwrap();
    let moved = failure("2ms").replace("agg0>core0", "agg1>core2").replace("until", "detection = \"5us\"\nuntil");
    assert_eq!(one, with(&moved));
    said(wrong(&one, "failures.0.detecion", "5us"), "failures.0.detecion: unknown key");
    assert_eq!(wrong(&one, "failures.0.detection", "5"), format!("failures.0.detection = \"5\": {TIME}"));
    said(wrong(&one, "failures.0.share", "2"), "failures.0.share = 2: expected");
    for key in ["1", "00", "-1", "detection"] {
        let key = format!("failures.{key}");
        assert_eq!(wrong(&one, &key, "5us"), format!("{key}: there is one entry of failures; expected failures.0"));
    }
    let two = with(&(failure("1ms") + &failure("5ms")));
    said(wrong(&two, "failures.2.at", "5ms"), "failures.2: ");
    said(set("failures.0.at", "5ms"), "failures.0: ");
    let mut none = with("");
    none.set("failures", "[{ link = \"agg0>core0\", at = \"1ms\", until = \"3ms\" }]").unwrap();
    assert_eq!(none, with(&failure("1ms")));

    let mut links = with("[[links]]\nlink = \"agg0>core0\"\ndelay = \"5us\"\n\n");
    links.set("links.0.rate", "2Gbps").unwrap();
    let rate =
        |s: &Scenario| s.build().unwrap().links.iter().find(|l| l.name == "agg0>core0").unwrap().rate.to_string();
    assert_eq!(rate(&links), "2Gbps");
    said(wrong(&links, "links.0.rat", "2Gbps"), "links.0.rat: unknown key");

    // tables of kinds, and plain values
    let mut queue = with("");
    let class = "{ kind = \"red\", limit = \"20p\", min_th = \"5p\", max_th = \"9p\", use_ecn = true }";
    queue.set("queue", &format!("{{ kind = \"weighted\", classes = [{class}, {class}], weights = [1, 2] }}")).unwrap();
    queue.set("queue.classes.1.kind", "drop-tail").unwrap();
    queue.set("queue.classes.1.limit", "30p").unwrap();
    queue.set("queue.weights.0", "3").unwrap();
    queue.build().unwrap();
    let shown = queue.resolved_toml().unwrap();
    assert!(shown.contains("weights = [3.0, 2.0]") && shown.matches("use_ecn").count() == 1, "{shown}");
    said(wrong(&queue, "queue.classes.1.use_ecn", "true"), "queue.classes.1.use_ecn: unknown key");
    said(wrong(&queue, "queue.weights.2", "3"), "queue.weights.2: ");
    // of traffic, by name
    const MORE: &str = "[[traffic]]\nname = \"more\"\npattern = \"permutation\"\napp = { kind = \"bulk\" }\n";
    let by_name = "entries of traffic go by name; expected traffic.load.KEY";
    assert_eq!(set("traffic.0.flows", "3"), format!("traffic.0.flows: {by_name}"));
    assert_eq!(set("traffic.0", "3"), format!("traffic.0: {by_name}"));
    let two = Scenario::from_toml(&format!("{GOOD}{MORE}"), Path::new("."), "test").unwrap();
    assert_eq!(wrong(&two, "traffic.1.flows", "3"), format!("traffic.1.flows: {by_name} or traffic.more.KEY"));
    said(set("measure.trace.0", "one"), "measure.trace.0 = \"one\": expected");
}

#[test]
fn numbers_that_would_overflow() {
    let link = "rate = \"1Gbps\", delay = \"10us\"";
    let bucket = |text: &str| message(link, &format!("delay = \"10us\", {text}"));
    said(bucket("rate = \"1bps\", burst = \"3MB\""), "topology.link.burst = \"3MB\": expected");
    said(bucket("rate = \"1Gbps\", back_rate = \"1bps\", burst = \"3MB\""), "topology.link.burst = \"3MB\": expected");
    said(bucket("rate = \"1Gbps\", burst = \"5GB\""), "topology.link.burst = \"5GB\": expected");
    // Almost as much is not too much.
    check(&GOOD.replacen(link, "delay = \"10us\", rate = \"4kbps\", burst = \"4294967295B\"", 1)).unwrap();
    said(
        set("topology.link.lose", "[18446744073709551615]"),
        "topology.link.lose = \"[18446744073709551615]\": expected",
    );
    said(
        set("topology.core_link.lose", "[18446744073709551615]"),
        "topology.core_link.lose = \"[18446744073709551615]\": expected",
    );
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let app = |text: &str| message(bulk, text);
    said(
        app("kind = \"closed-loop\", write = \"1MB\", count = 9223372036854775807"),
        "traffic.load.app.count = 9223372036854775807: expected",
    );
    said(app("kind = \"bulk\", size = \"18446744073GB\""), "traffic.load.app.size = \"18446744073GB\": expected");
    said(
        app("kind = \"closed-loop\", write = \"1kB\", outstanding = 4294967295"),
        "traffic.load.app.outstanding = 4294967295: expected",
    );
    let on_off = |on: &str, off: &str| format!("kind = \"on-off\", rate = \"1Mbps\", on = \"{on}\", off = \"{off}\"");
    said(app(&on_off("1ps", "18446744s")), "traffic.load.app.off = \"18446744s\": expected");
    check(&GOOD.replacen(bulk, &on_off("1s", "8999999s"), 1)).unwrap();
    said(set("transport.sack_block", "41"), "transport.sack_block = 41: expected");
}

#[test]
fn numbers_a_type_cannot_hold() {
    let top = 4_294_967_295u32;
    assert_eq!(
        set("topology.k", "4294967296"),
        format!("topology.k = 4294967296: expected an even number from 2 to {top}")
    );
    assert_eq!(
        set("topology.link.overhead", "4294967296"),
        format!("topology.link.overhead = 4294967296: expected a whole number from 0 to {top}")
    );
    assert_eq!(
        set("transport.syn_retries", "9223372036854775807"),
        format!("transport.syn_retries = 9223372036854775807: expected a whole number from 0 to {top}")
    );
    said(set("transport.delayed_ack", "4294967296"), "transport.delayed_ack = 4294967296: expected");
    assert_eq!(
        message("trace = [0]", "trace = [4294967296]"),
        format!("measure.trace.0 = 4294967296: expected a whole number from 0 to {top}")
    );
    // The largest that fits is a number like others: refused for what it makes.
    let large = set("topology.k", "4294967294");
    assert!(large.starts_with("topology.k = 4294967294: makes ") && large.contains("at most 1048576"), "{large}");
    // The largest seed is taken, the next is not.
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("run.seed", "9223372036854775807").unwrap();
    assert_eq!(s.build().unwrap().seed, i64::MAX as u64);
    assert!(set("run.seed", "9223372036854775808").ends_with("expected a whole number from 0 to 9223372036854775807"));
    assert!(Scenario::schema().contains("\"maximum\": 9223372036854775807"));
}

#[test]
fn networks_that_do_not_fit_into_memory() {
    let tree = "kind = \"fat-tree\"\nk = 4\n";
    said(
        message(tree, "kind = \"leaf-spine\"\nleaves = 2\nhosts_per_leaf = 4\nspines = 4000000000\n"),
        "topology.spines = 4000000000: ",
    );
    said(
        message(tree, "kind = \"three-tier\"\naggregations = 2\ncores = 4000000000\n"),
        "topology.cores = 4000000000: makes 8000000000 links",
    );
    said(
        message(tree, "kind = \"three-tier\"\nracks = 1000000\nservers_per_rack = 2\n"),
        "topology.racks = 1000000: makes 2000000 hosts; expected at most 1048576",
    );
}

#[test]
fn racks_that_cannot_be_dealt_out_evenly() {
    said(
        message("kind = \"fat-tree\"\nk = 4\n", "kind = \"three-tier\"\naggregations = 4\n"),
        "topology.racks = 10: expected a multiple of aggregations, 4",
    );
}

#[test]
fn series_that_do_not_fit_into_memory() {
    let series = |interval: &str, flows: &str| {
        let ports = "[\"edge7>h15\", \"edge0>h0\"]";
        let text = GOOD.replace(
            "trace = [0]",
            &format!("series = {{ flows = {flows}, ports = {ports}, interval = \"{interval}\" }}"),
        );
        check(&text).map_err(|e| e.to_string())
    };
    // 10 ms of 8 values of each of 3 flows and of 2 ports: 26 values every 5.2 ns are 5e7.
    let refused = |interval: &str| {
        Err(format!(
            "measure.series.interval = \"{interval}\": expected at least 5.2ns for 3 flows and 2 ports over 10ms: \
             all series together have at most 50000000 values"
        ))
    };
    assert_eq!(series("1ps", "[0, 1, 2]"), refused("1ps"));
    assert_eq!(series("5199ps", "[0, 1, 2]"), refused("5.199ns"));
    assert_eq!(series("5200ps", "[0, 1, 2]"), Ok(()));
    assert_eq!(series("400ps", "[]"), Ok(()), "two values every 400 ps are 5e7");
    let zero = |key: &str| format!("{key} = \"0s\": expected a time above 0");
    assert_eq!(series("0s", "[0]"), Err(zero("measure.series.interval")));
    for none in ["0", "0s"] {
        assert_eq!(set("measure.queue_interval", none), zero("measure.queue_interval"));
    }
    // Nothing is sampled where nothing is asked for.
    check(&GOOD.replace("trace = [0]", "series = { interval = \"1ps\" }")).unwrap();
}

#[test]
fn parameters_of_another_controller() {
    let has_epsilon = |kind: &&&incast_cc::Kind| kind.params.iter().any(|param| param.name == "epsilon");
    let others: Vec<_> = incast_cc::KINDS.iter().filter(has_epsilon).map(|kind| kind.name).collect();
    let expected = format!(
        "controller.epsilon: the controller dctcp has no parameter epsilon, which is one of {}; it has {}",
        others.join(", "),
        dctcp_has()
    );
    assert_eq!(set("controller.epsilon", "50us"), expected);
    let near =
        "controller.initial_alpa: the controller dctcp has no parameter initial_alpa (did you mean \"initial_alpha\"?)";
    assert_eq!(set("controller.initial_alpa", "1"), near);
    // As a table, it is the same.
    let mut table =
        Scenario::from_toml(&GOOD.replace("\"dctcp\"", "{ kind = \"dctcp\" }"), Path::new("."), "test").unwrap();
    assert_eq!(table.set("controller.epsilon", "50us").unwrap_err().to_string(), expected);
    assert_eq!(table.set("controller.initial_alpa", "1").unwrap_err().to_string(), near);
}

#[test]
fn quantities_that_are_nearly_right() {
    let delay = |text: &str| message("\"10us\"", &format!("\"{text}\""));
    let rate = |text: &str| message("\"1Gbps\"", &format!("\"{text}\""));
    let limit = |text: &str| message("\"100p\"", &format!("\"{text}\""));
    assert_eq!(rate("1gbps"), format!("topology.link.rate = \"1gbps\": {RATE} (did you mean \"1Gbps\"?)"));
    assert_eq!(delay("1.5US"), format!("topology.link.delay = \"1.5US\": {TIME} (did you mean \"1.5us\"?)"));
    assert_eq!(limit("100P"), format!("queue.limit = \"100P\": {LIMIT} (did you mean \"100p\"?)"));
    said(delay("0.1ps"), "topology.link.delay = \"0.1ps\": ");
    said(rate("0.5bps"), "topology.link.rate = \"0.5bps\": ");
    said(limit("1.5p"), "queue.limit = \"1.5p\": expected");
    said(limit("1.5B"), "queue.limit = \"1.5B\": ");
    let exponent = "exponents are not read; expected the digits written out, or a larger or smaller unit";
    assert_eq!(delay("1e9s"), format!("topology.link.delay = \"1e9s\": {exponent}"));
    assert_eq!(rate("1.5E-3Gbps"), format!("topology.link.rate = \"1.5E-3Gbps\": {exponent}"));
    said(delay("99999999s"), "topology.link.delay = \"99999999s\": ");
    said(rate("99999999Tbps"), "topology.link.rate = \"99999999Tbps\": ");
    said(limit("99999999999GB"), "queue.limit = \"99999999999GB\": ");
    // Where there is a word besides, the same.
    said(set("measure.queue_interval", "0.1ps"), "measure.queue_interval = \"0.1ps\": ");
    said(set("measure.series.interval", "1US"), "measure.series.interval = \"1US\": expected");
    // And in a file.
    assert_eq!(
        flows("case", "start,source,destination\n1US,h0,h1\n").unwrap_err().to_string(),
        format!("flows.csv, line 2, column start = 1US: {TIME} (did you mean \"1us\"?)")
    );
}

#[test]
fn a_colon_promises_parameters() {
    for text in ["dctcp:", "dctcp: "] {
        assert_eq!(
            set("controller", text),
            format!("controller = \"{text}\": expected key=value after the colon, or no colon")
        );
    }
}

#[test]
fn what_toml_cannot_read_says_why() {
    let table = |rest: &str| set("traffic.app", &format!("{{ kind = \"query\", total = \"1MB\"{rest} }}"));
    assert!(
        table(", count = 99999999999999999999")
            .ends_with(": expected a table with the key kind; whole numbers end at 9223372036854775807")
    );
    let error = table(", count 5");
    assert!(error.contains(": expected a table with the key kind; as TOML: ") && !error.ends_with(": "), "{error}");
    let error = set("topology.link.lose", "[1,");
    assert!(error.contains(" from 0 to 9223372036854775807; as TOML: "), "{error}");
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.app", "{ kind = \"query\", total = \"1MB\" }").unwrap();
    assert_eq!(
        s.set("traffic.app.count", "99999999999999999999").unwrap_err().to_string(),
        "traffic.app.count = \"99999999999999999999\": expected a whole number >= 1; whole numbers end at \
         9223372036854775807"
    );
}

#[test]
fn what_is_of_another_kind_is_found_there() {
    use incast_scenario::catalogue::describe;
    assert_eq!(describe("app", "query").unwrap().kind, "applications");
    let error = describe("traffic", "query").unwrap_err().to_string();
    assert!(error.contains("; query is one of the applications: incast describe application query; "), "{error}");
}

#[test]
fn a_kind_where_a_table_is_due() {
    for (key, word) in [("queue.host", "fair-nic"), ("queue", "drop-tail"), ("traffic.app", "bulk")] {
        let expected = format!("expected a table with the key kind, such as {{ kind = \"{word}\" }}");
        assert_eq!(set(key, word), format!("{key} = \"{word}\": {expected}"));
    }
}

#[test]
fn segments_are_timed_by_whole_parts_of_a_time_stamp() {
    let asked = [("transport.segment_rtt", "true"), ("transport.timestamps", "true")];
    for (tick, right) in [("10ms", false), ("3us", false), ("1ms", true), ("1us", true), ("0s", true)] {
        let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
        for (key, value) in asked {
            s.set(key, value).unwrap();
        }
        s.set("transport.timestamp_clock", tick).unwrap();
        let built = s.build().map(drop);
        if right {
            built.unwrap();
            continue;
        }
        let expected = "expected 0s or a divisor of 1ms with segment_rtt = true: its time stamps count milliseconds";
        let said = built.expect_err(tick).to_string();
        assert_eq!(said, format!("transport.timestamp_clock = \"{tick}\": {expected}"));
        // of time stamps alone any tick will do
        s.set("transport.segment_rtt", "false").unwrap();
        s.build().unwrap();
    }
}

#[test]
fn timelines_whose_frames_are_of_no_use() {
    let timeline = |every: &str| {
        let text = GOOD.replace("trace = [0]", &format!("timeline = \"{every}\""));
        check(&text).map_err(|e| e.to_string())
    };
    let refused = |every: &str| {
        let shown = timeline(every).unwrap_err();
        assert!(shown.starts_with(&format!("measure.timeline = \"{every}\": expected ")), "{shown}");
        shown
    };
    assert!(refused("0s").contains("at least 1"));
    assert!(refused("11ms").ends_with("at most run.duration, 10ms"));
    assert!(refused("1ns").contains("at most 1000000 frames, and 50000000 rows"));
    assert_eq!(timeline("10ms"), Ok(()));
    assert_eq!(timeline("10us"), Ok(()));
    assert_eq!(timeline("auto"), Ok(()));
    assert!(timeline("often").is_err());
}
