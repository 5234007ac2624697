//! Oldham for Python: the engine behind a C interface, which the package calls by `ctypes`.
//!
//! What a user sees is Python, in `oldham/`: it documents, checks arguments and draws. Here are functions of C that
//! take JSON and give an [`border::Answer`], with faster ways where a call is made in every step. Python
//! releases its lock around them. No panic leaves them. Record 83 says why it is not a module for one interpreter.

mod arrow;
mod border;
mod callbacks;
mod columns;
mod export;
mod failure;
mod model;
mod part;
mod predictor;
mod run;
mod stepper;
mod study;
mod view;

pub use border::{Answer, oldham_answer_free, oldham_version};
pub use callbacks::{Callbacks, Reply, oldham_reply};
pub use columns::{
    oldham_columns_free, oldham_columns_new, oldham_columns_stream, oldham_read, oldham_stream_free,
};
pub use export::oldham_export;
pub use model::{
    oldham_cancel_free, oldham_cancel_new, oldham_cancel_request, oldham_model_columns,
    oldham_model_free, oldham_model_new,
};
pub use run::{oldham_run, oldham_run_to_file};
pub use stepper::{
    oldham_state_bytes, oldham_state_free, oldham_state_parse, oldham_stepper_clock,
    oldham_stepper_close, oldham_stepper_free, oldham_stepper_new, oldham_stepper_restore,
    oldham_stepper_save, oldham_stepper_set, oldham_stepper_step, oldham_stepper_told,
};
pub use study::oldham_study;
pub use view::{oldham_page, oldham_page_of_file};
