//! The incremental side of an arbiter of a shared library, behind the same trait as a built-in one.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use weir_plugin_api::abi::{AnswerRecord, ErrorBuffer};
use weir_plugin_api::{
    Answer, ArbiterError, Change, ClassInfo, IncrementalArbiter, LinkId, LinkUse, NO_ID, Setting, SimTime,
};

use crate::call::Call;
use crate::incremental_table::{IncrementalFunctions, PluginIncremental};
use crate::instance::{Instance, readable};

/// An instance of a plugin's incremental arbiter. After a panic it is never called again, but for `destroy` when it is
/// dropped. What its answers mean is checked by the simulation, for built-in and loaded ones alike.
pub struct LoadedIncremental {
    functions: IncrementalFunctions,
    /// Questions change nothing that is seen, but they are calls, too.
    instance: RefCell<Instance<ArbiterError>>,
    /// Classes that it was told of.
    classes: u32,
}

impl LoadedIncremental {
    /// Creates an instance; `params` is a JSON object.
    ///
    /// # Errors
    /// What the plugin's `create` answers.
    pub fn create(plugin: &Arc<PluginIncremental>, setting: &Setting<'_>, params: &str) -> Result<Self, ArbiterError> {
        let functions = plugin.functions;
        let instance = Instance::create(&plugin.name, &plugin.path, functions.destroy, |host, state, err| {
            // SAFETY: all pointers are valid for the call; `params` has the length given.
            unsafe { (functions.create)(host, setting, params.as_ptr().cast(), params.len(), state, err) }
        })?;
        Ok(Self { functions, instance: RefCell::new(instance), classes: 0 })
    }

    /// Asks a question; where it fails, nothing is known, and the next change is refused.
    fn ask(&self, call: Call, f: impl FnOnce(*mut c_void, *mut ErrorBuffer<'_>) -> i32) -> Option<()> {
        let mut instance = self.instance.borrow_mut();
        let result = instance.call(call, f);
        result.map_err(|error| instance.stop(error)).ok()
    }

    /// A class that exists, as the answer to a question.
    fn class(&self, class: u32) -> Option<u32> {
        (class != NO_ID && class < self.classes).then_some(class)
    }
}

impl IncrementalArbiter for LoadedIncremental {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        let add_class = self.functions.add_class;
        self.classes = self.classes.max(id + 1);
        // SAFETY: the state is alive, and the class valid for the call.
        let _ = self.ask(Call::AddClass, |state, err| unsafe { add_class(state, id, class, err) });
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), ArbiterError> {
        let (settle, mut record) = (self.functions.settle, AnswerRecord::empty());
        // SAFETY: the state is alive; change and record are valid for the call.
        self.instance
            .get_mut()
            .call(Call::Settle, |state, err| unsafe { settle(state, change, (&raw mut record).cast(), err) })?;
        let AnswerRecord { groups, classes, dropped, levels } = &record;
        if !(groups.is_possible() && classes.is_possible() && dropped.is_possible() && levels.is_possible()) {
            let what = "answers with a slice that is not aligned, or longer than memory";
            return Err(self.instance.get_mut().failed(Call::Settle, what));
        }
        // What the record leads to stays as it is until the next call of the instance.
        answer.groups.extend_from_slice(readable(groups));
        answer.classes.extend_from_slice(readable(classes));
        answer.dropped.extend_from_slice(readable(dropped));
        answer.levels.extend_from_slice(readable(levels));
        Ok(())
    }

    fn above(&self, root: u32) -> Option<u32> {
        let (above, mut class) = (self.functions.above?, NO_ID);
        // SAFETY: the state is alive, and `class` a slot.
        self.ask(Call::Above, |state, err| unsafe { above(state, root, &raw mut class, err) })?;
        self.class(class)
    }

    fn beside(&self, root: u32, class: u32) -> Option<u32> {
        let (beside, mut other) = (self.functions.beside?, class);
        // SAFETY: the state is alive, and `other` a slot.
        self.ask(Call::Beside, |state, err| unsafe { beside(state, root, &raw mut other, err) })?;
        self.class(other).filter(|&other| other != class)
    }

    fn link_use(&self, link: LinkId, now: SimTime) -> LinkUse {
        let mut told = LinkUse::UNKNOWN;
        let Some(link_use) = self.functions.link_use else { return told };
        // SAFETY: the state is alive, and `told` a slot.
        let asked = self.ask(Call::LinkUse, |state, err| unsafe { link_use(state, link.0, now.0, &raw mut told, err) });
        asked.map_or(LinkUse::UNKNOWN, |()| told)
    }
}
