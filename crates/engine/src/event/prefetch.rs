//! Prefetches memory before it is needed. Changes no result.
//!
//! At k = 16 and above the fabric does not fit the near caches, and misses cost more than everything else. A domain
//! knows at the start of its window which ports it will touch.

/// Prefetches the first `lines` cache lines of `value`.
#[inline(always)]
pub fn lines<T: ?Sized>(value: &T, lines: usize) {
    let start = (value as *const T).cast::<i8>();
    (0..lines).for_each(|i| line(start.wrapping_add(i * 64)));
}

/// Prefetches `lines` cache lines of `value`, from byte `first` on.
#[inline(always)]
pub fn lines_from<T: ?Sized>(value: &T, first: usize, lines: usize) {
    let start = (value as *const T).cast::<i8>().wrapping_add(first);
    (0..lines).for_each(|i| line(start.wrapping_add(i * 64)));
}

/// Prefetches the first cache line of the item at `place` of a slice, if any.
#[inline(always)]
pub fn item<T>(slice: &[T], place: usize) {
    line(slice.as_ptr().wrapping_add(place).cast());
}

/// Prefetches the cache line at an address.
#[inline(always)]
#[allow(unsafe_code)]
fn line(at: *const i8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
