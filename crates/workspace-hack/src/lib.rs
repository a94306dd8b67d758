//! Nothing: what counts is its list of dependencies, which no crate uses by name.
