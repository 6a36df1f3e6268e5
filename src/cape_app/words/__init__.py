"""What page, terminal and notes on files say; nothing of the library imports it.

Sentences that one page says stand in its template, ``report/page``.
"""
