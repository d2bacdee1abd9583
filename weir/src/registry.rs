//! The arbiters, port arbiters and models that scenarios may name: the built-in ones, and those of shared libraries.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::{ArbiterEntry, Flags};
use weir_plugin_host::{Library, Place, PluginConfig, Refusal};
use weir_scenario::{ArbiterSpec, Diagnostic};

use crate::machine_arbiters::{MachineArbiters, by_generation};
use crate::{Error, ErrorKind};

/// The arbiters, port arbiters and models that scenarios may name.
///
/// ```
/// let registry = weir::Registry::built_in()?;
/// assert!(registry.get("max-min").is_some());
/// # Ok::<(), weir::Error>(())
/// ```
pub struct Registry {
    entries: weir_plugin_api::Registry,
    /// Libraries of the user's list that could not be loaded. They matter only to a scenario that names something of theirs.
    refusals: Vec<Refusal>,
}

impl Registry {
    /// The arbiters, port arbiters and models that come with weir.
    ///
    /// # Errors
    /// If two of them have the same name.
    pub fn built_in() -> Result<Self, Error> {
        let mut entries = weir_plugin_api::Registry::new();
        weir_arbiters::register(&mut entries).map_err(|error| Error::new(ErrorKind::Plugin, error))?;
        weir_packets::arbiter::register(&mut entries).map_err(|error| Error::new(ErrorKind::Plugin, error))?;
        weir_models::register(&mut entries).map_err(|error| Error::new(ErrorKind::Plugin, error))?;
        Ok(Self { entries, refusals: Vec::new() })
    }

    /// Adds an arbiter of the calling program.
    ///
    /// # Errors
    /// Its name is taken.
    pub fn add(&mut self, entry: ArbiterEntry) -> Result<(), Error> {
        self.entries.add(entry).map_err(|error| Error::new(ErrorKind::Plugin, error))
    }

    /// The arbiters for a machine with links of these kinds beside PCIe: the first one that is made for PCIe links, before
    /// others one without a constant that must be fitted to the machine, since nothing of it was measured; with the
    /// parameters of the machine's generation of PCIe; and for these kinds the one of scenarios that name none. `None` if
    /// one of the two is missing.
    #[must_use]
    pub fn map_for(&self, kinds: &[&str], generation: Option<u8>) -> Option<MachineArbiters> {
        let without_fit = self.made_for_pcie().find(|entry| !entry.params_schema.contains("\"x-weir-fit\""));
        let for_pcie = without_fit.or_else(|| self.made_for_pcie().next())?;
        self.map_of(for_pcie, kinds, generation)
    }

    /// The same with each other arbiter made for PCIe that has a parameter for the machine's generation: whoever names it
    /// without one gets a default that may be another machine's.
    #[must_use]
    pub fn others_for(&self, kinds: &[&str], generation: Option<u8>) -> Vec<MachineArbiters> {
        let first = self.map_for(kinds, generation);
        let maps = self.made_for_pcie().filter_map(|entry| self.map_of(entry, kinds, generation));
        maps.filter(|map| Some(map) != first.as_ref() && !map.sources.is_empty()).collect()
    }

    fn made_for_pcie(&self) -> impl Iterator<Item = &Arc<ArbiterEntry>> {
        self.iter().filter(|entry| entry.flags.contains(Flags::FOR_PCIE))
    }

    /// The map that gives PCIe to an arbiter.
    fn map_of(&self, for_pcie: &Arc<ArbiterEntry>, kinds: &[&str], generation: Option<u8>) -> Option<MachineArbiters> {
        let other = self.default_arbiter()?;
        let mut spec = ArbiterSpec::plain(for_pcie);
        let (params, sources) = generation.map(|generation| by_generation(for_pcie, generation)).unwrap_or_default();
        (spec.params, spec.written) = (params.clone(), params);
        Some(MachineArbiters { map: spec.map_with(kinds.iter().copied(), other), sources })
    }

    /// Adds the arbiters, port arbiters and models of a shared library. It is opened in this process: one that crashes while it is opened
    /// ends the program.
    ///
    /// # Errors
    /// The library is refused, or one of its names is taken; nothing is added then.
    pub fn load(&mut self, library: &Path) -> Result<Library, Error> {
        Ok(weir_plugin_host::load_unprobed(library, &mut self.entries).map(logged)?)
    }

    /// As [`Self::load`], of a library that is opened first by a child process: `prober`, a program that
    /// begins with [`weir_plugin_host::child_main`] as the command `weir` does. So a library that crashes while it is
    /// opened does not end this process; in [`Place::Child`], nothing that its code does ends it.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_probed(&mut self, library: &Path, prober: &Path, place: Place) -> Result<Library, Error> {
        Ok(weir_plugin_host::load_file(library, prober, place, &mut self.entries).map(logged)?)
    }

    /// Adds the libraries of a list made by `weir plugin add`. Those that are refused now are named by the error of a
    /// scenario that needs them. `children` is the prober whose children run their code, if this process is not to.
    pub fn load_configured(&mut self, config: &PluginConfig, children: Option<&Path>) {
        self.refusals.extend(weir_plugin_host::load_configured(config, children, &mut self.entries));
    }

    /// The error of a scenario with these findings. Where one of them is the name of a plugin that was added and is refused
    /// now, the refusal is the error.
    #[must_use]
    pub fn error_of(&self, findings: Vec<Diagnostic>) -> Error {
        let unknown = |name: &String| findings.iter().any(|d| d.unknown.as_ref() == Some(name));
        let refusal = self.refusals.iter().find(|refusal| refusal.names.iter().any(unknown));
        match refusal {
            Some(refusal) => (&refusal.error).into(),
            None => findings.into(),
        }
    }
}

fn logged(library: Library) -> Library {
    tracing::info!(path = %library.path.display(), sha256 = %library.sha256, "loaded a plugin");
    library
}

/// All entries by name.
impl Deref for Registry {
    type Target = weir_plugin_api::Registry;

    fn deref(&self) -> &Self::Target {
        &self.entries
    }
}
