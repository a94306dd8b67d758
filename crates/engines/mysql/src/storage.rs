//! How a table is stored, read back from the server.

use std::collections::BTreeMap;

use super::client::Client;
use super::facts;
use super::name::literal;
use engine::Result;

/// The codec of a table with the number of its files, which is one. That a table was created compressed
/// does not say that it is: on a file system that cannot free parts of a file nothing becomes smaller,
/// so that only a file that takes less room than its length counts.
pub(super) fn storage_of(
    client: &mut Client,
    database: &str,
    table: &str,
) -> Result<BTreeMap<String, u64>> {
    let options = client.read_one(&format!(
        "SELECT create_options FROM information_schema.tables \
         WHERE table_schema = {} AND table_name = '{table}'",
        literal(database)
    ))?;
    let options = options.unwrap_or_default().to_ascii_uppercase();
    let words = ["PAGE_COMPRESSED", "COMPRESSION=\"ZLIB\""];
    let asked = words.iter().any(|words| options.contains(words));
    let codec = if asked && takes_less_than_its_length(client, database, table)? {
        let algorithm = facts::variable(client, "innodb_compression_algorithm")?;
        let algorithm = algorithm.as_deref().unwrap_or("zlib");
        format!("page compression, {algorithm}")
    } else {
        "uncompressed".into()
    };
    Ok(BTreeMap::from([(codec, 1)]))
}

fn takes_less_than_its_length(client: &mut Client, database: &str, table: &str) -> Result<bool> {
    let flavour = client.flavour();
    let (files, of) = (flavour.table_spaces, flavour.table_space_of);
    let of = of.replace("{database}", &literal(database));
    let found = client.read_one(&format!(
        "SELECT allocated_size < file_size FROM information_schema.{files} WHERE name = concat({of}, '/{table}')"
    ))?;
    Ok(found.as_deref() == Some("1"))
}
