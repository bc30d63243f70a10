"""The number of questions: exact expected counts, upper and lower bounds, and small instances one by one.

`expected` and `arrival` integrate the counts of both heuristics over the similarity reached so far; `exact` has the
same integrals as fractions, and `limits` what they tend to for large clusters. `likelihood` counts the questions of
evidence ordering. `bounds` has Theorems 2 and 3 as printed and as corrected, and what every algorithm must ask.
`small_cases` lists all orders of the pairs of a few records.
"""
