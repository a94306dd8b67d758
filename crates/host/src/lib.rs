//! What the machine is ([`facts()`]) and does ([`Sampler`]).
//!
//! * [`facts()`]: processor, memory, kernel and disks, for the page of a run.
//! * [`inventory`](mod@inventory): everything else that is known of it, and what its owner states.
//! * [`lint`](mod@lint): its configuration judged by published good practice.
//! * [`device_of`]: the block device under a path, whose counters belong to a target.
//! * [`counters`]: one cheap snapshot of the kernel's counters; [`Rates`] is the difference of two.
//! * [`memory`](mod@memory): what is left of it, and what this process takes.
//! * [`Sampler`]: a thread that takes them on a schedule; a window of it becomes [`HostUse`].
//! * [`remote`]: another machine, through ssh; [`HostWatch`]: driver and database, wherever it runs.
//! * [`CpuOwners`]: whose the processor time of a window was.
//! * [`block`]: how long the requests of a block device take, as distributions.
//! * [`clock`], [`thread_time`](mod@thread_time): wall, monotonic and processor time.
//!
//! Everything is read below a root directory, so that a test can put a made-up machine there.
//! What the machine does not tell is `None`, never 0.

pub mod block;
mod bystanders;
pub mod clock;
pub mod counters;
mod device;
mod facts;
mod family;
pub mod inventory;
pub mod lint;
pub mod memory;
mod mounts;
mod owners;
mod rates;
pub mod remote;
mod room;
mod sampler;
pub mod thread_time;
mod watch;

pub use bystanders::{IoAccounts, IoByOthers};
pub use clock::{Stopwatch, SystemClock, WallClock};
pub use counters::{Counters, Reader};
pub use device::{DeviceError, device_of};
pub use facts::facts;
pub use owners::{CpuOwners, Programs};
pub use rates::Rates;
pub use remote::{Remote, RemoteError, SshAddress};
pub use room::{Room, room};
pub use sampler::{HostUse, Mark, Sampler, SamplerError, SamplerOptions};
pub use thread_time::{ThreadClock, ThreadTime, process_time, thread_cpu_ns, thread_time};
pub use watch::{HostMark, HostWatch};
