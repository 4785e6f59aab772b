//! Charges the work of a flash translation layer to accounts.

/// Work charged to an account. Blocks are fractions, because one is erased for the pages of many
/// writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Number of pages programmed.
    pub pages: f64,
    /// Number of blocks erased.
    pub erases: f64,
}

/// Accounts by their number.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    costs: Vec<Cost>,
    open: usize,
}

impl Ledger {
    /// Makes a ledger with one account, which is open.
    pub fn new() -> Self {
        Self { costs: vec![Cost::default()], open: 0 }
    }

    /// Opens an account, to which later work is charged.
    pub fn open(&mut self, account: usize) {
        if account >= self.costs.len() {
            self.costs.resize(account + 1, Cost::default());
        }
        self.open = account;
    }

    /// Returns the open account.
    pub const fn opened(&self) -> usize {
        self.open
    }

    /// Charges an account.
    pub fn charge(&mut self, account: usize, Cost { pages, erases }: Cost) {
        let cost = &mut self.costs[account];
        cost.pages += pages;
        cost.erases += erases;
    }

    /// Returns the charges by account.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }
}
