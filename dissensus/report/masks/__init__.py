"""The page about models that give a map."""
