"""Programs of users, which `mypy --strict` must accept."""
