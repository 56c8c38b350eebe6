"""From records to pages that need nothing else: the report, and the answer sheet."""
