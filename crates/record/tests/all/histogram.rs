//! The histogram against sorted lists of the same values.

use incast_record::{Collector, Histogram, MonitorRule, Outcome, PacketEvent, Recorder, Sample};
use incast_record::{Happening, statistics::percentile_nearest_rank};

/// Values over twelve orders of magnitude: delays from nanoseconds to seconds, in picoseconds.
fn values(n: usize, mut state: u64) -> Vec<u64> {
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 8) >> (state % 40)
        })
        .collect()
}

fn filled(values: &[u64]) -> Histogram {
    let mut h = Histogram::new();
    values.iter().for_each(|&v| h.record(v));
    h
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let h = Histogram::new();
    assert_eq!((h.count(), h.max(), h.percentile(0.5)), (0, None, None));
}

#[test]
fn small_values_are_exact() {
    let h = filled(&(1..=200).collect::<Vec<_>>());
    for (p, expected) in [(0.0, 1), (0.005, 1), (0.5, 100), (0.95, 190), (0.99, 198), (1.0, 200)] {
        assert_eq!(h.percentile(p), Some(expected), "p {p}");
    }
    assert_eq!((h.count(), h.max()), (200, Some(200)));
}

#[test]
fn percentiles_are_never_below_and_less_than_one_in_128_above() {
    let mut sorted = values(20_000, 7);
    let h = filled(&sorted);
    sorted.sort_unstable();
    for step in 0..=1000 {
        let p = f64::from(step) / 1000.0;
        let exact = percentile_nearest_rank(&sorted, p).unwrap();
        let read = h.percentile(p).unwrap();
        assert!(read >= exact, "p {p}: {read} below {exact}");
        assert!(u128::from(read - exact) * 128 < u128::from(exact.max(1)), "p {p}: {read} too far above {exact}");
    }
    assert_eq!(h.percentile(1.0), sorted.last().copied());
}

#[test]
fn bucket_boundaries_follow_the_stated_rule() {
    // 2^20 .. 2^21 has buckets of 2^13; the first holds 2^20 ..= 2^20 + 2^13 - 1.
    let low = 1 << 20;
    let h = filled(&[low, low + (1 << 13) - 1, low + (1 << 13), 1 << 30]);
    assert_eq!(h.percentile(0.25), Some(low + (1 << 13) - 1));
    assert_eq!(h.percentile(0.5), Some(low + (1 << 13) - 1));
    assert_eq!(h.percentile(0.75), Some(low + (1 << 14) - 1));
    // the last bucket ends beyond the largest value
    assert_eq!(h.percentile(1.0), Some(1 << 30));
}

#[test]
fn the_whole_range_is_kept() {
    let h = filled(&[0, u64::MAX, u64::MAX]);
    assert_eq!((h.count(), h.max()), (3, Some(u64::MAX)));
    assert_eq!((h.percentile(0.3), h.percentile(0.9)), (Some(0), Some(u64::MAX)));
}

#[test]
fn a_merge_is_the_histogram_of_all_values_in_any_order() {
    let (a, b) = (values(5_000, 1), values(3_000, 2));
    let whole = filled(&[a.clone(), b.clone()].concat());
    let (mut ab, mut ba) = (filled(&a), filled(&b));
    ab.merge(&filled(&b));
    ba.merge(&filled(&a));
    assert_eq!(ab, whole);
    assert_eq!(ba, whole);
    let mut with_empty = whole.clone();
    with_empty.merge(&Histogram::new());
    assert_eq!(with_empty, whole);
    assert_ne!(filled(&a), whole);
}

fn event(time_ps: u64, flow: u32, place: &str, event: Happening) -> PacketEvent {
    let flags = String::new();
    PacketEvent { time_ps, flow, place: place.into(), event, seq: 0, ack: 0, payload: 1, size: 1, flags }
}

#[test]
fn a_collection_does_not_show_how_nodes_took_turns() {
    let sample = |entity: &str, time_ps| Sample { entity: entity.into(), name: "cwnd_bytes", time_ps, value: 1.0 };
    let at_h0 = [
        event(5, 0, "h0", Happening::Send),
        event(5, 0, "h0>edge0", Happening::Enqueue),
        event(5, 0, "h0>edge0", Happening::Mark),
    ];
    let at_h1 = [event(4, 0, "h1", Happening::Arrive), event(5, 0, "h1", Happening::Receive)];
    let mut outcomes = Vec::new();
    for h1_first in [false, true] {
        let mut collector = Collector::new(2);
        let mut turns = [&at_h0[..], &at_h1[..]];
        if h1_first {
            turns.reverse();
        }
        turns.into_iter().flatten().for_each(|e| collector.packet(e.clone()));
        for s in if h1_first { ["flow 1", "flow 0"] } else { ["flow 0", "flow 1"] } {
            collector.sample(sample(s, 3));
            collector.sample(sample(s, 9));
        }
        collector.delay(1, 1000);
        collector.rtt(0, 2000);
        let mut outcome = Outcome::default();
        collector.finish(&mut outcome, &MonitorRule::default(), u64::MAX);
        outcomes.push(outcome);
    }
    assert_eq!(outcomes[0].trace, outcomes[1].trace);
    assert_eq!(outcomes[0].samples, outcomes[1].samples);
    let happened: Vec<Happening> = outcomes[0].trace.iter().map(|e| e.event).collect();
    use Happening::*;
    assert_eq!(happened, [Arrive, Send, Enqueue, Mark, Receive]);
    assert_eq!((outcomes[0].delay[0].count(), outcomes[0].delay[1].max()), (0, Some(1000)));
    assert_eq!((outcomes[0].rtt[0].max(), outcomes[0].rtt[1].count()), (Some(2000), 0));
}

#[test]
fn merged_collectors_are_one_collector() {
    let mut parts = [Collector::new(1), Collector::new(1)];
    let mut whole = Collector::new(1);
    for (i, v) in values(1000, 3).into_iter().enumerate() {
        parts[i % 2].delay(0, v);
        whole.delay(0, v);
        parts[i % 2].rtt(0, v / 2);
        whole.rtt(0, v / 2);
    }
    let [mut merged, other] = parts;
    merged.merge(other);
    assert_eq!((&merged.delay, &merged.rtt), (&whole.delay, &whole.rtt));
}
