//! Kernels that run with the best instruction set of the machine.

/// Work that is compiled once for each instruction set. Implementations must be `inline(always)`
/// all the way down, or they fall back to the baseline.
pub trait Kernel {
    /// What the work gives.
    type Output;
    /// Does it; `FUSED` says whether a fused multiply-add is one instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
struct Fused<K>(K);

#[cfg(target_arch = "x86_64")]
impl<K: Kernel> pulp::NullaryFnOnce for Fused<K> {
    type Output = K::Output;
    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run::<true>()
    }
}

/// Runs `kernel` with AVX2 and FMA where the machine has them.
#[inline(always)]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(level) = pulp::x86::V3::try_new() {
        return level.vectorize(Fused(kernel));
    }
    kernel.run::<false>()
}

/// a - b c, in one rounding where that is one instruction.
#[inline(always)]
pub fn sub_mul<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { b.mul_add(-c, a) } else { a - b * c }
}

/// a + b c, in one rounding where that is one instruction.
#[inline(always)]
pub fn add_mul<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { b.mul_add(c, a) } else { a + b * c }
}
