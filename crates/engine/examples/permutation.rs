//! A Swift permutation on a fat tree, for profiles and instruction counts:
//! `permutation K PACKET_BYTES FLOW_BYTES`. Prints hops and CPU seconds.
#[path = "../tests/net/mod.rs"]
mod net;

use incast_cc::{Rate, Time};
use incast_engine::spec::*;
use net::*;

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [k, packet, size] = args[..] else {
        eprintln!("usage: permutation K PACKET_BYTES FLOW_BYTES");
        std::process::exit(2);
    };
    let mut spec = fat_tree(k as u32, Rate::gbps(100), Time::us(1));
    spec.transports[0].mss = packet as u32;
    let hosts = spec.hosts;
    // an odd multiplier is a permutation of a power-of-two number of hosts; else shift
    let to = |h: u32| if hosts.is_power_of_two() { (h * 77 + 13) % hosts } else { (h + hosts / 2 + 1) % hosts };
    spec.flows = (0..hosts).filter(|h| to(*h) != *h).map(|h| bulk(h, to(h), Some(size))).collect();
    let begin = std::time::Instant::now();
    let outcome = match incast_engine::run(&spec, &mut |_| true) {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let s = begin.elapsed().as_secs_f64();
    let finished = outcome.flows.iter().filter(|f| f.finish_ps.is_some()).count();
    println!(
        "{} hops in {s:.3} s: {:.2} million a second; {finished} of {} flows finished by {:.1} us",
        outcome.hops,
        outcome.hops as f64 / s / 1e6,
        outcome.flows.len(),
        outcome.end_ps as f64 * 1e-6
    );
}
