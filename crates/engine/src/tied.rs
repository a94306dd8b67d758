//! Values that borrow from what they are kept with.

use std::rc::Rc;

/// An owner, and what borrows from it: compiled statements and their connection, for example. What borrows is dropped
/// first, and the owner keeps its address for as long as this lives.
pub struct Tied<D, O> {
    // Fields are dropped in the order of their declaration; a test holds it.
    dependent: D,
    // Not a `Box`, which claims to be the only way to its content. Never cloned.
    owner: Rc<O>,
}

// SAFETY: the `Rc` is private and never cloned, so that its owner moves as a whole with what borrows from it.
unsafe impl<D: Send, O: Send> Send for Tied<D, O> {}

impl<D, O> Tied<D, O> {
    /// An owner, from which `dependent` borrows nothing yet.
    #[inline]
    pub fn new(owner: O, dependent: D) -> Self {
        Self {
            dependent,
            owner: Rc::new(owner),
        }
    }

    #[inline]
    pub fn owner(&self) -> &O {
        &self.owner
    }

    #[inline]
    pub fn dependent(&self) -> &D {
        &self.dependent
    }

    #[inline]
    pub fn dependent_mut(&mut self) -> &mut D {
        &mut self.dependent
    }

    #[inline]
    pub fn both(&mut self) -> (&mut D, &O) {
        (&mut self.dependent, &self.owner)
    }

    /// The owner, for making something that goes into the dependent.
    ///
    /// # Safety
    /// The reference and what is made with it must be dropped before this is: they may go into the dependent, and
    /// nowhere where they outlive it.
    pub unsafe fn lasting_owner<'o>(&self) -> &'o O {
        // SAFETY: the content of the `Rc` does not move, and is dropped after the dependent; the caller promises that
        // nothing else keeps the reference.
        unsafe { &*Rc::as_ptr(&self.owner) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[derive(Default)]
    struct Owner(RefCell<Vec<&'static str>>, Rc<RefCell<Vec<&'static str>>>);

    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.borrow_mut().push("owner");
            self.1.replace(self.0.take());
        }
    }

    struct Borrower(&'static Owner);

    impl Drop for Borrower {
        fn drop(&mut self) {
            self.0.0.borrow_mut().push("borrower");
        }
    }

    #[test]
    fn what_borrows_is_dropped_before_its_owner_and_survives_a_move() {
        let owner = Owner::default();
        let dropped = Rc::clone(&owner.1);
        let mut tied = Tied::new(owner, Vec::new());
        for _ in 0..2 {
            // SAFETY: the borrower goes into the dependent.
            let borrower = Borrower(unsafe { tied.lasting_owner() });
            tied.dependent_mut().push(borrower);
        }
        let moved = Box::new(tied);
        drop(moved);
        assert_eq!(*dropped.borrow(), ["borrower", "borrower", "owner"]);
    }
}
