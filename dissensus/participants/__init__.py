"""People and models on the same images: accuracies, paired tests, subsets, times, and all of it in words."""
