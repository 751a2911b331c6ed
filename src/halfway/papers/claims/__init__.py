"""The claims of all papers: the judge of each claim, and the numbers that the words of claims stand
for.
"""
