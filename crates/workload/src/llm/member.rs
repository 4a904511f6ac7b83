//! Tasks of one rank, pass after pass.

use super::comms::Comms;
use super::layout::{At, Group};
use super::model::Model;
use super::plan::{Plan, Volume, dimension};
use super::schedule::{Op, Pass, Schedule};
use super::sizes::Sizes;
use super::times::part;
use crate::graph::{Builder, Collective, Pattern, Refused, Task};
use incast_cc::{Bytes, Time};
use std::sync::Arc;

/// The rank whose tasks are made.
pub(super) struct Member<'b, 'm> {
    plan: &'b Plan<'m>,
    model: &'m Model,
    sizes: Sizes,
    job: &'b mut Builder,
    comms: &'b mut Comms,
    at: At,
    rank: u32,
    /// Calculations that have no task yet: neighbours become one.
    calc: Time,
    /// Tasks that the next one waits for.
    behind: Vec<u32>,
    /// The same at the start of the layer before: parameters are gathered from there on.
    ahead: Vec<u32>,
    /// Number of collectives in each of the rank's groups.
    turns: [usize; 4],
    /// The last collective of replicas: they follow each other.
    replicas: Option<u32>,
    /// Parameters whose gradients are in no bucket yet: of the replicas' layers, of experts.
    pending: [u128; 2],
    /// Buckets whose parameters are gathered in the end, with their groups.
    gathers: Vec<(Group, u128)>,
    /// True in passes of the last micro-batch.
    is_final: bool,
    volumes: [Volume; 4],
}

/// Directions of the data in a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

impl<'b, 'm> Member<'b, 'm> {
    pub fn new(plan: &'b Plan<'m>, job: &'b mut Builder, comms: &'b mut Comms, at: At) -> Member<'b, 'm> {
        let model = plan.model;
        Member {
            plan,
            model,
            sizes: model.sizes(),
            job,
            comms,
            at,
            rank: plan.layout.rank(at),
            calc: Time::ZERO,
            behind: Vec::new(),
            ahead: Vec::new(),
            turns: [0; 4],
            replicas: None,
            pending: [0; 2],
            gathers: Vec::new(),
            is_final: false,
            volumes: [Volume::default(); 4],
        }
    }

    /// Adds a pass of a micro-batch through a virtual stage.
    pub fn pass(&mut self, op: Op) -> Result<(), Refused> {
        let model = self.model;
        let stages = model.pp * model.chunks;
        let stage = op.chunk * model.pp + self.at.p;
        let count = model.layers_of_chunk();
        let layers = stage * count..(stage + 1) * count;
        let (is_first, is_last) = (stage == 0, stage + 1 == stages);
        // gradients are whole with the last micro-batch; later stages of ZeRO do not keep those of others
        self.is_final = op.batch + 1 == model.micro_batches;
        let whole = model.zero > 1 || self.is_final;
        match op.pass {
            Pass::Forward => {
                if !is_first {
                    self.receive(stage - 1, op.batch, Way::Forward)?;
                } else {
                    self.gather([self.sizes.vocab, 0])?;
                }
                for layer in layers {
                    self.gather([self.sizes.dense, self.sizes.sparse])?;
                    self.forward(layer)?;
                }
                if is_last {
                    self.gather([self.sizes.vocab, 0])?;
                    self.work(model.times.head_forward);
                } else {
                    self.send(stage + 1, stage, op.batch, Way::Forward)?;
                }
            }
            Pass::Backward => {
                let split = model.schedule == Schedule::ZeroBubble;
                let own = if split { 1.0 - model.times.weights } else { 1.0 };
                if !is_last {
                    self.receive(stage + 1, op.batch, Way::Backward)?;
                } else {
                    self.gather([self.sizes.vocab, 0])?;
                    self.work(part(model.times.head_backward, own));
                    self.gradients([self.sizes.vocab, 0], whole && !split)?;
                }
                for layer in layers.rev() {
                    self.gather([self.sizes.dense, self.sizes.sparse])?;
                    if model.recompute {
                        self.forward(layer)?;
                    }
                    self.backward(layer, own)?;
                    self.gradients([self.sizes.dense, self.sizes.sparse], whole && !split)?;
                }
                if is_first {
                    self.gradients([self.sizes.vocab, 0], whole && !split)?;
                } else {
                    self.send(stage - 1, stage, op.batch, Way::Backward)?;
                }
            }
            Pass::Weights => {
                if is_last {
                    self.work(self.rest(model.times.head_backward));
                    self.gradients([self.sizes.vocab, 0], whole)?;
                }
                for layer in layers.rev() {
                    self.work(self.weights(layer));
                    self.gradients([self.sizes.dense, self.sizes.sparse], whole)?;
                }
                if is_first {
                    self.gradients([self.sizes.vocab, 0], whole)?;
                }
            }
        }
        if whole && model.zero > 1 {
            self.bucket(true)?;
        }
        self.settle()
    }

    /// Ends the rank: the last bucket of gradients, and the parameters that ZeRO gathers. Returns what it exchanges.
    pub fn end(mut self) -> Result<[Volume; 4], Refused> {
        self.bucket(true)?;
        if matches!(self.model.zero, 1 | 2) {
            self.settle()?;
            // an optimizer needs all gradients: it clips them by their norm
            let mut after = self.behind.clone();
            after.extend(self.replicas);
            for (group, parameters) in std::mem::take(&mut self.gathers) {
                let bytes = parameters * self.sizes.bytes;
                after = vec![self.collective(group, Pattern::AllGather, bytes, None, &after)?];
            }
        }
        Ok(self.volumes)
    }

    fn add(&mut self, task: Task, after: &[u32]) -> Result<u32, Refused> {
        let index = self.job.task(self.rank, task)?;
        let mut after = after.to_vec();
        after.sort_unstable();
        after.dedup();
        for earlier in after {
            self.job.requires(self.rank, index, earlier)?;
        }
        Ok(index)
    }

    /// Adds a calculation to those that become one task.
    fn work(&mut self, time: Time) {
        self.calc = self.calc.saturating_add(time);
    }

    /// Adds the calculations so far as one task.
    fn settle(&mut self) -> Result<(), Refused> {
        if self.calc > Time::ZERO {
            let behind = std::mem::take(&mut self.behind);
            let index = self.add(Task::calc(self.calc), &behind)?;
            (self.calc, self.behind) = (Time::ZERO, vec![index]);
        }
        Ok(())
    }

    fn collective(
        &mut self,
        group: Group,
        pattern: Pattern,
        bytes: u128,
        sizes: Option<Arc<[u64]>>,
        after: &[u32],
    ) -> Result<u32, Refused> {
        let bytes = bytes as u64;
        let turn = self.turns[group as usize];
        self.turns[group as usize] += 1;
        let what = |group| Collective { sizes, ..Collective::new(pattern, group, Bytes(bytes)) };
        let task = self.comms.task(self.job, &self.plan.layout, (group, self.at), turn, what);
        self.volumes[dimension(group)].add(bytes);
        self.add(task, after)
    }

    /// Adds a collective that calculations wait for; none in a group of one.
    fn blocking(
        &mut self,
        group: Group,
        pattern: Pattern,
        bytes: u128,
        sizes: Option<Arc<[u64]>>,
    ) -> Result<(), Refused> {
        if self.plan.layout.size(group) < 2 {
            return Ok(());
        }
        self.settle()?;
        let behind = std::mem::take(&mut self.behind);
        self.behind = vec![self.collective(group, pattern, bytes, sizes, &behind)?];
        Ok(())
    }

    /// Rank of the pipeline with a virtual stage.
    fn neighbour(&self, stage: u64) -> u32 {
        self.plan.layout.rank(At { p: stage % self.model.pp, ..self.at })
    }

    /// Tag of the message of a micro-batch from a virtual stage.
    fn tag(&self, from: u64, batch: u64, way: Way) -> u32 {
        let message = from * self.model.micro_batches + batch;
        (2 * message + u64::from(way == Way::Backward)) as u32
    }

    fn send(&mut self, to: u64, from: u64, batch: u64, way: Way) -> Result<(), Refused> {
        self.settle()?;
        let bytes = self.sizes.pp as u64;
        let task = Task::send(Bytes(bytes), self.neighbour(to)).tagged(self.tag(from, batch, way)).on_stream(1);
        let behind = self.behind.clone();
        let sent = self.add(task, &behind)?;
        self.volumes[1].add(bytes);
        if !self.model.overlap.pp {
            self.behind = vec![sent];
        }
        Ok(())
    }

    /// Adds a receive, which is posted from the start; what follows waits for it.
    fn receive(&mut self, from: u64, batch: u64, way: Way) -> Result<(), Refused> {
        let peer = self.neighbour(from);
        let task = Task::recv(Bytes(self.sizes.pp as u64), peer).tagged(self.tag(from, batch, way)).on_stream(1);
        let received = self.add(task, &[])?;
        self.behind.push(received);
        Ok(())
    }

    /// Forward pass of a layer: attention, then the feed-forward layer or the experts.
    fn forward(&mut self, layer: u64) -> Result<(), Refused> {
        let time = self.model.times.forward;
        let attention = part(time, self.model.times.attention);
        self.tensor(Pattern::AllGather, self.sizes.tp)?;
        self.work(attention);
        self.tensor(Pattern::ReduceScatter, self.sizes.tp)?;
        self.feed_forward(layer, time.saturating_sub(attention))
    }

    /// Backward pass of a layer, or a part of it.
    fn backward(&mut self, layer: u64, own: f64) -> Result<(), Refused> {
        let time = self.model.times.backward;
        let attention = part(time, self.model.times.attention);
        self.feed_forward(layer, part(time.saturating_sub(attention), own))?;
        self.tensor(Pattern::AllGather, self.sizes.tp)?;
        self.work(part(attention, own));
        self.tensor(Pattern::ReduceScatter, self.sizes.tp)
    }

    /// Feed-forward part of a layer with its collectives. Experts have tokens sent to them and back, with tensor
    /// parallelism those of all parts of a tensor. Gradients of a backward pass go the same ways: those of results to
    /// the experts, those of tokens back.
    fn feed_forward(&mut self, layer: u64, time: Time) -> Result<(), Refused> {
        if !self.model.is_sparse() {
            self.tensor(Pattern::AllGather, self.sizes.tp)?;
            self.work(time);
            return self.tensor(Pattern::ReduceScatter, self.sizes.tp);
        }
        let pairs = self.plan.pairs(layer);
        let [dispatch, combine] = [0, 1].map(|i| pairs.map(|pairs| pairs[i].clone()));
        let (load, _) = self.load(layer);
        let routed = u128::from(load) * u128::from(self.model.tp);
        self.blocking(Group::Ep, Pattern::AllToAll, self.sizes.ep, dispatch)?;
        self.tensor(Pattern::AllGather, routed)?;
        self.work(self.loaded(layer, time));
        self.tensor(Pattern::ReduceScatter, routed)?;
        self.blocking(Group::Ep, Pattern::AllToAll, self.sizes.ep, combine)
    }

    /// Collective of tensor parallelism. Without sequence parallelism an all-reduce stands for both: it comes where the
    /// reduce-scatter would.
    fn tensor(&mut self, pattern: Pattern, bytes: u128) -> Result<(), Refused> {
        match (self.model.sp, pattern) {
            (true, pattern) => self.blocking(Group::Tp, pattern, bytes, None),
            (false, Pattern::ReduceScatter) => self.blocking(Group::Tp, Pattern::AllReduce, bytes, None),
            _ => Ok(()),
        }
    }

    fn load(&self, layer: u64) -> (u64, u64) {
        self.plan.load(layer, self.plan.layout.position(Group::Ep, self.at))
    }

    /// Time of experts with the tokens that they get.
    fn loaded(&self, layer: u64, time: Time) -> Time {
        let (own, mean) = self.load(layer);
        if own == mean { time } else { part(time, own as f64 / mean as f64) }
    }

    /// Part of a backward pass that is gradients of weights.
    fn rest(&self, time: Time) -> Time {
        time.saturating_sub(part(time, 1.0 - self.model.times.weights))
    }

    /// Gradients of the weights of a layer.
    fn weights(&self, layer: u64) -> Time {
        let time = self.model.times.backward;
        let attention = part(time, self.model.times.attention);
        self.rest(attention).saturating_add(self.loaded(layer, self.rest(time.saturating_sub(attention))))
    }

    /// Gathers parameters before a layer, as the last stage of ZeRO does: of the replicas' part and of experts.
    fn gather(&mut self, parameters: [u128; 2]) -> Result<(), Refused> {
        if self.model.zero < 3 || parameters == [0; 2] {
            return Ok(());
        }
        self.settle()?;
        let mut after = self.behind.clone();
        if self.model.overlap.dp {
            after = std::mem::replace(&mut self.ahead, after);
        }
        for (group, parameters) in [Group::Dp, Group::Experts].into_iter().zip(parameters) {
            if parameters > 0 && self.plan.layout.size(group) > 1 {
                let gathered = self.replicas(group, Pattern::AllGather, parameters * self.sizes.bytes, &after)?;
                self.behind.push(gathered);
            }
        }
        Ok(())
    }

    /// Adds a collective of replicas, behind the last one.
    fn replicas(&mut self, group: Group, pattern: Pattern, bytes: u128, after: &[u32]) -> Result<u32, Refused> {
        let mut after = after.to_vec();
        after.extend(self.replicas);
        let index = self.collective(group, pattern, bytes, None, &after)?;
        self.replicas = Some(index);
        Ok(index)
    }

    /// Takes the gradients of a layer into buckets, if they are whole.
    fn gradients(&mut self, parameters: [u128; 2], whole: bool) -> Result<(), Refused> {
        if !whole {
            return Ok(());
        }
        self.pending = [0, 1].map(|i| self.pending[i] + parameters[i]);
        // without overlap they wait for the end of the iteration, or of the pass
        if self.model.overlap.dp { self.bucket(false) } else { Ok(()) }
    }

    /// Sends off full buckets, and all that is left with `rest`.
    fn bucket(&mut self, rest: bool) -> Result<(), Refused> {
        let size = self.model.bucket.map_or(u128::MAX, |bucket| u128::from(bucket.0) / self.sizes.grad_bytes);
        let layers = self.model.bucket.is_none();
        for (i, group) in [Group::Dp, Group::Experts].into_iter().enumerate() {
            if self.plan.layout.size(group) < 2 {
                self.pending[i] = 0;
            }
            while self.pending[i] > 0 && (rest || layers || self.pending[i] >= size) {
                let parameters = self.pending[i].min(size);
                self.pending[i] -= parameters;
                self.reduce(group, parameters)?;
            }
        }
        Ok(())
    }

    /// Adds up a bucket of gradients over replicas.
    fn reduce(&mut self, group: Group, parameters: u128) -> Result<(), Refused> {
        self.settle()?;
        let pattern = if self.model.zero == 0 { Pattern::AllReduce } else { Pattern::ReduceScatter };
        let behind = self.behind.clone();
        let reduced = self.replicas(group, pattern, parameters * self.sizes.grad_bytes, &behind)?;
        if !self.model.overlap.dp {
            self.behind = vec![reduced];
        }
        if self.is_final {
            self.gathers.push((group, parameters));
        }
        Ok(())
    }
}
