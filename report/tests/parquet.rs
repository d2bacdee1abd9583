//! Tables as Parquet, as another reader has them. A program of its own, which is built where the feature is asked for.

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use weir_report::{ColumnValues, ExportTable, TableColumn, write_parquet};

#[test]
fn what_is_written_is_read_back() {
    let columns = vec![
        TableColumn { name: "id".into(), values: ColumnValues::Text([Some("a\"b"), None].into_iter().collect()) },
        TableColumn {
            name: "end_ps".into(),
            values: ColumnValues::Whole([None, Some(u64::MAX >> 1)].into_iter().collect()),
        },
        TableColumn {
            name: "rate_Bps".into(),
            values: ColumnValues::Real([Some(0.1), Some(1e300)].into_iter().collect()),
        },
        TableColumn {
            name: "best".into(),
            values: ColumnValues::Flag([Some(true), Some(false)].into_iter().collect()),
        },
    ];
    let mut file = Vec::new();
    write_parquet(&ExportTable { name: "transfers", columns }, &mut file).expect("memory takes it");
    let reader = SerializedFileReader::new(bytes::Bytes::from(file)).expect("it is Parquet");
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].get_string(0).expect("a text"), "a\"b");
    assert_eq!((rows[0].get_double(2).ok(), rows[1].get_double(2).ok()), (Some(0.1), Some(1e300)));
    assert_eq!(rows[1].get_long(1).ok(), Some(i64::MAX));
    assert_eq!((rows[0].get_bool(3).ok(), rows[1].get_bool(3).ok()), (Some(true), Some(false)));
    assert!(rows[0].get_long(1).is_err() && rows[1].get_string(0).is_err(), "unknown values stay unknown");
}
