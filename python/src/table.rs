//! Tables of results for other libraries, by the Arrow C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, GenericStringArray, Int64Array, LargeStringArray, OffsetSizeTrait,
    RecordBatch, RecordBatchIterator, RecordBatchOptions, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use weir_report::{ColumnValues, ExportTable, TableColumn, Texts};

/// Rows of one kind, column by column.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Table {
    name: &'static str,
    batch: RecordBatch,
}

impl Table {
    /// The columns of a table, as `--export-csv` writes it.
    pub(crate) fn new(table: ExportTable) -> PyResult<Self> {
        let (name, rows) = (table.name, table.rows());
        let columns: Result<Vec<(Field, ArrayRef)>, ArrowError> = table.columns.into_iter().map(column).collect();
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.map_err(|error| wrong(&error))?.into_iter().unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        Ok(Self { name, batch: batch.map_err(|error| wrong(&error))? })
    }
}

fn wrong(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("a table of weir is wrong: {error}; please report it"))
}

/// Whole numbers are 64-bit integers with a sign, as in Parquet: times in ps and bytes of weir are below 2^63.
fn column(column: TableColumn) -> Result<(Field, ArrayRef), ArrowError> {
    let (kind, array): (DataType, ArrayRef) = match column.values {
        ColumnValues::Text(texts) => texts_of(texts)?,
        ColumnValues::Whole(numbers) => {
            let signed = numbers.into_iter().map(|number| number.map(|number| number as i64));
            (DataType::Int64, Arc::new(signed.collect::<Int64Array>()))
        }
        ColumnValues::Real(numbers) => (DataType::Float64, Arc::new(numbers.into_iter().collect::<Float64Array>())),
        ColumnValues::Flag(flags) => (DataType::Boolean, Arc::new(flags.into_iter().collect::<BooleanArray>())),
    };
    Ok((Field::new(column.name, kind, true), array))
}

/// Texts as Arrow has them, with places of 32 bits where these suffice. The memory of the texts is theirs.
fn texts_of(texts: Texts) -> Result<(DataType, ArrayRef), ArrowError> {
    fn array<O: OffsetSizeTrait>(data: String, ends: &[usize], known: Vec<bool>) -> Result<ArrayRef, ArrowError> {
        let places: Vec<O> = std::iter::once(0).chain(ends.iter().copied()).map(O::usize_as).collect();
        let nulls = known.contains(&false).then(|| NullBuffer::from(known));
        let data = Buffer::from_vec(data.into_bytes());
        Ok(Arc::new(GenericStringArray::<O>::try_new(OffsetBuffer::new(places.into()), data, nulls)?))
    }
    let (data, ends, known) = texts.into_parts();
    if i32::try_from(data.len()).is_ok() {
        Ok((DataType::Utf8, array::<i32>(data, &ends, known)?))
    } else {
        Ok((DataType::LargeUtf8, array::<i64>(data, &ends, known)?))
    }
}

#[pymethods]
impl Table {
    /// Its name, as the files of ``--export-csv`` have it.
    #[getter]
    fn name(&self) -> &str {
        self.name
    }

    /// The names of its columns: quantity and unit.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column by its name, or a row by its number, as Python's own objects.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(name) = key.extract::<String>() {
            let missing =
                || PyKeyError::new_err(format!("no column `{name}`: there are {}", self.columns().join(", ")));
            let array = self.batch.column_by_name(&name).ok_or_else(missing)?;
            let values = (0..array.len()).map(|row| value(py, array, row)).collect::<PyResult<Vec<_>>>()?;
            return Ok(PyList::new(py, values)?.into_any());
        }
        let (row, rows) = (key.extract::<isize>()?, self.batch.num_rows());
        let at = if row < 0 { rows.checked_add_signed(row) } else { Some(row.unsigned_abs()) };
        match at.filter(|&at| at < rows) {
            Some(at) => Ok(self.row(py, at)?.into_any()),
            None => Err(PyIndexError::new_err(format!("no row {row}: there are {rows}"))),
        }
    }

    /// Each column as a list, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let values = (0..array.len()).map(|row| value(py, array, row)).collect::<PyResult<Vec<_>>>()?;
            columns.set_item(field.name(), values)?;
        }
        Ok(columns)
    }

    /// The table as a stream of Arrow arrays.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore a schema that it does not support.
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let rows = self.batch.num_rows();
        format!("<weir.Table {}: {rows} rows of {}>", self.name, self.columns().join(", "))
    }
}

impl Table {
    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            row.set_item(field.name(), value(py, array, at)?)?;
        }
        Ok(row)
    }
}

/// A value as Python's own object, `None` where it is not known.
fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    let any = array.as_any();
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        return texts.value(row).into_bound_py_any(py);
    }
    if let Some(texts) = any.downcast_ref::<LargeStringArray>() {
        return texts.value(row).into_bound_py_any(py);
    }
    if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        return numbers.value(row).into_bound_py_any(py);
    }
    if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        return numbers.value(row).into_bound_py_any(py);
    }
    match any.downcast_ref::<BooleanArray>() {
        Some(flags) => flags.value(row).into_bound_py_any(py),
        None => Err(PyRuntimeError::new_err("a column of weir has an unknown type; please report it")),
    }
}
