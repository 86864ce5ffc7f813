"""A replay of some blocks of a kernel: recorded on the simulated GPU, shown as a page to step through.

Modules, in the order in which they may import one another: `trace` (the recorded data and their format),
`cells` (bytes as numbers), `names` (of buffers, from the source), `register_types` (of what instructions
load and store), `buffers` (the memory of the recorded blocks), `recording` (what is recorded, as bytes),
`recorder` (a hook of the simulated GPU), `assembly` (a recording becomes a trace), `running` (of the program
to record), `texts`, `page` (one HTML file, with `page.css` and `page.js`).
"""
