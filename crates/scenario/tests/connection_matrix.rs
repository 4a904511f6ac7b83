//! htsim's connection matrices: what their lines become, and what a user reads when one is wrong.

use incast_engine::spec::{App, Done, Spec};
use incast_scenario::{Scenario, builtin};

/// `hotspot` (16 hosts) with a matrix for its traffic.
fn built(name: &str, matrix: &str, keys: &str) -> Result<Spec, String> {
    let dir = std::env::temp_dir().join(format!("incast-matrix-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("m.cm"), matrix).unwrap();
    let text = builtin::text("hotspot").unwrap();
    let head = &text[..text.find("[[traffic]]").unwrap()];
    let text = format!("{head}[[traffic]]\nname = \"m\"\npattern = \"connection-matrix\"\nfile = \"m.cm\"\n{keys}\n");
    let spec = Scenario::from_toml(&text, &dir, "m").and_then(|s| s.build()).map_err(|e| e.to_string());
    std::fs::remove_dir_all(&dir).unwrap();
    spec
}

#[test]
fn lines_become_flows() {
    let matrix = "# ours\nNodes 16\nConnections 3\n7->5 id 1 start 0 size 2000000\n\
                  15->1 start 1.5 size 0\n0->13 size 9 start 2\n";
    for (unit, ps) in [("us", 1_000_000u64), ("ns", 1_000), ("ps", 1)] {
        let keys = format!("start_unit = \"{unit}\"\nstart = \"1ms\"");
        let spec = built(unit, matrix, &keys).unwrap();
        let size = |app: App| if let App::Bulk { size, .. } = app { size } else { panic!("bulk") };
        let flows: Vec<_> = spec.flows.iter().map(|f| (f.src, f.dst, f.start.0 - 1_000_000_000, size(f.app))).collect();
        let half = (1.5 * ps as f64).round() as u64;
        assert_eq!(flows, [(7, 5, 0, Some(2_000_000)), (15, 1, half, None), (0, 13, 2 * ps, Some(9))]);
    }
    assert_eq!(built("first", matrix, "start_unit = \"us\"\nflows = 2").unwrap().flows.len(), 2);
}

#[test]
fn what_is_wrong_is_said() {
    let head = "Nodes 16\nConnections 1\n";
    let cases = [
        (
            "Nodes 16\nConnections 3\n0->1 start 0 size 1\n".to_owned(),
            "m.cm, line 2 = Connections 3: expected Connections 1, as many as the file has",
        ),
        (
            "Nodes 17\nConnections 1\n0->1 start 0 size 1\n".to_owned(),
            "m.cm, line 1 = Nodes 17: expected at most 16, the hosts of the topology",
        ),
        (
            "Nodes 16\n0->1 start 0 size 1\n".to_owned(),
            "m.cm: no line Connections; expected Connections and a whole number",
        ),
        (
            "Nodes few\nConnections 1\n0->1 start 0 size 1\n".to_owned(),
            "m.cm, line 1 = Nodes few: expected a whole number after Nodes",
        ),
        (
            format!("{head}0->16 start 0 size 1\n"),
            "m.cm, line 3 = 0->16: expected numbers of hosts from 0 to 15, such as 0->1",
        ),
        (format!("{head}3->3 start 0 size 1\n"), "m.cm, line 3 = 3->3: expected another host than the source"),
        (format!("{head}0->1 start -1 size 1\n"), "m.cm, line 3 = start -1: expected a number from 0"),
        (format!("{head}0->1 start 0 size 1kB\n"), "m.cm, line 3 = size 1kB: expected whole bytes; 0 is without end"),
        (
            format!("{head}0->1 size 1\n"),
            "m.cm, line 3 = 0->1: no start; expected start and a number, or trigger and an id",
        ),
        (format!("{head}0->1 start 0\n"), "m.cm, line 3 = 0->1: no size; expected size and whole bytes"),
        (format!("{head}0->1 start 0 size\n"), "m.cm, line 3 = size: expected a number after size"),
        (
            format!("{head}0->1 id 1 trigger 2 size 5\n"),
            "m.cm, line 3 = trigger 2: no line of the file has this trigger; expected one, such as trigger id 1 oneshot",
        ),
        (
            format!("{head}Triggers 1\n0->1 trigger 1 size 5 start 0\ntrigger id 1 oneshot\n"),
            "m.cm, line 4 = 0->1: start and trigger; expected one of the two",
        ),
        (
            format!("{head}0->1 start 0 size 1\ntrigger id 1 oneshot\n"),
            "m.cm: no line Triggers; expected Triggers 1, as many as the file has",
        ),
        (
            format!("{head}Triggers 2\n0->1 start 0 size 1\ntrigger id 1 oneshot\n"),
            "m.cm, line 3 = Triggers 2: expected Triggers 1, as many as the file has",
        ),
        (
            format!("{head}Triggers 2\n0->1 start 0 size 1\ntrigger id 1 oneshot\ntrigger id 1 barrier count 1\n"),
            "m.cm, line 6 = id 1: line 5 has this trigger; expected an id of its own",
        ),
        (format!("{head}trigger oneshot\n"), "m.cm, line 3 = trigger: no id; expected id and a whole number from 1"),
        (format!("{head}trigger id 4\n"), "m.cm, line 3 = trigger: no kind; expected oneshot, multishot or barrier"),
        (
            format!("{head}trigger id 4 barrier\n"),
            "m.cm, line 3 = barrier: no count; expected count and a whole number from 1",
        ),
        (format!("{head}trigger id 0 oneshot\n"), "m.cm, line 3 = id 0: expected a whole number from 1"),
        (format!("{head}trigger id 4 oneshot multishot\n"), "m.cm, line 3 = multishot: expected one kind of a trigger"),
        (
            format!("{head}trigger id 4 always\n"),
            "m.cm, line 3 = always: expected one of id, count, oneshot, multishot, barrier",
        ),
        (
            format!("{head}0->1 start 0 size 1 send_done_trigger x\n"),
            "m.cm, line 3 = send_done_trigger x: expected the id of a trigger, a whole number from 1",
        ),
        (
            format!("{head}Triggers 1\ntrigger id 1 oneshot\n0->1 trigger 1 size 5\n"),
            "m.cm, line 5 = trigger 1: never starts: it takes activation 1 of its trigger, on line 4, and connections make 0",
        ),
        (
            format!("{head}Failures 1\n0->1 start 0 size 1\n"),
            "m.cm, line 3 = Failures 1: failures are not read from a connection matrix",
        ),
        (
            format!("{head}0->1 start 0 size 1 prio 3\n"),
            "m.cm, line 3 = prio 3: priorities are not simulated; expected none",
        ),
        (
            format!("{head}hello\n"),
            "m.cm, line 3 = hello: expected Nodes, Connections, Triggers, a trigger, or a connection such as \
             0->15 start 0 size 2000000",
        ),
        ("Nodes 16\nConnections 0\n".to_owned(), "m.cm: the file has no connections; expected at least one"),
    ];
    for (i, (matrix, expected)) in cases.iter().enumerate() {
        assert_eq!(built(&format!("wrong{i}"), matrix, "start_unit = \"us\"").unwrap_err(), *expected);
    }
    let one = format!("{head}0->1 start 0 size 1\n");
    assert_eq!(
        built("unit", &one, "").unwrap_err(),
        "traffic.m.start_unit: missing; expected \"us\", \"ns\" or \"ps\": htsim's programs disagree (main_swift: us)"
    );
    assert_eq!(
        built("app", &one, "start_unit = \"us\"\napp = { kind = \"bulk\", size = \"1MB\" }").unwrap_err(),
        "traffic.m.app: expected kind = \"bulk\" without a size: the sizes are in the matrix"
    );
}

/// So many of these ends.
type Waits = (u32, Vec<(u32, Done)>);

/// What each flow waits for.
fn waits(spec: &Spec) -> Vec<Option<Waits>> {
    spec.flows.iter().map(|f| f.after.as_ref().map(|a| (a.count, a.of.clone()))).collect()
}

#[test]
fn triggers_start_connections() {
    let matrix = "Nodes 16\nConnections 7\nTriggers 3\n\
                  0->1 id 1 start 0 size 10 send_done_trigger 1 recv_done_trigger 2\n\
                  2->3 id 2 start 0 size 10 send_done_trigger 3\n\
                  0->4 id 3 trigger 1 size 10 recv_done_trigger 2\n\
                  1->5 id 4 trigger 2 size 10 send_done_trigger 3\n\
                  4->6 id 5 trigger 2 size 10\n\
                  7->8 id 6 trigger 3 size 10\n\
                  9->8 id 7 trigger 3 size 10\n\
                  trigger id 1 oneshot\ntrigger id 2 multishot\ntrigger id 3 barrier count 2\n";
    let spec = built("triggers", matrix, "start_unit = \"us\"").unwrap();
    let multishot = vec![(0, Done::Received), (2, Done::Received)];
    let barrier = vec![(1, Done::Sent), (3, Done::Sent)];
    assert_eq!(
        waits(&spec),
        [
            None,
            None,
            Some((1, vec![(0, Done::Sent)])),
            Some((1, multishot.clone())),
            Some((2, multishot)),
            Some((2, barrier.clone())),
            Some((2, barrier)),
        ]
    );
    let o = incast_engine::run(&spec, &mut |_| true).unwrap();
    let at = |f: usize| o.flows[f].start_ps;
    assert_eq!(at(2), o.flows[0].finish_ps.unwrap(), "at the same host at once");
    assert_eq!(at(3), o.flows[0].received_ps.unwrap());
    assert_eq!(at(4), o.flows[2].received_ps.unwrap());
    let last = o.flows[1].finish_ps.max(o.flows[3].finish_ps).unwrap();
    assert!(at(5) == at(6) && at(5) > last, "between hosts it takes a latency: {} after {last}", at(5));
    assert_eq!(
        built("part", matrix, "start_unit = \"us\"\nflows = 3").unwrap_err(),
        "traffic.m.flows = 3: connections wait for each other; expected all 7 of them"
    );
}

#[test]
fn a_circle_of_triggers_is_refused() {
    let matrix = "Nodes 16\nConnections 2\nTriggers 2\n0->1 id 1 trigger 1 size 10 send_done_trigger 2\n\
                  2->3 id 2 trigger 2 size 10 send_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n";
    assert_eq!(
        built("circle", matrix, "start_unit = \"us\"").unwrap_err(),
        "traffic.m, flow 0: waits for itself by way of what it waits for; expected flows that wait for earlier ones alone"
    );
}
