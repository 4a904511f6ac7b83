//! The models beside the engine's transport with the controllers themselves: one flow over n paths in round robin, one
//! of them slow, nothing else in the way.
//!
//! The sender and the receiver are the engine's. Between them stands a network of this file, which gives every data
//! packet the delay of its path and returns ACKs at once, whatever the links' rates are: the setting of theorems 1 to
//! 5.

use incast_cc::Time;
use incast_engine::spec::Spec;
use incast_engine::testing::{Env, Ext, Instant, Outbox, Packet, Planned, Simulation, Stamp, Timer, flag};
use incast_engine::{FlowId, LinkId, NodeId};
use incast_model::dctcp::Dctcp;
use incast_model::fastflow::FastFlow;
use incast_model::lswift::LSwift;
use incast_model::mswift::MSwift;
use incast_model::swift::Swift;
use incast_model::tcp::Tcp;
use incast_record::Collector;
use incast_scenario::Scenario;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

/// n paths, one of them slow; delays in picoseconds.
#[derive(Clone, Copy)]
struct Paths {
    n: u64,
    short: Time,
    long: Time,
    /// True if packets on the slow path are marked.
    marks: bool,
    /// True if every packet takes a random path instead of the next one.
    random: bool,
    /// True if packets leave one after another at the rate of the sender's link, not all at once.
    spaced: bool,
}

/// The next event.
enum Event {
    Packet(Packet, Option<Ext>),
    Timer(Timer),
}

/// Carries data from source 0 to the sink over the paths, and ACKs back in no time.
struct Network {
    paths: Paths,
    now: Time,
    /// Links that lead out of the source, and into source and sink.
    up: u32,
    to_source: u32,
    to_sink: u32,
    crossing: Time,
    data: u64,
    sequence: u64,
    order: BinaryHeap<Reverse<(Time, u64)>>,
    events: BTreeMap<u64, Event>,
}

impl Network {
    fn at(&mut self, time: Time, event: Event) {
        self.order.push(Reverse((time, self.sequence)));
        self.events.insert(self.sequence, event);
        self.sequence += 1;
    }

    fn is_slow(&mut self) -> bool {
        let Paths { n, random, .. } = self.paths;
        self.data += 1;
        if random {
            // splitmix64 of the packet's number
            let mut x = self.data.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (x ^ (x >> 31)) % n == 0
        } else {
            self.data % n == 0
        }
    }
}

impl Outbox for Network {
    fn arrive(&mut self, sent: &Packet, stamp: Stamp, ext: Option<&mut Ext>, _generation: u16) -> Option<usize> {
        let mut packet = *sent;
        stamp.on(&mut packet, sent);
        packet.hop += 1;
        let is_data = stamp.link.0 == self.up;
        let delay = match is_data && self.is_slow() {
            true => {
                packet.flags |= if self.paths.marks { flag::CE } else { 0 };
                self.paths.long
            }
            false if is_data => self.paths.short,
            false => Time::ZERO,
        };
        // the link's own share of the delay is part of the path's
        let left = if is_data && self.paths.spaced { stamp.time - self.crossing } else { self.now };
        packet.time = left + delay;
        packet.link = LinkId(if is_data { self.to_sink } else { self.to_source });
        self.at(packet.time, Event::Packet(packet, ext.map(std::mem::take)));
        None
    }

    fn timer(&mut self, time: Time, _generation: u16, timer: Timer) {
        self.at(time, Event::Timer(timer));
    }

    fn send_message(&mut self, _to: NodeId, time: Time, message: Timer) {
        self.at(time, Event::Timer(message));
    }
}

/// A flow with this controller, unbounded in data and buffers; `dupthresh` packets above a hole make it a loss.
fn flow(controller: &str, initial_window: f64, dupthresh: u32) -> Spec {
    let text = format!(
        r#"
        controller = {controller}
        run = {{ duration = "100s" }}
        topology = {{ kind = "star", sources = 1, source_link = {LINK}, sink_link = {LINK} }}
        queue = {{ kind = "drop-tail", limit = "none" }}
        [transport]
        preset = "swift"
        mss = 4000
        header = 0
        rto_min = "50ms"
        rto_initial = "50ms"
        initial_window = {initial_window}
        delayed_ack = 1
        dupthresh = {dupthresh}
        [[traffic]]
        name = "load"
        pattern = "pairs"
        app = {{ kind = "bulk" }}
        "#
    );
    let spec = Scenario::from_toml(&text, Path::new("."), "paths").and_then(|s| s.build()).unwrap();
    Spec { domain_of: vec![0; spec.node_names.len()], ..spec }
}

/// The link in the controller's environment; the network of this file has no rate.
const LINK: &str = r#"{ rate = "100Gbps", delay = "1us" }"#;

/// Packets sent by the sender in a short round trip, after the first quarter of `packets`.
fn mean_window(spec: &Spec, paths: Paths, packets: u64) -> f64 {
    let mut simulation = Simulation::new(spec).unwrap();
    let link = |from: Option<u32>, to: Option<u32>| {
        let fits = |l: &incast_engine::spec::LinkSpec| from.is_none_or(|n| l.from == n) && to.is_none_or(|n| l.to == n);
        spec.links.iter().position(fits).unwrap() as u32
    };
    let mut network = Network {
        paths,
        now: Time::ZERO,
        up: link(Some(0), None),
        to_source: link(None, Some(0)),
        to_sink: link(None, Some(1)),
        crossing: spec.links[0].crossing(4000),
        data: 0,
        sequence: 0,
        order: BinaryHeap::new(),
        events: BTreeMap::new(),
    };
    let mut rec = Collector::new(1);
    network.at(Time::ZERO, Event::Timer(Timer::Start(FlowId(0))));
    let mut from = None;
    while let Some(Reverse((time, number))) = network.order.pop() {
        network.now = time;
        let at = Instant { time, generation: 0 };
        let Simulation { net, domains, .. } = &mut simulation;
        let event = network.events.remove(&number);
        let env = Env::new(net, &mut network, &mut rec);
        match event {
            Some(Event::Packet(packet, mut ext)) => {
                domains[0].arrival(at, &packet, ext.as_mut(), Planned::DELIVER, env)
            }
            Some(Event::Timer(timer)) => domains[0].timer(at, timer, env),
            None => unreachable!("every number has its event"),
        }
        if from.is_none() && network.data >= packets / 4 {
            from = Some((time, network.data));
        }
        if network.data >= packets {
            break;
        }
    }
    let (time, data) = from.unwrap();
    let window = (network.data - data) as f64 * paths.short.0 as f64 / (network.now - time).0 as f64;
    println!("{} over {} paths, T_l {}: {window:.2} packets", spec.controllers[0].kind().name, paths.n, paths.long);
    window
}

/// n paths without marks, in turn; round trips in nanoseconds.
fn paths(n: u64, short: u64, long: u64) -> Paths {
    Paths { n, short: Time::ns(short), long: Time::ns(long), marks: false, random: false, spaced: false }
}

/// The mean window of a controller over n paths, a short round trip of `short` and a long one of `long` nanoseconds.
fn over(n: u64, short: u64, long: u64, controller: &str) -> f64 {
    mean_window(&flow(controller, 4.0 + (n as f64).sqrt(), 3), paths(n, short, long), (60 * n).max(30_000))
}

/// A controller of Swift's family with a target of `base` and htsim's flow scaling.
fn swift_kind(kind: &str, base: &str) -> String {
    format!(r#"{{ kind = "{kind}", base_target = "{base}", topology_scaling = false, fs_range = "100us" }}"#)
}

/// Slope of ln y over ln x by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (top, bottom) =
        logs.iter().fold((0.0, 0.0), |(t, b), (x, y)| (t + (x - mx) * (y - my), b + (x - mx) * (x - mx)));
    top / bottom
}

/// Windows of a controller, (n, packets a round trip), and those of its model.
struct Agreement<'a> {
    measured: &'a [(u64, f64)],
    model: &'a dyn Fn(u64) -> f64,
}

impl Agreement<'_> {
    /// Within `part` of the model from n = `from` up.
    fn within(&self, part: f64, from: u64) {
        for (n, found) in self.measured.iter().filter(|m| m.0 >= from) {
            let model = (self.model)(*n);
            assert!((found / model - 1.0).abs() <= part, "n = {n}: {found:.3} packets, the model has {model:.3}");
        }
    }

    /// Exponents within 0.05 of one another.
    fn slopes(&self) {
        let exponent = |y: &dyn Fn(u64, f64) -> f64| {
            slope(&self.measured.iter().map(|(n, w)| (*n as f64, y(*n, *w))).collect::<Vec<_>>())
        };
        let (found, model) = (exponent(&|_, w| w), exponent(&|n, _| (self.model)(n)));
        println!("exponents {found:.3} and {model:.3}");
        assert!((found - model).abs() <= 0.05, "exponents {found:.3} and {model:.3}");
    }
}

/// Windows of a controller at these numbers of paths.
fn measure(ns: &[u64], short: u64, long: u64, controller: &str) -> Vec<(u64, f64)> {
    ns.iter().map(|n| (*n, over(*n, short, long, controller))).collect()
}

/// Checks that each is within 3 % of the result of an event-driven sender that follows the model's rules, in packets
/// per round trip.
fn compare(measured: &[(u64, f64)], sender: &[(u64, f64)]) {
    for ((n, found), (_, other)) in measured.iter().zip(sender) {
        assert!((found / other - 1.0).abs() <= 0.03, "n = {n}: {found:.3} packets, the other sender {other:.3}");
    }
}

fn columns(constants: &[(u64, f64)]) -> Vec<(u64, f64)> {
    constants.iter().map(|(n, c)| (*n, c * (*n as f64).sqrt())).collect()
}

/// Theorem 3. The long round trip is not twice the short one here: then a slow ACK returns at the very instant of those
/// of the next burst, and whether it is overtaken hangs on the order of events.
#[test]
fn swift_collapses_as_theorem_3_says() {
    let near = [(25, 5.56), (36, 7.20), (49, 8.17), (64, 9.14), (81, 10.80), (100, 12.24)];
    let far = columns(&[(121, 1.2219), (256, 1.2314), (512, 1.2231), (1024, 1.2308), (2048, 1.2231)]);
    let sender: Vec<(u64, f64)> = near.into_iter().chain(far).collect();
    let ns: Vec<u64> = sender.iter().map(|s| s.0).collect();
    for (short, long, base) in [(14_000, 30_000, "15.8us"), (14_400, 36_000, "21us")] {
        let measured = measure(&ns, short, long, &swift_kind("swift", base));
        if short == 14_000 {
            compare(&measured, &sender);
        }
        let model = |n| {
            let seconds = |ns| ns as f64 * 1e-9;
            let model =
                Swift { q: 1.0 / n as f64, short_rtt_s: seconds(short), long_rtt_s: seconds(long), ..Swift::default() };
            model.solve().unwrap().mean_window_packets
        };
        let agreement = Agreement { measured: &measured, model: &model };
        agreement.within(0.03, 100);
        agreement.slopes();
    }
}

/// Theorem 5, with the targets and delays of the paper's figures 5 and 2. Below n = 25 (64 in figure 2's setting) a
/// long round trip is longer than the time between slow packets, and the controller, which lets a round trip of the
/// latest sample pass between two falls, skips some of them.
#[test]
fn lswift_collapses_as_theorem_5_says() {
    let figure5: Vec<(u64, f64)> = [(25, 10.71), (36, 12.52), (49, 14.00), (64, 15.99), (81, 17.47), (100, 18.97)]
        .into_iter()
        .chain(columns(&[(121, 1.8477), (256, 1.7644), (512, 1.6818), (1024, 1.6162), (2048, 1.5659)]))
        .collect();
    let figure2 = columns(&[(64, 1.8965), (121, 1.8343), (256, 1.7534), (512, 1.6911), (1024, 1.6410), (2048, 1.6028)]);
    for (short, long, base, base_s, sender) in
        [(14_000, 28_000, "15.8us", 15.8e-6, figure5), (14_400, 36_000, "21us", 21e-6, figure2)]
    {
        let ns: Vec<u64> = sender.iter().map(|s| s.0).collect();
        let measured = measure(&ns, short, long, &swift_kind("lswift", base));
        compare(&measured, &sender);
        let model = |n| {
            let (short_rtt_s, long_rtt_s) = (short as f64 * 1e-9, long as f64 * 1e-9);
            let model = LSwift { q: 1.0 / n as f64, short_rtt_s, long_rtt_s, target_s: base_s, ..LSwift::default() };
            model.solve().unwrap().mean_window_packets
        };
        let agreement = Agreement { measured: &measured, model: &model };
        agreement.within(0.03, 100);
        agreement.slopes();
    }
    let skipping = over(9, 14_000, 28_000, &swift_kind("lswift", "15.8us"));
    let model = LSwift { q: 1.0 / 9.0, ..LSwift::default() }.solve().unwrap();
    assert!(model.round_trips < 2.0 && skipping > 1.1 * model.mean_window_packets, "{skipping}");
    // with the smoothed round trip in the place of the latest it skips none
    let by_smoothed = swift_kind("lswift", "21us").replace(" }", ", gate = \"srtt\" }");
    compare(&measure(&[25, 36], 14_400, 36_000, &by_smoothed), &columns(&[(25, 2.0), (36, 1.946)]));
}

/// Theorem 2, without marks.
#[test]
fn unmarked_dctcp_collapses_as_theorem_2_says() {
    let measured = measure(&[100, 121, 256, 512, 1024, 2048], 14_000, 30_000, r#""dctcp""#);
    let model = |n| {
        let dctcp = Dctcp { q: 1.0 / n as f64, long_rtt_s: 30e-6, ..Dctcp::default() }.solve().unwrap();
        assert_eq!(dctcp.is_upper_bound, 0.0);
        dctcp.mean_window_packets
    };
    let agreement = Agreement { measured: &measured, model: &model };
    agreement.within(0.03, 100);
    agreement.slopes();
}

/// Theorem 1. What it neglects costs NewReno one and a half to two packets of window: in a recovery the window does not
/// grow for a round trip, and half of what is in flight is whole packets. That is 13 % at n = 121, and below
/// 3 % at 2048.
#[test]
fn newreno_lies_a_recovery_below_theorem_1() {
    let measured = measure(&[64, 121, 256, 512, 1024, 2048], 14_000, 30_000, r#""newreno""#);
    let model = |n| Tcp { q: 1.0 / n as f64, long_rtt_s: 30e-6, ..Tcp::default() }.solve().unwrap().mean_window_packets;
    for (n, found) in &measured {
        let below = model(*n) - found;
        assert!((1.5..2.0).contains(&below), "n = {n}: {below:.2} packets below the model");
    }
    Agreement { measured: &measured, model: &model }.within(0.03, 2048);
    Agreement { measured: &measured[1..], model: &model }.slopes();
}

/// The median of MSwift's delays is a fast one: its window is the largest there is, or the link is full. Packets leave
/// one by one here. A burst's slow ACKs come back together, and are the majority of a history then.
#[test]
fn mswift_does_not_collapse() {
    for (max_cwnd, initial) in [(30.0, 20.0), (1000.0, 20.0)] {
        let kind = swift_kind("mswift", "15.8us");
        let controller = kind.replace(" }", &format!(", max_cwnd = {max_cwnd:?} }}"));
        for n in [3, 4, 9, 25, 121, 512] {
            let paths = Paths { spaced: true, ..paths(n, 14_000, 28_000) };
            let found = mean_window(&flow(&controller, initial, 3), paths, 60_000);
            let model =
                MSwift { q: 1.0 / n as f64, max_cwnd, ..MSwift::default() }.solve().unwrap().mean_window_packets;
            assert!((found / model - 1.0).abs() <= 0.01, "n = {n}: {found:.2} packets, the model has {model:.2}");
        }
    }
}

/// Random paths instead of the next: the same law. The factor is larger: windows grow far between distant slow packets,
/// and of two within a round trip only one makes the window fall.
#[test]
fn random_paths_follow_the_trend_above_the_models() {
    for (kind, long) in [("swift", 30_000), ("lswift", 28_000)] {
        let measured: Vec<(u64, f64)> = [49, 100, 256, 512, 1024]
            .into_iter()
            .map(|n| {
                let paths = Paths { random: true, ..paths(n, 14_000, long) };
                let spec = flow(&swift_kind(kind, "15.8us"), 4.0 + (n as f64).sqrt(), 3);
                (n, mean_window(&spec, paths, 600 * n))
            })
            .collect();
        let model = |n: u64| match kind {
            "swift" => Swift { q: 1.0 / n as f64, ..Swift::default() }.solve().unwrap().mean_window_packets,
            _ => LSwift { q: 1.0 / n as f64, ..LSwift::default() }.solve().unwrap().mean_window_packets,
        };
        for (n, found) in &measured {
            let part = found / model(*n);
            assert!((1.05..1.2).contains(&part), "{kind}, n = {n}: {part:.3} of the model");
        }
        Agreement { measured: &measured, model: &model }.slopes();
    }
}

/// Theorem 4 takes one packet for a slow one and then a share of the window; FastFlow takes one packet at most for the
/// mark of one, so that its window outgrows the theorem's: like 1/q and faster, not 1/sqrt(q).
#[test]
fn fastflow_caps_what_theorem_4_does_not() {
    let controller = r#"{ kind = "fastflow", base_rtt = "12us", wtd_threshold = 0.0, max_cwnd = 60.0 }"#;
    let points: Vec<(f64, f64)> = [25, 36, 49, 64]
        .into_iter()
        .map(|n| {
            // nothing is taken for lost, as FastFlow has it
            let paths = Paths { marks: true, ..paths(n, 14_400, 36_000) };
            let found = mean_window(&flow(controller, 10.0, 1_000_000), paths, 300_000);
            let model = FastFlow { q: 1.0 / n as f64, ..FastFlow::default() }.solve().unwrap().mean_window_packets;
            assert!(found > 1.2 * model, "n = {n}: {found:.2} packets, the theorem has {model:.2}");
            (n as f64, found)
        })
        .collect();
    assert!(slope(&points) > 1.2, "{points:?}");
}
