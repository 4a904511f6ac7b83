//! htsim's random-drop queue against its rule in plain form, and the number of its drops.

use crate::support::fifo::{Verdict, link, packet, same_decisions};
use crate::support::*;
use incast_engine::LinkId;
use incast_engine::testing::{Port, Sent, purpose, uniform};
use proptest::prelude::*;

fn queue(limit: Limit, threshold: Limit, probability: f64, device: u32, count_in_service: bool) -> QueueSpec {
    let discipline = Discipline::RandomDrop(RandomDrop { threshold, probability });
    QueueSpec { device, count_in_service, ..crate::support::queue(discipline, limit) }
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn above_the_threshold_arrivals_draw_lots(
        offers in fifo::offers(120), packets: bool, limit in 2u64..30, below in 0u64..8,
        rate in fifo::rates(),
        probability in prop_oneof![Just(0.1), Just(0.0), Just(1.0), Just(0.5)],
        device in prop_oneof![Just(0u32), 1u32..12],
        in_service: bool, seed: u64, window in any::<(u64, u64, u64)>(),
    ) {
        let amount = |n: u64| if packets { Limit::Packets(n) } else { Limit::Bytes(n * 1500) };
        let threshold = limit.saturating_sub(below);
        let queue = queue(amount(limit), amount(threshold), probability, device, in_service);
        let mut arrivals = 0;
        same_decisions(&link(rate, 0), &queue, seed, &offers, window, |fifo, now, o| {
            let lot = uniform(seed, purpose::RANDOM_DROP, 7, arrivals);
            arrivals += 1;
            let crowded = match packets {
                true => fifo.packets(now) + 1 > threshold,
                false => fifo.bytes(now) + o.size > threshold * 1500,
            };
            if fifo.full(now, o.size) || crowded && lot < probability { Verdict::Drop } else { Verdict::Accept }
        })?;
    }
}

#[test]
fn a_tenth_of_what_comes_close_to_the_limit_is_dropped() {
    // htsim's switch of 8 packets of 4000 B at 100 Gb/s (320 ns each): the sixth packet is the first that may be
    // dropped. Arrivals at the rate of departures keep the queue at six, so that each is an independent draw.
    let queue = queue(Limit::Bytes(32_000), Limit::Bytes(20_000), 0.1, 0, true);
    let interval = fifo::ALWAYS;
    let mut port = Port::new(&link(Rate::gbps(100), 0), &queue, LinkId(0), 1, &interval);
    let mut offer = |now: u64| port.enqueue(Time(now), &packet(4000, false), &interval) != Sent::Dropped;
    assert!((0..5).all(|_| offer(0)), "five packets fit below the threshold");
    let (mut now, mut drops, mut draws) = (0, 0, 0);
    let mut held = 5;
    while draws < 100_000 {
        if held == 5 {
            draws += 1;
            if offer(now) {
                held += 1;
            } else {
                drops += 1;
            }
        } else {
            now += 320_000;
            held -= 1;
        }
    }
    // the standard deviation of 100,000 draws is 95
    assert!((9_620..10_380).contains(&drops), "{drops} of 100000");
    assert_eq!(held + (0..200).filter(|_| offer(now)).count(), 8, "32,000 B are the limit");
}
