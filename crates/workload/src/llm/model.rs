//! Numbers of a model, of its batches and of its parallelism.

use super::layout::Order;
use super::schedule::Schedule;
use super::times::Times;
use crate::graph::MOST_RANKS;
use incast_cc::{Bytes, Time};
use std::fmt::Display;

/// Numbers of a job. All counts are at least 1, those of experts may be 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// Transformer layers L.
    pub layers: u64,
    /// Hidden size h.
    pub hidden: u64,
    /// Width of the feed-forward layer; of one expert.
    pub ffn: u64,
    /// Matrices of the feed-forward layer: three with a gate (SwiGLU), two without.
    pub gated: bool,
    /// Attention heads.
    pub heads: u64,
    /// Heads of keys and values.
    pub kv_heads: u64,
    /// Size of a head.
    pub head_dim: u64,
    /// Vocabulary: embedding of the first stage and head of the last; 0 for none.
    pub vocab: u64,
    /// Tokens s of a sequence.
    pub seq: u64,
    /// Sequences b of a micro-batch.
    pub micro_batch: u64,
    /// Micro-batches m of a rank and an iteration.
    pub micro_batches: u64,
    /// Ranks t of tensor parallelism.
    pub tp: u64,
    /// Stages p of the pipeline.
    pub pp: u64,
    /// Replicas of data parallelism.
    pub dp: u64,
    /// Ranks among which the experts of a layer are, out of the replicas.
    pub ep: u64,
    /// Experts of a layer; 0 for a dense model.
    pub experts: u64,
    /// Experts k of a token.
    pub top_k: u64,
    /// Sequence parallelism: tensor parallelism scatters tokens between its layers.
    pub sp: bool,
    /// Stage of ZeRO, 0 to 3.
    pub zero: u8,
    /// Order of the passes.
    pub schedule: Schedule,
    /// Virtual stages v of a rank.
    pub chunks: u64,
    /// Bytes e of a parameter and of an activation.
    pub bytes: u64,
    /// Bytes of a gradient.
    pub grad_bytes: u64,
    /// Times of calculations.
    pub times: Times,
    /// Communication that calculations go on beside.
    pub overlap: Overlap,
    /// Second forward pass before the backward pass.
    pub recompute: bool,
    /// Order of the ranks.
    pub order: Order,
    /// Exponent of Zipf's law of the experts' popularity; none: all alike.
    pub skew: Option<f64>,
    /// Size of a bucket of gradients; none: one a layer.
    pub bucket: Option<Bytes>,
}

/// Dimensions whose communication calculations go on beside.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Overlap {
    /// Gradients and parameters of replicas.
    pub dp: bool,
    /// Messages between stages.
    pub pp: bool,
}

/// A number that does not fit: key, value, expectation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// Name of the key.
    pub key: &'static str,
    /// Value of the key.
    pub value: String,
    /// Expectation, in words.
    pub expected: String,
}

/// Most tasks of a job before its collectives are expanded.
pub const MOST_TASKS: u64 = 1 << 28;
/// Longest time of a pass through a layer.
const LONGEST: Time = Time::s(1_000_000);

impl Model {
    /// A dense model of so many layers, of this hidden size and sequence, on one rank: 128 values a head, gated
    /// feed-forward layers of four times the hidden size, no vocabulary, one micro-batch, values of 2 B, gradients of
    /// 4 B, passes without time.
    pub fn new(layers: u64, hidden: u64, seq: u64) -> Model {
        let heads = (hidden / 128).max(1);
        Model {
            layers,
            hidden,
            ffn: 4 * hidden,
            gated: true,
            heads,
            kv_heads: heads,
            head_dim: hidden / heads,
            vocab: 0,
            seq,
            micro_batch: 1,
            micro_batches: 1,
            tp: 1,
            pp: 1,
            dp: 1,
            ep: 1,
            experts: 0,
            top_k: 0,
            sp: false,
            zero: 0,
            schedule: Schedule::OneForwardOneBackward,
            chunks: 1,
            bytes: 2,
            grad_bytes: 4,
            times: Times::default(),
            overlap: Overlap { dp: true, pp: false },
            recompute: false,
            order: Order::default(),
            skew: None,
            bucket: None,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u64 {
        self.tp.saturating_mul(self.pp).saturating_mul(self.dp)
    }

    /// Layers of a virtual stage.
    pub fn layers_of_chunk(&self) -> u64 {
        self.layers / (self.pp * self.chunks).max(1)
    }

    /// Returns whether layers have experts.
    pub fn is_sparse(&self) -> bool {
        self.experts > 0
    }

    /// Numbers that do not fit together; none if the job can be built.
    pub fn check(&self) -> Vec<Wrong> {
        let mut found = Found(Vec::new());
        self.check_ranges(&mut found);
        // what does not divide is told where all numbers are in their ranges
        if found.0.is_empty() {
            self.check_shares(&mut found);
            self.check_experts(&mut found);
            self.check_schedule(&mut found);
        }
        if found.0.is_empty() {
            self.check_extent(&mut found);
        }
        found.0
    }

    fn check_ranges(&self, found: &mut Found) {
        let (count, large) = (1 << 20, 1 << 26);
        for (key, value, least, most) in [
            ("layers", self.layers, 1, 1 << 16),
            ("hidden", self.hidden, 1, count),
            ("ffn", self.ffn, 1, 1 << 22),
            ("heads", self.heads, 1, 1 << 16),
            ("kv_heads", self.kv_heads, 1, 1 << 16),
            ("head_dim", self.head_dim, 1, 1 << 16),
            ("vocab", self.vocab, 0, large),
            ("seq", self.seq, 1, large),
            ("micro_batch", self.micro_batch, 1, count),
            ("micro_batches", self.micro_batches, 1, count),
            ("tp", self.tp, 1, MOST_RANKS),
            ("pp", self.pp, 1, MOST_RANKS),
            ("dp", self.dp, 1, MOST_RANKS),
            ("ep", self.ep, 1, MOST_RANKS),
            ("experts", self.experts, 0, 1 << 16),
            ("top_k", self.top_k, 0, 1 << 16),
            ("zero", self.zero.into(), 0, 3),
            ("chunks", self.chunks, 1, 1 << 16),
            ("bytes", self.bytes, 1, 8),
            ("grad_bytes", self.grad_bytes, 1, 8),
        ] {
            if !(least..=most).contains(&value) {
                found.add(key, value, format!("expected {least} to {most}"));
            }
        }
        let parts = [("attention", self.times.attention), ("weights", self.times.weights)];
        for (key, part) in parts.into_iter().filter(|(_, part)| !(0.0..=1.0).contains(part)) {
            found.add(key, part, "expected a part of a time, 0 to 1");
        }
        for (key, time) in self.times.named().into_iter().filter(|(_, time)| *time > LONGEST) {
            found.add(key, format!("{:e} s", time.as_secs_f64()), "expected at most 1000000 s");
        }
        if let Some(z) = self.skew.filter(|z| !(0.0..=20.0).contains(z)) {
            found.add("skew", z, "expected an exponent of Zipf's law, 0 to 20");
        }
        if let Some(bucket) = self.bucket.filter(|bucket| bucket.0 < self.grad_bytes) {
            found.add("bucket", bucket, format!("expected at least one gradient of {} B", self.grad_bytes));
        }
    }

    /// Numbers that parallelism divides.
    fn check_shares(&self, found: &mut Found) {
        let stages = self.pp * self.chunks;
        for (key, value, by, what) in [
            ("layers", self.layers, stages, format!("pp x virtual = {stages}: as many layers in each stage")),
            ("heads", self.heads, self.tp, format!("tp = {}", self.tp)),
            ("kv_heads", self.kv_heads, self.tp, format!("tp = {}", self.tp)),
            ("heads", self.heads, self.kv_heads, format!("kv_heads = {}", self.kv_heads)),
            ("ffn", self.ffn, self.tp, format!("tp = {}", self.tp)),
            ("vocab", self.vocab, self.tp, format!("tp = {}: add unused words", self.tp)),
            ("seq", self.seq, if self.sp { self.tp } else { 1 }, format!("tp = {}, as sp = true", self.tp)),
        ] {
            if value % by != 0 {
                found.add(key, value, format!("expected a multiple of {what}"));
            }
        }
    }

    fn check_experts(&self, found: &mut Found) {
        if !self.is_sparse() {
            for (key, value, none) in [("ep", self.ep, 1), ("top_k", self.top_k, 0)] {
                if value != none {
                    found.add(key, value, format!("expected {none} without experts"));
                }
            }
            if let Some(z) = self.skew {
                found.add("skew", z, "expected none without experts");
            }
            return;
        }
        if !(1..=self.experts).contains(&self.top_k) {
            let expected = format!("expected 1 to experts = {}: the experts of a token", self.experts);
            found.add("top_k", self.top_k, expected);
        }
        if self.experts % self.ep != 0 {
            found.add("ep", self.ep, format!("expected a divisor of experts = {}", self.experts));
        }
        if self.dp % self.ep != 0 {
            let expected = format!("expected a divisor of dp = {}: experts are spread over replicas", self.dp);
            found.add("ep", self.ep, expected);
        }
        // NVIDIA/Megatron-LM, `arguments.py`, has the same rule
        if self.tp > 1 && !self.sp {
            found.add("sp", self.sp, "expected true: with tp, experts need sequence parallelism");
        }
    }

    fn check_schedule(&self, found: &mut Found) {
        if self.schedule != Schedule::Interleaved {
            if self.chunks != 1 {
                let expected = format!("expected 1: schedule = \"{}\" has one stage a rank", self.schedule.name());
                found.add("virtual", self.chunks, expected);
            }
            return;
        }
        if self.pp < 2 {
            found.add("pp", self.pp, "expected at least 2 stages: schedule = \"interleaved\"");
        }
        if self.micro_batches % self.pp != 0 {
            let expected = format!("expected a multiple of pp = {}: schedule = \"interleaved\"", self.pp);
            found.add("micro_batches", self.micro_batches, expected);
        }
    }

    fn check_extent(&self, found: &mut Found) {
        let ranks = self.ranks();
        if ranks > MOST_RANKS {
            found.add("dp", self.dp, format!("tp x pp x dp = {ranks} ranks; expected at most {MOST_RANKS}"));
            return;
        }
        let tasks = self.tasks();
        if tasks > MOST_TASKS {
            let need = tasks as f64 * 40.0 / 1e9;
            let what = format!("about {tasks} tasks, which take {need:.0} GB; expected at most {MOST_TASKS}");
            found.add("micro_batches", self.micro_batches, what);
        }
        let largest = self.sizes().largest();
        if largest > 1 << 62 {
            found.add("hidden", self.hidden, format!("a collective of {largest} B; expected at most 2^62 B"));
        }
    }

    /// Number of tasks of all ranks, at most about.
    fn tasks(&self) -> u64 {
        let layer = 2 * 14 + if self.recompute { 14 } else { 0 };
        let batch = (self.layers / self.pp).saturating_mul(layer) + self.chunks * 6;
        let gradients = match self.bucket {
            Some(bucket) => (self.sizes().gradients() / u128::from(bucket.0)).min(1 << 62) as u64,
            None => self.layers / self.pp + 2,
        };
        let times = if self.zero > 1 { self.micro_batches } else { 1 };
        let own = self.micro_batches.saturating_mul(batch).saturating_add(gradients.saturating_mul(2 * times));
        own.saturating_mul(self.ranks())
    }
}

/// Numbers that do not fit, as they are found.
struct Found(Vec<Wrong>);

impl Found {
    fn add(&mut self, key: &'static str, value: impl Display, expected: impl Into<String>) {
        // users know virtual stages as `virtual`, which is no name in Rust
        let key = if key == "chunks" { "virtual" } else { key };
        self.0.push(Wrong { key, value: value.to_string(), expected: expected.into() });
    }
}
