"""Tables of instruction semantics: mnemonic and type to a function over arrays."""
