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
    let ports = record.ports.iter().map(|p| format!("{} {} ({})", p.name, p.version, port_of(&p.description)));
    let models = record.models.iter().map(|m| format!("{} {} ({})", m.name, m.version, model_of(&m.operations)));
    clean(&arbiters.chain(ports).chain(models).collect::<Vec<_>>().join(", "))
}

fn place(record: &PluginRecord) -> String {
    clean(&record.path.display().to_string())
}

fn model_of(operations: &[String]) -> String {
    format!("model of {}", operations.join(", "))
}

fn port_of(description: &str) -> String {
    if description.is_empty() { "port arbiter".to_owned() } else { format!("port arbiter: {description}") }
}

/// One arbiter, port arbiter or model of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    version: String,
    /// Keys of the workload's items that a model serves; none for an arbiter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<String>,
    /// Whom a port arbiter serves; none for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn list(records: &[PluginRecord], json: bool) -> Result<String, Error> {
    let Lists { arbiters, ports, models } = listed(records, &Registry::built_in()?);
    if json {
        let list = serde_json::json!({
            "weir": 1,
            "kind": weir_report::ResultKind::PluginList,
            "arbiters": arbiters,
            "port_arbiters": ports,
            "models": models
        });
        return Ok(weir_report::json_text(&list) + "\n");
    }
    let mut out = String::new();
    for one in arbiters.iter().chain(&ports).chain(&models) {
        let place = match (&one.path, &one.refused) {
            (None, _) => "built in".to_owned(),
            (Some(path), None) => path.clone(),
            (Some(_), Some(refused)) => format!("cannot be used: {refused}"),
        };
        let serves = match &one.description {
            Some(description) => port_of(description) + "; ",
            None if one.operations.is_empty() => String::new(),
            None => model_of(&one.operations) + "; ",
        };
        let line = format!("{:<20} {:<8} {serves}{place}", one.name, one.version);
        let _ = writeln!(out, "{}", clean(&line));
    }
    Ok(out)
}

struct Lists {
    arbiters: Vec<Listed>,
    ports: Vec<Listed>,
    models: Vec<Listed>,
}

/// All that there is: first the built-in ones, then the added ones.
fn listed(records: &[PluginRecord], builtin: &Registry) -> Lists {
    let own = |name: &str, version: &str, operations: &[String], description: Option<&str>| Listed {
        name: name.to_owned(),
        version: version.to_owned(),
        operations: operations.to_vec(),
        description: description.map(str::to_owned),
        path: None,
        sha256: None,
        refused: None,
    };
    let arbiters = builtin.iter().map(|entry| own(&entry.name, &entry.version, &[], None));
    let ports = builtin.ports().map(|entry| own(&entry.name, &entry.version, &[], Some(&entry.description)));
    let models = builtin.models().map(|entry| own(&entry.name, &entry.version, &entry.operations, None));
    let mut lists = Lists { arbiters: arbiters.collect(), ports: ports.collect(), models: models.collect() };
    for record in records {
        let refused = record.check().err().map(|error| error.to_string());
        let added = |listed: Listed| Listed {
            path: Some(record.path.display().to_string()),
            sha256: Some(record.sha256.clone()),
            refused: refused.clone(),
            ..listed
        };
        lists.arbiters.extend(record.arbiters.iter().map(|a| added(own(&a.name, &a.version, &[], None))));
        lists.ports.extend(record.ports.iter().map(|p| added(own(&p.name, &p.version, &[], Some(&p.description)))));
        lists.models.extend(record.models.iter().map(|m| added(own(&m.name, &m.version, &m.operations, None))));
    }
    lists
}
