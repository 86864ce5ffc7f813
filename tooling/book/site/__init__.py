"""The site: both editions rendered by mdBook, their frames, search, and the local server."""
