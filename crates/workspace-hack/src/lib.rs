//! Contains nothing: only its list of dependencies matters, and no crate uses it by name.
