"""Sequential minimal optimisation: state, pair selection, step, and the compiled loop."""
