"""What results and warnings say, as sentences, tables and pictures.

Results hold numbers and codes; warnings, ``repr``, notebooks, the terminal and pages
ask here.
"""
