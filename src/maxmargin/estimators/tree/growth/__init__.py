"""How a tree grows: sorted features, costs of splits, and the search for the best of them."""
