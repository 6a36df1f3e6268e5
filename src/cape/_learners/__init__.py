"""Training a learner and reading its scores; everything that exists for speed lives here."""
