//! The closed forms of Fig. 7: the time of an offload in n streams.
//!
//! With in and out for the text's hd and dh, L for L + o, T(n) = B·G + g·(n − 1) for all chunks of one direction and
//! c(n) = B·G / n for one:
//! ```text
//! (1) L_in + c_in + t_E + L_out + T_out
//! (2) L_in + T_in + t_E/n + L_out + T_out
//! (3) L_in + c_in + t_E + L_out + c_out
//! (4) max(L_in + T_in + L_out + T_out, L_in + T_in + t_E/n + L_out + c_out, L_in + c_in + t_E/n + L_out + T_out)
//! (5) max(L_in + T_in + t_E/n + L_out + c_out, (3), L_in + c_in + t_E/n + L_out + T_out)
//! (6) L_in + max(B_in·G_in, t_E, B_out·G_out) + L_out
//! ```
//! Of a direction without bytes L and g are 0, as nobody issues a copy of nothing; with `empty_copies` they stay as they are
//! printed, which is L + g·(n − 1) for n copies of nothing.
//!
//! The text writes one L, o and g; each is that of the direction whose copies it stands with. Over the fabric G is
//! one over the bandwidth of the narrowest link, and bytes arrive the route's latency after they have left: that
//! counts where something waits for them, hence not in the first branch of (4), where the engine only turns round.
//! **Source.** van Werkhoven, Maassen, Seinstra, Bal, *Performance models for CPU-GPU data transfers*, CCGrid 2014,
//! Fig. 7, sections IV and VI.

use super::params::Method;
use super::resolve::{Offload, Way};

impl Way {
    /// B·G / n, ps.
    pub(super) fn chunk(&self, n: f64) -> f64 {
        self.bytes as f64 / n * self.per_byte
    }

    /// B·G + g·(n − 1), ps.
    pub(super) fn spaced(&self, n: f64) -> f64 {
        self.bytes as f64 * self.per_byte + self.gap * (n - 1.0)
    }
}

impl Offload {
    /// Both latencies, and those of the routes.
    fn leads(&self) -> f64 {
        self.into.lead + self.into.travel + self.out.lead + self.out.travel
    }

    /// (1), ps: one copy engine, implicit synchronisation, dominant kernel.
    pub(super) fn eq1(&self, n: f64) -> f64 {
        self.leads() + self.into.chunk(n) + self.kernel + self.out.spaced(n)
    }

    /// (2), ps: the same, dominant transfers.
    pub(super) fn eq2(&self, n: f64) -> f64 {
        self.leads() + self.into.spaced(n) + self.kernel / n + self.out.spaced(n)
    }

    /// (3), ps: one copy engine, no implicit synchronisation, dominant kernel.
    pub(super) fn eq3(&self, n: f64) -> f64 {
        self.leads() + self.into.chunk(n) + self.kernel + self.out.chunk(n)
    }

    /// (4), ps: the same, dominant transfers.
    pub(super) fn eq4(&self, n: f64) -> f64 {
        let turn = self.leads() - self.into.travel + self.into.spaced(n) + self.out.spaced(n);
        turn.max(self.copies_in(n)).max(self.copies_out(n))
    }

    /// (5), ps: two copy engines, no implicit synchronisation; and `hybrid` on any device.
    pub(super) fn eq5(&self, n: f64) -> f64 {
        self.eq3(n).max(self.copies_in(n)).max(self.copies_out(n))
    }

    /// (6), ps: device-mapped host memory.
    pub(super) fn eq6(&self) -> f64 {
        let (into, out) = (self.into.spaced(1.0) + self.into.travel, self.out.spaced(1.0) + self.out.travel);
        self.into.lead + into.max(self.kernel).max(out) + self.out.lead
    }

    /// All copies in, then one kernel and one copy out.
    pub(super) fn copies_in(&self, n: f64) -> f64 {
        self.leads() + self.into.spaced(n) + self.kernel / n + self.out.chunk(n)
    }

    /// One copy in and one kernel, then all copies out.
    pub(super) fn copies_out(&self, n: f64) -> f64 {
        self.leads() + self.into.chunk(n) + self.kernel / n + self.out.spaced(n)
    }

    /// The time in n streams by the category of the device, ps; none for two copy engines with implicit
    /// synchronisation.
    pub(super) fn category(&self, n: f64) -> Option<f64> {
        match (self.engines, self.sync) {
            (1, true) => Some(self.eq1(n).max(self.eq2(n))),
            (1, false) => Some(self.eq3(n).max(self.eq4(n))),
            (_, false) => Some(self.eq5(n)),
            (_, true) => None,
        }
    }

    /// The time by the formula of a method, ps.
    pub(super) fn by_method(&self, method: Method) -> Option<f64> {
        let n = self.streams as f64;
        match method {
            Method::Explicit => self.category(1.0),
            Method::Streams => self.category(n),
            Method::Hybrid => Some(self.eq5(n)),
            Method::Mapped => Some(self.eq6()),
        }
    }
}
