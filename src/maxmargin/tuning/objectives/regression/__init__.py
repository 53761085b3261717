"""Objectives of regression: held-out and leave-one-out losses."""
