//! A borrowed slice with a C layout: pointer, then length.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A `&[T]` whose layout C can read: `{ const T *data; size_t len; }`. `data` is never null.
#[repr(C)]
pub struct Slice<'a, T> {
    data: *const T,
    len: usize,
    borrow: PhantomData<&'a [T]>,
}

// SAFETY: a Slice is a shared borrow of [T], and is sendable and shareable exactly when that is.
unsafe impl<T: Sync> Send for Slice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slice<'_, T> {}

impl<T> Clone for Slice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<'_, T> {}

impl<'a, T> Slice<'a, T> {
    /// Whether a plugin left the pointer null, as C authors may where a slice is empty: then it is not to be read.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.data.is_null()
    }

    /// The borrow as a Rust slice.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &'a [T] {
        // SAFETY: the fields are private and only ever set from a `&'a [T]` (or, behind the C table, by the host from
        // one that outlives the call), so pointer, length and lifetime are those of a valid slice.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl<'a, T> From<&'a [T]> for Slice<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        Self { data: slice.as_ptr(), len: slice.len(), borrow: PhantomData }
    }
}

impl<'a, T> From<&'a Vec<T>> for Slice<'a, T> {
    fn from(vec: &'a Vec<T>) -> Self {
        vec.as_slice().into()
    }
}

impl<T> Default for Slice<'_, T> {
    fn default() -> Self {
        [].as_slice().into()
    }
}

impl<T> Deref for Slice<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: fmt::Debug> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
