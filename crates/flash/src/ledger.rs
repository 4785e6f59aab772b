//! Who is charged for what a flash translation layer does.

/// What is charged to an account. Blocks come in fractions: one is erased for the pages of many writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Pages programmed.
    pub pages: f64,
    /// Blocks erased.
    pub erases: f64,
}

/// Accounts by their number.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    costs: Vec<Cost>,
    open: usize,
}

impl Ledger {
    /// With one account, which is open.
    pub fn new() -> Self {
        Self { costs: vec![Cost::default()], open: 0 }
    }

    /// Opens an account: what comes is charged to it.
    pub fn open(&mut self, account: usize) {
        if account >= self.costs.len() {
            self.costs.resize(account + 1, Cost::default());
        }
        self.open = account;
    }

    /// The account that is open.
    pub const fn opened(&self) -> usize {
        self.open
    }

    /// Charges an account.
    pub fn charge(&mut self, account: usize, Cost { pages, erases }: Cost) {
        let cost = &mut self.costs[account];
        cost.pages += pages;
        cost.erases += erases;
    }

    /// What was charged, by account.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }
}
