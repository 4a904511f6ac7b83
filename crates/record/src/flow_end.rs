//! Fields of a flow's record that one of its ends knows, packed: some hundred bytes for an end that is gone.

use crate::FlowRecord;
use crate::packed::{Packer, take};

/// Field of a record as a number, if it is not as in a blank record.
trait Field: Copy + PartialEq {
    /// The number.
    fn number(self) -> u64;
    /// The field of a number.
    fn of(number: u64) -> Self;
}

impl Field for u64 {
    fn number(self) -> u64 {
        self
    }
    fn of(number: u64) -> u64 {
        number
    }
}

impl Field for bool {
    fn number(self) -> u64 {
        self.into()
    }
    fn of(number: u64) -> bool {
        number > 0
    }
}

/// A blank record has no value here.
impl Field for Option<u64> {
    fn number(self) -> u64 {
        self.unwrap_or_default()
    }
    fn of(number: u64) -> Option<u64> {
        Some(number)
    }
}

macro_rules! fields {
    ($($name:ident)*) => {
        impl FlowRecord {
            /// Record without what an end adds: [`FlowRecord::pack`] keeps what differs.
            pub fn blank() -> FlowRecord {
                FlowRecord { start_ps: u64::MAX, ..FlowRecord::default() }
            }

            /// Appends the fields that differ from those of a blank record, and that ends of flows know.
            pub fn pack(&self, into: &mut Vec<u8>) {
                let blank = FlowRecord::blank();
                let mut put = |number: u64| {
                    let mut packer = Packer::default();
                    packer.put(number);
                    into.extend_from_slice(packer.bytes());
                };
                let mut there = 0u64;
                $(there = there << 1 | u64::from(self.$name != blank.$name);)*
                put(there);
                $(if self.$name != blank.$name {
                    put(Field::number(self.$name));
                })*
            }

            /// Sets the fields that [`FlowRecord::pack`] has appended at the beginning of `from`. Returns whether they
            /// could be read.
            pub fn unpack(&mut self, mut from: &[u8]) -> bool {
                let Some(there) = take(&mut from) else { return false };
                let mut bit = 1u64 << [$(stringify!($name)),*].len();
                $(
                    bit >>= 1;
                    if there & bit != 0 {
                        let Some(number) = take(&mut from) else { return false };
                        self.$name = Field::of(number);
                    }
                )*
                bit == 1
            }
        }
    };
}

fields! {
    start_ps unopened finish_ps stopped_ps received_ps written delivered delivered_m sent sent_m arrived arrived_m
    retransmissions timeouts marked trimmed late extents extent_sum extent_max reordering_buffer delay_sum_ps
    delay_max_ps rtt_count rtt_sum_ps rtt_min_ps fm_rx_bytes fm_tx_packets fm_rx_packets fm_delay_sum_ps
    fm_first_tx_ps fm_last_rx_ps
}
