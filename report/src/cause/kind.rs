//! What kept a transfer at its rate, and in which words.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::Cause;

/// What kept a transfer at its rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// The arbiter did not say: the most loaded link of the route.
    MostLoadedLink,
    /// Nothing: it had the full rate of the narrowest link.
    FullRate,
    /// Its own limit.
    OwnLimit,
    /// Others use the link, too.
    SharedLink,
    /// Others use the other direction of the link, or other links of a node, and these have one bandwidth together.
    SharedBandwidth,
    /// An upstream port, shared.
    UpstreamPort,
    /// A downstream port, shared.
    DownstreamPort,
    /// A link beside the tree, shared.
    LateralLink,
    /// A port that is crossed together with the root complex, shared.
    RootComplexShared,
    /// The port of a root complex, which crossing it lowers.
    RootComplex,
    /// A transfer before it in a queue is blocked further on.
    HeadOfLine,
    /// The link serves an earlier transfer.
    EarlierTransfer,
    /// Others have a higher priority.
    HigherPriority,
    /// A buffer further on has no room for its packets.
    Credit,
    /// As many of its packets are under way as its window allows.
    Window,
    /// As many requests of a read are unanswered as it has tags.
    Tags,
    /// The link sends DLLPs for packets of the opposite direction.
    Dllp,
    /// A link of its route was down.
    LinkDown,
    /// A link of its route was down, and no other route led to its destination.
    NoOtherRoute,
    /// A link carried less for a while than it was built for.
    LinkReduced,
    /// It lost most of its time before its start: its engine was busy.
    EngineBusy,
}

impl CauseKind {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::MostLoadedLink,
        Self::FullRate,
        Self::OwnLimit,
        Self::SharedLink,
        Self::SharedBandwidth,
        Self::UpstreamPort,
        Self::DownstreamPort,
        Self::LateralLink,
        Self::RootComplexShared,
        Self::RootComplex,
        Self::HeadOfLine,
        Self::EarlierTransfer,
        Self::HigherPriority,
        Self::Credit,
        Self::Window,
        Self::Tags,
        Self::Dllp,
        Self::LinkDown,
        Self::NoOtherRoute,
        Self::LinkReduced,
        Self::EngineBusy,
    ];

    /// Of what an arbiter says. `lateral`: its link lies outside the tree, where nothing is up or down; `shared`: another
    /// transfer is named.
    pub(crate) fn new(cause: Cause, lateral: bool, shared: bool) -> Self {
        match cause {
            Cause::Unknown => Self::MostLoadedLink,
            Cause::FullRate => Self::FullRate,
            Cause::OwnLimit => Self::OwnLimit,
            Cause::SharedLink => Self::SharedLink,
            Cause::Upstream | Cause::Downstream if lateral => Self::LateralLink,
            Cause::Upstream => Self::UpstreamPort,
            Cause::Downstream => Self::DownstreamPort,
            Cause::RootComplex if shared => Self::RootComplexShared,
            Cause::RootComplex => Self::RootComplex,
            Cause::HeadOfLine => Self::HeadOfLine,
            Cause::Waiting => Self::EarlierTransfer,
            Cause::Priority => Self::HigherPriority,
            Cause::Credit => Self::Credit,
            Cause::Window => Self::Window,
            Cause::Tags => Self::Tags,
            Cause::Dllp => Self::Dllp,
            Cause::LinkDown => Self::LinkDown,
            Cause::LinkReduced => Self::LinkReduced,
        }
    }

    /// Whether no other transfer has a part in its rate.
    pub(crate) fn is_own(self) -> bool {
        matches!(
            self,
            Self::FullRate
                | Self::OwnLimit
                | Self::Window
                | Self::Tags
                | Self::LinkDown
                | Self::NoOtherRoute
                | Self::LinkReduced
                | Self::EngineBusy
        )
    }

    /// In words, without the transfer responsible.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::MostLoadedLink => "the most loaded link of its route",
            Self::FullRate => "full rate of the narrowest link",
            Self::OwnLimit => "its own limit",
            Self::SharedLink => "link shared",
            Self::SharedBandwidth => "bandwidth that links share",
            Self::UpstreamPort => "upstream port shared",
            Self::DownstreamPort => "downstream port shared",
            Self::LateralLink => "lateral link shared",
            Self::RootComplexShared => "root complex, shared",
            Self::RootComplex => "reduced capacity across the root complex",
            Self::HeadOfLine => "head-of-line blocked",
            Self::EarlierTransfer => "waits for an earlier transfer",
            Self::HigherPriority => "others have a higher priority",
            Self::Credit => "no room in a buffer ahead",
            Self::Window => "its window of packets",
            Self::Tags => "all its tags in use",
            Self::Dllp => "link shared with DLLPs",
            Self::LinkDown => "link down",
            Self::NoOtherRoute => "link down, no other route",
            Self::LinkReduced => "reduced bandwidth of a link",
            Self::EngineBusy => "queued for its engine",
        }
    }

    /// What it means under any policy.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::MostLoadedLink => "the arbiter did not say what decided",
            Self::FullRate => "no other transfer holds it back",
            Self::OwnLimit => "the `limit` in the scenario",
            Self::SharedLink => "others use the link, too",
            Self::SharedBandwidth => "what its two directions, or the links of a node, carry together is used up",
            Self::UpstreamPort => "going up, more arrives at a port than it carries",
            Self::DownstreamPort => "going down, more arrives at a port than it carries",
            Self::LateralLink => "more arrives at a link beside the tree than it carries",
            Self::RootComplexShared => "crossing it lowers what the port carries, and others use the rest, too",
            Self::RootComplex => "crossing it lowers what the port carries",
            Self::HeadOfLine => "it queues behind a transfer that is held back further on",
            Self::EarlierTransfer => "the link serves a transfer first that came before",
            Self::HigherPriority => "they are served first",
            Self::Credit => "a buffer further on is full, or smaller than what is under way",
            Self::Window => "as many of its packets are under way as `window` allows",
            Self::Tags => "as many of its requests are unanswered as `tags` allows",
            Self::Dllp => "by `dllp`, packets that acknowledge those of the opposite direction go first",
            Self::LinkDown => "a link of its route was down, by `events`",
            Self::NoOtherRoute => "a link of its route was down, by `events`, and so was one of every other",
            Self::LinkReduced => "a link carried less than it was built for, by `events`",
            Self::EngineBusy => "an engine serves only so many at once",
        }
    }

    /// As a sentence that names who is responsible, where that is known: `head-of-line blocked behind b`.
    pub(crate) fn sentence(self, by: Option<&str>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_sentence(by.map(|by| move |to: &mut String| to.write_str(by)), &mut text);
        text
    }

    /// Writes the sentence; `by` writes who is responsible.
    pub(super) fn write_sentence<W: Write>(
        self,
        by: Option<impl FnOnce(&mut W) -> std::fmt::Result>,
        to: &mut W,
    ) -> std::fmt::Result {
        let words = self.words();
        let Some(by) = by.filter(|_| self.names_who()) else { return self.write_alone(to) };
        match self {
            Self::HeadOfLine => [words, " behind "],
            // Of the memory of a node the cause says so itself.
            Self::SharedBandwidth => ["link shared in both directions", " with "],
            Self::EarlierTransfer => ["waits for ", ""],
            Self::HigherPriority => {
                by(to)?;
                return to.write_str(" has a higher priority");
            }
            Self::EngineBusy => ["queued behind ", ""],
            _ => [words, " with "],
        }
        .into_iter()
        .try_for_each(|part| to.write_str(part))?;
        by(to)
    }

    /// Whether its sentence says who is responsible.
    fn names_who(self) -> bool {
        !matches!(
            self,
            Self::MostLoadedLink
                | Self::FullRate
                | Self::OwnLimit
                | Self::RootComplex
                | Self::Credit
                | Self::Window
                | Self::Tags
                | Self::Dllp
                | Self::LinkDown
                | Self::NoOtherRoute
                | Self::LinkReduced
        )
    }

    /// Its sentence where nobody is named.
    fn write_alone(self, to: &mut impl Write) -> std::fmt::Result {
        match self {
            Self::HeadOfLine | Self::EarlierTransfer | Self::HigherPriority | Self::EngineBusy => {
                to.write_str(self.words())
            }
            Self::SharedBandwidth => to.write_str("link shared in both directions with others"),
            _ if self.names_who() => to.write_str(self.words()).and_then(|()| to.write_str(" with others")),
            _ => to.write_str(self.words()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_has_its_own_kind_words_and_sentence() {
        for shared in [true, false] {
            let kinds: BTreeSet<_> = Cause::ALL.iter().map(|&cause| CauseKind::new(cause, false, shared)).collect();
            assert_eq!(kinds.len(), Cause::ALL.len(), "{kinds:?}");
            let by = shared.then_some("b");
            let sentences: BTreeSet<_> = kinds.iter().map(|kind| kind.sentence(by)).collect();
            assert_eq!(sentences.len(), kinds.len(), "{sentences:?}");
        }
        let words: BTreeSet<_> = CauseKind::ALL.iter().map(|kind| kind.words()).collect();
        assert_eq!(words.len(), CauseKind::ALL.len());
    }

    #[test]
    fn sentences_name_who_is_responsible() {
        let sentence = |cause, lateral, by: Option<&str>| CauseKind::new(cause, lateral, by.is_some()).sentence(by);
        for (cause, lateral, named, unnamed) in [
            (Cause::HeadOfLine, false, "head-of-line blocked behind b", "head-of-line blocked"),
            (Cause::Upstream, false, "upstream port shared with b", "upstream port shared with others"),
            (Cause::Downstream, true, "lateral link shared with b", "lateral link shared with others"),
            (Cause::SharedLink, true, "link shared with b", "link shared with others"),
            (Cause::RootComplex, false, "root complex, shared with b", "reduced capacity across the root complex"),
            (Cause::Waiting, false, "waits for b", "waits for an earlier transfer"),
            (Cause::Priority, false, "b has a higher priority", "others have a higher priority"),
            (Cause::OwnLimit, false, "its own limit", "its own limit"),
        ] {
            assert_eq!(sentence(cause, lateral, Some("b")), named);
            assert_eq!(sentence(cause, lateral, None), unnamed);
        }
        let queued = CauseKind::EngineBusy;
        assert_eq!(
            (queued.sentence(Some("b")), queued.sentence(None)),
            ("queued behind b".into(), "queued for its engine".into())
        );
    }
}
