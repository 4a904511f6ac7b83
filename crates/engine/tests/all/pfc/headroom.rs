//! No drops with sufficient headroom, and exactly the excess is dropped without.

use super::*;
use incast_engine::map::pfc::Pfc;
use std::time::{Duration, Instant};

/// Seven hosts at line rate into an eighth, over links of several lengths and with packets of several sizes.
#[test]
fn an_incast_at_line_rate_loses_nothing() {
    for (delay, mss, size) in [(0, 1500, 400_000), (1, 1500, 400_000), (1, 64, 400_000), (5, 9000, 1_500_000)] {
        let mut spec = endless(star(8, Rate::gbps(10), Time::us(delay)), Time::us(600));
        spec.transports = vec![changed!(htsim(), sizes.mss = mss)];
        spec.flows = (0..7).map(|h| flood(h, 7, mss, Rate::gbps(10))).collect();
        spec.buffer = with(pfc(), size);
        let o = run(&spec);
        assert_eq!(drops(&o), 0, "{delay} us, {mss} B");
        let last = port(&o, "s>h7");
        assert!(last.queue_max_bytes < size, "{last:?}");
        // the bottleneck is never idle: the first packet arrives after two delays
        let idle = o.end_ps - last.busy_ps;
        assert!(idle <= 2 * delay * 1_000_000 + 2 * Rate::gbps(10).serialize(mss as u64).0, "{last:?}");
        let paused: Vec<u64> = (0..7).map(|h| port(&o, &format!("h{h}>s")).paused_ps).collect();
        assert!(paused.iter().all(|p| (400_000_000..600_000_000).contains(p)), "a seventh each: {paused:?}");
        // without flow control the buffer overflows
        spec.buffer =
            Some(BufferSpec { size, alpha: 1.0, reserve: 0, count_in_service: true, egress: None, pfc: None });
        assert!(drops(&run(&spec)) > 0);
    }
}

/// One host at 10 Gb/s into a link of 1 Mb/s. The threshold is 20,500 B, exceeded by the twenty-first packet of 1000 B.
/// The frame takes 51.2 ns and the delay, packets 800 ns: with a delay of 2 us they go on for 4051.2 ns after that
/// packet's transmission, which is six packets more.
#[test]
fn a_headroom_of_a_packet_too_little_drops_a_packet() {
    let run = |headroom: Headroom| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let threshold = Some(Threshold::Fixed(20_500));
        // a frame to h1 may wait for a packet at 1 Mb/s, 8 ms, which is 10 MB of headroom
        spec.buffer = with(PfcSpec { threshold, headroom, reserve: 0, ..pfc() }, 20_000_000);
        let o = run(&spec);
        (drops(&o), port(&o, "s>h1").accepted_total)
    };
    // 20 in the shared part, 1 above the threshold, 6 until the port stops; one of the first is in transmission
    assert_eq!(run(Headroom::Bytes(7000)).0, 0);
    assert_eq!(run(Headroom::Bytes(6999)).0, 1);
    // without headroom the pause begins with the twentieth, the last that fits
    assert_eq!(run(Headroom::Bytes(0)).0, 6);
    assert_eq!(run(Headroom::Link).0, 0);
    // three times 2 us of 10 Gb/s are 7500 B
    assert_eq!(run(Headroom::Delays).0, 0);
    assert_eq!(run(Headroom::Bytes(7000)).1, 27, "and not one packet more while it is paused");
}

/// The headroom follows from the rules of links, frames and resuming, in any network.
#[test]
fn no_star_loses_a_packet_with_the_headroom_of_its_links() {
    // at seeds 41, 215 and 240 frames about one class would wait for each other on the opposite link
    for seed in seeds(250).chain([215, 240]) {
        let o = run(&random(seed, Some(Headroom::Link)));
        assert_eq!((drops(&o), o.packets_in_flight), (0, 0), "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered, "seed {seed}");
    }
    for seed in seeds(20) {
        compared(&random(seed, Some(Headroom::Link)));
    }
}

/// Checking all links for every link would be some 2.4 billion checks here, and take seconds.
#[test]
fn a_large_fabric_is_set_up_at_once() {
    let mut spec = fat_tree(32, Rate::gbps(100), Time::us(1));
    spec.queues = vec![endless_queue()];
    let begun = Instant::now();
    let (_, accounts) = Pfc::new(&spec, &pfc()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // every link except those into hosts
    assert_eq!(accounts.iter().flatten().count(), spec.links.len() - 8192);
}

/// Over 10 Gb/s and 1 us, with frames of 64 B, or 46 and 38: the longer of a packet and a frame in transmission, a
/// frame about every class, each up to a picosecond longer, both delays, and two packets as an account counts them.
#[test]
fn the_headroom_of_a_link_by_hand() {
    let headroom = |mss: u32, classes: usize, overhead: u32, count_overhead: bool| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(1));
        spec.transports = vec![changed!(htsim(), sizes.mss = mss)];
        spec.links.iter_mut().for_each(|l| l.overhead = overhead);
        spec.queues = vec![strict(&QueueSpec { count_overhead, ..spec.queues[0].clone() }, classes)];
        Pfc::new(&spec, &PfcSpec { lossless: vec![true; classes], ..pfc() }).unwrap().1[2][0].headroom
    };
    // 51.201 ns twice and 2 us are 2628.0025 B
    assert_eq!(headroom(46, 1, 0, false), 2629 + 2 * 46);
    // 800.001 ns, 51.201 ns twice and 2 us
    assert_eq!(headroom(1000, 2, 0, false), 3629 + 2 * 1000);
    // 830.401 ns, 67.201 ns twice and 2 us
    assert_eq!(headroom(1000, 2, 38, false), 3707 + 2 * 1000);
    assert_eq!(headroom(1000, 2, 38, true), 3707 + 2 * 1038);
}

/// A link that is degraded or faster for some time needs the headroom of one that is always so, and so does the
/// opposite link.
#[test]
fn a_headroom_holds_the_worst_that_failures_make_of_a_link() {
    let headrooms = |spec: &Spec| {
        let own = Pfc::new(spec, spec.pfc().unwrap()).unwrap().1;
        own.into_iter().flatten().map(|a| a.headroom).collect::<Vec<u64>>()
    };
    let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(100));
    spec.buffer = with(pfc(), 1_000_000);
    let plain = headrooms(&spec);
    let mut always = spec.clone();
    (always.links[0].rate, always.links[0].delay) = (Rate::gbps(40), Time::us(5));
    (always.links[2].rate, always.links[2].delay) = (Rate::gbps(2), Time::us(3));
    let mut add = |link: u32, us: u64, rate: Option<Rate>, delay: Option<Time>| {
        let effect = Effect::Degraded { rate, delay, loss: 0.0 };
        spec.failures.push(Failure { link, from: Time::us(us), until: Time::us(us + 1), effect });
    };
    add(0, 10, Some(Rate::gbps(40)), Some(Time::ns(10)));
    add(0, 20, Some(Rate::gbps(1)), Some(Time::us(5)));
    add(2, 30, Some(Rate::gbps(2)), None);
    add(2, 40, Some(Rate::gbps(20)), Some(Time::us(3)));
    let failing = headrooms(&spec);
    assert_eq!(failing, headrooms(&always));
    assert!(failing[0] > 2 * plain[0] && failing[1] == plain[1], "{failing:?} beside {plain:?}");
    // explicit headroom is used as given, and HPCC's is computed from the link as built
    for headroom in [Headroom::Bytes(5000), Headroom::Delays] {
        let with =
            |spec: &Spec| headrooms(&Spec { buffer: with(PfcSpec { headroom, ..pfc() }, 1 << 20), ..spec.clone() });
        assert_eq!(with(&spec), with(&Spec { failures: Vec::new(), ..spec.clone() }));
    }
    let endless = Effect::Degraded { rate: Some(Rate::INFINITE), delay: None, loss: 0.0 };
    spec.failures[0].effect = endless;
    let error = Pfc::new(&spec, spec.pfc().unwrap()).unwrap_err();
    assert!(error.starts_with("link h0>s: at an infinite rate no headroom"), "{error}");
}

/// Packets of 64 B arrive without overhead and leave with 38 B, or the other way round; queues count it. Headroom is
/// for arriving bytes.
#[test]
fn an_account_counts_what_comes() {
    for (comes, leaves, counts) in [(0, 38, true), (38, 0, true), (38, 38, true), (38, 38, false)] {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        (spec.links[0].overhead, spec.links[3].overhead) = (comes, leaves);
        spec.transports = vec![changed!(htsim(), sizes.mss = 64)];
        spec.flows = vec![flood(0, 1, 64 + comes, Rate::gbps(10))];
        spec.queues[0].count_overhead = counts;
        let accounts = |headroom: Headroom| {
            let threshold = Some(Threshold::Fixed(20_000));
            let mut spec = spec.clone();
            // a frame to h1 may wait for a packet at 1 Mb/s
            spec.buffer = with(PfcSpec { threshold, headroom, reserve: 0, ..pfc() }, 20_000_000);
            let accounts = Pfc::new(&spec, spec.pfc().unwrap()).unwrap().1;
            let o = run(&spec);
            let link = port(&o, "h0>s");
            // the threshold is in whole packets as counted, whatever their overhead on leaving
            assert!(link.pauses == 1, "{link:?}");
            (accounts[2][0].headroom, drops(&o), port(&o, "s>h1").accepted_total)
        };
        let counted = 64 + if counts { comes as u64 } else { 0 };
        let (headroom, dropped, taken) = accounts(Headroom::Link);
        assert_eq!(dropped, 0, "{comes} and {leaves}");
        let beyond = taken - 20_000 / counted;
        // from the end of the first one beyond the threshold, both delays and 51.2 ns of a frame pass before no more
        // packets begin
        assert_eq!(beyond, 1 + (4_051_200 / 800u64).div_ceil(64 + comes as u64), "{comes} and {leaves}");
        assert_eq!(accounts(Headroom::Bytes(beyond * counted)).1, 0, "{comes} and {leaves}");
        assert_eq!(accounts(Headroom::Bytes(beyond * counted - 1)).1, 1, "{comes} and {leaves}");
        // "link" lets the frame wait for a packet of 64 B, both a picosecond longer (4102.402 ns are 5128.0025 B), plus
        // two packets as they are counted
        assert_eq!(headroom, 5129 + 2 * counted, "{comes} and {leaves}");
    }
}

/// HPCC's eighth is for links as fast as the hosts'. One slower or faster host does not change that.
#[test]
fn thresholds_go_by_the_median_host() {
    let shares = |rates: [u64; 5]| {
        let mut spec = star(5, Rate::gbps(10), Time::us(1));
        (0..5).for_each(|h| spec.links[h].rate = Rate::gbps(rates[h]));
        let (_, accounts) = Pfc::new(&spec, &pfc()).unwrap();
        accounts[5].iter().map(|a| a.threshold).collect::<Vec<_>>()
    };
    let dynamic = |shares: [f64; 5]| shares.map(Threshold::Dynamic).to_vec();
    assert_eq!(shares([10, 10, 10, 10, 10]), dynamic([0.125; 5]));
    assert_eq!(shares([1, 10, 10, 10, 10]), dynamic([0.125; 5]));
    assert_eq!(shares([100, 10, 10, 10, 20]), dynamic([1.0, 0.125, 0.125, 0.125, 0.25]));
}
