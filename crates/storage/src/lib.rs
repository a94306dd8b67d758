//! Storage below the database: the language of vdbench parameter files, and the engine that does what they say.
