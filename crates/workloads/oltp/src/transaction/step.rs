//! Names of the statements of transactions.

use crate::mix::Kind;

/// Steps of the transactions, in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    NewOrderCustomer,
    NewOrderStock,
    NewOrderDistrict,
    NewOrderOrder,
    NewOrderLines,
    PaymentById,
    PaymentByName,
    PaymentDistrict,
    PaymentWarehouse,
    OrderStatusById,
    OrderStatusByName,
    DeliveryOldest,
    DeliveryOrder,
    DeliveryLines,
    DeliveryCustomer,
    StockLevelCount,
    CallNewOrder,
    CallPayment,
    CallOrderStatus,
    CallDelivery,
    CallStockLevel,
}

impl Step {
    pub(crate) fn call(kind: Kind) -> Self {
        match kind {
            Kind::NewOrder => Step::CallNewOrder,
            Kind::Payment => Step::CallPayment,
            Kind::OrderStatus => Step::CallOrderStatus,
            Kind::Delivery => Step::CallDelivery,
            Kind::StockLevel => Step::CallStockLevel,
        }
    }
}
