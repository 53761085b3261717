"""Linear machines: SVC, SVR, logistic and ridge regression."""
