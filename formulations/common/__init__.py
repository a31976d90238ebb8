"""Common: building blocks shared by the exact methods for several decisions."""
