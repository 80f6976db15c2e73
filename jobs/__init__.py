"""Where things start: one spark-submit script a job, and the glotmill command."""
