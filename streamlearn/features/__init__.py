"""From columns of strings to rows of weights: views, templates and the table of features."""
