"""Claims of the papers that no other test shows, one file per paper or kind; see docs/claims.md."""
