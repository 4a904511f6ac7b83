//! Schedules of a pipeline: the order in which a stage carries out its passes.

/// Schedule of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Schedule {
    /// All forward passes, then all backward passes (Huang and others, GPipe, 2019).
    GPipe,
    /// A backward pass as soon as there is one, as many forward passes before as stages follow (Narayanan and others,
    /// PipeDream-Flush, 2021).
    OneForwardOneBackward,
    /// The same with v virtual stages a rank (Narayanan and others, Megatron-LM, 2021, section 2.2.2).
    Interleaved,
    /// ZB-H1: gradients of weights wait, and fill what would be a bubble (Qi and others, 2024, section 2.2).
    ZeroBubble,
}

impl Schedule {
    /// All schedules.
    pub const ALL: [Schedule; 4] =
        [Schedule::GPipe, Schedule::OneForwardOneBackward, Schedule::Interleaved, Schedule::ZeroBubble];

    /// Name.
    pub const fn name(self) -> &'static str {
        ["gpipe", "1f1b", "interleaved", "zero-bubble"][self as usize]
    }
}

/// Kind of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// Forward.
    Forward,
    /// Backward: gradients of inputs, and of weights where no [`Pass::Weights`] follows.
    Backward,
    /// Gradients of weights.
    Weights,
}

/// A pass of a micro-batch through a virtual stage of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Kind.
    pub pass: Pass,
    /// Virtual stage of the rank.
    pub chunk: u64,
    /// Micro-batch.
    pub batch: u64,
}

/// Passes of one of `stages` stages, with `m` micro-batches and `v` virtual stages a rank, in their order.
pub fn ops(schedule: Schedule, stages: u64, v: u64, m: u64, stage: u64) -> Vec<Op> {
    match schedule {
        Schedule::GPipe => all(Pass::Forward, m).chain(all(Pass::Backward, m)).collect(),
        Schedule::OneForwardOneBackward => one_by_one(stages - 1 - stage, m, |_, passes, backward| {
            passes.push(backward);
        }),
        Schedule::ZeroBubble => {
            let mut passes = one_by_one(stages - 1 - stage, m, |batch, passes, backward| {
                passes.push(backward);
                // stage i is i micro-batches late: no stage keeps more than the first
                if batch >= stage {
                    passes.push(Op { pass: Pass::Weights, batch: batch - stage, ..backward });
                }
            });
            passes.extend((m.saturating_sub(stage)..m).map(|batch| Op { pass: Pass::Weights, chunk: 0, batch }));
            passes
        }
        Schedule::Interleaved => interleaved(stages, v, m, stage),
    }
}

fn all(pass: Pass, m: u64) -> impl Iterator<Item = Op> {
    (0..m).map(move |batch| Op { pass, chunk: 0, batch })
}

/// Forward passes that are ahead, one forward and one backward pass in turn, the other backward passes.
fn one_by_one(ahead: u64, m: u64, mut back: impl FnMut(u64, &mut Vec<Op>, Op)) -> Vec<Op> {
    let mut passes = Vec::with_capacity(3 * m as usize);
    let ahead = ahead.min(m);
    for batch in 0..m + ahead {
        if batch < m {
            passes.push(Op { pass: Pass::Forward, chunk: 0, batch });
        }
        if batch >= ahead {
            let batch = batch - ahead;
            back(batch, &mut passes, Op { pass: Pass::Backward, chunk: 0, batch });
        }
    }
    passes
}

/// Order of Megatron-LM (`forward_backward_pipelining_with_interleaving`): groups of as many micro-batches as stages go
/// through all virtual stages of a rank.
fn interleaved(stages: u64, v: u64, m: u64, stage: u64) -> Vec<Op> {
    let total = m * v;
    let ahead = (2 * (stages - 1 - stage) + (v - 1) * stages).min(total);
    let nth = |k: u64| (k % (stages * v) / stages, k / (stages * v) * stages + k % stages);
    let mut passes = Vec::with_capacity(2 * total as usize);
    for k in 0..total + ahead {
        if k < total {
            let (chunk, batch) = nth(k);
            passes.push(Op { pass: Pass::Forward, chunk, batch });
        }
        if k >= ahead {
            let (chunk, batch) = nth(k - ahead);
            passes.push(Op { pass: Pass::Backward, chunk: v - 1 - chunk, batch });
        }
    }
    passes
}
