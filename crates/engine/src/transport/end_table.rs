//! Senders, or receivers, of a domain.
//!
//! Most lie side by side from the start of a run. The end of a job's connection is made when the connection is used
//! first, and may go when no more packets can come: of such an end the fields of its flow's record stay.

use crate::ids::{ReceiverIx, SenderIx};
use crate::transport::ends::{ReceiveEndpoint, SendEndpoint};
use incast_record::FlowRecord;
use std::ops::{Index, IndexMut};

/// Senders, or receivers, of a domain.
#[derive(Debug)]
pub struct EndTable<T> {
    /// Ends that are there from the start, the first in number.
    own: Vec<T>,
    /// The others.
    late: Vec<Late<T>>,
    /// Packed fields of ends that are gone, for the records of their flows.
    left: Vec<u8>,
}

/// End of a job's connection.
#[derive(Debug)]
enum Late<T> {
    /// Not yet used.
    Unused,
    /// In use.
    Open(Box<T>),
    /// Gone; where in [`EndTable::left`] its fields begin.
    Gone(u32),
}

/// Knowledge of an end.
#[derive(Debug)]
pub enum Known<'t, T> {
    /// The end.
    End(&'t T),
    /// Fields of the record of an end that is gone, packed.
    Left(&'t [u8]),
    /// Nothing: no packet has come.
    Unused,
}

impl<T> Default for EndTable<T> {
    fn default() -> Self {
        EndTable { own: Vec::new(), late: Vec::new(), left: Vec::new() }
    }
}

impl<T> EndTable<T> {
    /// Table of `count` ends, of which the first are there.
    pub fn new(own: Vec<T>, count: u32) -> Self {
        let late = std::iter::repeat_with(|| Late::Unused).take(count as usize - own.len()).collect();
        EndTable { own, late, left: Vec::new() }
    }

    /// Number of ends that are there from the start.
    pub fn count_own(&self) -> usize {
        self.own.len()
    }

    /// End `at`, if it is there.
    #[inline(always)]
    pub fn at(&self, at: usize) -> Option<&T> {
        match self.own.get(at) {
            Some(end) => Some(end),
            None => self.late_at(at),
        }
    }

    /// End `at`, if it is there.
    #[inline(always)]
    pub fn at_mut(&mut self, at: usize) -> Option<&mut T> {
        match at < self.own.len() {
            true => Some(&mut self.own[at]),
            false => self.late_at_mut(at),
        }
    }

    #[cold]
    fn late_at(&self, at: usize) -> Option<&T> {
        match self.late.get(at.checked_sub(self.own.len())?)? {
            Late::Open(end) => Some(end),
            Late::Unused | Late::Gone(_) => None,
        }
    }

    #[cold]
    fn late_at_mut(&mut self, at: usize) -> Option<&mut T> {
        match self.late.get_mut(at.checked_sub(self.own.len())?)? {
            Late::Open(end) => Some(end),
            Late::Unused | Late::Gone(_) => None,
        }
    }

    /// End `at`, made by `make` if it is used for the first time; `None` once it is gone.
    pub fn used(&mut self, at: usize, make: impl FnOnce() -> T) -> Option<&mut T> {
        if let Some(late) = at.checked_sub(self.own.len()).and_then(|late| self.late.get_mut(late))
            && matches!(late, Late::Unused)
        {
            *late = Late::Open(Box::new(make()));
        }
        self.at_mut(at)
    }

    /// Lets an end go. `record` adds its fields to a flow's record. Returns false for one that has to stay.
    pub fn let_go(&mut self, at: usize, record: impl FnOnce(&T, &mut FlowRecord)) -> bool {
        let late = at.checked_sub(self.own.len()).and_then(|late| self.late.get_mut(late));
        let (Some(late), Ok(place)) = (late, u32::try_from(self.left.len())) else { return false };
        let Late::Open(end) = late else { return false };
        let mut own = FlowRecord::blank();
        record(end, &mut own);
        own.pack(&mut self.left);
        debug_assert!(is_packed(&own, &self.left[place as usize..]), "{own:?}");
        *late = Late::Gone(place);
        true
    }

    /// Knowledge of end `at`.
    pub fn known(&self, at: usize) -> Known<'_, T> {
        match self.own.get(at) {
            Some(end) => Known::End(end),
            None => match at.checked_sub(self.own.len()).and_then(|late| self.late.get(late)) {
                Some(Late::Open(end)) => Known::End(end),
                Some(Late::Gone(place)) => Known::Left(&self.left[*place as usize..]),
                Some(Late::Unused) | None => Known::Unused,
            },
        }
    }

    /// All ends that are there, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let open = self.late.iter().filter_map(|late| if let Late::Open(end) = late { Some(&**end) } else { None });
        self.own.iter().chain(open)
    }

    /// All ends that are there, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let open =
            self.late.iter_mut().filter_map(|late| if let Late::Open(end) = late { Some(&mut **end) } else { None });
        self.own.iter_mut().chain(open)
    }
}

/// Returns whether a record can be read again from what is packed of it.
fn is_packed(record: &FlowRecord, left: &[u8]) -> bool {
    let mut again = FlowRecord::blank();
    again.unpack(left) && format!("{again:?}") == format!("{record:?}")
}

macro_rules! indexed {
    ($($of:ty, $by:ty;)*) => {$(
        impl Index<$by> for EndTable<$of> {
            type Output = $of;
            #[inline(always)]
            fn index(&self, at: $by) -> &$of {
                &self.own[at.ix()]
            }
        }

        impl IndexMut<$by> for EndTable<$of> {
            #[inline(always)]
            fn index_mut(&mut self, at: $by) -> &mut $of {
                &mut self.own[at.ix()]
            }
        }
    )*};
}

indexed! {
    SendEndpoint, SenderIx;
    ReceiveEndpoint, ReceiverIx;
}
