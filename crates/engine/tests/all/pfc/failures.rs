//! Pauses and headroom where links fail.

use super::*;
use incast_engine::hash;

/// Any failures and repairs, as long as no packet arrives over a link whose opposite link is down.
#[test]
fn no_star_loses_a_packet_with_the_headroom_of_its_links_whatever_fails() {
    let star = |seed: u64| {
        let mut spec = draft(seed, Some(Headroom::Link));
        fail(&mut spec, seed);
        fit(spec)
    };
    let (mut told, mut lost) = (0, 0);
    let tried = seeds(200);
    for seed in tried.clone() {
        let spec = star(seed);
        let o = run(&spec);
        assert_eq!((drops(&o), o.packets_in_flight), (0, 0), "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped, "seed {seed}");
        told += u64::from(o.ports.iter().any(|p| p.pauses > 0));
        lost += u64::from(o.packets_dropped > 0);
    }
    assert!(2 * told > tried.end && 2 * lost > tried.end, "{told} with pauses, {lost} with losses of dead links");
    for seed in seeds(6) {
        compared(&star(seed));
    }
}

/// Hosts 0 and 1 send to host 2, each at 8 of 10 Gb/s, and links are down for 200 us.
fn failing(links: &[u32], measured: (u64, u64)) -> Outcome {
    let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::us(600));
    spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
    spec.flows = (0..2).map(|h| flood(h, 2, 1000, Rate::gbps(8))).collect();
    spec.buffer = with(pfc(), 150_000);
    let (from, until) = (Time::us(200), Time::us(400));
    spec.failures = links.iter().map(|l| Failure { link: *l, from, until, effect: DOWN }).collect();
    (spec.measure_from, spec.measure_to) = (Time::us(measured.0), Time::us(measured.1));
    run(&spec)
}

/// A port paused when its link fails sends on into it, and is paused again after the repair.
#[test]
fn a_link_that_fails_forgets_its_pauses() {
    for links in [&[0][..], &[0, 3]] {
        let o = failing(links, (0, 200));
        assert!(port(&o, "h0>s").pauses > 0, "{links:?}");
        let o = failing(links, (200, 400));
        let own = port(&o, "h0>s");
        assert_eq!((own.pauses, own.paused_ps), (0, 0), "{links:?}");
        // 8 Gb/s in packets of 1000 B, and the queue
        assert!(own.losses >= 200, "{own:?}");
        // the other flow has the path to itself
        assert_eq!(port(&o, "h1>s").losses, 0);
        let o = failing(links, (400, 600));
        assert!(port(&o, "h0>s").pauses > 0, "{links:?}");
        assert_eq!(failing(links, (0, 600)).ports.iter().map(|p| p.drops).sum::<u64>(), 0);
    }
}

/// A link whose opposite link is down cannot be paused. After the repair everything is normal.
#[test]
fn a_link_without_a_way_back_is_not_paused() {
    let o = failing(&[3], (200, 400));
    let own = port(&o, "h0>s");
    assert_eq!((own.pauses, own.paused_ps, own.losses), (0, 0, 0));
    // 800 ns each
    let sent = |name: &str| port(&o, name).busy_ps / 800_000;
    // it sends its backlog of 75 packets too: a packet every 800 ns
    assert_eq!(sent("h0>s"), 250);
    // 106 come from the other: of the 106 more than leave, the buffer holds at most the content of the two accounts, 22
    // kB each (4096 B, a tenth of 121 kB, 5565 B of headroom), and 5 packets are on the links
    let (beyond, fits) = (sent("h0>s") + sent("h1>s") - sent("s>h2"), 2 * 22 + 5);
    assert!(beyond > fits && (beyond - fits..=beyond + fits).contains(&drops(&o)), "{} of {beyond}", drops(&o));
    // the pause arrives after 0.8 us for a packet, 51 ns for the frame and 1 us; then packets arrive for 1 us more
    let o = failing(&[3], (403, 600));
    assert_eq!(drops(&o), 0);
    let own = port(&o, "h0>s");
    assert!(own.pauses > 0 && own.paused_ps > 0, "{own:?}");
}

/// Packets of 1000 B follow one another over 10 Gb/s and 1 us when the link fails, in both directions, from 20 to 30
/// us. A pause may arrive after 800 ns for a packet on the opposite link, 51.2 ns for the frame and the delay, with
/// each time on the wire up to a picosecond longer. The first packet begins a picosecond later.
#[test]
fn a_port_is_silent_until_it_must_have_heard() {
    let first = |class: u8, failed: &[u32], until: &[u64]| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(60));
        spec.queues = vec![strict(&spec.queues[0], 2)];
        spec.transports = vec![changed!(htsim(), sizes.mss = 1000)];
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
    // no pause was possible before
    assert_eq!(first(0, &[0, 2], &[30, 26]), 30_000_000 + told);
    // as soon as pauses are possible: one packet is in transmission at 35 us
    assert_eq!(first(0, &[0, 2], &[30, 35]), 30_400_000);
    // a lossy class need not wait: 30.4 us is a multiple of 800 ns
    assert_eq!(first(1, &[0, 2], &[30, 30]), 30_400_000);
}

/// Nothing is left to happen after the last arrival, despite later failures.
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

/// A fat tree in which links between switches fail, degrade and are repaired, and routing makes detours: no queue drops
/// packets, and all engines agree.
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
        spec.transports = [1000, 300].map(|mss| changed!(htsim(), sizes.mss = mss)).to_vec();
        let classes = 1 + n(2) as usize;
        if classes > 1 {
            spec.queues = vec![strict(&spec.queues[0], 2)];
        }
        // half of them to two hosts
        spec.flows = (0..24)
            .map(|f| {
                let dst = if f % 2 == 0 { n(2) * 9 } else { n(16) } as u32;
                let src = (dst + 1 + n(15) as u32) % 16;
                let (transport, class) = (n(2) as u32, n(classes as u64) as u8);
                let gap = Time::ns(400 + n(2000));
                FlowSpec {
                    app: App::Udp(Udp { gap, random: false }),
                    transport,
                    class,
                    stop: Time::us(100),
                    ..bulk(src, dst, None)
                }
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
