"""Keeps translations in step with their source: freshness, parity and the commands that restore both.

Packages, lowest first; each imports only what is listed before it (`tests/test_package_order.py`):

    settings, roots                   the languages, and the trees of their pages
    model, marker, words,
    findings, pages                   what a page, a marker and a finding are, and what reports call them
    cache        results of earlier runs
    git          the repository, its objects and history, and the texts at former commits
    diff         what changed between two versions of a page, block by block
    freshness    how current each translation is, judged by content
    parity       whether a translation says what its source says
    report       a whole run, its policy, and the formats that render it
    commands     stamp, repair, recover, new-lang, summary, diff
"""
