"""Which questions to ask, what their answers say about the models, and when to stop."""
