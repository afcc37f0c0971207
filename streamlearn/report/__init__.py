"""A report of what was learned, for people who were not there: one HTML file or one picture."""
