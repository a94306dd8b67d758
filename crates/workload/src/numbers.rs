//! Numbers in a table of a plan, in any of the ways in which users write them.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    One(u32),
    List(Vec<u32>),
    /// Text such as "1,2,4".
    Text(String),
}

impl From<Numbers> for String {
    fn from(numbers: Numbers) -> Self {
        match numbers {
            Numbers::One(number) => number.to_string(),
            Numbers::Text(text) => text,
            Numbers::List(list) => {
                let list: Vec<String> = list.iter().map(u32::to_string).collect();
                list.join(",")
            }
        }
    }
}
