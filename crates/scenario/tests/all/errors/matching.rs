//! Errors and notes about hosts that match (dcPIM).

use super::*;

#[test]
fn rounds_are_longer_than_a_round_trip_and_priorities_queues_that_tell_them_apart() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    let preset = "preset = \"dcpim\"";
    let with = |values: &str| GOOD.replace("preset = \"linux\"", &format!("{preset}\ndcpim = {{ {values} }}"));
    let notes = |text: &str| {
        let shown = Scenario::from_toml(text, Path::new("."), "test").unwrap().notes().unwrap();
        shown.into_iter().filter(|note| !note.contains("has no effect")).collect::<Vec<_>>()
    };
    // six links of 10 us with 0.32 us for 40 bytes, each way; and 12 us for a packet of 1500
    let ranked = |values: &str| with(values).replace(queue, "kind = \"pfabric\"\nlimit = \"36864B\"");
    assert_eq!(notes(&ranked("control_rtt = \"124us\"")), [""; 0]);
    let shown = notes(&with("control_rtt = \"124us\", beta = 1.1"));
    assert!(shown.len() == 2 && shown[0].starts_with("transport.dcpim.levels = 7 does nothing at "), "{shown:?}");
    assert!(shown[1].contains("make rounds of 136.4us, and control packets of flow 0"), "{shown:?}");
    assert!(shown[1].contains("each way need 147.84us: some matchings fail"), "{shown:?}");

    let refused = |text: &str| check(text).expect_err(text).to_string();
    let good = with("control_rtt = \"124us\"");
    said(
        refused(&with("rounds = 2")),
        "traffic.load, flow 0 (h0 to h15): dcpim with rounds of 2100.8ns, in which control packets take 61.92us and",
    );
    said(
        refused(&good.replace("rate = \"1Gbps\"", "rate = \"inf\"")),
        "transport.preset = \"dcpim\": expected a finite rate",
    );
    said(
        refused(&good.replace("flows = 10", "flows = 10\nclass = 2")),
        "traffic.load.class: dcpim gives each packet its class",
    );
    let two = "{ kind = \"drop-tail\", limit = \"100p\" }, { kind = \"drop-tail\", limit = \"100p\" }";
    let strict = format!("kind = \"strict-priority\"\nclasses = [{two}]");
    said(refused(&good.replace(queue, &strict)), "queue.classes: has 2 classes; expected 7, transport.dcpim.levels");
    check(&with("control_rtt = \"124us\", levels = 2").replace(queue, &strict)).unwrap();
    for (values, shown) in [
        ("rounds = 0", "transport.dcpim.rounds = 0: expected"),
        ("channels = 65", "transport.dcpim.channels = 65: expected"),
        ("control_rtt = \"0s\"", "transport.dcpim.control_rtt = \"0s\": expected 1ns to 1s"),
        ("beta = 0.9", "transport.dcpim.beta = 0.9: expected"),
        ("alpha = 1e9", "transport.dcpim.alpha = 1000000000.0: expected a number"),
        ("short_packets = 70000", "transport.dcpim.short_packets = 70000: expected"),
        ("window = 0", "transport.dcpim.window = 0: expected"),
        ("window_timeout = 0.0", "transport.dcpim.window_timeout = 0.0: expected a number above 0"),
        ("reissue = 1e9", "transport.dcpim.reissue = 1000000000.0: expected a number above 0"),
        ("levels = 8", "transport.dcpim.levels = 8: expected"),
    ] {
        said(refused(&with(values)), shown);
    }
    said(
        refused(&GOOD.replace("preset = \"linux\"", "preset = \"linux\"\ndcpim = { window = 9 }")),
        "transport.dcpim: is of dcpim alone, and transport.preset is \"linux\"; expected",
    );
}
