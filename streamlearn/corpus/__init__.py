"""Text corpora: column files and JSON Lines as examples, and labelled sequences as text."""
