//! How a call ends: its code, and the host's buffer for the text of an error.

use std::marker::PhantomData;

/// What a call answers.
pub mod code {
    /// The call did what it was asked.
    pub const OK: i32 = 0;
    /// An error; its text stands in the buffer.
    pub const ERROR: i32 = 1;
    /// The plugin panicked: the instance is never called again except `destroy`.
    pub const PANIC: i32 = 2;
}

/// Where a plugin writes why a call failed: the host's memory, so that no allocation crosses the boundary.
/// In C: `struct { char *data; size_t capacity; size_t len; }`.
#[derive(Debug)]
#[repr(C)]
pub struct ErrorBuffer<'a> {
    data: *mut u8,
    capacity: usize,
    len: usize,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> ErrorBuffer<'a> {
    /// An empty text over the host's memory.
    #[must_use]
    pub fn new(memory: &'a mut [u8]) -> Self {
        Self { data: memory.as_mut_ptr(), capacity: memory.len(), len: 0, borrow: PhantomData }
    }

    /// Replaces the text; what does not fit is cut at a character's end.
    pub fn write(&mut self, text: &str) {
        let len = floor_char_boundary(text, self.capacity);
        // SAFETY: `data` points to `capacity` writable bytes borrowed for 'a, and len ≤ min(capacity, text.len()).
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), self.data, len) };
        self.len = len;
    }

    /// Where the text stands, and how much has room there: a faulty plugin may put another place here, so the host compares
    /// it before it reads the text.
    #[must_use]
    pub fn place(&self) -> (*const u8, usize) {
        (self.data, self.capacity)
    }

    /// The text as one line: bytes that are not UTF-8 are replaced, control characters become spaces. A length beyond
    /// the capacity, as a faulty plugin may leave it, is read as the capacity.
    #[must_use]
    pub fn text(&self) -> String {
        // SAFETY: as in `write`; the memory was initialised by the host.
        let bytes = unsafe { std::slice::from_raw_parts(self.data, self.len.min(self.capacity)) };
        let bytes = bytes.split(|&b| b == 0).next().unwrap_or_default();
        let line: String =
            String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        line.trim().to_owned()
    }
}

/// `str::floor_char_boundary`, which is younger than the oldest supported compiler.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ErrorBuffer;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let mut memory = [0; 4];
        let mut buffer = ErrorBuffer::new(&mut memory);
        buffer.write("aéé");
        assert_eq!(buffer.text(), "aé");
        buffer.write("b");
        assert_eq!(buffer.text(), "b");
    }

    #[test]
    fn what_a_faulty_plugin_leaves_is_one_line_of_text() {
        let mut memory = *b"a\nb\xff";
        let mut buffer = ErrorBuffer::new(&mut memory);
        buffer.len = 1000;
        assert_eq!(buffer.text(), "a b\u{fffd}");
    }

    #[test]
    fn a_buffer_without_room_holds_nothing() {
        let mut buffer = ErrorBuffer::new(&mut []);
        buffer.write("é");
        assert_eq!(buffer.text(), "");
    }
}
