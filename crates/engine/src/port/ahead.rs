//! Queues in front of a port: packets in its host's fair NIC count as waiting at the port.
//!
//! The NIC holds the packets, and notifies the port before every change, so that the account covers the time until
//! then, with all samples and interval ends that are due. A port that programs or time series read in between is
//! notified after the change, too.

use super::account::Ahead;
use super::port::Port;
use crate::event::interval::Interval;
use incast_cc::Time;

impl Port {
    /// Accounts for the time until `now`, before the packets in front change; `whole` also has the next packet.
    #[inline(always)]
    pub fn passes_ahead(&mut self, ahead: &Ahead, now: Time, interval: &Interval, whole: impl FnOnce() -> Ahead) {
        if now >= self.next_advance {
            self.advance_account_with(whole(), now, interval);
        }
        ahead.pass(now, &mut self.count);
    }

    #[cold]
    #[inline(never)]
    fn advance_account_with(&mut self, ahead: Ahead, now: Time, interval: &Interval) {
        let had_ahead = self.has_ahead;
        self.set_ahead(ahead);
        self.advance_account(now, interval);
        self.has_ahead = had_ahead;
    }

    /// Records the queue length after the NIC has taken a packet at `now`; `whole` also has the size of the next
    /// packet.
    #[inline(always)]
    pub fn holds_ahead(&mut self, ahead: &Ahead, now: Time, whole: impl FnOnce() -> Ahead) {
        let (packets, bytes) = match self.ring.len == 1 && self.free_at > now {
            true => self.counted_behind(ahead, now),
            false => self.drained_behind(&whole(), now),
        };
        self.count.holds(packets, bytes);
    }

    /// [`Port::counted_behind`] at `now`, after removing departed packets.
    #[cold]
    fn drained_behind(&mut self, ahead: &Ahead, now: Time) -> (u32, u64) {
        self.drain(if self.orders_departures() { now.saturating_sub(Time::ps(1)) } else { now });
        self.counted_behind(ahead, now)
    }

    /// Sets the packets in front of the port, until the next call.
    pub fn set_ahead(&mut self, ahead: Ahead) {
        self.has_ahead = ahead.packets > 0;
        if self.has_ahead {
            **self.rare.ahead.get_or_insert_default() = ahead;
        }
    }

    /// Packets in front of the port, as last set.
    #[inline]
    pub(super) fn ahead(&self) -> Ahead {
        if self.has_ahead { self.rare.ahead.as_deref().copied().unwrap_or_default() } else { Ahead::default() }
    }

    /// Packets and bytes in front of the port that count as accepted. None if programs run at its node: they may hold
    /// or drop a packet between the NIC and the port.
    pub(super) fn accepted_ahead(&self) -> (u32, u64) {
        match self.is_programmed() {
            true => (0, 0),
            false => (self.ahead().packets, self.ahead().bytes),
        }
    }

    /// Packets and bytes that the discipline counts at `at`, with `ahead` in front of a FIFO port. If the port's last
    /// transmission ends at `at`, the next packet is about to be transmitted. If the port is empty without that, a
    /// program holds the packet in service, and all of `ahead` wait.
    #[inline(always)]
    pub(super) fn counted_behind(&self, ahead: &Ahead, at: Time) -> (u32, u64) {
        let ends = || self.bytes_in > 0 && self.latest().departure == at;
        match self.ring.len {
            0 if self.settings.device_queue > 0 && ends() => (ahead.packets - 1, ahead.bytes - ahead.next),
            here => (ahead.packets + self.counted(here), ahead.bytes + self.counted_bytes()),
        }
    }

    /// Updates the packets in front after the port has taken a packet.
    pub fn took(&mut self) {
        if self.has_ahead
            && let Some(ahead) = &mut self.rare.ahead
            && ahead.moves
        {
            let left = Ahead { packets: ahead.packets - 1, bytes: ahead.bytes - ahead.next, moves: false, ..**ahead };
            self.set_ahead(left);
        }
    }
}
