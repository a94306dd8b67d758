//! Connections to servers: sockets, waiting for them, and TLS between a wire and its socket.

mod readable;
pub mod stream;
pub mod tls;

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
