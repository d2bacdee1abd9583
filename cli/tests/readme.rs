//! The worked examples of the README, the guide and the pages on clusters, packets and programs, with their output word for
//! word. (In a test program of its own: it changes its folder, so that the commands stand there as one types them.)

#[test]
fn examples_print_what_is_shown() {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the repository's folder");
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").env("COLUMNS", "100").env("LC_ALL", "C.UTF-8");
    for (page, least) in [
        ("README.md", 5),
        ("docs/guide.md", 17),
        ("docs/clusters.md", 5),
        ("docs/packets.md", 2),
        ("docs/programs.md", 3),
    ] {
        let text = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.matches("\n$ weir ").count() >= least, "{page} lost examples");
        cases.case(page);
    }
}
