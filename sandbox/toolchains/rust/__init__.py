"""Rust crates, tested by the programs that `cargo` makes."""
