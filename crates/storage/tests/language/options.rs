use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use storage::language::{CommandLine, Repeat, Script, command_line, script};
use testing::Says;

fn command(line: &str) -> Result<CommandLine, String> {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    command_line(&arguments).map_err(|error| error.to_string())
}

fn read(line: &str, files: &[(&str, &str)]) -> Result<Script, String> {
    let files: BTreeMap<&Path, &str> = files
        .iter()
        .map(|(path, text)| (Path::new(*path), *text))
        .collect();
    let open = |path: &Path| -> io::Result<String> {
        files
            .get(path)
            .map(|text| (*text).to_owned())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    script(&command(line)?, &open).map_err(|error| error.to_string())
}

const SD: (&str, &str) = ("sd", "sd=sd1,lun=$dir/!name.dat,size=$size\n");
const RD: (&str, &str) = ("rd", "rd=rd1,sd=sd1,iorate=max,elapsed=30\n");

#[test]
fn options_are_read_as_they_are_written() {
    let all = command("-f a b -o out.tod -s -e 60 -i5 -w 1m -vr -j -l 3 dir=/d -m 4 + elapsed=2")
        .unwrap();
    assert_eq!(all.files, [PathBuf::from("a"), PathBuf::from("b")]);
    assert_eq!(all.output.as_deref(), Some("out.tod"));
    assert!(all.simulate);
    assert_eq!(all.variables[0].name.as_str(), "dir");
    assert_eq!(all.variables[0].value.as_str(), "/d");
    assert_eq!(all.extra, ["elapsed=2"]);
    let overrides = all.overrides;
    assert_eq!(overrides.elapsed_s, Some(60));
    assert_eq!(overrides.interval_s, Some(5));
    assert_eq!(overrides.warmup_s, Some(60));
    assert!(overrides.validation.unwrap().read_after_write);
    assert!(overrides.journal.is_some());
    assert_eq!(overrides.repeat, Some(Repeat::Times(3)));
}

#[test]
fn options_that_are_not_known_are_refused() {
    for (line, said) in [
        ("-s", "no parameter file is named; give -f FILE"),
        ("-f a -x", "the option -x is unknown"),
        ("-f a -co", "directories and files"),
        ("-f a -vx", "the supported letters are r, w and t"),
        ("-f a -e", "needs a value"),
        ("-f a -e soon", "soon is not a number"),
        ("-f a -s b", "neither an option nor NAME=VALUE"),
        ("-f a --archive x", "the option --archive is unknown"),
    ] {
        let sentence = command(line).unwrap_err();
        assert!(sentence.contains(said), "{line}: {sentence}");
    }
}

#[test]
fn files_are_read_one_after_the_other_with_variables() {
    let script = read("-f sd rd dir=/data name=n size=1g", &[SD, RD]).unwrap();
    let sd = &script.runs[0].storage[0];
    assert_eq!(sd.path.as_path(), Path::new("/data/n.dat"));
    assert_eq!(sd.size_bytes, Some(1 << 30));
    let unused = read("-f sd rd dir=/data name=n size=1g sizes=3", &[SD, RD]).unwrap_err();
    unused.says("the variable sizes is set but not used");
    let missing = read("-f sd rd dir=/data name=n", &[SD, RD]).unwrap_err();
    assert_eq!(
        missing,
        "sd:1: the variable size has no value; give size=VALUE on the command line"
    );
    let absent = read("-f none", &[]).unwrap_err();
    absent.says("the parameter file none cannot be read");
}

#[test]
fn files_include_others_once() {
    let main = (
        "dir/main",
        "include=sd.inc\nsd=sd2,lun=/d/2\ninclude=/all/rd.inc\n",
    );
    let (beside, far) = (
        ("dir/sd.inc", "sd=sd1,lun=/d/1"),
        ("/all/rd.inc", "rd=rd1,sd=*,iorate=1"),
    );
    let script = read("-f dir/main", &[main, beside, far]).unwrap();
    assert_eq!(script.runs[0].storage.len(), 2);
    let nested = read("-f dir/main", &[main, ("dir/sd.inc", "\ninclude=x"), far]).unwrap_err();
    assert!(
        nested.starts_with("dir/sd.inc:2: an included file may not include"),
        "{nested}"
    );
    let absent = read("-f dir/main", &[main]).unwrap_err();
    assert!(
        absent.starts_with("dir/main:1: include=sd.inc cannot be read"),
        "{absent}"
    );
}

#[test]
fn overrides_and_extras_go_before_files() {
    let plain = (
        "p",
        "sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorate=max,elapsed=30 a comment\nrd=rd2,sd=sd1,\niorate=5\n",
    );
    let script = read("-f p -e 8 -i 2 -w 4", &[plain]).unwrap();
    let times: Vec<_> = script
        .runs
        .iter()
        .map(|r| (r.elapsed_s, r.interval_s, r.warmup_s))
        .collect();
    assert_eq!(times, [(Some(8), 2, 4); 2]);
    let script = read("-f p + elapsed=12 rdpct=0", &[plain]).unwrap();
    let runs: Vec<_> = script
        .runs
        .iter()
        .map(|r| (r.elapsed_s, r.loops.as_str()))
        .collect();
    assert_eq!(
        runs,
        [(Some(12), "rdpct=0"), (Some(30), "")],
        "only RDs on one line are added to"
    );
}

#[test]
fn hosts_stand_for_this_machine() {
    let text = "hd=default,jvms=4,shell=ssh\nhd=localhost,vdbench=/opt\nsd=sd_$host,lun=/d/!host.#host\nrd=rd1,sd=*,iorate=1";
    let script = read("-f p", &[("p", text)]).unwrap();
    let sd = &script.runs[0].storage[0];
    assert_eq!(sd.name.as_str(), "sd_localhost");
    assert_eq!(sd.path.as_path(), Path::new("/d/localhost.0"));
}
