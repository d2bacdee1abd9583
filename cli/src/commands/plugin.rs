//! `weir plugin`: which shared libraries are trusted.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use weir_plugin_api::Registry;
use weir_plugin_host::{PluginConfig, PluginError, PluginRecord};

use crate::args::{PluginAction, PluginArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::plugins::{builtin, program, refused, watch};

/// Lists, adds or removes.
pub(crate) fn run(args: &PluginArgs) -> Result<Exit, Failure> {
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

fn usable(config: Result<PluginConfig, PluginError>) -> Result<PluginConfig, Failure> {
    config.map_err(|error| refused(&error))
}

fn add(mut config: PluginConfig, file: &Path) -> Result<String, Failure> {
    let _watchdog = watch()?;
    let record = config.add(file, &program()?, &builtin()?).map_err(|error| refused(&error))?;
    Ok(format!("added {}\n  {}\n  sha256 {}\n", names(record), record.path.display(), record.sha256))
}

fn remove(mut config: PluginConfig, what: &str) -> Result<String, Failure> {
    let record = config.remove(what).map_err(|error| refused(&error))?;
    Ok(format!("removed {}\n  {}\n", names(&record), record.path.display()))
}

fn names(record: &PluginRecord) -> String {
    let names: Vec<_> = record.arbiters.iter().map(|a| format!("{} {}", a.name, a.version)).collect();
    names.join(", ")
}

/// One arbiter of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn list(records: &[PluginRecord], json: bool) -> Result<String, Failure> {
    let arbiters = listed(records, &builtin()?);
    if json {
        let list = serde_json::json!({ "weir": 1, "arbiters": arbiters });
        return Ok(format!("{list}\n"));
    }
    let mut out = String::new();
    for a in arbiters {
        let place = match (&a.path, &a.refused) {
            (None, _) => "built in".to_owned(),
            (Some(path), None) => path.clone(),
            (Some(_), Some(refused)) => format!("cannot be used: {refused}"),
        };
        let _ = writeln!(out, "{:<20} {:<8} {place}", a.name, a.version);
    }
    Ok(out)
}

fn listed(records: &[PluginRecord], builtin: &Registry) -> Vec<Listed> {
    let own = builtin.iter().map(|entry| Listed {
        name: entry.name.clone(),
        version: entry.version.clone(),
        path: None,
        sha256: None,
        refused: None,
    });
    let added = records.iter().flat_map(|record| {
        let refused = record.check().err().map(|error| error.to_string());
        record.arbiters.iter().map(move |arbiter| Listed {
            name: arbiter.name.clone(),
            version: arbiter.version.clone(),
            path: Some(record.path.display().to_string()),
            sha256: Some(record.sha256.clone()),
            refused: refused.clone(),
        })
    });
    own.chain(added).collect()
}
