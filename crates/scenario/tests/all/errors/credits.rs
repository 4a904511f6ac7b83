//! Errors about credits (ExpressPass).

use super::*;

#[test]
fn credits_need_ports_that_shape_them_and_links_there_and_back() {
    let queue = "kind = \"ecn-threshold\"\nlimit = \"100p\"\nmark = \"20p\"";
    let shaping = "kind = \"credit-shaping\"\nlimit = \"384500B\"";
    let preset = "preset = \"expresspass\"";
    let notes = |text: &str| Scenario::from_toml(text, Path::new("."), "test").unwrap().notes().unwrap();
    let own = GOOD.replace("preset = \"linux\"", preset).replace(queue, shaping);
    let own = own.replace("kind = \"ecmp\"", "kind = \"ecmp\"\nsymmetric = true");
    let shown = notes(&own);
    assert!(shown.iter().all(|note| note.contains("has no effect: expresspass controls the rate")), "{shown:?}");
    let idle = notes(&GOOD.replace(queue, shaping));
    assert!(idle.len() == 1 && idle[0].starts_with("queue.kind = \"credit-shaping\" has no credits"), "{idle:?}");

    let refused = |from: &str, to: &str| {
        assert!(own.contains(from), "{from}");
        check(&own.replace(from, to)).expect_err(to).to_string()
    };
    said(refused(shaping, queue), "queue.kind = \"ecn-threshold\": expected \"credit-shaping\"");
    let host = format!("{shaping}\n\n[queue.host]\nkind = \"drop-tail\"\nlimit = \"none\"");
    said(refused(shaping, &host), "queue.host.kind = \"drop-tail\": expected \"credit-shaping\"");
    said(refused("symmetric = true", ""), "routing.symmetric = false: expected true");
    said(refused("flows = 10", "flows = 10\nclass = 2"), "traffic.load.class: expected none");
    said(refused("flows = 10", "flows = 10\nack_class = 2"), "traffic.load.ack_class: expected none");
    for (key, shown) in [
        ("credit_size = \"60B\"", "queue.credit_size = \"60B\": expected 84B or more"),
        ("packet_size = \"1kB\"", "queue.packet_size = \"1kB\": expected 1538B or more"),
        ("credit_burst = 0", "queue.credit_burst = 0: expected"),
        ("credit_limit = \"0p\"", "queue.credit_limit = \"0p\": expected room"),
    ] {
        said(refused(shaping, &format!("{shaping}\n{key}")), shown);
    }
    for (values, shown) in [
        ("alpha = 0.0", "transport.expresspass.alpha = 0.0: expected a number above 0, at most 1"),
        ("jitter = 1.0", "transport.expresspass.jitter = 1.0: expected a number >= 0, below 1"),
        ("weight = 0.001", "transport.expresspass.min_weight = 0.01: expected at most weight, 0.001"),
        ("credit_min = \"100B\"", "transport.expresspass.credit_min = \"100B\": expected at most credit_max, 92B"),
        ("feedback = \"code\"", "transport.expresspass.feedback = \"code\": expected"),
    ] {
        said(refused(preset, &format!("{preset}\nexpresspass = {{ {values} }}")), shown);
    }
    let all = refused(preset, &format!("{preset}\nmss = 0\n[transport.expresspass]\nalpha = 0\njitter = 1\nalhpa = 1"));
    assert_eq!(
        all.lines().collect::<Vec<_>>(),
        [
            "transport.mss = 0: expected a whole number from 1 to 65535",
            "transport.expresspass.alpha = 0: expected a number above 0, at most 1, such as 0.6 or \"60%\"",
            "transport.expresspass.jitter = 1: expected a number >= 0, below 1, such as 0.6 or \"60%\"",
            "transport.expresspass.alhpa: unknown key (did you mean \"alpha\"?)",
        ],
        "all at once"
    );
    let endless = "queue.kind = \"credit-shaping\": expected all links with a finite rate";
    said(refused("rate = \"1Gbps\"", "rate = \"inf\""), endless);
}
