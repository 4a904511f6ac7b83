//! Errors in queues, buffers, links and failures.

use super::*;

#[test]
fn buffers_that_contradict() {
    let buffer = |keys: &str| message("[queue]", &format!("[buffer]\n{keys}\n\n[queue]"));
    said(buffer("size = \"1kB\""), "buffer.size = \"1kB\": expected");
    said(buffer("size = \"1MB\"\nalpha = 0.0"), "buffer.alpha = 0: expected");
    said(buffer("size = \"1MB\"\nalpha = 1e308"), "buffer.alpha = 1e308: expected");
    said(buffer("size = \"1MB\"\nalpha = -1.0"), "buffer.alpha = -1: expected");
    let reserve = buffer("size = \"1MB\"\nreserve = \"600kB\"");
    assert!(reserve.starts_with("buffer.reserve = \"600kB\": expected at most "), "{reserve}");
    said(buffer("size = \"1MB\"\nalpa = 1.0"), "buffer.alpa: unknown key");
    check(&GOOD.replace("[queue]", "[buffer]\nsize = \"1MB\"\n\n[queue]")).unwrap();
    let pfc = |keys: &str| buffer(&format!("size = \"4MB\"\npfc = {{ {keys} }}"));
    said(pfc("classes = [1]"), "buffer.pfc.classes = 1: expected");
    said(pfc("classes = [0, 0]"), "buffer.pfc.classes = 0: ");
    said(pfc("classes = []"), "buffer.pfc.classes = []: expected");
    said(pfc("alpha = 0.0"), "buffer.pfc.alpha = 0: expected");
    said(pfc("alpha = 0.5, threshold = \"20kB\""), "buffer.pfc.alpha = 0.5: expected");
    said(pfc("headroom = \"3kb\""), "buffer.pfc.headroom = \"3kb\": expected");
    said(pfc("headrom = \"3kB\""), "buffer.pfc.headrom: unknown key");
    let room = pfc("headroom = \"1MB\"");
    assert!(room.starts_with("buffer.size = \"4MB\": expected more than "), "{room}");
    assert!(room.contains("reserves and headrooms that buffer.pfc sets apart for the links into "), "{room}");
    // what a link brings in ten hours is more than 64 bits hold: two delays, a frame of 64 B and a packet, and two
    // packets
    let absurd = |keys: &str| {
        let fast = GOOD.replace("rate = \"1Gbps\", delay = \"10us\"", "rate = \"1000000000Gbps\", delay = \"18000s\"");
        check(&fast.replace("[queue]", &format!("[buffer]\nsize = \"4MB\"\npfc = {{ {keys} }}\n\n[queue]")))
            .unwrap_err()
    };
    for (keys, least) in [("", "4500000000000000253000"), ("headroom = \"hpcc\"", "6750000000000000000000")] {
        let shown = absurd(keys).to_string();
        assert!(shown.starts_with("buffer.pfc: link "), "{shown}");
        assert!(shown.contains(&format!(": {least}")), "{shown}");
        assert!(
            shown.ends_with(
                " B may come until it has stopped, more than any buffer has; expected a lower rate or shorter delays"
            ),
            "{shown}"
        );
    }
    // one is below 2^64 B, those of a switch together are not
    let many = absurd("headroom = \"10000000000GB\"").to_string();
    assert!(many.starts_with("buffer.size = \"4MB\": expected more than 40000000000000016384B: "), "{many}");
    let host = |host: &str| {
        message("[queue]", &format!("[buffer]\nsize = \"4MB\"\npfc = {{}}\n\n[queue.host]\n{host}\n\n[queue]"))
    };
    said(host("kind = \"fair-nic\""), "queue.host.kind = \"fair-nic\": expected");
    let classes = "kind = \"strict-priority\"\nclasses = [{ kind = \"drop-tail\", limit = \"9p\" }, { kind = \
                   \"drop-tail\", limit = \"9p\" }]";
    said(host(classes), "queue.host.classes = 2 of them: expected");
    check(&GOOD.replace("[queue]", "[buffer]\nsize = \"4MB\"\npfc = {}\n\n[queue]")).unwrap();
}

#[test]
fn queues_that_contradict() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    said(message(queue, "kind = \"fair-nic\""), "queue.kind = \"fair-nic\": expected");
    said(
        message(queue, "kind = \"red\"\nlimit = \"100p\"\nmin_th = \"30kB\"\nmax_th = \"60p\""),
        "queue.min_th = \"30kB\": expected",
    );
    said(
        message(queue, "kind = \"red\"\nlimit = \"100p\"\nmin_th = \"70p\"\nmax_th = \"60p\""),
        "queue.min_th = \"70p\": expected",
    );
    said(message(queue, "kind = \"drop-tail\"\nlimit = \"100p\"\nmark = \"20p\""), "queue.mark: unknown key");
    let random = "kind = \"random-drop\"\nlimit = \"32kB\"\nthreshold = ";
    said(message(queue, &format!("{random}\"5p\"")), "queue.threshold = \"5p\": expected");
    said(message(queue, &format!("{random}\"none\"")), "queue.threshold = \"none\": expected");
    said(
        message(queue, "kind = \"random-drop\"\nlimit = \"none\"\nthreshold = \"none\""),
        "queue.limit = \"none\": expected",
    );
    said(message(queue, &format!("{random}\"33kB\"")), "queue.threshold = \"33kB\": expected");
    said(message(queue, &format!("{random}\"20kB\"\nprobability = 1.5")), "queue.probability = 1.5: expected");
    check(&GOOD.replace(queue, &format!("{random}\"20kB\""))).unwrap();
    let trimming = |keys: &str| message(queue, &format!("kind = \"trimming\"\nlimit = \"12kB\"\n{keys}"));
    said(trimming("header = \"2kB\""), "queue.header = \"2kB\": expected");
    said(trimming("header_limit = \"0p\""), "queue.header_limit = \"0p\": expected");
    said(trimming("headers_per_data = 0"), "queue.headers_per_data = 0: expected");
    said(trimming("headr = \"64B\""), "queue.headr: unknown key");
    said(message(queue, "kind = \"trimming\"\nlimit = \"none\""), "queue.limit = \"none\": expected");
    said(trimming("return_to_sender = true"), "queue.return_to_sender = true: expected a transport that takes");
    let ndp = |keys: &str| {
        let back = format!("kind = \"trimming\"\nlimit = \"12kB\"\nreturn_to_sender = true\n{keys}");
        check(&GOOD.replace(queue, &back).replace("\"linux\"", "\"ndp\""))
    };
    let small = ndp("header_limit = \"127B\"").unwrap_err().to_string();
    said(small, "queue.header_limit = \"127B\": expected at least 128B");
    ndp("header_limit = \"128B\"").unwrap();
    // beside that the transport takes none back
    let host = trimming("host = { kind = \"trimming\", limit = \"12kB\", return_to_sender = true }");
    assert!(host.starts_with("queue.host.return_to_sender = true: expected at switches only"), "{host}");
    let uncut = trimming("cuts = \"none\"\nreturn_to_sender = true");
    assert!(uncut.starts_with("queue.return_to_sender = true: expected false with cuts = \"none\""), "{uncut}");
    let drop_tail = "{ kind = \"drop-tail\", limit = \"20p\" }";
    let weighted = format!("kind = \"weighted\"\nclasses = [{drop_tail}, {drop_tail}]");
    said(message(queue, &format!("{weighted}\nweights = [1]")), "queue.weights = [1.0]: expected");
    for (bad, shown) in [("-1.0", "-1"), ("0", "0"), ("2e9", "2000000000"), ("1e300", "1e300")] {
        assert_eq!(
            message(queue, &format!("{weighted}\nweights = [1, {bad}]")),
            format!("queue.weights.1 = {shown}: expected a weight from a byte a round (1 / quantum) to 1000")
        );
    }
    said(message(queue, &format!("{weighted}\nquantum = \"0B\"")), "queue.quantum = \"0B\": expected");
    said(message(queue, "kind = \"strict-priority\"\nclasses = []"), "queue.classes: ");
    let strict = |class: &str| message(queue, &format!("kind = \"strict-priority\"\nclasses = [{class}]"));
    said(strict("{ kind = \"fair-nic\" }"), "queue.classes.0.kind = \"fair-nic\": expected");
    said(strict("{ kind = \"drop-tail\", limit = \"20p\", device = 3 }"), "queue.classes.0.device = 3: expected");
    said(
        strict("{ kind = \"drop-tail\", limit = \"20p\", count_in_service = true }"),
        "queue.classes.0.count_in_service: expected",
    );
    said(
        strict("{ kind = \"ecn-threshold\", limit = \"20p\", mark = \"30p\" }"),
        "queue.classes.0.mark = \"30p\": expected",
    );
    assert!(strict("{ kind = \"drop-tial\", limit = \"20p\" }").contains("(did you mean \"drop-tail\"?)"));
    assert!(strict("{ kind = \"drop-tail\", limt = \"20p\" }").contains("(did you mean \"limit\"?)"));
    said(strict("{ kind = \"drop-tail\", limit = \"1kB\" }"), "queue.classes.0.limit = \"1kB\": expected");
    let of_class =
        |key: &str| check(&GOOD.replace(queue, &weighted).replace("pattern =", &format!("{key}\npattern =")));
    of_class("class = 1").unwrap();
    assert!(
        of_class("class = 2").unwrap_err().to_string().contains("class = 2: expected 0 to 1, the classes of queue")
    );
    assert!(
        of_class("ack_class = 9")
            .unwrap_err()
            .to_string()
            .contains("ack_class = 9: expected 0 to 1, the classes of queue")
    );
    let departing = format!("{queue}\nmark_at = \"departure\"");
    said(message(queue, &format!("{departing}\nnon_ect = \"drop\"")), "queue.non_ect = \"drop\": expected");
    said(message(queue, &format!("{departing}\ndevice = 100")), "queue.device = 100: expected");
    said(
        message(queue, &format!("{departing}\ncount_dropped_marks = true")),
        "queue.count_dropped_marks = true: expected",
    );
    check(&GOOD.replace(queue, &departing)).unwrap();
}

#[test]
fn links_that_contradict() {
    let link = "delay = \"10us\"";
    let burst = |more: &str| message(link, &format!("{link}, burst = {more}"));
    said(burst("\"100B\""), "topology.link.burst = \"100B\": expected");
    said(
        message("rate = \"1Gbps\", delay", "rate = \"inf\", burst = \"3kB\", delay"),
        "topology.link.burst = \"3kB\": expected",
    );
    said(message(link, &format!("{link}, lose = [3], error_rate = 0.1")), "topology.link.error_rate = 0.1: expected");
    said(message(link, &format!("{link}, lose = [-3]")), "topology.link.lose.0 = -3: expected");
    let tier = |change: &str| message("k = 4", &format!("k = 4\ncore_link = {{ {change} }}"));
    said(tier("burst = \"20B\""), "topology.core_link.burst = \"20B\": expected");
    said(tier("lose = [1], error_rate = 1.0"), "topology.core_link.error_rate = 1: expected");
    // The list is a set: its order does not matter.
    let lose = |list: &str| GOOD.replacen(link, &format!("{link}, lose = {list}"), 1);
    let links =
        |text: &str| format!("{:?}", Scenario::from_toml(text, Path::new("."), "t").unwrap().build().unwrap().links);
    assert_eq!(links(&lose("[5, 3, 3]")), links(&lose("[3, 5]")));
}

#[test]
fn single_links() {
    let routing = "[[traffic]]";
    let one = |keys: &str| message(routing, &format!("[[links]]\n{keys}\n\n{routing}"));
    said(one("link = \"agg0>core7\""), "links.0.link = \"agg0>core7\": no such");
    said(one("delay = \"1us\""), "links.0.link: missing");
    said(one("link = \"h0>edge0\"\ndealy = \"1us\""), "links.0.dealy: unknown key");
    said(
        one("link = \"h0>edge0\"\nrate = \"1bps\"\n[[links]]\nlink = \"edge0>h0\"\ndelay = \"1us\""),
        "links.1.link = \"edge0>h0\": ",
    );
    said(one("link = \"h0>edge0\"\nburst = \"20B\""), "links.0.burst = \"20B\": expected");
    said(one("link = \"h0>edge0\"\nlose = [1]\nerror_rate = 0.5"), "links.0.error_rate = 0.5: expected");

    // Values that are not named stay; forward is the direction named.
    let links = |text: &str| Scenario::from_toml(text, Path::new("."), "t").unwrap().build().unwrap().links;
    let before = links(GOOD);
    let keys = "link = \"core0>agg0\"\nrate = \"2Gbps\"\ndelay = \"5us\"\nback_delay = \"7us\"\nlose = [3]";
    let after = links(&GOOD.replacen(routing, &format!("[[links]]\n{keys}\n\n{routing}"), 1));
    let differing: Vec<usize> =
        (0..before.len()).filter(|i| format!("{:?}", before[*i]) != format!("{:?}", after[*i])).collect();
    let shown: Vec<String> = differing
        .iter()
        .map(|i| format!("{} {} {} {:?}", after[*i].name, after[*i].rate, after[*i].delay, after[*i].loss))
        .collect();
    assert_eq!(shown, ["agg0>core0 2Gbps 7us None", "core0>agg0 2Gbps 5us List([3])"]);
}

#[test]
fn queues_of_links() {
    let routing = "[[traffic]]";
    let one = |keys: &str| message(routing, &format!("[[links]]\n{keys}\n\n{routing}"));
    let two = |a: &str, b: &str| one(&format!("{a}\n[[links]]\n{b}"));
    let queue = "queue = { kind = \"drop-tail\", limit = \"9p\" }";
    said(one("link = \"edge*>hh*\"\ndelay = \"1us\""), "links.0.link = \"edge*>hh*\": matches no link");
    said(one("link = \"agg*\"\ndelay = \"1us\""), "links.0.link = \"agg*\": matches no link");
    said(
        two("link = \"agg*>core*\"\ndelay = \"1us\"", "link = \"core1>agg2\"\ndelay = \"2us\""),
        "links.1.link = \"core1>agg2\": links.0 is about the same link",
    );
    said(
        two(&format!("link = \"edge0>h0\"\n{queue}"), &format!("link = \"edge*>h*\"\n{queue}")),
        "links.1.link = \"edge*>h*\": links.0 has a queue for edge0>h0 too",
    );
    let own = |keys: &str| one(&format!("link = \"edge0>h0\"\nqueue = {{ {keys} }}"));
    said(own("kind = \"drop-tail\", limit = \"0p\""), "links.0.queue.limit = \"0p\": expected room");
    said(own("kind = \"drop-tail\", limit = \"500B\""), "links.0.queue.limit = \"500B\": expected at least");
    said(own("kind = \"drop-tail\", limit = \"9p\", limt = \"5p\""), "links.0.queue.limt: unknown key");
    said(own("kind = \"ecn-threshold\", limit = \"5p\", mark = \"6p\""), "links.0.queue.mark = \"6p\": expected");
    said(own("kind = \"fair-nic\""), "links.0.queue.kind = \"fair-nic\": expected at hosts only");
    said(
        own("kind = \"drop-tail\", limit = \"9p\", host = { kind = \"drop-tail\", limit = \"9p\" }"),
        "links.0.queue.host: unknown key",
    );
    let classes = "kind = \"strict-priority\", classes = [{ kind = \"drop-tail\", limit = \"9p\" }]";
    let bucket = "queue = { kind = \"drop-tail\", limit = \"9p\", device = 3 }\nburst = \"20kB\"";
    said(one(&format!("link = \"edge*>h*\"\n{bucket}")), "links.0.queue.device = 3: expected 0");
    let two_classes = "{ kind = \"strict-priority\", classes = [{ kind = \"drop-tail\", limit = \"9p\" }, \
                       { kind = \"drop-tail\", limit = \"9p\" }] }";
    said(
        one(&format!("link = \"agg0>edge0\"\nqueue = {two_classes}\n[buffer]\nsize = \"1MB\"\npfc = {{}}")),
        "links.0.queue.classes = 2 of them: expected as many classes as the switches' queues have, 1",
    );
    let adaptive = "[routing]\nkind = \"adaptive\"\n[[links]]\nlink = \"agg*>core*\"\n\
                    queue = { kind = \"drop-tail\", limit = \"none\" }\n";
    said(message("[routing]\nkind = \"ecmp\"\n", adaptive), "links.0.queue: expected a limit: routing compares ports");
    let text = GOOD.replace("pattern =", "class = 1\npattern =");
    let text =
        text.replacen(routing, &format!("[[links]]\nlink = \"edge0>h0\"\nqueue = {{ {classes} }}\n{routing}"), 1);
    said(
        check(&text).unwrap_err().to_string(),
        "traffic.load.class = 1: expected 0 to 0, the classes of links.0.queue",
    );
}

#[test]
fn failures_of_links() {
    let traffic = "[[traffic]]";
    let one = |keys: &str| message(traffic, &format!("[[failures]]\n{keys}\n\n{traffic}"));
    let at = "at = \"1ms\"\ndetection = \"1us\"";
    let core = format!("link = \"agg0>core0\"\n{at}");
    said(one("link = \"agg0>core0\""), "failures.0.at: missing");
    said(one("link = \"agg0>core0\"\nat = \"1ms\""), "failures.0.detection: missing; expected the time until");
    said(one(&format!("{core}\nuntill = \"2ms\"")), "failures.0.untill: unknown key");
    said(one(&format!("link = \"agg0>core7\"\n{at}")), "failures.0.link = \"agg0>core7\": no such");
    said(one(at), "failures.0.link: missing");
    let between = format!("between = [\"agg\", \"core\"]\n{at}");
    said(one(&between), "failures.0.share: missing");
    said(one(&format!("{core}\nshare = 0.5")), "failures.0.share = 0.5: expected");
    said(
        one(&format!("{core}\nbetween = [\"agg\", \"core\"]\nshare = 0.5")),
        "failures.0.link = \"agg0>core0\": expected",
    );
    for ends in ["[\"agg\"]", "[\"agg\", \"core\", \"edge\"]", "[]"] {
        assert_eq!(
            one(&format!("between = {ends}\nshare = 0.5\n{at}")),
            format!("failures.0.between = {ends}: expected a list of 2 texts in quotes")
        );
    }
    said(one(&format!("{between}\nshare = 1e300")), "failures.0.share = 1e300: expected");
    said(one(&format!("{between}\nshare = 1.5")), "failures.0.share = 1.5: expected");
    said(one(&format!("{between}\nshare = 0.01")), "failures.0.share = 0.01: ");
    said(
        one(&format!("between = [\"agg\", \"spine\"]\nshare = 0.5\n{at}")),
        "failures.0.between = [\"agg\", \"spine\"]: ",
    );
    said(one("link = \"agg0>core0\"\nat = \"10ms\"\ndetection = \"1us\""), "failures.0.at = \"10ms\": expected");
    said(one(&format!("{core}\nuntil = \"1ms\"")), "failures.0.until = \"1ms\": expected");
    said(one(&format!("{core}\nkind = \"degarded\"")), "failures.0.kind = \"degarded\": expected");
    said(one(&format!("{core}\nloss = 0.5")), "failures.0.loss = 0.5: expected");
    let degraded = "link = \"agg0>core0\"\nat = \"1ms\"\nkind = \"degraded\"".to_owned();
    said(one(&degraded), "failures.0: expected");
    said(one(&format!("{degraded}\nrate = \"0bps\"")), "failures.0.rate = \"0bps\": expected");
    said(one(&format!("{degraded}\nloss = 0.1\ndetection = \"1us\"")), "failures.0.detection = \"1us\": expected");
    said(
        one(&format!("{core}\n[[failures]]\nlink = \"core0>agg0\"\nat = \"2ms\"\ndetection = \"0s\"")),
        "failures.1.link = \"core0>agg0\": ",
    );
    // a host has one link; ten flows of the hotspot go somewhere else
    let said = one("link = \"edge0>h0\"\nat = \"1ms\"\ndetection = \"2us\"");
    assert!(said.starts_with("failures.0.link = \"edge0>h0\": leaves no path between h"), "{said}");
    assert!(
        said.contains(" from 1.002ms on, where flow ") && said.contains(" of traffic.load may have traffic; "),
        "{said}"
    );
    let said = one(&format!("between = [\"edge\", \"agg\"]\nshare = 1\n{at}"));
    assert!(said.starts_with("failures.0.between = [\"edge\", \"agg\"]: leaves no path between h"), "{said}");

    // over before it is seen: nobody is told, packets are lost
    let built = |keys: &str| {
        let text = GOOD.replacen(traffic, &format!("[[failures]]\n{keys}\n\n{traffic}"), 1);
        Scenario::from_toml(&text, Path::new("."), "t").unwrap().build().unwrap()
    };
    assert_eq!(built("link = \"edge0>h0\"\nat = \"1ms\"\nuntil = \"2ms\"\ndetection = \"1ms\"").failures.len(), 2);
    // which links fail the seed decides, half of sixteen, both directions
    let links = |seed: u64| -> Vec<u32> {
        let text = "between = [\"agg\", \"core\"]\nat = \"1ms\"\nkind = \"degraded\"\nloss = 0.5\nshare = 0.5";
        let text = GOOD.replacen(traffic, &format!("[[failures]]\n{text}\n\n{traffic}"), 1);
        let mut s = Scenario::from_toml(&text, Path::new("."), "t").unwrap();
        s.set("run.seed", &seed.to_string()).unwrap();
        s.build().unwrap().failures.iter().map(|f| f.link).collect()
    };
    assert_eq!(links(1), links(1));
    assert_eq!(links(1).len(), 16);
    assert_ne!(links(1), links(2));
}

#[test]
fn queues_that_do_not_go_with_a_token_bucket() {
    let with_burst = GOOD.replacen("delay = \"10us\"", "delay = \"10us\", burst = \"3kB\"", 1);
    let refused = |from: &str, to: &str| check(&with_burst.replacen(from, to, 1)).unwrap_err().to_string();
    let mark = "mark = \"20p\"";
    said(refused(mark, &format!("{mark}\ndevice = 100")), "queue.device = 100: expected");
    said(refused(mark, &format!("{mark}\nmark_at = \"departure\"")), "queue.mark_at = \"departure\": expected");
    said(
        refused(mark, &format!("{mark}\nhost = {{ kind = \"fair-nic\" }}")),
        "queue.host.kind = \"fair-nic\": expected",
    );
    said(
        message(mark, &format!("{mark}\nmark_at = \"departure\"\ncount_overhead = true")),
        "queue.count_overhead = true: expected",
    );
    // The queues of hosts do not matter where only switches' links have a bucket.
    check(&GOOD.replacen("k = 4", "k = 4\ncore_link = { burst = \"3kB\" }", 1).replacen(
        mark,
        &format!("{mark}\nhost = {{ kind = \"fair-nic\" }}"),
        1,
    ))
    .unwrap();
}

#[test]
fn queues_that_hold_no_packet() {
    // Linux: 1448 bytes and a header of 52.
    let limit = |queue: &str| message("limit = \"100p\"\nmark = \"20p\"", queue);
    let full = "expected at least 1500B, a full packet of the transport";
    assert_eq!(limit("limit = \"1B\"\nmark = \"20p\""), format!("queue.limit = \"1B\": {full}"));
    assert_eq!(limit("limit = \"1499B\"\nmark = \"1kB\""), format!("queue.limit = \"1.499kB\": {full}"));
    assert_eq!(
        limit("limit = \"100p\"\nmark = \"20p\"\nhost = { kind = \"drop-tail\", limit = \"1kB\" }"),
        format!("queue.host.limit = \"1kB\": {full}")
    );
    // The largest packet of all transports in use; fragments are no larger than the MTU.
    let own = |transport: &str| {
        let text = GOOD.replace("limit = \"100p\"\nmark = \"20p\"", "limit = \"1500B\"\nmark = \"20p\"");
        check(&text.replace("flows = 10", &format!("flows = 10\ntransport = {transport}"))).map_err(|e| e.to_string())
    };
    assert_eq!(own("{ mss = 1448 }"), Ok(()));
    assert_eq!(own("{ mss = 3000 }"), Ok(()));
    assert_eq!(
        own("{ preset = \"htsim\" }"),
        Err("queue.limit = \"1.5kB\": expected at least 4000B, a full packet of the transport".into())
    );
    // Packets and bytes are not compared.
    check(&GOOD.replace("mark = \"20p\"", "mark = \"1GB\"")).unwrap();
}

#[test]
fn sleek_is_for_switches_that_cut_nothing() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    assert!(GOOD.contains(queue));
    let with = |cuts: &str| {
        let host = "host = { kind = \"drop-tail\", limit = \"none\" }";
        let trimming = format!("kind = \"trimming\"\nlimit = \"64kB\"\n{cuts}\n{host}");
        GOOD.replace(queue, &trimming).replace("preset = \"linux\"", "preset = \"uet\"\nuet = { sleek = true }")
    };
    check(&with("cuts = \"none\"")).unwrap();
    for (cuts, shown) in [("", "either"), ("cuts = \"arrival\"", "arrival")] {
        let found = check(&with(cuts)).expect_err(cuts).to_string();
        assert_eq!(
            found,
            format!(
                "queue.cuts = \"{shown}\": expected \"none\" with transport.uet.sleek: trimmed packets are reported by \
                 NACKs"
            )
        );
    }
}

#[test]
fn programs_with_too_many_steps() {
    let program = |keys: &str| message("[routing]", &format!("[[program]]\n{keys}\n[routing]"));
    for (kind, key) in [("rcp", "rtt"), ("rcp", "period"), ("xcp", "rtt")] {
        said(
            program(&format!("kind = \"{kind}\"\n{key} = \"1ps\"")),
            &format!("program.0.{key} = \"1ps\": expected 100ns or more"),
        );
    }
}
