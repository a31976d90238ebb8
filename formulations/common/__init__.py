"""Common: what exact methods of several decisions are made of."""
