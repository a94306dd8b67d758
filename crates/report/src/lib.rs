//! Pages and tables from the archive alone: HTML, terminal, Markdown.
