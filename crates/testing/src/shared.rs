//! Values shared by the tests of a program, such as a server: created for the first test that needs one, and dropped at the program's end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// Work for the end of the program.
static AT_END: Mutex<Vec<Box<dyn FnOnce() + Send>>> = Mutex::new(Vec::new());

/// Values by name, each created once for all tests and dropped at the end of the program, unlike a static.
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

    /// The value of this name. Concurrent callers wait for its creation; after a failure the next caller tries again.
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

/// A test that panicked with the lock has left no partial change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a function after the tests, before the program ends, whether they passed or not.
pub fn at_end(what: impl FnOnce() + Send + 'static) {
    static REGISTERED: Once = Once::new();
    lock(&AT_END).push(Box::new(what));
    REGISTERED.call_once(|| {
        // SAFETY: the function takes no arguments and exists as long as the program.
        unsafe { libc::atexit(end) };
    });
}

extern "C" fn end() {
    let all = std::mem::take(&mut *lock(&AT_END));
    all.into_iter().rev().for_each(|what| what());
}
