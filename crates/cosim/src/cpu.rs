//! The CPU feature level: chosen once, so that the same run gives the same bits.

use serde::{Deserialize, Serialize};

/// Instruction sets that kernels may choose between. Results of different levels differ in the
/// last bits (fused multiply-add rounds once), so a checkpoint remembers its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CpuLevel {
    /// What every machine of the architecture has.
    Baseline,
    /// x86-64 with AVX2 and FMA.
    Avx2Fma,
}

impl CpuLevel {
    /// The best level of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Self::Avx2Fma;
        }
        Self::Baseline
    }
}
