//! Buffers that queues share by dynamic thresholds.

use crate::support::fifo::packet;
use crate::support::*;
use incast_engine::LinkId;
use incast_engine::testing::{Offered, Pool, Port, SharedBuffer};

#[test]
fn a_queue_takes_while_it_holds_less_than_alpha_times_what_is_free() {
    // alpha 2, 100 B: with 30 and 20 held, 50 are free and the threshold is 100; with 60 and 20 it is 40
    let holding = |a: u64, b: u64| {
        let mut pool = Pool::new(100, 2.0, 0, 2).unwrap();
        pool.take(0, a);
        pool.take(0, b);
        pool
    };
    let pool = holding(30, 20);
    assert_eq!(pool.threshold(), 100.0);
    assert!(pool.takes(30, 1) && pool.takes(20, 1));
    let pool = holding(60, 20);
    assert_eq!(pool.threshold(), 40.0);
    assert!(!pool.takes(60, 1) && pool.takes(20, 1));
    assert!(!pool.takes(20, 21), "21 B are more than the 20 that are free");
}

#[test]
fn a_reserve_is_a_queues_own() {
    let mut pool = Pool::new(100, 1.0, 20, 2).unwrap();
    assert_eq!(pool.threshold(), 60.0, "100 less two reserves");
    pool.take(0, 15);
    assert_eq!(pool.threshold(), 60.0);
    pool.take(15, 30);
    assert_eq!(pool.threshold(), 35.0, "25 of 45 are shared");
    assert!(pool.takes(45, 1), "25 shared are below 35");
    pool.take(45, 30);
    assert!(!pool.takes(75, 1) && pool.takes(0, 20), "the other has its reserve whatever is free");
    pool.give_back(0, 75);
    assert_eq!(pool, Pool::new(100, 1.0, 20, 2).unwrap());
    assert!(Pool::new(39, 1.0, 20, 2).is_none());
}

#[test]
fn saturated_queues_hold_what_the_paper_derives() {
    // S ports at 10 Gb/s, each offered a 1000 B packet every 400 ns, twice what it sends
    let queue = QueueSpec { explicit: true, limit: Limit::None, ..drop_tail(1) };
    let interval = fifo::ALWAYS;
    for (alpha, ports) in [(1.0, 1), (1.0, 3), (2.0, 4), (0.21, 8), (8.0, 2)] {
        let size = 4_000_000;
        let mut pool = Pool::new(size, alpha, 0, ports).unwrap();
        let mut all: Vec<(Port, Option<Time>)> = (0..ports)
            .map(|i| (Port::new(&fifo::link(Rate::gbps(10), 0), &queue, LinkId(i as u32), 1, &interval), None))
            .collect();
        for now in (0..20_000u64).map(|n| Time(n * 400_000)) {
            for (port, ends) in &mut all {
                while let Some(end) = ends.filter(|e| *e <= now) {
                    *ends = port.depart(end, Some(&mut pool), &interval).unwrap().next;
                }
                if let Offered::Waits { ends: end, .. } = port.offer(
                    now,
                    &packet(1000, false),
                    None,
                    0,
                    Some(SharedBuffer { pool: &mut pool, account: None }),
                    &interval,
                ) {
                    *ends = ends.or(end);
                }
            }
        }
        let each = alpha * size as f64 / (1.0 + alpha * ports as f64);
        for (port, _) in &all {
            let held = port.filling(Time::ms(8)).1 as f64;
            // tolerance: a packet of each queue, of the shared part
            assert!((held - each).abs() <= 1000.0 * (1.0 + alpha * ports as f64), "{alpha} {ports}: {held} of {each}");
        }
    }
}

#[test]
fn a_burst_has_more_room_where_nobody_else_queues() {
    // incast to one port of a star, with elephants to three others or without
    let run = |elephants: u32| {
        let mut spec = star(20, Rate::gbps(10), Time::us(1));
        spec.queues = vec![endless_queue()];
        spec.buffer =
            Some(BufferSpec { size: 200_000, alpha: 1.0, reserve: 0, count_in_service: true, egress: None, pfc: None });
        spec.transports = vec![tcp()];
        spec.controllers = vec![controller("newreno", &[])];
        spec.flows = (0..elephants).flat_map(|i| [bulk(i, 3 + i, None), bulk(6 + i, 3 + i, None)]).collect();
        let burst = (9..19).map(|h| FlowSpec { start: Time::ms(5), ..bulk(h, 19, Some(64_000)) });
        spec.flows.extend(burst);
        run_for(&mut spec, Time::ms(12));
        let outcome = compared(&spec);
        let port = outcome.ports.iter().find(|p| p.name == "s>h19").unwrap();
        (port.queue_max_bytes, port.drops)
    };
    let (alone, crowded) = (run(0), run(3));
    // alone it may fill half of the buffer, plus a packet
    assert!((100_000..=101_500).contains(&alone.0), "{alone:?}");
    assert!(crowded.0 < 75_000 && crowded.1 > alone.1, "{alone:?} {crowded:?}");
}
