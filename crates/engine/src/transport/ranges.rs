//! Sets of byte ranges, for SACK: out-of-order data at a receiver, and a sender's knowledge of it.

/// Disjoint, sorted, non-touching half-open ranges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    list: Vec<(u64, u64)>,
    bytes: u64,
}

impl Ranges {
    /// Adds `[start, end)` and reports each part that was not there before. Returns the range
    /// that now holds it.
    pub fn add(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) -> (u64, u64) {
        debug_assert!(start < end);
        // first range that touches or follows `start`
        let first = self.list.partition_point(|r| r.1 < start);
        let mut last = first;
        let mut cursor = start;
        let (mut low, mut high) = (start, end);
        while last < self.list.len() && self.list[last].0 <= end {
            let (a, b) = self.list[last];
            if a > cursor {
                new(cursor, a);
                self.bytes += a - cursor;
            }
            cursor = cursor.max(b);
            low = low.min(a);
            high = high.max(b);
            last += 1;
        }
        if cursor < end {
            new(cursor, end);
            self.bytes += end - cursor;
        }
        if last == first {
            self.list.insert(first, (low, high));
        } else {
            self.list[first] = (low, high);
            self.list.drain(first + 1..last);
        }
        (low, high)
    }

    /// Forgets everything below `edge`.
    pub fn cut_below(&mut self, edge: u64) {
        let gone = self.list.partition_point(|r| r.1 <= edge);
        for r in self.list.drain(..gone) {
            self.bytes -= r.1 - r.0;
        }
        if let Some(r) = self.list.first_mut()
            && r.0 < edge
        {
            self.bytes -= edge - r.0;
            r.0 = edge;
        }
    }

    /// End of the range that starts at or below `edge`; `edge` if there is none.
    pub fn reach_from(&self, edge: u64) -> u64 {
        match self.list.first() {
            Some(r) if r.0 <= edge => r.1.max(edge),
            _ => edge,
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes held below `edge`.
    pub fn bytes_below(&self, edge: u64) -> u64 {
        let beyond = self.list.iter().rev().take_while(|r| r.1 > edge).map(|r| r.1 - r.0.max(edge)).sum::<u64>();
        self.bytes - beyond
    }

    /// Returns whether there is no range.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Ranges in order.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.list
    }

    /// Range that holds byte `at`.
    pub fn find(&self, at: u64) -> Option<(u64, u64)> {
        let i = self.list.partition_point(|r| r.1 <= at);
        self.list.get(i).copied().filter(|r| r.0 <= at)
    }
}
