//! Bytes, parameters and floating-point operations of a rank.
//!
//! Sources: Shoeybi and others, Megatron-LM (2019), section 3, for two all-reduces of b s h e a layer and pass;
//! Korthikanti and others (2022), section 4.2, for the reduce-scatter and the all-gather of the same total that
//! sequence parallelism has instead; Narayanan and others (2021), sections 3.2 and appendix, for messages between
//! stages and for operations; Rajbhandari and others, ZeRO (2020), section 7, for gradients and parameters; Lepikhin
//! and others, GShard (2020), section 3.2, for the two all-to-alls of experts.

use super::model::Model;
use super::times::Times;
use incast_cc::Time;

/// Sizes of a job, in bytes if not said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// A collective of tensor parallelism: b s h e, the total. With sequence parallelism, the gathered data.
    pub tp: u128,
    /// A message between stages: b s h e, with sequence parallelism over t.
    pub pp: u128,
    /// Data that a rank sends in an all-to-all of experts, its own part included: b s k h e, with sequence parallelism
    /// over t.
    pub ep: u128,
    /// Parameters of a layer that replicas share, of a rank: 2 h (heads + kv_heads) head_dim, and 2 or 3 h ffn of a
    /// dense layer, over t.
    pub dense: u128,
    /// Parameters of the experts of a layer, of a rank: 2 or 3 h ffn experts / (t ep).
    pub sparse: u128,
    /// Parameters of the embedding, and of the head, of a rank: h vocab / t.
    pub vocab: u128,
    /// Bytes of a parameter.
    pub bytes: u128,
    /// Bytes of a gradient.
    pub grad_bytes: u128,
    /// Layers of a rank.
    layers: u128,
}

impl Sizes {
    /// Bytes of the gradients of a rank, at most.
    pub fn gradients(&self) -> u128 {
        ((self.dense + self.sparse) * self.layers + 2 * self.vocab) * self.grad_bytes
    }

    /// Bytes of the largest collective.
    pub(super) fn largest(&self) -> u128 {
        let gradients = (self.dense + self.sparse + self.vocab) * self.bytes.max(self.grad_bytes);
        self.tp.max(self.ep).max(gradients)
    }
}

impl Model {
    /// Sizes of a rank.
    pub fn sizes(&self) -> Sizes {
        let wide = u128::from;
        let scattered = if self.sp { wide(self.tp) } else { 1 };
        let activations = wide(self.micro_batch) * wide(self.seq) * wide(self.hidden) * wide(self.bytes);
        let matrices = if self.gated { 3 } else { 2 };
        let feed_forward = matrices * wide(self.hidden) * wide(self.ffn) / wide(self.tp);
        let heads = wide(self.heads) + wide(self.kv_heads);
        let attention = 2 * wide(self.hidden) * heads * wide(self.head_dim) / wide(self.tp);
        let sparse = self.is_sparse();
        Sizes {
            tp: activations,
            pp: activations / scattered,
            ep: activations * wide(self.top_k) / scattered,
            dense: attention + if sparse { 0 } else { feed_forward },
            sparse: feed_forward * wide(self.experts) / wide(self.ep),
            vocab: wide(self.hidden) * wide(self.vocab) / wide(self.tp),
            bytes: wide(self.bytes),
            grad_bytes: wide(self.grad_bytes),
            layers: wide(self.layers) / wide(self.pp).max(1),
        }
    }

    /// Floating-point operations of the forward pass of a rank for one micro-batch: of a layer's attention, of its
    /// feed-forward part, of the head. Two for each parameter and token; attention 4 b s^2 heads head_dim beside,
    /// without a mask. Of experts, those of b s k tokens.
    pub fn operations(&self) -> [f64; 3] {
        let wide = |number: u64| number as f64;
        let tokens = wide(self.micro_batch) * wide(self.seq);
        let (tp, hidden) = (wide(self.tp), wide(self.hidden));
        let projections = 4.0 * tokens * hidden * (wide(self.heads) + wide(self.kv_heads)) * wide(self.head_dim);
        let scores = 4.0 * tokens * wide(self.seq) * wide(self.heads) * wide(self.head_dim);
        let matrices = if self.gated { 3.0 } else { 2.0 };
        let experts = wide(self.top_k.max(1));
        let feed_forward = 2.0 * tokens * matrices * hidden * wide(self.ffn) * experts;
        let head = 2.0 * tokens * hidden * wide(self.vocab);
        [(projections + scores) / tp, feed_forward / tp, head / tp]
    }

    /// Times at a rate of floating-point operations a second. A backward pass takes twice the forward pass, half of it
    /// for gradients of weights.
    pub fn times_at(&self, flops: f64) -> Times {
        let [attention, feed_forward, head] = self.operations();
        let layer = attention + feed_forward;
        let time = |operations: f64| Time::from_secs_f64(operations / flops);
        Times {
            forward: time(layer),
            backward: time(2.0 * layer),
            head_forward: time(head),
            head_backward: time(2.0 * head),
            attention: if layer > 0.0 { attention / layer } else { 0.5 },
            weights: 0.5,
        }
    }
}
