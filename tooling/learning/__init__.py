"""A reader's way through the puzzles: what is solved, what is next, and the files that the reader edits.

Modules, in the order in which they may import one another: `answers`, `journey`,
`screens`, `background_run`, `page_runs`, `watch_screen`, `watching`, `updating`, `own_folder`, `editors`,
`doctor`.
"""
