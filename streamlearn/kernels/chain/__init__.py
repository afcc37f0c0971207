"""A linear chain: its scores, the best labellings, and the marginals."""
