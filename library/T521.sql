SELECT grp, count(*), sum(amount), min(day), max(day) FROM dbdyno_large GROUP BY grp
