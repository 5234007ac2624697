//! Pivoting (to come).
