//! Training jobs from a model's numbers: iteration times of schedules, bytes by formula, random sets of numbers.

use crate::support::{Random, lines};
use incast_cc::{Bytes, Rate, Time};
use incast_workload::bound::bound;
use incast_workload::collective::{Methods, expand};
use incast_workload::evaluate::delay::{Network, Rules, SendDone, run};
use incast_workload::lint::{Options, lint};
use incast_workload::llm::{Made, Model, Order, Overlap, Schedule, Times, build, shares};
use incast_workload::{Graph, Kind, Pattern, Report};

const NETWORK: Network = Network { latency: Time::us(1), rate: Rate::gbps(400) };

fn made(model: &Model) -> Made {
    build(model).unwrap_or_else(|refused| panic!("{refused}: {model:?}"))
}

/// Time of an iteration on a network without delay.
fn iteration(graph: &Graph) -> Time {
    let rules = Rules { network: Network::NONE, send_done: SendDone::Matched, streams: true, path: false };
    let outcome = run(graph, rules).outcome;
    assert!(outcome.is_whole(), "{:?}", outcome.stuck);
    outcome.end
}

/// A pipeline with one layer a virtual stage, a forward pass of 1 us a rank and a backward pass of 2 us.
fn pipeline(schedule: Schedule, pp: u64, v: u64, m: u64) -> Model {
    let times = Times { forward: Time(1_000_000 / v), backward: Time(2_000_000 / v), ..Times::default() };
    Model { schedule, pp, chunks: v, micro_batches: m, times, ..Model::new(pp * v, 128, 16) }
}

#[test]
fn four_stages_and_eight_micro_batches_take_33_of_which_24_are_calculations() {
    for schedule in [Schedule::GPipe, Schedule::OneForwardOneBackward] {
        let job = made(&pipeline(schedule, 4, 1, 8)).graph;
        assert_eq!(iteration(&job), Time::us(33), "{schedule:?}");
    }
    // a bubble of (p-1)(tf + tb) / v
    assert_eq!(iteration(&made(&pipeline(Schedule::Interleaved, 4, 2, 8)).graph), Time::ns(28_500));
    // (p-1)(tf + tb - tw), Qi and others, table 1
    assert_eq!(iteration(&made(&pipeline(Schedule::ZeroBubble, 4, 1, 8)).graph), Time::us(27));
}

#[test]
fn the_formula_of_a_zero_bubble_needs_as_many_micro_batches_as_stages() {
    let bubble = |pp, m| {
        let time = iteration(&made(&pipeline(Schedule::ZeroBubble, pp, 1, m)).graph);
        time.as_us_f64() / (3 * m) as f64 - 1.0
    };
    // (p-1)/3m of the calculations holds from m = p on; with fewer, stages wait for the first backward pass
    for (pp, m, formula, found) in [(4, 4, 0.25, 0.25), (4, 8, 0.125, 0.125), (4, 2, 0.5, 5.0 / 6.0)] {
        assert!((formula - (pp - 1) as f64 / (3 * m) as f64).abs() < 1e-9);
        assert!((bubble(pp, m) - found).abs() < 1e-9, "{pp} {m}: {}", bubble(pp, m));
    }
    for pp in 2..=8 {
        for m in 1..pp {
            assert!(bubble(pp, m) > (pp - 1) as f64 / (3 * m) as f64, "{pp} {m}");
        }
    }
}

#[test]
fn bubbles_are_those_of_the_formula_for_all_numbers_of_stages_and_micro_batches() {
    for pp in 1..=8 {
        for m in (1..=3 * pp).filter(|m| *m >= pp) {
            let bubble = |v: u64| Time::us(3 * m) + Time(3_000_000 * (pp - 1) / v);
            for schedule in [Schedule::GPipe, Schedule::OneForwardOneBackward] {
                assert_eq!(iteration(&made(&pipeline(schedule, pp, 1, m)).graph), bubble(1), "{schedule:?} {pp} {m}");
            }
            let zero = iteration(&made(&pipeline(Schedule::ZeroBubble, pp, 1, m)).graph);
            assert_eq!(zero, Time::us(3 * m + pp - 1), "{pp} {m}");
            for v in [1, 2, 4].into_iter().filter(|_| pp > 1 && m % pp == 0) {
                let job = made(&pipeline(Schedule::Interleaved, pp, v, m)).graph;
                assert_eq!(iteration(&job), bubble(v), "{pp} {v} {m}");
            }
        }
    }
}

#[test]
fn few_micro_batches_end_too() {
    for schedule in Schedule::ALL.into_iter().filter(|schedule| *schedule != Schedule::Interleaved) {
        for m in 1..4 {
            assert!(iteration(&made(&pipeline(schedule, 4, 1, m)).graph) >= Time::us(3 * m), "{schedule:?} {m}");
        }
    }
}

/// GPT-3 with 175 billion parameters (Brown and others, 2020, table 2.1), TP 8 and PP 8.
fn gpt() -> Model {
    let base = Model::new(96, 12_288, 2048);
    Model { heads: 96, kv_heads: 96, gated: false, vocab: 51_200, tp: 8, pp: 8, dp: 2, micro_batches: 8, ..base }
}

fn of(graph: &Graph, pattern: Pattern) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        graph.collectives().iter().filter(|one| one.pattern == pattern).map(|one| one.bytes.0).collect();
    sizes.sort_unstable();
    sizes
}

#[test]
fn gpt_175b_moves_the_bytes_of_its_formulas() {
    let model = gpt();
    let job = made(&model);
    // AICB's row of this model: 2 x 1 x 2048 x 12288
    let all = of(&job.graph, Pattern::AllReduce);
    let groups = 8 * 2;
    let layer = all.iter().filter(|bytes| **bytes == 50_331_648).count();
    assert_eq!(layer, groups * 12 * 8 * 4, "four a layer and micro-batch in each group");
    // 12 h^2 a layer, 4 B a gradient, over 8 parts; embedding and head of 51,200 words
    let gradients = 12 * 12_288 * 12_288 / 8 * 4u64;
    let words = 51_200 * 12_288 / 8 * 4u64;
    assert_eq!(all.iter().filter(|bytes| **bytes == gradients).count(), 8 * 96);
    assert_eq!(all.iter().filter(|bytes| **bytes == words).count(), 8 * 2);
    assert_eq!(all.len(), layer + 8 * 96 + 8 * 2);
    let [(_, tp), (_, pp), (_, dp), (_, ep)] = job.volumes;
    assert_eq!(tp.bytes, layer as u64 * 8 * 50_331_648);
    // 7 edges, both ways, 8 micro-batches, 16 pipelines
    assert_eq!((pp.tasks, pp.bytes), (7 * 2 * 8 * 16, 7 * 2 * 8 * 16 * 50_331_648));
    assert_eq!(dp.bytes, 16 * (96 * gradients + 2 * words));
    assert_eq!(ep.tasks, 0);
}

#[test]
fn sequence_parallelism_and_zero_split_all_reduces() {
    let model = Model { sp: true, zero: 1, ..gpt() };
    let (plain, job) = (made(&gpt()), made(&model));
    let (scatter, gather) = (of(&job.graph, Pattern::ReduceScatter), of(&job.graph, Pattern::AllGather));
    let rows = |all: &[u64]| all.iter().filter(|bytes| **bytes == 50_331_648).count();
    let reduced = rows(&of(&plain.graph, Pattern::AllReduce));
    assert_eq!((rows(&scatter), rows(&gather), of(&job.graph, Pattern::AllReduce).len()), (reduced, reduced, 0));
    // messages between stages are scattered too
    assert_eq!(job.volumes[1].1.bytes * 8, plain.volumes[1].1.bytes);
    // 4 B a parameter scattered, 2 B gathered
    assert_eq!(job.volumes[2].1.bytes * 2, plain.volumes[2].1.bytes * 3);
}

#[test]
fn later_stages_of_zero_exchange_each_micro_batch() {
    let model = Model { zero: 1, ..gpt() };
    let bytes = |zero, recompute| made(&Model { zero, recompute, ..model.clone() }).volumes[2].1.bytes;
    let parameters = 16 * (96 * 12 * 12_288 * 12_288 / 8 + 2 * 51_200 * 12_288 / 8);
    assert_eq!(bytes(1, false), parameters * (4 + 2));
    assert_eq!(bytes(2, false), parameters * (8 * 4 + 2));
    // parameters are gathered for each pass; those of the embedding for the forward pass alone
    let embedding = 16 * 51_200 * 12_288 / 8;
    assert_eq!(bytes(3, false), parameters * 8 * (4 + 2 * 2) - embedding * 8 * 2);
    assert_eq!(bytes(3, true), bytes(3, false), "a second forward pass has its parameters already");
}

/// DeepSeek-V3's routing (2024, section 4.2): 256 experts of which a token has 8, hidden size 7168; 4096 tokens.
fn deepseek(bytes: u64) -> Model {
    let base = Model::new(2, 7168, 4096);
    Model { ffn: 2048, experts: 256, top_k: 8, dp: 16, ep: 8, bytes, ..base }
}

#[test]
fn experts_exchange_the_bytes_of_their_tokens() {
    for (bytes, expected) in [(1, 234_881_024), (2, 469_762_048)] {
        let job = made(&deepseek(bytes));
        let exchanged = of(&job.graph, Pattern::AllToAll);
        // two groups; dispatch and combine of two layers, forward and backward
        assert_eq!(exchanged, vec![expected; 2 * 2 * 2 * 2]);
    }
    // experts are reduced over two replicas, the rest over 16
    let job = made(&deepseek(2));
    let reduced = of(&job.graph, Pattern::AllReduce);
    let (attention, experts) = (4 * 7168 * 7168 * 4, 256 / 8 * 3 * 7168 * 2048 * 4);
    assert_eq!(reduced, [vec![attention; 2], vec![experts; 8 * 2]].concat());
}

#[test]
fn skew_of_experts_follows_zipf_and_loses_nothing() {
    assert_eq!(shares(4, 1, 0.0), [0.25; 4]);
    let zipf = shares(4, 1, 1.0);
    assert!((zipf[0] / zipf[3] - 4.0).abs() < 1e-12 && (zipf.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    // a token has each expert once: the first gets half of all tokens' two experts at most
    let two = shares(4, 2, 3.0);
    assert_eq!(two[0], 0.5);
    assert!((two.iter().sum::<f64>() - 1.0).abs() < 1e-12 && two[1] <= 0.5);

    let model = Model { skew: Some(1.2), ..deepseek(2) };
    let job = made(&model).graph;
    for one in job.collectives().iter().filter(|one| one.pattern == Pattern::AllToAll) {
        let sizes = one.sizes.as_ref().unwrap();
        let rows: Vec<u64> = sizes.chunks(8).map(|row| row.iter().sum()).collect();
        let columns: Vec<u64> = (0..8).map(|c| sizes.iter().skip(c).step_by(8).sum()).collect();
        assert!(rows == [469_762_048; 8] || columns == [469_762_048; 8], "{rows:?} {columns:?}");
        assert_ne!(rows, columns);
    }
    // another rank has the most popular experts in the second layer
    let hot = |nth: usize| {
        let sizes = job.collectives()[nth].sizes.clone().unwrap();
        (0..8).max_by_key(|c| sizes[*c]).unwrap()
    };
    assert_eq!((hot(0), hot(2)), (0, 7));
    // experts with more tokens take longer
    let times = Times { forward: Time::us(10), backward: Time::us(20), attention: 0.2, ..Times::default() };
    let slow = made(&Model { times, ..model.clone() }).graph;
    let even = made(&Model { times, ..deepseek(2) }).graph;
    assert!(iteration(&slow) > iteration(&even));
}

#[test]
fn buckets_cut_the_gradients_and_start_as_layers_end() {
    // four layers of 4 us backward and 12 h^2 = 196,608 parameters of 4 B, no vocabulary
    let times = Times { forward: Time::us(2), backward: Time::us(4), ..Times::default() };
    let base = Model { gated: false, dp: 2, times, ..Model::new(4, 128, 16) };
    let sizes = |bucket| of(&made(&Model { bucket, ..base.clone() }).graph, Pattern::AllReduce);
    assert_eq!(sizes(None), [786_432; 4]);
    assert_eq!(sizes(Some(Bytes(2_000_000))), [1_145_728, 2_000_000]);
    assert_eq!(sizes(Some(Bytes(1 << 30))), [3_145_728]);
    // the time of a bucket: 1 us of latency and 786,432 B at 400 Gb/s; each hides behind the next layer
    let end = |overlap| {
        let job = made(&Model { overlap, ..base.clone() }).graph;
        run(&job, Rules { network: NETWORK, send_done: SendDone::Acked, streams: true, path: false }).outcome.end
    };
    let bucket = Time::us(1) + Rate::gbps(400).serialize(786_432);
    assert!(bucket > Time::us(4) && bucket < Time::us(24));
    assert_eq!(end(Overlap { dp: true, pp: false }), Time::us(8 + 4) + bucket * 4);
    let all = Time::us(1) + Rate::gbps(400).serialize(4 * 786_432);
    assert_eq!(end(Overlap::default()), Time::us(8 + 16) + all);
}

#[test]
fn ranks_are_numbered_in_the_order_of_the_dimensions() {
    let base = Model { gated: false, tp: 2, pp: 2, dp: 2, ..Model::new(2, 256, 16) };
    let group = |order: &str, pattern_of: usize| {
        let job = made(&Model { order: Order::named(order).unwrap(), ..base.clone() }).graph;
        let sizes = base.sizes();
        let bytes = [sizes.tp, sizes.dense * 4][pattern_of] as u64;
        let one = job.collectives().iter().find(|one| one.bytes.0 == bytes).unwrap();
        job.group(one.group).to_vec()
    };
    assert_eq!((group("tp,pp,dp", 0), group("tp,pp,dp", 1)), (vec![0, 1], vec![0, 4]));
    assert_eq!((group("tp,dp,pp", 0), group("tp,dp,pp", 1)), (vec![0, 1], vec![0, 2]));
    assert_eq!((group("dp,pp,tp", 0), group("dp,pp,tp", 1)), (vec![0, 4], vec![0, 1]));
    for wrong in ["tp,pp", "tp,pp,pp", "tp,pp,dp,dp", "tp,pp,ep", ""] {
        assert_eq!(Order::named(wrong), None, "{wrong}");
    }
}

#[test]
fn what_does_not_fit_is_told_by_key() {
    let told = |model: Model| -> Vec<String> {
        model.check().into_iter().map(|wrong| format!("{} = {}: {}", wrong.key, wrong.value, wrong.expected)).collect()
    };
    let base = Model::new(8, 1024, 128);
    let one = |change: &dyn Fn(&mut Model)| {
        let mut model = base.clone();
        change(&mut model);
        told(model).join("; ")
    };
    assert_eq!(told(base.clone()), [""; 0]);
    for (change, expected) in [
        (&(|m: &mut Model| m.pp = 3) as &dyn Fn(&mut Model), "layers = 8: expected a multiple of pp x virtual = 3"),
        (&|m| m.tp = 16, "heads = 8: expected a multiple of tp = 16"),
        (&|m| (m.tp, m.vocab) = (8, 50_257), "vocab = 50257: expected a multiple of tp = 8: add unused words"),
        (&|m| m.kv_heads = 3, "heads = 8: expected a multiple of kv_heads = 3"),
        (&|m| (m.sp, m.tp, m.seq) = (true, 8, 100), "seq = 100: expected a multiple of tp = 8, as sp = true"),
        (&|m| m.ep = 2, "ep = 2: expected 1 without experts"),
        (&|m| m.skew = Some(1.0), "skew = 1: expected none without experts"),
        (&|m| m.experts = 8, "top_k = 0: expected 1 to experts = 8"),
        (&|m| (m.experts, m.top_k, m.ep, m.dp) = (8, 2, 3, 3), "ep = 3: expected a divisor of experts = 8"),
        (&|m| (m.experts, m.top_k, m.ep, m.dp) = (8, 2, 4, 6), "ep = 4: expected a divisor of dp = 6"),
        (&|m| (m.experts, m.top_k, m.tp) = (8, 2, 2), "sp = false: expected true"),
        (&|m| m.chunks = 2, "virtual = 2: expected 1: schedule = \"1f1b\" has one stage a rank"),
        (&|m| m.schedule = Schedule::Interleaved, "pp = 1: expected at least 2 stages"),
        (
            &|m| (m.schedule, m.pp, m.micro_batches) = (Schedule::Interleaved, 4, 6),
            "micro_batches = 6: expected a multiple of pp = 4",
        ),
        (&|m| m.layers = 0, "layers = 0: expected 1 to 65536"),
        (&|m| m.zero = 4, "zero = 4: expected 0 to 3"),
        (&|m| m.bucket = Some(Bytes(3)), "bucket = 3B: expected at least one gradient of 4 B"),
        (&|m| m.times.weights = 1.5, "weights = 1.5: expected a part of a time, 0 to 1"),
        (&|m| m.times.forward = Time::NEVER, "expected at most 1000000 s"),
        (&|m| (m.dp, m.pp) = (1 << 22, 2), "tp x pp x dp = 8388608 ranks; expected at most 4194304"),
        (&|m| (m.dp, m.micro_batches) = (1 << 20, 1 << 20), "tasks, which take"),
    ] {
        let found = one(change);
        assert!(found.contains(expected), "{found}\n{expected}");
    }
}

#[test]
fn operations_are_those_of_the_paper() {
    // Narayanan and others (2021): 96 B s l h^2 (1 + s/6h + V/16lh) with a second forward pass, of which the head has
    // 3 of 4 parts
    let model = Model { tp: 1, pp: 1, ..gpt() };
    let [attention, feed_forward, head] = model.operations();
    let (s, l, h, v) = (2048.0, 96.0, 12_288.0, 51_200.0);
    let layers = 96.0 * s * l * h * h * (1.0 + s / (6.0 * h));
    assert!(((attention + feed_forward) * l * 4.0 / layers - 1.0).abs() < 1e-12);
    assert!((head * 3.0 / (6.0 * s * h * v) - 1.0).abs() < 1e-12);
    // 2 x 175 billion parameters x tokens, 3 times, within 5 % (attention and words are the rest)
    let all = 3.0 * ((attention + feed_forward) * l + head);
    assert!((all / (6.0 * 175e9 * s) - 1.0).abs() < 0.05, "{all}");
    let times = model.times_at(1e15);
    // each is rounded to picoseconds by itself
    assert!(times.backward.abs_diff(times.forward * 2) <= Time(1), "{times:?}");
    assert!(times.forward.abs_diff(gpt().times_at(1e15).forward * 8) <= Time(4), "{times:?}");
}

/// A random set of numbers that fit.
fn random_model(random: &mut Random) -> Model {
    let mut of = |choices: &[u64]| choices[random.below(choices.len())];
    let (tp, pp, ep, m) = (of(&[1, 2, 4]), of(&[1, 2, 3, 4]), of(&[1, 2, 4]), of(&[1, 2, 3, 4, 8]));
    let sparse = of(&[0, 1]) == 1;
    let schedule = Schedule::ALL[of(&[0, 1, 2, 3]) as usize];
    let interleaved = schedule == Schedule::Interleaved && pp > 1;
    let schedule = if schedule == Schedule::Interleaved && pp == 1 { Schedule::GPipe } else { schedule };
    let chunks = if interleaved { of(&[1, 2, 3]) } else { 1 };
    let orders = ["tp,pp,dp", "tp,dp,pp", "dp,tp,pp", "pp,dp,tp"];
    let model = Model {
        gated: of(&[0, 1]) == 1,
        ffn: 64 * of(&[1, 3]),
        heads: 8,
        kv_heads: of(&[4, 8]),
        head_dim: 16,
        vocab: of(&[0, 4096]),
        micro_batch: of(&[1, 2]),
        micro_batches: if interleaved { m * pp } else { m },
        tp,
        pp,
        dp: ep * of(&[1, 2, 3]),
        ep: if sparse { ep } else { 1 },
        experts: if sparse { 4 * of(&[1, 4]) } else { 0 },
        top_k: if sparse { of(&[1, 2, 4]) } else { 0 },
        sp: sparse || of(&[0, 1]) == 1,
        zero: of(&[0, 1, 2, 3]) as u8,
        schedule,
        chunks,
        overlap: Overlap { dp: of(&[0, 1]) == 1, pp: of(&[0, 1]) == 1 },
        recompute: of(&[0, 1]) == 1,
        order: Order::named(orders[of(&[0, 1, 2, 3]) as usize]).unwrap(),
        skew: Some(1.1).filter(|_| sparse && of(&[0, 1]) == 1),
        bucket: [None, Some(Bytes(50_000))][of(&[0, 1]) as usize],
        ..Model::new(pp * chunks * of(&[1, 2]), 128, 64)
    };
    let times = model.times_at(1e12);
    Model { times, ..model }
}

/// Bytes of the tasks by dimension, by the formulas of the table of patterns.
fn formulas(model: &Model) -> [u64; 4] {
    let (b, s, h, e) = (model.micro_batch, model.seq, model.hidden, model.bytes);
    let (t, p, d, m) = (model.tp, model.pp, model.dp, model.micro_batches);
    let (k, l, ranks) = (model.top_k, model.layers / p, model.ranks());
    let scattered = if model.sp { t } else { 1 };
    let activations = b * s * h * e;
    let passes = if model.recompute { 3 } else { 2 };
    let each = if model.sp { 2 } else { 1 };
    // attention in each layer, and the feed-forward part with the tokens that come to the rank
    let dense = if model.is_sparse() { activations * k } else { activations };
    let tp = if t > 1 { ranks * l * m * passes * each * (activations + dense) } else { 0 };
    let edges = p * model.chunks - 1;
    let pp = if p > 1 { 2 * edges * m * t * d * activations / scattered } else { 0 };
    let ep = if model.ep > 1 { ranks * l * m * passes * 2 * activations * k / scattered } else { 0 };
    let matrices = if model.gated { 3 } else { 2 };
    let ffn = matrices * h * model.ffn / t;
    let attention = 2 * h * (model.heads + model.kv_heads) * model.head_dim / t;
    let words = h * model.vocab / t;
    let (shared, own) =
        if model.is_sparse() { (attention, ffn * model.experts / model.ep) } else { (attention + ffn, 0) };
    let parameters = |layers: u64, words_: u64| {
        let shared = if d > 1 { ranks * shared * layers + t * d * words * words_ } else { 0 };
        shared + if d / model.ep > 1 { ranks * own * layers } else { 0 }
    };
    let once = parameters(l, 2);
    let dp = match model.zero {
        0 => once * 4,
        1 => once * (4 + 2),
        2 => once * (4 * m + 2),
        _ => m * (once * 4 + 2 * parameters(2 * l, 3)),
    };
    [tp, pp, dp, ep]
}

#[test]
fn random_jobs_have_the_bytes_of_the_formulas_and_no_mistake() {
    let mut random = Random(48);
    for _ in 0..30 {
        let model = random_model(&mut random);
        let job = made(&model);
        let bytes = job.volumes.map(|(_, volume)| volume.bytes);
        let [tp, pp, dp, ep] = formulas(&model);
        if model.skew.is_some() && model.tp > 1 {
            // ranks with popular experts get more than others: the sum of all ranks is the same where layers take turns
            assert_eq!([bytes[1], bytes[2], bytes[3]], [pp, dp, ep], "{model:?}");
        } else {
            assert_eq!(bytes, [tp, pp, dp, ep], "{model:?}");
        }
        let sums = [Kind::Collective, Kind::Send].map(|kind| {
            let tasks = job.graph.iter().flat_map(|(_, rank)| rank.iter());
            tasks.filter(|(_, task)| task.kind == kind).map(|(_, task)| task.size).sum::<u64>()
        });
        assert_eq!(sums, [bytes[0] + bytes[2] + bytes[3], bytes[1]]);
        let mut report = Report::default();
        lint(&job.graph, &Options::default(), &mut report);
        assert_eq!(report.errors(), 0, "{} {model:?}", lines(&report));
        let least = bound(&job.graph, NETWORK).unwrap().time();
        // calculations of a rank: the forward and backward passes of its micro-batches
        assert!(least >= model.times.forward * (3 * model.micro_batches * model.layers / model.pp / 2), "{model:?}");
    }
}

#[test]
fn collectives_of_random_jobs_become_messages_without_mistakes() {
    let mut random = Random(7);
    for _ in 0..4 {
        let model = random_model(&mut random);
        let expanded = expand(&made(&model).graph, &Methods::default()).unwrap();
        let mut report = Report::default();
        lint(&expanded, &Options::default(), &mut report);
        assert_eq!(report.errors(), 0, "{} {model:?}", lines(&report));
        assert!(expanded.collectives().is_empty());
    }
}

#[test]
fn times_beyond_all_clocks_stay_at_the_largest() {
    let second = Time::s(1_000_000);
    let times = Times { forward: second, backward: second, ..Times::default() };
    let job = made(&Model { times, ..Model::new(1 << 16, 128, 16) }).graph;
    assert_eq!(iteration(&job), Time::NEVER);
}
