//! JSON of `nvbandwidth -j`: its tests, with the places of their values.

use weir_scenario::{Diagnostic, Position};

use super::json::Placed;
use super::number;
use super::nvbandwidth::{Contents, TestCase, TestCell};
use super::source::{Source, Span};

pub(super) fn contents(source: &Source<'_>) -> Result<Contents, Box<Diagnostic>> {
    let root = Placed::read(source.text).map_err(|error| {
        let help = match error.to_string().contains("trailing characters") {
            true => "give the output of one run of `nvbandwidth -j`; save each to a file of its own",
            false => "save the whole output of `nvbandwidth -j`: it may have been cut off",
        };
        let span = Span { line: error.line().max(1) as u32, column: error.column().max(1) as u32, width: 1 };
        source.error(span, format!("the log is no JSON: {error}"), help)
    })?;
    let title = root.get("nvbandwidth");
    let within = |key: &str| title.and_then(|title| title.get(key));
    let cases = within("testcases").and_then(Placed::list).ok_or_else(|| {
        let (at, message) = match within("error") {
            Some(why) => (why, format!("nvbandwidth stopped with an error: {}", number::excerpt(&why.cell_text()))),
            None => (title.unwrap_or(&root), "the log has no nvbandwidth.testcases".to_owned()),
        };
        source.error(span(at), message, "save the whole output of `nvbandwidth -j`")
    })?;
    let mib = within("bufferSize").and_then(|size| size.cell_text().parse::<u64>().ok());
    let bytes = mib.filter(|mib| (1..=1 << 30).contains(mib)).map(|mib| mib << 20);
    let gpus = within("GPU Device list").and_then(Placed::list).unwrap_or(&[]);
    let gpus = gpus.iter().filter_map(Placed::text).map(str::to_owned).collect();
    Ok(Contents { bytes, cases: cases.iter().map(|case| test(source, case)).collect::<Result<_, _>>()?, gpus })
}

fn test(source: &Source<'_>, case: &Placed) -> Result<TestCase, Box<Diagnostic>> {
    let text = |key: &str| case.get(key).and_then(Placed::text);
    let name = text("name").unwrap_or("a test without a name").to_owned();
    let rows = case.get("bandwidth_matrix").and_then(Placed::list).unwrap_or(&[]);
    let width = rows.first().and_then(Placed::list).map_or(0, <[Placed]>::len);
    let row = |(at, cells): (usize, &Placed)| {
        let values = cells.list().unwrap_or(&[]);
        if values.len() != width || width == 0 {
            let (name, count) = (number::excerpt(&name), values.len());
            let message = format!("row {} of `{name}` has {count} cells, the first has {width}", at + 1);
            let help = "the log was changed or cut off: save the whole output of `nvbandwidth -j` again";
            return Err(source.error(span(cells), message, help));
        }
        let cell = |value: &Placed| TestCell { text: value.cell_text(), at: place(source, value) };
        Ok(values.iter().map(cell).collect())
    };
    Ok(TestCase {
        at: place(source, case.get("name").unwrap_or(case)),
        unusable: unusable(case),
        rows: rows.iter().enumerate().map(row).collect::<Result<_, _>>()?,
        name,
    })
}

/// Why a test is not used, though its name may be known.
fn unusable(case: &Placed) -> Option<String> {
    let text = |key: &str| case.get(key).and_then(Placed::text);
    let status = text("status").unwrap_or("Passed");
    if status != "Passed" {
        let error = text("error").map_or_else(String::new, |error| format!(": {}", number::excerpt(error)));
        return Some(format!("its status is `{}`{error}", number::excerpt(status)));
    }
    None
}

fn place(source: &Source<'_>, value: &Placed) -> Position {
    source.place(value.line, value.column)
}

fn span(value: &Placed) -> Span {
    Span { line: value.line, column: value.column, width: 1 }
}
