//! Packets in flight, by value, in pages.
//!
//! A window takes a page when the one before it is full, and gives all of them back when it is over: what is written
//! next lies where something was read last. A run touches as much memory as it has packets under way, and up to a page
//! more for each thread that sends to each other in each near window. (Where a window had all of its packets in one
//! piece, each of many pieces became as large as the fullest window.)

use crate::event::packet::{Kind, Packet};
use crate::event::prefetch;
use crate::ids::{DomainId, FlowId, HostIx, LinkId, NodeId, NodeIx};
use crate::map::fabric::Place;
use incast_cc::Time;
use std::ops::{Index, IndexMut, Range};

/// Bits of a place that say where in its page a packet lies.
const BITS: u32 = 8;
/// Packets of a page: 20 KiB with their heads.
pub const PAGE: usize = 1 << BITS;
const MASK: usize = PAGE - 1;

/// The part of a packet by which a window deals it out and orders it, before it looks at the packet.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Where it arrives.
    pub to: Place,
    /// When, after the beginning of the window; no window is as long as a word counts.
    pub offset: u32,
    /// On which link.
    pub link: LinkId,
}

/// Some packets, and the head of each.
struct Page {
    packets: Box<[Packet; PAGE]>,
    heads: Box<[Head; PAGE]>,
}

/// Pages that nothing lies in, the one that was read last on top: its memory is near.
#[derive(Default)]
pub struct Spare(Vec<Page>);

impl Spare {
    /// How many.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// A page to write to.
    fn take(&mut self) -> Page {
        self.0.pop().unwrap_or_else(|| {
            let packet = Packet::forward(Kind::Data, FlowId(0), NodeId(0), 0, 0, Time::ZERO);
            let head =
                Head { to: Place { domain: DomainId(0), node: NodeIx::host(HostIx(0)) }, offset: 0, link: packet.link };
            Page { packets: filled(packet), heads: filled(head) }
        })
    }
}

/// A page of what is never read.
fn filled<T: Clone>(blank: T) -> Box<[T; PAGE]> {
    // in its place: an array would be made elsewhere and copied
    let Ok(page) = vec![blank; PAGE].try_into() else { unreachable!("it is as long as a page") };
    page
}

/// Packets that arrive in a window, in the order of sending, each at a place of its own.
#[derive(Default)]
pub struct Pages {
    pages: Vec<Page>,
    /// The place of the next one.
    next: usize,
    /// Places of what others have sent, each from the beginning of a page on.
    others: Vec<Range<usize>>,
}

impl Pages {
    /// Nothing lies in it.
    pub fn is_empty(&self) -> bool {
        self.stretches().all(|places| places.is_empty())
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.stretches().map(|places| places.len()).sum()
    }

    /// Whether the next one needs a page; so it does where there is none yet.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.next & MASK == 0
    }

    /// The next one has a page.
    pub fn make_room(&mut self, spare: &mut Spare) {
        debug_assert!(self.is_full() && self.others.is_empty());
        self.pages.push(spare.take());
    }

    /// Appends a copy of `packet`, to be stamped, under its `head`, where there is room; first, its place.
    #[inline(always)]
    pub fn push(&mut self, head: Head, packet: &Packet) -> (usize, &mut Packet) {
        let (place, line) = (self.next, self.next & MASK);
        self.next += 1;
        let page = &mut self.pages[place >> BITS];
        // many windows are written to in turn: the processor does not see that each goes on in order
        prefetch::item(page.packets.as_slice(), line + 2);
        page.heads[line] = head;
        // copy first and stamp the copy: reading back what was just written in parts stalls
        page.packets[line] = *packet;
        (place, &mut page.packets[line])
    }

    /// Appends what `others` hold, and leaves them as many spare pages, if there are.
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

    /// How many pages it has.
    #[cfg(test)]
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Whether it was ever written to.
    pub fn is_used(&self) -> bool {
        self.pages.capacity() > 0
    }

    /// Gives all pages back.
    pub fn clear(&mut self, spare: &mut Spare) {
        spare.0.append(&mut self.pages);
        self.others.clear();
        self.next = 0;
    }

    /// Places that follow one another.
    fn stretches(&self) -> impl Iterator<Item = Range<usize>> {
        std::iter::once(0..self.next).chain(self.others.iter().cloned())
    }

    /// The pages, each from the place of its first packet on: heads and packets.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Head], &[Packet])> {
        self.stretches().flat_map(move |Range { start, end }| {
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

    /// Brings the packet at `place` near.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) {
        prefetch::lines(&self[place], 1);
    }

    /// Brings its head near.
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
