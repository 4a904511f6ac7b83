//! Training of a transformer in a scenario: the numbers of the model, of its batches and of its parallelism.

use crate::document::spelling::canonical;
use crate::text::default::{number, thousandths};
use crate::text::problem::{Errors, Problem, Report};
use crate::text::quantity::{Flops, Size, Time};
use crate::text::reading::read;
use crate::text::root_schema::made;
use crate::text::schema::Schema;
use crate::text::words::{Word, words};
use incast_workload::llm::{Dimension, Model, Order, Overlap, Schedule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::path::Path;
use std::sync::OnceLock;
use toml::Value as Toml;

/// Training of a transformer: ranks tp x pp x dp, an iteration of `micro_batches` micro-batches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Llm {
    /// Layers.
    #[schemars(range(min = 1))]
    pub layers: u32,
    /// Hidden size.
    #[schemars(range(min = 1))]
    pub hidden: u32,
    /// Width of the feed-forward layer, or of one expert; default: four times the hidden size.
    #[schemars(range(min = 1))]
    pub ffn: Option<u32>,
    /// Three matrices in the feed-forward layer (SwiGLU), or two.
    #[serde(default = "crate::text::default::yes")]
    pub gated: bool,
    /// Attention heads; default: one for 128 of the hidden size.
    #[schemars(range(min = 1))]
    pub heads: Option<u32>,
    /// Heads of keys and values; default: as many as attention heads.
    #[schemars(range(min = 1))]
    pub kv_heads: Option<u32>,
    /// Size of a head; default: the hidden size over the number of heads.
    #[schemars(range(min = 1))]
    pub head_dim: Option<u32>,
    /// Words: an embedding in the first stage and a head in the last; 0: neither.
    #[serde(default)]
    pub vocab: u32,
    /// Tokens of a sequence.
    #[schemars(range(min = 1))]
    pub seq: u32,
    /// Sequences of a micro-batch.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub micro_batch: u32,
    /// Micro-batches of a replica in an iteration.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub micro_batches: u32,
    /// Ranks of tensor parallelism.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub tp: u32,
    /// Stages of the pipeline.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub pp: u32,
    /// Replicas.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub dp: u32,
    /// Replicas over which the experts of a layer are spread.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub ep: u32,
    /// Experts of every layer; 0: a dense model.
    #[serde(default)]
    pub experts: u32,
    /// Experts of a token.
    #[serde(default)]
    pub top_k: u32,
    /// Sequence parallelism: ranks of tensor parallelism share the tokens between layers.
    #[serde(default)]
    pub sp: bool,
    /// Stage of ZeRO: 0, all-reduces of gradients; 1, reduce-scatters of gradients and all-gathers of parameters; 2,
    /// the reduce-scatters for each micro-batch; 3, all-gathers before each pass of a layer.
    #[serde(default)]
    #[schemars(range(max = 3))]
    pub zero: u8,
    /// Order of forward and backward passes.
    #[serde(default = "usual_schedule")]
    pub schedule: Word<Schedule>,
    /// Virtual stages of a rank, of `interleaved`.
    #[serde(default = "number::<1>", rename = "virtual")]
    #[schemars(range(min = 1))]
    pub chunks: u32,
    /// Bytes of a parameter and of an activation.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 1, max = 8))]
    pub bytes: u32,
    /// Bytes of a gradient.
    #[serde(default = "number::<4>")]
    #[schemars(range(min = 1, max = 8))]
    pub grad_bytes: u32,
    /// Floating-point operations that a GPU carries out in a second, from which times of calculations follow. In a
    /// result these times take its place.
    pub flops: Option<Flops>,
    /// Time of the forward pass of a layer on a rank, for one micro-batch.
    pub forward: Option<Time>,
    /// Time of the backward pass of a layer; default: twice `forward`.
    pub backward: Option<Time>,
    /// Time of the forward pass of the head; default: by its operations, as `forward`.
    pub head_forward: Option<Time>,
    /// Time of the backward pass of the head; default: twice `head_forward`.
    pub head_backward: Option<Time>,
    /// Part of a pass of a layer that is attention, before the feed-forward layer; default: by operations.
    #[schemars(range(min = 0, max = 1))]
    pub attention: Option<f64>,
    /// Part of a backward pass that is gradients of weights, which `zero-bubble` separates.
    #[serde(default = "thousandths::<500>")]
    #[schemars(range(min = 0, max = 1))]
    pub weights: f64,
    /// Dimensions whose communication calculations go on beside: `dp`, `pp`.
    #[serde(default = "usual_overlap")]
    pub overlap: Vec<Word<Dimension>>,
    /// A second forward pass of each layer before its backward pass.
    #[serde(default)]
    pub recompute: bool,
    /// Order of the dimensions in the numbers of ranks, the fastest first.
    #[serde(default = "usual_order")]
    pub order: String,
    /// Exponent of Zipf's law of the experts' popularity; default: all alike.
    #[schemars(range(min = 0, max = 20))]
    pub skew: Option<f64>,
    /// Size of a bucket of gradients; default: a layer.
    pub bucket: Option<Size>,
}

fn usual_schedule() -> Word<Schedule> {
    Word(Schedule::OneForwardOneBackward)
}

fn usual_overlap() -> Vec<Word<Dimension>> {
    vec![Word(Dimension::Dp)]
}

fn usual_order() -> String {
    Order::default().text()
}

words! {
    /// Schedule of a pipeline.
    "PipelineSchedule" Schedule {
        /// All forward passes, then all backward passes.
        "gpipe" => Schedule::GPipe,
        /// One forward and one backward pass in turn.
        "1f1b" => Schedule::OneForwardOneBackward,
        /// One forward and one backward pass in turn, with several virtual stages a rank.
        "interleaved" => Schedule::Interleaved,
        /// ZB-H1: gradients of weights fill bubbles.
        "zero-bubble" => Schedule::ZeroBubble,
    }
}

words! {
    /// Dimension of parallelism.
    "Parallelism" Dimension {
        /// Parts of tensors.
        "tp" => Dimension::Tp,
        /// Stages of a pipeline.
        "pp" => Dimension::Pp,
        /// Replicas.
        "dp" => Dimension::Dp,
    }
}

impl Llm {
    /// Numbers of the model, with times of calculations. Errors: those of [`Llm::check`], which come first.
    pub fn model(&self) -> Option<Model> {
        let usual = Model::new(self.layers.into(), self.hidden.into(), self.seq.into());
        let or = |given: Option<u32>, usual: u64| given.map_or(usual, u64::from);
        let heads = or(self.heads, usual.heads);
        let overlaps = |dimension| self.overlap.contains(&Word(dimension));
        let model = Model {
            ffn: or(self.ffn, usual.ffn),
            gated: self.gated,
            heads,
            kv_heads: or(self.kv_heads, heads),
            head_dim: or(self.head_dim, u64::from(self.hidden) / heads.max(1)),
            vocab: self.vocab.into(),
            micro_batch: self.micro_batch.into(),
            micro_batches: self.micro_batches.into(),
            tp: self.tp.into(),
            pp: self.pp.into(),
            dp: self.dp.into(),
            ep: self.ep.into(),
            experts: self.experts.into(),
            top_k: self.top_k.into(),
            sp: self.sp,
            zero: self.zero,
            schedule: self.schedule.0,
            chunks: self.chunks.into(),
            bytes: self.bytes.into(),
            grad_bytes: self.grad_bytes.into(),
            overlap: Overlap { dp: overlaps(Dimension::Dp), pp: overlaps(Dimension::Pp) },
            recompute: self.recompute,
            order: Order::named(&self.order)?,
            skew: self.skew,
            bucket: self.bucket.map(|size| size.0),
            ..usual
        };
        let [attention, feed_forward, head] = model.operations();
        let layer = attention + feed_forward;
        let mut times = match (self.flops, self.forward) {
            (Some(flops), _) => model.times_at(flops.0 as f64),
            // a head takes its time in proportion to its operations
            (None, Some(forward)) => model.times_at(layer / forward.0.as_secs_f64().max(1e-12)),
            (None, None) => return None,
        };
        let or = |given: Option<Time>, usual| given.map_or(usual, |time| time.0);
        times.forward = or(self.forward, times.forward);
        times.backward = or(self.backward, self.forward.map_or(times.backward, |time| time.0.saturating_mul(2)));
        times.head_forward = or(self.head_forward, if head > 0.0 { times.head_forward } else { Default::default() });
        times.head_backward =
            or(self.head_backward, self.head_forward.map_or(times.head_backward, |time| time.0.saturating_mul(2)));
        times.attention = self.attention.unwrap_or(times.attention);
        times.weights = self.weights;
        Some(Model { times, ..model })
    }

    /// The same with all times written out in place of a rate.
    pub(crate) fn resolved(&self) -> Llm {
        let Some(model) = self.model() else { return self.clone() };
        let (times, some) = (model.times, |time| Some(Time(time)));
        Llm {
            flops: None,
            forward: some(times.forward),
            backward: some(times.backward),
            head_forward: some(times.head_forward),
            head_backward: some(times.head_backward),
            attention: Some(times.attention),
            ffn: Some(model.ffn as u32),
            heads: Some(model.heads as u32),
            kv_heads: Some(model.kv_heads as u32),
            head_dim: Some(model.head_dim as u32),
            ..self.clone()
        }
    }

    /// Reports numbers that do not fit together.
    pub(crate) fn check(&self, at: &mut Report) {
        if Order::named(&self.order).is_none() {
            at.text("order", &self.order, "expected tp, pp and dp, each once, such as \"tp,pp,dp\"");
        }
        if let Some(other) = self.overlap.iter().find(|one| one.0 == Dimension::Tp) {
            at.text("overlap", other.word(), "calculations wait for these collectives; expected \"dp\" or \"pp\"");
        }
        match (self.flops, self.forward) {
            (None, None) => at.key("flops", "missing; expected a rate of a GPU, such as \"400Tflops\", or forward"),
            (Some(_), Some(forward)) => at.text("forward", forward, "flops has the times; expected one of both"),
            _ => {}
        }
        let heads = self.heads.map_or(u64::from(self.hidden / 128).max(1), u64::from);
        if self.head_dim.is_none() && u64::from(self.hidden) % heads != 0 {
            at.value("heads", heads, format!("expected a divisor of hidden = {}, or head_dim", self.hidden));
        }
        for wrong in self.model().into_iter().flat_map(|model| model.check()) {
            at.value(wrong.key, wrong.value, wrong.expected);
        }
    }

    /// Reads pairs of a key and a value, written as in `--set`: the numbers of `incast workload llm`.
    pub fn read(pairs: &[(String, String)]) -> Result<Llm, Errors> {
        static SCHEMA: OnceLock<Json> = OnceLock::new();
        let schema = Schema::new(SCHEMA.get_or_init(made::<Llm>));
        let mut table = toml::Table::new();
        for (key, text) in pairs {
            let Some(found) = schema.find(&[key], None) else {
                let known = schema.key_names(None);
                return Err(Problem::new(key, "no such key")
                    .among(key, "expected one of", &known, "incast describe traffic job")
                    .into());
            };
            let mut value = found.read(text);
            if found.is_list() && value.is_str() {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                value = Toml::Array(words.map(|word| Toml::String(word.to_owned())).collect());
            }
            canonical(&mut value, found, &Path::new(".").into());
            table.insert(key.clone(), value);
        }
        let value = Toml::Table(table);
        let mut problems = Vec::new();
        schema.check(&value, "", &mut problems);
        problems.iter_mut().for_each(|problem| problem.key = problem.key.trim_start_matches('.').to_owned());
        if !problems.is_empty() {
            return Err(Errors(problems));
        }
        let made: Llm = read(value).map_err(|e| Problem::new("llm", e.message()))?;
        made.check(&mut Report::new("llm", &mut problems));
        problems.iter_mut().for_each(|problem| problem.key = problem.key.trim_start_matches("llm.").to_owned());
        Errors::unless_none(problems, made)
    }
}
