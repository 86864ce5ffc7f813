"""How current each translated page is, judged by content."""
