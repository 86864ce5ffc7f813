"""A class: the answers of many students, judged in a sandbox, and the reports for learning platforms."""
