//! Two sentences that differ in one number, joined: "46–107 ms".

use std::mem::discriminant;

use serde_json::{Map, Value};

use super::Remark;

impl Remark {
    /// One sentence for this remark and another one, where their first number alone differs: "46–107 ms".
    pub fn between(&self, other: &Self) -> Option<String> {
        let [(_, mut own), (_, mut others)] = [self, other].map(Self::variant_and_fields);
        if let Some(name) = first_number(&own).map(|(name, _)| name.clone()) {
            own.remove(&name);
            others.remove(&name);
        }
        let is_alike = discriminant(self) == discriminant(other) && own == others;
        is_alike.then(|| joined(&self.to_string(), &other.to_string()))?
    }

    /// The first of its numbers.
    pub fn first_number(&self) -> Option<f64> {
        first_number(&self.variant_and_fields().1)?.1.as_f64()
    }
}

fn first_number(fields: &Map<String, Value>) -> Option<(&String, &Value)> {
    fields.iter().find(|(_, value)| value.is_number())
}

/// One sentence with both numbers wherever they differ, the lower one first; `None` if anything else differs.
fn joined(one: &str, other: &str) -> Option<String> {
    let (mut one, mut other, mut joined) = (one, other, String::new());
    while !one.is_empty() || !other.is_empty() {
        let [
            (words, number, rest),
            (other_words, other_number, other_rest),
        ] = [one, other].map(cut);
        if words != other_words {
            return None;
        }
        joined += words;
        joined += &match (number.parse::<f64>(), other_number.parse::<f64>()) {
            _ if number == other_number => number.to_owned(),
            (Ok(low), Ok(high)) if low <= high => format!("{number}–{other_number}"),
            (Ok(_), Ok(_)) => format!("{other_number}–{number}"),
            _ => return None,
        };
        (one, other) = (rest, other_rest);
    }
    Some(joined)
}

/// The words up to the first number, the number with its sign, and the rest.
fn cut(sentence: &str) -> (&str, &str, &str) {
    let Some(digit) = sentence.find(|c: char| c.is_ascii_digit()) else {
        return (sentence, "", "");
    };
    let unsigned = sentence[..digit].strip_suffix(['+', '-']);
    let (words, rest) = sentence.split_at(unsigned.map_or(digit, str::len));
    let is_outside = |c: char| !c.is_ascii_digit() && !"+-.,".contains(c);
    let number = &rest[..rest.find(is_outside).unwrap_or(rest.len())];
    let number = number.trim_end_matches(['+', '-', '.', ',']);
    (words, number, &rest[number.len()..])
}
