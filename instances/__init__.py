"""The benchmark suite: instances, generators and trace readers."""
