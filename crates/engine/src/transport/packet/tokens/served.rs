//! Message that a receiver serves: tokens given, tokens used, next packet. Pure.

use super::rules::PacketTime;
use crate::ids::FlowId;
use crate::transport::packet::received::Received;
use crate::transport::packet::segmentation::Rank;
use incast_cc::Time;

/// Limits of the tokens of a message. The unit of time is the transmission time of a full packet.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of unused tokens at which the message is paused.
    pub window: u32,
    /// Number of tokens that count as unused after the pause: fewer than `window`.
    pub after_skip: u32,
    /// Time from the last token to the end of a pause.
    pub skip: f64,
    /// Time from the last token of all missing packets to the first for those still missing.
    pub reissue: f64,
}

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
        (free, reissue): (u32, f64),
        (first, end): (u32, u32),
        (since, now): (Time, Time),
        received: &Received,
        one: PacketTime,
    ) -> Served {
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
            message.reissue_at = Some(now + one.times(reissue));
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
    pub fn shorten(&mut self, reissue: f64, end: u32, received: &Received, one: PacketTime) {
        self.end = end.max(self.first);
        self.count(received);
        self.goal = self.goal.min(self.tokens.max(self.end - self.first));
        if self.tokens >= self.goal && self.reissue_at.is_none() {
            self.reissue_at = Some(self.last_token.saturating_add(one.times(reissue)));
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
    fn is_paused(&self, limits: &Limits) -> bool {
        self.tokens.saturating_sub(self.tokens_used) >= limits.window
    }

    /// Position among the messages of a host.
    pub fn rank(&self, flow: FlowId) -> Rank {
        Rank { left: self.left as u64, since: self.since, flow }
    }

    /// Time from which tokens for missing packets go again, once all have gone.
    pub fn reissue_at(&self) -> Option<Time> {
        self.reissue_at
    }

    /// End of the message's pause, if it has one.
    pub fn pause_end(&self, limits: &Limits, one: PacketTime) -> Option<Time> {
        self.is_paused(limits).then(|| self.last_token.saturating_add(one.times(limits.skip)))
    }

    /// Time from which the message may have a token.
    pub fn from(&self, limits: &Limits, one: PacketTime) -> Time {
        self.reissue_at.or_else(|| self.pause_end(limits, one)).unwrap_or(Time::ZERO)
    }

    /// Gives a token at `now`. Returns its packet and its number.
    pub fn give(&mut self, limits: &Limits, now: Time, received: &Received, one: PacketTime) -> Option<(u32, u32)> {
        if self.reissue_at.take().is_some() {
            self.goal = self.tokens + self.left;
        }
        if self.is_paused(limits) {
            // a few more tokens, to see whether the sender responds
            self.tokens_used = self.tokens - limits.after_skip;
        }
        let number = self.next_missing(received)?;
        let token = self.tokens;
        (self.tokens, self.next_packet, self.last_token) = (token + 1, number + 1, now);
        if self.tokens >= self.goal {
            self.reissue_at = Some(now.saturating_add(one.times(limits.reissue)));
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

    /// Limits of pHost's authors.
    const LIMITS: Limits = Limits { window: 8, after_skip: 7, skip: 25.0, reissue: 9.0 };

    /// 1500 bytes at 10 Gb/s.
    const ONE: PacketTime = PacketTime(Time::ns(1200));

    /// Message with `free` initial tokens.
    fn served(free: u32, packets: u32) -> (Served, Received) {
        let (received, reissue) = (Received::default(), 2.0 * free as f64);
        (Served::new((free, reissue), (0, packets), (Time::us(2), Time::us(2)), &received, ONE), received)
    }

    fn from(message: &Served) -> Time {
        message.from(&LIMITS, ONE)
    }

    /// Gives ten tokens, one packet time apart; the packets of all but two arrive at once.
    fn all_of_ten_but_3_and_8(message: &mut Served, received: &mut Received) {
        for i in 0..10 {
            let now = Time::us(2) + Time::ns(1200) * i;
            let i = i as u32;
            assert_eq!(message.give(&LIMITS, now, received, ONE), Some((i, i)));
            if ![3, 8].contains(&i) {
                received.insert(i, 1460);
                message.count_arrival();
                message.use_token(i);
            }
        }
    }

    #[test]
    fn eight_tokens_unanswered_pause_a_message_for_25_packets() {
        let (mut message, received) = served(0, 20);
        for i in 0..8 {
            assert_eq!(from(&message), Time::ZERO);
            let now = Time::us(2) + Time::ns(1200) * i;
            assert_eq!(message.give(&LIMITS, now, &received, ONE), Some((i as u32, i as u32)));
        }
        // the ninth waits for 30 us, then goes alone
        let last = Time::ns(2000 + 7 * 1200);
        assert_eq!(from(&message), last + Time::us(30));
        assert_eq!(message.give(&LIMITS, last + Time::us(30), &received, ONE), Some((8, 8)));
        assert_eq!(from(&message), last + Time::us(60));
        // using the newest token frees seven
        message.use_token(7);
        assert_eq!(from(&message), Time::ZERO);
    }

    #[test]
    fn what_is_missing_has_tokens_again_nine_packets_after_the_last() {
        let (mut message, mut received) = served(0, 10);
        all_of_ten_but_3_and_8(&mut message, &mut received);
        let now = Time::ns(2000 + 9 * 1200 + 10_800);
        assert_eq!((message.left, from(&message)), (2, now));
        assert_eq!(message.give(&LIMITS, now, &received, ONE), Some((3, 10)));
        assert_eq!(from(&message), Time::ZERO);
        assert_eq!(message.give(&LIMITS, now + Time::ns(1200), &received, ONE), Some((8, 11)));
        assert_eq!(from(&message), now + Time::us(12));
    }

    #[test]
    fn first_packets_have_tokens_from_the_start() {
        // all of six: checked again after twice their time
        let (message, _) = served(6, 6);
        assert_eq!(from(&message), Time::ns(2000 + 12 * 1200));
        // eight of 20: the ninth follows once one of their packets has arrived
        let (mut message, mut received) = served(8, 20);
        assert_eq!(from(&message), Time::us(32));
        received.insert(0, 1460);
        message.count_arrival();
        message.use_token(0);
        assert_eq!(message.give(&LIMITS, Time::us(4), &received, ONE), Some((8, 8)));
    }

    #[test]
    fn a_message_that_ends_sooner_lacks_less() {
        let (mut message, mut received) = served(0, 20);
        received.insert(1, 1460);
        message.count_arrival();
        message.shorten(9.0, 2, &received, ONE);
        assert_eq!((message.left, message.give(&LIMITS, Time::us(3), &received, ONE)), (1, Some((0, 0))));
        message.shorten(9.0, 0, &received, ONE);
        assert_eq!((message.left, message.next_missing(&received)), (0, None));
    }

    #[test]
    fn what_a_shorter_message_lacks_has_one_token_each_and_again_later() {
        let (mut message, mut received) = served(0, 100);
        all_of_ten_but_3_and_8(&mut message, &mut received);
        message.shorten(9.0, 10, &received, ONE);
        // all ten tokens have gone: those for the two missing packets go nine packet times after the last
        let now = Time::ns(2000 + 9 * 1200 + 10_800);
        assert_eq!((message.left, from(&message)), (2, now));
        assert_eq!(message.give(&LIMITS, now, &received, ONE), Some((3, 10)));
        assert_eq!(message.give(&LIMITS, now, &received, ONE), Some((8, 11)));
        assert_eq!(from(&message), now + Time::ns(10_800));
    }
}
