//! htsim's connection matrices: what their lines become, and what a user reads when one is wrong.

use incast_engine::spec::{App, Spec};
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
        (format!("{head}0->1 size 1\n"), "m.cm, line 3 = 0->1: no start; expected start and a number"),
        (format!("{head}0->1 start 0\n"), "m.cm, line 3 = 0->1: no size; expected size and whole bytes"),
        (format!("{head}0->1 start 0 size\n"), "m.cm, line 3 = size: expected a number after size"),
        (
            format!("{head}0->1 id 1 trigger 2 size 5\n"),
            "m.cm, line 3 = trigger 2: triggers are not simulated: every connection needs a start of its own",
        ),
        (
            format!("{head}0->1 start 0 size 1\ntrigger id 1 oneshot\n"),
            "m.cm, line 4 = trigger id 1 oneshot: triggers are not simulated: \
          every connection needs a start of its own",
        ),
        (
            format!("{head}0->1 start 0 size 1 prio 3\n"),
            "m.cm, line 3 = prio 3: priorities are not simulated; expected none",
        ),
        (
            format!("{head}hello\n"),
            "m.cm, line 3 = hello: expected Nodes, Connections, or a connection such as 0->15 start 0 size 2000000",
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
