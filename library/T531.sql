SELECT l.grp, count(*), sum(l.amount), sum(s.day)
FROM dbdyno_large l JOIN dbdyno_small s ON s.id = l.id
GROUP BY l.grp ORDER BY sum(l.amount) DESC, l.grp LIMIT 10
