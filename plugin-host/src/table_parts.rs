//! Tables given by value: what the checks of a library's tables say of any bytes, without a library. For tests and fuzzers.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::null;

use weir_plugin_api::abi::{
    ArbiterTable, DescribedArbiterTable, ErrorBuffer, Header, Host, LegendRecord, ModelTable, Planner,
    PortArbiterTable, SurroundingsRecord, code,
};
use weir_plugin_api::{ArbiterEntry, Binding, FabricView, GrantView, ModelEntry, PhaseView, PortEntry, PortGrant};

use crate::error::TableError;
use crate::{model_table, port_table, table};

/// What a table holds. Instances of what is read from it cannot be made: its functions only fail.
#[derive(Clone, Debug)]
pub struct TableParts<'a> {
    /// The header, right or not.
    pub header: Header,
    /// Name, version, operations of a model or description of a port arbiter, and schema; `None` for a null pointer.
    pub texts: [Option<&'a CStr>; 4],
    /// Bit i is set where function i of those that must be there is.
    pub functions: u8,
    /// Steps of the explanations of an arbiter, each with its short form and meaning. The end is put behind them.
    pub legend: Vec<[Option<&'a CStr>; 3]>,
}

impl TableParts<'_> {
    /// Reads them as the table of an arbiter.
    ///
    /// # Errors
    /// A rule of the table is broken.
    pub fn read_arbiter(&self) -> Result<ArbiterEntry, TableError> {
        let end = LegendRecord { step: null(), short: null(), meaning: null() };
        let record = |[step, short, meaning]: &[_; 3]| LegendRecord {
            step: pointer(*step),
            short: pointer(*short),
            meaning: pointer(*meaning),
        };
        let legend: Vec<_> = self.legend.iter().map(record).chain([end]).collect();
        let [name, version, _, schema] = self.texts.map(pointer);
        let arbiter = ArbiterTable {
            header: self.header,
            name,
            version,
            params_schema: schema,
            create: self.function(0, create),
            destroy: self.function(1, destroy),
            reset: self.function(2, reset),
            admit: self.function(3, admit),
            allocate: self.function(4, allocate),
            explain: None,
        };
        let whole = DescribedArbiterTable { arbiter, legend: legend.as_ptr(), capacity: None };
        // SAFETY: the memory holds the longest table of an arbiter, whatever its header says; texts and legend live as long.
        unsafe { table::read((&raw const whole).cast(), Path::new("parts"), "") }
    }

    /// Reads them as the table of a port arbiter.
    ///
    /// # Errors
    /// A rule of the table is broken.
    pub fn read_port(&self) -> Result<PortEntry, TableError> {
        let [name, version, description, schema] = self.texts.map(pointer);
        let whole = PortArbiterTable {
            header: self.header,
            name,
            version,
            params_schema: schema,
            create: self.function(0, create),
            destroy: self.function(1, destroy),
            reset: None,
            choose: self.function(2, choose),
            commit: self.function(3, commit),
            state: None,
            description,
        };
        // SAFETY: the memory holds a whole table, whatever its header says; the texts live as long.
        unsafe { port_table::read(&raw const whole, Path::new("parts"), "") }
    }

    /// Reads them as the table of a model.
    ///
    /// # Errors
    /// A rule of the table is broken.
    pub fn read_model(&self) -> Result<ModelEntry, TableError> {
        let [name, version, operations, schema] = self.texts.map(pointer);
        let whole = ModelTable {
            header: self.header,
            name,
            version,
            operations,
            schema,
            create: self.function(0, create_model),
            destroy: self.function(1, destroy),
            plan: self.function(2, plan),
            estimate: None,
            alternatives: None,
        };
        // SAFETY: the memory holds a whole table, whatever its header says; the texts live as long.
        unsafe { model_table::read(&raw const whole, Path::new("parts"), "") }
    }

    fn function<F>(&self, bit: u8, function: F) -> Option<F> {
        (self.functions >> bit & 1 != 0).then_some(function)
    }
}

fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(null(), CStr::as_ptr)
}

extern "C" fn create(
    _: *const Host,
    _: *const FabricView<'_>,
    _: *const c_char,
    _: usize,
    _: *mut *mut c_void,
    _: *mut ErrorBuffer<'_>,
) -> i32 {
    code::ERROR
}

extern "C" fn create_model(_: *const Host, _: *mut *mut c_void, _: *mut ErrorBuffer<'_>) -> i32 {
    code::ERROR
}

extern "C" fn destroy(_: *mut c_void) {}

extern "C" fn reset(_: *mut c_void, _: *mut ErrorBuffer<'_>) -> i32 {
    code::ERROR
}

extern "C" fn admit(_: *mut c_void, _: *const u32, _: usize, _: *mut ErrorBuffer<'_>) -> i32 {
    code::ERROR
}

extern "C" fn allocate(
    _: *mut c_void,
    _: *const PhaseView<'_>,
    _: *mut f64,
    _: *mut Binding,
    _: *mut u64,
    _: *mut ErrorBuffer<'_>,
) -> i32 {
    code::ERROR
}

extern "C" fn choose(_: *mut c_void, _: *const GrantView<'_>, _: *mut u32, _: *mut ErrorBuffer<'_>) -> i32 {
    code::ERROR
}

extern "C" fn commit(_: *mut c_void, _: *const PortGrant<'_>, _: usize, _: *mut ErrorBuffer<'_>) -> i32 {
    code::ERROR
}

extern "C" fn plan(
    _: *mut c_void,
    _: *const c_char,
    _: usize,
    _: *const SurroundingsRecord<'_>,
    _: *const Planner,
    _: *mut ErrorBuffer<'_>,
) -> i32 {
    code::ERROR
}
