//! What is run against a target: the library of component tests.
