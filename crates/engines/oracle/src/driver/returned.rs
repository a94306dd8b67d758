//! Values that a statement gives back through binds of its own instead of a row. The library writes them as PostgreSQL has them: after
//! RETURNING, and as the last arguments of a CALL that are NULL.

use engine::verbatim;

/// Marks a value that is a number; all others are texts.
const NUMBER_BEGIN: &str = "CAST(";
const NUMBER_END: &str = "AS INTEGER)";
/// Argument of a call that receives a text. One that receives a number is marked as such.
const RECEIVES: &str = "NULL";
/// Verbs that can return values of the rows that they change.
const CHANGES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];

/// The same statement with a bind for each value that it gives back. A call becomes a block: the statement CALL would hide that no row
/// was found.
pub(super) fn with_binds(sql: &str) -> String {
    let all: Vec<Token> = tokens(sql).collect();
    let Some(first) = all.first() else {
        return sql.to_owned();
    };
    if first.is(sql, "CALL") {
        return call(sql, first.end).unwrap_or_else(|| sql.to_owned());
    }
    let changes = CHANGES.iter().any(|verb| first.is(sql, verb));
    let returning = all.iter().rposition(|token| token.is(sql, "RETURNING"));
    let returning =
        returning.filter(|at| changes && !all[*at..].iter().any(|token| token.is(sql, "INTO")));
    match returning {
        Some(at) => {
            let binds: Vec<String> = (1..).zip(parts(&sql[all[at].end..])).map(bind_of).collect();
            format!("{} INTO {}", sql.trim_end(), binds.join(", "))
        }
        None => sql.to_owned(),
    }
}

fn call(sql: &str, begin: usize) -> Option<String> {
    let open = begin + sql[begin..].find('(')?;
    let close = sql.rfind(')')?;
    let name = sql[begin..open].trim();
    let arguments = parts(sql.get(open + 1..close)?);
    let receives = |argument: &&str| {
        let inner = argument.strip_prefix(NUMBER_BEGIN);
        let inner = inner.and_then(|rest| rest.strip_suffix(NUMBER_END));
        inner.unwrap_or(argument).trim() == RECEIVES
    };
    let given = arguments.iter().rposition(|argument| !receives(argument));
    let (given, received) = arguments.split_at(given.map_or(0, |last| last + 1));
    let received = (1..).zip(received.iter().copied()).map(bind_of);
    let all: Vec<String> = given
        .iter()
        .map(|argument| (*argument).to_owned())
        .chain(received)
        .collect();
    Some(format!("BEGIN {name}({}); END;", all.join(", ")))
}

/// The bind of a value, named after its type as [`super::client`] reads it.
fn bind_of((number, expression): (usize, &str)) -> String {
    if expression.starts_with(NUMBER_BEGIN) && expression.ends_with(NUMBER_END) {
        format!(":number_{number}")
    } else {
        format!(":text_{number}")
    }
}

/// Parts between commas outside parentheses and quotes.
fn parts(list: &str) -> Vec<&str> {
    let (mut found, mut begin, mut depth) = (Vec::new(), 0, 0);
    for token in tokens(list) {
        match &list[token.start..token.end] {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => {
                found.push(list[begin..token.start].trim());
                begin = token.end;
            }
            _ => {}
        }
    }
    let last = list[begin..].trim();
    found.extend((!last.is_empty()).then_some(last));
    found
}

/// LIMIT at the end of a query as Oracle has it.
pub(super) fn with_fetch_first(sql: &str) -> String {
    let all: Vec<Token> = tokens(sql).collect();
    match all.as_slice() {
        [.., limit, count]
            if limit.is(sql, "LIMIT") && sql[count.start..].bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!(
                "{}FETCH FIRST {} ROWS ONLY",
                &sql[..limit.start],
                &sql[count.start..]
            )
        }
        _ => sql.to_owned(),
    }
}

/// A statement that removes something if it is there, without these words, which Oracle has since 23 alone; `None` for others.
pub(super) fn without_if_exists(sql: &str) -> Option<String> {
    let all: Vec<Token> = tokens(sql).collect();
    let is_pair = |pair: &[Token]| pair[0].is(sql, "IF") && pair[1].is(sql, "EXISTS");
    let at = all.windows(2).position(is_pair)?;
    let drops = all.first().is_some_and(|first| first.is(sql, "DROP"));
    let rest = sql[all[at + 1].end..].trim_start();
    drops.then(|| format!("{}{rest}", &sql[..all[at].start]))
}

/// A word, a quoted text or another single character, by its place.
#[derive(Debug, Clone, Copy)]
struct Token {
    start: usize,
    end: usize,
}

impl Token {
    fn is(&self, text: &str, word: &str) -> bool {
        text[self.start..self.end].eq_ignore_ascii_case(word)
    }
}

/// Tokens outside comments.
fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let is_of_word = |c: char| c.is_alphanumeric() || "_$#".contains(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(letter) = text[at..].chars().next() {
            let start = at;
            let (before, rest) = text.split_at(start);
            let skipped = verbatim(before, rest);
            at += match skipped {
                0 if is_of_word(letter) => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
                0 => letter.len_utf8(),
                verbatim => verbatim,
            };
            let is_comment = skipped > 0 && (rest.starts_with("--") || rest.starts_with("/*"));
            if !letter.is_whitespace() && !is_comment {
                return Some(Token { start, end: at });
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_values_get_binds() {
        let found = with_binds(
            "UPDATE t SET a = ? WHERE b = ? RETURNING CAST(a - 1 AS INTEGER), f(b, ','), c",
        );
        let end = "RETURNING CAST(a - 1 AS INTEGER), f(b, ','), c INTO :number_1, :text_2, :text_3";
        assert!(found.ends_with(end), "{found}");
        for same in [
            "UPDATE t SET a = 1 RETURNING a INTO :x",
            "SELECT 'RETURNING' FROM dual",
            "DELETE FROM t WHERE a = 'RETURNING'",
            "",
        ] {
            assert_eq!(with_binds(same), same);
        }
    }

    #[test]
    fn a_call_is_a_block_that_receives_its_last_nulls() {
        let found = with_binds("CALL p.q(?, NULL, ?,\n  CAST(NULL AS INTEGER), NULL)");
        assert_eq!(found, "BEGIN p.q(?, NULL, ?, :number_1, :text_2); END;");
        assert_eq!(with_binds("CALL p(?)"), "BEGIN p(?); END;");
        assert_eq!(with_binds("CALL p()"), "BEGIN p(); END;");
    }

    #[test]
    fn shared_texts_are_spelled_as_oracle_has_them() {
        let fetch = "SELECT a FROM t ORDER BY a FETCH FIRST 10 ROWS ONLY";
        assert_eq!(
            with_fetch_first("SELECT a FROM t ORDER BY a LIMIT 10"),
            fetch
        );
        for same in ["SELECT 'LIMIT 10' FROM dual", "SELECT limit FROM t", fetch] {
            assert_eq!(with_fetch_first(same), same);
        }
        assert_eq!(
            without_if_exists("DROP TABLE IF EXISTS s.t").as_deref(),
            Some("DROP TABLE s.t")
        );
        assert_eq!(without_if_exists("DROP TABLE t"), None);
        assert_eq!(without_if_exists("SELECT 'IF EXISTS' FROM dual"), None);
    }
}
