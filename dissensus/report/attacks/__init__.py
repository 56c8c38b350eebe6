"""What the pages about attackers and defenders share: two rankings, who leads, matrices of ordered duels."""
