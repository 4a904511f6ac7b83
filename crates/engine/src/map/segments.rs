//! The segments of a transfer, as far as they are known before it runs.
//!
//! A sender cuts full segments from what the application has written, and a shorter one where a write ends, or the send
//! buffer or the peer's window is full. While its window is shut the application writes on, and the next segment passes
//! the end of a write. So the cuts are certain only where all of these fall on whole segments. Otherwise two facts are
//! left: the first segment, and that a last segment shorter than the fewest segments allow costs a header more.

use crate::spec::{App, Bulk, FlowSpec, Protocol, Spec, TransportSpec};
use incast_cc::Rate;

/// IP header of a fragment, and of every packet at least.
pub const IP_HEADER: u32 = 20;
/// Windows of hosts are at least so large where their buffers are twice that, and segments no larger than
/// [`LARGEST`]: what a window field says without a scale, less what the coarsest scale takes off.
const LEAST_WINDOW: u64 = 48 << 10;
/// See [`LEAST_WINDOW`].
const LARGEST: u32 = 16 << 10;
/// What the coarsest scale of a window takes off at most.
const COARSEST: u64 = 1 << 14;

/// The segments of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// Payload bytes.
    pub bytes: u64,
    /// Full segments, if as few are sent as can be.
    pub full: u64,
    /// ... and the last, if it is no full one.
    pub rest: Option<u32>,
    /// These are sent. Otherwise the sender may cut elsewhere.
    pub certain: bool,
    /// Payload of the first segment, at least.
    pub first: u32,
    /// Full segments before the first shorter one, at least.
    pub lead: u64,
}

impl Segments {
    /// Those of the transfer of `size` bytes that `flow` is.
    pub fn of(spec: &Spec, flow: &FlowSpec, size: u64) -> Segments {
        let t = &spec.transports[flow.transport as usize];
        let mss = t.mss.max(1) as u64;
        let bytes = size.saturating_add(t.extra_packets as u64 * mss);
        let rest = (bytes % mss > 0).then_some((bytes % mss) as u32);
        let write = match flow.app {
            App::Bulk(Bulk { write, .. }) if !t.protocol.is_driven() => write.clamp(1, bytes.max(1)),
            _ => bytes,
        };
        // bytes up to the first cut that may be no whole segment
        let uncut = match &t.protocol {
            Protocol::Homa(homa) => homa.unscheduled,
            _ => write,
        };
        let buffer = if bytes <= t.send_buffer { bytes } else { t.send_buffer };
        let window = if t.protocol.is_driven() { u64::MAX } else { window(spec, flow, t) };
        let whole = |part: u64| part >= bytes || part.is_multiple_of(mss);
        let filled = whole(buffer) || t.whole_writes && !t.protocol.is_driven() && whole(write) && write < bytes;
        let short = !t.protocol.is_driven() && has_short_segments(spec, t);
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

    /// Number of segments and payload of the last, at least, for each way in which a sender may cut: as few as can be,
    /// or more, with a last one of any length.
    pub fn cuts(&self, mss: u32) -> [(u64, u32); 2] {
        let fewest = self.full + self.rest.is_some() as u64;
        [(fewest, self.rest.unwrap_or(mss)), (fewest + 1, 1)]
    }
}

/// A window that the peer offers at all times, at least; 0 where nothing is known of it.
fn window(spec: &Spec, flow: &FlowSpec, t: &TransportSpec) -> u64 {
    if flow.read_rate != Rate::INFINITE || !spec.programs.is_empty() {
        return 0;
    }
    let least = least_window(t);
    match !t.handshake && t.window_scaling && !t.window_growth {
        true => least.max(t.receive_buffer.saturating_sub(COARSEST)),
        false => least,
    }
}

/// What a host offers at first, at least.
fn least_window(t: &TransportSpec) -> u64 {
    // a scale takes a byte off such small ones
    if t.mss > LARGEST { 0 } else { (t.receive_buffer / 2).min(LEAST_WINDOW).saturating_sub(1) }
}

/// Whether a window that is always as large as this, or larger, cuts no segment: one waits until it fits.
fn keeps_whole(t: &TransportSpec, window: u64) -> bool {
    let mss = t.mss as u64;
    if t.whole_segments { window >= mss } else { t.sws_avoidance && window >= 2 * mss }
}

/// Whether the handshake's window may bound segments.
fn has_short_segments(spec: &Spec, t: &TransportSpec) -> bool {
    t.half_window_mss && (!spec.programs.is_empty() || least_window(t) / 2 < t.mss as u64)
}

/// IP sizes of the packets that carry a segment of `payload` bytes: one, or IP fragments where the MTU is smaller (20
/// bytes of IP header each, offsets in units of 8 bytes).
pub fn fragments(t: &TransportSpec, payload: u32) -> impl Iterator<Item = u64> {
    let header = IP_HEADER as u64;
    let total = t.header as u64 + payload as u64;
    let whole = !is_cut(t, payload);
    let step = if whole { u64::MAX } else { (t.mtu as u64 - header) / 8 * 8 };
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

/// Whether a segment of `payload` bytes travels as fragments.
pub fn is_cut(t: &TransportSpec, payload: u32) -> bool {
    let total = t.header as u64 + payload as u64;
    t.mtu >= IP_HEADER + 8 && total > t.mtu as u64
}

/// Bytes that a full segment takes on a wire which adds `overhead` to every packet.
pub fn wire_bytes(t: &TransportSpec, overhead: u32) -> u64 {
    fragments(t, t.mss).map(|size| size + overhead as u64).sum()
}

/// Packets that carry `bytes` of payload in so many segments, and their IP bytes, at least.
pub fn packets(t: &TransportSpec, bytes: u64, segments: u64) -> (u64, u64) {
    let packets = if is_cut(t, t.mss) { segments.max(bytes.div_ceil(t.mtu as u64)) } else { segments };
    let headers = segments.saturating_mul(t.header as u64);
    let others = (packets - segments).saturating_mul(IP_HEADER.min(t.header) as u64);
    (packets, bytes.saturating_add(headers).saturating_add(others))
}

/// IP bytes of the last packet of a segment of at least so many bytes, at least.
pub fn last_packet(t: &TransportSpec, payload: u32) -> u64 {
    if is_cut(t, t.mss) { IP_HEADER as u64 + 1 } else { t.header as u64 + payload as u64 }
}

/// IP bytes of the first packet of a full segment, which is as large as any.
pub fn first_packet(t: &TransportSpec) -> u64 {
    fragments(t, t.mss).next().unwrap_or(0)
}
