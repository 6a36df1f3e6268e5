"""Labels of a few rows: the estimate checked, corrected and confirmed.

::

    labelled rows --labelled_sample--> cells, weights
                                          |
              do they look drawn? <-------+-------> prediction-powered estimate
                                          |              |
                      checked calls <-----+          combined with the label-free
                           |                         estimate, and compared with it
                    corrected rates

`stratify` and `RowDraw` choose rows to label, and `labels_for_width` how many.
"""
