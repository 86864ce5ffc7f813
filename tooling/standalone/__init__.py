"""Programs for machines that lack this tool: Python 3.9 and its standard library are all that they need."""
