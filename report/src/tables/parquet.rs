//! Tables as Apache Parquet: one row group per million rows, Snappy, all columns optional.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{ColumnValues, ExportTable};

/// Rows of a group (*assumed*: as much as other writers take).
const GROUP: usize = 1 << 20;

/// Writes a table. Whole numbers are 64-bit integers with a sign: times in ps and bytes of weir are below 2^63.
///
/// # Errors
/// What the writer says.
pub fn write_parquet(table: &ExportTable, out: impl Write + Send) -> std::io::Result<()> {
    write(table, out).map_err(std::io::Error::other)
}

fn write(table: &ExportTable, out: impl Write + Send) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema(table)?, Arc::new(properties))?;
    for first in (0..table.rows()).step_by(GROUP) {
        let rows = first..table.rows().min(first + GROUP);
        let mut group = writer.next_row_group()?;
        let mut columns = table.columns.iter();
        while let (Some(mut column), Some(values)) = (group.next_column()?, columns.next()) {
            write_column(&mut column, &values.values, rows.clone())?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

fn schema(table: &ExportTable) -> Result<Arc<Type>, ParquetError> {
    let field = |name: &str, values: &ColumnValues| {
        let (physical, logical) = match values {
            ColumnValues::Text(_) | ColumnValues::Name(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnValues::Whole(_) => (Physical::INT64, None),
            ColumnValues::Real(_) => (Physical::DOUBLE, None),
            ColumnValues::Flag(_) => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = table.columns.iter().map(|column| field(&column.name, &column.values));
    Type::group_type_builder(table.name).with_fields(fields.collect::<Result<_, _>>()?).build().map(Arc::new)
}

/// The known values one after the other, and for each row whether it has one.
fn dense<T, U>(values: impl Iterator<Item = Option<T>> + Clone, of: impl Fn(T) -> U) -> (Vec<U>, Vec<i16>) {
    (values.clone().flatten().map(of).collect(), values.map(|value| i16::from(value.is_some())).collect())
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    values: &ColumnValues,
    rows: std::ops::Range<usize>,
) -> Result<(), ParquetError> {
    match values {
        ColumnValues::Text(texts) => {
            let (texts, known) = dense(rows.map(|row| texts.get(row)), ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&texts, Some(&known), None)?;
        }
        ColumnValues::Name(names) => {
            let (texts, known) = dense(rows.map(|row| names.get(row)), ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&texts, Some(&known), None)?;
        }
        ColumnValues::Whole(numbers) => {
            let (numbers, known) = dense(rows.map(|row| numbers.get(row)), |number| number as i64);
            column.typed::<Int64Type>().write_batch(&numbers, Some(&known), None)?;
        }
        ColumnValues::Real(numbers) => {
            let (numbers, known) = dense(rows.map(|row| numbers.get(row)), |number| number);
            column.typed::<DoubleType>().write_batch(&numbers, Some(&known), None)?;
        }
        ColumnValues::Flag(flags) => {
            let (flags, known) = dense(rows.map(|row| flags.get(row)), |flag| flag);
            column.typed::<BoolType>().write_batch(&flags, Some(&known), None)?;
        }
    }
    Ok(())
}
