//! `[routing]`: what is refused, and that every policy runs a scenario to its end.

use incast_engine::spec::{Adaptive, Entropy, Flowlet, Gauged, PathChoice, Recycled};
use incast_scenario::{Scenario, list};

fn load(sets: &[(&str, &str)]) -> Result<incast_engine::spec::Spec, String> {
    let mut s = Scenario::load("permutation").unwrap();
    sets.iter().try_for_each(|(k, v)| s.set(k, v)).map_err(|e| e.to_string())?;
    s.build().map_err(|e| e.to_string())
}

#[test]
fn bad_values_are_refused() {
    let bands = "expected 1 to 16 shares from 0 to 1, each above the one before, such as [0.05, 0.1, 0.2]";
    let adaptive = |key: &str, value: &str| load(&[("routing", "{ kind = \"adaptive\" }"), (key, value)]).unwrap_err();
    for wrong in ["[0.2, 0.1]", "[]", "[0.5, 1.5]", "[-0.1]", "[0.1, 0.1]"] {
        let said = adaptive("routing.bands", wrong);
        assert!(said.starts_with("routing.bands = [") && said.ends_with(bands), "{said}");
    }
    let none = [("routing.kind", "adaptive"), ("queue", "{ kind = \"drop-tail\", limit = \"none\" }")];
    let said = load(&none).unwrap_err();
    assert!(said.starts_with("routing.by = \"queue\": bands are shares of the queue's limit"), "{said}");
    let still = "{ kind = \"adaptive\", by = \"utilisation\", refresh = \"0s\" }";
    let said = load(&[("routing", still)]).unwrap_err();
    assert!(said.starts_with("routing.refresh = \"0s\": utilisation is measured over this time"), "{said}");
    let said = load(&[("routing", "{ kind = \"spray\", acks = \"none\" }")]).unwrap_err();
    assert_eq!(said, "routing.acks = \"none\": expected one of \"as-data\", \"ecmp\"");
    assert!(load(&[("routing", "{ kind = \"round-robin\", rounds = -1 }")]).unwrap_err().contains("routing.rounds"));
    for wrong in ["-0.1", "1.5"] {
        let flowlet = format!("{{ kind = \"flowlet\", probability = {wrong} }}");
        let said = load(&[("routing", &flowlet)]).unwrap_err();
        assert_eq!(said, format!("routing.probability = {wrong}: expected a number from 0 to 1"));
        let escape = flowlet.replace("flowlet", "ecmp-adaptive");
        assert_eq!(load(&[("routing", &escape)]).unwrap_err(), said);
    }
    let said = load(&[("routing", "{ kind = \"flowlet\", bands = [0.5] }")]).unwrap_err();
    assert!(said.starts_with("routing.bands = [0.5]: bands are of ports, and by = \"hash\" looks at none"), "{said}");
    let said = load(&[("routing", "{ kind = \"flowlet\", refresh = \"1us\" }")]).unwrap_err();
    let expected = "routing.refresh = \"1us\": readings are of ports, and by = \"hash\" looks at none";
    assert!(said.starts_with(expected), "{said}");
    let classes = "{ kind = \"strict-priority\", classes = [{ kind = \"drop-tail\", limit = \"9p\" }, \
                   { kind = \"drop-tail\", limit = \"none\" }] }";
    for (limit, why) in
        [("none", "queue.classes.1.limit is \"none\""), ("9kB", "the limits of queue.classes are not of one")]
    {
        let classes = classes.replace("none", limit);
        let said = load(&[none[0], ("queue", &classes)]).unwrap_err();
        assert!(said.contains(&format!("and {why}")) && said.starts_with("routing.by = \"queue\""), "{said}");
    }
    load(&[none[0], ("queue", &classes.replace("none", "20p"))]).unwrap();
    for (kind, by) in [("flowlet\", by = \"adaptive", "adaptive"), ("ecmp-adaptive", "queue")] {
        let said = load(&[("routing", &format!("{{ kind = \"{kind}\", bands = [2.0] }}"))]).unwrap_err();
        assert!(said.starts_with("routing.bands = [2.0]: expected 1 to 16 shares"), "{said}");
        let said = load(&[("routing", &format!("{{ kind = \"{kind}\" }}")), none[1]]).unwrap_err();
        assert!(said.starts_with(&format!("routing.by = \"{by}\": bands are shares")), "{said}");
    }
    for (key, wrong) in [("ring", "0"), ("ring", "1025"), ("values", "0"), ("values", "65537")] {
        let said = load(&[("routing", &format!("{{ kind = \"reps\", {key} = {wrong} }}"))]).unwrap_err();
        assert!(said.starts_with(&format!("routing.{key} = {wrong}: expected")), "{said}");
    }
    let said = load(&[("routing", "{ kind = \"reps\", rings = 4 }")]).unwrap_err();
    assert!(said.contains("did you mean \"ring\""), "{said}");
    for kind in ["reps", "spray\", by = \"counter"] {
        let sets = [("routing", format!("{{ kind = \"{kind}\" }}")), ("run.ties", "scheduled".to_string())];
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let said = load(&sets).unwrap_err();
        assert!(said.starts_with("run.ties = \"scheduled\": packets carry what scheduled ties ask"), "{said}");
    }
    // what bounds the queue policy does not bind the others
    load(&[("routing", "{ kind = \"adaptive\", by = \"utilisation\" }"), none[1]]).unwrap();
}

#[test]
fn defaults_are_htsims() {
    let built = |routing: &str| load(&[("routing", routing)]).unwrap().choice;
    let adaptive = |by, bands: &[f64], ns| {
        PathChoice::Adaptive(Adaptive { by, bands: bands.to_vec(), refresh: incast_cc::Time::ns(ns) })
    };
    assert_eq!(built("{ kind = \"adaptive\" }"), adaptive(Gauged::Queue, &[0.05, 0.1, 0.2], 100));
    let by = built("{ kind = \"adaptive\", by = \"utilisation\" }");
    assert_eq!(by, adaptive(Gauged::Utilisation, &[0.0, 0.15, 0.5], 30_000));
    let own = built("{ kind = \"adaptive\", bands = [0.5], refresh = \"1us\" }");
    assert_eq!(own, adaptive(Gauged::Queue, &[0.5], 1000));
    assert_eq!(built("{ kind = \"round-robin\", at = \"switch\" }"), PathChoice::RoundRobin(5));
    assert_eq!(built("{ kind = \"round-robin\" }"), PathChoice::RoundRobinSource);
    assert_eq!(built("{ kind = \"ns3-per-packet\" }"), PathChoice::Spray);
    assert!(load(&[("routing", "{ kind = \"spray\", acks = \"ecmp\" }")]).unwrap().acks_by_flow);
    assert_eq!(built("{ kind = \"spray\", by = \"counter\" }"), PathChoice::Entropy(Entropy::Counter));
    let bands = Adaptive { by: Gauged::Queue, bands: vec![0.05, 0.1, 0.2], refresh: incast_cc::Time::ns(100) };
    let flowlet = |by| PathChoice::Flowlet(Flowlet { gap: incast_cc::Time::us(10), by, probability: 1.0 });
    assert_eq!(built("{ kind = \"flowlet\" }"), flowlet(None));
    assert_eq!(built("{ kind = \"flowlet\", by = \"adaptive\" }"), flowlet(Some(bands.clone())));
    assert_eq!(built("{ kind = \"ecmp-adaptive\" }"), PathChoice::EcmpAdaptive(bands, 0.5));
    let reps = Recycled { ring: 8, values: 65_536, explore: 16, freeze: incast_cc::Time::ms(10) };
    assert_eq!(built("{ kind = \"reps\" }"), PathChoice::Entropy(Entropy::Recycled(reps)));
}

#[test]
fn every_policy_finishes_a_permutation() {
    for kind in list("routing").unwrap() {
        let sets = [("routing.kind", kind.name.as_str()), ("topology.k", "4"), ("traffic.app.size", "400kB")];
        let outcome = incast_engine::run(&load(&sets).unwrap(), &mut |_| true).unwrap();
        assert!(outcome.flows.iter().all(|f| f.finish_ps.is_some()), "{}", kind.name);
    }
}
