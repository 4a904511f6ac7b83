//! Values of a transport that are refused: out of their bounds, or in contradiction to others. A scenario reports all
//! of them under their keys; a run refuses the first.

use super::refused_value::{Refusals, RefusedValue};
use super::{Rank, Rules, TransportSpec};
use incast_cc::Time;

/// Largest packet in bytes, its header included (IPv4, RFC 791).
const MAX_PACKET: u32 = 65_535;

impl TransportSpec {
    /// Refused values of the transport.
    pub fn refused(&self) -> Vec<RefusedValue> {
        let mut to = Refusals::default();
        self.sizes.bounds(&mut to);
        self.loss.bounds(&mut to);
        self.windows.bounds(&mut to);
        self.output.bounds(&mut to);
        self.check_classes(&mut to);
        self.check_timers(&mut to);
        self.check_sizes(&mut to);
        if self.protocol.numbers_packets() {
            self.check_packets(&mut to);
            to.table = self.protocol.name();
            self.protocol.check(&mut to);
        }
        to.found
    }

    /// Classes by the sizes of [`demotion`](super::OutputRules::demotion).
    fn check_classes(&self, to: &mut Refusals) {
        let (sizes, most) = (&self.output.demotion, TransportSpec::MAX_SIZES);
        let has = sizes.len();
        let mut expect = |holds, message: &str| to.expect(holds, "demotion", format_args!("{sizes:?}"), message);
        expect(has <= most, &format!("has {has} sizes; expected at most {most}: a packet has one of 8 classes"));
        expect(sizes.is_sorted_by(|a, b| a < b), "expected ascending sizes");
        expect(sizes.first() != Some(&0), "expected sizes of at least 1B: nothing goes before the first byte");
        let by = self.output.demotion_by;
        let message = "is compared with the sizes of transport.demotion; expected demotion, too";
        to.expect(has > 0 || by == Rank::Sent, "demotion_by", format_args!("{by:?}"), message);
    }

    fn check_timers(&self, to: &mut Refusals) {
        let (rto, above_zero) = (&self.rto, "expected a time above 0");
        let message = format!("expected at most rto_max, {}", rto.rto_max);
        to.expect(rto.rto_min <= rto.rto_max, "rto_min", rto.rto_min, message);
        to.expect(rto.rto_initial > Time::ZERO, "rto_initial", rto.rto_initial, above_zero);
        let (tick, timing) = (self.timing.timestamp_clock, &self.timing);
        let of_segments = timing.segment_rtt && timing.timestamps && self.loss.scoreboard != Rules::Ns3;
        let divides = !of_segments || tick == Time::ZERO || Time::ms(1).0.is_multiple_of(tick.0);
        let message = "expected 0s or a divisor of 1ms with segment_rtt = true: its time stamps count milliseconds";
        to.expect(divides, "timestamp_clock", tick, message);
        let own = &self.connection;
        let message = "expected false with handshake = true: the handshake has a SYN of its own";
        to.expect(!(own.handshake && own.lone_syn), "lone_syn", true, message);
        let waits = !(own.handshake || own.lone_syn) || own.syn_timeout > Time::ZERO;
        to.expect(waits, "syn_timeout", own.syn_timeout, above_zero);
        let persist = self.windows.persist_timeout;
        to.expect(persist > Time::ZERO, "persist_timeout", persist, above_zero);
    }

    /// Returns whether packets of a sender exceed the MTU.
    pub(crate) fn makes_fragments(&self) -> bool {
        let largest = self.sizes.mss.saturating_add(self.overhead()).max(self.sizes.syn_size).max(self.sizes.ack_size);
        self.sizes.mtu > 0 && largest > self.sizes.mtu
    }

    fn check_sizes(&self, to: &mut Refusals) {
        let (mss, header, mtu) = (self.sizes.mss, self.overhead(), self.sizes.mtu);
        let windows = &self.windows;
        for (key, bytes) in [("send_buffer", windows.send_buffer), ("receive_buffer", windows.receive_buffer)] {
            to.expect(bytes >= mss as u64, key, bytes, format!("expected at least one segment, {mss}B"));
        }
        let most = MAX_PACKET.saturating_sub(header);
        let message = format!("expected at most {most}: with its header of {header}B a packet has {MAX_PACKET}B");
        to.expect(mss <= most, "mss", mss, message);
        // IPv4 requires 68 bytes of every link (RFC 791)
        to.expect(mtu == 0 || mtu >= 68, "mtu", mtu, "expected 0 for no limit, or at least 68");
        if mtu >= 68 && mss <= most {
            let whole = mss + header;
            let fragments = whole.div_ceil((mtu - 20) / 8 * 8);
            let message = format!("a segment of {whole}B makes {fragments} fragments; expected at most 16");
            to.expect(fragments <= 16, "mtu", mtu, message);
        }
    }

    /// Keys of TCP alone, in a transport that numbers packets.
    fn check_packets(&self, to: &mut Refusals) {
        let name = self.protocol.name();
        let of_tcp = |what: &str| format!("applies to TCP only; expected {what} with preset = \"{name}\"");
        let output = &self.output;
        to.expect(output.rank.is_none(), "rank", format_args!("{:?}", output.rank), of_tcp("\"none\""));
        to.expect(output.probe_after == 0, "probe_after", output.probe_after, of_tcp("0"));
        to.expect(output.extra_packets == 0, "extra_packets", output.extra_packets, of_tcp("0"));
        let message = format!("{}, which has classes of its own or none", of_tcp("no sizes"));
        to.expect(output.demotion.is_empty(), "demotion", format_args!("{:?}", output.demotion), message);
        let message = format!("expected a time above 0: {name} repeats requests after it");
        to.expect(self.rto.rto_min > Time::ZERO, "rto_min", self.rto.rto_min, message);
        let (mtu, whole) = (self.sizes.mtu, self.sizes.mss.saturating_add(self.overhead()));
        let message = format!("expected 0 or at least {whole}, mss plus header: packets of {name} are not fragmented");
        to.expect(mtu == 0 || mtu >= whole, "mtu", mtu, message);
        // a connection would count in the ideal completion time, and never open
        let opens = [("handshake", self.connection.handshake), ("lone_syn", self.connection.lone_syn)];
        for (key, set) in opens {
            to.expect(!set, key, set, format!("expected false: {name} opens no connection"));
        }
    }
}
