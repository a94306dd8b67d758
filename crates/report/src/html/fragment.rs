//! Parts of a page: headings, sentences, tables, charts.

use std::fmt::{self, Display};

use archive::{Cell, Column, Table};

use crate::section::{is_failed, is_words, text, unit};

/// Markup of a part of the page; empty without contents.
#[derive(Debug, Clone, Default)]
pub struct Fragment(String);

impl Display for Fragment {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl Fragment {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An element of the page that contains the parts; nothing without parts.
    pub fn section(self, id: &str, title: &str) -> Self {
        if self.is_empty() {
            return self;
        }
        let title = escape(title);
        Self(format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{self}</section>\n"
        ))
    }

    /// The parts folded under a summary; nothing without parts.
    pub fn folded(self, summary: &str, is_open: bool) -> Self {
        let open = if is_open { " open" } else { "" };
        self.within("details", open, summary)
    }

    /// Like [`Fragment::folded`], but printed.
    pub fn folded_but_printed(self, summary: &str) -> Self {
        self.within("details", &attribute("class", "paper"), summary)
    }

    /// The parts in a block of this class; nothing without parts.
    pub fn block(self, class: &str) -> Self {
        self.within("div", &attribute("class", class), "")
    }

    fn within(self, tag: &str, attributes: &str, summary: &str) -> Self {
        let mut first = Self::default();
        first.element("summary", "", summary);
        match self.0.as_str() {
            "" => self,
            parts => Self(format!("<{tag}{attributes}>{first}{parts}</{tag}>\n")),
        }
    }

    pub fn add(&mut self, part: &impl Display) -> &mut Self {
        self.0.push_str(&part.to_string());
        self
    }

    pub fn heading(&mut self, level: u8, text: &str) -> &mut Self {
        self.element(&format!("h{level}"), "", text)
    }

    /// An explanation in small type.
    pub fn how(&mut self, text: &str) -> &mut Self {
        self.element("p", "how", text)
    }

    pub fn sentence(&mut self, text: &str) -> &mut Self {
        self.element("p", "", text)
    }

    pub fn caution(&mut self, text: &str) -> &mut Self {
        self.element("p", "caution", text)
    }

    /// Nothing without a text.
    pub fn element(&mut self, tag: &str, class: &str, text: &str) -> &mut Self {
        if !text.is_empty() {
            let class = attribute("class", class);
            self.0 += &format!("<{tag}{class}>{}</{tag}>\n", escape(text));
        }
        self
    }

    /// The number of rows or charts that are left out, and their place; nothing if none is.
    pub fn more(&mut self, count: usize, elsewhere: &str) -> &mut Self {
        match count {
            0 => self,
            more => self.how(&format!("And {more} more{elsewhere}.")),
        }
    }

    /// "Levels not shown: 3; …"; nothing if none is left out.
    pub fn left_out(&mut self, what: &str, count: usize) -> &mut Self {
        match count {
            0 => self,
            count => self.how(&format!(
                "{what}: {count}; see the data embedded in this page."
            )),
        }
    }

    pub fn facts<N: AsRef<str>, V: AsRef<str>>(
        &mut self,
        class: &str,
        facts: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Self {
        self.0 += &format!("<dl{}>\n", attribute("class", class));
        for (name, value) in facts {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            self.0 += &format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n");
        }
        self.0 += "</dl>\n";
        self
    }

    pub fn list<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = T>) -> &mut Self {
        let lines = lines
            .into_iter()
            .map(|line| format!("<li>{}</li>\n", escape(line.as_ref())));
        let lines: String = lines.collect();
        self.0 += &format!("<ul>\n{lines}</ul>\n");
        self
    }

    pub fn figures(&mut self, figures: &[impl Display]) -> &mut Self {
        if !figures.is_empty() {
            let each: String = figures.iter().map(|figure| format!("{figure}\n")).collect();
            self.0 += &format!("<div class=\"figures\">\n{each}</div>\n");
        }
        self
    }

    /// A table that scrolls by itself, with a label for screen readers; nothing without rows.
    pub fn table(&mut self, class: &str, label: &str, table: &Table) -> &mut Self {
        if !table.rows.is_empty() {
            self.0 += &format!(
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
                chart::escape(label),
                markup(class, table, Attributes::With)
            );
        }
        self
    }

    /// The values of a chart, of which a page has many: no scopes, because heads of columns stand in the thead, and those
    /// of rows in a column without data.
    pub fn of_values(table: &Table) -> String {
        markup("", table, Attributes::Without)
    }
}

/// A text between tags, where quotes are safe.
fn escape(text: &str) -> String {
    chart::escape(text)
        .replace("&#39;", "'")
        .replace("&quot;", "\"")
}

fn attribute(name: &str, value: &str) -> String {
    match value {
        "" => String::new(),
        value => format!(" {name}=\"{value}\""),
    }
}

/// Scopes of heads and classes of cells.
#[derive(Clone, Copy)]
enum Attributes {
    With,
    Without,
}

impl Attributes {
    fn of(self, attribute: &'static str) -> &'static str {
        match self {
            Self::With => attribute,
            Self::Without => "",
        }
    }
}

fn markup(class: &str, table: &Table, attributes: Attributes) -> String {
    // The first column stands on the left by itself.
    let is_words: Vec<bool> = (0..table.columns.len())
        .map(|at| at > 0 && is_words(table, at))
        .collect();
    let rows: String = (table.rows.iter())
        .map(|cells| row(table, cells, &is_words, attributes))
        .collect();
    format!(
        "<table{}>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n",
        attribute("class", class),
        heads(&table.columns, &is_words, attributes)
    )
}

/// The first line, and further ones in small type.
fn in_two_sizes(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) => format!("{} <small>{}</small>", escape(first), escape(rest)),
        None => escape(text),
    }
}

/// Neighbours with one name share it above their units.
fn heads(columns: &[Column], is_words: &[bool], attributes: Attributes) -> String {
    let [col, class] = [" scope=\"col\"", " class=\"text\""].map(|own| attributes.of(own));
    let groups: Vec<&[Column]> = columns
        .chunk_by(|a, b| a.name == b.name && !a.name.is_empty())
        .collect();
    let is_grouped = groups.len() < columns.len();
    let (mut above, mut below) = (String::new(), String::new());
    let mut words = is_words.iter();
    for group in groups {
        let words: Vec<&str> = (words.by_ref().take(group.len()))
            .map(|is_words| if *is_words { class } else { "" })
            .collect();
        if let [own] = group {
            let rows = if is_grouped { " rowspan=\"2\"" } else { "" };
            let unit = match unit(own) {
                "" => String::new(),
                unit => format!("<small>{}</small>", escape(unit)),
            };
            above += &format!(
                "<th{col}{rows}{}>{}{unit}</th>",
                words[0],
                escape(&own.name)
            );
            continue;
        }
        let (name, columns) = (escape(&group[0].name), group.len());
        above += &format!("<th scope=\"colgroup\" colspan=\"{columns}\">{name}</th>");
        for (own, words) in group.iter().zip(words) {
            below += &format!("<th{col}{words}>{}</th>", escape(unit(own)));
        }
    }
    if below.is_empty() {
        format!("<tr>{above}</tr>")
    } else {
        format!("<tr>{above}</tr>\n<tr>{below}</tr>")
    }
}

fn row(table: &Table, cells: &[Cell], is_words: &[bool], attributes: Attributes) -> String {
    let columns = table.columns.len();
    if let [heading] = cells
        && columns > 1
    {
        let heading = in_two_sizes(&text(heading, ""));
        return format!(
            "<tr{}><th scope=\"rowgroup\" colspan=\"{columns}\">{heading}</th></tr>\n",
            attributes.of(" class=\"component\"")
        );
    }
    let [scope, words] = [" scope=\"row\"", " class=\"text\""].map(|own| attributes.of(own));
    let mut out = String::new();
    for ((at, value), column) in cells.iter().enumerate().zip(&table.columns) {
        let value = in_two_sizes(&text(value, &column.unit));
        out += &match at {
            0 => format!("<th{scope}>{value}</th>"),
            _ if is_words[at] => format!("<td{words}>{value}</td>"),
            _ => format!("<td>{value}</td>"),
        };
    }
    let class = if is_failed(cells) {
        " class=\"invalid\""
    } else {
        ""
    };
    format!("<tr{class}>{out}</tr>\n")
}
