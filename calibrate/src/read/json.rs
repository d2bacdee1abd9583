//! JSON whose values know where they stand, for messages: a walk over text that a JSON reader has accepted.

use serde_json::Value;

/// A value with the place where it begins; line and column from 1.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Placed {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) data: Data,
}

/// A value: a number, text, `true`, `false` or `null`, or what holds values.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Data {
    Single(Value),
    List(Vec<Placed>),
    Map(Vec<(String, Placed)>),
}

impl Placed {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, serde_json::Error> {
        // Checks the text, the depth of its nesting too, so that the walk need not.
        let root: Value = serde_json::from_str(text)?;
        let nothing = Self { line: 1, column: 1, data: Data::Single(root) };
        Ok(Walk { text, at: 0, counted: 0, line: 1, column: 1 }.value().unwrap_or(nothing))
    }

    /// The value of a key of a map, of the last one where it stands twice.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Data::Map(entries) = &self.data else { return None };
        entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The items of a list.
    pub(super) fn list(&self) -> Option<&[Self]> {
        if let Data::List(items) = &self.data { Some(items) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Data::Single(Value::String(text)) = &self.data { Some(text) } else { None }
    }

    /// A text, or what else stands there as JSON writes it; empty for lists and maps.
    pub(super) fn cell_text(&self) -> String {
        match &self.data {
            Data::Single(Value::String(text)) => text.trim().to_owned(),
            Data::Single(other) => other.to_string(),
            Data::List(_) | Data::Map(_) => String::new(),
        }
    }
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// The byte whose line and column are known: counting from the first for each value would take the square of the text.
    counted: usize,
    line: u32,
    column: u32,
}

impl Walk<'_> {
    fn value(&mut self) -> Option<Placed> {
        self.space();
        let begin = self.at;
        let (line, column) = self.place();
        let data = match self.next()? {
            b'{' => Data::Map(self.parts(b'}', |walk| {
                let key = walk.value()?.text()?.to_owned();
                walk.skip(b':')?;
                Some((key, walk.value()?))
            })?),
            b'[' => Data::List(self.parts(b']', Self::value)?),
            b'"' => {
                self.at += 1;
                while self.next()? != b'"' {
                    // What stands behind a backslash ends no text.
                    self.at += if self.next()? == b'\\' { 2 } else { 1 };
                }
                self.at += 1;
                Data::Single(serde_json::from_str(self.text.get(begin..self.at)?).ok()?)
            }
            _ => {
                let ends = |b: u8| b",]}".contains(&b) || b.is_ascii_whitespace();
                while self.next().is_some_and(|b| !ends(b)) {
                    self.at += 1;
                }
                Data::Single(serde_json::from_str(self.text.get(begin..self.at)?).ok()?)
            }
        };
        Some(Placed { line, column, data })
    }

    /// The line and column of what comes next.
    fn place(&mut self) -> (u32, u32) {
        for next in self.text.get(self.counted..self.at).unwrap_or("").chars() {
            (self.line, self.column) = if next == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.counted = self.at;
        (self.line, self.column)
    }

    fn parts<T>(&mut self, end: u8, mut part: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Vec::new();
        self.at += 1;
        self.space();
        while self.next()? != end {
            all.push(part(self)?);
            self.space();
            if self.next()? == b',' {
                self.at += 1;
                self.space();
            }
        }
        self.at += 1;
        Some(all)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.next().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn skip(&mut self, expected: u8) -> Option<()> {
        self.space();
        (self.next()? == expected).then(|| self.at += 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(placed: &Placed) -> Value {
        match &placed.data {
            Data::Single(value) => value.clone(),
            Data::List(items) => items.iter().map(plain).collect(),
            Data::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        }
    }

    /// Every value, read from its place alone, is itself.
    fn in_place(text: &str, placed: &Placed) {
        let line = text.split_inclusive('\n').take(placed.line as usize - 1).map(str::len).sum::<usize>();
        let (byte, _) = text[line..].char_indices().nth(placed.column as usize - 1).unwrap();
        let first = serde_json::Deserializer::from_str(&text[line + byte..]).into_iter::<Value>().next();
        assert_eq!(first.unwrap().unwrap(), plain(placed));
        match &placed.data {
            Data::Single(_) => {}
            Data::List(items) => items.iter().for_each(|item| in_place(text, item)),
            Data::Map(entries) => entries.iter().for_each(|(_, value)| in_place(text, value)),
        }
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            Just(Value::from("a \\\" { [ \\\\")),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|pairs| pairs.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_as_the_json_reader_does(tree in tree(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&tree) } else { serde_json::to_string(&tree) }.unwrap();
            let placed = Placed::read(&text).unwrap();
            prop_assert_eq!(&plain(&placed), &tree);
            in_place(&text, &placed);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[{}\\[\\]\",:\\\\ 0-9a-u.-]{0,30}") {
            prop_assert_eq!(Placed::read(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok());
        }
    }
}
