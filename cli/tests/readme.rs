//! The README's worked examples, with their output word for word. (In a test program of its own: it changes its folder,
//! so that the commands stand in the README as one types them.)

#[test]
fn readme_examples_print_what_is_shown() {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the repository's folder");
    let readme = std::fs::read_to_string("README.md").expect("README.md");
    assert!(readme.matches("\n$ weir ").count() >= 6, "the examples are gone");
    trycmd::TestCases::new().env("NO_COLOR", "1").env("COLUMNS", "100").env("LC_ALL", "C.UTF-8").case("README.md");
}
