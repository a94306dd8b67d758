//! The machine: its facts ([`facts()`]) and its activity ([`Sampler`]).
//!
//! * [`facts()`]: processor, memory, kernel and disks, for the page of a run.
//! * [`inventory`](mod@inventory): all other facts that the machine shows or its owner states.
//! * [`lint`](mod@lint): checks its configuration against published good practice.
//! * [`device_of`]: the block device under a path; [`Stack`]: all devices of a database, and what they are built of.
//! * [`counters`]: one cheap snapshot of the kernel's counters; [`Rates`] is the difference of two.
//! * [`memory`](mod@memory): available memory, and the memory of this process.
//! * [`OwnMemory`]: the private memory of a server's processes.
//! * [`limits`]: limits of open files and processes, raised as far as the system allows.
//! * [`Sampler`]: a thread that takes snapshots of the counters on a schedule; a window of them becomes [`HostUse`].
//! * [`LockableFile`]: a lock file that marks a resource as in use.
//! * [`die_with_parent`]: programs that must not outlive dbdyno.
//! * [`FewerProcessors`]: restricts this process and its children to some of the processors for a while.
//! * [`remote`]: another machine, over ssh; [`HostWatch`]: the hosts of driver and database.
//! * [`CpuOwners`]: the owners of the CPU time of a window.
//! * [`block`]: distributions of the times of requests to a block device.
//! * [`tuning`]: settings of the kernel for block devices, changed for the time of a run.
//! * [`trusted()`]: checks that others could not have replaced a program.
//! * [`clock`], [`thread_time`](mod@thread_time): wall, monotonic and CPU time.
//!
//! Everything is read below a root directory, so that a test can use a made-up machine.
//! Unknown values are `None`, never 0.

pub mod block;
mod bystanders;
mod children;
pub mod clock;
pub mod counters;
mod device;
mod facts;
mod family;
mod interfaces;
pub mod inventory;
pub mod limits;
pub mod lint;
mod lockable;
pub mod memory;
mod mounts;
mod nvme;
mod own_memory;
mod owners;
mod processors;
mod rates;
pub mod remote;
mod room;
mod sampler;
mod speed;
mod stack;
pub mod thread_time;
mod trusted;
pub mod tuning;
mod watch;

pub use bystanders::{IoAccounts, IoByOthers};
pub use children::die_with_parent;
pub use clock::{Stopwatch, SystemClock, WallClock};
pub use counters::{Counters, Reader};
pub use device::{DeviceError, device_of, devices_of};
pub use facts::facts;
pub use family::pids_of_children;
pub use interfaces::INTERFACES_MAX;
pub use lockable::LockableFile;
pub use mounts::mounted_below;
pub use own_memory::OwnMemory;
pub use owners::{CpuOwners, Owners, Programs};
pub use processors::{FewerProcessors, processors};
pub use rates::Rates;
pub use remote::{Remote, RemoteError, SshAddress};
pub use room::{Room, room};
pub use sampler::{HostUse, Mark, Sampler, SamplerError, SamplerOptions};
pub use speed::{Speed, slow_clock};
pub use stack::{Layer, NoDevice, Stack};
pub use thread_time::{ThreadClock, ThreadTime, process_time, thread_cpu_ns, thread_time};
pub use trusted::{Untrusted, trusted, user_id};
pub use watch::{HostMark, HostWatch};
