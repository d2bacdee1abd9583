use super::*;

const WIDE: Layout = Layout { width: None, colour: false, markdown: false };

fn sheet() -> Sheet {
    let mut sheet = Sheet::new(["transfer", ">start", ">end", "because"]).spare(["start"]);
    sheet.marked_row(Some(Mark::Slow), ["a", "0 s", "12.5 ms", "downstream port shared with b"].map(str::to_owned));
    sheet.row(["node/b", "0 s", "1 ms", ""].map(str::to_owned));
    sheet
}

#[test]
fn spare_columns_go_before_texts_are_shortened_and_others_go() {
    let at = |width| sheet().fitted(Layout { width: Some(width), ..WIDE });
    let whole = sheet().fitted(WIDE);
    assert_eq!(whole.lines().nth(2).map(|line| line.chars().count()), Some(58), "{whole}");
    assert_eq!(at(58).lines().nth(2), whole.lines().nth(2));
    assert!(at(57).ends_with("to fit 57 columns without start: --wide shows all\n"), "{}", at(57));
    let narrow = at(40);
    assert!(narrow.contains("downstream port sh…"), "{narrow}");
    assert!(
        narrow.ends_with("to fit 40 columns with shortened texts,\n  without start: --wide shows all\n"),
        "{narrow}"
    );
    assert!(narrow.lines().take(4).all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(at(1).starts_with("transfer\n────────\n"), "{}", at(1));
}

/// Texts of 40, 30 and 20 characters beside one of 1, with 9 between: the widest is shortened to the next one, then both,
/// then all, the first of equals first. Below 12 each, 46 in all, the last column goes, and there is room for the others.
#[test]
fn the_widest_texts_are_shortened_first() {
    let mut sheet = Sheet::new(["x", "y", "z", "w"]);
    sheet.row(["a".to_owned(), "b".repeat(40), "c".repeat(30), "d".repeat(20)]);
    let widths = |width| -> Vec<usize> {
        let Sheet { columns, rows, spare } = &sheet;
        let copy = Sheet { columns: columns.clone(), rows: rows.clone(), spare: spare.clone() };
        let text = copy.fitted(Layout { width: Some(width), ..WIDE });
        let row = text.lines().nth(2).expect("a row");
        row.split_whitespace().skip(1).map(|text| text.chars().count()).collect()
    };
    assert_eq!([100, 90, 80].map(widths), [vec![40, 30, 20], vec![30, 30, 20], vec![25, 25, 20]]);
    assert_eq!([79, 70, 64].map(widths), [vec![24, 25, 20], vec![20, 20, 20], vec![18, 18, 18]]);
    assert_eq!([46, 45, 44].map(widths), [vec![12, 12, 12], vec![19, 19], vec![18, 19]]);
}

#[test]
fn words_go_on_in_the_next_line() {
    for (width, lines) in [(8, "aa bb cc\n"), (7, "aa bb\n  cc\n"), (5, "aa bb\n  cc\n"), (4, "aa\n  bb\n  cc\n")] {
        assert_eq!(wrapped("aa bb cc", width), lines);
    }
}

#[test]
fn names_of_rows_stay_different() {
    let mut sheet = Sheet::new(["what if", ">saved"]);
    for factor in ["2 (no more needed)", "4", "16"] {
        sheet.row([format!("link_types.infiniband-ndr × {factor}"), "1 ms".to_owned()]);
    }
    // Whose begins are equal, and whose ends are not.
    let text = sheet.fitted(Layout { width: Some(32), ..WIDE });
    let rows: Vec<&str> = text.lines().skip(2).take(3).collect();
    let expected =
        ["link_types.…more needed)    1 ms", "link_types.…band-ndr × 4    1 ms", "link_types.…and-ndr × 16    1 ms"];
    assert_eq!(rows, expected, "{text}");
}

/// Names that differ in their 22nd character alone, which a cut to 23 shows; where they do not fit even so, they stay whole.
/// Names of 13 of which one differs in the 6th and one in the last cannot be cut. In other columns texts are shortened to 12,
/// whatever becomes the same. Between columns are 3 characters.
#[test]
fn rows_are_told_apart_by_their_first_column() {
    let names = |texts: [&str; 3], column: usize, width: usize| -> Vec<String> {
        let mut sheet = Sheet::new(if column == 0 { ["name", "x"] } else { ["x", "name"] });
        for (text, other) in texts.into_iter().zip(["1", "2", "3"]) {
            sheet.row(if column == 0 { [text, other] } else { [other, text] }.map(str::to_owned));
        }
        let text = sheet.fitted(Layout { width: Some(width), ..WIDE });
        let cell = |row: &str| row.split_whitespace().nth(column).expect("a cell").to_owned();
        text.lines().skip(2).take(3).map(cell).collect()
    };
    let begin = "a".repeat(21);
    let long = ["1", "2", "3"].map(|number| format!("{begin}{number}{begin}"));
    let long = [&*long[0], &*long[1], &*long[2]];
    assert_eq!(names(long, 0, 27), ["1", "2", "3"].map(|number| format!("{begin}{number}…")));
    assert_eq!(names(long, 0, 20), long);
    assert_eq!(names(long, 1, 16), ["aaaaaaaaaaa…"; 3]);
    let short = ["aaaaaaaaaaaaa", "aaaaabaaaaaaa", "aaaaaaaaaaaab"];
    assert_eq!(names(short, 0, 16), short);
}

/// A heading of several lines is as wide as its longest one, which is shortened beside numbers that are not.
#[test]
fn headings_of_numbers_are_shortened_and_numbers_are_not() {
    let mut sheet = Sheet::new(["what", ">scenarios/topologies/file.yaml\nmax-min"]);
    sheet.row(["makespan", "1234.567 ms"].map(str::to_owned));
    let text = sheet.fitted(Layout { width: Some(24), ..WIDE });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["what       …es/file.yaml", "                 max-min"], "{text}");
    assert_eq!(lines[3], "makespan     1234.567 ms", "{text}");
    assert_eq!(lines[4], "to fit 24 columns with", "{text}");
    // Numbers come first in a table of parameters: they stay whole.
    let mut sheet = Sheet::new([">a-parameter-with-a-long-name", "because"]);
    for number in ["1234567890123456789", "2"] {
        sheet.row([number, "because of a long reason"].map(str::to_owned));
    }
    let text = sheet.fitted(Layout { width: Some(34), ..WIDE });
    let numbers: Vec<&str> = text.lines().skip(2).take(2).filter_map(|row| row.split_whitespace().next()).collect();
    assert_eq!(numbers, ["1234567890123456789", "2"], "{text}");
}

#[test]
fn colour_is_of_the_header_and_of_marked_rows() {
    let text = sheet().fitted(Layout { colour: true, ..WIDE });
    let begins: Vec<Option<&str>> = text.lines().map(|line| line.split_inclusive('m').next()).collect();
    assert_eq!(begins[..3], [BOLD, DIM, Mark::Slow.colour()].map(Some));
    assert!(text.lines().nth(3).is_some_and(|line| line.starts_with("node/b")), "{text}");
}

#[test]
fn markdown_has_all_columns_and_no_markup_of_names() {
    let mut sheet = Sheet::new(["transfer", ">end"]).spare(["end"]);
    sheet.row(["a|b_*", "1 ms"].map(str::to_owned));
    assert_eq!(sheet.fitted(Layout::MARKDOWN), "\n| transfer | end |\n| --- | ---: |\n| a\\|b\\_\\* | 1 ms |\n\n");
}

#[test]
fn of_a_path_the_end_is_kept() {
    assert_eq!(short("scenarios/pcie/halo.yaml\nmax-min", 10), "…halo.yaml\nmax-min");
    assert_eq!(short("a long reason", 8), "a long…");
    assert_eq!((short("abcdef", 6).as_str(), without_middle("abcdef", 6).as_str()), ("abcdef", "abcdef"));
    assert_eq!((short("abcdef", 5).as_str(), without_middle("abcdef", 5).as_str()), ("abcd…", "ab…ef"));
}
