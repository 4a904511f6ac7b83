//! Memory depends on the packets in flight, not on the length of the run.

#[path = "all/support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::*;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is handed to the system allocator unchanged; the counters are atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Peak of bytes allocated during a run of this length, above those allocated before it.
fn peak(duration: Time) -> usize {
    // only timers wake the domain of the source, repeatedly
    let app =
        App::OnOff(OnOff { rate: Rate::mbps(200), on: Time::s(1), off: Time::ZERO, write: 1000, begin: Begin::Open });
    let mut spec = star(2, Rate::gbps(1), Time::us(20));
    spec.domain_of = vec![0, 1, 2];
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("dctcp", &[])];
    spec.flows = vec![FlowSpec { app, ..bulk(0, 1, None) }];
    run_for(&mut spec, duration);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let outcome = run(&spec);
    assert!(outcome.flows[0].delivered > 0);
    PEAK.load(Ordering::Relaxed) - before
}

#[test]
fn a_longer_run_takes_no_more_memory() {
    let short = peak(Time::ms(200));
    let long = peak(Time::ms(3200));
    // queue samples are counted by length, so nothing grows with time; some room for buffers that double
    assert!(long < short * 3 / 2, "{short} B for 0.2 s, {long} B for 3.2 s");
}
