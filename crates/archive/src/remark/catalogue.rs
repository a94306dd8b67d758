//! Makes a variant, its code, its sentence, and a line of the documentation of each entry of the catalogue.
//!
//! An entry is `/// meaning`, `Variant { field: Type, … } => "sentence with {fields}", word = expression;`: the expressions
//! are for words that depend on values, and see the fields as references. `workloads!` hands
//! its entries to `platform!`, which hands all of them to `catalogue!`.

macro_rules! catalogue {
    ($(
        $(#[doc = $about:literal])+
        $variant:ident $({ $($field:ident: $type:ty),* $(,)? })?
            => $sentence:literal $(, $word:ident = $value:expr)*;
    )*) => {
        /// Why something is invalid or was not measured, or what a reader should know of it.
        ///
        /// Numbers are exact and end in their unit; sentences round them.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Remark {
            $($(#[doc = $about])+ $variant $({ $($field: $type),* })?),*
        }

        /// Every remark that there is.
        pub const KINDS: &[Kind] = &[
            $(Kind {
                variant: stringify!($variant),
                fields: &[$($((stringify!($field), stringify!($type))),*)?],
                about: concat!($($about),+),
            }),*
        ];

        impl fmt::Display for Remark {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(
                        // Not every field is shown as it is.
                        #[allow(unused_variables)]
                        Self::$variant $({ $($field),* })? => {
                            $(let $word = $value;)*
                            f.write_fmt(format_args!($sentence))
                        }
                    )*
                }
            }
        }

        impl Remark {
            pub(super) fn variant_and_fields(&self) -> (&'static str, Map<String, Value>) {
                let mut object = Map::new();
                let variant = match self {
                    $(Self::$variant $({ $($field),* })? => {
                        $($(fields::put(&mut object, stringify!($field), $field);)*)?
                        stringify!($variant)
                    })*
                };
                (variant, object)
            }

            /// The remark of them, if there is such a variant.
            ///
            /// # Errors
            /// When a field is missing or of another type.
            pub(super) fn of_variant_and_fields(
                variant: &str,
                object: &mut Map<String, Value>,
            ) -> serde_json::Result<Option<Self>> {
                Ok(Some(match variant {
                    $(stringify!($variant) => Self::$variant $({
                        $($field: fields::take(object, stringify!($field))?),*
                    })?,)*
                    _ => return Ok(None),
                }))
            }
        }
    };
}
