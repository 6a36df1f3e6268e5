"""Algorithm 1 of the paper in plain Python: CAPE in about fifty lines.

This file is for reading. The library does the same, faster and for more than the
paper's configuration; `tests/cape/training/test_algorithm_1.py` checks that the answers
agree.

The paper is A. Biswas and S. Mukherjee, *Ensuring Fairness under Prior Probability
Shifts*. Its symbols, and their names below:

=====================  ==========================  =====================================
paper                  here                        meaning
=====================  ==========================  =====================================
D = {(x_i, z_i, y_i)}  ``X``, ``z``, ``y``         training rows: features, group, label
D^z                    ``X_z``, ``y_z``            the training rows of group z
Theta, theta_j         ``thetas``, ``theta``       prevalences to be prepared for
Q-ALG, q-hat^z         ``fit_quantifier``, ``q``   estimates the prevalence of a batch
PP-SAMPLING, T^z       ``draw_sample``             a sample of D^z with prevalence theta
C-ALG, h-hat^z_theta   ``learner``, ``members``    a classifier trained on that sample
rho-hat^z_theta        ``predicted_prevalence``    share of a batch it calls positive
J_z                    ``choose``                  picks the classifier for the batch
=====================  ==========================  =====================================

**The problem.** A classifier learned last year, when 30 % of a group re-offended. This
year it is 60 %. Features of people who re-offend look as they did (P(x | y) stays: that
is *prior probability shift*), but there are more of them. A classifier that calls
positive about as many as before now treats the group wrongly, and another group, whose
share did not move, differently.

**The training phase.** Nobody knows which prevalence is coming. So CAPE prepares for
several, and for each group on its own:

1. Partition the training rows by group.
2. Train a quantifier for each group. It looks at the scores of a whole batch and says
   which share of it is positive; it need not be right about any single row.
3. Train k classifiers for each group, each on a sample in which the share of positives
   is one of theta_1, ..., theta_k.

**The prediction phase.** A batch comes without labels. For each group:

1. Partition the batch by group.
2. Estimate the group's prevalence in this batch with its quantifier.
3. Let every classifier predict the batch, and choose the one whose share of positive
   predictions is nearest to the estimate. Its predictions are the answer.

The distance in step 3 is the *prevalence difference*, PD = |rho - rho-hat|, with the
estimate in place of the true prevalence rho, which would need labels.

Example, from the folder of this file::

    from sklearn.linear_model import LogisticRegression
    from cape.datasets import make_synthetic
    from algorithm_1 import PlainCape

    train = make_synthetic(2000, random_state=0)
    new = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=1)
    cape = PlainCape(LogisticRegression())
    cape.fit(train.data.to_numpy(), train.target.to_numpy(),
             train.sensitive_features.to_numpy())
    y_pred = cape.predict(new.data.to_numpy(), new.sensitive_features.to_numpy())
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict


class PlainCape:
    """CAPE with the paper's modules: SPA as quantifier, resampled classifiers.

    Parameters
    ----------
    learner : estimator with ``fit``, ``predict`` and ``predict_proba``
        C-ALG, and the source of the scores that Q-ALG needs. Labels are 0 and 1.
    prevalences : int, default=10
        k, the number of classifiers of a group.
    folds : int, default=10
        Folds of the cross-validation that gives the quantifier its rates.
    seed : int, default=0
        Seed of the folds and of the samples.

    Attributes
    ----------
    groups : dict
        For each group what training leaves: the model that scores a batch, the mean
        score of positives and of negatives, and the k classifiers.
    """

    def __init__(self, learner, *, prevalences=10, folds=10, seed=0):
        self.learner = learner
        # Theorem 3 wants a theta within eps / 2 of every prevalence: the centres of k
        # equal bins of [0, 1], which for k = 10 are .05, .15, ..., .95.
        self.thetas = (np.arange(prevalences) + 0.5) / prevalences
        self.folds = folds
        self.seed = seed

    def fit(self, X, y, z):
        """Run the training phase.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Labels 0 and 1.
        z : ndarray of shape (n_samples,)
            Groups.

        Returns
        -------
        self
        """
        random = np.random.RandomState(self.seed)
        self.groups = {}
        for group in np.unique(z):
            # Step 1: partition D by group.
            rows = z == group
            X_z, y_z = X[rows], y[rows]
            # Step 2: a quantifier for the group.
            quantifier = self.fit_quantifier(X_z, y_z, random)
            # Step 3: k classifiers for the group.
            members = self.fit_members(X_z, y_z, random)
            self.groups[group] = (*quantifier, members)
        return self

    def fit_quantifier(self, X, y, random):
        """Q-ALG: what Scaled Probability Average (Bella et al., 2010) has to know.

        Returns
        -------
        scorer : estimator
            Trained on all rows of the group; its probabilities score a batch.
        positive_mean, negative_mean : float
            Mean score of positives and of negatives, TPpa and FPpa in SPA's paper.
        """
        # The means come from rows that the model was not trained on. A model's scores
        # on its own training rows are better than they will be on a batch.
        folds = StratifiedKFold(
            self.folds, shuffle=True, random_state=random.randint(2**31 - 1)
        )
        scores = cross_val_predict(
            clone(self.learner), X, y, cv=folds, method="predict_proba"
        )[:, 1]
        scorer = clone(self.learner).fit(X, y)
        return scorer, scores[y == 1].mean(), scores[y == 0].mean()

    def fit_members(self, X, y, random):
        """Step 3 of training: one classifier for each theta."""
        members = []
        for theta in self.thetas:
            rows = self.draw_sample(y, theta, random)  # T^z
            members.append(clone(self.learner).fit(X[rows], y[rows]))
        return members

    def draw_sample(self, y, theta, random):
        """PP-SAMPLING: as many rows as there are, a share theta of them positive.

        Rows are drawn with replacement, within each class at random: P(x | y) stays,
        only the prevalence changes. That is prior probability shift, made on purpose.
        """
        n_positive = round(theta * len(y))
        positives = random.choice(np.flatnonzero(y == 1), n_positive)
        negatives = random.choice(np.flatnonzero(y == 0), len(y) - n_positive)
        return np.concatenate([positives, negatives])

    def predict(self, X, z):
        """Run the prediction phase on one batch.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features of the batch.
        z : ndarray of shape (n_samples,)
            Groups; all of them were seen in training.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels 0 and 1.
        """
        y_pred = np.empty(len(X), dtype=int)
        for group, (
            scorer,
            positive_mean,
            negative_mean,
            members,
        ) in self.groups.items():
            # Step 1: partition the batch by group.
            rows = z == group
            X_z = X[rows]
            # Step 2: estimate the prevalence. If a share q of a batch is positive, the
            # mean score is q * positive_mean + (1 - q) * negative_mean. Solve for q.
            mean = scorer.predict_proba(X_z)[:, 1].mean()
            q = (mean - negative_mean) / (positive_mean - negative_mean)
            q = np.clip(q, 0, 1)
            # Step 3: let every member predict, and choose J_z by PD.
            predictions = [member.predict(X_z) for member in members]
            y_pred[rows] = self.choose(predictions, q)
        return y_pred

    def choose(self, predictions, q):
        """Step 3 of prediction: take the predictions whose prevalence is nearest q."""

        def prevalence_difference(y_pred):
            predicted_prevalence = y_pred.mean()
            return abs(predicted_prevalence - q)

        # Of equal differences the first wins, that of the smaller theta.
        return min(predictions, key=prevalence_difference)
