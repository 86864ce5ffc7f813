"""How a rendered page is set: colours of code, line breaks, emphasis in Korean, columns of numbers."""
