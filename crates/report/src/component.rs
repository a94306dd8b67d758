//! The order of components on the page.

use archive::Component;

/// Transactions before storage, and the processor's own tests last: readers ask in this order.
pub(crate) fn place(component: Component) -> u8 {
    match component {
        Component::Database => 0,
        Component::Storage => 1,
        Component::Server => 2,
        Component::Cpu => 3,
    }
}
