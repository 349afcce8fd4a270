//! Whole programs through load, parse, pipelines and deparse. The programs are in `tests/programs`.
#![allow(missing_docs)]

mod actions;
mod clients;
mod expressions;
mod harness;
mod headers;
mod loader;
mod older;
mod tables;
mod traces;
