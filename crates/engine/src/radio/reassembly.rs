//! Reassembly of fragmented datagrams.

use incast_cc::Time;

/// A datagram with some fragments received.
#[derive(Clone, Copy, Debug)]
struct Partial {
    serial: u64,
    /// Bitmap of the fragments received.
    have: u64,
    /// Time at which it is given up.
    until: Time,
}

/// Incomplete datagrams, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Reassembly(Vec<Partial>);

impl Reassembly {
    /// Adds fragment `index` of `count` of datagram `serial`. The first one sets the deadline `until`. Returns whether
    /// the datagram is complete. Ignores a fragment that is already there.
    pub fn add(&mut self, serial: u64, index: u16, count: u16, until: Time) -> bool {
        let i = self.0.iter().position(|p| p.serial == serial).unwrap_or_else(|| {
            self.0.push(Partial { serial, have: 0, until });
            self.0.len() - 1
        });
        self.0[i].have |= 1 << index;
        let whole = self.0[i].have.count_ones() == count as u32;
        if whole {
            self.0.remove(i);
        }
        whole
    }

    /// Gives up expired datagrams. Returns their number.
    pub fn expire(&mut self, now: Time) -> u64 {
        let before = self.0.len();
        self.0.retain(|p| p.until > now);
        (before - self.0.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Reassembly;
    use incast_cc::Time;

    #[test]
    fn a_datagram_is_whole_once_all_its_fragments_have_come() {
        let mut waiting = Reassembly::default();
        assert!(!waiting.add(7, 1, 3, Time::s(60)));
        assert!(!waiting.add(7, 1, 3, Time::s(61)));
        assert!(!waiting.add(8, 0, 2, Time::s(62)));
        assert!(!waiting.add(7, 0, 3, Time::s(63)));
        assert!(waiting.add(7, 2, 3, Time::s(64)));
        // a repeated fragment starts a new datagram
        assert!(!waiting.add(7, 2, 3, Time::s(65)));
        assert_eq!(waiting.expire(Time::s(62)), 1);
        assert_eq!(waiting.expire(Time::s(65)), 1);
    }
}
