//! Errors in traffic: patterns, applications, times.

use super::*;

#[test]
fn traffic_after_the_end() {
    let end = "expected a time before the run ends, at run.duration, 10ms";
    // other flows may be varied beyond the end; queries that never begin are a mistake
    check(&GOOD.replacen("flows = 10", "flows = 10\nstart = \"10ms\"", 1)).unwrap();
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let query = "kind = \"query\", total = \"1MB\"";
    assert_eq!(
        message(bulk, &format!("{query}, first = \"20ms\"")),
        format!("traffic.load.app.first = \"20ms\": {end}")
    );
    check(&GOOD.replacen(bulk, &format!("{query}, first = \"9ms\""), 1)).unwrap();
}

#[test]
fn traffic_that_contradicts() {
    said(message("\"hotspot\"", "\"random-pairs\"\nreceiver = \"h3\""), "traffic.load.receiver: ");
    said(message("\"hotspot\"", "\"hotspot\"\nreceiver = \"h33\""), "traffic.load.receiver = \"h33\": expected");
    said(message("\"hotspot\"", "\"hotspot\"\nreceiver = 16"), "traffic.load.receiver = 16: expected");
    said(message("\"hotspot\"", "\"pairs\""), "traffic.load.pattern = \"pairs\": expected");
    said(message("\"hotspot\"", "\"hotspot\"\nfile = \"flows.csv\""), "traffic.load.file: ");
    said(
        message(
            "app = { kind = \"bulk\", size = \"1MB\" }",
            "sink_stop = \"5ms\"\napp = { kind = \"query\", total = \"1MB\" }",
        ),
        "traffic.load.sink_stop = \"5ms\": expected",
    );
    said(
        message("kind = \"bulk\", size = \"1MB\"", "kind = \"cbr\", rate = \"inf\""),
        "traffic.load.app.rate = \"inf\": expected",
    );
}

#[test]
fn writes_that_never_fit_into_the_send_buffer() {
    let bulk = "kind = \"bulk\", size = \"1MB\"";
    let at_a_rate = "expected at most transport.send_buffer, 4MiB: a write at a rate enters the buffer as a whole or \
                     not at all";
    for kind in ["cbr", "on-off"] {
        assert_eq!(
            message(bulk, &format!("kind = \"{kind}\", rate = \"1Gbps\", write = \"10MB\"")),
            format!("traffic.load.app.write = \"10MB\": {at_a_rate}")
        );
    }
    let whole = "preset = \"linux\"\nwhole_writes = true\nsend_buffer = \"20kB\"";
    said(message("preset = \"linux\"", whole), "traffic.load.app.write = \"64kB\": expected");
    // A flow of less has less to write, and without whole_writes a write goes in parts.
    check(&GOOD.replacen("preset = \"linux\"", whole, 1).replacen("1MB", "20kB", 1)).unwrap();
    check(&GOOD.replacen("preset = \"linux\"", "send_buffer = \"20kB\"", 1)).unwrap();
    // unless it is meant, of a flow that has nothing else to send
    let meant = |app: &str| GOOD.replacen("preset = \"linux\"", whole, 1).replacen(bulk, app, 1);
    check(&meant("kind = \"bulk\", refused = true")).unwrap();
    assert!(check(&meant("kind = \"bulk\", size = \"1MB\", refused = true")).is_err());
}

#[test]
fn forms_and_messages_that_contradict() {
    let controller = |text: &str| set("controller", text);
    let one_of = "expected one of: \"standard\" \"ns3\" \"htsim\" \"linux\"";
    assert_eq!(controller("dctcp:form=nonsense"), format!("controller.form = \"nonsense\": {one_of}"));
    assert_eq!(controller("dctcp:form="), format!("controller.form = \"\": {one_of}"));
    said(controller("newreno:form=htsim"), "controller.form = \"htsim\": expected");
    said(controller("dctcp:form=ns3,floor=-1"), "controller.floor = \"-1\": expected");
    said(controller("swift:form=yasomam,max_cwnd=1"), "controller.min_cwnd = 1.3333333333333333: expected");
    let app = |text: &str| message("{ kind = \"bulk\", size = \"1MB\" }", text);
    let size = "expected a size with a unit (B, kB, MB, GB, KiB, MiB, GiB), such as \"128kB\"";
    said(app("{ kind = \"query\", total = \"9B\" }"), "traffic.load.app.total = \"9B\": expected");
    said(app("{ kind = \"query\", response = \"0B\" }"), "traffic.load.app.response = \"0B\": expected");
    said(
        app("{ kind = \"query\", response = \"1kB\", total = \"1MB\" }"),
        "traffic.load.app.total = \"1MB\": expected",
    );
    assert_eq!(app("{ kind = \"query\", total = 5 }"), format!("traffic.load.app.total = 5: {size}"));
    said(
        app("{ kind = \"closed-loop\", write = \"1kB\", outstanding = 0 }"),
        "traffic.load.app.outstanding = 0: expected",
    );
    assert_eq!(app("{ kind = \"closed-loop\" }"), format!("traffic.load.app.write: missing; {size}"));
    said(message("\"hotspot\"", "\"random-pairs\"\nto_itself = \"skip\""), "traffic.load.to_itself: ");
    let file = |name: &str| message("\"hotspot\"", &format!("\"file\"\nfile = \"{name}\""));
    assert!(file("builtin:nonsense").starts_with(
        "traffic.load.file = \"builtin:nonsense\": no file of this name comes with the program; \
         expected builtin: and one of ns3-random-hotspot,"
    ));
    said(
        message("\"hotspot\"\nflows = 10", "\"file\"\nfile = \"builtin:ns3-random-pairs\"\nflows = 9999"),
        "traffic.load.flows = 9999: ",
    );
}

#[test]
fn a_path_that_takes_no_time() {
    assert_eq!(
        message("rate = \"1Gbps\", delay = \"10us\"", "rate = \"inf\", delay = 0"),
        (0..10)
            .map(|i| format!(
                "traffic.load, flow {i} (h{i} to h15): its whole path takes no time, there and back; \
                 expected a finite rate or a delay above 0 on at least one link of it"
            ))
            .collect::<Vec<_>>()
            .join("\n")
    );
    // One link that takes time is enough.
    check(
        &GOOD
            .replace("rate = \"1Gbps\", delay = \"10us\"", "rate = \"inf\", delay = 0")
            .replace("k = 4", "k = 4\nhost_link = { rate = \"1Gbps\" }"),
    )
    .unwrap();
}

#[test]
fn a_flow_that_the_entry_moves_beyond_its_stop() {
    let dir = folder("moved");
    std::fs::write(dir.join("flows.csv"), "start,source,destination\n0s,h0,h1\n500us,h0,h1\n900us,h0,h1\n").unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let error = |changes: &[(&str, &str)]| {
        let mut s = Scenario::from_toml(&text, &dir, "test").unwrap();
        changes.iter().for_each(|(key, value)| s.set(key, value).unwrap());
        s.build().unwrap_err().to_string()
    };
    said(
        error(&[("traffic.stop", "900us"), ("traffic.stagger", "200us"), ("traffic.start", "200us")]),
        "traffic.load.stop = \"900us\": ",
    );
    said(error(&[("traffic.stop", "900us")]), "flows.csv, line 4, column start = 900us: expected");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn elephants_that_cannot_be() {
    let elephants = |rest: &str| and_more(&format!("pattern = \"elephants\"\n{rest}"));
    assert_eq!(
        elephants(""),
        "traffic.more.flows: missing; expected how many flows become elephants\n\
         traffic.more.of: missing; expected the name of the entry, before this one, whose flows become elephants"
    );
    said(elephants("of = \"laod\"\nflows = 1"), "traffic.more.of = \"laod\": ");
    said(elephants("of = \"load\"\nflows = 10"), "traffic.more.flows = 10: expected");
    said(elephants("of = \"load\"\nflows = 4\nplacement = \"paper\""), "traffic.more.flows = 4: ");
    let spine =
        GOOD.replace("kind = \"fat-tree\"\nk = 4", "kind = \"leaf-spine\"\nleaves = 4\nhosts_per_leaf = 4\nspines = 2");
    assert_ne!(spine, GOOD);
    said(
        check(&format!(
            "{spine}[[traffic]]\nname = \"more\"\npattern = \"elephants\"\nof = \"load\"\nflows = 2\n\
             placement = \"paper\""
        ))
        .unwrap_err()
        .to_string(),
        "traffic.more.placement = \"paper\": ",
    );
    said(elephants("of = \"load\"\nflows = 2\nplacement = \"far\""), "traffic.more.placement = \"far\": expected");
    said(elephants("of = \"load\"\nflows = 2\napp = { kind = \"query\", total = \"1MB\" }"), "traffic.more.app.kind: ");
    // all flows of a hotspot have one destination: that is shared, and some flow's source is in the elephant's pod
    said(elephants("of = \"load\"\nflows = 1\nplacement = \"paper\""), "traffic.more.placement = \"paper\": ");
    said(elephants("of = \"load\"\nflows = 2\nstop = \"1ms\"\nstagger = \"1ms\""), "traffic.more.stop = \"1ms\": ");
    said(set("traffic.pattern", "elephants"), "traffic.load.of: missing");
    let mut s = Scenario::from_toml(GOOD, Path::new("."), "test").unwrap();
    s.set("traffic.pattern", "elephants").unwrap();
    s.set("traffic.of", "load").unwrap();
    assert_eq!(
        s.build().unwrap_err().to_string(),
        "traffic.load.of = \"load\": no entry comes before this one; expected one whose flows become elephants"
    );
    let asking = GOOD.replace("{ kind = \"bulk\", size = \"1MB\" }", "{ kind = \"query\", total = \"1MB\" }");
    said(
        check(&format!("{asking}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 1"))
            .unwrap_err()
            .to_string(),
        "traffic.elephants.of = \"load\": ",
    );
    said(set("traffic.of", "load"), "traffic.load.of = \"load\": ");
    said(set("traffic.placement", "paper"), "traffic.load.placement = \"paper\": ");
}

#[test]
fn datagrams_that_cannot_be() {
    let udp = |rate: &str| set("traffic.app", &format!("{{ kind = \"udp\", rate = \"{rate}\" }}"));
    let expected = "expected a part of the rate of the sender's link above 0%, at most 100%, such as \"50%\", or a \
                    rate with a unit (bps, kbps, Mbps, Gbps, Tbps; k, M, G, T for short), such as \"10Gbps\"";
    for wrong in ["50", "0%", "101%", "-1%", "0.00001%", "inf", "0bps", "%", "a lot"] {
        assert_eq!(udp(wrong), format!("traffic.app.rate = \"{wrong}\": {expected}"));
    }
    assert_eq!(udp("5gbps"), format!("traffic.app.rate = \"5gbps\": {expected} (did you mean \"5Gbps\"?)"));
    said(udp("2Gbps"), "traffic.load.app.rate = \"2Gbps\": expected");
    let with = |from: &str, to: &str| {
        let text = GOOD.replace("{ kind = \"bulk\", size = \"1MB\" }", "{ kind = \"udp\", rate = \"50%\" }");
        check(&text.replace(from, to)).expect_err(to).to_string()
    };
    said(with("rate = \"1Gbps\"", "rate = \"inf\""), "traffic.load.app.rate = \"50%\": ");
    let none = "expected none with app.kind = \"udp\"";
    assert_eq!(
        with("flows = 10", "flows = 10\nsink_stop = \"5ms\""),
        format!("traffic.load.sink_stop = \"5ms\": {none}: its receivers take what comes")
    );
    assert_eq!(
        with("flows = 10", "flows = 10\nread_rate = \"1Gbps\""),
        format!("traffic.load.read_rate = \"1Gbps\": {none}: its receivers take what comes")
    );
    assert_eq!(
        with("flows = 10", "flows = 10\ncontroller = \"dctcp\""),
        format!("traffic.load.controller = \"dctcp\": {none}: no controller governs it")
    );
    said(set("run.until", "finsihed"), "run.until = \"finsihed\": expected");
}

#[test]
fn collectives_that_cannot_be() {
    let message = |from: &str, to: &str, pattern: &str| {
        let text = GOOD.replace("\"hotspot\"\nflows = 10", &format!("\"{pattern}\""));
        assert!(check(&text).is_ok(), "{:?}", check(&text));
        check(&text.replace(from, to)).expect_err(to).to_string()
    };
    let pattern = "pattern = \"all-to-all\"";
    let add = |key: &str| format!("{pattern}\n{key}");
    said(message(pattern, &add("flows = 3"), "all-to-all"), "traffic.load.flows = 3: ");
    said(message(pattern, &add("members = 17"), "all-to-all"), "traffic.load.members = 17: expected");
    said(message(pattern, &add("members = 1"), "all-to-all"), "traffic.load.members = 1: expected");
    said(message(pattern, &add("order = \"rings\""), "all-to-all"), "traffic.load.order = \"rings\": expected");
    said(message(", size = \"1MB\"", "", "all-to-all"), "traffic.load.app: expected");
    said(message("\"1MB\"", "\"15B\"", "ring-allreduce"), "traffic.load.app.size = \"15B\": expected");
    said(
        message("\"ring-allreduce\"", "\"ring-allreduce\"\norder = \"at-once\"", "ring-allreduce"),
        "traffic.load.order = \"at-once\": ",
    );
    said(set("traffic.members", "4"), "traffic.load.members = 4: ");
    let all = GOOD.replace("\"hotspot\"\nflows = 10", "\"all-to-all\"");
    said(
        check(&format!("{all}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 1")).unwrap_err().to_string(),
        "traffic.elephants.of = \"load\": ",
    );
    let none = format!("{all}[[traffic]]\npattern = \"elephants\"\nof = \"load\"\nflows = 0\n");
    assert_eq!(check(&none), Ok(()), "a run without any takes none of those that wait");
}

#[test]
fn flows_of_a_file_that_wait_for_nothing() {
    let file = "start,source,destination,after\n0s,h0,h1,\n0s,h1,h2,1\n0s,h1,h2,7\n0s,h1,h2,0:sometime\n\
                0s,h1,h2,0:received 0\n";
    let wrong = |line: u32, value: &str, why: &str| {
        format!(
            "flows.csv, line {line}, column after = {value}: {value} is {why}; expected numbers of others from 0 to 4, \
             such as 0 or 0:received"
        )
    };
    let no_end = "no end of a flow of the file";
    let expected =
        [wrong(3, "1", "of this flow itself"), wrong(4, "7", no_end), wrong(5, "0:sometime", no_end)].join("\n");
    assert_eq!(flows("after-lines", file).unwrap_err().to_string(), expected);
    said(
        flows("after-circle", "start,source,destination,after\n0s,h0,h1,1\n0s,h1,h2,0\n").unwrap_err().to_string(),
        "flows.csv, line 2: ",
    );
    let dir = folder("after-left-out");
    std::fs::write(dir.join("flows.csv"), "start,source,destination,after\n0s,h0,h1,1\n0s,h1,h2,\n").unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"\nflows = 1");
    let left_out = Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build()).unwrap_err().to_string();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(
        left_out,
        "flows.csv, line 2, column after = 1: 1 is of a flow that flows = 1 leaves out; expected numbers of others \
         from 0 to 1, such as 0 or 0:received"
    );
}

#[test]
fn roots_that_do_not_fit() {
    // k = 4: eight racks of two hosts, pods of four
    let with =
        |roots: &str| message("\"hotspot\"\nflows = 10", &format!("\"partition-aggregate\"\nroots = {{ {roots} }}"));
    let at = "traffic.load.roots";
    said(message("\"hotspot\"\nflows = 10", "\"partition-aggregate\""), &format!("{at}: missing"));
    said(message("flows = 10", "flows = 10\nroots = { count = 1, in_rack = 1 }"), &format!("{at}: "));
    said(
        message("\"hotspot\"\nflows = 10", "\"partition-aggregate\"\nroots = { count = 1, in_rack = 1 }\nflows = 3"),
        "traffic.load.flows = 3: ",
    );
    said(with("count = 0, in_rack = 1"), &format!("{at}.count = 0: expected"));
    said(with("count = 1, racks = 0, in_rack = 1"), &format!("{at}.racks = 0: expected"));
    said(with("count = 1"), &format!("{at}.in_rack: missing"));
    said(with("count = 1, racks = 9, in_rack = 1"), &format!("{at}.racks = 9: expected at most the racks"));
    said(with("count = 5, racks = 2, in_rack = 1"), &format!("{at}.count = 5: rack 0 has 2 hosts"));
    said(
        with("count = 1, in_rack = 2"),
        &format!("{at}.in_rack = 2: expected at most the number of hosts at that distance from root h0, 1"),
    );
    said(
        with("count = 1, in_pod = 3"),
        &format!("{at}.in_pod = 3: expected at most the number of hosts at that distance from root h0, 2"),
    );
    said(
        with("count = 1, elsewhere = 13"),
        &format!("{at}.elsewhere = 13: expected at most the number of hosts at that distance"),
    );
    let star = Scenario::load("star").unwrap();
    let entry = "[{ pattern = \"partition-aggregate\", roots = { count = 1, in_pod = 1 } }]";
    let mut star = star.with_seed(1);
    let error = star.set("traffic", entry).and_then(|()| star.build().map(|_| ())).unwrap_err();
    said(error, "traffic.partition-aggregate.roots.in_pod = 1: the topology has no pods");
}

#[test]
fn deadlines_in_the_past_and_of_what_has_no_end() {
    let with = |keys: &str| message("flows = 10", &format!("flows = 10\n{keys}"));
    said(with("deadline = \"0ms\""), "traffic.load.deadline = \"0s\": it has already passed when a flow opens");
    said(with("deadline_draw = \"exponential\""), "traffic.load.deadline_draw = \"exponential\": there is no deadline");
    for app in ["kind = \"bulk\"", "kind = \"cbr\", rate = \"1Gbps\"", "kind = \"udp\", rate = \"1Gbps\""] {
        let entry = format!("pattern = \"random-pairs\"\nflows = 1\ndeadline = \"1ms\"\napp = {{ {app} }}");
        said(and_more(&entry), "traffic.more.deadline = \"1ms\": its flows have no end");
    }
    let rows = |row: &str| flows("deadlines", &format!("start,source,destination,size,deadline\n{row}\n"));
    said(rows("5us,h0,h1,1kB,0us").unwrap_err().to_string(), "flows.csv, line 2, column deadline = 0us: it has");
    let spec = rows("5us,h0,h1,1kB,30us\n5us,h1,h2,1kB,").unwrap();
    let within = spec.flows.iter().map(|f| f.deadline.map(|d| d.within)).collect::<Vec<_>>();
    assert_eq!(within, [Some(incast_cc::Time::us(30)), None]);
}

#[test]
fn queries_of_more_bytes_than_can_be_counted() {
    let query = |keys: &str| message("kind = \"bulk\", size = \"1MB\"", &format!("kind = \"query\", {keys}"));
    said(query("response = \"6000000000GB\""), "traffic.load.app.response = \"6000000000GB\": expected less");
    said(
        query("response = \"1B\", request = \"6000000000GB\""),
        "traffic.load.app.request = \"6000000000GB\": expected",
    );
    let many = "response = \"1GB\", count = 9223372036854775807";
    said(query(many), "traffic.load.app.response = \"1GB\": expected less");
}
