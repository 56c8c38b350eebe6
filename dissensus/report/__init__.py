"""Self-contained pages made from records: the report and the answer sheet."""
