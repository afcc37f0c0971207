"""Small generated sets of labelled sequences, to begin with: what `streamlearn quickstart` writes."""
