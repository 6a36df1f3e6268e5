"""The same evidence where the rows are: on a Dask cluster, in an SQL warehouse."""
