//! Segments of a transfer, as far as they are known before the run.
//!
//! A sender cuts full segments from the written bytes, and a shorter one at the end of a write or where the send buffer
//! or the peer's window is full. While the window is closed the application writes on, and the next segment passes the
//! end of a write. So segmentation is certain only if writes, buffer and window are all multiples of a segment.
//! Otherwise two facts remain: the first segment, and one more header for a last segment shorter than with the fewest
//! segments.

use crate::spec::{App, Bulk, FlowSpec, Sizes, Spec, TransportSpec};
use incast_cc::Rate;

/// IP header of a fragment: the minimum of any packet.
pub const IP_HEADER: u32 = 20;
/// Lower bound of hosts' windows, if their buffers are twice that and segments no larger than [`LARGEST`]: the maximum
/// window field without scaling, less the rounding of the coarsest scale.
const MIN_WINDOW: u64 = 48 << 10;
/// See [`MIN_WINDOW`].
const LARGEST: u32 = 16 << 10;
/// Maximum rounding of a window by the coarsest scale.
const COARSEST: u64 = 1 << 14;

/// The segments of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// Payload bytes.
    pub bytes: u64,
    /// Full segments, with the minimum number of segments.
    pub full: u64,
    /// Payload of a last, partial segment.
    pub rest: Option<u32>,
    /// True if exactly these segments are sent. Otherwise the sender may cut elsewhere.
    pub certain: bool,
    /// Lower bound of the first segment's payload.
    pub first: u32,
    /// Lower bound of the number of full segments before the first shorter one.
    pub lead: u64,
}

impl Segments {
    /// Segments of `flow`, a transfer of `size` bytes.
    pub fn of(spec: &Spec, flow: &FlowSpec, size: u64) -> Segments {
        let t = &spec.transports[flow.transport as usize];
        let mss = t.sizes.mss.max(1) as u64;
        let bytes = size.saturating_add(t.output.extra_packets as u64 * mss);
        let rest = (bytes % mss > 0).then_some((bytes % mss) as u32);
        let write = match flow.app {
            App::Bulk(Bulk { write, .. }) if !t.protocol.numbers_packets() => write.clamp(1, bytes.max(1)),
            _ => bytes,
        };
        // bytes up to the first cut that may split a segment
        let uncut = t.protocol.facts().first_cut.unwrap_or(write);
        let buffer = if bytes <= t.windows.send_buffer { bytes } else { t.windows.send_buffer };
        let window = if t.protocol.numbers_packets() { u64::MAX } else { window(spec, flow, t) };
        let whole = |part: u64| part >= bytes || part.is_multiple_of(mss);
        let filled =
            whole(buffer) || t.windows.whole_writes && !t.protocol.numbers_packets() && whole(write) && write < bytes;
        let short = !t.protocol.numbers_packets() && has_short_segments(spec, t);
        let sure = whole(uncut) && filled && !short;
        Segments {
            bytes,
            full: bytes / mss,
            rest,
            certain: sure && (window >= bytes || keeps_whole(t, window)),
            first: if short { 1 } else { mss.min(uncut).min(bytes) as u32 },
            lead: if short { 0 } else { uncut.min(buffer).min(window).min(bytes) / mss },
        }
    }

    /// Lower bounds of the number of segments and of the last one's payload, for each way in which a sender may cut:
    /// the minimum number, or one more with a last segment of any length.
    pub fn cuts(&self, mss: u32) -> [(u64, u32); 2] {
        let fewest = self.full + self.rest.is_some() as u64;
        [(fewest, self.rest.unwrap_or(mss)), (fewest + 1, 1)]
    }
}

/// Lower bound of the window that the peer offers at all times; 0 if nothing is known of it.
fn window(spec: &Spec, flow: &FlowSpec, t: &TransportSpec) -> u64 {
    if flow.read_rate != Rate::INFINITE || !spec.programs.is_empty() {
        return 0;
    }
    let min = min_window(t);
    match !t.connection.handshake && t.windows.window_scaling && !t.acks.window_growth {
        true => min.max(t.windows.receive_buffer.saturating_sub(COARSEST)),
        false => min,
    }
}

/// Lower bound of the window that a host offers at first.
fn min_window(t: &TransportSpec) -> u64 {
    // a scale takes a byte off windows this small
    if t.sizes.mss > LARGEST { 0 } else { (t.windows.receive_buffer / 2).min(MIN_WINDOW).saturating_sub(1) }
}

/// True if a window never smaller than `window` splits no segment: the sender waits until one fits.
fn keeps_whole(t: &TransportSpec, window: u64) -> bool {
    let mss = t.sizes.mss as u64;
    if t.windows.whole_segments { window >= mss } else { t.windows.sws_avoidance && window >= 2 * mss }
}

/// True if the window of the handshake may limit the size of segments.
fn has_short_segments(spec: &Spec, t: &TransportSpec) -> bool {
    t.windows.half_window_mss && (!spec.programs.is_empty() || min_window(t) / 2 < t.sizes.mss as u64)
}

/// IP sizes of the packets of a segment of `payload` bytes: one packet, or IP fragments if the MTU is smaller (20 bytes
/// of IP header each, offsets in units of 8 bytes).
pub fn fragments(sizes: &Sizes, payload: u32) -> impl Iterator<Item = u64> {
    let header = IP_HEADER as u64;
    let total = sizes.header as u64 + payload as u64;
    let whole = !is_cut(sizes, payload);
    let step = if whole { u64::MAX } else { (sizes.mtu as u64 - header) / 8 * 8 };
    let mut left = if whole { total } else { total - header };
    let mut done = false;
    core::iter::from_fn(move || {
        if done {
            return None;
        }
        if whole {
            done = true;
            return Some(left);
        }
        let part = left.min(step);
        left -= part;
        done = left == 0;
        Some(header + part)
    })
}

/// True if a segment of `payload` bytes travels as fragments.
pub fn is_cut(sizes: &Sizes, payload: u32) -> bool {
    let total = sizes.header as u64 + payload as u64;
    sizes.mtu >= IP_HEADER + 8 && total > sizes.mtu as u64
}

/// Bytes of a full segment on a wire that adds `overhead` to every packet.
pub fn wire_bytes(sizes: &Sizes, overhead: u32) -> u64 {
    fragments(sizes, sizes.mss).map(|size| size + overhead as u64).sum()
}

/// Lower bounds of the number of packets that carry `bytes` of payload in `segments` segments, and of their IP bytes.
pub fn packets(sizes: &Sizes, bytes: u64, segments: u64) -> (u64, u64) {
    let packets = if is_cut(sizes, sizes.mss) { segments.max(bytes.div_ceil(sizes.mtu as u64)) } else { segments };
    let headers = segments.saturating_mul(sizes.header as u64);
    let others = (packets - segments).saturating_mul(IP_HEADER.min(sizes.header) as u64);
    (packets, bytes.saturating_add(headers).saturating_add(others))
}

/// Lower bound of the IP bytes of the last packet of a segment of at least `payload` bytes.
pub fn last_packet(sizes: &Sizes, payload: u32) -> u64 {
    if is_cut(sizes, sizes.mss) { IP_HEADER as u64 + 1 } else { sizes.header as u64 + payload as u64 }
}

/// IP bytes of the first packet of a full segment. No packet is larger.
pub fn first_packet(sizes: &Sizes) -> u64 {
    fragments(sizes, sizes.mss).next().unwrap_or(0)
}
