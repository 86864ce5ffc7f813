"""mdBook's rules as a library: its include grammar, its heading ids, and the structure of its pages."""
