"""Kernel machines: classification, regression and novelty detection."""
