//! Name → schema and constructor of every arbiter, port arbiter and model that a run may use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    ArbiterPlugin, CallError, FabricView, Flags, IncrementalArbiter, IncrementalPlugin, LegendEntry, Model,
    ModelPlugin, PortArbiter, PortArbiterPlugin, RateArbiter, Setting,
};

/// Builds an arbiter for a fabric from its parameters (a JSON object).
pub type MakeArbiter = Arc<dyn Fn(&FabricView<'_>, &str) -> Result<Box<dyn RateArbiter>, CallError> + Send + Sync>;

/// Builds an incremental arbiter from the parameters of the rate arbiter beside it.
pub type MakeIncremental =
    Arc<dyn Fn(&Setting<'_>, &str) -> Result<Box<dyn IncrementalArbiter>, CallError> + Send + Sync>;

/// Builds a port arbiter for the ports of a fabric from its parameters (a JSON object).
pub type MakePort = Arc<dyn Fn(&FabricView<'_>, &str) -> Result<Box<dyn PortArbiter>, CallError> + Send + Sync>;

/// Builds an instance of a model, which plans all its operations of a scenario.
pub type MakeModel = Box<dyn Fn() -> Result<Box<dyn Model>, CallError> + Send + Sync>;

/// Where an arbiter, a port arbiter or a model comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// Loaded from a shared library.
    Library {
        /// Absolute path of the library.
        path: PathBuf,
        /// SHA-256 of the file, lower-case hexadecimal.
        sha256: String,
    },
}

impl Origin {
    /// SHA-256 of the library; `None` of what is built in.
    #[must_use]
    pub fn sha256(&self) -> Option<&str> {
        match self {
            Self::Library { sha256, .. } => Some(sha256),
            Self::BuiltIn => None,
        }
    }
}

/// One arbiter of the registry.
pub struct ArbiterEntry {
    /// Its name in scenarios, unique among the arbiters of the registry.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// What it promises of its answers, and which attributes it reads.
    pub flags: Flags,
    /// Whether `flags` say which attributes of transfers it reads; libraries of ABI 1.2 and older cannot.
    pub says_what_it_reads: bool,
    /// What the steps of its explanations mean, in the order in which they are taken; may be empty.
    pub legend: Vec<LegendEntry>,
    /// JSON Schema of its parameters.
    pub params_schema: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Builds an instance for a fabric; called for each run, from any thread.
    pub make: MakeArbiter,
    /// Its incremental side, if there is one.
    pub incremental: Option<IncrementalEntry>,
}

impl std::fmt::Debug for ArbiterEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArbiterEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ArbiterEntry {
    /// Whether it is known not to read what this flag stands for.
    #[must_use]
    pub fn ignores(&self, reads: Flags) -> bool {
        self.says_what_it_reads && !self.flags.contains(reads)
    }

    /// One of this program.
    #[must_use]
    pub fn builtin<A: ArbiterPlugin>() -> Self {
        Self {
            name: A::NAME.to_owned(),
            version: A::VERSION.to_owned(),
            flags: A::FLAGS,
            says_what_it_reads: true,
            legend: A::legend(),
            params_schema: A::params_schema(),
            origin: Origin::BuiltIn,
            make: Arc::new(|fabric, params| Ok(Box::new(A::create(fabric, params)?))),
            incremental: None,
        }
    }

    /// The same with its incremental side.
    #[must_use]
    pub fn with_incremental<I: IncrementalPlugin>(self) -> Self {
        Self { incremental: Some(IncrementalEntry::of::<I>()), ..self }
    }
}

/// The incremental side of an arbiter.
#[derive(Clone)]
pub struct IncrementalEntry {
    /// Builds an instance, or refuses parameters that it does not serve.
    pub make: MakeIncremental,
    /// [`IncrementalPlugin::IN_TURN`].
    pub in_turn: bool,
    /// [`IncrementalPlugin::KNOWS_PEAKS`].
    pub knows_peaks: bool,
}

impl IncrementalEntry {
    /// That of a type of this program.
    #[must_use]
    pub fn of<I: IncrementalPlugin>() -> Self {
        Self {
            make: Arc::new(|setting, params| Ok(Box::new(I::create(setting, params)?))),
            in_turn: I::IN_TURN,
            knows_peaks: I::KNOWS_PEAKS,
        }
    }
}

impl std::fmt::Debug for IncrementalEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IncrementalEntry").finish_non_exhaustive()
    }
}

/// One port arbiter of the registry.
#[derive(Clone)]
pub struct PortEntry {
    /// Its name in scenarios, unique among the port arbiters of the registry.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// Whom it serves, in a few words; may be empty.
    pub description: String,
    /// Which attributes it reads, see [`PortArbiterPlugin::FLAGS`].
    pub flags: Flags,
    /// JSON Schema of its parameters.
    pub params_schema: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Builds an instance; called for each run, from any thread.
    pub make: MakePort,
}

impl std::fmt::Debug for PortEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PortEntry {
    /// One of this program.
    #[must_use]
    pub fn builtin<A: PortArbiterPlugin>() -> Self {
        Self {
            name: A::NAME.to_owned(),
            version: A::VERSION.to_owned(),
            description: A::DESCRIPTION.to_owned(),
            flags: A::FLAGS,
            params_schema: A::params_schema(),
            origin: Origin::BuiltIn,
            make: Arc::new(|fabric, params| Ok(Box::new(A::create(fabric, params)?))),
        }
    }
}

/// One model of the registry.
pub struct ModelEntry {
    /// Its name in scenarios and results, unique among the models of the registry.
    pub name: String,
    /// Version of the model, shown in results.
    pub version: String,
    /// Keys of the workload's items that it serves.
    pub operations: Vec<String>,
    /// JSON Schema of such items (see [`ModelPlugin::schema`]).
    pub schema: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Builds an instance; called for each scenario that has one of its operations.
    pub make: MakeModel,
}

impl std::fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A name was registered twice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegistryError {
    /// Of an arbiter.
    #[error("an arbiter named `{name}` is registered already")]
    Arbiter {
        /// The name.
        name: String,
    },
    /// Of a port arbiter.
    #[error("a port arbiter named `{name}` is registered already")]
    Port {
        /// The name.
        name: String,
    },
    /// Of a model.
    #[error("a model named `{name}` is registered already")]
    Model {
        /// The name.
        name: String,
    },
    /// Two models serve one operation (but `transfer`, which names its model).
    #[error("the operation `{operation}` of model `{name}` is served by `{by}` already")]
    Operation {
        /// The later model.
        name: String,
        /// The key.
        operation: String,
        /// The earlier model.
        by: String,
    },
}

/// The key of plain transfers, which say by name which model they use: any number of models may serve it.
pub const TRANSFER: &str = "transfer";

/// The arbiters, the port arbiters and the models by name, in name order.
#[derive(Default)]
pub struct Registry {
    arbiters: BTreeMap<String, Arc<ArbiterEntry>>,
    default_arbiter: Option<String>,
    ports: BTreeMap<String, Arc<PortEntry>>,
    models: BTreeMap<String, Arc<ModelEntry>>,
}

impl Registry {
    /// A registry without any arbiter, port arbiter or model.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the arbiter of scenarios that name none.
    pub fn set_default_arbiter(&mut self, name: &str) {
        self.default_arbiter = Some(name.to_owned());
    }

    /// The arbiter of scenarios that name none.
    #[must_use]
    pub fn default_arbiter(&self) -> Option<&str> {
        self.default_arbiter.as_deref()
    }

    /// Registers an arbiter.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add(&mut self, entry: impl Into<Arc<ArbiterEntry>>) -> Result<(), RegistryError> {
        let entry = entry.into();
        if self.arbiters.contains_key(&entry.name) {
            return Err(RegistryError::Arbiter { name: entry.name.clone() });
        }
        self.arbiters.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// The arbiter of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<ArbiterEntry>> {
        self.arbiters.get(name)
    }

    /// All arbiters in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ArbiterEntry>> {
        self.arbiters.values()
    }

    /// Registers a port arbiter.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add_port(&mut self, entry: impl Into<Arc<PortEntry>>) -> Result<(), RegistryError> {
        let entry = entry.into();
        if self.ports.contains_key(&entry.name) {
            return Err(RegistryError::Port { name: entry.name.clone() });
        }
        self.ports.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// The port arbiter of a name.
    #[must_use]
    pub fn port(&self, name: &str) -> Option<&Arc<PortEntry>> {
        self.ports.get(name)
    }

    /// All port arbiters in name order.
    pub fn ports(&self) -> impl Iterator<Item = &Arc<PortEntry>> {
        self.ports.values()
    }

    /// Registers a built-in model.
    ///
    /// # Errors
    /// If the name or one of its operations is taken.
    pub fn add_builtin_model<M: ModelPlugin>(&mut self) -> Result<(), RegistryError> {
        self.add_model(ModelEntry {
            name: M::NAME.to_owned(),
            version: M::VERSION.to_owned(),
            operations: M::OPERATIONS.iter().map(|&key| key.to_owned()).collect(),
            schema: M::schema(),
            origin: Origin::BuiltIn,
            make: Box::new(|| Ok(Box::new(M::create()?))),
        })
    }

    /// Registers a model.
    ///
    /// # Errors
    /// If the name or one of its operations is taken.
    pub fn add_model(&mut self, entry: impl Into<Arc<ModelEntry>>) -> Result<(), RegistryError> {
        let entry = entry.into();
        if self.models.contains_key(&entry.name) {
            return Err(RegistryError::Model { name: entry.name.clone() });
        }
        let taken = entry.operations.iter().find_map(|key| Some((key, self.model_of(key)?)));
        if let Some((operation, by)) = taken {
            let (operation, by) = (operation.clone(), by.name.clone());
            return Err(RegistryError::Operation { name: entry.name.clone(), operation, by });
        }
        self.models.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// The model of a name.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&ModelEntry> {
        self.models.get(name).map(|entry| &**entry)
    }

    /// The model that serves an operation; `None` for `transfer`, too.
    #[must_use]
    pub fn model_of(&self, operation: &str) -> Option<&ModelEntry> {
        let mut models = self.models().filter(|_| operation != TRANSFER);
        models.find(|model| model.operations.iter().any(|key| key == operation))
    }

    /// All models in name order.
    pub fn models(&self) -> impl Iterator<Item = &ModelEntry> {
        self.models.values().map(|entry| &**entry)
    }
}
