//! [`crate::fair`] in a fluid run.

use super::pool::Pool;
use super::stock::Stock;
use super::Rates;

/// All transfers share all capacity.
pub(super) struct Fair(Pool);

impl Fair {
    pub fn new(stock: &Stock) -> Self {
        Self(Pool::new(stock))
    }
}

impl Rates for Fair {
    fn arrive(&mut self, stock: &mut Stock, flow: u32) {
        self.0.arrived(stock, flow);
    }

    fn end(&mut self, _: &Stock, flow: u32) {
        self.0.ended(flow);
    }

    fn allocate(&mut self, stock: &mut Stock) {
        let (mut all, mut residual) = (stock.open.clone(), stock.capacity.clone());
        self.0.share(stock, &mut all, &mut residual);
    }
}
