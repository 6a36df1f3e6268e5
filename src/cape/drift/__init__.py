"""What has moved besides the prevalences, and what is known of them after all.

Under prior shift the scores and every single column of a batch speak for the same
prevalence. Where they do not, something else has moved. The posterior weighs the answer
of the scores against how far shares moved, and scores drifted, in the past.
"""

from cape.drift._past import Past

__all__ = ["Past"]
