//! `weir plugin`: which shared libraries are trusted.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use weir::{Error, Registry};
use weir_plugin_host::{PluginConfig, PluginError, PluginRecord};
use weir_report::text::clean;

use crate::args::{PluginAction, PluginArgs};
use crate::failure::Exit;
use crate::output::Output;
use crate::plugins::{program, watch};

pub(crate) fn run(args: &PluginArgs) -> Result<Exit, Error> {
    let config = PluginConfig::of_user();
    let text = match &args.action {
        // Without a folder for it, nothing was added.
        PluginAction::List { json } if matches!(config, Err(PluginError::NoConfigFolder { .. })) => list(&[], *json)?,
        PluginAction::List { json } => list(usable(config)?.records(), *json)?,
        PluginAction::Add { file } => add(usable(config)?, file)?,
        PluginAction::Remove { what } => remove(usable(config)?, what)?,
    };
    Output::open(None)?.result(|writer| write!(writer, "{text}"))?;
    Ok(Exit::Ok)
}

fn usable(config: Result<PluginConfig, PluginError>) -> Result<PluginConfig, Error> {
    config.map_err(Error::from)
}

fn add(mut config: PluginConfig, file: &Path) -> Result<String, Error> {
    let _watchdog = watch()?;
    let record = config.add(file, &program()?, &*Registry::built_in()?).map_err(Error::from)?;
    Ok(format!("added {}\n  {}\n  sha256 {}\n", names(record), place(record), record.sha256))
}

fn remove(mut config: PluginConfig, what: &str) -> Result<String, Error> {
    let record = config.remove(what).map_err(Error::from)?;
    Ok(format!("removed {}\n  {}\n", names(&record), place(&record)))
}

fn names(record: &PluginRecord) -> String {
    let arbiters = record.arbiters.iter().map(|a| format!("{} {}", a.name, a.version));
    let models = record.models.iter().map(|m| format!("{} {} ({})", m.name, m.version, model_of(&m.operations)));
    clean(&arbiters.chain(models).collect::<Vec<_>>().join(", "))
}

fn place(record: &PluginRecord) -> String {
    clean(&record.path.display().to_string())
}

fn model_of(operations: &[String]) -> String {
    format!("model of {}", operations.join(", "))
}

/// One arbiter or model of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    version: String,
    /// Keys of the workload's items that a model serves; none for an arbiter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn list(records: &[PluginRecord], json: bool) -> Result<String, Error> {
    let (arbiters, models) = listed(records, &Registry::built_in()?);
    if json {
        let list = serde_json::json!({ "weir": 1, "kind": weir_report::ResultKind::PluginList, "arbiters": arbiters, "models": models });
        return Ok(format!("{list}\n"));
    }
    let mut out = String::new();
    for one in arbiters.iter().chain(&models) {
        let place = match (&one.path, &one.refused) {
            (None, _) => "built in".to_owned(),
            (Some(path), None) => path.clone(),
            (Some(_), Some(refused)) => format!("cannot be used: {refused}"),
        };
        let serves = if one.operations.is_empty() { String::new() } else { model_of(&one.operations) + "; " };
        let line = format!("{:<20} {:<8} {serves}{place}", one.name, one.version);
        let _ = writeln!(out, "{}", clean(&line));
    }
    Ok(out)
}

/// The arbiters and the models: first the built-in ones, then the added ones.
fn listed(records: &[PluginRecord], builtin: &Registry) -> (Vec<Listed>, Vec<Listed>) {
    let own = |name: &str, version: &str, operations: &[String]| Listed {
        name: name.to_owned(),
        version: version.to_owned(),
        operations: operations.to_vec(),
        path: None,
        sha256: None,
        refused: None,
    };
    let mut arbiters: Vec<Listed> = builtin.iter().map(|entry| own(&entry.name, &entry.version, &[])).collect();
    let mut models: Vec<Listed> =
        builtin.models().map(|entry| own(&entry.name, &entry.version, &entry.operations)).collect();
    for record in records {
        let refused = record.check().err().map(|error| error.to_string());
        let added = |listed: Listed| Listed {
            path: Some(record.path.display().to_string()),
            sha256: Some(record.sha256.clone()),
            refused: refused.clone(),
            ..listed
        };
        arbiters.extend(record.arbiters.iter().map(|a| added(own(&a.name, &a.version, &[]))));
        models.extend(record.models.iter().map(|m| added(own(&m.name, &m.version, &m.operations))));
    }
    (arbiters, models)
}
