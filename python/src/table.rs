//! Tables of results for other libraries, by the Arrow C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::sync::Arc;

use arrow_array::builder::GenericStringBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, OffsetSizeTrait, RecordBatch,
    RecordBatchIterator, RecordBatchOptions, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use weir_report::{ColumnValues, ExportTable, Texts};

/// Rows of one kind, column by column.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Table {
    name: &'static str,
    batch: RecordBatch,
}

impl Table {
    /// The columns of a table, as `--export-csv` writes it.
    pub(crate) fn new(table: &ExportTable) -> PyResult<Self> {
        let columns: Vec<(Field, ArrayRef)> = table.columns.iter().map(|c| column(&c.name, &c.values)).collect();
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(table.rows()));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        Ok(Self { name: table.name, batch: batch.map_err(|error| wrong(&error))? })
    }
}

fn wrong(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("a table of weir is wrong: {error}; please report it"))
}

/// Whole numbers are 64-bit integers with a sign, as in Parquet: times in ps and bytes of weir are below 2^63.
fn column(name: &str, values: &ColumnValues) -> (Field, ArrayRef) {
    let (kind, array): (DataType, ArrayRef) = match values {
        ColumnValues::Text(texts) if i32::try_from(texts.parts().0.len()).is_ok() => {
            (DataType::Utf8, array_of::<i32>(texts))
        }
        ColumnValues::Text(texts) => (DataType::LargeUtf8, array_of::<i64>(texts)),
        ColumnValues::Whole(numbers) => {
            let signed = numbers.iter().map(|number| number.map(|number| number as i64));
            (DataType::Int64, Arc::new(signed.collect::<Int64Array>()))
        }
        ColumnValues::Real(numbers) => (DataType::Float64, Arc::new(numbers.iter().copied().collect::<Float64Array>())),
        ColumnValues::Flag(flags) => (DataType::Boolean, Arc::new(flags.iter().copied().collect::<BooleanArray>())),
    };
    (Field::new(name, kind, true), array)
}

/// Texts as Arrow has them, with places of 32 or 64 bits.
fn array_of<O: OffsetSizeTrait>(texts: &Texts) -> ArrayRef {
    let mut array = GenericStringBuilder::<O>::with_capacity(texts.len(), texts.parts().0.len());
    texts.iter().for_each(|text| array.append_option(text));
    Arc::new(array.finish())
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
