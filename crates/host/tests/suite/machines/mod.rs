//! Made-up machines: the files of a big one as advised, the same one against all advice, and a small one.

#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs::{create_dir_all, write};
use std::path::Path;

/// Paths below the root and their contents.
pub type Files = BTreeMap<String, String>;

pub const STATED: &str = "[storage]\ntype = \"3PAR StoreServ 8400\"\nflash_only = true\n\
    ssd_disks = 80\nraid_level = \"RAID 1+0\"\n\
    [volume_manager]\nlayout = \"striped\"\nstripe_size_kib = 1024\n\
    [file_system]\ndirect_io = true\nasynchronous_io = true\n\
    [database]\ncluster = true\nshared_memory_gib = 2800\nin_memory_gib = 2699\nhuge_page_group = 54322\n\
    data_devices = [\"/dev/mapper/data01\", \"data02\"]\nredo_devices = [\"redo01\", \"redo02\"]\n\
    archive_devices = [\"/dev/nvme0n1p2\"]\n";

pub const STATED_OTHERWISE: &str = "[storage]\nflash_only = true\nraid_level = \"RAID-5\"\n\
    [volume_manager]\nlayout = \"concatenated\"\nstripe_size_kib = 64\n\
    [file_system]\ndirect_io = false\nasynchronous_io = false\n\
    [database]\ncluster = true\nshared_memory_gib = 400\nin_memory_gib = 500\nhuge_page_group = 54322\n\
    data_devices = [\"data01\", \"sda1\"]\nredo_devices = [\"data01\"]\narchive_devices = [\"/dev/sda\"]\n";

const MULTIPATH: &str = "defaults {\n polling_interval 10\n user_friendly_names yes\n find_multipaths yes\n}\n\
    devices {\n device {\n vendor \"3PARdata\"\n product \"VV\"\n path_grouping_policy group_by_prio\n\
    path_selector \"round-robin 0\"\n path_checker tur\n features \"0\"\n hardware_handler \"1 alua\"\n\
    prio alua\n failback immediate\n rr_weight uniform\n no_path_retry 18\n rr_min_io_rq 1\n\
    detect_prio yes\n# dev_loss_tmo 14\n }\n}\nblacklist {\n devnode \"^(ram|loop)[0-9]*\"\n}\n\
    multipaths {\n multipath {\n wwid 360002ac0\n alias data01\n }\n}\n";

const UDEV: &str = "ACTION==\"add|change\", KERNEL==\"dm-*\", PROGRAM=\"/bin/bash -c 'grep x'\", \
    ATTR{queue/rotational}=\"0\", ATTR{queue/scheduler}=\"noop\", ATTR{queue/rq_affinity}=\"2 \", \
    ATTR{queue/nomerges}=\"1\", ATTR{queue/nr_requests}=\"128\"\n\
    ENV{DM_NAME}==\"data01\", OWNER:=\"oracle\", GROUP:=\"oinstall\", MODE:=\"660\"\n";

const MOUNTS: &str = "/dev/nvme0n1p1 / xfs rw,relatime 0 0\nproc /proc proc rw 0 0\n\
    /dev/vx/dsk/u02 /u\\04002 vxfs rw,mincache=direct,convosync=direct 0 0\n";

const SYSCTL: &[(&str, &str, &str)] = &[
    ("fs/file-max", "6815744", "100"),
    ("kernel/sem", "250\t32000\t100\t128", "250\t32000\t32\t128"),
    ("kernel/shmmni", "4096", "128"),
    ("kernel/shmall", "18446744073692774399", "2097152"),
    ("kernel/shmmax", "4398046511104", "33554432"),
    ("kernel/panic_on_oops", "1", "0"),
    ("net/core/rmem_default", "262144", "212992"),
    ("net/core/rmem_max", "4194304", "212992"),
    ("net/core/wmem_default", "262144", "212992"),
    ("net/core/wmem_max", "1048576", "212992"),
    ("fs/aio-max-nr", "1048576", "65536"),
    ("net/ipv4/ip_local_port_range", "9000\t65500", "1024\t65535"),
    ("vm/hugetlb_shm_group", "54322", "0"),
];

fn put(files: &mut Files, rows: &[(&str, &str)]) {
    files.extend(
        rows.iter()
            .map(|(path, text)| ((*path).to_owned(), format!("{text}\n"))),
    );
}

/// Four sockets of `cores` cores, four volumes over four paths each, everything as advised.
pub fn big(cores: u32) -> Files {
    let mut files = Files::new();
    put(
        &mut files,
        &[
            ("proc/sys/kernel/hostname", "dl580"),
            ("proc/sys/kernel/osrelease", "3.10.0-514.el7.x86_64"),
            ("proc/sys/kernel/arch", "x86_64"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU E7-8867 v4 @ 2.40GHz\nflags\t\t: fpu sse",
            ),
            (
                "proc/meminfo",
                "MemTotal:       3170893824 kB\nSwapTotal:        4194304 kB",
            ),
            ("proc/self/mounts", MOUNTS),
            (
                "etc/os-release",
                "PRETTY_NAME=\"Red Hat Enterprise Linux Server 7.3 (Maipo)\"",
            ),
            ("etc/multipath.conf", MULTIPATH),
            ("etc/udev/rules.d/10-3par.rules", UDEV),
            ("sys/class/dmi/id/sys_vendor", "HP"),
            ("sys/class/dmi/id/product_name", "ProLiant DL580 Gen9"),
            ("sys/devices/system/cpu/smt/control", "on"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always madvise [never]",
            ),
            (
                "sys/kernel/mm/transparent_hugepage/defrag",
                "always defer [madvise] never",
            ),
            (
                "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
                "1468006",
            ),
            (
                "sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages",
                "512",
            ),
            ("sys/class/net/eth0/device/uevent", "DRIVER=bnx2x"),
            ("sys/class/net/eth0/operstate", "up"),
            ("sys/class/net/eth0/speed", "10000"),
            ("sys/class/net/eth0/mtu", "9000"),
            ("sys/class/net/lo/mtu", "65536"),
        ],
    );
    for (name, advised, _) in SYSCTL {
        put(&mut files, &[(&format!("proc/sys/{name}"), advised)]);
    }
    processors(&mut files, cores);
    for port in 1..=4 {
        let at = |file: &str| format!("sys/class/fc_host/host{port}/{file}");
        put(
            &mut files,
            &[
                (&at("port_name"), &format!("0x5001438000000{port:03}")),
                (&at("port_state"), "Online"),
                (&at("speed"), "16 Gbit"),
                (&at("supported_speeds"), "4 Gbit, 8 Gbit, 16 Gbit"),
                (
                    &format!("sys/class/scsi_host/host{port}/model_name"),
                    "SN1100E",
                ),
            ],
        );
    }
    disks(&mut files);
    files
}

fn processors(files: &mut Files, cores: u32) {
    let cpus = "sys/devices/system/cpu";
    let threads = 4 * cores * 2;
    for thread in 0..threads {
        let core = thread % (4 * cores);
        let socket = core / cores;
        let at = |file: &str| format!("{cpus}/cpu{thread}/{file}");
        put(
            files,
            &[
                (&at("topology/physical_package_id"), &socket.to_string()),
                (
                    &at("topology/thread_siblings_list"),
                    &format!("{core},{}", core + 4 * cores),
                ),
                (&at("cpufreq/scaling_governor"), "performance"),
                (&at("cpufreq/scaling_driver"), "intel_pstate"),
            ],
        );
    }
    put(
        files,
        &[(&format!("{cpus}/online"), &format!("0-{}", threads - 1))],
    );
    for node in 0..4 {
        let at = |file: &str| format!("sys/devices/system/node/node{node}/{file}");
        put(
            files,
            &[
                (
                    &at("cpulist"),
                    &format!("{}-{}", node * cores, (node + 1) * cores - 1),
                ),
                (
                    &at("meminfo"),
                    &format!("Node {node} MemTotal:       792723456 kB"),
                ),
            ],
        );
    }
}

fn disks(files: &mut Files) {
    let queue = |files: &mut Files, name: &str, scheduler: &str| {
        let at = |file: &str| format!("sys/block/{name}/queue/{file}");
        put(
            files,
            &[
                (&at("rotational"), "0"),
                (&at("scheduler"), scheduler),
                (&at("rq_affinity"), "2"),
                (&at("nr_requests"), "128"),
                (&at("nomerges"), "1"),
                (&at("read_ahead_kb"), "4096"),
            ],
        );
    };
    let volumes = [
        ("data01", 1_572_864_000u64),
        ("data02", 1_572_864_000),
        ("redo01", 536_870_912),
        ("redo02", 536_870_912),
    ];
    let mut paths = ('a'..='p').map(|letter| format!("sd{letter}"));
    for (number, (volume, sectors)) in volumes.iter().enumerate() {
        let dm = format!("dm-{number}");
        let at = |file: &str| format!("sys/block/{dm}/{file}");
        put(
            files,
            &[
                (&at("size"), &sectors.to_string()),
                (&at("dm/name"), volume),
                (&at("dm/uuid"), &format!("mpath-360002ac0{number}")),
            ],
        );
        queue(files, &dm, "[noop] deadline cfq");
        for path in paths.by_ref().take(4) {
            let at = |file: &str| format!("sys/block/{path}/{file}");
            put(
                files,
                &[
                    (&at("size"), &sectors.to_string()),
                    (&at("device/vendor"), "3PARdata"),
                    (&at("device/model"), "VV              "),
                    (&at(&format!("holders/{dm}")), ""),
                    (&format!("sys/block/{dm}/slaves/{path}"), ""),
                ],
            );
            queue(files, &path, "[noop] deadline cfq");
        }
    }
    put(
        files,
        &[
            ("sys/block/nvme0n1/size", "781422768"),
            ("sys/block/nvme0n1/device/model", "ME NVMe 400GB"),
        ],
    );
    queue(files, "nvme0n1", "[none] mq-deadline");
    put(files, &[("sys/block/loop0/size", "0")]);
}

/// The big machine with every setting of a rule turned against its advice.
pub fn otherwise() -> Files {
    let mut files = big(2);
    for (name, _, bad) in SYSCTL {
        put(&mut files, &[(&format!("proc/sys/{name}"), bad)]);
    }
    for (path, text) in &mut files {
        let file = path.rsplit('/').next().unwrap();
        let bad = match file {
            "scaling_governor" => "powersave",
            "scheduler" => "noop [deadline] cfq",
            "rq_affinity" => "1",
            "nr_requests" => "1024",
            "nomerges" => "0",
            "rotational" if path.contains("dm-") => "1",
            "port_state" if !path.contains("host1/") => "Linkdown",
            "speed" if path.contains("fc_host") => "8 Gbit",
            "size" if path.contains("dm-1") => "99999",
            _ => continue,
        };
        *text = format!("{bad}\n");
    }
    let multipath = MULTIPATH
        .replace("polling_interval 10", "polling_interval 5")
        .replace(" yes\n", " no\n")
        .replace("group_by_prio", "multibus")
        .replace("round-robin 0", "service-time 0")
        .replace("tur\n", "directio\n")
        .replace("features \"0\"", "features \"1 queue_if_no_path\"")
        .replace("\"1 alua\"", "\"0\"")
        .replace("prio alua", "prio const")
        .replace("immediate", "manual")
        .replace("uniform", "priorities")
        .replace("retry 18", "retry queue")
        .replace("rq 1", "rq 100")
        .replace(" alias data01\n", " # alias\n");
    put(
        &mut files,
        &[
            ("etc/multipath.conf", &multipath),
            ("etc/udev/rules.d/10-3par.rules", "# nothing is set"),
            (
                "proc/self/mounts",
                "/dev/nvme0n1p1 / xfs rw,sync 0 0\n/dev/vx/dsk/u02 /u02 vxfs rw,delaylog 0 0",
            ),
            ("sys/devices/system/cpu/smt/control", "off"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "[always] madvise never",
            ),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0"),
        ],
    );
    files
}

pub fn small() -> Files {
    let mut files = Files::new();
    put(
        &mut files,
        &[
            ("proc/sys/kernel/hostname", "vm"),
            ("proc/sys/kernel/osrelease", "6.1.0-18-amd64"),
            ("proc/sys/vm/swappiness", "60"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD EPYC Processor\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: AMD EPYC Processor",
            ),
            (
                "proc/meminfo",
                "MemTotal:       2000000 kB\nHugePages_Total:       8\nHugePages_Rsvd:        0\nHugepagesize:       2048 kB",
            ),
            ("proc/mounts", "/dev/vda1 / ext4 rw,relatime 0 0"),
            ("sys/class/dmi/id/sys_vendor", "QEMU"),
            ("sys/class/dmi/id/product_name", "Standard PC (Q35)"),
            ("sys/devices/system/cpu/smt/control", "notsupported"),
            ("sys/block/vda/size", "67108864"),
            ("sys/block/vda/device/vendor", "0x1af4"),
            ("sys/block/vda/queue/rotational", "1"),
            ("sys/block/vda/queue/scheduler", "[none] mq-deadline"),
            ("sys/class/net/eth0/device/uevent", "DRIVER=virtio_net"),
            ("sys/class/net/eth0/speed", "-1"),
        ],
    );
    files
}

pub fn lay(root: &Path, files: &Files) {
    for (path, text) in files {
        let path = root.join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }
}
