//! Tasks of one member of a collective, as they are added to its rank.

use crate::graph::{RankBuilder, Refused, Task};
use incast_cc::{Bytes, Rate};
use std::collections::BTreeMap;

/// The member whose tasks are added.
pub(super) struct Member<'b> {
    tasks: &'b mut RankBuilder,
    /// Ranks by position.
    ranks: &'b [u32],
    /// Position of the member.
    pub position: u64,
    first: u32,
    tag: u32,
    stream: u8,
    nic: u8,
    reduce: Option<Rate>,
    credits: u32,
    /// Tasks from `first` on that have a successor.
    joined: Vec<bool>,
    /// Sends by receiver and channel, in their order.
    sends: BTreeMap<(u64, u32), Vec<u32>>,
}

/// Surroundings of a member.
pub(super) struct Setting<'b> {
    pub ranks: &'b [u32],
    pub position: u64,
    pub tag: u32,
    pub stream: u8,
    pub nic: u8,
    pub reduce: Option<Rate>,
    pub credits: u32,
}

impl<'b> Member<'b> {
    /// Begins with a point that the first tasks wait for.
    pub fn begin(tasks: &'b mut RankBuilder, at: Setting<'b>) -> Result<Member<'b>, Refused> {
        let Setting { ranks, position, tag, stream, nic, reduce, credits } = at;
        let first = tasks.task(Task::nop().on_stream(stream))?;
        let (joined, sends) = (vec![false], BTreeMap::new());
        Ok(Member { tasks, ranks, position, first, tag, stream, nic, reduce, credits, joined, sends })
    }

    fn add(&mut self, task: Task, after: &[u32]) -> Result<u32, Refused> {
        let index = self.tasks.task(task.on_stream(self.stream))?;
        self.joined.push(false);
        let start = [self.first];
        for &earlier in if after.is_empty() { &start[..] } else { after } {
            self.tasks.requires(index, earlier)?;
            self.joined[(earlier - self.first) as usize] = true;
        }
        Ok(index)
    }

    fn rank(&self, position: u64) -> u32 {
        self.ranks.get(position as usize).copied().unwrap_or(0)
    }

    /// Sends to a position.
    pub fn send(&mut self, to: u64, bytes: u64, channel: u32, after: &[u32]) -> Result<u32, Refused> {
        let task = Task::send(Bytes(bytes), self.rank(to)).tagged(self.tag + channel).at_nic(self.nic);
        let index = self.add(task, after)?;
        let sends = self.sends.entry((to, channel)).or_default();
        sends.push(index);
        if let (1.., Some(before)) = (self.credits, sends.len().checked_sub(1 + self.credits as usize)) {
            self.tasks.requires(index, sends[before])?;
        }
        Ok(index)
    }

    /// Receives from a position.
    pub fn recv(&mut self, from: u64, bytes: u64, channel: u32, after: &[u32]) -> Result<u32, Refused> {
        let task = Task::recv(Bytes(bytes), self.rank(from)).tagged(self.tag + channel).at_nic(self.nic);
        self.add(task, after)
    }

    /// Reduces received data; without a rate of reductions the receive stands for it.
    pub fn reduce(&mut self, bytes: u64, received: u32) -> Result<u32, Refused> {
        match self.reduce {
            Some(rate) => self.add(Task::calc(rate.serialize(bytes)), &[received]),
            None => Ok(received),
        }
    }

    /// Ends with a point behind all tasks that nothing waits for; of the sends to one receiver behind the last.
    pub fn end(mut self) -> Result<(u32, u32), Refused> {
        let last: Vec<u32> = self.sends.values().filter_map(|sends| sends.last().copied()).collect();
        for sends in self.sends.values() {
            for send in sends {
                self.joined[(send - self.first) as usize] = true;
            }
        }
        let open = (0..self.joined.len() as u32).filter(|i| !self.joined[*i as usize]).map(|i| self.first + i);
        let mut behind: Vec<u32> = open.chain(last).collect();
        behind.sort_unstable();
        behind.dedup();
        let end = self.add(Task::nop(), &behind)?;
        Ok((self.first, end))
    }
}
