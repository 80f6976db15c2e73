"""What all folders of kernels share."""
