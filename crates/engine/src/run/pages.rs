//! Packets in flight, by value, in pages.
//!
//! A window takes a page when the previous one is full, and returns all pages when it is over: the next writes go to
//! the memory read last. A run touches as much memory as it has packets in flight, plus up to a page for each pair of
//! threads and near window. (With one contiguous piece per window, every piece would grow to the fullest window's
//! size.)

use crate::event::packet::{Kind, Packet};
use crate::event::prefetch;
use crate::ids::{DomainId, FlowId, HostIx, LinkId, NodeId, NodeIx};
use crate::map::fabric::Place;
use incast_cc::Time;
use std::ops::{Index, IndexMut, Range};

/// Bits of a place for the index within a page.
const BITS: u32 = 8;
/// Packets of a page: 20 KiB with their heads.
pub const PAGE: usize = 1 << BITS;
const MASK: usize = PAGE - 1;

/// Fields of a packet by which a window scatters and orders it, without reading the packet.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Location of the receiving node.
    pub to: Place,
    /// Arrival time, relative to the start of the window. Every window is shorter than 2^32 ps.
    pub offset: u32,
    /// Link of the arrival.
    pub link: LinkId,
}

/// Packets, each with its head.
struct Page {
    packets: Box<[Packet; PAGE]>,
    heads: Box<[Head; PAGE]>,
}

/// Empty pages, the one read last on top, since its memory is near.
#[derive(Default)]
pub struct Spare(Vec<Page>);

impl Spare {
    /// Number of pages.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes a page to write to.
    fn take(&mut self) -> Page {
        self.0.pop().unwrap_or_else(|| {
            let packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
            let head =
                Head { to: Place { domain: DomainId(0), node: NodeIx::host(HostIx(0)) }, offset: 0, link: packet.link };
            Page { packets: filled(packet), heads: filled(head) }
        })
    }
}

/// A page filled with a blank value that is never read.
fn filled<T: Clone>(blank: T) -> Box<[T; PAGE]> {
    // built in place: an array would be built elsewhere and copied
    let Ok(page) = vec![blank; PAGE].try_into() else { unreachable!("it is as long as a page") };
    page
}

/// Packets that arrive in a window, in order of sending, each at its place.
#[derive(Default)]
pub struct Pages {
    pages: Vec<Page>,
    /// Place of the next packet.
    next: usize,
    /// Places of other threads' packets, each range from the start of a page on.
    others: Vec<Range<usize>>,
}

impl Pages {
    /// True if there are no packets.
    pub fn is_empty(&self) -> bool {
        self.runs().all(|places| places.is_empty())
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.runs().map(|places| places.len()).sum()
    }

    /// True if the next packet needs a page, also if there is none yet.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.next & MASK == 0
    }

    /// Adds a page for the next packet.
    pub fn make_room(&mut self, spare: &mut Spare) {
        debug_assert!(self.is_full() && self.others.is_empty());
        self.pages.push(spare.take());
    }

    /// Appends a copy of `packet`, still to be stamped, to a page with room. Returns its place and the copy.
    #[inline(always)]
    pub fn push(&mut self, head: Head, packet: &Packet) -> (usize, &mut Packet) {
        let (place, line) = (self.next, self.next & MASK);
        self.next += 1;
        let page = &mut self.pages[place >> BITS];
        // many windows are written in turn: the processor does not detect that each one is sequential
        prefetch::item(page.packets.as_slice(), line + 2);
        page.heads[line] = head;
        // copy first and stamp the copy: reading back recent partial writes stalls
        page.packets[line] = *packet;
        (place, &mut page.packets[line])
    }

    /// Appends the packets of `others`. In exchange, `others` gets as many spare pages, if available.
    pub fn append(&mut self, others: &mut Pages, spare: &mut Spare) -> Range<usize> {
        let first = self.pages.len() << BITS;
        let places = first..first + others.next;
        let rest = spare.0.len().saturating_sub(others.pages.len());
        self.pages.append(&mut others.pages);
        others.pages.extend(spare.0.drain(rest..));
        others.next = 0;
        self.others.push(places.clone());
        places
    }

    /// Number of pages.
    #[cfg(test)]
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// True if it was ever written to.
    pub fn is_used(&self) -> bool {
        self.pages.capacity() > 0
    }

    /// Returns all pages to `spare`.
    pub fn clear(&mut self, spare: &mut Spare) {
        spare.0.append(&mut self.pages);
        self.others.clear();
        self.next = 0;
    }

    /// Contiguous ranges of places.
    fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        std::iter::once(0..self.next).chain(self.others.iter().cloned())
    }

    /// Pages with the place of their first packet, heads and packets.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Head], &[Packet])> {
        self.runs().flat_map(move |Range { start, end }| {
            (start..end).step_by(PAGE).map(move |first| {
                let (page, count) = (&self.pages[first >> BITS], PAGE.min(end - first));
                (first, &page.heads[..count], &page.packets[..count])
            })
        })
    }

    /// The packet at `place`, and the node at which it arrives.
    #[inline(always)]
    pub fn to_node(&self, place: usize) -> (&Packet, NodeIx) {
        let page = &self.pages[place >> BITS];
        (&page.packets[place & MASK], page.heads[place & MASK].to.node)
    }

    /// The head of the packet at `place`.
    #[inline(always)]
    pub fn head(&self, place: usize) -> &Head {
        &self.pages[place >> BITS].heads[place & MASK]
    }

    /// Prefetches the packet at `place`.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) {
        prefetch::lines(&self[place], 1);
    }

    /// Prefetches the head of the packet at `place`.
    #[inline(always)]
    pub fn prefetch_head(&self, place: usize) {
        prefetch::lines(self.head(place), 1);
    }
}

impl Index<usize> for Pages {
    type Output = Packet;
    #[inline(always)]
    fn index(&self, place: usize) -> &Packet {
        &self.pages[place >> BITS].packets[place & MASK]
    }
}

impl IndexMut<usize> for Pages {
    #[inline(always)]
    fn index_mut(&mut self, place: usize) -> &mut Packet {
        &mut self.pages[place >> BITS].packets[place & MASK]
    }
}
