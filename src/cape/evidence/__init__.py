"""The counts of a batch, which add up: of scores, of columns, of a whole batch."""
