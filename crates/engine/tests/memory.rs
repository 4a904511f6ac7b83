//! Memory depends on the packets in flight and on what is open, not on the length of the run.

#[path = "all/support/mod.rs"]
mod support;

use incast_cc::Bytes;
use incast_workload::collective::{Expansion, Methods};
use incast_workload::{Builder, Task};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
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
fn peak_of_source(duration: Time) -> usize {
    // only timers wake the domain of the source, repeatedly
    let app =
        App::OnOff(OnOff { rate: Rate::mbps(200), on: Time::s(1), off: Time::ZERO, write: 1000, begin: Begin::Open });
    let mut spec = star(2, Rate::gbps(1), Time::us(20));
    spec.domain_of = vec![0, 1, 2];
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("dctcp", &[])];
    spec.flows = vec![FlowSpec { app, ..bulk(0, 1, None) }];
    run_for(&mut spec, duration);
    peak(&spec, |outcome| outcome.flows[0].delivered > 0)
}

/// Peak of bytes allocated during a run whose outcome is as `expected`, above those allocated before it.
fn peak(spec: &Spec, expected: impl Fn(&Outcome) -> bool) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let outcome = run(spec);
    assert!(expected(&outcome));
    PEAK.load(Ordering::Relaxed) - before
}

/// Job in which each of `n` ranks sends a message to each other one, round by round, and a connection a message.
fn all_to_all(n: u32) -> Spec {
    let mut graph = Builder::new(n.into()).unwrap();
    for rank in 0..n {
        let mut before: Vec<u32> = Vec::new();
        for round in 1..n {
            let (to, from) = ((rank + round) % n, (rank + n - round) % n);
            let send = graph.task(rank, Task::send(Bytes(10_000), to)).unwrap();
            let receive = graph.task(rank, Task::recv(Bytes(10_000), from)).unwrap();
            for earlier in before {
                graph.requires(rank, send, earlier).unwrap();
            }
            before = vec![send, receive];
        }
    }
    let tasks = Expansion::new(Arc::new(graph.finish()), &Methods::default()).unwrap();
    let mut spec = star(n, Rate::gbps(10), Time::us(1));
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("dctcp", &[])];
    run_for(&mut spec, Time::s(1));
    spec.ends_when_finished = true;
    let mut job = JobSpec {
        group: 0,
        tasks: Arc::new(tasks),
        hosts: (0..n).collect(),
        planes: None,
        start: Time::ZERO,
        iterations: 1,
        warmup: 0,
        send_done: SendDone::Acked,
        scale_up: None,
        slow: Vec::new(),
        collective: None,
        bound: None,
        bounds: Vec::new(),
        kinds: Vec::new(),
        opens: Opens::Kept(1),
        connections: Vec::new(),
    };
    for Channels { from, to, kind, .. } in job.channels() {
        job.connections.push(JobConnection { from, to, kind, flow: spec.flows.len() as u32 });
        spec.flows.push(FlowSpec { app: App::Messages(Messages), ..bulk(from, to, None) });
    }
    spec.jobs.push(job);
    spec
}

/// Peak of an all-to-all of `n` ranks.
fn peak_of_job(n: u32) -> usize {
    peak(&all_to_all(n), |outcome| outcome.ranks.iter().all(|rank| rank.left == 0) && outcome.packets_dropped == 0)
}

#[test]
fn memory_is_that_of_what_is_under_way() {
    // one test, since the allocator counts all threads
    let short = peak_of_source(Time::ms(200));
    let long = peak_of_source(Time::ms(3200));
    // queue samples are counted by length, so nothing grows with time; some room for buffers that double
    assert!(long < short * 3 / 2, "{short} B for 0.2 s, {long} B for 3.2 s");
    // its ends, which go after the last message, would take 3,000 more
    let (few, many) = (peak_of_job(16), peak_of_job(48));
    let each = (many - few) / (48 * 47 - 16 * 15);
    assert!(each < 2_000, "{each} B a connection");
}
