"""What every competition does, written once: plan, select, hear, judge, rank. What differs is a task's to say."""
