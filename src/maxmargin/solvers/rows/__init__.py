"""Where the loop finds rows of the Gram matrix."""
