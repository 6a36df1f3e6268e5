"""Labels of a few rows: what they say of shares and rates, and which rows to label.

::

    labelled rows --labelled_sample--> cells, weights
                                          |
              do they look drawn? <-------+-------> `LabelFactor`: one more factor of
                                          |         the posterior of all shares
                      checked calls <-----+
                           |
                    corrected rates

`stratify` and `RowDraw` choose rows to label, and `labels_for_width` how many.
"""
