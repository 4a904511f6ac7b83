//! Errors and notes about tokens (pHost).

use super::*;

#[test]
fn tokens_need_a_time_for_a_packet_and_priorities_queues_that_tell_them_apart() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    let preset = "preset = \"phost\"";
    let own = GOOD.replace("preset = \"linux\"", preset);
    let notes = |text: &str| {
        let shown = Scenario::from_toml(text, Path::new("."), "test").unwrap().notes().unwrap();
        shown.into_iter().filter(|note| !note.contains("has no effect")).collect::<Vec<_>>()
    };
    // six links there and back of 10 us with 12 us for a packet: 17 packets and not eight
    let window = "transport.phost.window = 8 tokens, and the idle round trip of flow 0, ";
    let shown = notes(&own);
    assert!(shown.len() == 2 && shown[0].starts_with("transport.phost.levels = 3 does nothing at "), "{shown:?}");
    assert!(shown[1].starts_with(window) && shown[1].contains(", has 17: messages wait for answers"), "{shown:?}");
    let ranked = own.replace(queue, "kind = \"pfabric\"\nlimit = \"36864B\"");
    assert_eq!(notes(&ranked), shown[1..]);
    assert_eq!(notes(&ranked.replace(preset, &format!("{preset}\nphost = {{ window = 17 }}"))), [""; 0]);

    // no packet goes without a token, and all messages are large
    check(&own.replace(preset, &format!("{preset}\nphost = {{ free_packets = 0, window = 17 }}"))).unwrap();
    for other in ["ndp", "eqds", "uet", "homa", "expresspass"] {
        let text = own.replace(preset, &format!("preset = \"{other}\"\nrto_min = \"0s\""));
        let shown = check(&text).expect_err(other).to_string();
        assert!(
            shown.contains(&format!("rto_min = \"0s\": expected a time above 0: {other} repeats requests")),
            "{shown}"
        );
    }

    let refused = |from: &str, to: &str| {
        assert!(own.contains(from), "{from}");
        check(&own.replace(from, to)).expect_err(to).to_string()
    };
    said(refused("rate = \"1Gbps\"", "rate = \"inf\""), "transport.preset = \"phost\": expected a finite rate");
    said(
        refused(preset, &format!("{preset}\nrto_min = \"0s\"")),
        "transport.rto_min = \"0s\": expected a time above 0",
    );
    said(refused("flows = 10", "flows = 10\nclass = 2"), "traffic.load.class: phost gives each packet its class");
    let two = "{ kind = \"drop-tail\", limit = \"100p\" }, { kind = \"drop-tail\", limit = \"100p\" }";
    let strict = format!("kind = \"strict-priority\"\nclasses = [{two}]");
    said(refused(queue, &strict), "queue.classes: has 2 classes; expected 3, transport.phost.levels");
    // two are enough for two
    let text = own.replace(queue, &strict).replace(preset, &format!("{preset}\nphost = {{ levels = 2 }}"));
    check(&text).unwrap();
    for (values, shown) in [
        ("gap = 0.0", "transport.phost.gap = 0.0: expected a number above 0"),
        ("expiry = 1e9", "transport.phost.expiry = 1000000000.0: expected a number above 0"),
        ("skip = -1.0", "transport.phost.skip = -1.0: expected a number above 0"),
        ("reissue = \"9\"", "transport.phost.reissue = \"9\": expected a number above 0"),
        ("window = 0", "transport.phost.window = 0: expected"),
        ("free_packets = 70000", "transport.phost.free_packets = 70000: expected"),
        ("levels = 4", "transport.phost.levels = 4: expected"),
        ("large = \"0B\"", "transport.phost.large = \"0B\": expected at least 1B"),
        ("free = \"none\"", "transport.phost.free = \"none\": expected one of \"short\", \"all\""),
    ] {
        said(refused(preset, &format!("{preset}\nphost = {{ {values} }}")), shown);
    }
    said(
        refused(preset, "preset = \"linux\"\nphost = { window = 9 }"),
        "transport.phost: is of phost alone, and transport.preset is \"linux\"; expected",
    );
}
