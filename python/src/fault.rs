//! Errors of the library as exceptions of the package, which `weir/_errors.py` defines.

use pyo3::prelude::*;
use weir::{Diagnostic, Error, ErrorKind};

use crate::policy::Policies;

/// The exception for an error. Where a policy in Python raised, its exception is the cause.
pub(crate) fn raised(py: Python<'_>, error: &Error, policies: &Policies) -> PyErr {
    let cause = policies.take_failure();
    let kind = match (error.kind(), &cause) {
        (_, Some(_)) | (ErrorKind::Plugin, _) => "PolicyError",
        (ErrorKind::Input, _) => "ScenarioError",
        (ErrorKind::Stopped, _) => "RunError",
        _ => "WeirError",
    };
    let made = || -> PyResult<PyErr> {
        let findings: Vec<_> = error.findings().iter().map(finding).collect();
        let exception = py.import("weir._errors")?.call_method1("raised", (kind, error.to_string(), findings))?;
        Ok(PyErr::from_value(exception))
    };
    let exception = made().unwrap_or_else(|error| error);
    exception.set_cause(py, cause);
    exception
}

/// File, line, column, message and remedy.
type Finding = (Option<String>, Option<u32>, Option<u32>, String, Option<String>);

fn finding(finding: &Diagnostic) -> Finding {
    let place = finding.position.as_ref();
    (
        place.map(|place| place.file.to_string()),
        place.map(|place| place.line),
        place.map(|place| place.column),
        finding.message.clone(),
        finding.help.clone(),
    )
}
