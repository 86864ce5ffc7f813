"""Reports of verdicts: on the console, as JSON, as JUnit XML, as GitHub annotations."""
