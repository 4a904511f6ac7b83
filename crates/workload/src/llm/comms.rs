//! Groups and collectives of a job: members find theirs by the number of the ones before in the same group.

use super::layout::{At, Group, Layout};
use crate::graph::{Builder, Collective, Task};
use incast_cc::Bytes;
use std::collections::HashMap;

/// Groups and collectives so far.
#[derive(Default)]
pub(super) struct Comms {
    /// Group of its members, by kind and first rank.
    groups: HashMap<(Group, u32), u32>,
    /// Collectives of each group, in the order in which its members carry them out.
    collectives: Vec<Vec<(Bytes, u32)>>,
}

impl Comms {
    /// Task of a member in the `turn`-th collective of its group; the first member to come describes it.
    pub fn task(
        &mut self,
        job: &mut Builder,
        layout: &Layout,
        (group, at): (Group, At),
        turn: usize,
        what: impl FnOnce(u32) -> Collective,
    ) -> Task {
        let first = layout.rank(layout.member(group, at, 0));
        let index = *self.groups.entry((group, first)).or_insert_with(|| {
            let members = (0..layout.size(group)).map(|i| layout.rank(layout.member(group, at, i)));
            job.group(members.collect::<Vec<u32>>())
        });
        if self.collectives.len() <= index as usize {
            self.collectives.resize(index as usize + 1, Vec::new());
        }
        let known = &mut self.collectives[index as usize];
        if known.len() <= turn {
            let what = what(index);
            known.push((what.bytes, job.collective(what)));
        }
        let (bytes, collective) = known[turn];
        Task::collective(collective, layout.position(group, at) as u32, bytes).on_stream(1)
    }
}
