//! The binary interface between weir and plugins: the only unsafe code of this crate.
#![allow(unsafe_code)]

mod slice;

pub use slice::Slice;
