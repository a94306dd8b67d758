//! The databases under test: one module per engine behind one trait.
