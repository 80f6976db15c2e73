"""What is done to text: pure functions over Arrow batches, and the Spark plans that run them."""
