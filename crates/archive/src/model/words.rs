//! Enums whose variants have a word in archives and exports.

/// Declares such an enum: each variant once, with its word.
macro_rules! words {
    ($(#[$of_all:meta])* pub enum $name:ident { $($(#[$of_one:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$of_all])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$of_one])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|each| each.name() == word)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{IoUnknown, Resource};

    #[test]
    fn words_are_those_of_exports() {
        for each in Resource::ALL {
            assert_eq!(serde_json::to_value(each).unwrap(), each.name());
            assert_eq!(Resource::named(each.name()), Some(each));
        }
        assert_eq!(IoUnknown::named("not counted"), None);
    }
}
