"""The inputs of linear machines: dense, sparse, in chunks, scaled."""
