"""Small records on their way between workers: many packed into one row, so that Spark shuffles rows, not records."""
