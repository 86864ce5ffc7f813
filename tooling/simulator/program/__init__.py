"""A lowered kernel, and the contract between its steps and the batch that runs them."""
