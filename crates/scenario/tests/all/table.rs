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

/// What `build` says against a scenario.
fn said(name: &str, sets: &Sets) -> String {
    scenario(name, sets).build().map_or_else(|errors| errors.to_string(), |_| String::new())
}

/// SCCP as tables, with a common round trip and a floor.
fn sccp(rtt: &str, floor: &str) -> String {
    let count = |what: &str, when: &str, by: i32| {
        format!(
            "{{ priority = 100, match = {{ flags = \"{what}/{what}\" }}, {when}actions = [{{ add = {by}, to = \"flows\", \
             port = \"egress\" }}] }}"
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

/// All tables of results but that of entries.
fn results(outcome: &Outcome) -> String {
    let tables = TABLES.iter().filter(|(name, _)| *name != "entries");
    tables.map(|(name, make)| format!("{name} {:?}\n", make(outcome))).collect()
}

/// A scenario gives the same bytes with the program and with the tables.
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
