"""Common: building blocks that exact methods of several decisions share."""
