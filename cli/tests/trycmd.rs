//! Short outputs, word for word: `cmd/*.trycmd`.

#[test]
fn outputs_are_word_for_word() {
    trycmd::TestCases::new().env("NO_COLOR", "1").env("COLUMNS", "100").case("tests/cmd/*.trycmd");
}
