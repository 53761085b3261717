"""Coordinate descent in the dual of linear machines."""
