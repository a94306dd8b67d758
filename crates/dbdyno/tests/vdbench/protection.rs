//! Files and devices that exist before a list writes to them.

use testing::Says;

use super::FAILED;
use super::common::Workspace;
use super::loop_device::LoopDevice;

#[test]
fn the_files_of_a_list_are_checked_on_request() {
    let workspace = Workspace::new();
    let text = "formatsds=no\nsd=sd1,lun=a.dat\nsd=sd2,lun=b.dat\n\
        rd=rd1,sd=sd1,rdpct=0,iorate=100,elapsed=2\nrd=rd2,sd=sd2,iorate=100,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    std::fs::write(workspace.path("a.dat"), vec![7_u8; 1 << 20]).unwrap();
    let options = ["vdbench", "-f", &file, "--check", "-s"];
    workspace.fine(&["vdbench", "-f", &file, "-s"]);
    let refused = workspace.ends(FAILED, &options);
    assert!(refused.sentence().contains("SD sd2"), "{}", refused.stderr);
    std::fs::write(workspace.path("b.dat"), vec![7_u8; 1 << 20]).unwrap();
    let fine = workspace.fine(&options);
    fine.stderr.says_all(&[
        "a.dat exists (1.00 MiB), is overwritten",
        "of the list can be used",
    ]);
    assert!(!fine.stderr.contains("b.dat exists"), "it is only read");
    for name in ["a.dat", "b.dat"] {
        assert_eq!(
            std::fs::read(workspace.path(name)).unwrap(),
            vec![7; 1 << 20]
        );
    }
    assert!(!workspace.path("output").exists());
    let alone = workspace.dbdyno(&["vdbench", "--check", "-f", &file]);
    assert!(alone.sentence().contains("--check needs -s"));
}

#[test]
fn a_file_of_another_size_is_spared_without_force() {
    let workspace = Workspace::new();
    let text =
        "sd=sd1,lun=precious.db,size=$size\nrd=rd1,sd=sd1,rdpct=$read,iorate=100,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    let path = workspace.path("precious.db");
    let content = vec![7_u8; 3_327];
    std::fs::write(&path, &content).unwrap();
    let list = ["-f", &file, "size=1m", "read=100"];
    let extends = [&["vdbench"], &list[..]].concat();
    let checks = [&extends[..], &["--check", "-s"]].concat();
    for command in [&extends, &checks] {
        let refused = workspace.ends(FAILED, command);
        refused.sentence().says(
            "precious.db exists and has 3.25 KiB, not the 1.00 MiB of the parameter file, which would overwrite it; name a new \
             file, or add --force if its contents may be lost",
        );
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
    assert!(!workspace.path("output").exists(), "no run began");
    workspace.fine(&[&extends[..], &["--force"]].concat());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);

    // A file of the stated size is that of an earlier execution.
    let again = workspace.fine(&[&checks[..4], &["read=0", "--check", "-s"]].concat());
    again
        .stderr
        .says("precious.db exists (1.00 MiB), is overwritten");
    let smaller = |read| ["vdbench", "-f", &file, "size=512k", read, "--check", "-s"];
    let refused = workspace.ends(FAILED, &smaller("read=50"));
    refused.sentence().says("has 1.00 MiB, not the 512 KiB");
    workspace.fine(&smaller("read=100"));
}

#[test]
fn the_profile_is_listed_and_writes_over_no_file_unasked() {
    let workspace = Workspace::new();
    let path = workspace.path("data");
    let lun = format!("lun={}", path.display());
    let profile = ["vdbench", "-f", "profile:database", &lun, "size=8m"];
    let listed = workspace.fine(&[&profile[..], &["-s"]].concat()).stdout;
    assert_eq!(listed.lines().count(), 39 + 1, "{listed}");
    let below_storage = [&["storage"], &profile[..], &["-s"]].concat();
    assert_eq!(workspace.fine(&below_storage).stdout, listed);
    assert!(listed.contains("RD=small4_large2; I/O rate: Uncontrolled MAX; elapsed=30"));
    assert!(!path.exists(), "nothing is made");
    std::fs::write(&path, "precious").unwrap();
    let refused = workspace.ends(FAILED, &profile);
    refused.sentence().says("add --force");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let without = workspace.dbdyno("vdbench -f profile:database size=8m -s");
    without.sentence().says("give lun=VALUE");
}

#[test]
fn a_device_is_written_over_by_name_alone() {
    let workspace = Workspace::new();
    let backing = workspace.path("backing");
    let file = std::fs::File::create(&backing).unwrap();
    file.set_len(16 << 20).unwrap();
    let device = match LoopDevice::over(&backing) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let device = device.path().to_str().unwrap();
    let lun = format!("lun={device}");
    let force = format!("--force={device}");
    let profile = ["-f", "profile:database", &lun, "size=8m"];
    let parameters = format!(
        "sd=sd1,lun={device},openflags=o_direct\nwd=wd1,sd=sd1,rdpct=0\nrd=rd1,wd=wd1,iorate=10,elapsed=2\n"
    );
    let parameters = workspace.file("parm.txt", &parameters);
    let list = ["-f", &parameters];
    let refused = |first: &[&str], arguments: &[&str], says: &str| {
        let before = std::fs::read(&backing).unwrap();
        let checked = [&["vdbench", "--check"], first, arguments, &["-s"]].concat();
        for command in [[&["vdbench"], first, arguments].concat(), checked] {
            let ended = workspace.dbdyno(&command);
            assert_eq!(ended.status, FAILED, "{command:?}: {}", ended.stderr);
            let sentence = ended.sentence();
            assert!(sentence.contains(says), "{sentence}");
            assert!(
                sentence.ends_with(&format!("add {force} if its contents may be lost")),
                "{sentence}"
            );
        }
        assert!(std::fs::read(&backing).unwrap() == before);
    };
    let checked = |arguments: &[&str]| {
        workspace.fine(&[&["vdbench", &force, "--check"], arguments, &["-s"]].concat());
    };
    let is_device = "is a device, and the profile would overwrite it";
    refused(&[], &profile, is_device);
    refused(&["--force"], &profile, is_device);
    refused(&["--force=/dev/null"], &profile, is_device);
    checked(&profile);
    workspace.fine(&[&["vdbench"], &list[..]].concat());
    let made = std::process::Command::new("mkfs.ext4")
        .args(["-qF", device])
        .status();
    assert!(made.unwrap().success());
    let holds = "holds an ext2, ext3 or ext4 file system";
    refused(&[], &list, holds);
    refused(&["--force"], &list, holds);
    checked(&list);
    checked(&profile);
    workspace.fine(&[&["vdbench", &force], &list[..]].concat());
}
