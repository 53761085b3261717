"""Objectives: what a good point is."""
