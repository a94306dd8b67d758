//! What the tests of a program share, such as a server: made for the first test that asks, and gone when the program ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// What is left to do when the program ends.
static AT_END: Mutex<Vec<Box<dyn FnOnce() + Send>>> = Mutex::new(Vec::new());

/// Values by their names, each made once for all tests and dropped at the end of the program, which a static alone is not.
pub struct Shared<T: 'static>(Mutex<BTreeMap<String, Slot<T>>>);

type Slot<T> = Arc<Mutex<Option<T>>>;

#[expect(
    clippy::new_without_default,
    reason = "it stands in a static, which takes no default"
)]
impl<T: Clone + Send> Shared<T> {
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The value of this name. Whoever asks while it is made waits; where that failed, the next one tries again.
    pub fn get(&'static self, name: &str, make: impl FnOnce() -> T) -> T {
        let slot = {
            let mut slots = lock(&self.0);
            if slots.is_empty() {
                at_end(|| drop(std::mem::take(&mut *lock(&self.0))));
            }
            Arc::clone(slots.entry(name.to_owned()).or_default())
        };
        let mut value = lock(&slot);
        value.get_or_insert_with(make).clone()
    }
}

/// A test that failed while it held the lock has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something when the tests have ended and the program is about to, whether they passed or not.
pub fn at_end(what: impl FnOnce() + Send + 'static) {
    static REGISTERED: Once = Once::new();
    lock(&AT_END).push(Box::new(what));
    REGISTERED.call_once(|| {
        // SAFETY: the function takes no arguments and is there for as long as the program.
        unsafe { libc::atexit(end) };
    });
}

extern "C" fn end() {
    let all = std::mem::take(&mut *lock(&AT_END));
    all.into_iter().rev().for_each(|what| what());
}
