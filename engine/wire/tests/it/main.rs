//! Headers: views of them, what is set in them, and TCP's options.

mod mark;
mod tcp_options;
mod views;
