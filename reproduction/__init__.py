"""Every table and figure of the documents, computed again: `make reproduce`."""
