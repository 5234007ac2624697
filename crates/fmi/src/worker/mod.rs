//! FMUs in processes of their own.
//!
//! A worker is a process that holds one instance. Host and worker share memory (crate `shm`): the host writes a request and
//! rings, the worker does it and rings back. A crash of an FMU is the end of its worker, and an error here that names the call;
//! one that does not return is ended when its time is over. Workers end with the process that started them.

mod process;
mod protocol;
mod proxy;
mod serve;

pub use process::workers_are;
pub(crate) use process::{are_known, forget};
pub(crate) use proxy::Proxy;
pub use serve::serve;
