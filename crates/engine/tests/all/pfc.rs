//! Priority flow control: nothing is dropped where the headroom suffices, exactly what does not fit where it does not;
//! who waits for whom.

use crate::support::*;
use incast_engine::hash;
use incast_engine::map::pfc::Pfc;
use incast_engine::testing::Account;
use std::time::{Duration, Instant};

fn pfc() -> PfcSpec {
    PfcSpec { lossless: vec![true], threshold: None, reserve: 4096, headroom: Headroom::Link, margin: 3072 }
}

fn with(pfc: PfcSpec, size: u64) -> Option<BufferSpec> {
    Some(BufferSpec { size, alpha: 1.0, reserve: 0, pfc: Some(pfc) })
}

/// Packets of `mss` bytes without headers, back to back at `rate`.
fn flood(src: u32, dst: u32, mss: u32, rate: Rate) -> FlowSpec {
    FlowSpec { app: App::Udp { gap: rate.serialize(mss as u64) }, ..bulk(src, dst, None) }
}

/// A star whose links differ in rate, overhead and delay, with packets of several sizes and classes, and pauses of all
/// kinds; its senders stop, so that all can arrive.
fn random(seed: u64, headroom: Option<Headroom>) -> Spec {
    fit(draft(seed, headroom))
}

/// Buffers of that size beside what the accounts have for themselves.
fn fit(spec: Spec) -> Spec {
    let (_, accounts) = Pfc::new(&spec, spec.pfc().unwrap()).unwrap();
    let own = |accounts: &Vec<Account>| accounts.iter().map(|a| a.reserve + a.headroom).sum::<u64>();
    let own = accounts.iter().map(own).max().unwrap();
    let buffer = spec.buffer.map(|buffer| BufferSpec { size: buffer.size + own, ..buffer });
    Spec { buffer, ..spec }
}

/// ... the buffer of a size without what the accounts have for themselves.
fn draft(seed: u64, headroom: Option<Headroom>) -> Spec {
    let mut draws = 0;
    let mut n = |of: u64| {
        draws += 1;
        (hash::uniform(seed, 77, 0, draws) * of as f64) as u64
    };
    let hosts = 3 + n(5) as u32;
    let mut spec = endless(star(hosts, Rate::gbps(10), Time::us(1)), Time::ms(60));
    let rates = [1, 10, 40, 100].map(Rate::gbps);
    for l in 0..hosts as usize {
        let rate = rates[n(4) as usize];
        let back = if seed % 2 == 0 { rate } else { rates[n(4) as usize] };
        let delay = Time::ns([0, 100, 1000, 5000][n(4) as usize]);
        let overhead = [0, 18, 38][n(3) as usize];
        for (l, rate) in [(l, rate), (l + hosts as usize, back)] {
            spec.links[l] = LinkSpec { rate, delay, overhead, ..spec.links[l].clone() };
        }
    }
    let classes = 1 + n(3) as usize;
    let count_overhead = seed % 4 == 2;
    let queue = QueueSpec { count_in_service: n(2) == 0, count_overhead, ..spec.queues[0].clone() };
    let several = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(); classes] };
    spec.queues = vec![if classes > 1 { QueueSpec { discipline: several, ..queue } } else { queue }];
    let sizes = [46, 64, 300, 1000, 1500, 9000];
    spec.transports = (0..3).map(|_| TransportSpec { mss: sizes[n(6) as usize], ..htsim() }).collect();
    let flow = |_| {
        let (src, transport) = (n(hosts as u64) as u32, n(3) as u32);
        let dst = (src + 1 + n(hosts as u64 - 1) as u32) % hosts;
        let whole = spec.transports[transport as usize].mss as u64 + 20;
        let gap = Time(spec.links[src as usize].rate.serialize(whole).0 * (1 + n(3)));
        let (start, stop) = (Time::ns(n(20_000)), Time::us(60 + n(60)));
        let class = n(classes as u64) as u8;
        FlowSpec { app: App::Udp { gap }, transport, class, start, stop, ..bulk(src, dst, None) }
    };
    spec.flows = (0..1 + 3 * hosts).map(flow).collect();
    let threshold = [None, Some(Threshold::Fixed(n(20_000))), Some(Threshold::Dynamic(0.1))][n(3) as usize];
    let little = [Headroom::Bytes(0), Headroom::Bytes(1000), Headroom::Delays][n(3) as usize];
    let (reserve, margin) = ([0, 100, 4096][n(3) as usize], [0, 3072][n(2) as usize]);
    let headroom = headroom.unwrap_or(little);
    let pfc = PfcSpec { lossless: vec![true; classes], threshold, reserve, headroom, margin };
    spec.buffer = with(pfc, [1000, 20_000, 200_000][n(3) as usize]);
    Spec { seed, ..spec }
}

/// Both directions of a host's link fail and are repaired, or the one to the switch with the other for a part of that
/// time; or they are worse for some time, or better.
fn fail(spec: &mut Spec, seed: u64) {
    let mut draws = 0;
    let mut n = |of: u64| {
        draws += 1;
        (hash::uniform(seed, 79, 0, draws) * of as f64) as u64
    };
    for link in 0..spec.hosts {
        let mut at = 0;
        for _ in 0..n(6) {
            // some follow at once
            at += n(2) * n(40_000);
            let most = [10, 3000, 30_000][n(3) as usize];
            let length = 1 + n(most);
            let (from, until) = (Time::ns(at), Time::ns(at + length));
            at += length;
            let down = || Effect::Down { detection: Time::ZERO };
            let mut add = |link, from, until, effect| spec.failures.push(Failure { link, from, until, effect });
            let back = link + spec.hosts;
            match n(4) {
                0 => [link, back].into_iter().for_each(|l| add(l, from, until, down())),
                1 => add(link, from, until, down()),
                2 => {
                    add(link, from, until, down());
                    let begins = n(length);
                    let ends = begins + 1 + n(length - begins);
                    add(back, Time(from.0 + begins * 1000), Time(from.0 + ends * 1000), down());
                }
                _ => {
                    for l in [link, back] {
                        let rate = [None, Some(Rate::gbps(1)), Some(Rate::gbps(25)), Some(Rate::gbps(100))];
                        let delay = [None, Some(Time::ZERO), Some(Time::us(2)), Some(Time::us(20))];
                        let (rate, delay) = (rate[n(4) as usize], delay[n(4) as usize]);
                        add(l, from, until, Effect::Degraded { rate, delay, loss: 0.0 });
                    }
                }
            }
        }
    }
}

fn endless(mut spec: Spec, duration: Time) -> Spec {
    spec.queues = vec![endless_queue()];
    spec.controllers = vec![controller("newreno", &[])];
    (spec.duration, spec.measure_to) = (duration, duration);
    spec
}

fn port<'a>(o: &'a Outcome, name: &str) -> &'a PortRecord {
    o.ports.iter().find(|p| p.name == name).unwrap()
}

fn drops(o: &Outcome) -> u64 {
    o.ports.iter().map(|p| p.drops).sum()
}

/// Seven hosts at line rate into an eighth, over links of several lengths and with packets of several sizes.
#[test]
fn an_incast_at_line_rate_loses_nothing() {
    for (delay, mss, size) in [(0, 1500, 400_000), (1, 1500, 400_000), (1, 64, 400_000), (5, 9000, 1_500_000)] {
        let mut spec = endless(star(8, Rate::gbps(10), Time::us(delay)), Time::us(600));
        spec.transports = vec![TransportSpec { mss, ..htsim() }];
        spec.flows = (0..7).map(|h| flood(h, 7, mss, Rate::gbps(10))).collect();
        spec.buffer = with(pfc(), size);
        let o = run(&spec);
        assert_eq!(drops(&o), 0, "{delay} us, {mss} B");
        let last = port(&o, "s>h7");
        assert!(last.queue_max_bytes < size, "{last:?}");
        // the bottleneck never runs dry: the first packet comes after two delays
        let idle = o.end_ps - last.busy_ps;
        assert!(idle <= 2 * delay * 1_000_000 + 2 * Rate::gbps(10).serialize(mss as u64).0, "{last:?}");
        let paused: Vec<u64> = (0..7).map(|h| port(&o, &format!("h{h}>s")).paused_ps).collect();
        assert!(paused.iter().all(|p| (400_000_000..600_000_000).contains(p)), "a seventh each: {paused:?}");
        // without it the buffer overflows
        spec.buffer = Some(BufferSpec { size, alpha: 1.0, reserve: 0, pfc: None });
        assert!(drops(&run(&spec)) > 0);
    }
}

/// One host at 10 Gb/s into a link of 1 Mb/s. The threshold is 20,500 B, the twenty-first packet of 1000 B is beyond
/// it. The frame takes 51.2 ns and the delay, packets 800 ns: with 2 us of delay they go on for 4051.2 ns after
/// the transmission of that one, which is six packets more.
#[test]
fn a_headroom_of_a_packet_too_little_drops_a_packet() {
    let run = |headroom: Headroom| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let threshold = Some(Threshold::Fixed(20_500));
        // a frame to h1 may wait for a packet at 1 Mb/s, 8 ms, which is 10 MB of headroom
        spec.buffer = with(PfcSpec { threshold, headroom, reserve: 0, ..pfc() }, 20_000_000);
        let o = run(&spec);
        (drops(&o), port(&o, "s>h1").packets_total)
    };
    // 20 in the shared part, 1 that exceeds it, 6 until the port stops; one of the first has begun to leave
    assert_eq!(run(Headroom::Bytes(7000)).0, 0);
    assert_eq!(run(Headroom::Bytes(6999)).0, 1);
    // without any the pause begins with the twentieth, the last that fits
    assert_eq!(run(Headroom::Bytes(0)).0, 6);
    assert_eq!(run(Headroom::Link).0, 0);
    // three times 2 us of 10 Gb/s are 7500 B
    assert_eq!(run(Headroom::Delays).0, 0);
    assert_eq!(run(Headroom::Bytes(7000)).1, 27, "and not one packet more while it is paused");
}

/// The headroom is what the rules of links, frames and resuming make of it, whatever the network.
#[test]
fn no_star_loses_a_packet_with_the_headroom_of_its_links() {
    // at 41, 215 and 240 frames about one class would wait for each other on the way back
    for seed in 0..250 {
        let o = run(&random(seed, Some(Headroom::Link)));
        assert_eq!((drops(&o), o.packets_in_flight), (0, 0), "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered, "seed {seed}");
    }
    for seed in 0..20 {
        compared(&random(seed, Some(Headroom::Link)));
    }
}

/// Whatever fails and is repaired, so long as nothing comes over a link whose way back is down.
#[test]
fn no_star_loses_a_packet_with_the_headroom_of_its_links_whatever_fails() {
    let star = |seed: u64| {
        let mut spec = draft(seed, Some(Headroom::Link));
        fail(&mut spec, seed);
        fit(spec)
    };
    let (mut told, mut lost) = (0, 0);
    for seed in 0..200 {
        let spec = star(seed);
        let o = run(&spec);
        assert_eq!((drops(&o), o.packets_in_flight), (0, 0), "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped, "seed {seed}");
        told += u32::from(o.ports.iter().any(|p| p.pauses > 0));
        lost += u32::from(o.packets_dropped > 0);
    }
    assert!(told > 100 && lost > 100, "{told} with pauses, {lost} with losses of dead links");
    for seed in 0..6 {
        compared(&star(seed));
    }
}

/// Packets that its headroom does not hold, a buffer that others fill: drops, but nothing waits for ever.
#[test]
fn a_class_that_has_nothing_in_the_buffer_is_not_paused() {
    for seed in 0..150 {
        let o = run(&random(seed, None));
        assert_eq!(o.packets_in_flight, 0, "seed {seed}: dropped {} of {}", drops(&o), o.packets_sent);
    }
    for seed in 0..10 {
        compared(&random(seed, None));
    }
}

/// Hosts 0, 1 and 2 behind a switch, 3 and 4 behind another: 0 and 1 fill the way to 3, 2 sends to 4, which nobody
/// else does.
fn victims(lossless: Vec<bool>, classes: Option<(u8, u8)>) -> Spec {
    let mut spec = endless(star(5, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let ends = [(0, 5), (1, 5), (2, 5), (5, 0), (5, 1), (5, 2), (5, 6), (6, 5), (6, 3), (6, 4), (3, 6), (4, 6)];
    rewire(&mut spec, &["h0", "h1", "h2", "h3", "h4", "a", "b"], &ends);
    spec.domain_of = vec![0, 0, 0, 1, 1, 0, 1];
    spec.links.iter_mut().filter(|l| l.name == "b>h3").for_each(|l| l.rate = Rate::gbps(2));
    let table =
        |set: [u32; 5], ports: u32| Router::Table { set: set.to_vec(), sets: (0..ports).map(|p| vec![p]).collect() };
    spec.routers = vec![table([0, 1, 2, 3, 3], 4), table([0, 0, 0, 1, 2], 3)];
    spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
    spec.flows =
        vec![flood(0, 3, 1000, Rate::gbps(3)), flood(1, 3, 1000, Rate::gbps(3)), flood(2, 4, 1000, Rate::gbps(3))];
    if let Some((filling, victim)) = classes {
        let queue = spec.queues[0].clone();
        let discipline =
            Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(), queue.clone()] };
        spec.queues = vec![QueueSpec { discipline, ..queue }];
        spec.flows.iter_mut().zip([filling, filling, victim]).for_each(|(f, class)| f.class = class);
    }
    spec.buffer = with(PfcSpec { lossless, ..pfc() }, 300_000);
    spec
}

#[test]
fn a_pause_holds_up_who_goes_elsewhere() {
    let rate = |o: &Outcome| o.flows[2].delivered as f64 * 8.0 / 2e-3 / 1e9;
    let o = run(&victims(vec![true], None));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").paused_ps > 0);
    // of 10 Gb/s between the switches 2 go to h3, and as many to h4 as each of the others sends: 1
    assert!((0.8..1.4).contains(&rate(&o)), "{}", rate(&o));
    // in a class of its own it is not held up, although that class is lossless too; nor without flow control
    let o = run(&victims(vec![true, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(rate(&o) > 2.95, "{}", rate(&o));
    let shared = port(&o, "a>b");
    assert_eq!((shared.classes[0].pauses, shared.classes[0].paused_ps), (0, 0));
    assert!(shared.classes[1].pauses > 0 && shared.classes[1].paused_ps == shared.paused_ps, "{shared:?}");
    let o = run(&Spec { buffer: None, ..victims(vec![true], None) });
    assert!(rate(&o) > 2.95, "{}", rate(&o));
}

#[test]
fn only_lossless_classes_are_paused() {
    // the class that fills is dropped, the other one passes
    let o = run(&victims(vec![true, false], Some((1, 0))));
    let last = port(&o, "b>h3");
    assert!(last.classes[1].drops > 0 && drops(&o) == last.classes[1].drops, "{last:?}");
    assert!(o.ports.iter().all(|p| p.pauses == 0));
    let o = run(&victims(vec![false, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").classes[1].pauses > 0);
}

/// Three switches in a ring, a host at each, which sends to the host behind the next switch but one.
fn ring(size: u64) -> Spec {
    let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let ends = [(0, 3), (1, 4), (2, 5), (3, 0), (4, 1), (5, 2), (3, 4), (4, 5), (5, 3), (4, 3), (5, 4), (3, 5)];
    rewire(&mut spec, &["h0", "h1", "h2", "a", "b", "c"], &ends);
    spec.domain_of = vec![0, 1, 2, 0, 1, 2];
    // local ports: 0 down, 1 onwards, 2 back
    let on =
        |own: usize| Router::Table { set: (0..3).map(|h| u32::from(h != own)).collect(), sets: vec![vec![0], vec![1]] };
    spec.routers = (0..3).map(on).collect();
    spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
    spec.flows = (0..3).map(|h| flood(h, (h + 2) % 3, 1000, Rate::gbps(10))).collect();
    spec.buffer = with(pfc(), size);
    spec
}

#[test]
fn a_ring_of_buffers_that_wait_for_each_other_stops_for_good() {
    let o = compared(&ring(100_000));
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        let since = port.deadlocked_ps.unwrap();
        assert!(since < Time::us(500).0 && port.paused_ps >= Time::ms(2).0 - since, "{port:?}");
    }
    // hosts wait for them, and lie in no ring, but wait for it all the same
    assert!(port(&o, "h0>a").deadlocked_ps.is_some());
    assert!(port(&o, "a>c").deadlocked_ps.is_none());
    // without so much to send it stays away
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.app = App::Udp { gap: Time::us(2) });
    let o = compared(&spec);
    assert!(o.ports.iter().all(|p| p.deadlocked_ps.is_none() && p.pauses == 0));
}

/// Whichever end of a run: who is in a deadlock then is in one still at the end of a longer run.
#[test]
fn what_is_called_a_deadlock_is_for_good() {
    let mut seen = 0;
    for seed in 0..100 {
        let mut draws = 0;
        let mut n = |of: u64| {
            draws += 1;
            (hash::uniform(seed, 78, 0, draws) * of as f64) as u64
        };
        let mut spec = ring(70_000 + n(60_000));
        for f in &mut spec.flows {
            f.app = App::Udp { gap: Time(800_000 + n(1_200_000)) };
            f.start = Time::ns(n(3000));
        }
        let pfc = spec.buffer.as_mut().unwrap().pfc.as_mut().unwrap();
        (pfc.reserve, pfc.margin) = ([0, 4096][n(2) as usize], [0, 1000, 3072][n(3) as usize]);
        pfc.threshold = [None, Some(Threshold::Dynamic(1.0)), Some(Threshold::Fixed(5_000))][n(3) as usize];
        let deadlocked = |end: Time| {
            let o = run(&Spec { duration: end, measure_to: end, ..spec.clone() });
            let ports = o.ports.into_iter().filter(|p| p.deadlocked_ps.is_some());
            ports.map(|p| (p.name, p.deadlocked_ps)).collect::<Vec<_>>()
        };
        let later = deadlocked(Time::us(400));
        for _ in 0..40 {
            let end = Time::ns(20_000 + n(300_000));
            let here = deadlocked(end);
            seen += u32::from(!here.is_empty());
            assert!(here.iter().all(|port| later.contains(port)), "seed {seed} at {end:?}: {here:?}, later {later:?}");
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_ring_that_waits_for_itself_ends_at_its_duration_although_its_senders_have_stopped() {
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.stop = Time::us(300));
    let o = run(&spec);
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    assert!(o.packets_in_flight > 0);
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        assert!(port.paused_ps >= Time::ms(2).0 - port.deadlocked_ps.unwrap(), "{port:?}");
        // nothing has moved since, so that the mean is nearly what is there
        let (mean, max) = (port.queue_mean_packets, port.queue_max_packets as f64);
        assert!(mean <= max && mean > max / 2.0, "{port:?}");
    }
}

/// A look at all links for every link would be some 2.4 billion of them here, and take seconds.
#[test]
fn a_large_fabric_is_set_up_at_once() {
    let mut spec = fat_tree(32, Rate::gbps(100), Time::us(1));
    spec.queues = vec![endless_queue()];
    let begun = Instant::now();
    let (_, accounts) = Pfc::new(&spec, &pfc()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // every link but those into hosts
    assert_eq!(accounts.iter().flatten().count(), spec.links.len() - 8192);
}

/// Hosts 0 and 1 send to host 2, each at 8 Gb/s of the 10 that there are, and links are down for 200 us.
fn failing(links: &[u32], measured: (u64, u64)) -> Outcome {
    let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::us(600));
    spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
    spec.flows = (0..2).map(|h| flood(h, 2, 1000, Rate::gbps(8))).collect();
    spec.buffer = with(pfc(), 150_000);
    let (from, until) = (Time::us(200), Time::us(400));
    spec.failures = links.iter().map(|l| Failure { link: *l, from, until, effect: DOWN }).collect();
    (spec.measure_from, spec.measure_to) = (Time::us(measured.0), Time::us(measured.1));
    run(&spec)
}

const DOWN: Effect = Effect::Down { detection: Time::ZERO };

/// A port paused when its link dies sends on into it, and is told again after the repair.
#[test]
fn a_link_that_fails_forgets_its_pauses() {
    for links in [&[0][..], &[0, 3]] {
        let o = failing(links, (0, 200));
        assert!(port(&o, "h0>s").pauses > 0, "{links:?}");
        let o = failing(links, (200, 400));
        let own = port(&o, "h0>s");
        assert_eq!((own.pauses, own.paused_ps), (0, 0), "{links:?}");
        // 8 Gb/s of 1000 B, beside what had gathered
        assert!(own.losses >= 200, "{own:?}");
        // the other one has the way to itself
        assert_eq!(port(&o, "h1>s").losses, 0);
        let o = failing(links, (400, 600));
        assert!(port(&o, "h0>s").pauses > 0, "{links:?}");
        assert_eq!(failing(links, (0, 600)).ports.iter().map(|p| p.drops).sum::<u64>(), 0);
    }
}

/// Nobody can pause a link whose way back is down; from its repair on everything is as it should be.
#[test]
fn a_link_without_a_way_back_is_not_paused() {
    let o = failing(&[3], (200, 400));
    let own = port(&o, "h0>s");
    assert_eq!((own.pauses, own.paused_ps, own.losses), (0, 0, 0));
    // of 800 ns each
    let sent = |name: &str| port(&o, name).busy_ps / 800_000;
    // it had 75 packets more than it could send, and sends them too: a packet every 800 ns
    assert_eq!(sent("h0>s"), 250);
    // 106 come from the other: of the 106 more than leave, the buffer has room for what is on the two accounts at most,
    // 22 kB each (4096 B, a tenth of 121 kB, 5565 B of headroom), and 5 packets for what is on the links
    let (beyond, fits) = (sent("h0>s") + sent("h1>s") - sent("s>h2"), 2 * 22 + 5);
    assert!(beyond > fits && (beyond - fits..=beyond + fits).contains(&drops(&o)), "{} of {beyond}", drops(&o));
    // the pause comes after 0.8 us for a packet, 51 ns for the frame and 1 us; then nothing comes for 1 us more
    let o = failing(&[3], (403, 600));
    assert_eq!(drops(&o), 0);
    let own = port(&o, "h0>s");
    assert!(own.pauses > 0 && own.paused_ps > 0, "{own:?}");
}

/// Packets of 1000 B follow each other over 10 Gb/s and 1 us when the link fails, in both directions, from 20 to 30 us.
/// A pause may come after 800 ns for a packet on the way back, 51.2 ns for the frame and the delay, each time on the
/// wire taken up to a picosecond longer; the first packet begins a picosecond later.
#[test]
fn a_port_is_silent_until_it_must_have_heard() {
    let first = |class: u8, failed: &[u32], until: &[u64]| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(60));
        let queue = spec.queues[0].clone();
        let discipline =
            Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(), queue.clone()] };
        spec.queues = vec![QueueSpec { discipline, ..queue }];
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![FlowSpec { class, ..flood(0, 1, 1000, Rate::gbps(10)) }];
        spec.observe.trace = vec![0];
        spec.buffer = with(PfcSpec { lossless: vec![true, false], ..pfc() }, 300_000);
        let failure = |(link, until): (&u32, &u64)| Failure {
            link: *link,
            from: Time::us(20),
            until: Time::us(*until),
            effect: DOWN,
        };
        spec.failures = failed.iter().zip(until).map(failure).collect();
        let o = run(&spec);
        assert!(o.ports.iter().all(|p| p.pauses == 0 && p.drops == 0), "nothing is ever full");
        let arrives = events(&o, "s", Happening::Arrive).into_iter().map(|e| e.time_ps).find(|t| *t > 22_000_000);
        arrives.unwrap() - 1_800_000
    };
    let told = 800_001 + 51_201 + 1_000_000 + 1;
    assert_eq!(first(0, &[0, 2], &[30, 30]), 30_000_000 + told);
    assert_eq!(first(0, &[0], &[30]), 30_000_000 + told);
    // nobody could tell it before
    assert_eq!(first(0, &[0, 2], &[30, 26]), 30_000_000 + told);
    // as soon as somebody can: one packet is in transmission at 35 us
    assert_eq!(first(0, &[0, 2], &[30, 35]), 30_400_000);
    // a class that is not paused need not wait: 30.4 us is a multiple of 800 ns
    assert_eq!(first(1, &[0, 2], &[30, 30]), 30_400_000);
}

/// Over 10 Gb/s and 1 us, frames of 64 B, or 46 and 38: the longer of a packet and a frame that is being sent, a frame
/// about every class, each taken to last up to a picosecond longer, and both delays, and two packets as an account has
/// them.
#[test]
fn the_headroom_of_a_link_by_hand() {
    let headroom = |mss: u32, classes: usize, overhead: u32, count_overhead: bool| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(1));
        spec.transports = vec![TransportSpec { mss, ..htsim() }];
        spec.links.iter_mut().for_each(|l| l.overhead = overhead);
        let queue = QueueSpec { count_overhead, ..spec.queues[0].clone() };
        let discipline = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(); classes] };
        spec.queues = vec![QueueSpec { discipline, ..queue }];
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

/// A link that is worse or better for some time needs the headroom of one that is always so, and so does the way back.
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
    // what is given is what is there, and what HPCC has is reckoned of the link as built
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

/// Nothing is left to happen after the last arrival, whatever would still fail.
#[test]
fn failures_after_all_is_over_change_nothing() {
    for seed in [3, 6, 7] {
        let spec = random(seed, Some(Headroom::Link));
        let whole = run(&spec);
        assert!(whole.ports.iter().any(|p| p.pauses > 0) && whole.end_ps < Time::ms(30).0, "seed {seed}");
        for (from, until) in [(30, 40), (30, 80), (70, 80)] {
            let failure = |link| Failure { link, from: Time::ms(from), until: Time::ms(until), effect: DOWN };
            let failures = (0..spec.links.len() as u32).map(failure).collect();
            let failing = run(&Spec { failures, ..spec.clone() });
            assert_eq!(format!("{failing:?}"), format!("{whole:?}"), "seed {seed}, {from} to {until} ms");
        }
    }
}

/// Packets of 64 B come without overhead and leave with 38 B, or the other way round; queues count it. Headroom is for
/// what comes.
#[test]
fn an_account_counts_what_comes() {
    for (comes, leaves, counts) in [(0, 38, true), (38, 0, true), (38, 38, true), (38, 38, false)] {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        (spec.links[0].overhead, spec.links[3].overhead) = (comes, leaves);
        spec.transports = vec![TransportSpec { mss: 64, ..htsim() }];
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
            // the threshold is whole packets as they are counted, whatever they leave with
            assert!(link.pauses == 1, "{link:?}");
            (accounts[2][0].headroom, drops(&o), port(&o, "s>h1").packets_total)
        };
        let counted = 64 + if counts { comes as u64 } else { 0 };
        let (headroom, dropped, taken) = accounts(Headroom::Link);
        assert_eq!(dropped, 0, "{comes} and {leaves}");
        let beyond = taken - 20_000 / counted;
        // from the end of the first one beyond, both delays and 51.2 ns of a frame pass before no packet begins any
        // more
        assert_eq!(beyond, 1 + (4_051_200 / 800u64).div_ceil(64 + comes as u64), "{comes} and {leaves}");
        assert_eq!(accounts(Headroom::Bytes(beyond * counted)).1, 0, "{comes} and {leaves}");
        assert_eq!(accounts(Headroom::Bytes(beyond * counted - 1)).1, 1, "{comes} and {leaves}");
        // "link" has the frame wait for a packet of 64 B, both last a picosecond longer (4102.402 ns are 5128.0025 B),
        // and two packets as they are counted
        assert_eq!(headroom, 5129 + 2 * counted, "{comes} and {leaves}");
    }
}

/// A port that is paused sends nothing: whether or not what is in service counts, all of its queue does.
#[test]
fn a_paused_port_counts_all_that_it_has() {
    let held = |count_in_service: bool, limit: Limit| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let limited = QueueSpec { count_in_service, limit, ..spec.queues[0].clone() };
        spec.queues.push(limited);
        spec.links[0].queue = 1;
        spec.buffer = with(PfcSpec { threshold: Some(Threshold::Fixed(20_000)), ..pfc() }, 20_000_000);
        // paused, and no packet is in transmission any more
        (spec.measure_from, spec.observe.queue_interval) = (Time::us(50), Time::ns(100));
        let o = run(&spec);
        let port = port(&o, "h0>s");
        assert!(port.paused_ps == Time::us(50).0 && port.packets_total > 30, "{port:?}");
        (port.queue_max_packets, port.queue_max_bytes, port.queue_mean_packets, port.queue_p99_packets, port.drops)
    };
    let counted = held(true, Limit::None);
    assert_eq!(held(false, Limit::None), counted);
    assert!(counted.0 > 80 && counted.1 == counted.0 * 1000, "{counted:?}");
    for limit in [Limit::Packets(5), Limit::Bytes(5999)] {
        let (packets, bytes, mean, ..) = held(false, limit);
        assert_eq!((packets, bytes, mean), (5, 5000, 5.0), "{limit:?}");
    }
}

/// One queue, and the first of two by class, are accounted for in two ways.
#[test]
fn a_second_class_without_packets_changes_nothing() {
    let mut paused = 0;
    for seed in 0..60 {
        let mut spec = draft(seed, Some(Headroom::Bytes(4000)));
        fail(&mut spec, seed);
        let mut queue = match &spec.queues[0].discipline {
            Discipline::Classes { classes, .. } => classes[0].clone(),
            _ => spec.queues[0].clone(),
        };
        queue.count_in_service = seed % 3 == 0;
        spec.flows.iter_mut().for_each(|f| f.class = 0);
        let mut ports = |lossless: Vec<bool>, queue: QueueSpec| {
            let pfc = PfcSpec { lossless, ..spec.pfc().unwrap().clone() };
            let size = spec.buffer.as_ref().unwrap().size;
            let o = run(&fit(Spec { queues: vec![queue], buffer: with(pfc, size), ..spec.clone() }));
            let ports = o.ports.into_iter().map(|p| PortRecord { classes: Vec::new(), ..p }).collect::<Vec<_>>();
            paused += u32::from(ports.iter().any(|p| p.pauses > 0));
            format!("{ports:#?}")
        };
        let classes = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(), queue.clone()] };
        let two = ports(vec![true, false], QueueSpec { discipline: classes, ..queue.clone() });
        let one = ports(vec![true], queue);
        let differ = two.lines().zip(one.lines()).find(|(two, one)| two != one);
        assert!(differ.is_none(), "seed {seed}: {differ:?}");
    }
    assert!(paused > 50, "{paused}");
}

/// A fat tree in which links between switches fail, degrade and are repaired, and routing goes around them: no queue
/// drops anything, and every engine sees the same.
#[test]
fn no_fabric_drops_a_packet_whatever_fails() {
    let (mut told, mut lost) = (0, 0);
    for seed in 0..24 {
        let mut draws = 0;
        let mut n = |of: u64| {
            draws += 1;
            (hash::uniform(seed, 80, 0, draws) * of as f64) as u64
        };
        let mut spec = endless(fat_tree(4, Rate::gbps(10), Time::us(1)), Time::ms(2));
        let choices = [PathChoice::Ecmp, PathChoice::Spray, PathChoice::PowerOfTwo, PathChoice::SpraySource];
        spec.choice = choices[n(4) as usize].clone();
        spec.transports = [1000, 300].map(|mss| TransportSpec { mss, ..htsim() }).to_vec();
        let classes = 1 + n(2) as usize;
        if classes > 1 {
            let queue = spec.queues[0].clone();
            let discipline = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(); 2] };
            spec.queues = vec![QueueSpec { discipline, ..queue }];
        }
        // half of them to two hosts
        spec.flows = (0..24)
            .map(|f| {
                let dst = if f % 2 == 0 { n(2) * 9 } else { n(16) } as u32;
                let src = (dst + 1 + n(15) as u32) % 16;
                let (transport, class) = (n(2) as u32, n(classes as u64) as u8);
                let gap = Time::ns(400 + n(2000));
                FlowSpec { app: App::Udp { gap }, transport, class, stop: Time::us(100), ..bulk(src, dst, None) }
            })
            .collect();
        let pairs: Vec<u32> = (0..spec.links.len() as u32).filter(|l| spec.links[*l as usize].to > 23).collect();
        for _ in 0..6 {
            let there = pairs[n(pairs.len() as u64) as usize];
            let ends = |l: u32| (spec.links[l as usize].from, spec.links[l as usize].to);
            let back = (0..spec.links.len() as u32).find(|l| ends(*l) == (ends(there).1, ends(there).0)).unwrap();
            if ends(there).0 < 16 || spec.failures.iter().any(|f| f.link == there || f.link == back) {
                continue;
            }
            let down = Effect::Down { detection: Time::us([0, 5, 100][n(3) as usize]) };
            let slow = Effect::Degraded { rate: Some(Rate::gbps(2)), delay: Some(Time::us(3)), loss: 0.0 };
            let effect = if n(4) > 0 { down } else { slow };
            let mut at = n(40);
            while at < 100 {
                let (from, until) = (Time::us(at), Time::us(at + 1 + n(10)));
                at = until.0 / 1_000_000 + 1 + n(60);
                spec.failures.extend([there, back].map(|link| Failure { link, from, until, effect: effect.clone() }));
            }
        }
        incast_engine::map::failover::reroute(&mut spec);
        spec.buffer = with(PfcSpec { lossless: vec![true; classes], ..pfc() }, 30_000);
        let spec = Spec { seed, ..fit(spec) };
        let o = if seed < 4 { compared(&spec) } else { run(&spec) };
        assert_eq!(drops(&o), 0, "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight, "seed {seed}");
        told += o.ports.iter().map(|p| p.pauses).sum::<u64>();
        lost += o.ports.iter().map(|p| p.losses).sum::<u64>();
    }
    assert!(told > 500 && lost > 50, "{told} pauses, {lost} losses");
}

/// Two ways from one switch to another, of which one has a tenth of the other's rate behind it: its port is paused for
/// most of the time. By its queue it is avoided; by utilisation it is the emptiest, and what waits for it holds up all.
#[test]
fn a_paused_port_is_known_by_its_queue_alone() {
    let delivered = |choice: PathChoice| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::ms(1));
        let ends = [(0, 2), (1, 3), (2, 0), (2, 4), (2, 5), (3, 1), (3, 4), (3, 5), (4, 2), (4, 3), (5, 2), (5, 3)];
        rewire(&mut spec, &["h0", "h1", "a", "b", "slow", "quick"], &ends);
        spec.domain_of = vec![0, 1, 0, 1, 0, 1];
        spec.links.iter_mut().filter(|l| l.name == "slow>b").for_each(|l| l.rate = Rate::gbps(1));
        let table = |set: [u32; 2], sets: Vec<Vec<u32>>| Router::Table { set: set.to_vec(), sets };
        spec.routers = vec![
            table([0, 1], vec![vec![0], vec![1, 2]]),
            table([1, 0], vec![vec![0], vec![1, 2]]),
            table([0, 1], vec![vec![0], vec![1]]),
            table([0, 1], vec![vec![0], vec![1]]),
        ];
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(8))];
        // as much as the buffer has, so that it drops nothing; none at hosts
        spec.queues.push(QueueSpec { limit: Limit::Bytes(400_000), ..spec.queues[0].clone() });
        spec.links.iter_mut().filter(|l| l.from >= 2).for_each(|l| l.queue = 1);
        spec.buffer = with(pfc(), 400_000);
        spec.choice = choice;
        let o = run(&spec);
        assert_eq!(drops(&o), 0);
        assert!(port(&o, "a>slow").pauses > 0);
        o.flows[0].delivered as f64 * 8.0 / 1e-3 / 1e9
    };
    let adaptive =
        |by, bands: [f64; 3]| PathChoice::Adaptive(Adaptive { by, bands: bands.to_vec(), refresh: Time::us(1) });
    // the 8 Gb/s that come, less what lies before the slow way at the end: the share of an account and its headroom at
    // two switches, of 400 kB an eighth and some packets each, are 1 Gb/s over the millisecond
    assert!(delivered(adaptive(Gauged::Queue, [0.05, 0.1, 0.2])) > 7.0);
    assert!(delivered(PathChoice::PowerOfTwo) > 7.0);
    // as much as the slow way lets through goes over the other: 2 Gb/s, and a quarter of that before the first pause
    assert!(delivered(adaptive(Gauged::Utilisation, [0.0, 0.15, 0.5])) < 2.5);
}

/// HPCC's eighth is for links as quick as hosts'; one host that is slower, or quicker, does not make them others.
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
