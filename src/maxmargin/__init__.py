"""maxmargin: exact, certified, self-tuning support vector machines."""

__version__ = "0.1.0.dev0"
