//! Message that a receiver serves: tokens given, tokens used, next packet. Pure.

use super::pacer::Eligibility;
use crate::ids::FlowId;
use crate::spec::PHost;
use crate::transport::packet::received::Received;
use crate::transport::packet::segmentation::Rank;
use crate::transport::phost::PacketTime;
use incast_cc::Time;

/// Message that tokens are given to.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// First packet, and the packet after the last.
    pub first: u32,
    /// See `first`.
    pub end: u32,
    /// Time of the announcement.
    pub since: Time,
    /// Number of missing packets.
    pub left: u32,
    /// Tokens given, initial ones included, and the number up to which they are given for now.
    tokens: u32,
    goal: u32,
    /// Token after the newest that data has used.
    tokens_used: u32,
    /// Packet after that of the last token.
    next_packet: u32,
    /// Time at which tokens for missing packets go again, once all have gone.
    reissue_at: Option<Time>,
    /// Time of the last token.
    last_token: Time,
}

impl Served {
    /// Serves, from `now` on, the message from packet `first` to before `end`, announced at `since`.
    pub fn new(
        own: &PHost,
        (first, end): (u32, u32),
        (since, now): (Time, Time),
        received: &Received,
        one: PacketTime,
    ) -> Served {
        let free = own.free_of(end - first);
        let mut message = Served {
            first,
            end,
            since,
            left: 0,
            tokens: free,
            goal: end - first,
            // packets that arrived before the message is served: the first tokens are for packets in order
            tokens_used: received.top().saturating_sub(first).min(free),
            next_packet: first + free,
            reissue_at: None,
            last_token: since,
        };
        message.count(received);
        if message.tokens >= message.goal {
            message.reissue_at = Some(now + one.times(2.0 * free as f64));
        }
        message
    }

    /// Counts the missing packets.
    fn count(&mut self, received: &Received) {
        let from = self.first.max(received.next());
        self.left = (from..self.end).filter(|number| !received.has(*number)).count() as u32;
    }

    /// Ends the message at `end`, as its sender has given up the rest. At most one token per remaining packet goes
    /// before tokens are repeated.
    pub fn shorten(&mut self, own: &PHost, end: u32, received: &Received, one: PacketTime) {
        self.end = end.max(self.first);
        self.count(received);
        self.goal = self.goal.min(self.tokens.max(self.end - self.first));
        if self.tokens >= self.goal && self.reissue_at.is_none() {
            self.reissue_at = Some(self.last_token.saturating_add(one.times(own.reissue)));
        }
    }

    /// Returns whether a packet belongs to the message.
    pub fn has(&self, number: u32) -> bool {
        (self.first..self.end).contains(&number)
    }

    /// Counts a packet that arrived for the first time.
    pub fn count_arrival(&mut self) {
        self.left -= 1;
    }

    /// Notes a packet that used `token`.
    pub fn use_token(&mut self, token: u32) {
        self.tokens_used = self.tokens_used.max(token.saturating_add(1));
    }

    /// Returns whether the limit of unused tokens is reached.
    fn is_paused(&self, own: &PHost) -> bool {
        self.tokens.saturating_sub(self.tokens_used) >= own.window
    }

    /// Position among the host's messages, with the time from which the message may have a token.
    pub fn eligibility(&self, own: &PHost, flow: FlowId, one: PacketTime) -> Eligibility {
        let rank = Rank { left: self.left as u64, since: self.since, flow };
        let from = match self.reissue_at {
            Some(at) => at,
            None if self.is_paused(own) => self.last_token.saturating_add(one.times(own.skip)),
            None => Time::ZERO,
        };
        Eligibility { rank, from }
    }

    /// Gives a token at `now`. Returns its packet and its number.
    pub fn give(&mut self, own: &PHost, now: Time, received: &Received, one: PacketTime) -> Option<(u32, u32)> {
        if self.reissue_at.take().is_some() {
            self.goal = self.tokens + self.left;
        }
        if self.is_paused(own) {
            // one more token, to see whether the sender responds
            self.tokens_used = self.tokens + 1 - own.window;
        }
        let number = self.next_missing(received)?;
        let token = self.tokens;
        (self.tokens, self.next_packet, self.last_token) = (token + 1, number + 1, now);
        if self.tokens >= self.goal {
            self.reissue_at = Some(now.saturating_add(one.times(own.reissue)));
        }
        Some((number, token))
    }

    /// Next missing packet after that of the last token; wraps around to the first.
    fn next_missing(&self, received: &Received) -> Option<u32> {
        let low = self.first.max(received.next());
        let from = if self.next_packet < self.end { self.next_packet.max(low) } else { low };
        (from..self.end).chain(low..from).find(|number| !received.has(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Free;

    /// Parameters of the authors' simulator.
    fn authors() -> PHost {
        PHost {
            free: Free::Short,
            free_packets: 8,
            gap: 1.0,
            expiry: 1.5,
            window: 8,
            skip: 25.0,
            reissue: 9.0,
            large: None,
        }
    }

    /// 1500 bytes at 10 Gb/s.
    const ONE: PacketTime = PacketTime(Time::ns(1200));

    fn served(own: &PHost, packets: u32) -> (Served, Received) {
        let received = Received::default();
        (Served::new(own, (0, packets), (Time::us(2), Time::us(2)), &received, ONE), received)
    }

    fn from(message: &Served, own: &PHost) -> Time {
        message.eligibility(own, FlowId(0), ONE).from
    }

    /// Gives ten tokens, one packet time apart; the packets of all but two arrive at once.
    fn all_of_ten_but_3_and_8(message: &mut Served, received: &mut Received) {
        for i in 0..10 {
            let now = Time::us(2) + Time::ns(1200) * i;
            let i = i as u32;
            assert_eq!(message.give(&authors(), now, received, ONE), Some((i, i)));
            if ![3, 8].contains(&i) {
                received.insert(i, 1460);
                message.count_arrival();
                message.use_token(i);
            }
        }
    }

    #[test]
    fn eight_tokens_unanswered_pause_a_message_for_25_packets() {
        let own = authors();
        let (mut message, received) = served(&own, 20);
        for i in 0..8 {
            assert_eq!(from(&message, &own), Time::ZERO);
            let now = Time::us(2) + Time::ns(1200) * i;
            assert_eq!(message.give(&own, now, &received, ONE), Some((i as u32, i as u32)));
        }
        // the ninth waits for 30 us, then goes alone
        let last = Time::ns(2000 + 7 * 1200);
        assert_eq!(from(&message, &own), last + Time::us(30));
        assert_eq!(message.give(&own, last + Time::us(30), &received, ONE), Some((8, 8)));
        assert_eq!(from(&message, &own), last + Time::us(60));
        // using the newest token frees seven
        message.use_token(7);
        assert_eq!(from(&message, &own), Time::ZERO);
    }

    #[test]
    fn what_is_missing_has_tokens_again_nine_packets_after_the_last() {
        let own = authors();
        let (mut message, mut received) = served(&own, 10);
        all_of_ten_but_3_and_8(&mut message, &mut received);
        let now = Time::ns(2000 + 9 * 1200 + 10_800);
        assert_eq!((message.left, from(&message, &own)), (2, now));
        assert_eq!(message.give(&own, now, &received, ONE), Some((3, 10)));
        assert_eq!(from(&message, &own), Time::ZERO);
        assert_eq!(message.give(&own, now + Time::ns(1200), &received, ONE), Some((8, 11)));
        assert_eq!(from(&message, &own), now + Time::us(12));
    }

    #[test]
    fn first_packets_have_tokens_from_the_start() {
        let own = authors();
        // all of six: checked again after twice their time
        let (message, _) = served(&own, 6);
        assert_eq!(from(&message, &own), Time::ns(2000 + 12 * 1200));
        // none of 20; in the paper's form eight, and the ninth follows once one of their packets has arrived
        assert_eq!([8, 9].map(|packets| own.free_of(packets)), [8, 0]);
        let paper = PHost { free: Free::All, ..own };
        let (mut message, mut received) = served(&paper, 20);
        assert_eq!(from(&message, &paper), Time::us(32));
        received.insert(0, 1460);
        message.count_arrival();
        message.use_token(0);
        assert_eq!(message.give(&paper, Time::us(4), &received, ONE), Some((8, 8)));
    }

    #[test]
    fn a_message_that_ends_sooner_lacks_less() {
        let own = authors();
        let (mut message, mut received) = served(&own, 20);
        received.insert(1, 1460);
        message.count_arrival();
        message.shorten(&own, 2, &received, ONE);
        assert_eq!((message.left, message.give(&own, Time::us(3), &received, ONE)), (1, Some((0, 0))));
        message.shorten(&own, 0, &received, ONE);
        assert_eq!((message.left, message.next_missing(&received)), (0, None));
    }

    #[test]
    fn what_a_shorter_message_lacks_has_one_token_each_and_again_later() {
        let own = authors();
        let (mut message, mut received) = served(&own, 100);
        all_of_ten_but_3_and_8(&mut message, &mut received);
        message.shorten(&own, 10, &received, ONE);
        // all ten tokens have gone: those for the two missing packets go nine packet times after the last
        let now = Time::ns(2000 + 9 * 1200 + 10_800);
        assert_eq!((message.left, from(&message, &own)), (2, now));
        assert_eq!(message.give(&own, now, &received, ONE), Some((3, 10)));
        assert_eq!(message.give(&own, now, &received, ONE), Some((8, 11)));
        assert_eq!(from(&message, &own), now + Time::ns(10_800));
    }
}
