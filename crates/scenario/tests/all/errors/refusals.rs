//! Refusals of the engine in the user's terms: no user input ends in an error without its key.

use super::{GOOD, check};
use crate::wording::said;
use incast_engine::About;
use incast_scenario::Scenario;

/// Message for a built-in scenario with keys set; `None` if it can be run.
fn refused(name: &str, sets: &[(&str, &str)]) -> Option<String> {
    let mut scenario = Scenario::load(name).unwrap();
    for (key, value) in sets {
        if let Err(errors) = scenario.set(key, value) {
            return Some(errors.to_string());
        }
    }
    let spec = match scenario.build() {
        Ok(spec) => spec,
        Err(errors) => return Some(errors.to_string()),
    };
    incast_engine::run(&spec, &mut |_| true).err().map(|error| format!("the engine alone: {error}"))
}

const SHORT: [(&str, &str); 2] = [("run.warmup", "0s"), ("run.duration", "20us")];
const UDP: (&str, &str) = ("traffic.app", "{ kind = \"udp\", rate = \"10%\" }");

fn dumbbell(sets: &[(&str, &str)]) -> Option<String> {
    refused("dumbbell", &[&SHORT, sets].concat())
}

/// 65,535 bytes are the largest packet: 48 of them are headers, and 42 telemetry.
#[test]
fn packets_with_telemetry_and_pools_without_room_for_one_are_refused() {
    let rdma = |sets: &[(&str, &str)]| {
        let udp = ("traffic.victim.app", "{ kind = \"bulk\" }");
        refused("pfc-incast", &[&[("transport.preset", "rdma"), udp, ("run.duration", "20us")], sets].concat())
    };
    let sizes = |mss: &'static str| [("buffer.size", "16MB"), ("transport.mss", mss)];
    assert_eq!(rdma(&sizes("65445")), None);
    let message = "transport.mss = 65446: expected at most 65445: with its header of 90B a packet has 65535B";
    assert_eq!(rdma(&sizes("65446")).as_deref(), Some(message));
    assert_eq!(rdma(&[("buffer.egress", "1090B")]), None);
    let message = "buffer.egress = \"1.089kB\": expected at least 1090B, a full packet of the transport";
    assert_eq!(rdma(&[("buffer.egress", "1089B")]).as_deref(), Some(message));
}

#[test]
fn datagrams_are_refused_where_endpoints_choose_paths() {
    let sets = [
        ("transport.preset", "eqds"),
        ("queue", "{ kind = \"trimming\", limit = \"8p\" }"),
        ("routing.kind", "transport"),
        UDP,
    ];
    said(dumbbell(&sets).unwrap(), "traffic.bulk.app.kind = \"udp\": ");
}

#[test]
fn datagrams_beside_homa_have_the_class_that_they_are_given() {
    assert_eq!(
        dumbbell(&[("transport.preset", "homa"), ("queue", "{ kind = \"drop-tail\", limit = \"8p\" }"), UDP]),
        None
    );
}

#[test]
fn two_settings_of_homa_are_refused_in_either_order() {
    let (own, none) = ("homa = { cutoffs = [\"2kB\", \"9kB\"] }", "homa = {}");
    for (first, second) in [(own, none), (none, own)] {
        let other = format!(
            "{}\n[[traffic]]\nname = \"other\"\npattern = \"hotspot\"\nflows = 1\n\
             app = {{ kind = \"bulk\", size = \"1MB\" }}\ntransport = {{ preset = \"homa\", {second} }}\n",
            GOOD.replace("preset = \"linux\"", &format!("preset = \"homa\"\n{first}"))
        );
        let told = check(&other).unwrap_err().to_string();
        assert!(told.contains("expected one setting for all traffic"), "{told}");
    }
}

#[test]
fn segments_of_transports_that_receivers_drive_are_no_fragments() {
    let sets = [("transport.preset", "homa"), ("transport.mtu", "576")];
    said(dumbbell(&sets).unwrap(), "transport.mtu = 576: ");
}

/// Errors missed by all checks of the scenario crate: the engine names the part of its specification.
#[test]
fn every_part_of_a_specification_has_a_key() {
    let mut scenario = Scenario::load("sccp-incast").unwrap();
    scenario.set("run.threads", "2").unwrap();
    let spec = scenario.build().unwrap();
    let last = spec.links.len() as u32 - 1;
    for (about, begins) in [
        (About::Network, "topology.kind = \""),
        (About::Routing, "routing.kind = \""),
        (About::Ties, "run.ties = \""),
        (About::Threads, "run.threads = 2: "),
        (About::Hosts, "hosts: "),
        (About::Buffer, "buffer.size: "),
        (About::Failures, "failures: "),
        (About::Transport(0), "transport.preset = \"linux\": "),
        (About::Program(0), "program.0.kind = \"sccp\": "),
        (About::Cell(0), "topology.kind = \""),
        (About::Link(last), "queue.kind = \""),
        (About::Link(u32::MAX), "queue.kind = \""),
        (About::Flow(0), "traffic."),
    ] {
        let shown = scenario.refused(&spec, about, "expected another".to_owned()).to_string();
        assert!(shown.starts_with(begins) && shown.ends_with("expected another"), "{about:?}: {shown}");
    }
    let told = scenario.refused(&spec, About::Flow(0), "flow 0: expected another".to_owned()).to_string();
    assert!(told.ends_with("): expected another") && !told.contains(" flow 0: "), "{told}");
    let own = ("links", "[{ link = \"*>*\", queue = { kind = \"drop-tail\", limit = \"9p\" } }]");
    let mut scenario = Scenario::load("star").unwrap();
    scenario.set(own.0, own.1).unwrap();
    let spec = scenario.build().unwrap();
    let shown = scenario.refused(&spec, About::Link(0), "expected another".to_owned()).to_string();
    assert_eq!(shown, "links.0.queue.kind = \"drop-tail\": expected another");
}

#[test]
fn queues_are_not_sampled_more_often_than_anybody_waits_for() {
    let shown = dumbbell(&[("run.duration", "1s"), ("measure.queue_interval", "1ps")]).unwrap();
    said(shown, "measure.queue_interval = \"1ps\": expected at least ");
    // what is derived is no mistake, and neither is what is as long
    let sets = [("run.duration", "20ms"), ("measure.queue_interval", "100ns")];
    assert_eq!(dumbbell(&sets), None);
}

#[test]
fn ticks_are_short_and_of_wires() {
    let ticked = |name: &str, tick: &str| {
        let mut scenario = incast_scenario::Scenario::load(name).unwrap();
        scenario.set("run.tick", tick).and_then(|()| scenario.build().map(|_| ())).unwrap_err().to_string()
    };
    assert!(ticked("hotspot", "2us").contains("run.tick = \"2us\": expected at most 1ns"));
    assert!(ticked("wireless-cell", "1ns").contains("run.tick = \"1ns\": expected none beside a radio cell"));
}
