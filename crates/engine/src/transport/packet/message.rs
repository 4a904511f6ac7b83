//! Messages of receivers, and the packets that carry them. Each message also says which packet is the first missing
//! one.

use crate::event::packet::{Kind, Packet, Words};
use incast_cc::Time;

/// Content of a packet for a sender. The `wire.rs` of a transport gives its words their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    /// Kind of the packet.
    pub kind: Kind,
    /// Flags of the packet.
    pub flags: u16,
    /// Upper half of the acknowledgement number.
    pub number: u32,
    /// Words of sequence number, window and time stamp.
    pub map: u64,
    /// See `map`.
    pub count: u32,
    /// See `map`.
    pub stamp: u64,
}

impl Encoded {
    /// Content of a packet of this kind that says nothing else.
    pub fn of(kind: Kind) -> Encoded {
        Encoded { kind, flags: 0, number: 0, map: 0, count: 0, stamp: 0 }
    }

    /// Content of a packet.
    pub fn read(p: &Packet) -> Encoded {
        let Words { ack: [_, number], number: map, wnd: count, stamp } = p.words();
        Encoded { kind: p.kind(), flags: p.flags, number, map, count, stamp }
    }

    /// Header words, with the first missing packet.
    pub fn words(self, next: u32) -> Words {
        Words { ack: [next, self.number], number: self.map, wnd: self.count, stamp: self.stamp }
    }
}

/// First missing packet, which every message of a receiver says.
pub fn first_missing(p: &Packet) -> u32 {
    p.words().ack[0]
}

/// Value of a field of a message, as a header word.
pub trait Word<W> {
    /// Writes the value.
    fn put(self) -> W;
    /// Reads a value.
    fn get(word: W) -> Self;
}

macro_rules! word {
    ($($type:ty as $word:ty: $put:expr, $get:expr;)+) => {
        $(impl Word<$word> for $type {
            fn put(self) -> $word {
                let put: fn($type) -> $word = $put;
                put(self)
            }
            fn get(word: $word) -> $type {
                let get: fn($word) -> $type = $get;
                get(word)
            }
        })+
    };
}

word! {
    u32 as u32: |x| x, |w| w;
    u64 as u64: |x| x, |w| w;
    u32 as u64: |x| x as u64, |w| w as u32;
    u8 as u64: |x| x as u64, |w| w as u8;
    (u32, u32) as u64: |(a, b)| a as u64 | (b as u64) << 32, |w| (w as u32, (w >> 32) as u32);
    Time as u64: |at| at.0, Time;
    // 0: the packet was retransmitted and gives no round-trip time
    Option<Time> as u64: |at| at.map_or(0, |at| at.0), |w| (w > 0).then_some(Time(w));
}

/// Declares the messages of a receiver, one a kind of packets: fields with their words, and fields that are flags.
macro_rules! to_sender {
    ($(
        $(#[$doc:meta])+
        $name:ident = $kind:ident $(| $always:ident)?
            { $($field:ident: $type:ty = $word:ident),* } $([$($flag:ident = $bits:ident),+])?,
    )+) => {
        /// Message of a receiver to its sender.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ToSender {
            $($(#[$doc])+ $name { $($field: $type,)* $($($flag: bool,)+)? },)+
        }

        impl ToSender {
            /// Message as the content of a packet.
            #[allow(unused_mut, reason = "some messages have no fields")]
            pub fn encode(self) -> $crate::transport::packet::message::Encoded {
                use $crate::event::packet::Kind;
                use $crate::transport::packet::message::{Encoded, Word};
                match self {
                    $(ToSender::$name { $($field,)* $($($flag,)+)? } => {
                        let mut encoded = Encoded::of(Kind::$kind);
                        $(encoded.flags |= $crate::event::packet::flag::$always;)?
                        $(encoded.$word = Word::put($field);)*
                        $($(encoded.flags |= if $flag { $crate::event::packet::flag::$bits } else { 0 };)+)?
                        encoded
                    })+
                }
            }

            /// Message of a packet.
            pub fn decode(p: &$crate::event::packet::Packet) -> Option<ToSender> {
                use $crate::event::packet::Kind;
                use $crate::transport::packet::message::{Encoded, Word};
                let m = Encoded::read(p);
                match m.kind {
                    $(Kind::$kind => Some(ToSender::$name {
                        $($field: Word::get(m.$word),)*
                        $($($flag: m.flags & $crate::event::packet::flag::$bits > 0,)+)?
                    }),)+
                    _ => None,
                }
            }
        }
    };
}
pub(in crate::transport) use to_sender;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::packet::flag;
    use crate::ids::{FlowId, NodeId};

    to_sender! {
        /// Every word.
        All = Ack | ACK { a: u32 = number, b: u8 = map, c: u32 = count, d: (u32, u32) = stamp } [e = ECE, f = PSH],
        /// Times.
        Times = Nack { at: Option<Time> = stamp },
        /// Nothing.
        Nothing = Pull {},
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let all = ToSender::All { a: 7, b: 3, c: u32::MAX, d: (1, 2), e: true, f: false };
        let times = [None, Some(Time::ns(5))].map(|at| ToSender::Times { at });
        for message in [all, times[0], times[1], ToSender::Nothing {}] {
            let encoded = message.encode();
            let mut packet = Packet::answer(encoded.kind, FlowId(0), NodeId(1), encoded.words(9));
            packet.flags |= encoded.flags;
            assert_eq!((ToSender::decode(&packet), first_missing(&packet)), (Some(message), 9));
            assert_eq!(packet.has(flag::ACK), packet.is(Kind::Ack));
        }
        assert_eq!(ToSender::decode(&Packet::reverse(Kind::Cnp, FlowId(0), NodeId(1), 0)), None);
    }
}
