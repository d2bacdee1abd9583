//! The floating-point environment: how numbers are rounded, and whether tiny ones become 0. A plugin that leaves it changed
//! would change every result after its call.

/// What a plugin did that left it changed.
pub(crate) const CHANGED: &str =
    "left the floating-point environment changed (rounding, tiny numbers or traps); restore it before returning";

/// Runs what may change the environment. Returns whether it was left as it was; it is so afterwards.
#[inline]
pub(crate) fn kept<T>(f: impl FnOnce() -> T) -> (T, bool) {
    let before = FloatControl::now();
    let result = f();
    let is_kept = FloatControl::now() == before;
    if !is_kept {
        before.restore();
    }
    (result, is_kept)
}

/// The control bits of this thread; 0 where they cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FloatControl(u64);

#[cfg(target_arch = "x86_64")]
impl FloatControl {
    /// All of MXCSR but the flags of exceptions that have occurred, bits 0 to 5 (Intel SDM, volume 1, section 10.2.3).
    const CONTROL: u32 = !0x3f;

    #[inline]
    fn now() -> Self {
        let mut mxcsr = 0_u32;
        // SAFETY: the register is stored to a place of its size.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
        Self(u64::from(mxcsr & Self::CONTROL))
    }

    fn restore(self) {
        let mxcsr = self.0 as u32;
        // SAFETY: these bits were in the register before.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack)) };
    }
}

#[cfg(target_arch = "aarch64")]
impl FloatControl {
    #[inline]
    fn now() -> Self {
        let fpcr: u64;
        // SAFETY: the register can be read; it has no flags of exceptions, which are in FPSR.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) fpcr, options(nomem, nostack)) };
        Self(fpcr)
    }

    fn restore(self) {
        // SAFETY: the value was in the register before.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nomem, nostack)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl FloatControl {
    fn now() -> Self {
        Self(0)
    }

    fn restore(self) {}
}
