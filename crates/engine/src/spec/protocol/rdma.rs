//! Parameters of RDMA with congestion control.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use crate::spec::words::words;
use incast_cc::Time;

keys! {
    $ rdma_keys
    /// RDMA over Converged Ethernet with congestion control in the NIC, as the simulator of HPCC's authors has it
    /// (alibaba-edu/High-Precision-Congestion-Control, inet-tub/ns3-datacenter).
    rdma: Rdma {
        /// Bytes in flight that a sender may have.
        window: Window as Word<Window>,
        /// Base round-trip time T of windows, and of controllers whose own `base_rtt` is `auto`. `auto`: the idle
        /// round-trip time of the flow's path. The simulators take one for all flows, the longest, without the time of
        /// headers and ACKs.
        base_rtt: Option<Time> as Auto<Time>,
        /// Every so many packets in order, one is acknowledged; so is the last of a write.
        #[schemars(range(min = 1))]
        ack_every: u32,
        /// Repair of losses.
        repair: Repair as Word<Repair>,
        /// Bytes of a chunk, with `repair = "go-back-chunk"`.
        chunk: u64 as Size,
        /// Shortest time between two NACKs about one gap.
        nack_interval: Time,
        /// Time without progress after which a sender goes back to the first missing packet; `0s`: never. A flow whose
        /// last packets, or their ACKs, are lost then never ends.
        timeout: Time,
        /// A packet that arrives again is acknowledged. The simulators stay silent: a flow whose last ACK is lost never
        /// ends, whatever the timeout.
        duplicate_acks: bool,
        /// Bytes that telemetry or time stamps add to data and ACKs. `auto`: 42 for controllers that read telemetry
        /// (five hops of 8 bytes and a count), else none.
        metadata: Option<u64> as Auto<Size>,
        /// Telemetry counts bytes in units of 128 times this, queues in units of 80 times this, and time in
        /// nanoseconds, as its fields have 20, 17 and 24 bits. 0: exact.
        int_multi: u32,
        /// The receiver of marked data sends notification packets (CNPs), at most one in the controller's
        /// `cnp_interval`. Otherwise the ACK of a marked packet carries its mark.
        cnp_packets: bool,
        /// Effect of a new rate on a packet that waits for its pacing time.
        repace: Repace as Word<Repace>,
    }
}

words! {
    /// Bytes in flight that a sender may have.
    Window {
        /// The controller's window.
        Controller = "controller",
        /// No bound: the rate alone governs.
        None = "none",
        /// Bytes that the host's link sends in `base_rtt`.
        Fixed = "fixed",
        /// As fixed, in proportion to the flow's rate.
        Rate = "rate",
    }
}

words! {
    /// Effect of a new rate on a packet that waits for its pacing time.
    Repace {
        /// Always for controllers that read telemetry, else never.
        Auto = "auto",
        /// The packet goes when it would have gone had the new rate held since the last packet.
        Always = "always",
        /// The time stays as the rate set it at the last packet.
        Never = "never",
    }
}

words! {
    /// Repair of losses.
    Repair {
        /// The receiver discards packets beyond a gap and answers by a NACK; the sender repeats all from the gap on.
        GoBackN = "go-back-n",
        /// As go-back-n, from the beginning of the gap's chunk on.
        GoBackChunk = "go-back-chunk",
        /// The receiver keeps packets beyond a gap, and its NACKs name them; the sender repeats what is missing (IRN,
        /// SIGCOMM 2018).
        Selective = "selective",
    }
}

impl Rdma {
    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        let message = "expected a time above 0, or \"auto\"";
        to.expect(self.base_rtt != Some(Time::ZERO), "base_rtt", Time::ZERO, message);
        let chunk = self.chunk;
        let message = "expected at least 1B with repair = \"go-back-chunk\"";
        to.expect(chunk > 0 || self.repair != Repair::GoBackChunk, "chunk", chunk, message);
        let bytes = self.metadata.unwrap_or(0);
        to.expect(bytes <= 1000, "metadata", bytes, "expected at most 1000B");
    }

    /// Bytes of telemetry in data and ACKs of a controller that reads it, or does not.
    pub fn metadata(&self, telemetry: bool) -> u32 {
        self.metadata.map_or(if telemetry { Rdma::TELEMETRY } else { 0 }, |bytes| bytes as u32)
    }

    /// Returns whether a new rate moves the pacing time of a controller that reads telemetry, or does not.
    pub fn repaces(&self, telemetry: bool) -> bool {
        match self.repace {
            Repace::Auto => telemetry,
            Repace::Always => true,
            Repace::Never => false,
        }
    }

    /// Bytes of telemetry: five hops of 8 bytes, and a count.
    const TELEMETRY: u32 = 42;

    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts { control: None, data_slot_period: u32::MAX, obeys_pauses: true, ..Facts::of("rdma") }
    }
}
