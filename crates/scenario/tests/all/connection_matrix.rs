//! htsim's connection matrices: the flows of their lines, and error messages for wrong ones.

use crate::wording::said;
use incast_engine::spec::{App, Bulk, Done, Effect, Spec, Triggered};
use incast_scenario::{Errors, Scenario, builtin};

/// The specification of `hotspot` (16 hosts) with a matrix for its traffic.
fn built(name: &str, matrix: &str, keys: &str) -> Result<Spec, String> {
    asked(name, matrix, keys, |s| s.build())
}

/// Notes on the specification.
fn notes(name: &str, matrix: &str, keys: &str) -> Vec<String> {
    asked(name, matrix, keys, |s| s.notes()).unwrap()
}

fn asked<T>(name: &str, matrix: &str, keys: &str, ask: impl Fn(&Scenario) -> Result<T, Errors>) -> Result<T, String> {
    let dir = std::env::temp_dir().join(format!("incast-matrix-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("m.cm"), matrix).unwrap();
    let text = builtin::text("hotspot").unwrap();
    let head = &text[..text.find("[[traffic]]").unwrap()];
    let text = format!("{head}[[traffic]]\nname = \"m\"\npattern = \"connection-matrix\"\nfile = \"m.cm\"\n{keys}\n");
    let found = Scenario::from_toml(&text, &dir, "m").and_then(|s| ask(&s)).map_err(|e| e.to_string());
    std::fs::remove_dir_all(&dir).unwrap();
    found
}

#[test]
fn lines_become_flows() {
    let matrix = "# ours\nNodes 16\nConnections 3\n7->5 id 1 start 0 size 2000000\n\
                  15->1 start 1.5 size 0\n0->13 size 9 start 2\n";
    for (unit, ps) in [("us", 1_000_000u64), ("ns", 1_000), ("ps", 1)] {
        let keys = format!("start_unit = \"{unit}\"\nstart = \"1ms\"");
        let spec = built(unit, matrix, &keys).unwrap();
        let size = |app: App| if let App::Bulk(Bulk { size, .. }) = app { size } else { panic!("bulk") };
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
        ("Nodes 16\nConnections 3\n0->1 start 0 size 1\n".to_owned(), "m.cm, line 2 = Connections 3: expected"),
        ("Nodes 17\nConnections 1\n0->1 start 0 size 1\n".to_owned(), "m.cm, line 1 = Nodes 17: expected"),
        ("Nodes 16\n0->1 start 0 size 1\n".to_owned(), "m.cm: "),
        ("Nodes few\nConnections 1\n0->1 start 0 size 1\n".to_owned(), "m.cm, line 1 = Nodes few: expected"),
        ("Nodes 16 7\nConnections 1\n0->1 start 0 size 1\n".to_owned(), "m.cm, line 1 = Nodes 16 7: expected"),
        (
            "Nodes 16\nConnections 1 # one\n0->1 start 0 size 1\n".to_owned(),
            "m.cm, line 2 = Connections 1 # one: expected",
        ),
        (format!("{head}trigger id 1 oneshot count 4\n"), "m.cm, line 3 = count 4: expected"),
        (format!("{head}trigger id 1 count 1 multishot\n"), "m.cm, line 3 = count 1: expected"),
        (format!("{head}0->16 start 0 size 1\n"), "m.cm, line 3 = 0->16: expected"),
        (format!("{head}3->3 start 0 size 1\n"), "m.cm, line 3 = 3->3: expected"),
        (format!("{head}0->1 start -1 size 1\n"), "m.cm, line 3 = start -1: expected"),
        (format!("{head}0->1 start 0 size 1kB\n"), "m.cm, line 3 = size 1kB: expected"),
        (format!("{head}0->1 size 1\n"), "m.cm, line 3 = 0->1: "),
        (format!("{head}0->1 start 0\n"), "m.cm, line 3 = 0->1: "),
        (format!("{head}0->1 start 0 size\n"), "m.cm, line 3 = size: expected"),
        (format!("{head}0->1 id 1 trigger 2 size 5\n"), "m.cm, line 3 = trigger 2: "),
        (format!("{head}Triggers 1\n0->1 trigger 1 size 5 start 0\ntrigger id 1 oneshot\n"), "m.cm, line 4 = 0->1: "),
        (format!("{head}0->1 start 0 size 1\ntrigger id 1 oneshot\n"), "m.cm: "),
        (
            format!("{head}Triggers 2\n0->1 start 0 size 1\ntrigger id 1 oneshot\n"),
            "m.cm, line 3 = Triggers 2: expected",
        ),
        (
            format!("{head}Triggers 2\n0->1 start 0 size 1\ntrigger id 1 oneshot\ntrigger id 1 barrier count 1\n"),
            "m.cm, line 6 = id 1: ",
        ),
        (format!("{head}trigger oneshot\n"), "m.cm, line 3 = trigger: "),
        (format!("{head}trigger id 4\n"), "m.cm, line 3 = trigger: "),
        (format!("{head}trigger id 4 barrier\n"), "m.cm, line 3 = barrier: "),
        (format!("{head}trigger id 0 oneshot\n"), "m.cm, line 3 = id 0: expected"),
        (format!("{head}trigger id 4 oneshot multishot\n"), "m.cm, line 3 = multishot: expected"),
        (format!("{head}trigger id 4 always\n"), "m.cm, line 3 = always: expected"),
        (format!("{head}0->1 start 0 size 1 send_done_trigger x\n"), "m.cm, line 3 = send_done_trigger x: expected"),
        (format!("{head}Triggers 1\ntrigger id 1 oneshot\n0->1 trigger 1 size 5\n"), "m.cm, line 5 = trigger 1: "),
        (format!("{head}Failures 1\n0->1 start 0 size 1\n"), "m.cm, line 3 = Failures 1: expected"),
        (format!("{head}0->1 start 0 size 1\nfailure switch_type AGG switch_id 0 link_id 0\n"), "m.cm: "),
        (format!("{head}failure switch_type TOR switch_id 0 link_id 0\n"), "m.cm, line 3 = switch_type TOR: expected"),
        (format!("{head}failure switch_type AGG link_id 0\n"), "m.cm, line 3 = failure: "),
        (format!("{head}failure switch_type AGG switch_id 0 link_id x\n"), "m.cm, line 3 = link_id x: expected"),
        (
            format!("{head}Failures 1\n0->1 start 0 size 1\nfailure switch_type AGG switch_id 8 link_id 0\n"),
            "m.cm, line 5 = switch_id 8: expected",
        ),
        (
            format!("{head}Failures 1\n0->1 start 0 size 1\nfailure switch_type AGG switch_id 7 link_id 2\n"),
            "m.cm, line 5 = link_id 2: expected",
        ),
        (
            format!(
                "{head}Failures 2\n0->1 start 0 size 1\nfailure switch_type AGG switch_id 7 link_id 1\n\
                 failure link_id 1 switch_id 7 switch_type AGG\n"
            ),
            "m.cm, line 6 = switch_id 7 link_id 1: ",
        ),
        (format!("{head}0->1 start 0 size 1 prio 256\n"), "m.cm, line 3 = prio 256: expected"),
        ("Nodes 8\nConnections 1\n9->5 start 0 size 1\n".to_owned(), "m.cm, line 3 = 9->5: expected"),
        (format!("{head}Nodes 16\n0->1 start 0 size 1\n"), "m.cm, line 3 = Nodes 16: "),
        (format!("{head}0->1 start 0 start 5 size 9\n"), "m.cm, line 3 = start 5: expected"),
        (format!("{head}trigger id 1 oneshot id 2\n"), "m.cm, line 3 = id 2: expected"),
        (
            "Nodes 16\nConnections 2\n0->1 id 7 start 0 size 1\n0->2 id 7 start 0 size 1\n".to_owned(),
            "m.cm, line 4 = id 7: ",
        ),
        (format!("{head}0->1 start 9999999999999 size 1\n"), "m.cm, line 3 = start 9999999999999: expected"),
        (format!("{head}0->1 start 0 size 9223372036854775808\n"), "m.cm, line 3 = size 9223372036854775808: expected"),
        (format!("{head}hello\n"), "m.cm, line 3 = hello: expected"),
        ("Nodes 16\nConnections 0\n".to_owned(), "m.cm: "),
    ];
    for (i, (matrix, expected)) in cases.iter().enumerate() {
        said(built(&format!("wrong{i}"), matrix, "start_unit = \"us\"").unwrap_err(), expected);
    }
    let one = format!("{head}0->1 start 0 size 1\n");
    said(built("unit", &one, "").unwrap_err(), "traffic.m.start_unit: missing");
    said(
        built("app", &one, "start_unit = \"us\"\napp = { kind = \"bulk\", size = \"1MB\" }").unwrap_err(),
        "traffic.m.app: expected",
    );
}

/// Number of ends needed, and these ends.
type Waits = (u32, Vec<(u32, Done)>);

/// Ends that each flow waits for.
fn waits(spec: &Spec) -> Vec<Option<Waits>> {
    let of = |t: Triggered| (t.activation, spec.triggers[t.trigger as usize].activations.clone());
    spec.flows.iter().map(|f| f.trigger.map(of)).collect()
}

/// Time at which the barrier of the test below is passed, as known to hosts 2 and 1.
fn last(o: &incast_record::Outcome) -> u64 {
    o.flows[1].finish_ps.max(o.flows[3].finish_ps).unwrap()
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
    // counted at host 1, the source of what the trigger starts first: it hears of host 4, and host 4 of it
    let relay = (at(4) - o.flows[2].received_ps.unwrap()) / 2;
    assert_eq!(at(5).min(at(6)) - last(&o), relay, "what host 7 counts it opens itself");
    assert_eq!(at(5).max(at(6)) - last(&o), 2 * relay);
    said(built("part", matrix, "start_unit = \"us\"\nflows = 3").unwrap_err(), "traffic.m.flows = 3: ");
}

#[test]
fn a_circle_of_triggers_is_refused() {
    let matrix = "Nodes 16\nConnections 2\nTriggers 2\n0->1 id 1 trigger 1 size 10 send_done_trigger 2\n\
                  2->3 id 2 trigger 2 size 10 send_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n";
    said(built("circle", matrix, "start_unit = \"us\"").unwrap_err(), "m.cm, line 4: ");
}

/// A flow that waits for a circle is not the one that waits for itself.
#[test]
fn the_circle_is_named_not_what_waits_for_it() {
    let matrix = "Nodes 16\nConnections 3\nTriggers 2\n0->1 trigger 1 size 10\n2->3 trigger 2 size 10 \
                  send_done_trigger 1\n4->5 trigger 1 size 10 send_done_trigger 2\ntrigger id 1 oneshot\n\
                  trigger id 2 oneshot\n";
    said(built("beside-circle", matrix, "start_unit = \"us\"").unwrap_err(), "m.cm, line 5: ");
}

#[test]
fn failures_are_links_that_are_not_there() {
    let matrix = "Nodes 16\nConnections 1\nFailures 2\n0->15 start 0 size 20000\n\
                  failure switch_type AGG switch_id 0 link_id 1\nfailure switch_type AGG switch_id 5 link_id 0\n";
    let spec = built("failures", matrix, "start_unit = \"us\"").unwrap();
    let down: Vec<_> = spec.failures.iter().map(|f| (&*spec.links[f.link as usize].name, f.from.0)).collect();
    assert_eq!(down, [("agg0>core1", 0), ("core1>agg0", 0), ("agg5>core2", 0), ("core2>agg5", 0)]);
    assert!(spec.failures.iter().all(|f| f.until == incast_cc::Time::NEVER));
    assert!(spec.failures.iter().all(|f| f.effect == Effect::Down { detection: incast_cc::Time::ZERO }));
    let o = incast_engine::run(&spec, &mut |_| true).unwrap();
    assert!(o.flows[0].finish_ps.is_some() && o.packets_dropped == 0, "switches go around from the beginning");
    let again = "start_unit = \"us\"\n[[traffic]]\nname = \"n\"\npattern = \"connection-matrix\"\nfile = \"m.cm\"\n\
                 start_unit = \"us\"";
    let problem = "another entry of traffic reads this line too; expected one that has the failures of a file";
    assert_eq!(
        built("two-readers", matrix, again).unwrap_err(),
        format!("m.cm, line 5 = switch_id 0 link_id 1: {problem}\nm.cm, line 6 = switch_id 5 link_id 0: {problem}")
    );
    let own = "start_unit = \"us\"\n[[failures]]\nlink = \"core1>agg0\"\nat = \"1ms\"\ndetection = \"1us\"";
    said(built("beside-own", matrix, own).unwrap_err(), "m.cm, line 5 = switch_id 0 link_id 1: ");
}

#[test]
fn priorities_are_classes() {
    let matrix = "Nodes 16\nConnections 2\n0->15 start 0 size 20000 prio 1\n1->15 prio 3 start 0 size 20000\n";
    let keys = "start_unit = \"us\"\nclass = 2\nack_class = 0";
    let spec = built("prio", matrix, keys).unwrap();
    assert_eq!(spec.flows.iter().map(|f| (f.class, f.ack_class)).collect::<Vec<_>>(), [(1, 0), (3, 0)]);
    let plain = matrix.replace(" prio 1", "").replace("prio 3 ", "");
    let spec = built("no-prio", &plain, "start_unit = \"us\"\nclass = 2").unwrap();
    assert!(spec.flows.iter().all(|f| (f.class, f.ack_class) == (2, 2)));
    // of classes that ports do not have, those of the connections taken count
    let beyond = matrix.replace("prio 3", "prio 9");
    let class = "{ kind = \"drop-tail\", limit = \"100p\" }";
    let queue = format!("{{ kind = \"strict-priority\", classes = [{}] }}", [class; 4].join(", "));
    let with_classes = |s: &Scenario| {
        let mut s = s.clone();
        s.set("queue", &queue).and_then(|()| s.build())
    };
    let taken = |name: &str, n: u32| asked(name, &beyond, &format!("start_unit = \"us\"\nflows = {n}"), with_classes);
    assert_eq!(taken("prio-left-out", 1).unwrap().flows.len(), 1);
    said(taken("prio-taken", 2).unwrap_err(), "m.cm, line 4 = prio 9: expected");
}

#[test]
fn what_never_opens_or_does_nothing_is_noted() {
    let matrix = "Nodes 16\nConnections 4\nTriggers 2\n0->1 start 0 size 0 send_done_trigger 1\n\
                  0->2 trigger 1 size 10 send_done_trigger 2\n0->3 trigger 2 size 10\n0->4 start 0 size 10 prio 1\n\
                  trigger id 1 oneshot\ntrigger id 2 oneshot\n";
    let prio = "m.cm: prio does nothing: ports have one queue for all classes (docs/queues/strict-priority.md)";
    let vain = "2 flows, the first of them flow 1, of traffic.m, wait for flows that have no end: they never open";
    assert_eq!(notes("vain", matrix, "start_unit = \"us\""), [prio, vain]);
    // with a stop flow 0 has an end
    let class =
        "traffic.m.class = 2 does nothing: ports have one queue for all classes (docs/queues/strict-priority.md)";
    let keys = "start_unit = \"us\"\nstop = \"1ms\"\nclass = 2";
    assert_eq!(notes("drained", matrix, keys), [class]);
    assert_eq!(notes("reset", matrix, &format!("{keys}\nat_stop = \"reset\"")), [class, vain]);
    let one = matrix.replace("0->3 trigger 2", "0->3 start 0").replace("0->1 start 0 size 0", "0->1 start 0 size 9");
    let waits = "1 flow waits for an end at another host, and it learns of it the longest latency of a link later \
                 (docs/traffic.md)";
    let other = one.replace("0->2 trigger 1", "5->2 trigger 1").replace(" prio 1", "");
    assert_eq!(notes("relayed", &other, "start_unit = \"us\""), [waits]);
    // counted at host 5, whose flow it starts first: host 6 hears of host 0 by way of it
    let third = other.replace("0->3 start 0", "6->3 trigger 1");
    let waits = "2 flows wait for an end at another host, and they learn of it the longest latency of a link later \
                 (docs/traffic.md)";
    assert_eq!(notes("at-once", &third, "start_unit = \"us\""), [waits], "host 0 counts what ends there");
    let third = third.replace("0->4 start 0 size 10", "7->4 start 0 size 10 send_done_trigger 1");
    let twice = waits.replace("of a link later", "of a link later, or twice that");
    assert_eq!(notes("third", &third, "start_unit = \"us\""), [twice]);
}
