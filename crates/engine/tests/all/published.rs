//! Controllers without published vectors behave as their sources say, on small networks. Each test is a statement from
//! a paper; its page in docs/controllers has the numbers.

use crate::support::*;

/// RED on the instantaneous queue: marks with a probability that rises from 0 at `from` packets to `most` at `to`, and
/// all packets above.
fn linear_marking(from: f64, to: f64, most: f64, limit: u64) -> QueueSpec {
    let red = Red {
        min_th: from,
        max_th: to,
        qw: 1.0,
        l_interm: 1.0 / most,
        mean_pkt_size: 4000,
        gentle: false,
        wait: false,
        use_ecn: true,
        use_hard_drop: false,
    };
    queue(Discipline::Red(red), Limit::Packets(limit))
}

/// `n` endless flows from separate hosts to host `n`, at 100 Gb/s and 1 us a link with packets of 4000 B, measured from
/// `from` to `to`.
fn incast(n: u32, kind: &str, params: &[(&str, &str)], queue: QueueSpec, from: Time, to: Time) -> Spec {
    let mut spec = star(n + 1, Rate::gbps(100), Time::us(3));
    spec.controllers = vec![controller(kind, params)];
    let profile = spec.controllers[0].profile();
    spec.transports[0].acks.delayed_ack = if profile.ack_every_packet { 1 } else { 2 };
    spec.transports[0].windows.idle_restart = false;
    spec.flows = (0..n).map(|src| bulk(src, n, None)).collect();
    spec.queues = vec![queue];
    spec.duration = to;
    spec.measure_from = from;
    spec.measure_to = to;
    spec
}

/// The bottleneck at the receiving host, and the shares of the flows.
#[derive(Debug)]
struct Shared {
    /// Busy time of the link, as a share.
    utilisation: f64,
    /// Mean queue, in packets.
    queue: f64,
    drops: u64,
    /// Jain's index of the goodputs.
    jain: f64,
}

fn shared(spec: &Spec, o: &Outcome) -> Shared {
    let port = &o.ports[spec.links.len() - 1];
    let span = (o.measure_to_ps - o.measure_from_ps) as f64;
    let x: Vec<f64> = o.flows.iter().map(|f| f.delivered_m as f64).collect();
    let (sum, squares) = (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    Shared {
        utilisation: port.busy_ps as f64 / span,
        queue: port.queue_mean_packets,
        drops: port.drops,
        jain: sum * sum / (x.len() as f64 * squares),
    }
}

/// The idle round trip of these paths is 12.6 us, 39 packets: queues of 40, marked from 8 on and always from 32 on, as
/// in the paper (one bandwidth-delay product, 20 and 80 %).
fn fastflow_queue() -> QueueSpec {
    linear_marking(8.0, 32.0, 1.0, 40)
}

#[test]
fn fastflow_loses_packets_while_an_incast_begins_and_then_shares_a_full_link() {
    for params in [&[][..], &[("form", "spcl")][..]] {
        for n in [2, 8, 32] {
            let during = |from, to| {
                let spec = incast(n, "fastflow", params, fastflow_queue(), from, to);
                shared(&spec, &run(&spec))
            };
            let (begin, later) = (during(Time::ZERO, Time::us(500)), during(Time::us(500), Time::ms(3)));
            println!("{params:?}, {n} flows, first 0.5 ms: {begin:?}, then: {later:?}");
            assert!(begin.drops > 0, "every flow begins with more than the path holds: {begin:?}");
            assert!(later.drops * 50 <= begin.drops, "{params:?} {n}: {begin:?} {later:?}");
            assert!(later.utilisation > 0.99 && later.queue < 25.0, "{params:?} {n}: {later:?}");
            assert!(later.jain > 0.98, "{params:?} {n}: {later:?}");
        }
    }
}

#[test]
fn fastflows_first_constants_swing_on_a_short_path_and_those_of_its_simulator_less() {
    let on_a_short_path = |params| {
        let mut spec = incast(2, "fastflow", params, linear_marking(3.0, 12.0, 1.0, 15), Time::us(500), Time::ms(3));
        spec.links.iter_mut().for_each(|link| link.delay = Time::us(1));
        let shared = shared(&spec, &run(&spec));
        println!("{params:?}, 4.6 us: {shared:?}");
        shared.utilisation
    };
    let (first, later) = (on_a_short_path(&[]), on_a_short_path(&[("form", "spcl")]));
    assert!(first < 0.88 && later > 0.92, "{first} {later}");
}

#[test]
fn fastflow_is_the_same_under_every_partition() {
    compared(&incast(8, "fastflow", &[], fastflow_queue(), Time::ZERO, Time::us(150)));
}

#[test]
fn timelys_rate_falls_in_proportion_to_the_gradient_of_the_rtt_and_rises_without_one() {
    let mut spec = incast(4, "timely", &[], drop_tail(10_000), Time::ms(5), Time::ms(50));
    spec.observe.flows = vec![0];
    let o = run(&spec);
    let (rates, gradients) = (series(&o, "flow 0", "pacing_rate_bps"), series(&o, "flow 0", "gradient"));
    let rtts = series(&o, "flow 0", "rtt_s");
    let t_low = 2.5 * o.flows[0].idle_rtt_ps as f64 * 1e-12;
    let mut falls = 0;
    for step in rates.windows(2).filter(|step| step[1].0 > 5_000_000_000) {
        let [(_, before), (at, after)] = *step else { continue };
        let gradient = gradients[gradients.partition_point(|g| g.0 <= at) - 1].1;
        if after < before {
            falls += 1;
            let expected = (before * (1.0 - 0.8 * gradient).max(0.0)).max(1e8);
            assert!((after - expected).abs() < 1.0, "{at}: {before} to {after} with a gradient of {gradient}");
        } else {
            // the rate rises whatever the gradient only below t_low, 2.5 idle round trips
            let rtt = rtts[rtts.partition_point(|r| r.0 <= at) - 1].1;
            assert!(gradient <= 0.0 || rtt < t_low, "{at}: {before} to {after}, gradient {gradient}, {rtt} s");
        }
    }
    let shared = shared(&spec, &o);
    println!("{shared:?}, {falls} falls of {} steps", rates.len());
    assert!(falls > 50 && rates.len() > 10 * falls);
    assert!(shared.utilisation > 0.9 && shared.drops == 0 && shared.jain > 0.99, "{shared:?}");
    // between the thresholds of 2.5 and 25 idle round trips of 39 packets
    assert!(shared.queue < 60.0, "{shared:?}");
}

#[test]
fn timely_flows_that_begin_apart_come_to_equal_rates_here() {
    let mut spec = incast(2, "timely", &[], drop_tail(10_000), Time::ms(40), Time::ms(60));
    spec.flows[1].start = Time::ms(10);
    let shared = shared(&spec, &run(&spec));
    println!("a second flow 10 ms later: {shared:?}");
    assert!(shared.jain > 0.99, "{shared:?}");
}

#[test]
fn timely_is_the_same_under_every_partition() {
    compared(&incast(4, "timely", &[], drop_tail(100), Time::ZERO, Time::us(300)));
}

#[test]
fn hpcc_keeps_a_link_at_its_target_utilisation_with_a_queue_near_empty() {
    for n in [1, 2, 4, 16] {
        let spec = incast(n, "hpcc", &[], drop_tail(1000), Time::ms(10), Time::ms(14));
        let shared = shared(&spec, &run(&spec));
        println!("{n} flows: {shared:?}");
        assert!((0.92..0.96).contains(&shared.utilisation), "{n} flows: {shared:?}");
        // the packet in transmission is one of them
        assert!(shared.queue < 1.5 && shared.drops == 0, "{n} flows: {shared:?}");
        // two flows converge to equal shares, four to nearly equal ones
        assert!(shared.jain > if n <= 2 { 0.99 } else { 0.95 }, "{n} flows: {shared:?}");
    }
}

#[test]
fn hpcc_is_the_same_under_every_partition() {
    compared(&incast(4, "hpcc", &[], drop_tail(1000), Time::ZERO, Time::us(200)));
}

/// Queue in packets that `n` flows keep by appendix A of the paper, n beta: each a tenth of 12.6 us at 100 Gb/s.
fn queue_of_beta(n: u32) -> f64 {
    f64::from(n) * 0.1 * 157_500.0 / 4_000.0
}

#[test]
fn powertcp_keeps_a_full_link_and_a_queue_of_beta_a_flow() {
    for kind in ["powertcp", "theta-powertcp"] {
        for n in [2, 4, 10] {
            let spec = incast(n, kind, &[], drop_tail(1000), Time::ms(10), Time::ms(14));
            let shared = shared(&spec, &run(&spec));
            println!("{kind}, {n} flows: {shared:?}, {} packets wanted", queue_of_beta(n));
            assert!(shared.utilisation > 0.999 && shared.drops == 0 && shared.jain > 0.99, "{kind} {n}: {shared:?}");
            // tolerance: a packet of 4000 B, with headers and the rounding of windows to packets
            assert!((shared.queue - queue_of_beta(n)).abs() < 1.5, "{kind} {n}: {shared:?}");
        }
    }
}

#[test]
fn powertcp_is_the_same_under_every_partition() {
    compared(&incast(4, "powertcp", &[], drop_tail(1000), Time::ZERO, Time::us(200)));
    compared(&incast(4, "theta-powertcp", &[], drop_tail(1000), Time::ZERO, Time::us(200)));
}

/// Queue in packets at which `n` flows of one hop settle: 2 us and 40 us ln n / ln 100 of 100 Gb/s.
fn queue_of_shares(n: u32) -> f64 {
    (2.0 + 40.0 * f64::from(n).ln() / 100f64.ln()) * 12_500.0 / 4_000.0
}

#[test]
fn poseidon_flows_keep_the_queue_that_their_shares_want() {
    for n in [2, 4, 10] {
        let spec = incast(n, "poseidon", &[], drop_tail(1000), Time::ms(10), Time::ms(14));
        let shared = shared(&spec, &run(&spec));
        println!("{n} flows: {shared:?}, {} packets wanted", queue_of_shares(n));
        assert!(shared.utilisation > 0.999 && shared.drops == 0 && shared.jain > 0.99, "{n}: {shared:?}");
        assert!((shared.queue - queue_of_shares(n)).abs() < 0.1 * queue_of_shares(n), "{n}: {shared:?}");
    }
}

/// Three switches in a row with two hosts each: one flow from the first switch to the last, and another flow on each of
/// the two links between them.
fn parking_lot(kind: &str) -> Spec {
    let mut spec = incast(5, kind, &[], drop_tail(1000), Time::ms(10), Time::ms(14));
    let (rate, delay) = (spec.links[0].rate, spec.links[0].delay);
    let of = |h: u32| 6 + h / 2;
    let up = (0..6).map(|h| link(h, of(h), rate, delay, format!("h{h}>s")));
    let down = (0..6).map(|h| link(of(h), h, rate, delay, format!("s>h{h}")));
    let between = [(6, 7), (7, 6), (7, 8), (8, 7)].map(|(a, b)| link(a, b, rate, delay, format!("s{a}>s{b}")));
    spec.links = up.chain(down).chain(between).collect();
    spec.node_names = (0..6).map(|h| format!("h{h}")).chain((6..9).map(|s| format!("s{s}"))).collect();
    spec.domain_of = (0..9).map(|node| if node < 6 { node / 2 } else { node - 6 }).collect();
    let table = |set: [u32; 6]| Router::Table { set: set.to_vec(), sets: (0..4).map(|port| vec![port]).collect() };
    spec.routers = vec![table([0, 1, 2, 2, 2, 2]), table([2, 2, 0, 1, 3, 3]), table([2, 2, 2, 2, 0, 1])];
    spec.flows = [(0, 5), (1, 2), (3, 4)].map(|(src, dst)| bulk(src, dst, None)).to_vec();
    spec
}

#[test]
fn poseidon_flows_get_the_same_over_two_full_links_as_over_one() {
    let shares = |kind: &str| {
        let o = run(&parking_lot(kind));
        let got: Vec<f64> = o.flows.iter().map(|f| f.delivered_m as f64).collect();
        println!("{kind}: the long flow has {:.3} and {:.3} of its neighbours'", got[0] / got[1], got[0] / got[2]);
        [got[0] / got[1], got[0] / got[2]]
    };
    let [first, second] = shares("poseidon");
    assert!((0.97..1.03).contains(&first) && (0.97..1.03).contains(&second), "{first} {second}");
    let [first, second] = shares("swift");
    assert!(first < 0.9 && second < 0.9, "{first} {second}");
}

#[test]
fn poseidon_is_the_same_under_every_partition() {
    compared(&incast(4, "poseidon", &[], drop_tail(1000), Time::ZERO, Time::us(200)));
    compared(&Spec {
        duration: Time::us(200),
        measure_from: Time::ZERO,
        measure_to: Time::us(200),
        ..parking_lot("poseidon")
    });
}

#[test]
fn dcqcn_flows_come_to_a_fair_share() {
    // 400 and 1600 kB at 100 Gb/s, 0.2: the switches in HPCC's paper
    let queue = || linear_marking(100.0, 400.0, 0.2, 10_000);
    for n in [2, 8] {
        for params in [&[][..], &[("form", "vendor")][..]] {
            let spec = incast(n, "dcqcn", params, queue(), Time::ms(20), Time::ms(60));
            let shared = shared(&spec, &run(&spec));
            println!("{params:?} {n} flows: {shared:?}");
            assert!(shared.jain > 0.98 && shared.utilisation > 0.98 && shared.drops == 0, "{params:?} {n}: {shared:?}");
        }
    }
}

#[test]
fn dcqcn_receivers_notify_at_most_once_an_interval_and_cuts_follow() {
    let mut spec = incast(2, "dcqcn", &[], linear_marking(5.0, 20.0, 1.0, 10_000), Time::ZERO, Time::ms(2));
    spec.observe.trace = vec![0];
    spec.observe.flows = vec![0];
    let o = run(&spec);
    let sent = events(&o, "h2", Happening::Send);
    let notified: Vec<u64> = sent.iter().filter(|e| e.flags == "ECE").map(|e| e.time_ps).collect();
    assert!(notified.len() > 3 && notified.windows(2).all(|pair| pair[1] - pair[0] >= 50_000_000), "{notified:?}");
    let heard = events(&o, "h0", Happening::Arrive).iter().find(|e| e.flags == "ECE").map(|e| e.time_ps);
    let rates = series(&o, "flow 0", "pacing_rate_bps");
    assert_eq!(rates[0].1, 1e11);
    assert_eq!((Some(rates[1].0), rates[1].1), (heard, 5e10), "the first one halves the rate at once");
}

#[test]
fn dcqcn_is_the_same_under_every_partition() {
    compared(&incast(4, "dcqcn", &[], linear_marking(5.0, 20.0, 0.2, 100), Time::ZERO, Time::us(400)));
}

#[test]
fn bbr_keeps_about_two_bandwidth_delay_products_in_flight() {
    for n in [1, 2, 4] {
        let mut spec = incast(n, "bbr", &[], drop_tail(10_000), Time::ms(5), Time::ms(40));
        spec.observe.flows = vec![0];
        let o = run(&spec);
        let all = shared(&spec, &o);
        // a flow's own estimates of the bandwidth and of the round trip
        let (bandwidth, rtprop) = (series(&o, "flow 0", "bandwidth_bps"), series(&o, "flow 0", "rtprop_s"));
        let latest = |values: &[(u64, f64)], at: u64| values[values.partition_point(|v| v.0 <= at).max(1) - 1].1;
        let product = |at: u64| latest(&bandwidth, at) / 8.0 * latest(&rtprop, at);
        let flight = series(&o, "flow 0", "in_flight_bytes");
        let later = flight.iter().filter(|(t, _)| *t > 5_000_000_000);
        let most = later.map(|(t, bytes)| bytes / product(*t)).fold(0.0, f64::max);
        println!("{n} flows: {all:?}, at most {most:.2} bandwidth-delay products in flight");
        assert!(all.utilisation > 0.98 && all.drops == 0, "{n} flows: {all:?}");
        // with more than two flows the estimates fall while earlier packets are still in flight
        assert!(most < if n <= 2 { 2.1 } else { 3.0 }, "{n} flows: {most}");
        assert!(all.queue < 60.0, "{n} flows: {all:?}");
        assert!(n > 2 || all.jain > 0.98, "{n} flows: {all:?}");
    }
}

#[test]
fn bbr_is_the_same_under_every_partition() {
    compared(&incast(3, "bbr", &[], drop_tail(60), Time::ZERO, Time::us(400)));
}
