//! A bare forwarding loop: the engine's windows, ports and ECMP on a fat tree, without transport and statistics;
//! hosts answer every packet. Its hops per CPU second show the current speed of the machine, and `bench/run.py`
//! states the engine's as a share of them.
//!
//! `ceiling [K [HOPS [BYTES]]]` runs one size of fat tree (default: 8, 16, 32 and 64) with packets of 32 bytes, or 64
//! as in the engine.

mod fabric;
mod packet;
mod port;
mod windows;

use packet::{HalfLine, Line};
use std::time::Instant;
use windows::Loop;

/// CPU seconds of this process: of its one thread by the scheduler's clock; wall-clock time if there is none.
fn cpu_s(begin: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ns.map_or_else(|| begin.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// Measures the loop once its packets have spread, and prints the result.
fn measure<A: Copy>(k: u32, hops: u64, bytes: u32) {
    let mut run = Loop::<A>::new(k);
    run.run(hops / 2);
    let (begin, before) = (Instant::now(), run.counts.hops);
    let start = cpu_s(begin);
    run.run(hops);
    let (s, hops) = (cpu_s(begin) - start, run.counts.hops - before);
    let speed = hops as f64 / s / 1e6;
    let dropped = run.counts.dropped;
    println!("k={k}, {bytes} B: {speed:.2} million hops a CPU second ({hops} hops in {s:.3} s, {dropped} dropped)");
}

fn main() {
    let words: Option<Vec<u64>> = std::env::args().skip(1).map(|word| word.parse().ok()).collect();
    let Some(words) = words else {
        eprintln!("usage: ceiling [K [HOPS [32|64]]]");
        std::process::exit(2);
    };
    let sizes = words.first().map_or(vec![8, 16, 32, 64], |k| vec![*k as u32]);
    for k in sizes {
        let hops = words.get(1).copied().unwrap_or(if k < 32 { 10_000_000 } else { 30_000_000 });
        match words.get(2) {
            Some(64) => measure::<Line>(k, hops, 64),
            _ => measure::<HalfLine>(k, hops, 32),
        }
    }
}
