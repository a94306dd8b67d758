//! The text of a query's plan in the engine's words, without values: what is left is the same from one execution to
//! the next, and with other parameters, as long as the same steps are taken.

/// The cells of what an engine says of a plan, one line a row.
pub fn plan_text(rows: Vec<Vec<Option<String>>>) -> String {
    let line = |row: Vec<Option<String>>| {
        let cells: Vec<String> = row.into_iter().flatten().collect();
        without_values(&cells.join(" | "))
    };
    rows.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Numbers and what stands between single quotes become a question mark; digits within names stay.
fn without_values(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_in_name = plain.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match c {
            '\'' => {
                rest.by_ref().find(|c| *c == '\'');
                plain.push('?');
            }
            c if c.is_ascii_digit() && !is_in_name => {
                while rest.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                plain.push('?');
            }
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_and_values_go() {
        for (text, plain) in [
            ("Filter: (p_size = 15)", "Filter: (p_size = ?)"),
            ("Workers Planned: 12", "Workers Planned: ?"),
            ("(l_tax <= 0.07::numeric)", "(l_tax <= ?::numeric)"),
            ("= 'it''s 1'::text AND l1.x", "= ??::text AND l1.x"),
            ("SCAN t2 USING INDEX i_7", "SCAN t2 USING INDEX i_7"),
            ("~1,200 rows", "~?,? rows"),
            ("open 'end", "open ?"),
        ] {
            assert_eq!(without_values(text), plain);
        }
        let cell = |text: &str| Some(text.to_owned());
        let rows = vec![vec![cell("1"), None, cell("ALL")], vec![cell("x")]];
        assert_eq!(plan_text(rows), "? | ALL\nx");
    }
}
