//! Reports of a journal when only its recovery is requested.

use std::os::unix::fs::FileExt;

use stats::random::mix;
use storage::execution::{Completion, ExecutionError};

use super::{Played, Workspace};
use testing::Says;

const BLOCK: usize = 4096;
/// Blocks of the file, the first half written.
const BLOCKS: u64 = 128;
const WRITTEN: u64 = BLOCKS / 2;

fn list(journal: &str) -> String {
    format!(
        "validate=no_preread\njournal={journal}\nsd=sd1,lun=$dir/data,size=512k,journal=$dir\n\
         wd=wd1,sd=sd1,rdpct=0,seekpct=eof,range=(0,50)\nwd=wd2,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=max\nrd=rd2,wd=wd2,iorate=100,elapsed=2\n"
    )
}

/// Journal entry of an unfinished write of `block` with `generation`.
fn pending(block: u64, generation: u8) -> [u8; 16] {
    let mut entry = [0; 16];
    entry[..8].copy_from_slice(&block.to_le_bytes());
    entry[8] = generation;
    let words = [&entry[..8], &entry[8..12]];
    let seal = words
        .iter()
        .fold(u64::from_le_bytes(*b"dbdynoV1"), |digest, piece| {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            mix(digest ^ u64::from_le_bytes(word))
        });
    entry[12..].copy_from_slice(&(seal as u32).to_le_bytes());
    entry
}

/// A file that was written once, after an execution was killed while it wrote it again: writes of the blocks 3, 5 and
/// 100 are pending, and only 5 holds its new data.
fn killed() -> Workspace {
    let place = Workspace::new();
    let once = list("yes").replace("rd=rd2", "*rd=rd2");
    assert_eq!(place.play(&once).ended.unwrap(), Completion::Whole);
    let files = ["data", "sd1.map"].map(|name| (name, std::fs::read(place.path(name)).unwrap()));
    let again = once.replace("journal=yes", "journal=recover");
    assert_eq!(place.play(&again).ended.unwrap(), Completion::Whole);
    let mut new = vec![0; BLOCK];
    let data = std::fs::File::open(place.path("data")).unwrap();
    data.read_exact_at(&mut new, 5 * BLOCK as u64).unwrap();
    for (name, content) in files {
        std::fs::write(place.path(name), content).unwrap();
    }
    change(&place, 5, &new);
    let journal: Vec<u8> = [3, 5, 100]
        .iter()
        .flat_map(|block| pending(*block, if *block == 100 { 1 } else { 2 }))
        .collect();
    std::fs::write(place.path("sd1.jnl"), journal).unwrap();
    place
}

fn change(place: &Workspace, block: usize, content: &[u8]) {
    let file = std::fs::File::options()
        .write(true)
        .open(place.path("data"));
    file.unwrap()
        .write_all_at(content, (block * BLOCK) as u64)
        .unwrap();
}

fn state(place: &Workspace) -> [Vec<u8>; 3] {
    ["data", "sd1.map", "sd1.jnl"].map(|name| std::fs::read(place.path(name)).unwrap())
}

fn assert_reported(place: &Workspace, played: &Played, said: &str) {
    played.onlooker.shown.says(said);
    for page in ["summary", "totals", "logfile"] {
        assert!(
            place.page(page).contains(said),
            "{page}: {}",
            place.page(page)
        );
    }
    // No line of figures is printed, because nothing was measured.
    for page in ["summary", "totals", "flatfile"] {
        let text = place.page(page);
        assert!(
            !text.contains("avg_") && !text.contains("net_"),
            "{page}: {text}"
        );
    }
}

#[test]
fn verified_and_pending_blocks_are_reported() {
    let place = killed();
    let before = state(&place);
    let said = format!(
        "journal of SD sd1 recovered: {} blocks verified, 0 corrupted; 3 more had a pending write: 1 with the new data, 1 with \
         the old data, 1 with an incomplete first write",
        WRITTEN - 2
    );
    // A recovery can be repeated, because it writes nothing.
    for _ in 0..2 {
        let played = place.play(&list("(recover,only)"));
        assert_eq!(*played.ended.as_ref().unwrap(), Completion::Recovered);
        assert_reported(&place, &played, &said);
        let done: Vec<&str> = played
            .onlooker
            .done
            .iter()
            .map(|done| done.run.name.as_str())
            .collect();
        assert_eq!(done, ["rd1"], "each SD once");
        assert!(played.onlooker.shown.contains("completed successfully"));
        assert!(state(&place) == before, "nothing is written");
    }
    let played = place.play(&list("(recover,only,ignore_pending)"));
    assert_reported(&place, &played, "3 more had a pending write: 3 ignored");

    // A recovery before work reports the same, and then the figures.
    let played = place.play(&list("recover"));
    assert_eq!(*played.ended.as_ref().unwrap(), Completion::Whole);
    played.onlooker.shown.says(&said);
    assert!(place.page("summary").contains("avg_"));
}

#[test]
fn what_holds_neither_old_nor_new_data_is_no_success() {
    let place = killed();
    change(&place, 3, &[0x55; 512]);
    change(&place, 9, &[0x55; 512]);
    let played = place.play(&list("(recover,only)"));
    let Err(ExecutionError::Failed {
        count: 2, first, ..
    }) = &played.ended
    else {
        panic!("{:?}", played.ended);
    };
    first.says_all(&["offset 12288", "not a block of dbdyno"]);
    let said = format!(
        "{} blocks verified, 2 corrupted; 3 more had a pending write: 1 with the new data, 1 with an incomplete first write, 1 \
         corrupted",
        WRITTEN - 3
    );
    assert_reported(&place, &played, &said);
    assert!(!played.onlooker.shown.contains("completed successfully"));
}

/// A file that is too short is a finding, so it must not be extended.
#[test]
fn nothing_is_brought_to_its_size_before_a_recovery() {
    let place = killed();
    let file = std::fs::File::options()
        .write(true)
        .open(place.path("data"));
    file.unwrap().set_len(100 * BLOCK as u64).unwrap();
    let before = state(&place);
    for journal in ["recover", "(recover,only)"] {
        let message = place.play(&list(journal)).ended.unwrap_err().to_string();
        assert!(message.contains("has 409600 bytes"), "{message}");
        assert!(state(&place) == before, "{journal}");
    }
}
