"""What every room needs: numbers with intervals, groups, checks, JSON, files.

It imports no other room.
"""
