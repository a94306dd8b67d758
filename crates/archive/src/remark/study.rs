//! Studies: what is unsound in a published protocol that is repeated as it stands, what the design of a screening cannot tell
//! apart, and what alternatives must not be read without.

macro_rules! study {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// Published protocol: each value is measured once.
MeasuredOnce => "each value is measured once: its noise is unknown, and no interval can be given";
/// Published protocol: one side is measured as a whole before the other.
SidesInSequence { first: String, second: String } =>
    "{first} is measured as a whole before {second}: whatever else changes in between is in the difference";
/// Published protocol: levels are measured in a fixed, rising order.
OrderFixed { levels: String } =>
    "{levels} are measured in a fixed, rising order: a drift, and what one leaves in memory or on disk for the next, looks like an effect";
/// Published protocol: what the source does not state, and what is used instead.
ProtocolUntold { what: String, taken: String } => "the document does not tell {what}; here: {taken}";
/// A doubt that belongs to a published figure, as its reference has it.
PublishedDoubt { doubt: String } => "{doubt}";
/// Screening: the effect of a setting cannot be distinguished from these interactions of two others.
EffectAliased { factor: String, with: Vec<String> } =>
    "the effect of {factor} cannot be told from {list}: if two settings act on each other, the other effect is in it",
    list = words::interactions(with);
/// Screening: a part of every interaction of two settings is in the effect of every other one.
EffectsPartlyAliased { share: f64 } =>
    "{pct:.0} % of every interaction of two settings is in the effect of every other setting", pct = share * 100.0;
/// Screening: effects are independent, but interactions of two settings cannot be distinguished from each other.
InteractionsAliased { resolution: u32 } =>
    "resolution {resolution}: no effect of a setting is confounded with an interaction of two others; these cannot be told from each other, and none is estimated";
/// Alternative: commits are acknowledged before they are durable.
CommitsCanBeLost => "commits are not flushed before they are acknowledged: a crash of the server or the machine loses some";
/// Alternative: commits wait for each other.
CommitsWait { what: String } => "{what}: a commit waits for others, to be flushed with them, and takes longer when it is alone";
/// Alternative: more differs than its name says.
AlsoDiffers { what: String } => "{what}";

    } };
}
