//! Tables of results for other libraries, by the Arrow C stream interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray,
    RecordBatch, RecordBatchIterator, RecordBatchOptions,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use weir_report::{ColumnValues, Dictionary, ExportTable, Known, TableColumn, Texts};

/// Rows of one kind, column by column.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Table {
    name: &'static str,
    /// Rows one behind the other; one at least, all of the same columns.
    parts: Vec<RecordBatch>,
}

impl Table {
    /// The columns of a table, as `--export-csv` writes it, in parts with the same columns.
    pub(crate) fn new(parts: Vec<ExportTable>) -> PyResult<Self> {
        let name = parts.first().map_or("", |table| table.name);
        // Texts are looked through once more, for what is not UTF-8: by a thread for each part.
        let parts: Result<_, ArrowError> = thread::scope(|scope| {
            let made: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || batch(part))).collect();
            made.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        Ok(Self { name, parts: parts.map_err(|error| wrong(&error))? })
    }

    fn schema(&self) -> SchemaRef {
        self.parts.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema)
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(RecordBatch::num_rows).sum()
    }
}

fn batch(table: ExportTable) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(table.rows()));
    let columns: Vec<(Field, ArrayRef)> = table.columns.into_iter().map(column).collect::<Result<_, _>>()?;
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

fn wrong(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("a table of weir is wrong: {error}; please report it"))
}

/// Whole numbers are 64-bit integers with a sign, as in Parquet: times in ps and bytes of weir are below 2^63.
fn column(column: TableColumn) -> Result<(Field, ArrayRef), ArrowError> {
    let (kind, array): (DataType, ArrayRef) = match column.values {
        ColumnValues::Text(texts) => (DataType::LargeUtf8, texts_of(texts)?),
        ColumnValues::Name(names) => names_of(names)?,
        ColumnValues::Whole(numbers) => {
            let (numbers, known) = numbers.into_parts();
            // The same bits mean the same number.
            let signed = Buffer::from_vec(numbers).into();
            (DataType::Int64, Arc::new(Int64Array::try_new(signed, nulls(known))?))
        }
        ColumnValues::Real(numbers) => {
            let (numbers, known) = numbers.into_parts();
            (DataType::Float64, Arc::new(Float64Array::try_new(numbers.into(), nulls(known))?))
        }
        ColumnValues::Flag(flags) => {
            let (flags, known) = flags.into_parts();
            (DataType::Boolean, Arc::new(BooleanArray::new(flags.into(), nulls(known))))
        }
    };
    Ok((Field::new(column.name, kind, true), array))
}

fn nulls(known: Known) -> Option<NullBuffer> {
    known.flags().map(NullBuffer::from)
}

/// Texts as Arrow has them, with 64-bit offsets, as pandas keeps them.
fn texts_of(texts: Texts) -> Result<ArrayRef, ArrowError> {
    let (data, offsets, known) = texts.into_parts();
    let data = Buffer::from_vec(data.into_bytes());
    Ok(Arc::new(LargeStringArray::try_new(OffsetBuffer::new(offsets.into()), data, nulls(known))?))
}

/// Names by the places of their texts, as pandas and polars keep categories.
fn names_of(names: Dictionary) -> Result<(DataType, ArrayRef), ArrowError> {
    let (texts, places, known) = names.into_parts();
    let places = Int32Array::try_new(places.into(), nulls(known))?;
    let array = DictionaryArray::<Int32Type>::try_new(places, texts_of(texts)?)?;
    Ok((array.data_type().clone(), Arc::new(array)))
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
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    /// A column by its name, or a row by its number, as Python's own objects.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(name) = key.extract::<String>() {
            let missing =
                || PyKeyError::new_err(format!("no column `{name}`: there are {}", self.columns().join(", ")));
            let at = self.schema().index_of(&name).map_err(|_| missing())?;
            return Ok(PyList::new(py, self.values(py, at)?)?.into_any());
        }
        let (row, rows) = (key.extract::<isize>()?, self.rows());
        let at = if row < 0 { rows.checked_add_signed(row) } else { Some(row.unsigned_abs()) };
        match at.filter(|&at| at < rows) {
            Some(at) => Ok(self.row(py, at)?.into_any()),
            None => Err(PyIndexError::new_err(format!("no row {row}: there are {rows}"))),
        }
    }

    /// The rows, one after the other.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let builtins = slf.py().import("builtins")?;
        let places = builtins.getattr("range")?.call1((slf.get().rows(),))?;
        builtins.getattr("map")?.call1((slf.getattr("__getitem__")?, places))
    }

    /// Each column as a list, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (at, field) in self.schema().fields().iter().enumerate() {
            columns.set_item(field.name(), self.values(py, at)?)?;
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
        let parts: Vec<_> = self.parts.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(parts, self.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let rows = self.rows();
        format!("<weir.Table {}: {rows} rows of {}>", self.name, self.columns().join(", "))
    }
}

impl Table {
    /// The values of a column by its number.
    fn values<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let arrays = self.parts.iter().map(|part| part.column(at));
        arrays.flat_map(|array| (0..array.len()).map(move |row| value(py, array, row))).collect()
    }

    /// A row that there is.
    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyDict>> {
        let (row, mut at) = (PyDict::new(py), at);
        for part in &self.parts {
            if at < part.num_rows() {
                for (field, array) in part.schema().fields().iter().zip(part.columns()) {
                    row.set_item(field.name(), value(py, array, at)?)?;
                }
                break;
            }
            at -= part.num_rows();
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
    if let Some(texts) = any.downcast_ref::<LargeStringArray>() {
        return texts.value(row).into_bound_py_any(py);
    }
    if let Some(names) = any.downcast_ref::<DictionaryArray<Int32Type>>() {
        return value(py, names.values(), names.keys().value(row) as usize);
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
