"""A report and the formats that render it."""
