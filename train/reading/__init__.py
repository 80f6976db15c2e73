"""The parts of the reader; glotmill.train.data is its public face."""
