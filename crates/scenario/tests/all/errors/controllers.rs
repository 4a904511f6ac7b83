//! Names of other things where a controller is expected.

use super::*;
use incast_scenario::list;

#[test]
fn what_is_no_controller_is_told_with_its_own_key() {
    let shown = |word: &str| {
        let mut scenario = Scenario::load("dumbbell").unwrap();
        scenario.set("controller", word).unwrap_err().to_string()
    };
    let program = "controller = \"sccp\": is a program of switches and hosts, and no controller; expected \
                   program = [{ kind = \"sccp\" }]";
    assert_eq!(shown("sccp"), program);
    let transport = "is a transport, and no controller; expected transport.preset = \"homa\"";
    assert_eq!(shown("homa"), format!("controller = \"homa\": {transport}"));
    assert_eq!(shown("homa:form=x"), format!("controller = \"homa\": {transport}"));
    let both = "expected transport.preset = \"pfabric\" and queue.kind = \"pfabric\"";
    assert!(shown("pfabric").ends_with(both), "{}", shown("pfabric"));
    // every program and transport that is no controller too, and words that are nothing keep the list
    let controllers: Vec<String> = list("controllers").unwrap().into_iter().map(|item| item.name).collect();
    for kind in ["programs", "transports", "queues", "routing", "applications"] {
        for name in list(kind).unwrap().into_iter().map(|item| item.name).filter(|name| !controllers.contains(name)) {
            assert!(shown(&name).contains("and no controller; expected "), "{}", shown(&name));
        }
    }
    assert!(
        shown("swiftt").contains(": no such controller (did you mean \"swift\"?); expected one of newreno"),
        "{}",
        shown("swiftt")
    );
}
