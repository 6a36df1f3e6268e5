"""Every sentence, heading, name of a rate and format of a number that people read.

Results hold numbers and codes; the page, the terminal, warnings, ``repr`` and notebooks
ask here. `_numbers` writes numbers and names of groups, the other modules sentences.
"""
