//! Short outputs, word for word: `cmd/*.trycmd`.

#[test]
fn outputs_are_word_for_word() {
    let no_plugins = concat!(env!("CARGO_TARGET_TMPDIR"), "/no-plugins");
    let cases = trycmd::TestCases::new();
    cases
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "100")
        .env("WEIR_CONFIG_DIR", no_plugins)
        .case("tests/cmd/*.trycmd");
}
