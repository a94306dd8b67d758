//! The hypervisor of the machine.

use std::path::Path;

use super::files::{first_line, is_this_machine};
use super::processor;

/// Names in the firmware of virtual machines. Clouds are not among them: they rent bare metal under the same name.
const PRODUCTS: &[(&str, &str)] = &[
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Microsoft Corporation Virtual Machine", "Hyper-V"),
    ("Parallels", "Parallels"),
    ("Xen", "Xen"),
    ("Bochs", "Bochs"),
];

/// Signatures of hypervisors in leaf 0x4000_0000 of CPUID.
#[cfg(target_arch = "x86_64")]
const SIGNATURES: &[(&str, &str)] = &[
    ("KVMKVMKVM", "KVM"),
    ("Microsoft Hv", "Hyper-V"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", "Xen"),
    ("TCGTCGTCGTCG", "QEMU (emulated)"),
    ("bhyve bhyve ", "bhyve"),
    ("prl hyperv  ", "Parallels"),
    ("ACRNACRNACRN", "ACRN"),
    ("VBoxVBoxVBox", "VirtualBox"),
];

/// Name of the hypervisor or "none". x86 has a flag for it; elsewhere only known products are detected.
pub(super) fn read(root: &Path, cpuinfo: &str, product: Option<&str>) -> Option<String> {
    if let Some(kind) = first_line(root, "sys/hypervisor/type") {
        return Some(if kind == "xen" {
            "Xen".to_owned()
        } else {
            kind
        });
    }
    let product = PRODUCTS
        .iter()
        .find(|(word, _)| product.is_some_and(|product| product.contains(word)))
        .map(|(_, name)| *name);
    match processor::value(cpuinfo, "flags") {
        Some(flags) if flags.split_whitespace().any(|flag| flag == "hypervisor") => {
            let signature = is_this_machine(root).then(signature).flatten();
            Some(
                signature
                    .or(product)
                    .unwrap_or("unnamed hypervisor")
                    .to_owned(),
            )
        }
        Some(_) => Some("none".to_owned()),
        None => product.map(str::to_owned),
    }
}

/// The signature of the hypervisor; must be called only if there is one.
#[cfg(target_arch = "x86_64")]
fn signature() -> Option<&'static str> {
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx]
        .map(u32::to_le_bytes)
        .concat();
    let known = SIGNATURES
        .iter()
        .find(|(signature, _)| bytes.starts_with(signature.as_bytes()));
    known.map(|(_, name)| *name)
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_decides_and_the_product_names() {
        let root = tempfile::tempdir().unwrap();
        let read = |cpuinfo: &str, product| read(root.path(), cpuinfo, product);
        let (guest, metal) = ("flags\t: fpu hypervisor sse\n", "flags\t: fpu sse\n");
        assert_eq!(
            read(metal, Some("Amazon EC2 m5.metal")).as_deref(),
            Some("none")
        );
        assert_eq!(
            read(guest, Some("VMware, Inc. VMware7,1")).as_deref(),
            Some("VMware")
        );
        assert_eq!(
            read(guest, Some("Microsoft Corporation Virtual Machine")).as_deref(),
            Some("Hyper-V")
        );
        assert_eq!(read(guest, None).as_deref(), Some("unnamed hypervisor"));
        assert_eq!(
            read("", Some("QEMU Virtual Machine")).as_deref(),
            Some("QEMU")
        );
        assert_eq!(read("", Some("Ampere eMAG")), None);
        std::fs::create_dir_all(root.path().join("sys/hypervisor")).unwrap();
        std::fs::write(root.path().join("sys/hypervisor/type"), "xen\n").unwrap();
        assert_eq!(
            super::read(root.path(), metal, None).as_deref(),
            Some("Xen")
        );
    }
}
