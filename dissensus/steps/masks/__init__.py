"""The verbs of a study of models that give a map."""
