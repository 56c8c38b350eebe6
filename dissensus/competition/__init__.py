"""The steps that all competitions share: plan, select, collect answers, judge, rank. Tasks define what differs."""
