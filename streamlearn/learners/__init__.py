"""Online learners of linear chains, behind one contract."""
