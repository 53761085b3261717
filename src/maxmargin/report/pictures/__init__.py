"""Pictures of single ideas: certificates, Gram matrices, support vectors, paths of SMO."""
