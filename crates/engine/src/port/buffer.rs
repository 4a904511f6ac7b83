//! Shared buffer of a switch with dynamic thresholds.
//!
//! Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches" (IEEE/ACM
//! Transactions on Networking 6(2), 1998): with a buffer of B bytes, a queue accepts an arrival while it holds less
//! than T = alpha (B - sum of all queues). With S saturated queues, each holds alpha B / (1 + alpha S), and B / (1 +
//! alpha S) stays free for new ones.
//!
//! A queue may have a reserve, as in real switches: bytes up to the reserve are not counted, and the rest of the
//! buffer, without all reserves, is shared by the rule. A packet occupies the buffer from its arrival to the end of its
//! transmission.
//!
//! With priority flow control ([`pfc`](crate::node::pfc)), packets of lossless classes belong to the account of their
//! ingress link, not to their queue. The rule is that of the switch model in HPCC's simulator (`switch-mmu.cc` of
//! alibaba-edu/High-Precision-Congestion-Control). A packet goes to the reserve and the shared part while the account's
//! share of the latter does not exceed its threshold, otherwise to the account's headroom; if that is full, it is
//! dropped. Departures empty the headroom first. The neighbour is paused while the headroom is in use or the share has
//! reached the threshold. It is also paused if another packet of the last size would not fit, which is not a rule of
//! HPCC and matters only with almost no headroom. It resumes when the headroom is empty and the share is zero or a
//! margin below the threshold. Reserves and headrooms of all accounts are taken out of the total size. An account
//! counts packets with the overhead of their ingress link, so that its headroom holds everything the link can bring,
//! whatever overhead the egress port adds.

use crate::event::packet::Packet;
use crate::ids::LinkId;
use crate::spec::{BufferSpec, PfcRule, PfcSpec, Threshold};
use incast_cc::Time;

/// Shared part of a switch's buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    free: u64,
    alpha: f64,
    reserve: u64,
    accounts: Vec<Account>,
    /// Bytes of all accounts, and their limit.
    inside: u64,
    most: u64,
}

/// Buffer account of one lossless class on one ingress link.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Ingress link of its packets.
    pub link: LinkId,
    /// Class.
    pub class: u8,
    /// Reserved bytes.
    pub reserve: u64,
    /// Headroom in bytes, for packets that arrive until the neighbour has stopped.
    pub headroom: u64,
    /// Threshold of its share in the shared part, above which packets go to the headroom.
    pub threshold: Threshold,
    /// Resume margin below the threshold, in bytes.
    pub margin: u64,
    /// Rule of pauses.
    pub rule: PfcRule,
    /// Bytes counted with every packet: the link's overhead, if queues count overhead.
    pub overhead: u64,
    /// Bytes in reserve and shared part.
    held: u64,
    /// Bytes in the headroom.
    in_headroom: u64,
    /// Time at which the neighbour was paused.
    paused: Option<Time>,
}

impl Account {
    /// Empty account of a class of a link under the rules of `pfc`, with its headroom and its overhead per packet in
    /// bytes.
    pub fn new(link: LinkId, class: u8, pfc: &PfcSpec, headroom: u64, threshold: Threshold, overhead: u64) -> Account {
        let (reserve, margin, rule) = (pfc.reserve, pfc.margin, pfc.rule);
        Account {
            link,
            class,
            reserve,
            headroom,
            threshold,
            margin,
            rule,
            overhead,
            held: 0,
            in_headroom: 0,
            paused: None,
        }
    }

    /// Bytes of the account, and those of them in the headroom.
    pub fn held(&self) -> (u64, u64) {
        (self.held + self.in_headroom, self.in_headroom)
    }

    /// True if the account is empty.
    pub fn is_empty(&self) -> bool {
        self.held + self.in_headroom == 0
    }

    fn share(&self) -> u64 {
        self.held.saturating_sub(self.reserve)
    }

    /// Returns whether a share of `share` bytes is within the threshold, with `free` bytes free.
    fn keeps(&self, share: u64, free: u64) -> bool {
        match self.threshold {
            Threshold::Dynamic(alpha) => share as f64 <= alpha * free as f64,
            Threshold::Fixed(max) => share <= max,
        }
    }

    /// Returns whether its share has reached the threshold, with `free` bytes free.
    fn has_reached(&self, free: u64) -> bool {
        match self.threshold {
            Threshold::Dynamic(alpha) => self.share() as f64 >= alpha * free as f64,
            Threshold::Fixed(max) => self.share() >= max,
        }
    }
}

/// Part of the buffer that a packet of an account occupies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Reserve and shared part; the share grows by this number of bytes.
    Shared(u64),
    Headroom,
}

/// Space in a shared buffer for a packet that arrives at a port.
#[derive(Debug)]
pub struct SharedBuffer<'a> {
    /// Buffer.
    pub pool: &'a mut Pool,
    /// PFC account of the packet; `None`: it counts for its queue.
    pub account: Option<u32>,
}

impl SharedBuffer<'_> {
    /// Returns whether there is space for `packet`, of `size` bytes in a queue that holds `held`.
    pub(super) fn takes(&self, packet: &Packet, held: u64, size: u64) -> bool {
        match self.account {
            Some(account) => self.pool.part(account, packet).is_some(),
            None => self.pool.takes(held, size),
        }
    }

    /// Space for `packet`, of `size` bytes in a queue that holds `held`; `None` if there is none.
    #[inline(always)]
    pub(super) fn space(&self, packet: &Packet, held: u64, size: u64) -> Option<Part> {
        match self.account {
            Some(account) => self.pool.part(account, packet),
            None => self.pool.takes(held, size).then(|| Part::Shared(self.pool.growth(held, size))),
        }
    }

    /// Reserves the [space](SharedBuffer::space) that was found.
    #[inline(always)]
    pub(super) fn fill(&mut self, packet: &Packet, space: Part) {
        match (self.account, space) {
            (Some(account), space) => self.pool.enter_part(account, packet, space),
            (None, Part::Shared(growth)) => self.pool.free -= growth,
            (None, Part::Headroom) => {}
        }
    }

    /// Reserves the space.
    pub(super) fn take(&mut self, packet: &Packet, held: u64, size: u64) {
        match self.account {
            Some(account) => self.pool.enter(account, packet),
            None => self.pool.take(held, size),
        }
    }
}

impl Pool {
    /// Buffer of `size` bytes for `queues` queues with `reserve` reserved bytes each; `None` if the reserves exceed the
    /// size.
    pub fn new(size: u64, alpha: f64, reserve: u64, queues: u64) -> Option<Pool> {
        let free = size.checked_sub(reserve.checked_mul(queues)?)?;
        Some(Pool { free, alpha, reserve, accounts: Vec::new(), inside: 0, most: u64::MAX })
    }

    /// Adds accounts; `None` if their reserves and headrooms exceed the size.
    pub fn with_accounts(self, accounts: Vec<Account>) -> Option<Pool> {
        let own = accounts.iter().try_fold(0u64, |sum, a| sum.checked_add(a.reserve)?.checked_add(a.headroom))?;
        Some(Pool { free: self.free.checked_sub(own)?, accounts, ..self })
    }

    /// Buffer of a switch with `queues` queues that are not lossless; `None` if reserves and headrooms exceed its size.
    pub fn of(buffer: &BufferSpec, queues: u64, accounts: Vec<Account>) -> Option<Pool> {
        let on_top = buffer.pfc.as_ref().is_some_and(|pfc| pfc.on_top);
        let own = accounts.iter().map(|a| a.reserve.saturating_add(a.headroom)).fold(0, u64::saturating_add);
        let size = if on_top { buffer.size.saturating_add(own) } else { buffer.size };
        let pool = Pool::new(size, buffer.alpha, buffer.reserve, queues)?.with_accounts(accounts)?;
        Some(Pool { most: buffer.egress.unwrap_or(u64::MAX), ..pool })
    }

    /// Account number `i`.
    pub fn account(&self, i: u32) -> &Account {
        &self.accounts[i as usize]
    }

    /// All accounts, with their numbers.
    pub fn accounts(&self) -> impl Iterator<Item = (u32, &Account)> {
        (0..).zip(&self.accounts)
    }

    /// Bytes of an account, its reserve included, from which the neighbour is paused.
    pub fn pauses_from(&self, account: u32) -> u64 {
        let a = &self.accounts[account as usize];
        a.reserve.saturating_add(match a.threshold {
            Threshold::Dynamic(alpha) => (alpha * self.free as f64).ceil() as u64,
            Threshold::Fixed(max) => max,
        })
    }

    /// Time at which the neighbour was paused for an account, unless it has been resumed since.
    pub fn paused(&self, account: u32) -> Option<Time> {
        self.accounts[account as usize].paused
    }

    /// Part of the buffer for one more packet of an account; `None` if there is no space.
    #[inline]
    fn part(&self, account: u32, packet: &Packet) -> Option<Part> {
        let a = &self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        if self.inside + size > self.most {
            return None;
        }
        let share = (a.held + size).saturating_sub(a.reserve);
        let growth = share - a.share();
        let spills = a.rule == PfcRule::Ns3Datacenter && a.in_headroom > 0;
        if spills {
            return (a.in_headroom + size <= a.headroom).then_some(Part::Headroom);
        }
        if share == 0 || (growth <= self.free && a.keeps(share, self.free)) {
            return Some(Part::Shared(growth));
        }
        (a.in_headroom + size <= a.headroom).then_some(Part::Headroom)
    }

    /// Adds a packet of an account, for which there is space.
    fn enter(&mut self, account: u32, packet: &Packet) {
        let part = self.part(account, packet).unwrap_or(Part::Headroom);
        self.enter_part(account, packet, part);
    }

    /// Adds a packet of an account to this part.
    #[inline(always)]
    fn enter_part(&mut self, account: u32, packet: &Packet, part: Part) {
        let a = &mut self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        self.inside += size;
        if let Part::Shared(growth) = part {
            a.held += size;
            self.free -= growth;
        } else {
            a.in_headroom += size;
        }
    }

    /// Releases the space of a packet of `account`, or of `size` bytes in a queue that holds `held` bytes without it.
    #[inline]
    pub fn release(&mut self, packet: &Packet, account: Option<u32>, held: u64, size: u64) {
        match account {
            Some(account) => self.leave(account, packet),
            None => self.give_back(held, size),
        }
    }

    /// Releases the space of a packet. Returns its account if the account's neighbour is paused.
    #[inline(always)]
    pub(super) fn returns(&mut self, packet: &Packet, account: Option<u32>, held: u64, size: u64) -> Option<u32> {
        self.release(packet, account, held, size);
        account.filter(|account| self.accounts[*account as usize].paused.is_some())
    }

    /// Returns whether [`Pool::pauses`] may be true for an account that has gained `packet`.
    #[inline(always)]
    pub fn is_tight(&self, account: u32, packet: &Packet) -> bool {
        let a = &self.accounts[account as usize];
        let hpcc = || a.rule == PfcRule::Hpcc && (a.has_reached(self.free) || self.part(account, packet).is_none());
        a.in_headroom > 0 || hpcc()
    }

    /// Removes a packet of an account.
    #[inline]
    fn leave(&mut self, account: u32, packet: &Packet) {
        let a = &mut self.accounts[account as usize];
        let size = packet.size as u64 + a.overhead;
        self.inside -= size;
        let from_headroom = a.in_headroom.min(size);
        a.in_headroom -= from_headroom;
        let share = a.share();
        a.held -= size - from_headroom;
        self.free += share - a.share();
    }

    /// Returns whether the neighbour at the other end of an account's link must be paused at `now`, and records the
    /// pause. A pause is also needed if another packet like `packet` would not fit. A pause from before `cleared` no
    /// longer holds.
    pub fn pauses(&mut self, account: u32, packet: &Packet, now: Time, cleared: Option<Time>) -> bool {
        let full = self.part(account, packet).is_none();
        let a = &mut self.accounts[account as usize];
        let paused = a.paused.is_some_and(|since| cleared.is_none_or(|cleared| cleared <= since));
        let reached = match a.rule {
            PfcRule::Hpcc => full || a.has_reached(self.free),
            PfcRule::Ns3Datacenter => false,
        };
        let pauses = !paused && (reached || a.in_headroom > 0);
        if pauses {
            a.paused = Some(now);
        }
        pauses
    }

    /// Returns whether the neighbour must be resumed, and records it; see [`Pool::pauses`].
    pub fn resumes(&mut self, account: u32, cleared: Option<Time>) -> bool {
        let a = &mut self.accounts[account as usize];
        let Some(since) = a.paused else { return false };
        if cleared.is_some_and(|cleared| cleared > since) {
            a.paused = None;
            return false;
        }
        let low = a.share() == 0 || a.held < a.rule.resumes_below();
        let resumes = a.in_headroom == 0 && (low || a.keeps(a.share().saturating_add(a.margin), self.free));
        if resumes {
            a.paused = None;
        }
        resumes
    }

    /// Current threshold of the shared part of a queue, in bytes.
    pub fn threshold(&self) -> f64 {
        self.alpha * self.free as f64
    }

    /// Shared bytes that a queue uses when it grows from `held` by `size`.
    fn growth(&self, held: u64, size: u64) -> u64 {
        (held + size).saturating_sub(held.max(self.reserve))
    }

    /// Returns whether a queue that holds `held` bytes may take `size` more.
    pub fn takes(&self, held: u64, size: u64) -> bool {
        let growth = self.growth(held, size);
        growth == 0 || (growth <= self.free && (held.saturating_sub(self.reserve) as f64) < self.threshold())
    }

    /// Adds `size` bytes to a queue that held `held`.
    pub fn take(&mut self, held: u64, size: u64) {
        self.free -= self.growth(held, size);
    }

    /// Releases `size` bytes of a queue that holds `held` without them.
    pub fn give_back(&mut self, held: u64, size: u64) {
        self.free += self.growth(held, size);
    }
}
