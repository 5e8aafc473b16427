"""The rules of level 3: passwords, keys, codes, numbers of papers and accounts, in the ways people say them."""
