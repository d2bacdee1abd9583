//! The floating-point environment: how numbers are rounded, and whether tiny ones become 0. A plugin that leaves it changed
//! would change every result after its call.

/// What a plugin did that left it changed; follows "allocate of FILE", and says what to do.
pub(crate) const CHANGED: &str =
    "left the floating-point environment changed (rounding, tiny numbers or traps); restore it before returning";

/// Runs code of a plugin, and restores the environment after it. The second value says whether the code left it as it was.
#[inline]
pub(crate) fn kept<T>(f: impl FnOnce() -> T) -> (T, bool) {
    let before = FloatControl::now();
    let result = f();
    let is_same = FloatControl::now() == before;
    if !is_same {
        before.restore();
    }
    (result, is_same)
}

/// The control bits of this thread; 0 where they cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FloatControl(u64);

/// MXCSR, which rules the arithmetic of Rust, and above it the control word of the x87, which rules `long double` and from
/// which the C library learns how to round.
#[cfg(target_arch = "x86_64")]
impl FloatControl {
    /// All of MXCSR but the flags of exceptions that have occurred, bits 0 to 5 (Intel SDM, volume 1, section 10.2.3).
    const CONTROL: u32 = !0x3f;

    #[inline]
    fn now() -> Self {
        let (mut mxcsr, mut x87) = (0_u32, 0_u16);
        // SAFETY: each register is stored to a place of its size.
        unsafe {
            std::arch::asm!(
                "stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut mxcsr, in(reg) &raw mut x87, options(nostack)
            );
        }
        Self(u64::from(mxcsr & Self::CONTROL) | u64::from(x87) << 32)
    }

    fn restore(self) {
        let (mxcsr, x87) = (self.0 as u32, (self.0 >> 32) as u16);
        // SAFETY: these bits were in the registers before. What the x87 has pending is dropped first: it would trap.
        unsafe {
            std::arch::asm!(
                "ldmxcsr [{}]", "fnclex", "fldcw [{}]", in(reg) &raw const mxcsr, in(reg) &raw const x87,
                options(nostack)
            );
        }
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
