//! Errors about RoCE.

use super::*;

#[test]
fn a_window_has_packets_and_an_ack_too() {
    let own = GOOD.replace("preset = \"linux\"", "preset = \"roce\"\nroce = { window = 8 }");
    check(&own).unwrap();
    for (key, found) in [("window = 0", "window"), ("ack_every = 0", "ack_every")] {
        let shown = check(&own.replace("window = 8", key)).unwrap_err().to_string();
        assert!(shown.contains(&format!("transport.roce.{found} = 0: expected ")), "{shown}");
    }
    let shown = check(&own.replace("preset = \"roce\"", "preset = \"linux\"")).unwrap_err().to_string();
    assert!(
        shown.contains("transport.roce: is of roce alone, and transport.preset is \"linux\"; expected \"roce\""),
        "{shown}"
    );
}
