//! Facts that all ranks of a job share.

use super::layout::{Group, Layout};
use super::model::Model;
use crate::collective::{parts, shares};
use std::sync::Arc;

/// Collectives or messages of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Volume {
    /// Tasks: members of collectives, senders of messages.
    pub tasks: u64,
    /// Bytes of these tasks: the total S of its collective for each member, or the message.
    pub bytes: u64,
}

impl Volume {
    /// Adds a task.
    pub(super) fn add(&mut self, bytes: u64) {
        self.tasks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Facts that all ranks share while their tasks are made.
pub(super) struct Plan<'m> {
    pub model: &'m Model,
    pub layout: Layout,
    /// Bytes that each rank with experts takes of one sender, by layer in turns; empty without skew.
    parts: Vec<Arc<[u64]>>,
    /// Bytes of all pairs of a dispatch and of a combine, by the same turns.
    pairs: Vec<[Arc<[u64]>; 2]>,
}

impl Plan<'_> {
    /// Plan of a model that fits.
    pub fn of(model: &Model) -> Plan<'_> {
        let (mut of_turns, mut pairs) = (Vec::new(), Vec::new());
        if let Some(z) = model.skew.filter(|_| model.ep > 1) {
            let shares = shares(model.experts, model.top_k, z);
            for turn in 0..model.ep.min(model.layers) {
                let own: Arc<[u64]> = parts(&shares, model.ep, turn, model.sizes().ep as u64).into();
                let senders = 0..model.ep as usize;
                let dispatch: Arc<[u64]> = senders.clone().flat_map(|_| own.iter().copied()).collect();
                let combine = senders.flat_map(|from| own.iter().map(move |_| from)).map(|from| own[from]).collect();
                of_turns.push(own);
                pairs.push([dispatch, combine]);
            }
        }
        let layout = Layout::new([model.tp, model.pp, model.dp], model.order, model.ep);
        Plan { model, layout, parts: of_turns, pairs }
    }

    /// Bytes of the pairs of the dispatch and of the combine of a layer's tokens; none: all alike.
    pub fn pairs(&self, layer: u64) -> Option<&[Arc<[u64]>; 2]> {
        self.pairs.get((layer % self.pairs.len().max(1) as u64) as usize)
    }

    /// Bytes that the experts of a layer at a position take, and those that they take on average.
    pub fn load(&self, layer: u64, position: u64) -> (u64, u64) {
        let mean = self.model.sizes().ep as u64;
        let own = self.parts.get((layer % self.parts.len().max(1) as u64) as usize);
        (own.map_or(mean, |own| own[position as usize] * self.model.ep), mean)
    }
}

/// Number of the dimension of a group in `Made::volumes`.
pub(super) const fn dimension(group: Group) -> usize {
    match group {
        Group::Tp => 0,
        Group::Dp | Group::Experts => 2,
        Group::Ep => 3,
    }
}
