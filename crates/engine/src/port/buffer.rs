//! A buffer that the queues of a switch share, with dynamic thresholds.
//!
//! Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (IEEE/ACM
//! Transactions on Networking 6(2), 1998): with a buffer of B bytes a queue takes an arrival while it holds less than
//! T = alpha (B - sum of all queues). With S queues that always have more to take, each holds alpha B / (1 + alpha S),
//! and B / (1 + alpha S) stays free for those that come.
//!
//! A queue may have a reserve of its own, as switches have it: what it holds up to that is not counted, and the rest of
//! the buffer, less all reserves, is shared by the rule. A packet is in the buffer from its arrival to the end of its
//! transmission.
//!
//! With priority flow control ([`pfc`](crate::node::pfc)) packets of the protected classes are on the account of the
//! link that they came over, not of the queue that they wait in. The rule is that of the switch model of HPCC's
//! simulator (`switch-mmu.cc` of alibaba-edu/High-Precision-Congestion-Control): a packet goes to the reserve and the
//! shared part while the account's share of that does not exceed its threshold, else to the headroom of the account,
//! else it is dropped. What leaves empties the headroom first. The neighbour is to pause while the headroom is in use
//! or the share has reached the threshold (or there is no room for as much again as came last, which is no rule of
//! HPCC's: it matters where there is next to no headroom), and to resume when the headroom is empty and the share a
//! margin below the threshold, or nothing. Reserves and headrooms of all accounts are taken out of the whole. An
//! account counts packets as the link has them that they came over, so that its headroom holds what the link can bring
//! whatever the port adds that they leave by.

use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::spec::{PfcSpec, Threshold};
use incast_cc::Time;

/// The shared part of a switch's buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    free: u64,
    alpha: f64,
    reserve: u64,
    accounts: Vec<Account>,
}

/// The account in the buffer of a class that is paused rather than dropped, of one link into the switch.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Link that its packets come over.
    pub link: LinkId,
    /// Class.
    pub class: u8,
    /// Bytes that are its own.
    pub reserve: u64,
    /// Bytes for what comes until the neighbour has stopped.
    pub headroom: u64,
    /// Share of the rest, above which its packets go to the headroom.
    pub threshold: Threshold,
    /// The neighbour resumes when the share is so far below the threshold, bytes.
    pub margin: u64,
    /// Bytes that it counts with every packet: the link's overhead, where queues count theirs.
    pub overhead: u64,
    /// Bytes in reserve and shared part.
    held: u64,
    /// Bytes in the headroom.
    in_headroom: u64,
    /// The neighbour was told to pause then.
    paused: Option<Time>,
}

impl Account {
    /// The empty account of a class of a link under the rules of `pfc`; its headroom, and the overhead that it counts
    /// with every packet, in bytes.
    pub fn new(link: LinkId, class: u8, pfc: &PfcSpec, headroom: u64, threshold: Threshold, overhead: u64) -> Account {
        let (reserve, margin) = (pfc.reserve, pfc.margin);
        Account { link, class, reserve, headroom, threshold, margin, overhead, held: 0, in_headroom: 0, paused: None }
    }

    /// Nothing is on it.
    pub fn is_empty(&self) -> bool {
        self.held + self.in_headroom == 0
    }

    fn share(&self) -> u64 {
        self.held.saturating_sub(self.reserve)
    }

    /// Whether a share of so many bytes keeps to the threshold, so much being free.
    fn keeps(&self, share: u64, free: u64) -> bool {
        match self.threshold {
            Threshold::Dynamic(alpha) => share as f64 <= alpha * free as f64,
            Threshold::Fixed(most) => share <= most,
        }
    }

    /// Whether its share has reached the threshold, so much being free.
    fn has_reached(&self, free: u64) -> bool {
        match self.threshold {
            Threshold::Dynamic(alpha) => self.share() as f64 >= alpha * free as f64,
            Threshold::Fixed(most) => self.share() >= most,
        }
    }
}

/// Where a packet of an account goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// Its reserve and the shared part, which grows by so much.
    Shared(u64),
    Headroom,
}

/// A place in a shared buffer for a packet that comes to a port.
#[derive(Debug)]
pub struct Room<'a> {
    /// The buffer.
    pub pool: &'a mut Pool,
    /// The packet's account, where it is not on that of its queue.
    pub account: Option<u32>,
}

impl Room<'_> {
    /// Whether there is room for `packet`, `size` bytes to a queue that holds `held`.
    pub(super) fn takes(&self, packet: &Packet, held: u64, size: u64) -> bool {
        match self.account {
            Some(account) => self.pool.part(account, packet).is_some(),
            None => self.pool.takes(held, size),
        }
    }

    /// It is in it.
    pub(super) fn take(&mut self, packet: &Packet, held: u64, size: u64) {
        match self.account {
            Some(account) => self.pool.enter(account, packet),
            None => self.pool.take(held, size),
        }
    }
}

impl Pool {
    /// A buffer of `size` bytes for `queues` queues, of which each has `reserve` bytes for itself; `None` if the
    /// reserves are more than all.
    pub fn new(size: u64, alpha: f64, reserve: u64, queues: u64) -> Option<Pool> {
        let free = size.checked_sub(reserve.checked_mul(queues)?)?;
        Some(Pool { free, alpha, reserve, accounts: Vec::new() })
    }

    /// ... with accounts beside; `None` if they ask for more than all.
    pub fn with_accounts(self, accounts: Vec<Account>) -> Option<Pool> {
        let own = accounts.iter().try_fold(0u64, |sum, a| sum.checked_add(a.reserve)?.checked_add(a.headroom))?;
        Some(Pool { free: self.free.checked_sub(own)?, accounts, ..self })
    }

    /// Account number `i`.
    pub fn account(&self, i: u32) -> &Account {
        &self.accounts[i as usize]
    }

    /// When the neighbour was told to pause an account that it has not been told to resume.
    pub fn paused(&self, account: u32) -> Option<Time> {
        self.accounts[account as usize].paused
    }

    /// Where one more packet of an account goes, if anywhere.
    fn part(&self, account: u32, packet: &Packet) -> Option<Part> {
        let a = &self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        let share = (a.held + size).saturating_sub(a.reserve);
        let growth = share - a.share();
        if share == 0 || (growth <= self.free && a.keeps(share, self.free)) {
            return Some(Part::Shared(growth));
        }
        (a.in_headroom + size <= a.headroom).then_some(Part::Headroom)
    }

    /// A packet of an account comes that there is room for.
    fn enter(&mut self, account: u32, packet: &Packet) {
        let part = self.part(account, packet);
        let a = &mut self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        if let Some(Part::Shared(growth)) = part {
            a.held += size;
            self.free -= growth;
        } else {
            a.in_headroom += size;
        }
    }

    /// A packet leaves, that is on `account` or of `size` bytes in a queue that holds `held` without it.
    pub fn release(&mut self, packet: &Packet, account: Option<u32>, held: u64, size: u64) {
        match account {
            Some(account) => self.leave(account, packet),
            None => self.give_back(held, size),
        }
    }

    /// A packet of an account leaves.
    fn leave(&mut self, account: u32, packet: &Packet) {
        let a = &mut self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        let from_headroom = a.in_headroom.min(size);
        a.in_headroom -= from_headroom;
        let share = a.share();
        a.held -= size - from_headroom;
        self.free += share - a.share();
    }

    /// Whether the neighbour at the other end of an account's link is to be told to pause at `now`, as it is also
    /// where there is no room for another like `packet`; it then knows. A pause from before `cleared` holds no
    /// longer.
    pub fn pauses(&mut self, account: u32, packet: &Packet, now: Time, cleared: Option<Time>) -> bool {
        let full = self.part(account, packet).is_none();
        let a = &mut self.accounts[account as usize];
        let paused = a.paused.is_some_and(|since| cleared.is_none_or(|cleared| cleared <= since));
        let pauses = !paused && (full || a.in_headroom > 0 || a.has_reached(self.free));
        if pauses {
            a.paused = Some(now);
        }
        pauses
    }

    /// Whether it is to be told to resume, which it then knows; see [`Pool::pauses`].
    pub fn resumes(&mut self, account: u32, cleared: Option<Time>) -> bool {
        let a = &mut self.accounts[account as usize];
        let Some(since) = a.paused else { return false };
        if cleared.is_some_and(|cleared| cleared > since) {
            a.paused = None;
            return false;
        }
        let resumes = a.in_headroom == 0 && (a.share() == 0 || a.keeps(a.share().saturating_add(a.margin), self.free));
        if resumes {
            a.paused = None;
        }
        resumes
    }

    /// Bytes above which the shared part of a queue takes nothing now.
    pub fn threshold(&self) -> f64 {
        self.alpha * self.free as f64
    }

    /// Shared bytes that a queue takes when it grows from `held` by `size`.
    fn growth(&self, held: u64, size: u64) -> u64 {
        (held + size).saturating_sub(held.max(self.reserve))
    }

    /// Whether a queue that holds `held` bytes takes `size` more.
    pub fn takes(&self, held: u64, size: u64) -> bool {
        let growth = self.growth(held, size);
        growth == 0 || (growth <= self.free && (held.saturating_sub(self.reserve) as f64) < self.threshold())
    }

    /// A queue that held `held` bytes took `size` more.
    pub fn take(&mut self, held: u64, size: u64) {
        self.free -= self.growth(held, size);
    }

    /// `size` bytes left a queue that holds `held` without them.
    pub fn give_back(&mut self, held: u64, size: u64) {
        self.free += self.growth(held, size);
    }
}
