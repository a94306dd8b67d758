SELECT count(*), sum(amount) FROM dbdyno_large
WHERE day BETWEEN 300 AND 600 AND grp < 50
