//! `[[failures]]`, from the file to the run.

use incast_engine::spec::Router;
use incast_scenario::Scenario;

/// Packets lost on links, and the number of flows that finished.
fn run(sets: &[(&str, &str)]) -> (u64, usize) {
    let mut s = Scenario::load("link-failure").unwrap();
    sets.iter().for_each(|(key, value)| s.set(key, value).unwrap());
    let outcome = incast_engine::run(&s.build().unwrap(), &mut |_| true).unwrap();
    let finished = outcome.flows.iter().filter(|f| f.finish_ps.is_some()).count();
    (outcome.ports.iter().map(|p| p.losses).sum(), finished)
}

fn entry(rest: &str) -> String {
    format!("[{{ link = \"agg0>core0\", at = \"50us\", until = \"150us\", {rest} }}]")
}

#[test]
fn what_is_lost_ends_with_the_detection() {
    let small = [("topology.k", "4"), ("traffic.app.size", "1MB")];
    let lost = |detection: &str| {
        let failures = entry(&format!("detection = \"{detection}\""));
        let (lost, finished) = run(&[small[0], small[1], ("failures", &failures)]);
        assert_eq!(finished, 16);
        lost
    };
    let [at_once, soon, late, never] = ["0s", "20us", "90us", "100us"].map(lost);
    assert!(0 < at_once && at_once < soon && soon < late && late < never, "{at_once} {soon} {late} {never}");
    assert_eq!(run(&[small[0], small[1], ("failures", "[]")]), (0, 16));
}

#[test]
fn a_share_of_a_tier_fails() {
    let failures = "[{ between = [\"edge\", \"agg\"], share = 0.1, at = \"10us\", detection = \"0s\" }]";
    let mut s = Scenario::load("link-failure").unwrap();
    s.set("failures", failures).unwrap();
    let spec = s.build().unwrap();
    // 13 of 128 links, both directions
    assert_eq!(spec.failures.len(), 26);
    let between = |l: u32| {
        let link = &spec.links[l as usize];
        let names = [link.from, link.to].map(|n| spec.node_names[n as usize].as_str());
        names.iter().any(|n| n.starts_with("edge")) && names.iter().any(|n| n.starts_with("agg"))
    };
    assert!(spec.failures.iter().all(|f| between(f.link)));
    assert!(spec.routers.iter().any(|r| matches!(r, Router::Rerouted(_))));
    assert_eq!(run(&[("failures", failures)]).1, 128);
}

/// A run that ends before the timers that repair a failure's losses is told of before it begins, and so are switches
/// that reroute at once.
#[test]
fn a_failure_that_a_run_cannot_show_is_told_before_it() {
    let notes = |detection: &str, rto: &str| {
        let mut s = Scenario::load("link-failure").unwrap();
        s.set("failures", &entry(&format!("detection = \"{detection}\""))).unwrap();
        s.set("transport.rto_min", rto).unwrap();
        s.notes().unwrap()
    };
    assert_eq!(notes("20us", "1ms"), [""; 0]);
    let [late] = &notes("20us", "10ms")[..] else { panic!("one note") };
    assert!(late.starts_with("warning: the run ends 9.95ms after the first failure: "), "{late}");
    assert!(late.contains(" waits for transport.rto_min = 10ms, "), "{late}");
    let rdma = |preset: &str| {
        let mut s = Scenario::load("link-failure").unwrap();
        let (failure, transport) = (entry("detection = \"20us\""), format!("{{ preset = \"{preset}\" }}"));
        let nic = ("queue.host", "{ kind = \"drop-tail\", limit = \"none\" }");
        let own = [("failures", failure.as_str()), ("transport", &transport), ("controller", "dcqcn"), nic];
        own.iter().for_each(|(key, value)| s.set(key, value).unwrap());
        s.set("run.duration", "3ms").unwrap();
        s.notes().unwrap()
    };
    assert!(rdma("rdma")[0].contains(" waits for transport.rdma.timeout = 4ms, "), "{:?}", rdma("rdma"));
    let never = "warning: a flow that loses its last packets to a failure never ends: transport.rdma.timeout = 0s, and \
                 nothing else repeats them";
    let [first, overtaken] = &rdma("rdma-hpcc")[..] else { panic!("two notes") };
    assert_eq!(first, never);
    assert!(overtaken.contains("repeats what has been overtaken as lost"), "{overtaken}");
    let [at_once] = &notes("0s", "1ms")[..] else { panic!("one note") };
    assert!(
        at_once.starts_with("failures.0: switches reroute at the instant of the failure (detection = 0s)"),
        "{at_once}"
    );
}

/// A degraded link is slower and is used as before.
#[test]
fn a_degraded_link_is_not_routed_around() {
    let degraded = entry("kind = \"degraded\", rate = \"50Gbps\", delay = \"5us\", loss = 0.1");
    let mut s = Scenario::load("link-failure").unwrap();
    s.set("failures", &degraded).unwrap();
    assert!(s.build().unwrap().routers.iter().all(|r| matches!(r, Router::Tree { .. })));
    let (lost, finished) = run(&[("failures", &degraded)]);
    assert!(lost > 0 && finished == 128, "{lost} lost, {finished} finished");
}
