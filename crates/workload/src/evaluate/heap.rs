//! Queue of events with the order of the heap of GNU's C++ library, in which the copy of LogGOPSim in htsim has events
//! of one time: they come neither in the order of their age nor in its reverse.
//!
//! A pop moves the hole at the top down to a leaf, to the earlier child each time and to the right one of two equal
//! ones, and the last element from there up.

/// Heap of things with a time.
#[derive(Debug)]
pub struct Heap<T> {
    all: Vec<(u64, T)>,
}

impl<T: Copy> Heap<T> {
    /// An empty heap.
    pub fn new() -> Heap<T> {
        Heap { all: Vec::new() }
    }

    /// Adds an event.
    pub fn push(&mut self, time: u64, event: T) {
        self.all.push((time, event));
        self.rise(self.all.len() - 1, (time, event));
    }

    /// Moves a hole up to the place of this element.
    fn rise(&mut self, mut hole: usize, element: (u64, T)) {
        while hole > 0 && self.all[(hole - 1) / 2].0 > element.0 {
            self.all[hole] = self.all[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.all[hole] = element;
    }

    /// Takes the event on top.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.all.pop()?;
        let Some(&top) = self.all.first() else { return Some(last.1) };
        let length = self.all.len();
        let mut hole = 0;
        while 2 * hole + 1 < length {
            let (left, right) = (2 * hole + 1, 2 * hole + 2);
            let child = if right < length && self.all[right].0 <= self.all[left].0 { right } else { left };
            self.all[hole] = self.all[child];
            hole = child;
        }
        self.rise(hole, last);
        Some(top.1)
    }
}
