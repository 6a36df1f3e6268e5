"""What has moved besides the prevalences, and what is known of them after all.

Under prior shift the scores and every single column of a batch speak for the same
prevalence. Where they do not, the size of their disagreement tells how far the answer
of the scores may be off. The posterior weighs that answer against what was known
before.
"""
