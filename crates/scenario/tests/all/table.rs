//! Match-action tables: `[[program]] kind = "table"`.

use incast_record::Outcome;
use incast_record::table::TABLES;
use incast_scenario::Scenario;

type Sets<'a> = [(&'a str, &'a str)];

fn scenario(name: &str, sets: &Sets) -> Scenario {
    let mut s = Scenario::load(name).unwrap();
    sets.iter().for_each(|(key, value)| s.set(key, value).unwrap_or_else(|e| panic!("{key}={value}: {e}")));
    s
}

fn run(name: &str, sets: &Sets) -> Outcome {
    incast_engine::run(&scenario(name, sets).build().unwrap(), &mut |_| true).unwrap()
}

/// Error message of `build` for a scenario.
fn said(name: &str, sets: &Sets) -> String {
    scenario(name, sets).build().map_or_else(|errors| errors.to_string(), |_| String::new())
}

/// SCCP as tables, with a common round trip and a floor.
fn sccp(rtt: &str, floor: &str) -> String {
    let count = |what: &str, when: &str, by: i32| {
        format!(
            "{{ priority = 100, match = {{ flags = \"{what}/{what}\" }}, {when}actions = [{{ add = {by}, to = \
             \"flows\", port = \"egress\" }}] }}"
        )
    };
    let (opens, closes) = (count("SYN", "", 1), count("FIN", "when = \"flows[egress] > 0\", ", -1));
    let share = format!("max(rate[ingress] * {rtt} / 8 / flows[ingress], {floor})");
    let window = format!(
        "{{ match = {{ flags = \"ACK/ACK+RST\" }}, when = \"flows[ingress] > 0\", actions = [{{ lower = \"wnd\", to = \
         \"{share}\" }}] }}"
    );
    format!(
        "[{{ kind = \"table\", registers = {{ flows = \"port\" }}, tables = [{{ name = \"count\", entries = [{opens}, \
         {closes}] }}, {{ name = \"window\", entries = [{window}] }}] }}]"
    )
}

/// All tables of results except that of entries.
fn results(outcome: &Outcome) -> String {
    let tables = TABLES.iter().filter(|(name, _)| *name != "entries");
    tables.map(|(name, make)| format!("{name} {:?}\n", make(outcome))).collect()
}

/// Checks that a scenario gives the same bytes with the program and with the tables.
fn same(name: &str, sets: &Sets, rtt: &str, floor: &str) -> Outcome {
    let program = format!("[{{ kind = \"sccp\", common_rtt = \"{rtt}\", floor = \"{floor}\" }}]");
    let built_in = run(name, &[sets, &[("program", &*program)]].concat());
    let tables = run(name, &[sets, &[("program", &*sccp(rtt, floor))]].concat());
    assert_eq!(results(&built_in), results(&tables), "{name} {sets:?}");
    assert_eq!((built_in.hops, built_in.end_ps), (tables.hops, tables.end_ps));
    assert!(tables.entries.iter().any(|e| e.table == "window" && e.packets > 0));
    tables
}

#[test]
fn sccp_as_tables_gives_the_bytes_of_the_program() {
    let few = ("topology.sources", "40");
    let flows = ("traffic.flows", "40");
    let o = same("sccp-incast", &[few, flows], "300us", "1B");
    assert_eq!(format!("{:?}", o.flows), format!("{:?}", run("sccp-table", &[few, flows]).flows));
    // connections of a query, which open and close again and again
    let fresh = ("traffic.app.connections", "per-query");
    same("sccp-incast", &[few, flows, fresh], "300us", "1B");
    same("sccp-incast", &[few, flows, fresh, ("transport.mtu", "600")], "600us", "1460B");
    same("sccp-incast", &[few, flows, ("transport.sack", "true"), ("transport.initial_window", "10")], "200us", "93B");
}

#[test]
fn sccp_as_tables_gives_the_bytes_of_the_program_where_segments_are_lost() {
    // a buffer of a few packets drops SYNs, FINs and data
    let lossy = [
        ("topology.sources", "40"),
        ("traffic.flows", "40"),
        ("traffic.app.connections", "per-query"),
        ("queue.limit", "8p"),
        ("traffic.app.count", "2"),
        ("run.duration", "120s"),
    ];
    let o = same("sccp-incast", &lossy, "300us", "1B");
    assert!(o.ports.iter().map(|p| p.drops).sum::<u64>() > 20);
    // errors on the wire too, which SYNs and FINs meet
    let errors = [&lossy[..], &[("links", "[{ link = \"gateway>sink\", error_rate = 0.05 }]")]].concat();
    let syns = counted(&same("sccp-incast", &errors, "300us", "1B"), "count", "0");
    assert!(syns > 165, "{syns} SYNs where 160 are needed");
    let tree = [
        ("topology.k", "4"),
        ("transport.preset", "linux"),
        ("routing.symmetric", "true"),
        ("traffic.app.size", "200kB"),
        ("queue.limit", "20p"),
    ];
    same("permutation", &tree, "300us", "1B");
}

/// Packets of an entry, at all nodes.
fn counted(o: &Outcome, table: &str, entry: &str) -> u64 {
    o.entries.iter().filter(|e| e.table == table && e.entry == entry).map(|e| e.packets).sum()
}

/// One program of tables, from the text inside its braces.
fn tables(keys: &str) -> String {
    format!("[{{ kind = \"table\", {keys} }}]")
}

/// Two flows of 60 kB, of hosts 1 and 2 to host 0 of a star.
const TWO: [(&str, &str); 6] = [
    ("topology.sources", "2"),
    ("traffic.flows", "2"),
    ("traffic.app", "{ kind = \"bulk\", size = \"60kB\" }"),
    ("controller", "dctcp"),
    ("transport.mtu", "0"),
    ("run.duration", "20ms"),
];

fn two(program: &str) -> Outcome {
    let program = tables(program);
    run("sccp-incast", &[&TWO[..], &[("program", program.as_str())]].concat())
}

fn two_said(program: &str) -> String {
    let program = tables(program);
    said("sccp-incast", &[&TWO[..], &[("program", program.as_str())]].concat())
}

#[test]
fn of_entries_that_match_the_one_of_the_highest_priority_acts() {
    let o = two(
        "tables = [{ entries = [{ name = \"all\" }, { name = \"data\", priority = 2, match = { kind = \"data\" } }, \
         { name = \"one\", priority = 3, match = { flow = 1 } }, { name = \"none\", priority = 9, \
         match = { flow = \"7/7\" } }, { name = \"never\", priority = 8, when = \"size > 9kB\" }] }]",
    );
    let rows = |o: &Outcome| o.entries.iter().map(|e| (e.entry.clone(), e.packets)).collect::<Vec<_>>();
    let names: Vec<_> = o.entries.iter().map(|e| (e.entry.as_str(), e.priority)).collect();
    assert_eq!(names, [("none", 9), ("never", 8), ("one", 3), ("data", 2), ("all", 0)]);
    let rows = rows(&o);
    assert_eq!((rows[0].1, rows[1].1), (0, 0));
    // 60 kB are 42 segments of 1460 bytes; SYN, data, FIN and their answers
    let flow = &o.flows[1];
    assert!(rows[2].1 >= 2 * flow.sent, "{rows:?}");
    assert_eq!(rows[3].1, o.flows[0].sent + 1, "data of flow 0, and its FIN: {rows:?}");
    let bytes = o.entries[3].bytes;
    assert!(bytes > 60_000 && bytes < 60_000 + 60 * rows[3].1, "{bytes} bytes");
}

#[test]
fn tables_choose_ways_and_drop_and_mark_packets() {
    let entry = |keys: &str| two(&format!("tables = [{{ entries = [{{ {keys} }}] }}]"));
    let plain = entry("match = { flow = \"9/15\" }");
    assert!(plain.flows.iter().all(|f| f.finish_ps.is_some()));
    // a port to another host than the packet's own leads nowhere
    let astray = entry("match = { flow = 1, kind = \"data\" }, actions = [{ output = \"source0\" }]");
    assert!(astray.flows[0].finish_ps.is_some() && astray.flows[1].finish_ps.is_none());
    assert_eq!(astray.flows[1].delivered, 0);
    let same = entry("match = { kind = \"data\" }, actions = [{ output = \"sink\" }]");
    // the ideal of what tables send anywhere is a bound from below
    let without_ideals = |flows: &[incast_record::FlowRecord]| {
        let known = flows.iter().cloned();
        let bare = known.map(|f| incast_record::FlowRecord { ideal_fct_ps: None, ideal_delivery_ps: None, ..f });
        format!("{:?}", bare.collect::<Vec<_>>())
    };
    assert_eq!(without_ideals(&same.flows), without_ideals(&plain.flows));
    assert!(same.flows[0].ideal_fct_ps <= plain.flows[0].ideal_fct_ps);
    let dropped = entry("match = { flags = \"SYN/SYN+ACK\", source = \"source0\" }, actions = [{ drop = true }]");
    assert!(dropped.flows[0].finish_ps.is_some() && dropped.flows[1].delivered == 0);
    assert!(dropped.packets_dropped > 0);
    let marked = entry("match = { kind = \"data\", ect = true, ce = false }, actions = [{ mark = true }]");
    assert!(marked.ports.iter().map(|p| p.marks).sum::<u64>() > 60, "{:?}", marked.entries);
    assert!(marked.flows[0].finish_ps > plain.flows[0].finish_ps, "DCTCP takes marks for congestion");
    let back = entry("match = { flow = 1, kind = \"data\" }, actions = [{ output = \"ingress\" }]");
    assert_eq!(back.flows[1].delivered, 0);
}

#[test]
fn entries_end_with_their_time() {
    let o = two(
        "tables = [{ entries = [{ name = \"hard\", priority = 3, match = { flow = 0, kind = \"data\" }, hard = \"1ms\" \
         }, { name = \"idle\", priority = 2, match = { flow = 1, kind = \"data\" }, idle = \"9ms\" }, { name = \
         \"rest\", \
         match = { kind = \"data\" } }] }]",
    );
    let [hard, idle, rest] = &o.entries[..] else { panic!("{:?}", o.entries) };
    assert_eq!(hard.ended_ps, Some(1_000_000_000));
    assert_eq!(idle.ended_ps, None, "packets keep it");
    assert!(
        idle.packets > 40 && rest.packets == o.flows[0].sent + 1 - hard.packets && rest.packets > 0,
        "{hard:?} {rest:?}"
    );
    let gone = two("tables = [{ entries = [{ match = { kind = \"data\" }, idle = \"10us\" }] }]");
    assert!(gone.entries[0].packets < 5 && gone.entries[0].ended_ps.is_some(), "{:?}", gone.entries);
}

#[test]
fn meters_hold_packets_to_a_rate_and_a_burst() {
    let metered = |above: &str| {
        two(&format!(
            "meters = [{{ name = \"m\", rate = \"100Mbps\", burst = \"6kB\", above = \"{above}\" }}], tables = [{{ \
             entries = [{{ match = {{ flow = 0, kind = \"data\" }}, actions = [{{ meter = \"m\" }}] }}] }}]"
        ))
    };
    let dropped = metered("drop");
    assert!(dropped.packets_dropped > 0);
    assert!(dropped.flows[0].retransmissions > 0 && dropped.flows[1].retransmissions == 0);
    let marked = metered("mark");
    let marks: u64 = marked.ports.iter().map(|p| p.marks).sum();
    assert!(marks > 0 && marked.packets_dropped == 0, "{marks} marks");
}

#[test]
fn the_first_packets_of_a_flow_wait_for_the_controller() {
    let learns = |more: &str| {
        two(&format!(
            "controller = {{ latency = \"100us\", processing = \"10us\", install = [{{ name = \"learned\", priority = \
             5, match = {{ kind = \"tcp\" }}, exact = [\"flow\", \"destination\"], actions = [] {more} }}] }}, tables \
             = [{{ name = \"ways\", miss = \"controller\" }}]"
        ))
    };
    let (plain, o) = (two("tables = [{}]"), learns(""));
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    // SYN and SYN-ACK of a flow wait 210 us each, and the SYN of the other flow is served before or after it
    let names: Vec<_> = o.entries.iter().map(|e| e.entry.as_str()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names[0].starts_with("learned flow=") && names[0].contains(",destination="), "{names:?}");
    for (waited, at_once) in o.flows.iter().zip(&plain.flows) {
        let later = waited.finish_ps.unwrap() - at_once.finish_ps.unwrap();
        assert!((420_000_000..480_000_000).contains(&later), "{later} ps later");
    }
    let sent: u64 = o.entries.iter().map(|e| e.packets).sum();
    let all = two("tables = [{ entries = [{ name = \"all\" }] }]").entries[0].packets;
    assert_eq!(sent, all, "what waited counts when it goes on");
    // entries that end are asked for again
    let again = learns(", idle = \"30us\"");
    let ended = again.entries.iter().filter(|e| e.ended_ps.is_some()).count();
    assert!(ended > 4, "{ended} of {}", again.entries.len());
    assert!(again.flows.iter().all(|f| f.finish_ps.is_some()));
}

#[test]
fn a_controller_at_a_node_is_as_far_as_the_quickest_way_there() {
    let at = |place: &str| {
        let controller = format!("controller = {{ {place}, install = [{{ match = {{ kind = \"tcp\" }} }}] }}");
        two(&format!("{controller}, tables = [{{ name = \"ways\", miss = \"controller\" }}]"))
    };
    // the link to the sink takes 40 us
    let far = at("latency = \"60us\", node = \"sink\"");
    assert_eq!(format!("{:?}", far.flows), format!("{:?}", at("latency = \"100us\"").flows));
    assert!(far.flows[0].finish_ps > at("node = \"gateway\"").flows[0].finish_ps, "at the switch itself");
}

#[test]
fn a_controller_without_an_entry_drops_or_lets_pass_and_keeps_so_many_packets() {
    let asks = |keys: &str| {
        two(&format!(
            "controller = {{ latency = \"50us\", {keys} }}, tables = [{{ miss = \"controller\", entries = [{{ match = \
             {{ kind = \"ack\" }} }}, {{ match = {{ kind = \"syn\" }} }}] }}]"
        ))
    };
    let passes = asks("otherwise = \"pass\"");
    assert!(passes.flows.iter().all(|f| f.finish_ps.is_some()), "late but there");
    assert_eq!(asks("otherwise = \"drop\"").flows[0].delivered, 0);
    let few = asks("buffer = 1");
    assert!(few.packets_dropped > 0 && few.flows.iter().any(|f| f.delivered > 0));
}

#[test]
fn tables_of_packets_that_leave_mark_by_what_is_left_behind() {
    let by_class = [(
        "queue",
        "{ kind = \"strict-priority\", classes = [{ kind = \"drop-tail\", limit = \"100kB\" }, { kind = \"drop-tail\", \
         limit = \"100kB\" }] }",
    )];
    let program = tables(
        "tables = [{ name = \"in\", entries = [{ match = { kind = \"data\", flow = 0 }, actions = [{ class = 1 }] }] \
         }, { name = \"out\", at = \"egress\", entries = [{ match = { kind = \"data\", ect = true }, when = \
         \"queue[egress] \
         > 3kB\", actions = [{ mark = true }] }] }]",
    );
    let sets = [&TWO[..], &by_class, &[("program", program.as_str())]].concat();
    let o = run("sccp-incast", &sets);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    let marks: u64 = o.ports.iter().map(|p| p.marks).sum();
    assert_eq!(marks, counted(&o, "out", "0"));
    assert!(marks > 0);
    // flow 0 is in the second class by the table
    let used = o.ports.iter().find(|p| &*p.name == "gateway>sink").unwrap();
    assert!(used.classes[1].packets > 40, "{:?}", used.classes);
    assert_eq!(used.classes[1].packets, o.flows[0].sent + 1);
    let refused = said("sccp-incast", &[&TWO[..], &[("program", &*tables("tables = [{ at = \"egress\" }]"))]].concat());
    assert!(refused.contains("program.0.tables.0.at") && refused.contains("explicit"), "{refused}");
}

#[test]
fn keys_name_tables_and_entries_as_errors_do() {
    let mut s = scenario("sccp-table", &[]);
    s.set("program.0.tables.window.entries.share.priority", "7").unwrap();
    let same = scenario("sccp-table", &[("program.0.tables.1.entries.0.priority", "7")]);
    assert_eq!(s.resolved_toml().unwrap(), same.resolved_toml().unwrap());
    let wrong = s.set("program.0.tables.window.entries.share.priority", "70000").unwrap_err().to_string();
    assert!(wrong.starts_with("program.0.tables.window.entries.share.priority = 70000: expected"), "{wrong}");
    // ... and by numbers the same
    let wrong = s.set("program.0.tables.1.entries.0.priority", "70000").unwrap_err().to_string();
    assert!(wrong.starts_with("program.0.tables.window.entries.share.priority = 70000: expected"), "{wrong}");
    let unknown = s.set("program.0.tables.windows.miss", "drop").unwrap_err().to_string();
    assert!(unknown.contains("there are 2 entries of program.0.tables"), "{unknown}");
}

/// Checks that the message for a program has these words.
fn says(program: &str, words: &[&str]) {
    let message = two_said(program);
    words.iter().for_each(|word| assert!(message.contains(word), "{word} not in: {message}\nof {program}"));
}

#[test]
fn what_tables_cannot_be_is_refused() {
    let entry = |keys: &str, words: &[&str]| {
        says(
            &format!(
                "registers = {{ n = \"port\", t = \"switch\" }}, tables = [{{ name = \"a\", entries = [{{ {keys} }}] \
                 }}]"
            ),
            words,
        )
    };
    says("tables = []", &["program.0.tables", "at least one"]);
    says("registers = { Wnd = \"port\" }, tables = [{}]", &["program.0.registers.Wnd", "small letters"]);
    says("registers = { wnd = \"port\" }, tables = [{}]", &["program.0.registers.wnd", "meaning"]);
    says("tables = [{ name = \"a\" }, { name = \"a\" }]", &["tables.a.name = \"a\"", "second time"]);
    entry("match = { flags = \"SYN+FOO/SYN\" }", &["program.0.tables.a.entries.0.match.flags", "has FOO", "CWR"]);
    entry("match = { flags = \"SYN+ACK/SYN\" }", &["match.flags = \"SYN+ACK/SYN\"", "outside its mask"]);
    entry("match = { flags = \"SYN\", kind = \"datagram\" }", &["match.flags", "datagram"]);
    entry("match = { flow = \"0x5/0x3\" }", &["match.flow = \"0x5/0x3\"", "outside its mask (0x4)"]);
    entry("match = { size = 70000 }", &["match.size = 70000", "up to 65535"]);
    entry("match = { source = \"h99\" }", &["match.source = \"h99\"", "name or number"]);
    entry("match = { source = 99 }", &["program.0.tables.a.entries.0.match.source = 99", "expected one of 0 to"]);
    entry("match = { destination = 99 }", &["match.destination = 99", "hosts"]);
    entry("match = { flow = 2 }", &["match.flow = 2", "the run has 2 flows; expected one of 0 to 1"]);
    entry("match = { egress = \"nowhere\" }", &["match.egress = \"nowhere\"", "gateway>"]);
    entry("match = { ingress = \"source*\" }", &["match.ingress", "several ports of gateway"]);
    entry(
        "when = \"m[ingress] > 0\"",
        &["entries.0.when = \"m[ingress] > 0\"", "neither a field nor a register", "n, t"],
    );
    entry("when = \"size\"", &["entries.0.when", "expected a condition"]);
    entry("actions = [{ }]", &["entries.0.actions.0", "says nothing"]);
    entry("actions = [{ drop = true, mark = true }]", &["actions.0", "mark and drop at once"]);
    entry("actions = [{ drop = false }]", &["actions.0.drop = false", "expected true"]);
    entry("actions = [{ add = 1, to = \"n\" }]", &["actions.0.port", "missing"]);
    entry("actions = [{ add = 1, to = \"t\", port = \"egress\" }]", &["actions.0.port", "no t of their own"]);
    entry("actions = [{ add = 1, to = \"x\" }]", &["actions.0.to = \"x\"", "n, t"]);
    entry("actions = [{ lower = \"ce\", to = 1 }]", &["actions.0.lower = \"ce\"", "cannot be written"]);
    entry("actions = [{ lower = \"wnd\" }]", &["actions.0.to", "missing"]);
    entry("actions = [{ lower = \"wnd\", to = \"1us\" }]", &["actions.0.to = \"1us\"", "is a time"]);
    entry("actions = [{ mark = true, to = 1 }]", &["actions.0.to", "beside mark"]);
    entry("actions = [{ goto = \"a\" }]", &["actions.0.goto = \"a\"", "is no later table"]);
    entry("actions = [{ goto = \"b\" }]", &["actions.0.goto = \"b\"", "no table has this name"]);
    entry("actions = [{ meter = \"m\" }]", &["actions.0.meter = \"m\"", "there is no meter"]);
    entry("actions = [{ class = 1 }]", &["actions.0.class = 1", "queues for classes"]);
    entry("actions = [{ class = 7 }]", &["actions.0.class = 7", "up to 6"]);
    entry("actions = [{ output = \"stack\" }]", &["actions.0.output", "expected a port"]);
    entry("idle = \"0s\"", &["entries.0.idle", "above 0"]);
    says(
        "meters = [{ name = \"m\", rate = \"inf\", burst = \"0B\" }], tables = [{}]",
        &["meters.m.rate", "meters.m.burst"],
    );
}

#[test]
fn entries_that_overlap_and_controllers_without_a_place_are_refused() {
    let pair = |a: &str, b: &str| {
        two_said(&format!(
            "tables = [{{ entries = [{{ name = \"x\", priority = 4, match = {{ {a} }} }}, {{ name = \"y\", \
             priority = 4, \
             match = {{ {b} }} }}] }}]"
        ))
    };
    let overlaps = pair("flags = \"ACK/ACK\"", "flags = \"SYN/SYN\"");
    assert!(
        overlaps.contains("tables.0.entries.y.priority = 4") && overlaps.contains("overlaps entry x"),
        "{overlaps}"
    );
    for (a, b) in [
        ("flags = \"SYN/SYN\"", "flags = \"FIN/FIN\""),
        ("kind = \"syn\"", "kind = \"datagram\""),
        ("kind = \"tcp\"", "kind = \"datagram\""),
        ("flow = \"0/1\"", "flow = \"1/1\""),
        ("ingress = \"sink\"", "ingress = \"source0\""),
        ("egress = \"stack\"", "egress = \"sink\""),
        ("ce = true", "ce = false"),
    ] {
        assert_eq!(pair(a, b), "", "{a} and {b}");
    }
    says("tables = [{ miss = \"controller\" }]", &["tables.0.miss = \"controller\"", "no controller"]);
    says("tables = [{}], controller = { latency = \"1ms\" }", &["program.0.controller", "no table asks"]);
    let leaves = |keys: &str| format!("tables = [{{ at = \"egress\", {keys} }}]");
    says(&leaves("miss = \"drop\""), &["tables.0.miss = \"drop\"", "expected pass"]);
    says(&leaves("entries = [{ match = { ingress = \"sink\" } }]"), &["entries.0.match.ingress", "has no ingress"]);
    says("registers = { queue_packets = \"port\" }, tables = [{}]", &["registers.queue_packets", "time series"]);
    let place = |keys: &str| format!("tables = [{{ miss = \"controller\" }}], controller = {{ {keys} }}");
    says(&place(""), &["program.0.controller.latency", "the node that the controller is at"]);
    says(&place("node = \"h7\""), &["program.0.controller.node = \"h7\"", "no node has this name"]);
    let both = "tables = [{ name = \"a\", miss = \"controller\" }, { name = \"b\", miss = \"controller\" }], \
                controller = { latency = \"1ms\", install = [{ }] }";
    says(both, &["controller.install.0.table", "a, b"]);
}
