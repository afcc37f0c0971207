"""The synthetic experiment of the SWVP paper, with controls."""
