//! Radio cells as scenarios: frames of ns-3.43's TCP over 6LoWPAN, and refusals.

use incast_engine::spec::Spec;
use incast_engine::testing::{Simulation, Threads, Visit, reference, windows};
use incast_record::{Happening, PacketEvent};
use incast_scenario::Scenario;

/// One station at 10 m from the sink, without backoff; the frames of its flow until `until_us`.
fn frames(sets: &[(&str, &str)], until_us: u64) -> Vec<(u64, Happening, String, u32)> {
    let mut scenario = Scenario::load("wireless-cell").unwrap();
    let own = [
        ("run.duration", "2s"),
        ("run.warmup", "0s"),
        ("topology.sources", "1"),
        ("topology.radio.least_exponent", "0"),
        ("topology.radio.most_exponent", "0"),
        ("traffic.upload.jitter", "0s"),
        ("measure.trace", "[0]"),
    ];
    for (key, value) in own.iter().chain(sets) {
        scenario.set(key, value).unwrap();
    }
    let outcome = incast_engine::run(&scenario.build().unwrap(), &mut |_| true).unwrap();
    let on_air = |e: &&PacketEvent| matches!(e.event, Happening::Transmit | Happening::Hear);
    let row = |e: &PacketEvent| (e.time_ps / 1000, e.event, e.place.clone(), e.size);
    let mut rows: Vec<_> = outcome.trace.iter().filter(on_air).map(row).collect();
    rows.retain(|row| row.0 <= until_us * 1000);
    rows.sort_by_key(|row| row.0);
    rows
}

/// Frames sent at 10 m distance, in ns: from the source or not, and PSDU; each is heard and acknowledged.
fn expected(sent: &[(u64, bool, u32)], until_us: u64) -> Vec<(u64, Happening, String, u32)> {
    let mut rows = Vec::new();
    for &(at, from_source, psdu) in sent {
        let (own, other) = if from_source { ("source0", "sink") } else { ("sink", "source0") };
        let heard = at + (12 + 2 * u64::from(psdu)) * 16_000 + 33;
        rows.push((at, Happening::Transmit, own.to_owned(), psdu));
        rows.push((heard, Happening::Hear, other.to_owned(), psdu));
        rows.push((heard + 192_000, Happening::Transmit, other.to_owned(), 5));
        rows.push((heard + 544_033, Happening::Hear, own.to_owned(), 5));
    }
    rows.retain(|row| row.0 <= until_us * 1000);
    rows
}

#[test]
fn a_connection_of_536_byte_segments_is_frame_for_frame_that_of_ns3() {
    // SYN, SYN-ACK, ACK, and the six frames of the first segment, then its ACK
    let sent = [
        (320_000, true, 85),
        (4_288_033, false, 85),
        (8_256_066, true, 81),
        (12_544_132, true, 125),
        (18_240_198, true, 120),
        (23_776_264, true, 120),
        (29_312_330, true, 120),
        (34_848_396, true, 120),
        (40_384_462, true, 96),
        (44_704_495, false, 81),
    ];
    assert_eq!(frames(&[], 44_705), expected(&sent, 44_705));
}

#[test]
fn a_segment_of_100_bytes_is_frame_for_frame_that_of_ns3() {
    let app = [("traffic.upload.app.size", "100B"), ("transport.mss", "100")];
    let sent = [
        (320_000, true, 85),
        (4_288_033, false, 85),
        (8_256_066, true, 81),
        (12_544_132, true, 125),
        (18_240_198, true, 76),
        (21_920_231, false, 81),
    ];
    assert_eq!(frames(&app, 25_249), expected(&sent, 25_249));
}

#[test]
fn what_no_cell_can_be_is_refused() {
    let cases: [(&[(&str, &str)], &str); 20] = [
        (&[("topology.sources", "0")], "topology.sources"),
        (&[("topology.cells", "2")], "topology.cells"),
        (&[("topology.servers", "1")], "topology.gateway_link"),
        (&[("topology.radio.rate", "1Mbps")], "topology.radio.rate"),
        (&[("topology.radio.frame_payload", "120")], "topology.radio.frame_payload"),
        (&[("topology.radio.least_exponent", "6")], "topology.radio.least_exponent"),
        (&[("topology.placement", "{ kind = \"circle\", radius = 0.0 }")], "topology.placement.radius"),
        (&[("topology.placement", "{ kind = \"grid\" }")], "topology.placement.step"),
        (&[("topology.placement", "{ kind = \"grid\", step = 1e6 }")], "station number 3 is at 2000000 m, 0 m"),
        (&[("topology.placement", "{ kind = \"file\", file = \"nowhere.csv\" }")], "topology.placement.file"),
        (&[("topology.propagation", "{ kind = \"range\", range = -1.0 }")], "topology.propagation.range"),
        (&[("transport.mss", "1460")], "transport.mss"),
        (&[("topology.radio.adaptation", "none")], "transport.mss"),
        (&[("topology.radio.discovery", "{ waiting = 0 }")], "topology.radio.discovery.waiting"),
        (&[("topology.radio.discovery", "{ interval = \"0s\" }")], "topology.radio.discovery.interval"),
        (&[("topology.radio.discovery", "{}"), ("topology.radio.frame_payload", "69")], "topology.radio.frame_payload"),
        (&[("measure.lost_after", "10s")], "measure.lost_after"),
        (&[("measure.undeliverable", "received")], "measure.undeliverable"),
        (&[("measure.entries", "9")], "measure.entries"),
        (&[("measure.acks", "true"), ("measure.entries", "0")], "measure.entries"),
    ];
    for (sets, key) in cases {
        let mut scenario = Scenario::load("wireless-cell").unwrap();
        let result = sets.iter().try_for_each(|(key, value)| scenario.set(key, value)).map_err(|e| e.to_string());
        let error = result.and_then(|()| scenario.build().map(|_| ()).map_err(|e| e.to_string())).unwrap_err();
        assert!(error.contains(key), "{sets:?}: {error}");
    }
}

#[test]
fn a_file_of_places_holds_two_numbers_a_line_within_1000_km() {
    let folder = std::env::temp_dir().join(format!("incast-places-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("places.csv");
    let placement = format!("{{ kind = \"file\", file = {:?} }}", file.to_str().unwrap());
    let said = |rows: &str| {
        std::fs::write(&file, format!("x,y\n{rows}")).unwrap();
        let mut scenario = Scenario::load("wireless-cell").unwrap();
        scenario.set("topology.sources", "2").unwrap();
        scenario.set("topology.placement", &placement).unwrap();
        scenario.build().map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert_eq!(said("0,0\n-1000000,0\n5,5\n"), "");
    for far in ["100000000", "-1000001", "nan", "inf"] {
        let error = said(&format!("0,0\n{far},0\n5,5\n"));
        assert!(error.contains("line 3, column x") && error.contains("expected a number of metres"), "{error}");
    }
    let error = said("0,0\n1,1,3\n5,5\n");
    assert!(error.contains("line 3: 3 values under 2 columns"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn controllers_for_links_of_one_sender_are_noted_in_a_cell() {
    let notes = |name: &str, controller: &str| {
        let mut scenario = Scenario::load(name).unwrap();
        scenario.set("controller", controller).unwrap();
        scenario.notes().unwrap().join("\n")
    };
    for controller in ["timely", "dcqcn"] {
        let shown = notes("wireless-cell", controller);
        assert!(shown.contains("begins at the rate of its link, which 21 stations of air share"), "{shown}");
        assert!(!notes("dumbbell", controller).contains("stations"));
    }
    for controller in ["dctcp", "swift", "bbr"] {
        assert!(!notes("wireless-cell", controller).contains("begins at the rate"));
    }
}

#[test]
fn stations_out_of_range_are_noted() {
    let notes = |sets: &[(&str, &str)]| {
        let mut scenario = Scenario::load("wireless-cell").unwrap();
        let line = [("topology.placement", "{ kind = \"grid\", step = 50.0, columns = 21 }")];
        sets.iter().chain(&line).for_each(|(key, value)| scenario.set(key, value).unwrap());
        scenario.notes().unwrap().join("\n")
    };
    // 20 sources 50 m apart: one in range
    assert!(notes(&[]).contains("19 of 20 sources of air are out of range of sink: a signal reaches 80 m"));
    // ten times forwarded: eleven hops of 50 m
    assert!(notes(&[("topology.radio.mesh", "{}")]).contains("9 of 20 sources of air are out of range of sink, over"));
    assert!(notes(&[("topology.radio.mesh", "{ hops = 19 }")]).is_empty());
    let far = "{ kind = \"log-distance\", exponent = 2.0 }";
    assert!(notes(&[("topology.propagation", far)]).is_empty(), "no loss worth speaking of");
}

/// Two cells behind one gateway's switch: every partition, order of visits and number of threads gives the bytes of the
/// reference engine.
#[test]
fn two_cells_behind_one_switch_are_the_same_under_both_engines() {
    let mut scenario = Scenario::load("sensor-gateway").unwrap();
    for (key, value) in [("run.duration", "10s"), ("run.warmup", "1s"), ("topology.sources", "8")] {
        scenario.set(key, value).unwrap();
    }
    let given = scenario.build().unwrap();
    let nodes = given.node_names.len() as u32;
    let naive = reference::run(Simulation::new(&given).unwrap()).unwrap();
    assert!(naive.flows.iter().all(|f| f.delivered > 0), "{:?}", naive.flows);
    assert!(naive.radios.iter().any(|r| r.counts.lost > 0), "{:?}", naive.radios);
    assert_eq!(
        naive.packets_sent,
        naive.packets_delivered + naive.packets_dropped + naive.packets_in_flight,
        "packets are conserved"
    );
    let expected = format!("{naive:?}");
    let one = Spec { domain_of: vec![0; nodes as usize], ..given.clone() };
    let each = Spec { domain_of: (0..nodes).collect(), ..given.clone() };
    for spec in [&given, &one, &each] {
        // stations of a cell are one domain, whatever is asked for; the wires of gateways part cells
        let domains = Simulation::new(spec).unwrap().domains.len();
        assert!(domains == 1 || domains >= 3, "{domains} domains");
        for (visit, threads) in [(Visit::Forward, 1), (Visit::Reverse, 1), (Visit::Shuffled, 1), (Visit::Forward, 3)] {
            let spec = Spec { threads: Some(threads), ..spec.clone() };
            let threads = Threads::Sequential(threads as usize);
            let outcome = windows::run(Simulation::new(&spec).unwrap(), visit, threads, &mut |_| true).unwrap();
            assert_eq!(format!("{outcome:?}"), expected, "{visit:?}, {threads:?}, {domains} domains");
        }
    }
}
