"""How good the model is, while it learns and on a test set."""
