"""The book: both editions built with mdBook into one site, and the checks of their contents.

Packages, lowest first; each imports only what is listed before it (`tests/test_package_order.py`):

    editions, summary, chapters, page, phrases, puzzle_index, recordings    the inputs of a page
    figures       pictures drawn from puzzle data and traces; `pNN.py` holds those of a puzzle
    directives    the `{{#…}}` directives of a chapter, rendered
    site          the pages with their frames, search and the local server
    checks        the rules of `tooling book check`
"""
