"""The book: both editions built with mdBook into one site, and the checks that keep them true."""
