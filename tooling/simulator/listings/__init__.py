"""Mojo source, PTX and machine code of a profiled kernel side by side, linked by line.

`listing` joins them; `table`, `page` and `document` show them in the terminal, on the page of a profile
and in its JSON document.
"""
